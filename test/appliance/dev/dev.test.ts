// `npm run dev`: the appliance from its sources starts again at a change, and its landing page leads to the console.
import { spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import type { Started } from '../../../appliance/dev/appliance-process.ts';
import { addressFor, openLanding } from '../../../appliance/dev/landing.ts';
import { partOf } from '../../../appliance/dev/source-changes.ts';
import { endWithTests } from '../../harness/children.ts';
import { freePort } from '../../harness/daemon.ts';
import { patienceMs } from '../../harness/patience.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const root = resolve(import.meta.dirname, '../../..');
const path = temporaryDirectory();
const within = { timeout: patienceMs, interval: 20 };

test.each([
  ['core/base/time.ts', 'service'],
  ['core/etcd/proto/rpc.proto', 'service'],
  ['plugins/est/app.ts', 'service'],
  ['plugins/console/provision.ts', 'service'],
  ['plugins/console/app/style/console.css', 'console'],
  ['plugins/console/built/manifest.json', undefined],
  ['plugins/console/built.12.tmp/manifest.json', undefined],
  ['appliance/cli/main.ts', undefined],
  ['appliance/dev/landing.ts', undefined],
  ['core/README.md', undefined],
  ['core/base/.time.ts.swp', undefined],
])('a change of %s restarts: %s', (file, part) => {
  expect(partOf(file)).toBe(part);
});

test('the address is one that people reach, and a QR code is for those of other devices', () => {
  const internal = { address: '127.0.0.1', internal: true };
  const outer = { address: '192.0.2.7', internal: false };
  const interfaces = (...addresses: object[]) => ({ eth0: addresses }) as never;
  const at = (url: string, ...addresses: object[]) => addressFor(url, interfaces(...addresses));
  expect(at('https://127.0.0.1:4646', outer)).toEqual({ address: 'https://127.0.0.1:4646', isReachable: false });
  expect(at('https://[::1]:4646', outer)).toEqual({ address: 'https://[::1]:4646', isReachable: false });
  expect(at('https://192.0.2.9:4646', outer)).toEqual({ address: 'https://192.0.2.9:4646', isReachable: true });
  expect(at('https://0.0.0.0:4646', internal, outer)).toEqual({ address: 'https://192.0.2.7:4646', isReachable: true });
  expect(at('https://[::]:4646', internal, { address: '2001:db8::7', internal: false }).address).toBe('https://[2001:db8::7]:4646');
  expect(at('https://0.0.0.0:4646', internal)).toEqual({ address: 'https://127.0.0.1:4646', isReachable: false });
});

test('the landing page waits for the start, and says when there is none', async () => {
  mkdirSync(path('tls'));
  writeFileSync(path('tls/ca.pem'), 'the certificate');
  let started = Promise.withResolvers<Started>();
  const landing = await openLanding({ settled: () => started.promise }, path('.'));
  const ask = (target: string) => fetch(new URL(target, landing.url), { redirect: 'manual' });
  const asked = ask('/');
  started.resolve({ url: 'https://127.0.0.1:4646' });
  expect((await asked).headers.get('location')).toBe('https://127.0.0.1:4646/ui');
  expect(await (await ask('/ca.pem')).text()).toBe('the certificate');
  for (const target of ['/root-token', '/ca.pem?x', '/%2e%2e/root-token']) expect((await ask(target)).status).toBe(404);
  started = Promise.withResolvers();
  started.resolve('ended');
  const refused = await ask('/');
  expect([refused.status, refused.headers.get('refresh')]).toEqual([503, '1']);
  await landing.close();
});

test('a change of a source starts the appliance again, whose certificate and addresses are on the terminal, and its end ends it', async () => {
  const [port, estPort] = [await freePort(), await freePort()];
  const dev = spawn(
    process.execPath,
    [
      ...[join(root, 'appliance/dev/command.ts'), '--data', path('data')],
      ...['--listen', `127.0.0.1:${port}`, '--est-listen', `127.0.0.1:${estPort}`],
    ],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/compile'), ...process.env },
      detached: true,
    },
  );
  endWithTests(dev);
  const said: string[] = [];
  for (const stream of [dev.stdout, dev.stderr]) stream.setEncoding('utf8').on('data', (text: string) => said.push(text));
  const starts = () => said.join('').split('dev: up after').length - 1;
  await expect.poll(starts, within).toBe(1);
  const { fingerprint256 } = new X509Certificate(readFileSync(path('data/tls/ca.pem')));
  await expect.poll(() => said.join(''), within).toContain(fingerprint256);
  expect(said.join('')).toContain(`https://127.0.0.1:${port}/ui`);
  const now = new Date();
  utimesSync(join(root, 'appliance/worker.ts'), now, now);
  await expect.poll(starts, within).toBe(2);
  const ended = new Promise((done) => void dev.once('exit', done));
  dev.kill('SIGTERM');
  expect(await ended).toBe(0);
  await expect(fetch(`https://127.0.0.1:${port}/`)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
});
