// Sealing, with the real daemon: when it is answered no process holds a key any more, and no use of one has begun since.
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { Agent, request as httpsRequest } from 'node:https';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { ask } from '../../harness/client.ts';
import { type Daemon, startDaemon } from '../../harness/daemon.ts';
import { processesBelow } from '../../harness/processes.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const keys = '/v1/config/keystore/transit-keys';
const encrypt = '/v1/state/keystore/transit-keys/one/encrypt';
const sealPath = '/v1/state/keystore/system/seal';
const unseal = '/v1/state/keystore/system/unseal';

let daemon: Daemon | undefined;
afterEach(async () => {
  await daemon?.stop();
  daemon = undefined;
});

/** One request on a connection of the agent; `cut` when the connection ended without an answer. */
type Exchanged = { readonly status: number | 'cut'; readonly body: string; readonly headers: IncomingHttpHeaders };

function exchange({ rootToken, caPem }: Daemon, url: string, agent: Agent, body: unknown): Promise<Exchanged> {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${rootToken}`, 'content-type': 'application/json' };
    const request = httpsRequest(url, { method: 'POST', headers, ca: caPem, agent }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('error', () => resolve({ status: 'cut', body: '', headers: {} }));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(parts).toString(), headers: response.headers }),
      );
    });
    request.on('error', () => resolve({ status: 'cut', body: '', headers: {} }));
    request.end(JSON.stringify(body));
  });
}

/** A caller that encrypts on one kept connection, one time after another, until it is told to end. */
class Caller {
  /** times by the outcome of what was sent before and after the appliance said that it is sealed */
  readonly before = new Map<number | 'cut', number>();
  readonly after = new Map<number | 'cut', number>();
  isSealed = false;
  isOver = false;
  readonly done: Promise<void>;

  constructor(served: Daemon) {
    this.done = this.#call(served);
  }

  async #call(served: Daemon): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    while (!this.isOver) {
      const outcomes = this.isSealed ? this.after : this.before;
      const { status, body } = await exchange(served, `${served.url}${encrypt}`, agent, { plaintext: 'aGVsbG8=' });
      if (status === 503) expect(JSON.parse(body)).toMatchObject({ code: 'sealed' });
      outcomes.set(status, (outcomes.get(status) ?? 0) + 1);
    }
    agent.destroy();
  }
}

/** When the last encryption began that was answered with 200. */
function lastEncryption(directory: string): string {
  const files = readdirSync(join(directory, 'audit')).filter((name) => name.startsWith('worker-'));
  const lines = files.flatMap((name) => readFileSync(join(directory, 'audit', name), 'utf8').split('\n'));
  const encryptions = lines.filter((line) => line.includes(`"path":"${encrypt}"`) && line.includes('"status":200'));
  const begun = encryptions.map((line) => (JSON.parse(line) as { 'occurred-at': string })['occurred-at']);
  return begun.sort().at(-1) ?? '';
}

/** The newest file of the chain of each worker. */
function newestFiles(directory: string): readonly string[] {
  const names = readdirSync(join(directory, 'audit')).filter((name) => /^worker-\d+\..*jsonl$/.test(name));
  const byChain = new Map(names.toSorted().map((name) => [name.split('.')[0], join(directory, 'audit', name)]));
  return [...byChain.values()];
}

const lastLines = (file: string): string[] => readFileSync(file, 'utf8').trimEnd().split('\n');

/** Until all workers wait for the PIN: those before have ended, and write nothing any more. */
async function untilReplaced(workers: readonly number[], { pid }: Daemon): Promise<void> {
  await expect.poll(() => processesBelow(pid, '/worker.').filter((one) => workers.includes(one)), { timeout: 60_000 }).toEqual([]);
}

test(
  'a seal ends like a stop: no use is forgotten, and what is left of a version is never said to be less',
  { timeout: 300_000 },
  async () => {
    const directory = path('counted');
    const served = (daemon = await startDaemon({ directory, workers: 2 }));
    const pin = readFileSync(join(directory, 'pin'), 'utf8');
    await served.request('POST', keys, { name: 'one' });
    const values: string[] = [];
    for (let count = 0; count < 40; count++)
      values.push(((await served.request('POST', encrypt, { plaintext: 'aGVsbG8=' })) as { ciphertext: string }).ciphertext);
    await served.request('POST', '/v1/state/keystore/transit-keys/one/rotate', {});
    for (const ciphertext of values.slice(0, 10))
      await served.request('POST', '/v1/state/keystore/transit-keys/one/rewrap', { ciphertext });
    expect((await served.exchange('POST', sealPath)).status).toBe(204);
    expect((await served.exchange('POST', unseal, { pin })).status).toBe(204);
    const { usage } = (await served.request('GET', '/v1/state/keystore/transit-keys/one')) as { usage: Record<string, unknown> };
    expect(usage['1']).toMatchObject({ uses: 40, 'uses-at-most': 40, 'not-rewrapped': 30 });
  },
);

test(
  'a record that was cut off from any chain while the appliance was sealed is found, that of the seal too',
  { timeout: 300_000 },
  async () => {
    const directory = path('cut-off');
    const served = (daemon = await startDaemon({ directory, workers: 2 }));
    const pin = readFileSync(join(directory, 'pin'), 'utf8');
    for (let round = 0; round < 2; round++) {
      const workers = processesBelow(served.pid, '/worker.');
      for (let count = 0; count < 20; count++) await served.request('POST', '/v1/state/keystore/token/info', {});
      expect((await served.exchange('POST', sealPath)).status).toBe(204);
      await untilReplaced(workers, served);
      const files = newestFiles(directory);
      // In the first round nobody touches anything: a seal alone is no finding.
      const cut = round === 0 ? [] : files;
      for (const file of cut) {
        const lines = lastLines(file);
        const ofSeal = lines.findLastIndex((line) => line.includes(`"path":"${sealPath}"`));
        const isOfThisOne = ofSeal > lines.findLastIndex((line) => line.includes('"event":"started"'));
        writeFileSync(file, `${lines.slice(0, isOfThisOne ? ofSeal : -1).join('\n')}\n`);
      }
      expect((await served.exchange('POST', unseal, { pin })).status).toBe(204);
      const found = newestFiles(directory).flatMap((file) => lastLines(file).filter((line) => line.includes('"event":"cut-off"')));
      expect(new Set(found.map((line) => (JSON.parse(line) as { 'of-chain': string })['of-chain'])).size).toBe(cut.length);
    }
  },
);

test(
  'when seal is answered no key is in memory and no use begins any more, on connections that are kept as well',
  { timeout: 300_000 },
  async () => {
    const directory = path('kept');
    const startedAt = performance.now();
    const served = (daemon = await startDaemon({ directory, workers: 2 }));
    const startMs = performance.now() - startedAt;
    const pin = readFileSync(join(directory, 'pin'), 'utf8');
    await served.request('POST', keys, { name: 'one' });
    const times: number[] = [];
    for (let round = 1; round <= 3; round++) {
      const callers = Array.from({ length: 8 }, () => new Caller(served));
      const begun = (caller: Caller): boolean => (caller.before.get(200) ?? 0) >= 5;
      await expect.poll(() => callers.every(begun), { timeout: 60_000 }).toBe(true);
      const workers = processesBelow(served.pid, '/worker.');
      const since = performance.now();
      const sealed = await exchange(served, `${served.url}${sealPath}`, new Agent(), undefined);
      const [hosts, left] = [processesBelow(served.pid, '/host.'), processesBelow(served.pid, '/worker.')];
      times.push(performance.now() - since);
      for (const caller of callers) caller.isSealed = true;
      const sealedAt = Temporal.Now.instant().toString();
      expect(sealed).toMatchObject({ status: 204, headers: { connection: 'close' } });
      // The hosts are gone before others take their place; workers without keys answer until then, but for one that was too slow.
      expect(hosts).toEqual([]);
      expect(left.some((pid) => workers.includes(pid))).toBe(true);

      await expect.poll(() => callers.every(({ after }) => (after.get(503) ?? 0) > 0), { timeout: 60_000 }).toBe(true);
      expect(callers.filter(({ after }) => after.has(200))).toEqual([]);
      expect(lastEncryption(directory) < sealedAt).toBe(true);
      const est = await ask(served.estUrl, '/.well-known/est/cacerts', { ca: served.caPem });
      expect(est).toMatchObject({ status: 503, body: expect.stringMatching(/sealed/i) });
      expect(await served.exchange('GET', '/v1/state/system/health')).toMatchObject({ status: 503, body: { status: 'sealed' } });
      // At once, while the processes that wait for the PIN are still being started.
      expect(await served.exchange('POST', unseal, { pin })).toMatchObject({ status: 204 });
      for (const caller of callers) caller.isOver = true;
      await Promise.all(callers.map(({ done }) => done));
      // A replaced worker ends when its last answer is sent, which may be that of unseal.
      const old = (): number[] => processesBelow(served.pid, '/worker.').filter((pid) => workers.includes(pid));
      await expect.poll(old, { timeout: 15_000 }).toEqual([]);
    }
    // Sealing starts no process: it is quicker than a start, on any machine.
    expect(Math.min(...times)).toBeLessThan(startMs);
  },
);

test(
  'while a part is missing without which no unseal succeeds, the health of a sealed appliance names it',
  { timeout: 60_000 },
  async () => {
    const directory = path('missing');
    const started = await startDaemon({ directory });
    daemon = started;
    await started.request('POST', sealPath);
    const reason = async (): Promise<unknown> => (await started.exchange('GET', '/v1/state/system/health', undefined, '')).body.reason;
    await expect.poll(reason, { timeout: 30_000 }).toMatch(/^the appliance waits for a person/);
    for (const name of ['store', 'softhsm']) {
      renameSync(join(directory, name), path(`away-${name}`));
      expect(await reason()).toMatch(new RegExp(`^${name} of the data directory is missing, so that no unseal succeeds: .*your backup`));
      renameSync(path(`away-${name}`), join(directory, name));
    }
    expect(await reason()).toMatch(/^the appliance waits for a person/);
  },
);
