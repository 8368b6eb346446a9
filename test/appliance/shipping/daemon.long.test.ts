// Shipping by the real daemon with two workers: what a receiver that is away does to requests, kills of the shipper, and the seal.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { listStreams } from '../../../core/log/stream-files.ts';
import { readCursor } from '../../../appliance/shipping/cursor.ts';
import type { Answer, Json } from '../../harness/client.ts';
import { type Daemon, freePort, startDaemon } from '../../harness/daemon.ts';
import { processesBelow } from '../../harness/processes.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { makePki, type Pki } from './pki.ts';
import { faultsOf, parseMessage, sequencesOf, startSyslogReceiver, type SyslogReceiver } from './syslog-receiver.ts';

const path = temporaryDirectory();
/** Against a hang, not a measure of speed. */
const patience = { timeout: 150_000, interval: 100 };
const keys = '/v1/config/keystore/transit-keys';
const encrypt = '/v1/state/keystore/transit-keys/k/encrypt';
const shipping = '/v1/state/system/shipping';
const smallest = 1 << 16;

let pki: Pki;
beforeAll(() => {
  pki = makePki(path('.'));
});
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

type Site = { readonly daemon: Daemon; readonly directory: string; receive(): Promise<SyslogReceiver> };

/** A daemon with two workers and one destination, and receivers on its port. */
async function start(name: string, fields: string): Promise<Site> {
  const port = await freePort();
  const directory = path(name);
  const tls = `server-name: siem.example, ca-file: ${pki.ca}, certificate-file: ${pki.client}, key-file: ${pki.clientKey}`;
  const destination = `{name: siem, protocol: syslog, address: "127.0.0.1:${port}", ${tls}, heartbeat: 5s, confirm-every: 1s, ${fields}}`;
  const trail = `audit: {max-file-bytes: ${smallest}, retain-files: 2, sign-every: 1s}`;
  writeFileSync(path(`${name}.yaml`), `${trail}\nshipping: {destinations: [${destination}]}\n`);
  const daemon = await startDaemon({ directory, workers: 2, firstStart: false, args: ['--config', path(`${name}.yaml`)] });
  closing.push(() => daemon.kill().catch(() => 'has been stopped'));
  await daemon.request('POST', keys, { name: 'k' });
  return {
    ...{ daemon, directory },
    async receive() {
      const receiver = await startSyslogReceiver(pki, { port });
      closing.push(() => receiver.close());
      return receiver;
    },
  };
}

/** Twenty at once, on connections of their own, so that both workers get some. */
async function use({ daemon }: Site, times: number, options: { readonly userAgent?: string } = {}): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  const lane = async (): Promise<void> => {
    while (answers.length < times)
      answers.push(await daemon.exchange('POST', encrypt, { plaintext: '' }, undefined, { 'user-agent': options.userAgent ?? 'test' }));
  };
  await Promise.all(Array.from({ length: 20 }, lane));
  return answers;
}

const stateOf = async ({ daemon }: Site): Promise<Json> => (await daemon.request('GET', `${shipping}/siem`)) as Json;

/** Numbers of the last record of each chain, from the files. */
async function written(directory: string): Promise<ReadonlyMap<string, number>> {
  const streams = await listStreams(join(directory, 'audit'));
  return new Map(
    [...streams].map(([chain, files]) => {
      const [, sequence] =
        /"sequence":(\d+)/.exec(
          readFileSync(files.at(-1)?.path ?? '', 'utf8')
            .trimEnd()
            .split('\n')
            .at(-1) ?? '',
        ) ?? [];
      return [chain, Number(sequence)] as const;
    }),
  );
}

/** Everything that a stopped daemon has written has arrived in order, and is confirmed. */
function expectComplete(directory: string, last: ReadonlyMap<string, number>, messages: readonly string[]): void {
  const sequences = sequencesOf(messages);
  expect([...sequences.keys()].toSorted()).toEqual([...last.keys()].toSorted());
  for (const [chain, through] of last) {
    expect([chain, faultsOf(sequences.get(chain) ?? [], through)]).toEqual([chain, { missing: [], early: [] }]);
    expect(readCursor(directory, 'siem')?.audit[chain]?.sequence).toBe(through);
  }
}

test('on-lag: block refuses changes and uses until the receiver has caught up; reads and the test event go on', async () => {
  const site = await start('block', `on-lag: block, max-lag-bytes: ${smallest}`);
  const { daemon } = site;
  const first = await site.receive();
  await vi.waitFor(async () => expect(await stateOf(site)).toMatchObject({ connected: true, blocking: false }), patience);
  await first.close();
  const refusals: Answer[] = [];
  while (refusals.length === 0) refusals.push(...(await use(site, 40)).filter(({ status }) => status !== 200));
  await setTimeout(2_500);
  for (const answer of [...(await use(site, 20)), await daemon.exchange('POST', keys, { name: 'other' })]) {
    expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '10' }, body: { code: 'shipping-behind' } });
    expect(answer.body.errors[0]['error-message']).toMatch(/too far behind.*keystorectl list shipping/);
  }
  expect((await daemon.exchange('GET', `${keys}/k`)).status).toBe(200);
  expect(await stateOf(site)).toMatchObject({ connected: false, blocking: true, dropped: 0, 'last-error': { message: /./ } });
  const health = await daemon.exchange('GET', '/v1/state/system/health');
  expect(health).toMatchObject({ status: 503 });
  expect(JSON.stringify(health.body)).toContain('too far behind');
  expect(await daemon.request('GET', '/v1/state/system/metrics')).toContain('keystored_shipping_blocking{destination="siem"} 1');
  const [refused, unknown] = [
    await daemon.exchange('POST', `${shipping}/siem/test`, {}),
    await daemon.exchange('POST', `${shipping}/none/test`, {}),
  ];
  expect(refused).toMatchObject({ status: 200, body: { accepted: false } });
  expect(refused.body.answer).toContain('nothing listens there');
  expect(unknown.status).toBe(404);

  const second = await site.receive();
  const { body: sent } = await daemon.exchange('POST', `${shipping}/siem/test`, {});
  expect(sent).toMatchObject({ accepted: true });
  expect(second.messages.map(parseMessage).filter(({ body }) => body['event'] === 'test' && body['id'] === sent.id)).toHaveLength(1);
  await vi.waitFor(async () => expect((await daemon.exchange('POST', encrypt, { plaintext: '' })).status).toBe(200), patience);
  await vi.waitFor(async () => expect(await stateOf(site)).toMatchObject({ connected: true, blocking: false, dropped: 0 }), patience);
  // Each worker looks for itself, once a second. Refusals are records, too: with less time between them than it takes to ship them, the
  // receiver never catches up.
  const slowly = { ...patience, interval: 2_500 };
  await vi.waitFor(async () => expect((await use(site, 40)).map(({ status }) => status)).not.toContain(503), slowly);
  const logs = String(await daemon.request('GET', '/v1/state/topics/system:logs'));
  expect(logs).toContain('changes and uses of keys are refused until a receiver has caught up');
  expect(logs).toContain('changes and uses of keys are allowed again');
  expect(await daemon.stop()).toBe(0);
  expectComplete(site.directory, await written(site.directory), [...first.messages, ...second.messages]);
});

test('on-lag: continue keeps files up to the bound, then counts each record that is removed unsent', async () => {
  const site = await start('continue', `on-lag: continue, max-lag-bytes: ${8 * smallest}`);
  const first = await site.receive();
  await vi.waitFor(async () => expect((await stateOf(site)).connected).toBe(true), patience);
  await first.close();
  // The place is kept when the failure is noted.
  await vi.waitFor(async () => expect((await stateOf(site)).connected).toBe(false), patience);
  const { directory, daemon } = site;
  const confirmed = readCursor(directory, 'siem')?.audit ?? {};
  const fileCounts = async (): Promise<readonly number[]> =>
    [...(await listStreams(join(directory, 'audit'))).values()].map(({ length }) => length);
  const mostFiles: number[] = [];
  // Each of the two chains keeps two files in any case.
  for (;;) {
    const answers = await use(site, 50, { userAgent: 'x'.repeat(1_000) });
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    mostFiles.push(Math.max(...(await fileCounts())));
    const gone = [...(await listStreams(join(directory, 'audit'))).values()].filter(([oldest]) => (oldest?.number ?? 1) > 1);
    if (gone.length === 2) break;
  }
  expect(Math.max(...mostFiles)).toBeGreaterThan(2);
  expect(String(await daemon.request('GET', '/v1/state/topics/system:logs'))).toContain('removed before a receiver had them');
  const second = await site.receive();
  await vi.waitFor(async () => expect(await stateOf(site)).toMatchObject({ connected: true, 'lag-records': expect.any(Number) }), patience);
  await vi.waitFor(async () => expect((await stateOf(site))['lag-records']).toBeLessThan(10), patience);
  const { dropped } = await stateOf(site);
  expect(dropped).toBeGreaterThan(0);
  expect(await daemon.request('GET', '/v1/state/system/metrics')).toContain(
    `keystored_shipping_dropped_records_total{destination="siem"} ${dropped}`,
  );
  expect(await daemon.stop()).toBe(0);
  // What the first receiver had and did not confirm may be dropped as well: nobody knows that it arrived.
  const isKnown = ({ data: { chain = '', sequence } }: ReturnType<typeof parseMessage>): boolean =>
    Number(sequence) <= (confirmed[chain]?.sequence ?? 0);
  const messages = [...first.messages.filter((message) => isKnown(parseMessage(message))), ...second.messages];
  const told = second.messages.map(parseMessage).flatMap(({ body }) => (body['event'] === 'dropped' ? [body as Json] : []));
  const arrived = sequencesOf(messages);
  const last = await written(directory);
  const expected = [...last].flatMap(([chain, through]) => {
    const { missing } = faultsOf(arrived.get(chain) ?? [], through);
    return missing.map((sequence) => `${chain} ${sequence}`);
  });
  const announced = told.flatMap((body) =>
    Array.from({ length: body.records }, (_, index) => `${body.chain} ${body['after-sequence'] + 1 + index}`),
  );
  expect(announced.toSorted()).toEqual(expected.toSorted());
  const { counts } = readCursor(directory, 'siem') ?? {};
  expect(counts?.dropped).toBe(expected.length);
  const different = [...arrived.values()].reduce((sum, sequences) => sum + new Set(sequences).size, 0);
  expect(different + expected.length).toBe([...last.values()].reduce((sum, through) => sum + through, 0));
});

test('kill -9 of the shipper, again and again during a storm: doubles, but no gap, and every chain in order', async () => {
  const site = await start('killed', 'on-lag: block, max-lag-bytes: 100000000');
  const { daemon, directory } = site;
  const receiver = await site.receive();
  const ending = new AbortController();
  const statuses = new Set<number>();
  const storm = (async () => {
    while (!ending.signal.aborted) for (const { status } of await use(site, 40)) statuses.add(status);
  })();
  const killed = new Set<number>();
  while (killed.size < 5) {
    const [pid] = processesBelow(daemon.pid, '/shipper.').filter((found) => !killed.has(found));
    if (pid === undefined) {
      await setTimeout(100);
      continue;
    }
    const before = receiver.messages.length;
    await vi.waitFor(() => expect(receiver.messages.length).toBeGreaterThan(before + 5), patience);
    process.kill(pid, 'SIGKILL');
    killed.add(pid);
  }
  ending.abort();
  await storm;
  expect([...statuses]).toEqual([200]);
  expect(daemon.output()).toContain('the shipper ended (SIGKILL); starting it again');
  await vi.waitFor(async () => expect(await stateOf(site)).toMatchObject({ connected: true }), patience);
  expect(await daemon.stop()).toBe(0);
  expectComplete(directory, await written(directory), receiver.messages);
});

test('block lets the seal through; shipping goes on while sealed, also after a kill of the shipper, up to the last attempt to unseal', async () => {
  const site = await start('sealed', `on-lag: block, max-lag-bytes: ${smallest}`);
  const { daemon, directory } = site;
  while ((await use(site, 40)).every(({ status }) => status === 200));
  await setTimeout(2_500);
  const login = { 'role-id': '00000000-0000-4000-8000-000000000000', 'secret-id': '00000000-0000-4000-8000-000000000000' };
  expect(await daemon.exchange('POST', '/v1/approle-login', login)).toMatchObject({ status: 503, body: { code: 'shipping-behind' } });
  expect((await daemon.exchange('POST', '/v1/state/keystore/system/seal')).status).toBe(204);
  const sealed = { status: 503, body: { code: 'sealed' } };
  await vi.waitFor(async () => expect(await daemon.exchange('GET', `${shipping}/siem`)).toMatchObject(sealed), patience);
  for (const pid of processesBelow(daemon.pid, '/shipper.')) process.kill(pid, 'SIGKILL');
  const receiver = await site.receive();
  expect((await daemon.exchange('POST', '/v1/state/keystore/system/unseal', { pin: 'wrong' })).status).toBeGreaterThanOrEqual(400);
  // The records of the seal and of the attempt are written last.
  await vi.waitFor(
    async () => {
      const last = await written(directory);
      expect([...last.keys()]).toEqual(['supervisor', 'worker-1', 'worker-2']);
      expectComplete(directory, last, receiver.messages);
    },
    { ...patience, interval: 1_000 },
  );
  for (const action of ['seal', 'unseal']) expect(receiver.messages.some((message) => message.includes(`system/${action}"`))).toBe(true);
  expect(await daemon.stop()).toBe(0);
});
