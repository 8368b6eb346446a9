// keystorectl pkcs11 and kms as services: the units of systemd and the static pod of the documents, each checked and run.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { basename, dirname, join, resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { endWithTests } from '../../harness/children.ts';
import { KmsClient } from '../../harness/kms-client.ts';
import { P11KitClient, wanted } from '../../harness/p11-kit-client.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const root = resolve(import.meta.dirname, '../../..');
const path = temporaryDirectory();
const documents = { pkcs11: 'appliance/docs/use/pkcs11.md', kms: 'appliance/docs/use/kubernetes.md' } as const;
/** Files of units in the documents, by their names. */
const units = new Map(
  Object.values(documents).flatMap((name) =>
    [...readFileSync(join(root, name), 'utf8').matchAll(/^# \/etc\/systemd\/system\/(\S+)\n([^]*?)(?=\n\n?# \/etc|\n```)/gm)].map(
      ([, unit = '', text = '']) => [unit, `${text}\n`] as const,
    ),
  ),
);
const activate = '/usr/bin/systemd-socket-activate';
const isThere = (command: string): boolean => spawnSync(command, ['--version']).status === 0;
const analyzer = isThere('systemd-analyze');
const activator = isThere(activate);
if (!analyzer || !activator) console.warn('SKIPPED: the units of keystorectl pkcs11 and kms, because systemd is not installed');

let appliance: TestAppliance;
beforeAll(async () => {
  mkdirSync(path('appliance'));
  appliance = await startTestAppliance({ directory: path('appliance') });
  await appliance.request('POST', '/v1/config/keystore/transit-keys', { name: 'web', cipher: 'ecdsa-p256' });
  await appliance.request('POST', '/v1/config/keystore/transit-keys', { name: 'etcd' });
  for (const name of ['token', 'pkcs11.token', 'kubernetes.token']) writeFileSync(path(name), appliance.rootToken, { mode: 0o600 });
});
afterAll(() => appliance.close());
const running: ChildProcess[] = [];
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
});

/** Words of a document, with the program, the address and the files of the test. */
function moved(words: readonly string[]): readonly string[] {
  const places: Readonly<Record<string, string>> = {
    '/usr/bin/keystorectl': join(root, 'appliance/keystorectl'),
    '/etc/keystored/ca.pem': path('appliance', 'tls-cert.pem'),
  };
  return words.map((word) => {
    if (word.startsWith('https:')) return appliance.url;
    return places[word] ?? (/^(?:%d|\/etc\/keystored|\/run\/keystored-kms)\//.test(word) ? path(basename(word)) : word);
  });
}

function start(words: readonly string[]): ChildProcess {
  const [command = '', ...rest] = moved(words);
  const child = spawn(command, rest, { stdio: ['ignore', 'ignore', 'pipe'], env: { PATH: '/usr/bin:/bin' } });
  endWithTests(child);
  running.push(child);
  return child;
}

const commandOf = (unit: string): readonly string[] => /^ExecStart=(.+)$/m.exec(units.get(unit) ?? '')?.[1]?.split(' ') ?? [];

describe.skipIf(!analyzer || !activator)('units of systemd', () => {
  test('have no setting that systemd does not know', () => {
    expect([...units.keys()].toSorted()).toEqual(['keystored-kms.service', 'keystored-pkcs11.service', 'keystored-pkcs11.socket']);
    const files = [...units].map(([name, text]) => {
      writeFileSync(path(name), text.replaceAll('/usr/bin/keystorectl', moved(['/usr/bin/keystorectl'])[0] ?? ''));
      return path(name);
    });
    const { stderr } = spawnSync('systemd-analyze', ['verify', ...files], { encoding: 'utf8' });
    expect(stderr.split('\n').filter((line) => /keystored-(?:kms|pkcs11)\./.test(line))).toEqual([]);
    writeFileSync(path('keystored-kms.service'), '[Service]\nExecStart=/bin/true\nRestartWhen=always\n');
    expect(spawnSync('systemd-analyze', ['verify', path('keystored-kms.service')], { encoding: 'utf8' }).stderr).toContain('RestartWhen');
  });

  test('start keystorectl pkcs11 for the first program that connects to the socket', async () => {
    const socket = path('pkcs11.sock');
    const child = start([activate, '-l', socket, ...commandOf('keystored-pkcs11.service')]);
    await once(child.stderr!, 'data');
    const connection = createConnection(socket);
    const client = new P11KitClient(connection, connection);
    const session = await client.openSession();
    const [key = 0] = await client.find(session, wanted.class(3), wanted.label('web'));
    await client.begin(session, key, 0x1041);
    expect(await client.sign(session, Buffer.alloc(32, 1))).toHaveLength(64);
    client.end();
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  test('start keystorectl kms, which serves root alone', async () => {
    expect(await statusOfKms(start(commandOf('keystored-kms.service')))).toEqual(['v2', 'ok', 'etcd:1']);
  });
});

test.skipIf(process.getuid?.() !== 0)('a container runs them under a number that has no account, and without a home', async () => {
  for (const directory of [dirname(path()), path()]) chmodSync(directory, 0o711);
  mkdirSync(path('any'), { mode: 0o777 });
  chmodSync(path('any'), 0o777);
  const words = ['kms', '--socket', path('any/kms.sock'), '--key', 'etcd'];
  const child = spawn(join(root, 'appliance/keystorectl'), words, {
    ...{ uid: 61_234, gid: 61_234, stdio: ['ignore', 'ignore', 'pipe'] },
    env: { PATH: '/usr/bin:/bin', KEYSTORED_URL: appliance.url, KEYSTORED_TOKEN: appliance.rootToken, KEYSTORED_CA: path('any/ca.pem') },
  });
  running.push(child);
  copyFileSync(path('appliance', 'tls-cert.pem'), path('any/ca.pem'));
  expect(String(await once(child.stderr, 'data'))).toContain('listens on');
  const kms = new KmsClient(path('any/kms.sock'));
  expect(await kms.status()).toEqual(['v2', 'ok', 'etcd:1']);
  kms.end();
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
});

type Pod = {
  readonly spec: {
    readonly containers: readonly {
      readonly command: readonly string[];
      readonly args: readonly string[];
      readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
    }[];
    readonly volumes: readonly { readonly name: string; readonly hostPath: { readonly path: string } }[];
  };
};

test('the static pod has the volumes that its command needs, and its command serves', async () => {
  const blocks = [...readFileSync(join(root, documents.kms), 'utf8').matchAll(/^```yaml\n([^]*?)^```/gm)].map(
    ([, text = '']) => parse(text) as unknown,
  );
  const pod = blocks.find((one) => (one as { kind: string }).kind === 'Pod') as Pod;
  const {
    containers: [container],
    volumes,
  } = pod.spec;
  const { command = [], args = [], volumeMounts = [] } = container ?? {};
  expect(volumeMounts.map(({ name, mountPath }) => [name, mountPath])).toEqual(volumes.map(({ name, hostPath }) => [name, hostPath.path]));
  const files = [...command, ...args].filter((word) => word.startsWith('/'));
  for (const file of files)
    expect(
      volumeMounts.some(({ mountPath }) => file === mountPath || file.startsWith(`${mountPath}/`)),
      file,
    ).toBe(true);
  expect(await statusOfKms(start([...command, ...args]))).toEqual(['v2', 'ok', 'etcd:1']);
});

/** Status of a plugin of KMS that was just started, and is ended then. */
async function statusOfKms(child: ChildProcess): Promise<readonly string[]> {
  expect(String(await once(child.stderr!, 'data'))).toContain('listens on');
  expect(statSync(path('kms.sock')).mode & 0o777).toBe(0o600);
  const kms = new KmsClient(path('kms.sock'));
  const status = await kms.status();
  kms.end();
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
  return status;
}
