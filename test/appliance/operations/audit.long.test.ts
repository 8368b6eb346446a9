// The audit trail of the real daemon: signed by the token, verified offline, rotated as configured, read as a topic.
import { createPublicKey, type KeyObject } from 'node:crypto';
import { appendFileSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { auditKeyId, splitPublicKeys } from '../../../core/audit/keys.ts';
import { emptyChain, formatLine, parseLine } from '../../../core/audit/line.ts';
import type { Verification } from '../../../core/audit/verify.ts';
import { verifyTrail } from '../../harness/verify-trail.ts';
import { startDaemon, type Daemon } from '../../harness/daemon.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
/** How long an event may take to come about on a busy machine. */
const patienceMs = 60_000;
const keys = '/v1/config/keystore/transit-keys';
const encrypt = '/v1/state/keystore/transit-keys/k/encrypt';
const trail = '/v1/state/topics/system:audit-trail-log';

function publishedKeys(directory: string): ReadonlyMap<string, KeyObject> {
  const pems = splitPublicKeys(readFileSync(join(directory, 'audit/audit-keys.pem'), 'utf8'));
  return new Map(pems.map((pem) => [auditKeyId(createPublicKey(pem)), createPublicKey(pem)]));
}

const verify = (directory: string): Promise<Verification> => verifyTrail(join(directory, 'audit'), publishedKeys(directory));

/** On connections of their own, so that every worker gets some. */
const use = (daemon: Daemon, times: number): Promise<unknown> =>
  Promise.all(Array.from({ length: times }, () => daemon.request('POST', encrypt, { plaintext: '' })));

function config(name: string, text: string): readonly string[] {
  writeFileSync(path(`${name}.yaml`), text);
  return ['--config', path(`${name}.yaml`)];
}

test('heads are signed by one key over all starts, and after an orderly stop they cover every chain to its end', async () => {
  const directory = path('signed');
  const keyIds: string[][] = [];
  for (const start of [1, 2]) {
    const daemon = await startDaemon({ directory, workers: 3, args: config('signed', 'audit: { sign-every: 1s }\n') });
    if (start === 1) await daemon.request('POST', keys, { name: 'k' });
    await use(daemon, 40);
    await vi.waitFor(async () => expect((await verify(directory)).signedHeads).toBeGreaterThan(0), patienceMs);
    const tell = async () =>
      (await daemon.request('GET', '/v1/state/system/audit')) as { keys: { 'public-key': string }[]; heads: { chain: string }[] };
    expect((await tell()).keys.map((key) => key['public-key']).join('')).toBe(
      readFileSync(join(directory, 'audit/audit-keys.pem'), 'utf8'),
    );
    await vi.waitFor(
      async () => expect((await tell()).heads.map(({ chain }) => chain).sort()).toEqual(['worker-1', 'worker-2', 'worker-3']),
      patienceMs,
    );
    expect(await daemon.stop()).toBe(0);
    keyIds.push([...publishedKeys(directory).keys()]);
    const { chains, findings } = await verify(directory);
    expect(findings).toEqual([]);
    expect(chains.map(({ chain }) => chain)).toEqual(['worker-1', 'worker-2', 'worker-3']);
    for (const { chain, last, signedThrough } of chains) expect(signedThrough).toBe(chain === 'worker-1' ? last - 1 : last);
  }
  expect(keyIds[0]).toHaveLength(1);
  expect(keyIds[1]).toEqual(keyIds[0]);
});

test('a trail that was cut back while the daemon was stopped: the next start logs and records it', async () => {
  const directory = path('cut');
  // The first head must name both chains.
  const first = await startDaemon({ directory, workers: 2, firstStart: true });
  await first.request('POST', keys, { name: 'k' });
  await use(first, 20);
  await first.stop();
  for (const [name, lines] of [
    ['worker-1', 2],
    ['worker-2', 1],
  ] as const) {
    // prettier-ignore
    const file = join(directory, 'audit', `${name}.000000000001.jsonl`);
    const kept = readFileSync(file, 'utf8').split('\n').slice(0, lines).concat('').join('\n');
    truncateSync(file, kept.length);
  }
  expect((await verify(directory)).findings).toEqual([]);
  const second = await startDaemon({ directory, workers: 2 });
  const topic = String(await second.request('GET', trail));
  expect(topic.match(/"event":"cut-off"/g)?.length).toBeGreaterThanOrEqual(2);
  expect(String(await second.request('GET', '/v1/state/topics/system:logs'))).toContain('records of the audit trail were cut off');
  await second.stop();
  const { findings } = await verify(directory);
  for (const chain of ['worker-1', 'worker-2']) {
    expect(findings.map(({ problem }) => problem)).toContainEqual(
      expect.stringMatching(new RegExp(`^records? ${chain === 'worker-1' ? 3 : 2}( to \\d+)? of chain ${chain} had been cut off`)),
    );
  }
});

test('killed in its first moments, between any heads, or while it stops: every start signs first, so nothing is found', async () => {
  const directory = path('killed');
  for (const end of ['kill', 'kill', 'stop', 'kill'] as const) {
    const daemon = await startDaemon({ directory, workers: 2 });
    await daemon.exchange('POST', keys, { name: 'k' });
    await use(daemon, 10);
    await daemon[end]();
    const { findings, signedHeads } = await verify(directory);
    expect(findings).toEqual([]);
    expect(signedHeads).toBeGreaterThan(0);
  }
});

test('records behind the last stop and chains that it never began are found by the next start, logged, and never signed as its own', async () => {
  const directory = path('made-up');
  const first = await startDaemon({ directory, workers: 2 });
  await first.request('POST', keys, { name: 'k' });
  await use(first, 10);
  await first.stop();
  const file = join(directory, 'audit/worker-2.000000000001.jsonl');
  const last = parseLine(Buffer.from(readFileSync(file, 'utf8').split('\n').at(-2) ?? ''));
  const fields = ',"kind":"request","occurred-at":"2026-11-21T10:00:00.000000Z"';
  appendFileSync(file, formatLine('worker-2', { sequence: Number(last?.sequence), hash: String(last?.hash) }, fields).text);
  writeFileSync(join(directory, 'audit/worker-9.000000000001.jsonl'), formatLine('worker-9', emptyChain, fields).text);
  const second = await startDaemon({ directory, workers: 2 });
  const logs = String(await second.request('GET', '/v1/state/topics/system:logs'));
  expect(logs).toContain('records were added to the audit trail');
  expect(logs).toContain('files of a chain that the appliance never began');
  const told = (await second.request('GET', '/v1/state/system/audit')) as { heads: { chain: string }[] };
  expect(told.heads.map(({ chain }) => chain)).not.toContain('worker-9');
  await second.stop();
  expect((await verify(directory)).findings.map(({ problem }) => problem)).toEqual([
    expect.stringMatching(/^records? \d+( to \d+)? of chain worker-2 had been added when the appliance started/),
    expect.stringMatching(/^files of chain worker-9 were set aside/),
  ]);
});

test('files are rotated and retired as the configuration says, the trail’s and the logs’', async () => {
  const directory = path('rotated');
  const args = config(
    'rotated',
    'audit: { max-file-bytes: 65536, retain-files: 2 }\nlogs: { max-file-bytes: 65536, retain-files: 2 }\nlog-level: debug\n',
  );
  const daemon = await startDaemon({ directory, args });
  await daemon.request('POST', keys, { name: 'k' });
  for (let round = 0; round < 8; round++) await use(daemon, 80);
  await daemon.stop();
  const files = readdirSync(join(directory, 'audit')).filter((name) => name.endsWith('.jsonl'));
  expect(files.length).toBeLessThanOrEqual(3);
  for (const name of files) expect(statSync(join(directory, 'audit', name)).size).toBeLessThan(3 * 65_536);
  const { findings, notes, chains } = await verify(directory);
  expect(findings).toEqual([]);
  expect(chains[0]?.first).toBeGreaterThan(1);
  expect(notes.some(({ note }) => note['event'] === 'retired')).toBe(true);
});

test('a followed topic tells what every worker does, ends with the token, and holds up no stop', async () => {
  const daemon = await startDaemon({ directory: path('followed'), workers: 2 });
  await daemon.request('POST', keys, { name: 'k' });
  const { token, accessor } = (await daemon.request('POST', '/v1/state/keystore/token/create', { policies: ['root'] })) as {
    token: string;
    accessor: string;
  };
  const since = encodeURIComponent(new Date().toISOString());
  const mine = follow(daemon, `${trail}?follow=true&since=${since}`, token);
  const others = follow(daemon, `${trail}?follow=true&limit=1`, daemon.rootToken);
  // The kernel spreads connections as it likes: go on until both workers had some.
  let used = 0;
  await vi.waitFor(
    async () => {
      await Promise.all(Array.from({ length: 8 }, () => use(daemon, 2)));
      used += 16;
      expect(new Set(mine.lines().map((line) => line['chain']))).toEqual(new Set(['worker-1', 'worker-2']));
    },
    { timeout: patienceMs, interval: 50 },
  );
  await vi.waitFor(() => expect(mine.lines().filter((line) => line['path'] === encrypt)).toHaveLength(used), patienceMs);

  await daemon.request('POST', '/v1/state/keystore/token/disable', { accessor });
  const before = mine.lines().length;
  await use(daemon, 5);
  await mine.ended;
  expect(mine.lines().slice(before).filter((line) => line['path'] === encrypt)).toEqual([]); // prettier-ignore

  await vi.waitFor(() => expect(others.lines().length).toBeGreaterThan(5), patienceMs);
  // Ended by the daemon, and not cut when the time for running requests is over.
  const [code, how] = await Promise.all([daemon.stop(), others.ended]);
  expect([code, how]).toEqual([0, 'whole']);
});

test('after a restore a new trail begins, which is no finding; the key goes on signing', async () => {
  const first = await startDaemon({ directory: path('origin'), args: config('origin', 'audit: { sign-every: 1s }\n') });
  await first.request('POST', keys, { name: 'k' });
  await use(first, 5);
  await vi.waitFor(async () => expect((await verify(path('origin'))).signedHeads).toBeGreaterThan(0), patienceMs);
  const { rootToken } = first;
  writeFileSync(path('backup'), await takeBackup(first));
  await first.stop();
  writeFileSync(path('passphrase'), `${passphrase}\n`);
  const args = ['--restore', path('backup'), '--restore-passphrase-file', path('passphrase')];
  const second = await startDaemon({ directory: path('restored'), args, rootToken });
  await use(second, 5);
  expect(String(await second.request('GET', '/v1/state/topics/system:logs'))).toContain('a new audit trail begins');
  await second.stop();
  const third = await startDaemon({ directory: path('restored'), rootToken });
  await third.stop();
  const { findings, chains, signedHeads } = await verify(path('restored'));
  expect(findings).toEqual([]);
  expect(chains[0]).toMatchObject({ chain: 'worker-1', first: 1 });
  expect(signedHeads).toBeGreaterThan(1);
  expect([...publishedKeys(path('restored')).keys()]).toEqual([...publishedKeys(path('origin')).keys()]);
});

const passphrase = 'correct horse battery staple';

function takeBackup(daemon: Daemon): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${daemon.rootToken}`, 'content-type': 'application/json' };
    const options = { method: 'POST', ca: daemon.caPem, agent: false, headers } as const;
    const sent = request(`${daemon.url}/v1/state/system/backup`, options, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () => resolve(Buffer.concat(parts)));
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(JSON.stringify({ passphrase }));
  });
}

/** Reads an NDJSON stream as it comes. */
function follow(daemon: Daemon, target: string, token: string): { lines(): Record<string, unknown>[]; ended: Promise<'whole' | 'cut'> } {
  let text = '';
  const ended = new Promise<'whole' | 'cut'>((resolve, reject) => {
    const sent = request(
      `${daemon.url}${target}`,
      { ca: daemon.caPem, headers: { authorization: `Bearer ${token}` }, agent: false },
      (response) => {
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('error', () => undefined);
        response.on('close', () => resolve(response.complete ? 'whole' : 'cut'));
      },
    );
    sent.on('error', reject);
    sent.end();
  });
  const whole = (): string[] => text.slice(0, text.lastIndexOf('\n') + 1).split('\n').filter((line) => line !== ''); // prettier-ignore
  return { ended, lines: () => whole().map((line) => JSON.parse(line) as Record<string, unknown>) };
}
