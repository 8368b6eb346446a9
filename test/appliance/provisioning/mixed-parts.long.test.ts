// Parts of two appliances, or two of one part, in one data directory: a start names them, and nothing that is only there is lost.
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { startDaemon } from '../../harness/daemon.ts';
import { type Refusal, startAndEnd } from '../../harness/refused-start.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const tokenIn = (data: string): string =>
  String(readdirSync(join(data, 'softhsm')).find((name) => existsSync(join(data, 'softhsm', name, 'token.object'))));

beforeAll(async () => {
  for (const name of ['own', 'foreign']) {
    const daemon = await startDaemon({ directory: path(name), firstStart: true });
    await daemon.stop();
  }
}, 180_000);

/** A start of a copy that was changed. */
async function start(name: string, change: (data: string) => void): Promise<Refusal & { readonly data: string }> {
  const data = path(name);
  cpSync(path('own'), data, { recursive: true });
  change(data);
  return { ...(await startAndEnd(data)), data };
}

test('two copies of its token, over which SoftHSM ends the process, are named', async () => {
  const { status, last, data } = await start('copies', (own) =>
    cpSync(join(own, 'softhsm', tokenIn(own)), join(own, 'softhsm', 'copy-of-it'), { recursive: true }),
  );
  expect(status).toBe(1);
  for (const folder of [tokenIn(path('own')), 'copy-of-it']) expect(last).toContain(join(data, 'softhsm', folder));
  expect(last).toMatch(/are the same token: move away the folder that is a copy, out of /);
});

test('the token of another appliance beside its own is named, and neither gets a PIN', async () => {
  const foreign = tokenIn(path('foreign'));
  const { status, stderr, last, data } = await start('beside', (own) =>
    cpSync(join(path('foreign'), 'softhsm', foreign), join(own, 'softhsm', foreign), { recursive: true }),
  );
  expect([status, stderr.includes('refused the PIN')]).toEqual([1, false]);
  for (const folder of [tokenIn(path('own')), foreign]) expect(last).toContain(join(data, 'softhsm', folder));
  expect(last).toMatch(/has several tokens of an appliance.*: move away those that are not of this one/);
});

test('public audit keys of another appliance are kept, and said', async () => {
  const parts = ['store', 'store-key.json', 'softhsm', 'pin', 'so-pin'];
  const before = readFileSync(join(path('own'), 'audit/audit-keys.pem'), 'utf8');
  const { status, stderr, data } = await start('of-another', (own) => {
    for (const part of parts) {
      rmSync(join(own, part), { recursive: true });
      cpSync(join(path('foreign'), part), join(own, part), { recursive: true });
    }
  });
  expect(status).toBe(0);
  expect(readFileSync(join(data, 'audit/audit-keys.pem.set-aside'), 'utf8')).toBe(before);
  expect(readFileSync(join(data, 'audit/audit-keys.pem'), 'utf8')).toBe(
    readFileSync(join(path('foreign'), 'audit/audit-keys.pem'), 'utf8'),
  );
  expect(stderr).toContain('had keys that this appliance never had, and was set aside');
  // The next start has its own.
  await startAndEnd(data);
  expect(readdirSync(join(data, 'audit')).filter((name) => name.startsWith('audit-keys'))).toEqual([
    'audit-keys.pem',
    'audit-keys.pem.set-aside',
  ]);
});

test('logs that were removed are said, and begin again', async () => {
  const { status, stderr, data } = await start('logs', (own) => rmSync(join(own, 'logs'), { recursive: true }));
  expect([status, stderr]).toEqual([0, expect.stringContaining(`${join(data, 'logs')} was removed: what was logged before is gone`)]);
  expect((await startAndEnd(data)).stderr).not.toContain('was removed');
});
