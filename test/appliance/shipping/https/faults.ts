// What every destination over HTTPS does when its receiver fails, registered as tests for one protocol.
import { writeFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { systemClock } from '../../../../core/base/time.ts';
import { shippingGauges } from '../../../../appliance/shipping/metrics.ts';
import { reportShipping } from '../../../../appliance/shipping/report.ts';
import { sendTestEvent } from '../../../../appliance/shipping/test-event.ts';
import { ship } from '../destinations.ts';
import { faultsOf } from '../syslog-receiver.ts';
import { authorizationFor, errorOf, expectWhole, type HttpsHarness, patience, token } from './harness.ts';
import { type HttpsProtocol, storedOf } from './receiver.ts';

export function testFaults(protocol: HttpsProtocol, { at, receive, write, to, confirmed, counts }: HttpsHarness): void {
  test.each([
    ['429 with Retry-After', { status: 429, headers: { 'retry-after': '1' } }, /not ready \(HTTP 429/],
    ['503', { status: 503, body: 'busy' }, /not ready \(HTTP 503: busy\)/],
    ['403', { status: 403, body: 'no' }, /does not allow this: correct token.*HTTP 403: no/],
    ['404', { status: 404 }, /nothing at this URL: correct url/],
    ['a redirect', { status: 302, headers: { location: 'https://other.example/' } }, /redirects to https:\/\/other.example\/: correct url/],
    ['a cut in the middle of the answer', 'cut', /lost in the middle of an answer/],
    ['no answer', 'silence', /does not answer for 0.2 seconds/],
    ['an answer without end', 'trickle', /does not answer for 0.2 seconds/],
  ] as const)('%s: the place stays, the state says why, and it goes on', async (what, mischief, error) => {
    const name = `${protocol}-${what}`;
    await write(name, 'worker-1', 100);
    const receiver = await receive(protocol);
    let isBad = true;
    receiver.onRequest = ({ records }) => (isBad && records.some(({ sequence }) => sequence !== undefined) ? mischief : undefined);
    const running = ship(at(name), to(receiver, protocol), { patienceMs: 200 });
    await vi.waitFor(() => expect(errorOf(running)).toMatch(error), patience);
    expect(confirmed(name)).toBe(0);
    isBad = false;
    await vi.waitFor(() => expect(confirmed(name)).toBe(100), patience);
    expectWhole(receiver, 100);
    expect(counts(name)).toMatchObject({ sent: 100, rejected: 0, dropped: 0 });
    expect(counts(name)?.errors).toBeGreaterThan(0);
    expect(counts(name)?.resent).toBeGreaterThanOrEqual(100);
  });

  test('credentials that are refused, and are mended without a restart, are shown nowhere', async () => {
    const name = `${protocol}-401`;
    await write(name, 'worker-1', 50);
    // This receiver repeats what it was given.
    const receiver = await receive(protocol, { authorization: authorizationFor(protocol).replace(token, 'another') });
    const destination = to(receiver, protocol);
    const running = ship(at(name), destination);
    await vi.waitFor(() => expect(errorOf(running)).toMatch(/refuses the credentials: correct token.*HTTP 401/), patience);
    expect(confirmed(name)).toBe(0);
    const tested = await sendTestEvent(destination, 'ks.example', systemClock);
    expect(tested).toMatchObject({ accepted: false, answer: expect.stringMatching(/refuses the credentials/) as string });
    const parts = { data: at(name), destinations: [destination], clock: systemClock, behind: () => undefined };
    const live = { ...parts, live: async () => [running.pipeline.state] };
    const tenants = new Map<string, string>();
    const metrics = await Promise.all(shippingGauges(live).map(async (gauge) => gauge.measure(tenants)));
    const shown = JSON.stringify([running.pipeline.state, running.logged, tested, await reportShipping(live), metrics]);
    expect(shown).toContain('Invalid');
    expect(shown).not.toContain(token);
    writeFileSync(at('token'), 'another');
    await vi.waitFor(() => expect(confirmed(name)).toBe(50), patience);
    expectWhole(receiver, 50);
    expect(running.pipeline.state.connectedSince).toBeDefined();
  });

  test('413: smaller portions, and a record that is too large alone is left out and counted', async () => {
    const name = `${protocol}-413`;
    await write(name, 'worker-1', 120);
    const receiver = await receive(protocol);
    receiver.onRequest = ({ records }) =>
      records.length > 10 || records.some(({ sequence }) => sequence === 70) ? { status: 413, body: 'too large' } : undefined;
    const { logged } = ship(at(name), to(receiver, protocol));
    await vi.waitFor(() => expect(confirmed(name)).toBe(120), patience);
    expect(faultsOf(storedOf(receiver, 'worker-1'), 120).missing).toEqual([70]);
    expect(counts(name)).toMatchObject({ sent: 119, rejected: 1, errors: 0 });
    const [told] = logged.filter(({ message }) => message.includes('left out'));
    expect(told?.fields).toMatchObject({ chain: 'worker-1', sequence: 70, reason: 'HTTP 413: too large' });
  });

  test('every record refused: nothing is left out, and the state says what the receiver says', async () => {
    const name = `${protocol}-all-refused`;
    await write(name, 'worker-1', 40);
    const receiver = await receive(protocol);
    let isBad = true;
    receiver.onRequest = () => (isBad ? { status: 400, body: 'no such index' } : undefined);
    const running = ship(at(name), to(receiver, protocol));
    await vi.waitFor(() => expect(errorOf(running)).toMatch(/refuses every record: HTTP 400: no such index/), patience);
    expect(running.pipeline.state.connectedSince).toBeUndefined();
    isBad = false;
    await vi.waitFor(() => expect(confirmed(name)).toBe(40), patience);
    expectWhole(receiver, 40);
    expect(counts(name)?.rejected).toBe(0);
  });

  test('a receiver that takes one request in two gets everything', async () => {
    const name = `${protocol}-limited`;
    await write(name, 'worker-1', 1_200);
    const receiver = await receive(protocol);
    let asked = 0;
    receiver.onRequest = () => (asked++ % 2 === 1 ? { status: 429 } : undefined);
    ship(at(name), to(receiver, protocol));
    await vi.waitFor(() => expect(confirmed(name)).toBe(1_200), patience);
    expectWhole(receiver, 1_200);
  });
}
