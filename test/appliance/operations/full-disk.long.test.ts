// The data directory of the real daemon on a disk that fills: refused in bounded time, nothing acknowledged is lost, and how a start then ends.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { resolve } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { verifyTrail } from '../../harness/verify-trail.ts';
import { startDaemon, type Daemon } from '../../harness/daemon.ts';
import { mayMount, mountSmallDisk } from '../../harness/small-disk.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { serviceUnderTest } from '../../harness/service-program.ts';

const path = temporaryDirectory();
const root = resolve(import.meta.dirname, '../../..');
const actions = '/v1/state/keystore/transit-keys/k';
const closing: (() => unknown)[] = [];
afterAll(() => closing.forEach((close) => close()));

const codeOf = async (daemon: Daemon, method: string, where: string, body?: unknown): Promise<string> => {
  const answer = await daemon.exchange(method, where, body);
  return `${answer.status} ${(answer.body as { code?: string } | undefined)?.code ?? 'done'}`;
};

/** One kept connection to each worker, on which a key is used. The chain of its record shows which worker it leads to. */
async function connectToEach(daemon: Daemon, directory: string, chains: readonly string[]): Promise<(() => Promise<Used>)[]> {
  const found = new Map<string, () => Promise<Used>>();
  while (found.size < chains.length) {
    const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: daemon.caPem });
    closing.push(() => agent.destroy());
    const use = (): Promise<Used> => useKey(daemon, agent);
    const { id } = await use();
    const audit = resolve(directory, 'audit');
    const chain = chains.find((name) => readFileSync(resolve(audit, `${name}.000000000001.jsonl`), 'utf8').includes(`"${id}"`));
    if (chain !== undefined) found.set(chain, use);
  }
  return [...found.values()];
}

type Used = { readonly status: number | undefined; readonly id: string };

function useKey(daemon: Daemon, agent: Agent): Promise<Used> {
  return new Promise((done, fail) => {
    const headers = { authorization: `Bearer ${daemon.rootToken}`, 'content-type': 'application/json' };
    const sent = request(`${daemon.url}${actions}/encrypt`, { method: 'POST', agent, headers }, (response) => {
      response.resume().on('end', () => done({ status: response.statusCode, id: String(response.headers['request-id']) }));
    });
    sent.on('error', fail);
    sent.end(JSON.stringify({ plaintext: '' }));
  });
}

/** Takes all the room there is but so much. The daemon writes meanwhile: what it took since the room was measured is not taken again. */
function fill(disk: string, leftBytes = 0): () => void {
  const filler = resolve(disk, 'filler');
  const { bavail, bsize } = statfsSync(disk);
  try {
    writeFileSync(filler, Buffer.alloc(bavail * bsize - leftBytes));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
  return () => rmSync(filler);
}

test.skipIf(!mayMount)(
  'full: uses of keys are refused and reads go on; killed: the next start says why not; with room again nothing is lost',
  async () => {
    const disk = path('disk');
    closing.push(mountSmallDisk(disk, 16 << 10));
    const directory = resolve(disk, 'data');
    const first = await startDaemon({ directory, workers: 2 });
    await first.request('POST', '/v1/config/keystore/transit-keys', { name: 'k' });
    const { ciphertext } = (await first.request('POST', `${actions}/encrypt`, { plaintext: 'aGVsbG8=' })) as { ciphertext: string };
    const workers = await connectToEach(first, directory, ['worker-1', 'worker-2']);
    const empty = fill(disk);
    // Each worker has what is left of its chain's last block, and uses it up: a refusal by one says nothing about the other.
    for (const use of workers) while ((await use()).status !== 503);
    for (const [method, where] of [
      ['POST', '/v1/config/keystore/transit-keys'],
      ['POST', `${actions}/rotate`],
      ['POST', '/v1/state/keystore/token/create'],
      ['DELETE', '/v1/config/keystore/transit-keys/k'],
    ] as const) {
      expect([
        where,
        await codeOf(first, method, where, method === 'DELETE' ? undefined : where.includes('config') ? { name: 'l' } : {}),
      ]).toEqual([where, '503 audit-unavailable']);
    }
    expect(await codeOf(first, 'GET', '/v1/state/keystore/transit-keys/k')).toBe('200 done');
    await first.kill();

    const refused = spawnSync(process.execPath, [await serviceUnderTest(), '--data', directory], {
      cwd: root,
      encoding: 'utf8',
      timeout: 60_000,
    });
    expect(refused.stderr).toMatch(/^keystored: the disk of --data \S+ is full: make room, at least 256 KiB, then start again\n$/);
    expect(refused.status).toBe(1);

    empty();
    const second = await startDaemon({ directory, workers: 2, rootToken: first.rootToken });
    expect(await second.request('POST', `${actions}/decrypt`, { ciphertext })).toMatchObject({ plaintext: 'aGVsbG8=' });
    expect(await second.request('GET', '/v1/state/keystore/transit-keys/k')).toMatchObject({ 'latest-version': 1 });
    expect(await second.stop()).toBe(0);
    const { findings } = await verifyTrail(resolve(directory, 'audit'), new Map());
    expect(findings.filter(({ problem }) => !problem.startsWith('heads are signed by key'))).toEqual([]);
  },
);

test.skipIf(!mayMount)(
  'too full for the copy that a backup is made from: it is refused, nothing of it stays, and with room again it is made',
  async () => {
    const disk = path('backup');
    closing.push(mountSmallDisk(disk, 16 << 10));
    const directory = resolve(disk, 'data');
    const daemon = await startDaemon({ directory });
    await daemon.request('POST', '/v1/config/keystore/transit-keys', { name: 'k' });
    const takeBackup = (): Promise<string> =>
      codeOf(daemon, 'POST', '/v1/state/system/backup', { passphrase: 'a passphrase that is long enough' });
    // Enough for the record of the attempt, not for the copy.
    const empty = fill(disk, 8 << 10);
    expect(await takeBackup()).toBe('503 storage-unavailable');
    expect(readdirSync(directory).filter((name) => name.startsWith('backup-'))).toEqual([]);
    empty();
    await vi.waitFor(async () => expect(await takeBackup()).toBe('200 done'), { timeout: 60_000, interval: 200 });
    expect(await daemon.stop()).toBe(0);
  },
);
