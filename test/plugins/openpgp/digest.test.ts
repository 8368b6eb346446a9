// Signatures over data that the caller has hashed: the same packets as of openpgp-sign, and no way to a certification without the right to it.
import { createHash, generateKeyPairSync, sign as signWith } from 'node:crypto';
import { createMessage, readKey, readSignature, verify } from 'openpgp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { findAlgorithm } from '../../../plugins/openpgp/format/algorithms.ts';
import { codeOf, type OpenpgpHarness, startOpenpgpHarness } from './harness.ts';

const path = temporaryDirectory();
const data = Buffer.from('Some data.\r\nIn lines\n');
let harness: OpenpgpHarness;
beforeAll(async () => {
  harness = await startOpenpgpHarness(path(), '2026-01-01T00:00:00Z');
});
afterAll(() => harness.close());

type Trailer = { readonly trailer: string; readonly 'hash-algorithm': string; readonly 'key-version': number };

/** Hashes as a client does, and has the hash signed. */
async function signHashed(name: string, hashed: Uint8Array, fields: object = {}, format = 'armored'): Promise<string> {
  const { trailer, 'hash-algorithm': hash }: Trailer = await harness.do(name, 'openpgp-trailer', fields);
  return (await harness.do(name, 'openpgp-sign-digest', { trailer, digest: digestOf(hash, hashed, trailer), format })).signature;
}

function digestOf(hash: string, octets: Uint8Array, trailer: string): string {
  return createHash(hash).update(octets).update(Buffer.from(trailer, 'base64')).digest('base64');
}

const ciphers = ['rsa-2048', 'ed25519', 'ecdsa-p256', 'ecdsa-p384', 'ecdsa-p521'];

describe.each(ciphers)('%s', (cipher) => {
  beforeAll(async () => {
    await harness.create(cipher, { cipher, 'openpgp-user-id': 'Ada <ada@example.org>' });
    await harness.create(`${cipher}-leaf`, { cipher, 'openpgp-primary': cipher, 'openpgp-key-usage': ['sign'] });
  });

  test.each(['', '-leaf'])('key "%s": it verifies as one of openpgp-sign does', async (suffix) => {
    const name = `${cipher}${suffix}`;
    const signature = await signHashed(name, data);
    expect(await harness.isValid(name, signature, data)).toBe(true);
    expect(await harness.isValid(name, signature, Buffer.from('other'))).toBe(false);
    const { signatures } = await verify({
      message: await createMessage({ binary: data }),
      signature: await readSignature({ armoredSignature: signature }),
      verificationKeys: await readKey({ armoredKey: await harness.block(name) }),
      format: 'binary',
      date: harness.today(),
    });
    expect(await signatures[0]?.verified).toBe(true);
  });

  test('the packet has the same octets as that of openpgp-sign, but for what ECDSA draws by chance', async () => {
    for (const fields of [{}, { 'expires-after': '1d' }]) {
      const whole = await harness.sign(cipher, data, { ...fields, format: 'binary' });
      const hashed = await signHashed(cipher, data, fields, 'binary');
      const head = (text: string): string => {
        const octets = Buffer.from(text, 'base64');
        const body = octets.subarray(1 + ((octets[1] ?? 0) < 192 ? 1 : 2));
        // Up to the left 16 bits of the digest: behind the hashed subpackets there are ten unhashed octets and their length.
        return body.subarray(0, 6 + body.readUInt16BE(4) + 12 + 2).toString('hex');
      };
      expect(head(hashed)).toBe(head(whole));
      expect(cipher.startsWith('ecdsa') || hashed === whole).toBe(true);
    }
  });
});

describe('a trailer', () => {
  beforeAll(() => harness.create('signer', { cipher: 'ed25519', 'openpgp-user-id': 'Ada' }));
  const trailerOf = async (fields: object = {}): Promise<Trailer> => harness.do('signer', 'openpgp-trailer', fields);
  const send = (trailer: string, digest = digestOf('sha512', data, trailer)) =>
    codeOf(harness.act('signer', 'openpgp-sign-digest', { trailer, digest }));

  test('of the form detached-text makes a text signature, over CR LF', async () => {
    const signature = await signHashed('signer', Buffer.from('one\r\ntwo\r\n'), { form: 'detached-text' });
    expect(await harness.isValid('signer', signature, Buffer.from('one\ntwo\n'))).toBe(true);
  });

  test('is taken for an hour', async () => {
    const { trailer } = await trailerOf();
    harness.clock.advance(3600);
    expect((await send(trailer)).status).toBe(200);
    harness.clock.advance(1);
    expect(await send(trailer)).toEqual({ status: 400, code: 'invalid-value' });
  });

  test('of the future is refused', async () => {
    const octets = Buffer.from((await trailerOf()).trailer, 'base64');
    octets.writeUInt32BE(octets.readUInt32BE(8) + 1, 8);
    expect(await send(octets.toString('base64'))).toEqual({ status: 400, code: 'invalid-value' });
  });

  test('names its version: it signs after a rotation, and not when the version is barred or gone', async () => {
    await harness.create('turning', { cipher: 'ed25519', 'openpgp-user-id': 'Ada' });
    const { trailer }: Trailer = await harness.do('turning', 'openpgp-trailer');
    await harness.do('turning', 'rotate');
    const body = { trailer, digest: digestOf('sha512', data, trailer) };
    expect(await harness.do('turning', 'openpgp-sign-digest', body)).toMatchObject({ 'key-version': 1 });
    await harness.patch('turning', { 'min-encryption-version': 2 });
    expect(await codeOf(harness.act('turning', 'openpgp-sign-digest', body))).toEqual({ status: 409, code: 'version-not-allowed' });
    await harness.patch('turning', { 'min-decryption-version': 2 });
    await harness.do('turning', 'trim', { version: 2 });
    expect(await codeOf(harness.act('turning', 'openpgp-sign-digest', body))).toEqual({ status: 400, code: 'invalid-value' });
  });

  test('changed in any octet is refused, and no signature is counted', async () => {
    const { trailer } = await trailerOf({ 'expires-after': '1h' });
    const octets = Buffer.from(trailer, 'base64');
    const { uses } = (await harness.state('signer')).usage['1'];
    for (let at = 0; at < octets.length; at += 1) {
      // The date is a field of the caller's, within the hour, and so is the expiry.
      if ((at >= 10 && at < 12) || (at >= 37 && at < 41)) continue;
      const changed = Uint8Array.from(octets, (octet, index) => (index === at ? octet ^ 0x40 : octet));
      expect([at, await send(Buffer.from(changed).toString('base64'))]).toEqual([at, { status: 400, code: 'invalid-value' }]);
    }
    expect((await harness.state('signer')).usage['1'].uses).toBe(uses);
  });

  test.each([0x10, 0x13, 0x18, 0x19, 0x1f, 0x20, 0x28, 0x02, 0x40])('of the type %i is refused', async (type) => {
    const octets = Buffer.from((await trailerOf()).trailer, 'base64');
    octets[1] = type;
    expect(await send(octets.toString('base64'))).toEqual({ status: 400, code: 'invalid-value' });
  });

  test('of another key, and a digest of another length, are refused', async () => {
    await harness.create('elsewhere', { cipher: 'ed25519', 'openpgp-user-id': 'Ada' });
    const { trailer }: Trailer = await harness.do('elsewhere', 'openpgp-trailer');
    expect(await send(trailer)).toEqual({ status: 400, code: 'invalid-value' });
    expect(await send((await trailerOf()).trailer, Buffer.alloc(32).toString('base64'))).toEqual({ status: 400, code: 'invalid-value' });
  });
});

test.each([
  ['ecdsa-p256', 'prime256v1', 'sha256'],
  ['ecdsa-p384', 'secp384r1', 'sha384'],
  ['ecdsa-p521', 'secp521r1', 'sha512'],
] as const)('a signature of %s over a finished hash is checked in a thread', async (cipher, namedCurve, hash) => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve });
  const raw = signWith(hash, data, { key: privateKey, dsaEncoding: 'ieee-p1363' });
  const verdicts = ['Some data.\r\nIn lines\n', 'other'].map((text) => {
    const digest = createHash(hash).update(text).digest();
    return findAlgorithm(cipher)?.verifies(publicKey, { hash, digest }, raw, { tenant: 'a', origin: 'a' });
  });
  expect(verdicts).toEqual([expect.any(Promise), expect.any(Promise)]);
  expect(await Promise.all(verdicts.map((verdict) => Promise.resolve(verdict)))).toEqual([true, false]);
});

test('the audit trail has the version, and the algorithm and hash that were given', async () => {
  await harness.create('noted', { cipher: 'ed25519', 'openpgp-user-id': 'Ada' });
  const { trailer }: Trailer = await harness.do('noted', 'openpgp-trailer');
  const digest = digestOf('sha512', data, trailer);
  await harness.do('noted', 'openpgp-sign-digest', { trailer, digest });
  const record = harness.auditRecords().findLast((one) => String(one['path']).endsWith('/openpgp-sign-digest'));
  const hex = Buffer.from(digest, 'base64').toString('hex');
  expect(record).toMatchObject({ status: 200, 'key-version': 1, 'signed-digest': `sha512:${hex}` });
  expect((await harness.state('noted')).usage['1'].uses).toBe(1);
});

test('a key without OpenPGP role signs no digest', async () => {
  await harness.create('plain', { cipher: 'ed25519' });
  expect((await codeOf(harness.act('plain', 'openpgp-trailer'))).code).toBe('operation-not-supported');
});
