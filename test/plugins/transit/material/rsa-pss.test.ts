// RSA keys under the OID of RSASSA-PSS (RFC 4055): what such a key signs, its own public half verifies, and it stays what it is.
import {
  constants,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  hash as hashOnce,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { plainRsa, spkiNamedAs } from '../../../../core/der/rsa-pss.ts';
import { requireCipher } from '../../../../plugins/transit/ciphers.ts';
import { parsePublicKey } from '../../../../plugins/transit/formats/public-keys.ts';
import { pssRuleOf } from '../../../../plugins/transit/formats/rsa-pss.ts';
import openpgp from '../../../../plugins/openpgp/index.ts';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { takeOpensslErrors } from '../../../harness/openssl-queue.ts';
import { pem as pemOf, rsaSpki } from '../../../harness/token/odd-keys.ts';
import { claimsOf } from '../custody/statements.ts';
import { startTransitHarness, type TransitHarness } from '../harness.ts';

type Pair = { readonly privateKey: KeyObject; readonly publicKey: KeyObject };

const directory = temporaryDirectory();
const data = Buffer.from('hello');
const text = data.toString('base64');
const any = makePair({});
const bound = makePair({ hashAlgorithm: 'sha384', mgf1HashAlgorithm: 'sha384', saltLength: 48 });
const pem = ({ privateKey }: { privateKey: KeyObject }) => privateKey.export({ type: 'pkcs8', format: 'pem' });
const raw = (signature: string): Buffer => Buffer.from(signature.split(':').at(-1) ?? '', 'base64');
/** The types of Node.js know no key for RSASSA-PSS without parameters. */
function makePair(parameters: object): Pair {
  return generateKeyPairSync('rsa-pss', { modulusLength: 2048, ...parameters } as never);
}

let harness: TransitHarness;
let made = 0;

beforeAll(async () => {
  harness = await startTransitHarness(directory(), { plugins: [openpgp] });
});
afterAll(() => harness.stop());

async function imported(key: { privateKey: KeyObject }, fields: object = {}): Promise<string> {
  const name = `pss-${(made += 1)}`;
  await harness.create(name, { cipher: 'rsa-2048', exportable: true, 'allow-plaintext-backup': true, ...fields });
  await harness.do(name, 'import', { data: pem(key) });
  return name;
}

describe.each([
  ['any hash', any, 'sha256', {}],
  ['SHA-384 alone', bound, 'sha384', { 'hash-algorithm': 'sha384' }],
] as const)('a key for RSASSA-PSS with %s', (_which, pair, hash, shown) => {
  let name: string;
  beforeAll(async () => {
    name = await imported(pair);
  });

  test('signs by default what its own public key verifies, also a finished hash, and verifies what its private key signs elsewhere', async () => {
    const { signature } = await harness.do(name, 'sign', { text });
    expect(verify(hash, data, pair.publicKey, raw(signature))).toBe(true);
    expect(await harness.do(name, 'verify', { text, signature })).toMatchObject({ valid: true });
    const prehashed = { text: hashOnce(hash, data, 'base64'), prehashed: true };
    const finished = await harness.do(name, 'sign', prehashed);
    expect(verify(hash, data, pair.publicKey, raw(finished.signature))).toBe(true);
    expect(await harness.do(name, 'verify', { ...prehashed, signature: finished.signature })).toMatchObject({ valid: true });
    const elsewhere = sign(hash, data, pair.privateKey).toString('base64');
    expect(await harness.do(name, 'verify', { text, signature: `store:v2:${elsewhere}` })).toMatchObject({ valid: true });
  });

  test('is shown as what it is', async () => {
    const { keys, versions } = await harness.state(name);
    expect(versions['2']).toMatchObject({ 'signature-algorithm': 'pss', ...shown });
    expect(versions['1']).not.toHaveProperty('signature-algorithm');
    expect(createPublicKey(keys['2']).equals(pair.publicKey)).toBe(true);
  });

  test('makes no other signatures, and says so', async () => {
    for (const action of ['sign', 'verify'] as const) {
      const signature = action === 'verify' ? { signature: 'store:v2:AAAA' } : {};
      const refusal = await harness.refused(400, 'invalid-value', name, action, { text, 'signature-algorithm': 'pkcs1v15', ...signature });
      expect(refusal.detail).toBe(
        '"signature-algorithm" must be pss, or absent: this version is a key for RSASSA-PSS (RFC 4055), which makes no other signatures.',
      );
    }
    // The version before was made by the token, and is any RSA key.
    const { signature } = await harness.do(name, 'sign', { text, 'key-version': 1, 'signature-algorithm': 'pkcs1v15' });
    expect(await harness.do(name, 'verify', { text, signature })).toMatchObject({ valid: true });
  });

  test('has a custody statement, under the thumbprint of its numbers', async () => {
    const { key } = (await claimsOf(harness, name)) as { key: object };
    const { n, e } = plainRsa(pair.publicKey).export({ format: 'jwk' });
    const thumbprint = hashOnce('sha256', JSON.stringify({ e, kty: 'RSA', n }), 'base64url');
    expect(key).toMatchObject({ version: 2, thumbprint });
  });

  test('stays one through rotation, export, backup and restore', async () => {
    await harness.do(name, 'rotate');
    expect((await harness.state(name)).versions['3']).toMatchObject({ 'signature-algorithm': 'pss', ...shown });
    const { keys } = await harness.do(name, 'export', {});
    expect(createPrivateKey(keys['2']).equals(pair.privateKey)).toBe(true);
    expect(createPrivateKey(keys['3']).asymmetricKeyType).toBe('rsa-pss');
    expect(createPrivateKey(keys['1']).asymmetricKeyType).toBe('rsa');
    const before = await harness.state(name);
    const { key } = await harness.do(name, 'backup');
    await harness.create(`${name}-back`, { cipher: 'rsa-2048' });
    await harness.do(`${name}-back`, 'restore', { key });
    const after = await harness.state(`${name}-back`);
    expect(after.keys).toEqual(before.keys);
    for (const version of ['2', '3']) {
      const { signature } = await harness.do(`${name}-back`, 'sign', { text, 'key-version': Number(version) });
      expect(verify(hash, data, createPublicKey(after.keys[version]), raw(signature))).toBe(true);
    }
  });

  test('made from its public key alone it verifies, and takes its private key under either OID', async () => {
    for (const privateKey of [pair.privateKey, plainRsa(pair.privateKey)]) {
      const half = `public-${(made += 1)}`;
      await harness.create(half, { cipher: 'rsa-2048', 'public-key': pair.publicKey.export({ type: 'spki', format: 'pem' }) });
      const signature = sign(hash, data, pair.privateKey).toString('base64');
      expect(await harness.do(half, 'verify', { text, signature: `store:v1:${signature}` })).toMatchObject({ valid: true });
      await harness.do(half, 'import', { data: pem({ privateKey }) });
      const signed = await harness.do(half, 'sign', { text });
      expect(verify(hash, data, pair.publicKey, raw(signed.signature))).toBe(true);
    }
  });

  test('is no OpenPGP key', async () => {
    const writer = `writer-${(made += 1)}`;
    await harness.create(writer, { cipher: 'rsa-2048', 'openpgp-user-id': 'Ada <ada@example.org>' });
    const refusal = await harness.refused(400, 'operation-not-supported', writer, 'import', { data: pem(pair) });
    expect(refusal.detail).toMatch(
      /^This version is a key for RSASSA-PSS \(RFC 4055\), and RSA signatures of OpenPGP are those of PKCS #1 v1\.5/,
    );
    const changed = await harness.patch(name, { 'openpgp-user-id': 'Ada <ada@example.org>' });
    expect({ status: changed.status, detail: changed.body.detail }).toEqual({
      status: 400,
      detail: expect.stringContaining('This version is a key for RSASSA-PSS'),
    });
  });
});

test('a key that names another hash is refused with what it names', async () => {
  expect((await harness.act(await imported(any), 'sign', { text, 'hash-algorithm': 'sha512' })).status).toBe(200);
  const refusal = await harness.refused(400, 'invalid-value', await imported(bound), 'sign', { text, 'hash-algorithm': 'sha256' });
  expect(refusal.detail).toMatch(/^"hash-algorithm" must be sha384, or absent: /);
});

test.each([
  [{ hashAlgorithm: 'sha1', mgf1HashAlgorithm: 'sha1' }, /with sha1, MGF1 with sha1/],
  [{ hashAlgorithm: 'sha256', mgf1HashAlgorithm: 'sha512' }, /with sha256, MGF1 with sha512/],
  [{ hashAlgorithm: 'sha256', mgf1HashAlgorithm: 'sha256', saltLength: 100 }, /a salt of at least 100 octets/],
] as const)('parameters under which no token signs are refused: %j', async (parameters, said) => {
  const { privateKey, publicKey } = makePair(parameters);
  const name = `odd-${(made += 1)}`;
  await harness.create(name, { cipher: 'rsa-2048' });
  expect((await harness.refused(400, 'invalid-key-data', name, 'import', { data: pem({ privateKey }) })).detail).toMatch(said);
  const body = { name: `${name}-public`, cipher: 'rsa-2048', 'public-key': publicKey.export({ type: 'spki', format: 'pem' }) };
  const { status, body: problem } = await harness.request('POST', '/v1/config/keystore/transit-keys', body);
  expect({ status, detail: problem.detail }).toEqual({ status: 400, detail: expect.stringMatching(said) });
});

test('signatures of a plain RSA key are as before', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const { signature } = await harness.do(await imported({ privateKey }), 'sign', { text });
  expect(verify('sha256', data, { key: publicKey, padding: constants.RSA_PKCS1_PADDING }, raw(signature))).toBe(true);
});

test('a huge key whose parameters are refused leaves nothing in the queue of OpenSSL', () => {
  const { publicKey } = makePair({ hashAlgorithm: 'sha1', mgf1HashAlgorithm: 'sha1', saltLength: 20 });
  const huge = spkiNamedAs(publicKey.export({ type: 'spki', format: 'der' }), rsaSpki(2n ** 20_000n + 1n, 65_537n));
  takeOpensslErrors();
  expect(() => parsePublicKey(pemOf('PUBLIC KEY', huge), 'rsa-2048', requireCipher('rsa-2048'))).toThrow('RSASSA-PSS with sha1');
  expect(pssRuleOf(huge)).toEqual({ hash: 'sha1' });
  expect(takeOpensslErrors()).toEqual([]);
});
