// One destination over syslog: order, at least once, places, gaps, and receivers that refuse, reset, stop or are slow.
import { once } from 'node:events';
import { readdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { AuditTrail } from '../../../core/audit/trail.ts';
import type { Destination } from '../../../core/config/shipping.ts';
import { readCursor } from '../../../appliance/shipping/cursor.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { openTrail, record } from '../../core/audit/trail.ts';
import { ship, syslogTo } from './destinations.ts';
import { makePki, type Pki } from './pki.ts';
import { faultsOf, parseMessage, type ReceiverOptions, sequencesOf, startSyslogReceiver, type SyslogReceiver } from './syslog-receiver.ts';

const patience = { timeout: 60_000, interval: 10 };
const at = temporaryDirectory();
let pki: Pki;
beforeAll(() => {
  pki = makePki(at('.'));
});
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function receive(options: ReceiverOptions = {}): Promise<SyslogReceiver> {
  const receiver = await startSyslogReceiver(pki, options);
  closing.push(() => receiver.close());
  return receiver;
}

async function write(name: string, chain: string, count: number, options: { readonly maxFileBytes?: number } = {}): Promise<AuditTrail> {
  const trail = await openTrail(at(name, 'audit'), { chain, ...options });
  closing.push(() => trail.close());
  await Promise.all(Array.from({ length: count }, (_, n) => trail.write(record(n))));
  return trail;
}

const confirmed = (name: string, chain: string): number => readCursor(at(name), 'siem')?.audit[chain]?.sequence ?? 0;

test('every record of every chain arrives in order, as it is in the trail, and later ones follow', async () => {
  const trail = await write('order', 'worker-1', 3_000, { maxFileBytes: 100_000 });
  await write('order', 'worker-2', 500);
  const receiver = await receive();
  ship(at('order'), syslogTo(receiver.port, pki));
  await vi.waitFor(() => expect(confirmed('order', 'worker-2')).toBe(501), patience);
  await trail.write(record(1, { userAgent: 'é "quoted" ] \\ \n end' }));
  await vi.waitFor(() => expect(confirmed('order', 'worker-1')).toBe(3_002), patience);
  const sequences = sequencesOf(receiver.messages);
  expect(sequences.get('worker-1')).toEqual(Array.from({ length: 3_002 }, (_, index) => index + 1));
  expect(sequences.get('worker-2')).toEqual(Array.from({ length: 501 }, (_, index) => index + 1));
  expect(receiver.faults).toEqual([]);
  const lines = readdirSync(at('order', 'audit'))
    .filter((file) => file.startsWith('worker-1'))
    .toSorted()
    .flatMap((file) =>
      readFileSync(at('order', 'audit', file), 'utf8')
        .trimEnd()
        .split('\n'),
    );
  const own = receiver.messages.map(parseMessage).filter(({ data }) => data['chain'] === 'worker-1');
  expect(own.map(({ body }) => body)).toEqual(lines.map((line) => JSON.parse(line) as unknown));
  expect(own.map(({ data }) => data['digest'])).toEqual(own.map(({ body }) => body['hash']));
  expect(readCursor(at('order'), 'siem')?.counts).toMatchObject({ sent: 3_503, resent: 0, dropped: 0, rejected: 0, errors: 0 });
});

test('a receiver that resets again and again: doubles, but no gap, and none before the one that precedes it', async () => {
  await write('reset', 'worker-1', 2_000);
  const receiver = await receive();
  let heard = 0;
  receiver.onMessage = () => ++heard % 700 === 0 && heard < 5_000;
  ship(at('reset'), syslogTo(receiver.port, pki), { windowBytes: 100_000 });
  await vi.waitFor(() => expect(confirmed('reset', 'worker-1')).toBe(2_001), patience);
  const sequences = sequencesOf(receiver.messages).get('worker-1') ?? [];
  expect(faultsOf(sequences, 2_001)).toEqual({ missing: [], early: [] });
  const { errors = 0, resent = 0 } = readCursor(at('reset'), 'siem')?.counts ?? {};
  expect(errors).toBeGreaterThan(2);
  expect(resent).toBeGreaterThan(0);
  expect(sequences.length).toBeGreaterThan(2_001);
});

test('what is in the buffers of the kernel when the receiver is killed is sent again', async () => {
  await write('stalled', 'worker-1', 400);
  const receiver = await receive();
  receiver.onMessage = (message) => {
    // From the first record on, nothing more is read: all of the rest fits into the buffers, and every write succeeds.
    if (message.includes('"sequence":2,')) receiver.pause();
    return false;
  };
  const { pipeline, stop } = ship(at('stalled'), syslogTo(receiver.port, pki), { patienceMs: 500 });
  await vi.waitFor(() => expect(pipeline.state.lastError?.message).toMatch(/takes nothing|reset|lost/), patience);
  expect(confirmed('stalled', 'worker-1')).toBe(0);
  const { port } = receiver;
  await receiver.close();
  closing.splice(closing.length - 1, 1);
  const again = await receive({ port });
  await vi.waitFor(() => expect(confirmed('stalled', 'worker-1')).toBe(401), patience);
  expect(faultsOf(sequencesOf(again.messages).get('worker-1') ?? [], 401)).toEqual({ missing: [], early: [] });
  await stop();
});

test('a receiver too slow for a window gets smaller ones, and ends up with everything', async () => {
  await write('slow', 'worker-1', 300);
  const receiver = await receive();
  let reading = true;
  const timer = setInterval(() => {
    reading = !reading;
    if (reading) receiver.resume();
    else receiver.pause();
  }, 40);
  closing.push(() => clearInterval(timer));
  ship(at('slow'), syslogTo(receiver.port, pki), { patienceMs: 150, batchBytes: 20_000 });
  await vi.waitFor(() => expect(confirmed('slow', 'worker-1')).toBe(301), patience);
  expect(faultsOf(sequencesOf(receiver.messages).get('worker-1') ?? [], 301)).toEqual({ missing: [], early: [] });
});

describe('nothing of the trail is sent, and the error says what to mend, with', () => {
  test.each<[string, ReceiverOptions, (usual: Destination) => Destination, RegExp]>([
    [
      'no client certificate',
      {},
      ({ certificateFile: _certificate, keyFile: _key, ...rest }) => rest,
      /client certificate: give certificate-file/,
    ],
    [
      'a client certificate of another CA',
      {},
      (usual) => ({ ...usual, certificateFile: pki.outsider, keyFile: pki.outsiderKey }),
      /refuses the client certificate|reset the connection|closed|lost|cut off/,
    ],
    ['a server certificate of another CA', { identity: 'outsider' }, (usual) => usual, /not of a CA in ca-file/],
    ['a server of another name', {}, (usual) => ({ ...usual, serverName: 'other.example' }), /has another name: correct server-name/],
  ])('%s', async (name, options, change, error) => {
    await write(name, 'worker-1', 10);
    const receiver = await receive(options);
    const { pipeline } = ship(at(name), change(syslogTo(receiver.port, pki)));
    await vi.waitFor(() => expect(pipeline.state.lastError?.message).toMatch(error), patience);
    expect(pipeline.state.connectedSince).toBeUndefined();
    expect(receiver.messages).toEqual([]);
    expect(confirmed(name, 'worker-1')).toBe(0);
  });
});

describe('the place', () => {
  test('is kept over a stop: nothing is sent twice, and nothing left out', async () => {
    const trail = await write('kept', 'worker-1', 100);
    const receiver = await receive();
    const first = ship(at('kept'), syslogTo(receiver.port, pki));
    await vi.waitFor(() => expect(sequencesOf(receiver.messages).get('worker-1')).toHaveLength(101), patience);
    await first.stop();
    await trail.write(record(1));
    ship(at('kept'), syslogTo(receiver.port, pki));
    await vi.waitFor(() => expect(confirmed('kept', 'worker-1')).toBe(102), patience);
    expect(sequencesOf(receiver.messages).get('worker-1')).toEqual(Array.from({ length: 102 }, (_, index) => index + 1));
  });

  test('that cannot be read any more is taken for the beginning', async () => {
    await write('torn', 'worker-1', 10);
    const receiver = await receive();
    await ship(at('torn'), syslogTo(receiver.port, pki)).stop();
    writeFileSync(at('torn', 'shipping', 'siem.json'), '{"version":1,"audit":{"wor');
    ship(at('torn'), syslogTo(receiver.port, pki));
    await vi.waitFor(() => expect(confirmed('torn', 'worker-1')).toBe(11), patience);
  });

  test('of a file that is gone: the records are counted once, and the receiver is told which', async () => {
    const trail = await write('gone', 'worker-1', 50, { maxFileBytes: 5_000 });
    const receiver = await receive();
    await ship(at('gone'), syslogTo(receiver.port, pki)).stop();
    const before = confirmed('gone', 'worker-1');
    for (let n = 0; n < 100; n++) await trail.write(record(n));
    const files = readdirSync(at('gone', 'audit')).toSorted();
    const newest = Number(files.at(-1)?.split('.')[1]);
    for (const file of files.slice(0, -1)) rmSync(at('gone', 'audit', file));
    ship(at('gone'), syslogTo(receiver.port, pki));
    await vi.waitFor(() => expect(confirmed('gone', 'worker-1')).toBe(151), patience);
    const told = receiver.messages.map(parseMessage).filter(({ body }) => body['event'] === 'dropped');
    expect(told.map(({ body }) => [body['after-sequence'], body['through-sequence'], body['records']])).toEqual([
      [before, newest - 1, newest - 1 - before],
    ]);
    expect(readCursor(at('gone'), 'siem')?.counts.dropped).toBe(newest - 1 - before);
  });

  test('of a record that the trail took back on a full disk: what replaced it is sent as well', async () => {
    const trail = await write('taken-back', 'worker-1', 20);
    await trail.close();
    const [file = ''] = readdirSync(at('taken-back', 'audit'));
    const path = at('taken-back', 'audit', file);
    const whole = readFileSync(path);
    const receiver = await receive();
    await ship(at('taken-back'), syslogTo(receiver.port, pki)).stop();
    expect(confirmed('taken-back', 'worker-1')).toBe(22);
    truncateSync(path, whole.lastIndexOf('\n', whole.lastIndexOf('\n', whole.length - 2) - 1) + 1);
    const again = await openTrail(at('taken-back', 'audit'), { chain: 'worker-1' });
    closing.push(() => again.close());
    for (let n = 0; n < 5; n++) await again.write(record(n, { userAgent: 'after' }));
    ship(at('taken-back'), syslogTo(receiver.port, pki));
    await vi.waitFor(() => expect(confirmed('taken-back', 'worker-1')).toBe(26), patience);
    const hashes = new Set(receiver.messages.map((message) => parseMessage(message).data['digest']));
    for (const line of readFileSync(path, 'utf8').trimEnd().split('\n'))
      expect(hashes).toContain((JSON.parse(line) as { hash: string }).hash);
  });

  test('of a chain that somebody rewrote: everything is sent as it is, without end', async () => {
    const trail = await write('rewritten', 'worker-1', 20);
    await trail.close();
    const [file = ''] = readdirSync(at('rewritten', 'audit'));
    const path = at('rewritten', 'audit', file);
    const receiver = await receive();
    await ship(at('rewritten'), syslogTo(receiver.port, pki)).stop();
    const text = readFileSync(path, 'utf8');
    const last = text.trimEnd().split('\n').at(-1) ?? '';
    const forged = last.replace('"sequence":22', '"sequence":23').replace(/"previous":"[0-9a-f]+"/, `"previous":"${'f'.repeat(64)}"`);
    writeFileSync(`${path}.new`, `${text}${forged}\nno record at all\n`);
    renameSync(`${path}.new`, path);
    ship(at('rewritten'), syslogTo(receiver.port, pki));
    await vi.waitFor(() => expect(receiver.messages.some((message) => message.includes('"event":"unreadable"'))).toBe(true), patience);
    await vi.waitFor(() => expect(confirmed('rewritten', 'worker-1')).toBe(23), patience);
  });
});

test('a receiver that takes the connection and says nothing is not waited for', async () => {
  await write('silent', 'worker-1', 10);
  const silent = createServer().listen(0, '127.0.0.1');
  closing.push(() => silent.close());
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const { pipeline } = ship(at('silent'), syslogTo(port, pki), { patienceMs: 300 });
  await vi.waitFor(() => expect(pipeline.state.lastError?.message).toBe('the receiver does not answer for 0.3 seconds'), patience);
});

test('a wait for the next attempt ends when something else has shown that the receiver is there', async () => {
  await write('waiting', 'worker-1', 10);
  const before = await startSyslogReceiver(pki);
  const { port } = before;
  await before.close();
  const { pipeline } = ship(at('waiting'), syslogTo(port, pki), { firstRetryMs: 600_000, longestRetryMs: 600_000 });
  await vi.waitFor(() => expect(pipeline.state.lastError).toBeDefined(), patience);
  await receive({ port });
  pipeline.retryNow();
  await vi.waitFor(() => expect(confirmed('waiting', 'worker-1')).toBe(11), patience);
});

test('a stop sends what was written until then', async () => {
  await write('stop', 'worker-1', 1_000);
  const receiver = await receive();
  await ship(at('stop'), syslogTo(receiver.port, pki, { 'confirm-every': '10m' })).stop();
  expect([confirmed('stop', 'worker-1'), sequencesOf(receiver.messages).get('worker-1')?.length]).toEqual([1_001, 1_001]);
});
