// The memory that the documents promise is enough: within 1 GiB, as a control group gives it, callers with large bodies end no process.
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Daemon, startDaemon } from '../../harness/daemon.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const at = temporaryDirectory();
const gib = 2 ** 30;
/** of control groups version 1 or 2 */
const root = existsSync('/sys/fs/cgroup/memory') ? '/sys/fs/cgroup/memory' : '/sys/fs/cgroup';
const group = `${root}/keystored-test-${process.pid}`;
const limitFile = existsSync(`${root}/memory.limit_in_bytes`) ? 'memory.limit_in_bytes' : 'memory.max';
let daemon: Daemon;

beforeAll(async () => {
  mkdirSync(group);
  writeFileSync(`${group}/${limitFile}`, String(gib));
  daemon = await startDaemon({
    directory: at('data'),
    workers: 2,
    within: ['sh', '-c', `echo $$ > ${group}/cgroup.procs; exec "$@"`, 'sh'],
  });
});

afterAll(async () => {
  await daemon?.stop();
  await vi.waitFor(() => expect(readFileSync(`${group}/cgroup.procs`, 'utf8')).toBe(''), { timeout: 30_000 });
  rmdirSync(group);
});

/** Of the group; one that has ended meanwhile is none. */
function workers(): string[] {
  return readFileSync(`${group}/cgroup.procs`, 'utf8')
    .trim()
    .split('\n')
    .filter((pid) => existsSync(`/proc/${pid}`) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('/worker.'));
}

test('large plaintexts, 40 at a time, of eight tenants, are all answered by the same two workers', async () => {
  const tokens = await Promise.all(
    Array.from({ length: 8 }, async (_, number) => {
      const name = `tenant-${number}`;
      await daemon.request('POST', '/v1/config/tenants', { name });
      const { token } = (await daemon.request('POST', '/v1/state/keystore/token/create-root', { name })) as { token: string };
      await daemon.request('POST', '/v1/config/keystore/transit-keys', { name: 'large' }, token);
      return token;
    }),
  );
  const before = workers();
  expect(before).toHaveLength(2);
  const body = JSON.stringify({ plaintext: Buffer.alloc(2_000_000, 7).toString('base64') });
  const headers = { 'content-type': 'application/json' };
  const encrypt = (token: string | undefined) =>
    daemon.exchange('POST', '/v1/state/keystore/transit-keys/large/encrypt', body, token, headers);
  const answers: number[] = [];
  await Promise.all(
    Array.from({ length: 40 }, async (_, caller) => {
      for (let n = 0; n < 4; n++) answers.push((await encrypt(tokens[caller % tokens.length])).status);
    }),
  );
  expect([answers, workers()]).toEqual([Array(160).fill(200), before]);
});
