// Wrapped imports: the wrapping key of a tenant opens for that tenant alone, and one that was made for an import for that key, once, in its time.
import { constants, createCipheriv, createPublicKey, publicEncrypt, randomBytes } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { startVictim, type Victim } from '../../../attacks/victim.ts';

let victim: Victim;
let neighbour: string;
const keys = '/v1/config/keystore/transit-keys';
const state = '/v1/state/keystore/transit-keys';
const ofTenant = '/v1/state/keystore/wrapping-key';

beforeAll(async () => {
  victim = await startVictim();
  neighbour = await victim.makeTenant('neighbour', ['root']);
});

/** As callers wrap: RSA-OAEP of a fresh AES key, then AES key wrap with padding. */
function wrap(pem: string, material: Buffer, oaepHash = 'sha256'): string {
  const transportKey = randomBytes(32);
  const key = { key: createPublicKey(pem), padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash };
  const cipher = createCipheriv('id-aes256-wrap-pad', transportKey, Buffer.from('a65959a6', 'hex'));
  return Buffer.concat([publicEncrypt(key, transportKey), cipher.update(material), cipher.final()]).toString('base64');
}

let made = 0;
async function makeKey(token = victim.rootToken): Promise<string> {
  const name = `imported-${(made += 1)}`;
  expect(await victim.verdict('POST', keys, { name, exportable: true, 'deletion-allowed': true }, { token })).toBe('201 done');
  return name;
}
const wrappingKeyOf = async (token: string): Promise<string> =>
  String((await victim.request('GET', ofTenant, undefined, { token })).body['wrapping-key']);
const importInto = (name: string, body: object, token = victim.rootToken): Promise<string> =>
  victim.verdict('POST', `${state}/${name}/import`, body, { token });
async function askFor(
  name: string,
  body: object = {},
  token = victim.rootToken,
): Promise<{ pem: string; 'import-id': string; expires: string }> {
  const answer = await victim.request('POST', `${state}/${name}/import-wrapping-key`, body, { token });
  expect(answer.status).toBe(200);
  const { 'wrapping-key': pem, ...others } = answer.body as Record<string, string>;
  return { pem, ...others } as { pem: string; 'import-id': string; expires: string };
}

test('what one tenant wrapped under its key no other imports', async () => {
  const material = randomBytes(32);
  const [own, other] = [await wrappingKeyOf(victim.rootToken), await wrappingKeyOf(neighbour)];
  expect(own).not.toBe(other);
  expect(await wrappingKeyOf(victim.rootToken)).toBe(own);
  const ciphertext = wrap(own, material);
  expect(await importInto(await makeKey(neighbour), { ciphertext }, neighbour)).toBe('400 invalid-key-data');
  const name = await makeKey();
  expect(await importInto(name, { ciphertext })).toBe('204 done');
  const { keys: exported } = (await victim.request('POST', `${state}/${name}/export`, { version: 'latest' })).body as {
    keys: Record<string, string>;
  };
  expect(exported['2']).toBe(material.toString('base64'));
});

test('a key for one import opens for the transit key it was made for, once', async () => {
  const [name, another] = [await makeKey(), await makeKey()];
  const { pem, 'import-id': id } = await askFor(name);
  const ciphertext = wrap(pem, randomBytes(32));
  expect(await importInto(another, { ciphertext, 'import-id': id })).toBe('400 invalid-key-data');
  expect(await importInto(name, { ciphertext })).toBe('400 invalid-key-data');
  const all = await Promise.all([1, 2, 3].map(() => importInto(name, { ciphertext, 'import-id': id })));
  expect(all.toSorted()).toEqual(['204 done', '400 invalid-key-data', '400 invalid-key-data']);
  expect(await importInto(name, { ciphertext, 'import-id': id })).toBe('400 invalid-key-data');
});

test('nor does it for a key that was made again under the name, or after another one was asked for', async () => {
  const name = await makeKey();
  const first = await askFor(name);
  const second = await askFor(name);
  const wrapped = (asked: typeof first) => ({ ciphertext: wrap(asked.pem, randomBytes(32)), 'import-id': asked['import-id'] });
  expect(await importInto(name, wrapped(first))).toBe('400 invalid-key-data');
  expect(await victim.verdict('DELETE', `${keys}/${name}`)).toBe('204 done');
  expect(await victim.verdict('POST', keys, { name })).toBe('201 done');
  expect(await importInto(name, wrapped(second))).toBe('400 invalid-key-data');
});

test('it ends in its time, a day at most', async () => {
  const name = await makeKey();
  const asked = await askFor(name, { ttl: '60s' });
  const body = { ciphertext: wrap(asked.pem, randomBytes(32)), 'import-id': asked['import-id'] };
  victim.clock.advance(61);
  expect(await importInto(name, body)).toBe('400 invalid-key-data');
  expect(await victim.verdict('POST', `${state}/${name}/import-wrapping-key`, { ttl: '2d' })).toBe('400 invalid-value');
  expect(await importInto(name, { data: randomBytes(32).toString('base64'), 'import-id': asked['import-id'] })).toBe('400 invalid-value');
});

test('the hashes of RSA-OAEP are those that the import names', async () => {
  const pem = await wrappingKeyOf(victim.rootToken);
  for (const hash of ['sha1', 'sha384', 'sha512']) {
    const ciphertext = wrap(pem, randomBytes(32), hash);
    expect(await importInto(await makeKey(), { ciphertext, 'hash-algorithm': hash })).toBe('204 done');
    expect(await importInto(await makeKey(), { ciphertext })).toBe('400 invalid-key-data');
    expect(await importInto(await makeKey(), { ciphertext, 'hash-algorithm': hash, 'mgf1-hash': 'sha256' })).toBe('400 invalid-key-data');
  }
  const data = randomBytes(32).toString('base64');
  expect(await importInto(await makeKey(), { data, 'hash-algorithm': 'sha1' })).toBe('400 invalid-value');
});
