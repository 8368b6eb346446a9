// Planted secrets of every kind go through the real daemon; afterwards none is in its logs, audit trail, store, or the store as it lies in memory.
import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startDaemon, type Daemon } from '../setup/daemon.ts';
import { temporaryDirectory } from '../setup/temporary.ts';

const path = temporaryDirectory();
const directory = path('data');
const keys = '/v1/config/keystore/transit-keys';
const actions = '/v1/state/keystore/transit-keys';
const authentication = 'keystore/authentication';

type Fields = Readonly<Record<string, unknown>>;

test('no planted secret is found in logs, audit trail, store files, output, or the mapped store of any process', async () => {
  const daemon = await startDaemon({ directory, workers: 2, args: ['--log-level', 'debug'] });
  const planted = new Map<string, string | Buffer>([
    ...(await plantInTransit(daemon)),
    ...(await plantInLogins(daemon)),
    ...(await plantInDocuments(daemon)),
    ...(await plantInRefusals(daemon)),
    ['root token', daemon.rootToken],
  ]);
  const needles = [...planted].flatMap(([what, secret]) => formsOf(secret).map(([form, octets]) => [`${what} (${form})`, octets] as const));
  expect(needles.length).toBeGreaterThan(60);

  const mapped = workersOf(daemon).flatMap(mappedStore);
  expect(mapped.length).toBeGreaterThanOrEqual(2);
  // Names are not hidden: that they are found shows that the search would find a secret as well.
  for (const [where, octets] of mapped) expect([where, octets.includes('signer')]).toEqual([where, true]);
  for (const [where, octets] of mapped) expectNone(where, octets, needles);
  await daemon.stop();
  expect(filesBelow(join(directory, 'audit')).some((file) => readFileSync(file).includes('transit-keys/signer/import'))).toBe(true);
  for (const file of filesBelow(directory)) if (!file.endsWith('/root-token')) expectNone(file, readFileSync(file), needles);
  expectNone('the output of the daemon', Buffer.from(daemon.output()), needles);
}, 120_000);

/** Payloads, contexts, imported and exported keys, backups. */
async function plantInTransit(daemon: Daemon): Promise<[string, string | Buffer][]> {
  const post = async (where: string, body: Fields): Promise<Fields> => (await daemon.request('POST', where, body)) as Fields;
  await post(keys, { name: 'plain', exportable: true, 'allow-plaintext-backup': true });
  await post(keys, { name: 'derived', derived: true });
  await post(keys, { name: 'signer', cipher: 'ecdsa-p256', exportable: true });
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const { ciphertext } = await post(`${actions}/plain/encrypt`, { plaintext: base64('planted-plaintext-of-transit') });
  await post(`${actions}/plain/decrypt`, { ciphertext });
  await post(`${actions}/derived/encrypt`, {
    plaintext: '',
    context: 'planted-context-of-transit',
    'associated-data': base64('planted-associated-data'),
  });
  await post(`${actions}/plain/hmac`, { plaintext: base64('planted-text-of-hmac') });
  await post(`${actions}/signer/sign`, { text: 'planted-text-of-sign', 'base64-encoded': false });
  await post(`${actions}/plain/encrypt`, { 'batch-input': [{ plaintext: base64('planted-in-a-batch') }] });
  const dataKey = await post(`${actions}/plain/generate-data-key`, { type: 'plaintext' });
  const exported = await post(`${actions}/plain/export`, {});
  const exportedSigner = await post(`${actions}/signer/export`, {});
  const backup = await post(`${actions}/plain/backup`, {});
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256', privateKeyEncoding: { format: 'pem', type: 'pkcs8' }, publicKeyEncoding: { format: 'pem', type: 'spki' } }); // prettier-ignore
  await daemon.request('POST', `${actions}/signer/import`, { data: privateKey });
  return [
    ['plaintext', 'planted-plaintext-of-transit'],
    ['context', 'planted-context-of-transit'],
    ['associated data', 'planted-associated-data'],
    ['text of hmac', 'planted-text-of-hmac'],
    ['text of sign', 'planted-text-of-sign'],
    ['batch item', 'planted-in-a-batch'],
    ['data key', Buffer.from(dataKey['plaintext'] as string, 'base64')],
    ['exported AES key', Buffer.from((exported['keys'] as Record<string, string>)['1'] as string, 'base64')],
    ['exported private scalar', scalarOf((exportedSigner['keys'] as Record<string, string>)['1'] as string)],
    ['imported private scalar', scalarOf(privateKey)],
    ['key material of a backup', Buffer.from(backup['key'] as string, 'base64').subarray(60, 100)],
  ];
}

/** Tokens, secret-ids, right and wrong. */
async function plantInLogins(daemon: Daemon): Promise<[string, string | Buffer][]> {
  const created = (await daemon.request('POST', '/v1/state/keystore/token/create', {})) as { token: string };
  await daemon.request('POST', `/v1/config/${authentication}/approles`, { name: 'robot', 'token-policies': ['user'] });
  const { 'role-id': roleId } = (await daemon.request('GET', `/v1/state/${authentication}/approles/robot`)) as Record<string, string>;
  const made = (await daemon.request('POST', `/v1/state/${authentication}/approles/robot/generate-secret-id`, {})) as Record<
    string,
    string
  >;
  const login = { 'role-id': roleId, 'secret-id': made['secret-id'] };
  const { token } = (await daemon.request('POST', '/v1/approle-login', login)) as { token: string };
  await daemon.exchange('POST', '/v1/approle-login', { ...login, 'secret-id': 'planted-wrong-secret-id' });
  await daemon.exchange('POST', '/v1/approle-login', { 'role-id': 'planted-secret-as-role-id', 'secret-id': 'x' });
  await daemon.request('POST', '/v1/config/tenants', { name: 'tenant' });
  const root = (await daemon.request('POST', '/v1/state/keystore/token/create-root', { name: 'tenant' })) as { token: string };
  await daemon.exchange('GET', '/v1/config/tenants', undefined, 'planted-unknown-token');
  await daemon.request('POST', '/v1/state/keystore/token/info', { token });
  return [
    ['created token', created.token],
    ['secret-id', made['secret-id'] as string],
    ['token of a login', token],
    ['wrong secret-id', 'planted-wrong-secret-id'],
    ['secret given as role-id', 'planted-secret-as-role-id'],
    ['root token of a tenant', root.token],
    ['unknown token', 'planted-unknown-token'],
  ];
}

/** Secret fields of documents, on creation, replacement and merge. */
async function plantInDocuments(daemon: Daemon): Promise<[string, string | Buffer][]> {
  const ca = (secret: string) => ({ est: { enabled: true, 'initial-enroll-secret': secret } });
  await daemon.request('POST', '/v1/config/keystore/tls/ca', { name: 'ca', ...ca('planted-enroll-secret-1') });
  await daemon.request('PATCH', '/v1/config/keystore/tls/ca/ca', ca('planted-enroll-secret-2'));
  const service = (secret: string) => ({
    'discovery-url': 'https://idp.example/.well-known/openid-configuration',
    'client-id': 'c',
    'client-secret': secret,
    'role-select': { 'role-claim': 'groups' },
    'allowed-redirect-uris': ['https://keystore.example/oidc-callback'],
  });
  await daemon.request('POST', `/v1/config/${authentication}/oidc`, { name: 'idp', ...service('planted-client-secret-1') });
  await daemon.request('PUT', `/v1/config/${authentication}/oidc/idp`, service('planted-client-secret-2'));
  return ['planted-enroll-secret-1', 'planted-enroll-secret-2', 'planted-client-secret-1', 'planted-client-secret-2'].map((secret) => [
    secret,
    secret,
  ]);
}

/** Secrets where they do not belong: misspelt fields, wrong types, queries, headers of refused requests. */
async function plantInRefusals(daemon: Daemon): Promise<[string, string | Buffer][]> {
  for (const [where, body] of [
    [`${actions}/plain/encrypt`, { plaintxt: 'planted-misspelt' }],
    [`${actions}/plain/encrypt`, { plaintext: { deep: 'planted-wrong-type' } }],
    [`${actions}/nowhere/encrypt`, { plaintext: 'planted-for-nobody' }],
    ['/v1/state/system/backup', { passphrase: 'planted-passphrase', unknown: 1 }],
    ['/v1/state/keystore/system/unseal', { pin: 'planted-pin' }],
    [`/v1/config/tenants?token=planted-in-a-query`, {}],
  ] as const) {
    await daemon.exchange('POST', where, body);
  }
  return ['misspelt', 'wrong-type', 'for-nobody', 'passphrase', 'pin', 'in-a-query'].map((name) => [`planted-${name}`, `planted-${name}`]);
}

/** The private number of a P-256 key in PKCS#8. */
function scalarOf(pem: string): Buffer {
  return Buffer.from(createPrivateKey(pem).export({ format: 'jwk' }).d ?? '', 'base64url');
}

/** How a secret could lie somewhere: as it is, as text of it, and inside base64 at each of its three alignments. */
function formsOf(secret: string | Buffer): readonly (readonly [string, Buffer])[] {
  const octets = Buffer.from(secret);
  // Characters at the ends depend on what stands beside.
  const aligned = [0, 1, 2].map((shift) =>
    Buffer.concat([Buffer.alloc(shift), octets])
      .toString('base64')
      .slice(4, -4),
  );
  return [
    ['as it is', octets],
    ['hexadecimal', Buffer.from(octets.toString('hex'))],
    ['UTF-16', Buffer.from(octets.toString('latin1'), 'utf16le')],
    ...aligned.map((text, shift) => [`base64 ${shift}`, Buffer.from(text)] as const),
  ];
}

function expectNone(where: string, octets: Buffer, needles: readonly (readonly [string, Buffer])[]): void {
  expect([where, needles.filter(([, needle]) => octets.includes(needle)).map(([what]) => what)]).toEqual([where, []]);
}

function workersOf(daemon: Daemon): readonly number[] {
  const children = (pid: number): number[] => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter((one) => one !== '').map(Number); // prettier-ignore
  return children(daemon.pid);
}

/** The pages of the store's map in a process, as that process sees them. */
function mappedStore(pid: number): (readonly [string, Buffer])[] {
  const maps = readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n').filter((line) => line.endsWith('/store/data.mdb')); // prettier-ignore
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  try {
    return maps.map((line) => {
      const [start = 0, end = 0] =
        /^([0-9a-f]+)-([0-9a-f]+)/
          .exec(line)
          ?.slice(1)
          .map((digits) => Number.parseInt(digits, 16)) ?? [];
      // The map is far larger than the file; behind its end there is nothing to read.
      const octets = Buffer.alloc(Math.min(end - start, 64 << 20));
      let read = 0;
      try {
        while (read < octets.length) {
          const got = readSync(memory, octets, read, Math.min(1 << 20, octets.length - read), start + read);
          if (got === 0) break;
          read += got;
        }
      } catch {
        // EIO at the end of the file
      }
      return [`the store in process ${pid}, ${read} octets`, octets.subarray(0, read)] as const;
    });
  } finally {
    closeSync(memory);
  }
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
