// Destinations over HTTPS against strict receivers of every protocol: order, at least once, TLS, and how each protocol refuses records.
import { describe, expect, test, vi } from 'vitest';
import { systemClock } from '../../../core/base/time.ts';
import type { JsonObject } from '../../../core/wire/json.ts';
import { sendTestEvent } from '../../../appliance/shipping/test-event.ts';
import { ship } from './destinations.ts';
import { authorizationFor, errorOf, everyProtocol, expectWhole, httpsHarness, patience, upTo } from './https/harness.ts';
import { type HttpsReceiverOptions, storedOf } from './https/receiver.ts';
import { faultsOf } from './syslog-receiver.ts';

const { at, pki, receive, write, to, confirmed, counts } = httpsHarness();

describe.each(everyProtocol)('%s', (protocol) => {
  test('every record of every chain arrives once and in order, with the credentials of the protocol', async () => {
    const name = `storm-${protocol}`;
    await write(name, 'worker-1', 1_500);
    await write(name, 'worker-2', 300);
    const receiver = await receive(protocol, { authorization: authorizationFor(protocol) });
    const { pipeline } = ship(at(name), to(receiver, protocol));
    await vi.waitFor(() => expect([confirmed(name), confirmed(name, 'worker-2')]).toEqual([1_500, 300]), patience);
    expect(storedOf(receiver, 'worker-1')).toEqual(upTo(1_500));
    expect(storedOf(receiver, 'worker-2')).toEqual(upTo(300));
    expect(receiver.faults).toEqual([]);
    expect(new Set(receiver.stored.map(({ id }) => id)).size).toBe(receiver.stored.length);
    expect(counts(name)).toMatchObject({ sent: 1_800, resent: 0, rejected: 0, errors: 0 });
    expect(pipeline.state.connectedSince).toBeDefined();
  });
});

describe('TLS', () => {
  test.each<[string, Partial<HttpsReceiverOptions>, JsonObject, RegExp]>([
    ['a certificate of another CA', { identity: 'outsider' }, {}, /not of a CA in ca-file/],
    ['a certificate of another name', {}, { 'server-name': 'other.example' }, /has another name: correct server-name/],
    ['no client certificate', { demandClient: true }, {}, /client certificate: give certificate-file/],
  ])('%s: nothing is sent, and the state says what to mend', async (what, options, fields, error) => {
    await write(what, 'worker-1', 10);
    const receiver = await receive('json-lines', options);
    const running = ship(at(what), to(receiver, 'json-lines', fields));
    await vi.waitFor(() => expect(errorOf(running)).toMatch(error), patience);
    expect([receiver.requests, receiver.stored, confirmed(what)]).toEqual([[], [], 0]);
  });

  test('a client certificate of another CA is refused, the right one is taken', async () => {
    await write('mutual', 'worker-1', 10);
    const receiver = await receive('json-lines', { demandClient: true });
    const wrong = to(receiver, 'json-lines', { 'certificate-file': pki().outsider, 'key-file': pki().outsiderKey });
    const refused = ship(at('mutual'), wrong);
    await vi.waitFor(() => expect(errorOf(refused)).toMatch(/client certificate/), patience);
    await refused.stop();
    expect(receiver.stored).toEqual([]);
    ship(at('mutual'), to(receiver, 'json-lines', { 'certificate-file': pki().client, 'key-file': pki().clientKey }));
    await vi.waitFor(() => expect(confirmed('mutual')).toBe(10), patience);
  });
});

describe('elastic', () => {
  test('200 with errors: what is there already counts, what cannot be mapped is left out, what was too much is sent again', async () => {
    await write('bulk', 'worker-1', 200);
    const receiver = await receive('elastic');
    let isBusy = true;
    receiver.statusOf = ({ sequence = 0 }) => (isBusy && sequence % 10 === 5 ? 429 : sequence % 50 === 7 ? 400 : 200);
    const running = ship(at('bulk'), to(receiver, 'elastic'));
    await vi.waitFor(() => expect(errorOf(running)).toMatch(/did not take every record \(status 429/), patience);
    expect([confirmed('bulk'), counts('bulk')?.rejected]).toEqual([0, 0]);
    isBusy = false;
    await vi.waitFor(() => expect(confirmed('bulk')).toBe(200), patience);
    const present = storedOf(receiver, 'worker-1').toSorted((a, b) => a - b);
    expect(present).toEqual(upTo(200).filter((sequence) => sequence % 50 !== 7));
    expect(counts('bulk')).toMatchObject({ sent: 196, rejected: 4 });
    const left = running.logged.filter(({ message }) => message.includes('left out'));
    expect(left.map(({ fields }) => (fields as JsonObject)['sequence'])).toEqual([7, 57, 107, 157]);
    expect(JSON.stringify(left)).toContain('status 400: document_parsing_exception');
  });

  test('an answer that is not one of _bulk is named', async () => {
    await write('no-bulk', 'worker-1', 5);
    const receiver = await receive('elastic');
    receiver.onRequest = () => ({ status: 200, body: '<html>' });
    const running = ship(at('no-bulk'), to(receiver, 'elastic'));
    await vi.waitFor(() => expect(errorOf(running)).toMatch(/does not answer as _bulk does: correct url/), patience);
    expect(confirmed('no-bulk')).toBe(0);
  });
});

describe.each(['loki', 'otlp'] as const)('%s', (protocol) => {
  test('old records are left out one by one, and all others arrive', async () => {
    const name = `${protocol}-old`;
    await write(name, 'worker-1', 700);
    const receiver = await receive(protocol);
    receiver.statusOf = ({ sequence }) => (sequence !== undefined && (sequence <= 5 || sequence === 600) ? 400 : 200);
    ship(at(name), to(receiver, protocol));
    await vi.waitFor(() => expect(confirmed(name)).toBe(700), patience);
    expect(faultsOf(storedOf(receiver, 'worker-1'), 700).missing).toEqual([1, 2, 3, 4, 5, 600]);
    expect(counts(name)).toMatchObject({ sent: 694, rejected: 6, errors: 0 });
  });
});

describe('splunk with acknowledgements', () => {
  const acknowledged = { acknowledgements: true };

  test('the place moves with them, and all requests have one channel', async () => {
    await write('acks', 'worker-1', 1_500);
    const receiver = await receive('splunk', acknowledged);
    let isLate = false;
    receiver.isIndexed = (id) => id === 0 || !isLate;
    isLate = true;
    ship(at('acks'), to(receiver, 'splunk', acknowledged), { acknowledgeMs: 20_000 });
    await vi.waitFor(() => expect(storedOf(receiver, 'worker-1')).toHaveLength(1_500), patience);
    expect(confirmed('acks')).toBe(0);
    isLate = false;
    await vi.waitFor(() => expect(confirmed('acks')).toBe(1_500), patience);
    expect(storedOf(receiver, 'worker-1')).toEqual(upTo(1_500));
    expect(new Set(receiver.requests.map(({ headers }) => headers['x-splunk-request-channel'])).size).toBe(1);
    expect(counts('acks')).toMatchObject({ sent: 1_500, resent: 0, errors: 0 });
    expect(receiver.faults).toEqual([]);
  });

  test('that never come: it is all sent again, on a new channel', async () => {
    await write('no-acks', 'worker-1', 100);
    const receiver = await receive('splunk', acknowledged);
    let isDead = true;
    receiver.isIndexed = (id) => !isDead || id === 0;
    const running = ship(at('no-acks'), to(receiver, 'splunk', acknowledged), { acknowledgeMs: 100 });
    await vi.waitFor(() => expect(errorOf(running)).toMatch(/acknowledgements of the indexers did not come within 0.1 seconds/), patience);
    expect(confirmed('no-acks')).toBe(0);
    isDead = false;
    await vi.waitFor(() => expect(confirmed('no-acks')).toBe(100), patience);
    expectWhole(receiver, 100);
    expect(new Set(receiver.requests.map(({ headers }) => headers['x-splunk-request-channel'])).size).toBeGreaterThan(1);
  });

  test('a token without them, and one that demands them, are named', async () => {
    await write('mismatch', 'worker-1', 5);
    const without = ship(at('mismatch'), to(await receive('splunk'), 'splunk', acknowledged));
    await vi.waitFor(() => expect(errorOf(without)).toMatch(/gives no acknowledgements: enable them for the token/), patience);
    await without.stop();
    const demanding = ship(at('mismatch'), to(await receive('splunk', acknowledged), 'splunk'));
    await vi.waitFor(() => expect(errorOf(demanding)).toMatch(/refuses every record: HTTP 400: .*Data channel is missing/), patience);
    expect(confirmed('mismatch')).toBe(0);
  });
});

test('a receiver too slow for a portion gets smaller ones', async () => {
  await write('slow', 'worker-1', 400);
  const receiver = await receive('json-lines');
  receiver.onRequest = ({ records }) => (records.length > 100 ? 'silence' : undefined);
  ship(at('slow'), to(receiver, 'json-lines'), { patienceMs: 100 });
  await vi.waitFor(() => expect(confirmed('slow')).toBe(400), patience);
  expectWhole(receiver, 400);
});

test('the test event says what each receiver answered', async () => {
  for (const protocol of everyProtocol) {
    const receiver = await receive(protocol, { authorization: authorizationFor(protocol) });
    const { id, ...result } = await sendTestEvent(to(receiver, protocol), 'ks.example', systemClock);
    expect(result).toMatchObject({ accepted: true, answer: expect.stringMatching(/^HTTP 20[04]/) as string });
    expect(receiver.stored.map((stored) => stored.id)).toEqual([id]);
  }
});
