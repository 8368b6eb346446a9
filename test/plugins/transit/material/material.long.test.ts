// Key material in and out: export, import, wrapping, backup and restore.
import {
  constants,
  createCipheriv,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  createDecipheriv,
  generateKeyPairSync,
  privateDecrypt,
  publicEncrypt,
  randomBytes,
  sign as nodeSign,
  type KeyObject,
} from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { type TransitHarness, base64, ok, startTransitHarness } from '../harness.ts';

const directory = temporaryDirectory();
let harness: TransitHarness;

beforeAll(async () => {
  harness = await startTransitHarness(directory('harness'));
});
afterEach(() => harness.expectSound());
afterAll(() => harness.stop());

const hello = base64('hello world');
const message = Buffer.from('hello world');
const pkcs8 = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' });
const spkiOf = (pem: string): string => createPublicKey(pem).export({ type: 'spki', format: 'pem' });

const pairs = {
  'rsa-2048': generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
  'rsa-3072': generateKeyPairSync('rsa', { modulusLength: 3072 }).privateKey,
  ed25519: generateKeyPairSync('ed25519').privateKey,
  'ecdsa-p256': generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
  'ecdsa-p384': generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey,
  'ecdsa-p521': generateKeyPairSync('ec', { namedCurve: 'P-521' }).privateKey,
} as const;

describe('export (spec; api 37)', () => {
  test('is refused until exportable is true: 409 export-not-allowed', async () => {
    await harness.create('closed');
    await harness.refused(409, 'export-not-allowed', 'closed', 'export', {});
    await ok(204, harness.patch('closed', { exportable: true }));
    const { keys } = await harness.do('closed', 'export', {});
    expect(Buffer.from(keys['1'], 'base64')).toHaveLength(32);
  });

  test.each([...Object.keys(pairs), 'rsa-4096'])('%s: PKCS#8 PEM whose public half is the one in the state', async (cipher) => {
    await harness.create(`x-${cipher}`, { cipher, exportable: true });
    const answer = await harness.do(`x-${cipher}`, 'export', {});
    expect(answer.keys['1']).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
    expect(spkiOf(answer.keys['1'])).toBe((await harness.state(`x-${cipher}`)).keys['1']);
    expect(answer['key-version']).toBe(1);
  });

  test('an exported AES key decrypts what the service encrypted', async () => {
    await harness.create('outside', { exportable: true });
    const { ciphertext } = await harness.do('outside', 'encrypt', { plaintext: hello, 'associated-data': base64('ad') });
    const key = Buffer.from((await harness.do('outside', 'export', { version: 1 })).keys['1'], 'base64');
    const sealed = Buffer.from(ciphertext.split(':')[2], 'base64');
    const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12));
    decipher.setAAD(Buffer.from('ad')).setAuthTag(sealed.subarray(-16));
    expect(Buffer.concat([decipher.update(sealed.subarray(12, -16)), decipher.final()]).toString()).toBe('hello world');
  });

  test('all versions not barred for decryption, or the one asked for', async () => {
    await harness.create('several', { exportable: true });
    await harness.do('several', 'rotate');
    await harness.do('several', 'rotate');
    await ok(204, harness.patch('several', { 'min-decryption-version': 2 }));
    expect(Object.keys((await harness.do('several', 'export', {})).keys)).toEqual(['2', '3']);
    expect(Object.keys((await harness.do('several', 'export', { version: 'latest' })).keys)).toEqual(['3']);
    expect(Object.keys((await harness.do('several', 'export', { version: 2 })).keys)).toEqual(['2']);
    await harness.refused(409, 'version-not-allowed', 'several', 'export', { version: 1 });
    await harness.refused(400, 'version-unknown', 'several', 'export', { version: 4 });
    await harness.refused(400, 'invalid-value', 'several', 'export', { version: 'newest' });
    await harness.refused(400, 'invalid-value', 'several', 'export', { format: 'pkcs12' });
  });

  test('format wrapped: AES key wrap with padding under RSA-OAEP, opened with node:crypto', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const wrappingKey = publicKey.export({ type: 'spki', format: 'pem' });
    for (const cipher of ['aes128-gcm96', 'ed25519', 'rsa-2048']) {
      await harness.create(`w-${cipher}`, { cipher, exportable: true });
      const { keys } = await harness.do(`w-${cipher}`, 'export', { format: 'wrapped', 'wrapping-key': wrappingKey });
      const wrapped = Buffer.from(keys['1'], 'base64');
      const aes = privateDecrypt(
        { key: privateKey, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' },
        wrapped.subarray(0, 256),
      );
      const decipher = createDecipheriv('id-aes256-wrap-pad', aes, Buffer.from('a65959a6', 'hex'));
      const material = Buffer.concat([decipher.update(wrapped.subarray(256)), decipher.final()]);
      const clear = (await harness.do(`w-${cipher}`, 'export', {})).keys['1'];
      const text = cipher === 'aes128-gcm96' ? base64(material) : pkcs8(createPrivateKey({ key: material, format: 'der', type: 'pkcs8' }));
      expect(text.trim()).toBe(cipher === 'aes128-gcm96' ? clear : pkcs8(createPrivateKey(clear)).trim());
    }
    await harness.refused(400, 'missing-field', 'w-ed25519', 'export', { format: 'wrapped' });
    await harness.refused(400, 'invalid-key-data', 'w-ed25519', 'export', { format: 'wrapped', 'wrapping-key': pkcs8(privateKey) });
    await harness.refused(400, 'invalid-value', 'w-ed25519', 'export', { 'wrapping-key': wrappingKey });
  });
});

describe('import (spec; api 39)', () => {
  test.each(Object.entries(pairs))('%s as PKCS#8: a new version beside the earlier one, which stays', async (cipher, privateKey) => {
    const name = `i-${cipher}`;
    await harness.create(name, { cipher, exportable: true });
    const old = (await harness.do(name, 'sign', { text: hello })).signature;
    await harness.do(name, 'import', { data: pkcs8(privateKey) });
    expect((await harness.state(name)).keys['2']).toBe(spkiOf(pkcs8(privateKey)));
    const hash = cipher === 'ed25519' ? null : 'sha256';
    const outside = nodeSign(hash, message, privateKey).toString('base64');
    expect((await harness.do(name, 'verify', { text: hello, signature: `store:v2:${outside}` })).valid).toBe(true);
    expect((await harness.do(name, 'verify', { text: hello, signature: old })).valid).toBe(true);
    expect((await harness.do(name, 'sign', { text: hello })).signature).toMatch(/^store:v2:/);
    expect(pkcs8(createPrivateKey((await harness.do(name, 'export', { version: 2 })).keys['2']))).toBe(pkcs8(privateKey));
  });

  test('PKCS#1, SEC1 (also after EC PARAMETERS), single-line strings, and text around the block', async () => {
    const rsa = pairs['rsa-2048'].export({ type: 'pkcs1', format: 'pem' });
    const ec = pairs['ecdsa-p256'].export({ type: 'sec1', format: 'pem' });
    const parameters = '-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n';
    await harness.create('forms-rsa', { cipher: 'rsa-2048' });
    await harness.create('forms-ec', { cipher: 'ecdsa-p256' });
    for (const data of [rsa, rsa.replaceAll('\n', '\\n'), `Bag Attributes\n${rsa}`]) await harness.do('forms-rsa', 'import', { data });
    for (const data of [ec, parameters + ec, ec.replaceAll('\n', '\r\n')]) await harness.do('forms-ec', 'import', { data });
    expect(new Set(Object.values((await harness.state('forms-rsa')).keys)).size).toBe(2);
    expect((await harness.state('forms-ec'))['latest-version']).toBe(4);
  });

  test('a private key that no token can hold is 400 naming the mechanism (api 16)', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ml-dsa-65');
    await harness.create('quantum', { cipher: 'ml-dsa-65', 'public-key': publicKey.export({ type: 'spki', format: 'pem' }) });
    const refusal = await harness.refused(400, 'unsupported-cipher', 'quantum', 'import', { data: pkcs8(privateKey) });
    expect(refusal.detail).toContain('CKM_ML_DSA');
    await harness.refused(400, 'operation-not-supported', 'quantum', 'rotate');
  });

  test('a key under the OID of RSASSA-PSS is an RSA key (vault 19519)', async () => {
    const { privateKey } = generateKeyPairSync('rsa-pss', { modulusLength: 2048, hashAlgorithm: 'sha256', mgf1HashAlgorithm: 'sha256' });
    await harness.create('pss', { cipher: 'rsa-2048' });
    await harness.do('pss', 'import', { data: pkcs8(privateKey) });
    const signature = nodeSign('sha256', message, privateKey).toString('base64');
    expect(
      (await harness.do('pss', 'verify', { text: hello, signature: `store:v2:${signature}`, 'signature-algorithm': 'pss' })).valid,
    ).toBe(true);
  });

  test.each([
    ['aes128-gcm96', 16],
    ['aes192-gcm96', 24],
    ['aes256-gcm96', 32],
  ] as const)('%s as base64 of %i octets', async (cipher, size) => {
    const key = randomBytes(size);
    await harness.create(`i-${cipher}`, { cipher, exportable: true });
    await harness.do(`i-${cipher}`, 'import', { data: base64(key) });
    const nonce = randomBytes(12);
    const aes = createCipheriv(`aes-${(size * 8) as 128 | 192 | 256}-gcm`, createSecretKey(key), nonce);
    const sealed = Buffer.concat([nonce, aes.update('hello world'), aes.final(), aes.getAuthTag()]);
    expect((await harness.do(`i-${cipher}`, 'decrypt', { ciphertext: `store:v2:${base64(sealed)}` })).plaintext).toBe(hello);
    expect((await harness.do(`i-${cipher}`, 'export', { version: 2 })).keys['2']).toBe(base64(key));
  });

  test('a derived key takes a secret of 32 octets, whatever its AES size', async () => {
    await harness.create('i-derived', { derived: true, cipher: 'aes128-gcm96' });
    await harness.do('i-derived', 'import', { data: base64(randomBytes(32)) });
    await harness.refused(400, 'key-type-mismatch', 'i-derived', 'import', { data: base64(randomBytes(16)) });
    const { ciphertext } = await harness.do('i-derived', 'encrypt', { plaintext: hello, context: 'c' });
    expect((await harness.do('i-derived', 'decrypt', { ciphertext, context: 'c' })).plaintext).toBe(hello);
  });

  const secp = generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).privateKey;
  const x25519 = generateKeyPairSync('x25519').privateKey;
  const small = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey;
  const encrypted = pairs['rsa-2048'].export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' });
  const legacy = pairs['rsa-2048'].export({ type: 'pkcs1', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' });
  const refusals: readonly [string, string, string, string, string | RegExp][] = [
    ['another size', 'rsa-2048', pkcs8(pairs['rsa-3072']), 'key-type-mismatch', 'rsa-3072'],
    ['a size we do not have', 'rsa-2048', pkcs8(small), 'key-type-mismatch', /rsa 1024/i],
    ['another curve', 'ecdsa-p256', pkcs8(pairs['ecdsa-p384']), 'key-type-mismatch', 'ecdsa-p384'],
    ['a curve we do not have', 'ecdsa-p256', pkcs8(secp), 'key-type-mismatch', 'secp256k1'],
    ['another kind', 'ed25519', pkcs8(x25519), 'key-type-mismatch', 'x25519'],
    ['an EC key for RSA', 'rsa-2048', pkcs8(pairs['ecdsa-p256']), 'key-type-mismatch', 'ecdsa-p256'],
    ['an encrypted PEM', 'rsa-2048', encrypted, 'missing-field', 'passphrase'],
    ['a PEM encrypted the old way', 'rsa-2048', legacy, 'invalid-key-data', 'encrypted'],
    ['a public key', 'rsa-2048', spkiOf(pkcs8(pairs['rsa-2048'])), 'invalid-key-data', 'PUBLIC KEY'],
    ['two keys', 'rsa-2048', pkcs8(pairs['rsa-2048']).repeat(2), 'invalid-key-data', 'one PEM'],
    ['no PEM', 'rsa-2048', hello, 'invalid-key-data', 'PEM'],
    ['a broken PEM', 'rsa-2048', pkcs8(pairs['rsa-2048']).replace(/[A-Za-z0-9+/]{64}\n/, ''), 'invalid-key-data', 'PRIVATE KEY'],
    ['a PEM for AES', 'aes256-gcm96', pkcs8(pairs['ecdsa-p256']), 'key-type-mismatch', 'PEM'],
    ['AES of another size', 'aes256-gcm96', base64(randomBytes(16)), 'key-type-mismatch', '16 octets'],
    ['not base64', 'aes256-gcm96', '!', 'invalid-base64', 'base64'],
  ];
  test.each(refusals)('%s is 400, naming what was seen', async (title, cipher, data, code, seen) => {
    const name = `no-${title.toLowerCase().replaceAll(' ', '-')}`;
    await harness.create(name, { cipher });
    const { detail } = await harness.refused(400, code, name, 'import', { data });
    expect(detail).toMatch(seen);
    expect((await harness.state(name))['latest-version']).toBe(1);
  });

  test('an RSA key whose numbers contradict each other is 400 invalid-key-data, though OpenSSL would sign with it', async () => {
    await harness.create('crooked', { cipher: 'rsa-2048' });
    const jwk = pairs['rsa-2048'].export({ format: 'jwk' });
    const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' });
    for (const field of ['dp', 'dq', 'qi', 'd'] as const) {
      const data = pkcs8(createPrivateKey({ key: { ...jwk, [field]: other[field] as string }, format: 'jwk' }));
      await harness.refused(400, 'invalid-key-data', 'crooked', 'import', { data });
    }
  });

  test('an EC key whose public half belongs to another key is 400 invalid-key-data', async () => {
    await harness.create('crooked-ec', { cipher: 'ecdsa-p256' });
    // The embedded public key is the last 65 octets of the PKCS#8 document.
    const der = Buffer.from(pairs['ecdsa-p256'].export({ type: 'pkcs8', format: 'der' }));
    const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'der' });
    other.subarray(-65).copy(der, der.length - 65);
    const data = `-----BEGIN PRIVATE KEY-----\n${der.toString('base64')}\n-----END PRIVATE KEY-----\n`;
    await harness.refused(400, 'invalid-key-data', 'crooked-ec', 'import', { data });
  });

  test('data and ciphertext: one of the two', async () => {
    await harness.create('one-of-two');
    await harness.refused(400, 'missing-field', 'one-of-two', 'import', {});
    await harness.refused(400, 'invalid-value', 'one-of-two', 'import', { data: hello, ciphertext: hello });
  });
});

/** Material wrapped under the import wrapping key, with node:crypto. */
async function wrap(material: Uint8Array, keyBytes: 16 | 32 = 32): Promise<string> {
  const { 'wrapping-key': pem } = await ok(200, harness.request('GET', '/v1/state/keystore/wrapping-key'));
  expect(createPublicKey(pem).asymmetricKeyDetails?.modulusLength).toBe(4096);
  const aes = randomBytes(keyBytes);
  const cipher = createCipheriv(`id-aes${keyBytes * 8}-wrap-pad`, aes, Buffer.from('a65959a6', 'hex'));
  const sealedKey = publicEncrypt({ key: pem, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' }, aes);
  return base64(Buffer.concat([sealedKey, cipher.update(material), cipher.final()]));
}

describe('wrapped import (api 2, 39)', () => {
  test('the wrapping key is made once, also when ten ask at once', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => harness.request('GET', '/v1/state/keystore/wrapping-key')));
    expect(new Set(answers.map((one) => one.body['wrapping-key'])).size).toBe(1);
  });

  test('a private key and an AES key come in wrapped', async () => {
    await harness.create('in-rsa', { cipher: 'rsa-2048' });
    await harness.do('in-rsa', 'import', { ciphertext: await wrap(pairs['rsa-2048'].export({ type: 'pkcs8', format: 'der' })) });
    expect((await harness.state('in-rsa')).keys['2']).toBe(spkiOf(pkcs8(pairs['rsa-2048'])));
    await harness.create('in-aes', { exportable: true });
    const key = randomBytes(32);
    for (const keyBytes of [16, 32] as const) await harness.do('in-aes', 'import', { ciphertext: await wrap(key, keyBytes) });
    expect((await harness.do('in-aes', 'export', { version: 2 })).keys['2']).toBe(base64(key));
  });

  test('wrapped material of another type is 400 key-type-mismatch; what does not open is one answer', async () => {
    await harness.create('in-no', { cipher: 'ed25519' });
    await harness.refused(400, 'key-type-mismatch', 'in-no', 'import', {
      ciphertext: await wrap(pairs['ecdsa-p256'].export({ type: 'pkcs8', format: 'der' })),
    });
    const good = Buffer.from(await wrap(pairs.ed25519.export({ type: 'pkcs8', format: 'der' })), 'base64');
    const details = new Set<string>();
    for (const at of [0, 511, 512, good.length - 1]) {
      const bad = Buffer.from(good);
      bad[at] = (bad[at] as number) ^ 1;
      details.add((await harness.refused(400, 'invalid-key-data', 'in-no', 'import', { ciphertext: base64(bad) })).detail);
    }
    details.add((await harness.refused(400, 'invalid-key-data', 'in-no', 'import', { ciphertext: base64(good.subarray(0, 512)) })).detail);
    details.add((await harness.refused(400, 'invalid-key-data', 'in-no', 'import', { ciphertext: hello })).detail);
    expect(details.size).toBe(1);
  });

  test('what one appliance exports wrapped, this one imports wrapped', async () => {
    await harness.create('from', { cipher: 'ecdsa-p384', exportable: true });
    await harness.create('to', { cipher: 'ecdsa-p384' });
    const { 'wrapping-key': pem } = await ok(200, harness.request('GET', '/v1/state/keystore/wrapping-key'));
    const { keys } = await harness.do('from', 'export', { format: 'wrapped', 'wrapping-key': pem });
    await harness.do('to', 'import', { ciphertext: keys['1'] });
    expect((await harness.state('to')).keys['2']).toBe((await harness.state('from')).keys['1']);
  });
});

describe('backup and restore (spec; api 42)', () => {
  test('backup is refused until allow-plaintext-backup is true: 409 backup-not-allowed', async () => {
    await harness.create('no-backup');
    await harness.refused(409, 'backup-not-allowed', 'no-backup', 'backup');
  });

  test('restore under another name takes everything but the name', async () => {
    const definition = {
      cipher: 'aes256-gcm96',
      derived: true,
      'convergent-encryption': true,
      exportable: true,
      'allow-plaintext-backup': true,
      'min-decryption-version': 2,
      distribute: { to: 'none' },
      'auto-rotate': { 'rotate-after': '90d', 'deprecate-after': '60d' },
    };
    await harness.create('source', { ...definition, 'min-decryption-version': 0 });
    for (let n = 0; n < 3; n += 1) await harness.do('source', 'rotate');
    await harness.do('source', 'trim', { version: 2 });
    await ok(204, harness.patch('source', { 'min-decryption-version': 2 }));
    const request = { plaintext: hello, context: 'c', 'key-version': 3 };
    const { ciphertext } = await harness.do('source', 'encrypt', request);
    const { hmac } = await harness.do('source', 'hmac', { plaintext: hello });
    harness.clock.advance(1000);
    const { key } = await harness.do('source', 'backup');
    await harness.create('target', { cipher: 'ed25519' });
    await harness.do('target', 'restore', { key });
    const [source, target] = [await harness.state('source'), await harness.state('target')];
    expect({ ...target, usage: 0, name: 'source' }).toEqual({ ...source, usage: 0 });
    expect((await harness.do('target', 'decrypt', { ciphertext, context: 'c' })).plaintext).toBe(hello);
    expect((await harness.do('target', 'encrypt', request)).ciphertext).toBe(ciphertext);
    expect((await harness.do('target', 'hmac', { plaintext: hello })).hmac).toBe(hmac);
    await harness.do('target', 'rotate');
    expect((await harness.state('target'))['latest-version']).toBe(5);
  });

  test.each(['rsa-2048', 'ed25519', 'ecdsa-p256', 'ecdsa-p521'])(
    '%s with several versions: signatures and public keys survive',
    async (cipher) => {
      await harness.create(`b-${cipher}`, { cipher, 'allow-plaintext-backup': true });
      await harness.do(`b-${cipher}`, 'rotate');
      const { signature } = await harness.do(`b-${cipher}`, 'sign', { text: hello, 'key-version': 1 });
      const { key } = await harness.do(`b-${cipher}`, 'backup');
      await harness.create(`r-${cipher}`);
      await harness.do(`r-${cipher}`, 'restore', { key });
      expect((await harness.state(`r-${cipher}`)).keys).toEqual((await harness.state(`b-${cipher}`)).keys);
      expect((await harness.do(`r-${cipher}`, 'verify', { text: hello, signature })).valid).toBe(true);
      const fresh = (await harness.do(`r-${cipher}`, 'sign', { text: hello, 'key-version': 1 })).signature;
      expect((await harness.do(`b-${cipher}`, 'verify', { text: hello, signature: fresh })).valid).toBe(true);
    },
  );

  test('on another appliance', async () => {
    const other = await startTransitHarness(directory('other'));
    await harness.create('travels', { 'allow-plaintext-backup': true });
    const { ciphertext } = await harness.do('travels', 'encrypt', { plaintext: hello });
    await other.create('arrived');
    await other.do('arrived', 'restore', await harness.do('travels', 'backup').then(({ key }) => ({ key })));
    expect((await other.do('arrived', 'decrypt', { ciphertext })).plaintext).toBe(hello);
    expect((await other.state('arrived')).usage['1']['uses-at-most']).toBeGreaterThanOrEqual(1);
    await other.expectSound();
    await other.stop();
  });

  test('labels belong to the name: no action changes them, and restore keeps those of its target', async () => {
    const labels = { team: 'a' };
    await harness.create('labelled', { labels, 'allow-plaintext-backup': true });
    for (const [action, body] of [
      ['rotate', undefined],
      ['import', { data: randomBytes(32).toString('base64') }],
      ['trim', { version: 2 }],
    ] as const) {
      await harness.do('labelled', action, body);
      expect((await harness.config('labelled')).labels, action).toEqual(labels);
    }
    const { key } = await harness.do('labelled', 'backup');
    for (const own of [undefined, { team: 'b' }]) {
      await harness.create('relabelled', { ...(own && { labels: own }) });
      await harness.do('relabelled', 'restore', { key });
      expect((await harness.config('relabelled')).labels).toEqual(own);
      await ok(204, harness.patch('relabelled', { 'deletion-allowed': true }));
      await ok(204, harness.remove('relabelled'));
    }
  });

  test('an earlier backup of the key itself sets no count of uses back and unsets no flag that was set once', async () => {
    await harness.create('back', { 'allow-plaintext-backup': true, 'deletion-allowed': true });
    const encrypt = () => harness.do('back', 'encrypt', { plaintext: hello });
    for (let count = 0; count < 3; count += 1) await encrypt();
    const { key } = await harness.do('back', 'backup');
    for (let count = 0; count < 20; count += 1) await encrypt();
    await harness.do('back', 'rotate');
    await ok(204, harness.patch('back', { exportable: true }));
    await harness.do('back', 'export', { version: 'latest' });
    await harness.do('back', 'restore', { key });
    const state = await harness.state('back');
    expect(state).toMatchObject({ 'latest-version': 1, exportable: true, 'allow-plaintext-backup': true });
    expect(state.usage['1'].uses).toBeGreaterThanOrEqual(23);
    expect(state.usage['1']['uses-at-most']).toBeGreaterThanOrEqual(23);
    expect(state.usage['1']['not-rewrapped']).toBeGreaterThanOrEqual(23);
    // A backup from before the flag was set is one of the same material; that of another key is not.
    await harness.create('another', { 'allow-plaintext-backup': true });
    await harness.create('back-too', { exportable: true });
    await harness.do('back-too', 'restore', await harness.do('another', 'backup').then((made) => ({ key: made.key })));
    expect(await harness.state('back-too')).toMatchObject({ exportable: false });
    await harness.do('back', 'restore', await harness.do('another', 'backup').then((made) => ({ key: made.key })));
    expect(await harness.state('back')).toMatchObject({ exportable: false, usage: { 1: { uses: 0 } } });
  });

  test('copies of one material count together, however many a backup that was made unused is restored into', async () => {
    await harness.create('copied', { 'allow-plaintext-backup': true, 'deletion-allowed': true });
    const { key } = await harness.do('copied', 'backup');
    const copies = ['copied', 'copied-1', 'copied-2', 'copied-3'];
    for (const name of copies.slice(1)) {
      await harness.create(name, { 'deletion-allowed': true });
      await harness.do(name, 'restore', { key });
    }
    const encrypt = async (name: string, times: number): Promise<void> => {
      for (let count = 0; count < times; count += 1) await harness.do(name, 'encrypt', { plaintext: hello });
    };
    for (const name of copies) await encrypt(name, 30);
    const atMost = async (name: string): Promise<number> => (await harness.state(name)).usage['1']['uses-at-most'];
    for (const name of copies) expect(await atMost(name)).toBeGreaterThanOrEqual(120);
    // One that goes takes no count with it, and one that comes later gets all of them.
    await ok(204, harness.remove('copied'));
    await harness.create('copied-4', {});
    await harness.do('copied-4', 'restore', { key });
    await encrypt('copied-4', 1);
    for (const name of ['copied-1', 'copied-4']) expect(await atMost(name)).toBeGreaterThanOrEqual(121);
    // The limit is one of the material.
    await harness.store.write((transaction) => {
      const shared = harness.store.prefixed('transit').table<{ reserved: number; uses: number }>('shared-uses');
      for (const [storeKey, counts] of Array.from(transaction.entries(shared, [])))
        transaction.put(shared, storeKey, { ...counts, reserved: 2 ** 32 });
    });
    await encrypt('copied-4', 63);
    await harness.refused(409, 'version-exhausted', 'copied-4', 'encrypt', { plaintext: hello });
  });

  test.each(['aes256-gcm96', 'ed25519', 'rsa-2048'])(
    '%s: nothing is forgotten of material that was trimmed, deleted or replaced before its backup came back',
    async (cipher) => {
      const name = `gone-${cipher}`;
      const use = cipher === 'aes256-gcm96' ? (['encrypt', { plaintext: hello }] as const) : (['sign', { text: hello }] as const);
      const times = async (of: string, count: number): Promise<void> => {
        for (let made = 0; made < count; made += 1) await harness.do(of, use[0], use[1]);
      };
      const exportsOf = (of: string): number => {
        harness.store.refresh();
        const records = harness.store.prefixed('transit').table<{ history?: { exportCount?: number } }>('keys').entries([]);
        return Array.from(records).find(([[, keyName]]) => keyName === of)?.[1].history?.exportCount ?? -1;
      };
      await harness.create(name, { cipher, 'allow-plaintext-backup': true, 'deletion-allowed': true });
      await times(name, 2);
      const { key } = await harness.do(name, 'backup');
      await times(name, 7);
      await ok(204, harness.patch(name, { exportable: true }));
      await harness.do(name, 'export', { version: 'latest' });
      const known = { exportable: true, 'allow-plaintext-backup': true };
      const least = (state: { usage: Record<string, { uses: number }> }): number => state.usage['1']?.uses ?? 0;
      // Trimmed.
      await harness.do(name, 'rotate');
      await harness.do(name, 'trim', { version: 2 });
      await harness.do(name, 'restore', { key });
      expect(await harness.state(name)).toMatchObject(known);
      expect(least(await harness.state(name))).toBeGreaterThanOrEqual(9);
      // Deleted, and under another name.
      await times(name, 1);
      await ok(204, harness.remove(name));
      await harness.create(`${name}-again`, { cipher, 'deletion-allowed': true });
      await harness.do(`${name}-again`, 'restore', { key });
      expect(await harness.state(`${name}-again`)).toMatchObject(known);
      expect(least(await harness.state(`${name}-again`))).toBeGreaterThanOrEqual(10);
      // Replaced by another key.
      await harness.create(`${name}-other`, { cipher, 'allow-plaintext-backup': true });
      const other = await harness.do(`${name}-other`, 'backup').then((made) => ({ key: made.key }));
      await times(`${name}-again`, 1);
      await harness.do(`${name}-again`, 'restore', other);
      expect(await harness.state(`${name}-again`)).toMatchObject({ exportable: false, usage: { 1: { uses: 0 } } });
      await ok(204, harness.patch(`${name}-again`, { 'deletion-allowed': true }));
      await harness.do(`${name}-again`, 'restore', { key });
      expect(await harness.state(`${name}-again`)).toMatchObject(known);
      expect(least(await harness.state(`${name}-again`))).toBeGreaterThanOrEqual(11);
      expect(exportsOf(`${name}-again`)).toBeGreaterThanOrEqual(2);
    },
  );

  test('a target that was used or rotated is kept unless deletion-allowed: 409 restore-would-destroy', async () => {
    await harness.create('golden-source', { 'allow-plaintext-backup': true });
    const { key } = await harness.do('golden-source', 'backup');
    const uses: readonly [string, string, object?][] = [
      ['encrypted', 'encrypt', { plaintext: hello }],
      ['hashed', 'hmac', { plaintext: hello }],
      ['rotated', 'rotate'],
    ];
    for (const [name, action, body] of uses) {
      await harness.create(name);
      await harness.do(name, action, body);
      await harness.refused(409, 'restore-would-destroy', name, 'restore', { key });
      await ok(204, harness.patch(name, { 'deletion-allowed': true }));
      await harness.do(name, 'restore', { key });
    }
    await harness.refused(404, 'not-found', 'absent', 'restore', { key });
  });

  test('a truncated, altered or foreign backup is 400 invalid-key-data, and the target stays as it was', async () => {
    await harness.create('careful', { 'allow-plaintext-backup': true });
    const { key } = await harness.do('careful', 'backup');
    const octets = Buffer.from(key, 'base64');
    await harness.create('untouched');
    const bad = [octets.subarray(0, -1), octets.subarray(1), Buffer.from('rubbish'), Buffer.alloc(0)];
    for (const at of [0, 16, 17, 60, octets.length - 3]) {
      const altered = Buffer.from(octets);
      altered[at] = (altered[at] as number) ^ 1;
      bad.push(altered);
    }
    for (const one of bad) await harness.refused(400, 'invalid-key-data', 'untouched', 'restore', { key: base64(one) });
    await harness.refused(400, 'invalid-base64', 'untouched', 'restore', { key: '!' });
    expect((await harness.state('untouched'))['latest-version']).toBe(1);
  });

  test('where a token gives no key of a kind out, backup and export say so: 400, and nothing is half-made', async () => {
    await harness.create('stuck', { custody: 'token', cipher: 'ed25519', exportable: true, 'allow-plaintext-backup': true });
    for (const action of ['backup', 'export']) {
      const { status, body } = await harness.act('stuck', action, {});
      // SoftHSM 2.6.1 has no way to give an Ed25519 object out; later ones do.
      expect(['200', '400 operation-not-supported']).toContain(status === 200 ? '200' : `${status} ${body.code}`);
      expect(body.detail ?? 'ed25519').toContain('ed25519');
    }
  });

  test('token custody travels too', async () => {
    await harness.create('slot', { custody: 'token', 'allow-plaintext-backup': true, cipher: 'ecdsa-p256' });
    const { signature } = await harness.do('slot', 'sign', { text: hello });
    const { key } = await harness.do('slot', 'backup');
    await harness.create('slot-again', { 'deletion-allowed': true });
    await harness.do('slot-again', 'restore', { key });
    expect((await harness.config('slot-again')).custody).toBe('token');
    expect((await harness.do('slot-again', 'verify', { text: hello, signature })).valid).toBe(true);
  });
});

describe('golden backups: what any released version wrote, this one restores', () => {
  const golden = new URL('../../../upgrade/transit-backup-1.json', import.meta.url);

  test('format 1', async () => {
    const { keys, ciphertext, hmac, signature } = JSON.parse(readFileSync(golden, 'utf8'));
    await harness.create('from-golden');
    await harness.do('from-golden', 'restore', { key: keys.aes });
    expect((await harness.do('from-golden', 'decrypt', { ciphertext, context: 'golden' })).plaintext).toBe(hello);
    expect((await harness.do('from-golden', 'encrypt', { plaintext: hello, context: 'golden' })).ciphertext).toBe(ciphertext);
    expect((await harness.do('from-golden', 'hmac', { plaintext: hello })).hmac).toBe(hmac);
    await harness.create('from-golden-ec');
    await harness.do('from-golden-ec', 'restore', { key: keys.ec });
    expect((await harness.do('from-golden-ec', 'verify', { text: hello, signature })).valid).toBe(true);
  });
});
