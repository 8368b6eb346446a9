// The status screen and the gate of a trial boot: what they say of a daemon that starts, serves, is sealed, and is gone.
import { X509Certificate } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readFacts } from '../../../appliance/packaging/os/programs/console.ts';
import { readDaemonState } from '../../../appliance/packaging/os/programs/daemon-state.ts';
import { isGood, waitUntilGood } from '../../../appliance/packaging/os/programs/health-gate.ts';
import { writeNotice } from '../../../appliance/packaging/os/programs/notices.ts';
import { formatScreen, type Facts } from '../../../appliance/packaging/os/programs/screen.ts';
import { startDaemon } from '../../harness/daemon.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();

/** A machine that runs other tests as well may answer late. */
const patiently = { timeout: 60_000, interval: 100 };

const facts: Facts = {
  version: '1.2.3',
  hostname: 'keys-1',
  addresses: ['192.0.2.10', '2001:db8::10'],
  refusal: undefined,
  daemon: { status: 'degraded', reasons: ['disk: nearly full'] },
  caFingerprint: 'AB:CD',
  clockIsSynchronized: true,
  credential: undefined,
  unsealCode: 'BCDF-GHJK-LMNP',
  notices: [],
};

test('the screen says where the appliance is, how it is, and whom to trust', () => {
  const screen = formatScreen(facts);
  for (const text of [
    '1.2.3',
    'https://192.0.2.10:4646',
    'https://[2001:db8::10]:4665',
    'a person should act',
    '! disk: nearly full',
    'AB:CD',
  ])
    expect(screen).toContain(text);
  expect(screen).not.toContain('unclaimed');
  expect(screen).not.toContain('BCDF');
});

test('the screen of a sealed appliance has the unseal code', () => {
  expect(formatScreen({ ...facts, daemon: { status: 'sealed', reasons: [] } })).toMatch(/^unseal code +BCDF-GHJK-LMNP$/m);
});

test('nothing that is told can steer the terminal or pretend to be another line', () => {
  const screen = formatScreen({ ...facts, notices: ['a\u001B[2Jb\nservice     serving'], hostname: 'x\r\u009B2Jy' });
  expect(screen.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
  expect(screen).toContain('* a?[2Jb?service');
});

test('a daemon that starts, serves and stops; its credential is on the screen until somebody uses it', async () => {
  const root = path('machine');
  const data = join(root, 'var/lib/keystored');
  const credentialFile = join(root, 'run/keystored/bootstrap');
  for (const directory of [join(root, 'var/lib'), join(root, 'run/keystored')]) mkdirSync(directory, { recursive: true });
  const config = path('keystored.yaml');
  writeFileSync(config, `bootstrap-file: ${credentialFile}\n`);
  writeNotice(root, 'settings', 'kept');
  expect(formatScreen(await readFacts(root))).toMatch(/service +starting[^]*CA SHA-256 +not made yet[^]*\* kept/);

  const daemon = await startDaemon({ directory: data, args: ['--config', config], rootToken: 'none' });
  const port = Number(new URL(daemon.url).port);
  const read = async (): Promise<string> => formatScreen(await readFacts(root, port));
  await expect.poll(read, patiently).toMatch(/service +serving\n/);
  const screen = await read();
  const credential = JSON.parse(readFileSync(credentialFile, 'utf8')) as Record<string, string>;
  expect(screen).toContain(new X509Certificate(daemon.caPem).fingerprint256);
  expect(screen).toContain(credential['secret-id']);
  expect(await waitUntilGood(() => readDaemonState(root, port), Infinity)).toBe(true);

  const { 'role-id': roleId, 'secret-id': secretId } = credential;
  await daemon.exchange('POST', '/v1/approle-login', { 'role-id': roleId, 'secret-id': secretId });
  await expect.poll(() => existsSync(credentialFile), patiently).toBe(false);
  expect(formatScreen(await readFacts(root, port))).not.toContain('unclaimed');

  expect(await daemon.stop()).toBe(0);
  expect(await readDaemonState(root, port)).toEqual({ status: 'silent', reasons: [] });
  expect(await waitUntilGood(() => readDaemonState(root, port), 0)).toBe(false);
});

test('the screen says why the daemon does not start, until it does', async () => {
  const root = path('refused');
  const data = join(root, 'var/lib/keystored');
  mkdirSync(join(root, 'run/keystored'), { recursive: true });
  const config = path('refused.yaml');
  const refusalFile = `refusal-file: ${join(root, 'run/keystored/refusal')}\n`;
  writeFileSync(
    config,
    `${refusalFile}hsm: {tokens: [{name: own, module: /usr/lib/vendor/absent.so, label: a, pin: {environment: PIN}}]}\n`,
  );
  await expect(startDaemon({ directory: data, args: ['--config', config], environment: { PIN: '1234' } })).rejects.toThrow('ended with 1');
  expect(formatScreen(await readFacts(root))).toMatch(/^! The service does not start, and is retried: .*\/usr\/lib\/vendor\/absent\.so/m);
  writeFileSync(config, refusalFile);
  const daemon = await startDaemon({ directory: data, args: ['--config', config] });
  expect(formatScreen(await readFacts(root))).not.toContain('does not start');
  await daemon.stop();
});

test('a server that another CA vouches for is not taken for the daemon', async () => {
  const [one, other] = [path('one'), path('other')];
  // Without a name of loopback in the certificate: the settings may leave it out.
  const daemon = await startDaemon({ directory: join(one, 'var/lib/keystored'), args: ['--hosts', 'keys.example.com'] });
  const foreign = await startDaemon({ directory: join(other, 'var/lib/keystored'), firstStart: true });
  const port = Number(new URL(daemon.url).port);
  await expect.poll(() => readDaemonState(one, port), patiently).toEqual({ status: 'ok', reasons: [] });
  expect(await readDaemonState(other, port)).toEqual({ status: 'silent', reasons: [] });
  expect([await daemon.stop(), await foreign.stop()]).toEqual([0, 0]);
});

test('the gate lets pass who serves or waits for the PIN, and holds who is down or silent', () => {
  const good = (['ok', 'degraded', 'sealed', 'down', 'silent'] as const).filter((status) => isGood({ status, reasons: [] }));
  expect(good).toEqual(['ok', 'degraded', 'sealed']);
});
