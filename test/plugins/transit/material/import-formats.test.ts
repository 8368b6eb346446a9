// The forms in which keys come: as OpenSSL, OpenSSH, libraries of JOSE and cloud services write them, compared by the public key that they have there.
import { execFileSync } from 'node:child_process';
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { requireCipher } from '../../../../plugins/transit/ciphers.ts';
import { parseMaterialText } from '../../../../plugins/transit/formats/private-keys.ts';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { type TransitHarness, base64, codeOf, startTransitHarness } from '../harness.ts';
import { lockedOpensshKey, opensshKeys } from './openssh-keys.ts';

const directory = temporaryDirectory();
const config = '/v1/config/keystore/transit-keys';
const passphrase = 'secret';
let harness: TransitHarness;
let folder: string;
let count = 0;

beforeAll(async () => {
  folder = directory('files');
  mkdirSync(folder, { recursive: true });
  harness = await startTransitHarness(directory('harness'));
});
afterEach(() => harness.expectSound());
afterAll(() => harness.stop());

/** A private key in the form that `openssl pkcs8` writes, under the passphrase. */
function encryptedBy(key: KeyObject, options: readonly string[]): Buffer {
  writeFileSync(`${folder}/plain.pem`, key.export({ type: 'pkcs8', format: 'pem' }));
  const files = ['-in', `${folder}/plain.pem`, '-out', `${folder}/encrypted`];
  execFileSync('openssl', ['pkcs8', '-topk8', ...files, '-passout', `pass:${passphrase}`, ...options], { stdio: 'pipe' });
  return readFileSync(`${folder}/encrypted`);
}

/** An EncryptedPrivateKeyInfo of nothing, under scrypt with N, r and p. */
function encryptedByScrypt(parameters: readonly number[]): Buffer {
  const element = (tag: number, ...parts: readonly Buffer[]): Buffer => {
    const content = Buffer.concat(parts);
    return Buffer.concat([Buffer.from([tag, content.length]), content]);
  };
  const sequence = (...parts: readonly Buffer[]): Buffer => element(0x30, ...parts);
  const oid = (hex: string): Buffer => element(0x06, Buffer.from(hex, 'hex'));
  const integer = (value: number): Buffer => element(0x02, Buffer.from(`00${value.toString(16).padStart(8, '0')}`, 'hex'));
  const derivation = sequence(oid('2b06010401da47040b'), sequence(element(0x04, randomBytes(8)), ...parameters.map(integer)));
  const cipher = sequence(oid('60864801650304012a'), element(0x04, randomBytes(16)));
  return sequence(sequence(oid('2a864886f70d01050d'), sequence(derivation, cipher)), element(0x04, randomBytes(16)));
}

/** Imports into a new key of the cipher, uses it, and answers the public key of the new version. */
async function imported(cipher: string, body: object): Promise<string> {
  const name = `imported-${(count += 1)}`;
  await harness.create(name, { cipher });
  await harness.do(name, 'import', body);
  const { signature } = await harness.do(name, 'sign', { text: base64('x') });
  expect((await harness.do(name, 'verify', { text: base64('x'), signature })).valid).toBe(true);
  return (await harness.state(name)).keys['2'];
}

async function refusal(cipher: string, body: object): Promise<string> {
  const name = `refused-${(count += 1)}`;
  await harness.create(name, { cipher });
  const { status, body: problem } = await harness.act(name, 'import', body);
  return `${status} ${problem.code}: ${problem.detail}`;
}

const pemOf = (key: KeyObject): string => key.export({ type: 'spki', format: 'pem' });
const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });

describe('import takes', () => {
  test.each([
    ['AES-256', ['-v2', 'aes-256-cbc', '-v2prf', 'hmacWithSHA512']],
    ['AES-128 and SHA-1', ['-v2', 'aes-128-cbc', '-v2prf', 'hmacWithSHA1']],
    ['triple DES', ['-v2', 'des3']],
    ['scrypt', ['-scrypt']],
    ['many iterations', ['-v2', 'aes-256-cbc', '-iter', '600000']],
  ])('PKCS#8 encrypted with %s, with its passphrase', async (_name, options) => {
    const data = encryptedBy(pair.privateKey, options).toString();
    expect(await imported('ecdsa-p256', { data, passphrase })).toBe(pemOf(pair.publicKey));
    expect(await refusal('ecdsa-p256', { data, passphrase: 'another' })).toBe(
      '400 invalid-key-data: The passphrase does not open the key.',
    );
    expect(await refusal('ecdsa-p256', { data })).toContain('missing-field: "data" is an encrypted private key: give its "passphrase"');
  });

  test.each([
    ['N beyond what r allows, which OpenSSL refuses', [2 ** 16, 1, 1]],
    ['p and r that OpenSSL refuses', [2, 262_144, 16]],
    ['many passes of much memory', [2 ** 16, 8, 16]],
    ['N that is no power of two', [1_000, 8, 1]],
  ])('no scrypt with %s', async (_name, parameters) => {
    const data = encryptedByScrypt(parameters).toString('base64');
    expect(await refusal('ecdsa-p256', { data, passphrase })).toContain('400 invalid-key-data: The key asks for more work of scrypt');
  });

  test('encrypted keys of many at once in a short line', async () => {
    const data = encryptedByScrypt([2 ** 14, 8, 4]).toString('base64');
    await harness.create('crowded', { cipher: 'ecdsa-p256' });
    const answers = await Promise.all(Array.from({ length: 20 }, () => harness.act('crowded', 'import', { data, passphrase })));
    const codes = answers.map(({ status, body }) => `${status} ${body.code}`);
    expect(new Set(codes)).toEqual(new Set(['400 invalid-key-data', '503 busy']));
    expect(codes.filter((code) => code === '400 invalid-key-data')).toHaveLength(8);
  });

  test('encrypted keys of a tenant while another one has many of them opened', async () => {
    const data = encryptedByScrypt([2 ** 14, 8, 1]).toString('base64');
    const target = { cipherName: 'ecdsa-p256', cipher: requireCipher('ecdsa-p256'), derived: false };
    const order: string[] = [];
    const opened = async (tenantId: string): Promise<void> => {
      await expect(parseMaterialText(data, target, { passphrase, tenantId })).rejects.toMatchObject({ code: 'invalid-key-data' });
      order.push(tenantId);
    };
    await Promise.all([...Array.from({ length: 8 }, () => opened('crowd')), opened('other')]);
    // It has a thread beside the crowd's, which may be slower than that one; in one line for all it would be among the last two.
    expect(order.indexOf('other')).toBeLessThan(6);
  });

  test('encrypted PKCS#8 as base64 of DER, in lines', async () => {
    const der = encryptedBy(pair.privateKey, ['-v2', 'aes-256-cbc', '-outform', 'DER']);
    const data = (der.toString('base64').match(/.{1,64}/g) ?? []).join('\r\n');
    expect(await imported('ecdsa-p256', { data, passphrase })).toBe(pemOf(pair.publicKey));
  });

  test.each(Object.entries(opensshKeys))('an %s key of OpenSSH', async (cipher, [data, publicKey]) => {
    const name = `openssh-${cipher}`;
    await harness.create(name, { cipher });
    await harness.do(name, 'import', { data });
    const jwk = createPublicKey((await harness.state(name)).keys['2']).export({ format: 'jwk' });
    // The last fields of the public half are the point, or the exponent and the modulus.
    const theirs = Buffer.from(publicKey, 'base64');
    const ours = Buffer.concat([jwk.x, jwk.y, jwk.n].map((one) => Buffer.from(one ?? '', 'base64url')));
    expect(theirs.subarray(-ours.length).equals(ours)).toBe(true);
  });

  test.each([
    ['ecdsa-p256', () => generateKeyPairSync('ec', { namedCurve: 'P-256' })],
    ['ecdsa-p521', () => generateKeyPairSync('ec', { namedCurve: 'P-521' })],
    ['ed25519', () => generateKeyPairSync('ed25519')],
    ['rsa-2048', () => generateKeyPairSync('rsa', { modulusLength: 2048 })],
  ] as const)('an %s key as JWK', async (cipher, make) => {
    const { privateKey, publicKey } = make();
    const data = JSON.stringify({ ...privateKey.export({ format: 'jwk' }), kid: 'theirs', use: 'sig' }, undefined, 2);
    expect(await imported(cipher, { data })).toBe(pemOf(publicKey));
  });

  test('a symmetric key as base64 in lines, and as JWK', async () => {
    const octets = randomBytes(32);
    const texts = [`${octets.toString('base64').slice(0, 20)}\n${octets.toString('base64').slice(20)}\n`];
    texts.push(JSON.stringify({ kty: 'oct', k: octets.toString('base64url'), alg: 'A256GCM' }));
    for (const data of texts) {
      const name = `symmetric-${(count += 1)}`;
      await harness.create(name, { exportable: true });
      await harness.do(name, 'import', { data });
      expect((await harness.do(name, 'export', { version: 2 })).keys['2']).toBe(octets.toString('base64'));
    }
  });
});

describe('import refuses', () => {
  test('an encryption that asks for more work than is done, at once', async () => {
    const data = encryptedBy(pair.privateKey, ['-v2', 'aes-256-cbc', '-iter', '2000001']).toString();
    expect(await refusal('ecdsa-p256', { data, passphrase })).toContain('asks for 2000001 iterations; 1 to 2000000 are made');
  });

  test('what it does not read, and says what helps', async () => {
    const { privateKey } = pair;
    const legacy = privateKey.export({ type: 'sec1', format: 'pem', cipher: 'aes-256-cbc', passphrase });
    const jwk = privateKey.export({ format: 'jwk' });
    const { d: _d, ...publicJwk } = jwk;
    const plain = privateKey.export({ type: 'pkcs8', format: 'pem' });
    const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' });
    const pkcs12 = execFileSync('openssl', ['pkcs12', '-export', '-nocerts', '-passout', 'pass:secret'], { input: plain, stdio: 'pipe' });
    for (const [body, expected] of [
      [{ data: legacy, passphrase }, 'openssl pkcs8 -topk8'],
      [{ data: lockedOpensshKey, passphrase }, "ssh-keygen -p -N ''"],
      [{ data: opensshKeys['ed25519']?.[0].replace('b3Blbn', 'b3Blbm') }, 'cannot be read'],
      [{ data: pkcs12.toString('base64'), passphrase }, '"data" is a PKCS#12 file: take the private key out of it'],
      [{ data: Buffer.from('feedfeed00000002', 'hex').toString('base64'), passphrase }, '"data" is a key store of Java'],
      [{ data: 'no key', passphrase }, 'this is neither PEM nor base64 of DER'],
      [{ data: encryptedBy(privateKey, ['-v1', 'PBE-SHA1-3DES']).toString(), passphrase }, 'or import it with "keystorectl import-key"'],
      [{ data: plain, passphrase }, '"passphrase" is for an encrypted private key'],
      [{ data: JSON.stringify(publicJwk) }, 'JWK of a private key'],
      [{ data: JSON.stringify({ keys: [jwk] }) }, 'a set of keys'],
      [{ data: '{"kty":' }, 'is not JSON'],
      [{ data: JSON.stringify({ kty: 'oct', k: 'AAAA' }) }, 'symmetric key'],
      // The public half of another key beside the private one.
      [{ data: JSON.stringify({ ...jwk, x: other.x, y: other.y }) }, 'cannot be read as the JWK'],
      [{ ciphertext: 'AAAA', passphrase }, '"passphrase" is for data'],
    ] as const)
      expect(await refusal('ecdsa-p256', body)).toContain(expected);
    expect(await refusal('aes256-gcm96', { data: base64(randomBytes(32)), passphrase })).toContain('"passphrase" is for');
    expect(await refusal('aes256-gcm96', { data: JSON.stringify(jwk) })).toContain('without "kty" oct');
  });

  test('and shows neither key nor passphrase in trail and log', async () => {
    const data = encryptedBy(pair.privateKey, ['-v2', 'aes-256-cbc']).toString();
    await refusal('ecdsa-p256', { data, passphrase: 'a very unusual passphrase' });
    expect(harness.written()).not.toContain('a very unusual passphrase');
    expect(harness.written()).not.toContain(data.split('\n')[1]);
  });
});

describe('public-key takes', () => {
  const create = (fields: object) => harness.request('POST', config, { name: `public-${(count += 1)}`, cipher: 'ecdsa-p256', ...fields });

  test('a certificate, base64 of either, and a JWK', async () => {
    writeFileSync(`${folder}/plain.pem`, pair.privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const request = ['req', '-x509', '-new', '-key', `${folder}/plain.pem`, '-subj', '/CN=device', '-out', `${folder}/certificate.pem`];
    execFileSync('openssl', request, { stdio: 'pipe' });
    const certificate = readFileSync(`${folder}/certificate.pem`, 'utf8');
    const inLines = pemOf(pair.publicKey).replaceAll(/-----[^-]*-----/g, '');
    const forms = [certificate, certificate.replaceAll(/-----[^-]*-----/g, ''), inLines, inLines.replaceAll('\n', '')];
    forms.push(JSON.stringify(pair.publicKey.export({ format: 'jwk' })));
    for (const form of forms) {
      expect((await create({ 'public-key': form })).status).toBe(201);
      expect((await harness.state(`public-${count}`)).keys['1']).toBe(pemOf(pair.publicKey));
    }
    expect(await codeOf(create({ 'public-key': certificate + certificate }))).toMatchObject({ code: 'invalid-key-data' });
  });

  test('no private key, which is not kept in the trail either', async () => {
    const jwk = pair.privateKey.export({ format: 'jwk' });
    const answer = await create({ 'public-key': JSON.stringify(jwk) });
    expect(answer.body).toMatchObject({ code: 'invalid-key-data', detail: expect.stringContaining('private part') });
    expect(harness.written()).not.toContain(jwk.d);
    expect(createPrivateKey({ key: jwk, format: 'jwk' }).type).toBe('private');
  });
});
