// Imports with a number: values that were made elsewhere under a version keep it, and nothing that is in use is replaced.
import { createCipheriv, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTransitHarness, type TransitHarness } from '../harness.ts';
import { temporaryDirectory } from '../../../harness/temporary.ts';

const at = temporaryDirectory();
let transit: TransitHarness;

beforeAll(async () => {
  transit = await startTransitHarness(at('transit'));
});
afterAll(async () => {
  expect(await transit.check()).toEqual([]);
  await transit.stop();
});

const verdict = ({ status, body }: { status: number; body: { code?: string } | undefined }) => `${status} ${body?.code ?? 'done'}`;
const take = async (name: string, fields: object) => verdict(await transit.act(name, 'import', fields));

/** A ciphertext that another service has made with this key, as that version. */
function sealed(material: Buffer, version: number, plaintext: string): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', material, nonce);
  const octets = Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
  return `store:v${version}:${octets.toString('base64')}`;
}

async function opened(name: string, ciphertext: string): Promise<string> {
  const { status, body } = await transit.act(name, 'decrypt', { ciphertext });
  return status === 200 ? Buffer.from(String(body.plaintext), 'base64').toString() : `${status} ${body.code}`;
}

test.each(['wrapped', 'token'])('versions 3 and 4 of elsewhere open here, in custody %s, and no earlier one exists', async (custody) => {
  const name = `moved-${custody}`;
  const [third, fourth] = [randomBytes(32), randomBytes(32)];
  await transit.create(name, { custody });
  expect(await take(name, { data: third.toString('base64'), 'as-version': 3 })).toBe('204 done');
  expect(await take(name, { data: fourth.toString('base64'), 'as-version': 4 })).toBe('204 done');
  expect(await transit.state(name)).toMatchObject({ 'latest-version': 4, 'oldest-version': 3 });
  expect(await opened(name, sealed(third, 3, 'three'))).toBe('three');
  expect(await opened(name, sealed(fourth, 4, 'four'))).toBe('four');
  expect(await opened(name, sealed(third, 1, 'three'))).toBe('400 version-unknown');
  const { body } = await transit.act(name, 'encrypt', { plaintext: 'eA==' });
  expect(body.ciphertext).toMatch(/^store:v4:/);
});

test('version 1 of a signing key becomes that of elsewhere', async () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  await transit.create('signs', { cipher: 'ecdsa-p256' });
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' });
  expect(await take('signs', { data: pem, 'as-version': 1 })).toBe('204 done');
  const signature = `store:v1:${sign('sha256', Buffer.from('x'), privateKey).toString('base64')}`;
  const { body } = await transit.act('signs', 'verify', { text: 'x', 'base64-encoded': false, signature });
  expect(body).toMatchObject({ valid: true });
});

test('a key that was used, imported, rotated or has no private part keeps its versions', async () => {
  const data = randomBytes(32).toString('base64');
  await transit.create('used');
  const { body } = await transit.act('used', 'encrypt', { plaintext: Buffer.from('kept').toString('base64') });
  expect(await take('used', { data, 'as-version': 1 })).toBe('400 invalid-value');
  expect(await opened('used', String(body.ciphertext))).toBe('kept');
  expect(await take('used', { data, 'as-version': 2 })).toBe('204 done');
  await transit.create('exported', { exportable: true });
  await transit.act('exported', 'export', {});
  expect(await take('exported', { data, 'as-version': 1 })).toBe('400 invalid-value');
  await transit.create('imported');
  expect(await take('imported', { data, 'as-version': 7 })).toBe('204 done');
  for (const number of [1, 7, 9]) expect(await take('imported', { data, 'as-version': number })).toBe('400 invalid-value');
  await transit.create('rotated');
  await transit.act('rotated', 'rotate');
  expect(await take('rotated', { data, 'as-version': 1 })).toBe('400 invalid-value');
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  await transit.create('verifies', { cipher: 'ecdsa-p256', 'public-key': publicKey.export({ type: 'spki', format: 'pem' }) });
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' });
  expect(await take('verifies', { data: pem, 'as-version': 1 })).toBe('400 invalid-value');
  expect(await take('verifies', { data: pem, 'as-version': 2 })).toBe('204 done');
});

test('of twenty imports at once into a key, one becomes its first version', async () => {
  await transit.create('contended');
  const all = Array.from({ length: 20 }, () => take('contended', { data: randomBytes(32).toString('base64'), 'as-version': 5 }));
  const verdicts = await Promise.all(all);
  expect(verdicts.filter((one) => one === '204 done')).toHaveLength(1);
  expect(await transit.state('contended')).toMatchObject({ 'latest-version': 5, 'oldest-version': 5 });
});
