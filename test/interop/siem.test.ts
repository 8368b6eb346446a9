// Audit records at rsyslog and syslog-ng: every record of a storm, in the order of each chain, whatever happens to the receiver.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { listStreams } from '../../core/log/stream-files.ts';
import { readCursor } from '../../appliance/shipping/cursor.ts';
import { ship, syslogTo } from '../appliance/shipping/destinations.ts';
import { makePki, type Pki } from '../appliance/shipping/pki.ts';
import { faultsOf } from '../appliance/shipping/syslog-receiver.ts';
import { openTrail, record } from '../core/audit/trail.ts';
import { mayMount, mountSmallDisk } from '../harness/small-disk.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { type Receiver, receiver, receiverNames } from './siem-receivers.ts';

const at = temporaryDirectory();
const patience = { timeout: 240_000, interval: 200 };
const chains = ['worker-1', 'worker-2'] as const;

let pki: Pki;
beforeAll(() => {
  pki = makePki(at('.'));
});
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function started(name: (typeof receiverNames)[number], place: string, file = at(place, 'records.log')): Promise<Receiver> {
  const one = await receiver(name, at(place), file, pki);
  closing.push(() => one.end('SIGKILL'));
  await one.start();
  return one;
}

/** Writes records to two chains until it is stopped; answers the number of the last record of each. */
async function storm(data: string): Promise<{ stop(): Promise<ReadonlyMap<string, number>> }> {
  const trails = await Promise.all(chains.map((chain) => openTrail(join(data, 'audit'), { chain, maxFileBytes: 500_000 })));
  const ending = new AbortController();
  let n = 0;
  const running = trails.map(async (trail) => {
    while (!ending.signal.aborted) {
      await Promise.all(Array.from({ length: 20 }, () => trail.write(record(n++, { userAgent: 'é "quoted" ] \\ \n end' }))));
      await setTimeout(20);
    }
  });
  return {
    async stop() {
      ending.abort();
      await Promise.all(running);
      await Promise.all(trails.map((trail) => trail.close()));
      return new Map((await linesOf(data)).map(([chain, lines]) => [chain, lines.length]));
    },
  };
}

async function linesOf(data: string): Promise<[chain: string, lines: readonly string[]][]> {
  return [...(await listStreams(join(data, 'audit')))].map(([chain, files]) => {
    return [chain, files.flatMap(({ path }) => readFileSync(path, 'utf8').trimEnd().split('\n'))];
  });
}

/** The JSON of the lines of a chain. */
function recordsOf(lines: readonly string[], chain: string): { readonly sequence: number }[] {
  const texts = lines.flatMap((line) => (line.includes(`{"chain":"${chain}"`) ? [line.slice(line.indexOf('{"chain"'))] : []));
  return texts.map((text) => JSON.parse(text) as { sequence: number });
}

/** Waits until every record is confirmed, and written in order. */
async function expectAll(data: string, one: Receiver, last: ReadonlyMap<string, number>): Promise<void> {
  await expectConfirmed(data, last);
  await vi.waitFor(() => {
    for (const [chain, through] of last) {
      const sequences = recordsOf(one.lines(), chain).map(({ sequence }) => sequence);
      expect(faultsOf(sequences, through)).toEqual({ missing: [], early: [] });
    }
  }, patience);
}

async function expectConfirmed(data: string, last: ReadonlyMap<string, number>): Promise<void> {
  await vi.waitFor(() => {
    for (const [chain, through] of last) expect(readCursor(data, 'siem')?.audit[chain]?.sequence).toBe(through);
  }, patience);
}

const confirmed = (data: string): number => chains.reduce((sum, chain) => sum + (readCursor(data, 'siem')?.audit[chain]?.sequence ?? 0), 0);

describe.each(receiverNames)('%s', (name) => {
  test('has every record as it is in the trail, once', async () => {
    const data = at(`${name}-whole`, 'data');
    const one = await started(name, `${name}-whole`);
    ship(data, syslogTo(one.port, pki));
    const writing = await storm(data);
    await vi.waitFor(() => expect(confirmed(data)).toBeGreaterThan(1_000), patience);
    await expectAll(data, one, await writing.stop());
    for (const [chain, lines] of await linesOf(data))
      expect(recordsOf(one.lines(), chain)).toEqual(lines.map((line) => JSON.parse(line) as unknown));
    expect(readCursor(data, 'siem')?.counts).toMatchObject({ resent: 0, errors: 0 });
  });

  // A syslog-ng that is killed loses what it has read and not yet written: it has no queue on the disk for files.
  const ends = name === 'rsyslog' ? (['SIGKILL', 'SIGTERM'] as const) : (['SIGTERM'] as const);
  test.each(ends)('ended by %s and started again during a storm', async (signal) => {
    const data = at(`${name}-${signal}`, 'data');
    const one = await started(name, `${name}-${signal}`);
    ship(data, syslogTo(one.port, pki));
    const writing = await storm(data);
    for (let round = 0; round < 4; round++) {
      const before = confirmed(data);
      await vi.waitFor(() => expect(confirmed(data)).toBeGreaterThan(before + 200), patience);
      await setTimeout(Math.random() * 1_000);
      await one.end(signal);
      await setTimeout(500);
      await one.start();
    }
    await expectAll(data, one, await writing.stop());
    expect(readCursor(data, 'siem')?.counts.errors).toBeGreaterThan(0);
  });

  test('stopped for longer than it is waited for, and continued', async () => {
    const data = at(`${name}-paused`, 'data');
    const one = await started(name, `${name}-paused`);
    const { pipeline } = ship(data, syslogTo(one.port, pki));
    const writing = await storm(data);
    for (let round = 0; round < 2; round++) {
      await vi.waitFor(() => expect(pipeline.state.connectedSince).toBeDefined(), patience);
      one.signal('SIGSTOP');
      await vi.waitFor(() => expect(pipeline.state.connectedSince).toBeUndefined(), patience);
      const held = confirmed(data);
      await setTimeout(3_000);
      expect(confirmed(data)).toBe(held);
      one.signal('SIGCONT');
    }
    await expectAll(data, one, await writing.stop());
  });

  test.skipIf(!mayMount)('with a full disk, and room again', async () => {
    const data = at(`${name}-full`, 'data');
    const disk = at(`${name}-disk`);
    closing.push(mountSmallDisk(disk, 256));
    const one = await started(name, `${name}-full`, join(disk, 'records.log'));
    ship(data, syslogTo(one.port, pki));
    const writing = await storm(data);
    await vi.waitFor(
      () => expect(Number(execFileSync('df', ['--output=avail', disk], { encoding: 'utf8' }).split('\n')[1])).toBe(0),
      patience,
    );
    await setTimeout(3_000);
    const last = await writing.stop();
    execFileSync('mount', ['-o', 'remount,size=64m', disk]);
    if (name === 'syslog-ng') return expectAll(data, one, last);
    await expectConfirmed(data, last);
    // What its action throws away was in its queue: what is confirmed was read.
    const found = one.queued().matchAll(/\{"chain":"([^"]+)","sequence":(\d+),/g);
    const read = new Set(Array.from(found, ([, chain, sequence]) => `${chain} ${sequence}`));
    for (const [chain, through] of last)
      expect(Array.from({ length: through }, (_, index) => `${chain} ${index + 1}`).filter((id) => !read.has(id))).toEqual([]);
    await vi.waitFor(() => expect(one.failed().length).toBeGreaterThan(0), patience);
  });

  test('refuses a client certificate of another CA, and has nothing of the trail', async () => {
    const data = at(`${name}-other-ca`, 'data');
    const one = await started(name, `${name}-other-ca`);
    const { pipeline } = ship(data, syslogTo(one.port, pki, { 'certificate-file': pki.outsider, 'key-file': pki.outsiderKey }));
    const writing = await storm(data);
    await vi.waitFor(() => expect(pipeline.state.lastError).toBeDefined(), patience);
    await setTimeout(3_000);
    await writing.stop();
    expect(pipeline.state).toMatchObject({
      lastError: { message: expect.stringMatching(/client certificate|reset the connection|closed|cut off/) },
    });
    expect(pipeline.state.connectedSince).toBeUndefined();
    expect(confirmed(data)).toBe(0);
    expect(one.lines().filter((line) => line.includes('"chain"'))).toEqual([]);
  });
});
