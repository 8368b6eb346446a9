// ML-DSA keys (FIPS 204) in a second token, NSS softoken, beside SoftHSM2.
import { createPrivateKey, createPublicKey, generateKeyPairSync, sign as nodeSign, verify as nodeVerify } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { makeNssToken, obtainNss } from '../../../harness/token/nss.ts';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { type TransitHarness, base64, startTransitHarness } from '../harness.ts';

const nss = await obtainNss();
const missing = 'directory' in nss ? '' : nss.missing;
if (missing !== '') console.error(`SKIPPED: ML-DSA in a token: ${missing}`);

describe.skipIf(missing !== '')('ML-DSA', () => {
  const directory = temporaryDirectory();
  const message = Buffer.from('signed by lattices');
  let harness: TransitHarness;

  beforeAll(async () => {
    if (!('directory' in nss)) return;
    mkdirSync(directory('nss'));
    const token = await makeNssToken(nss, directory('nss'));
    harness = await startTransitHarness(directory('harness'), { moreTokens: [token] });
  });
  afterEach(() => harness.expectSound());
  afterAll(() => harness.stop());

  test.each(['ml-dsa-44', 'ml-dsa-65', 'ml-dsa-87'] as const)(
    '%s: made and signing in the token, verified by node:crypto and by the service',
    async (cipher) => {
      await harness.create(cipher, { cipher });
      const state = await harness.state(cipher);
      expect(state).toMatchObject({ cipher, 'supports-signing': true, 'supports-encryption': false });
      const { signature } = await harness.do(cipher, 'sign', { text: base64(message) });
      expect(nodeVerify(null, message, createPublicKey(state.keys['1']), Buffer.from(signature.split(':')[2], 'base64'))).toBe(true);
      expect((await harness.do(cipher, 'verify', { text: base64(message), signature })).valid).toBe(true);
      expect((await harness.do(cipher, 'verify', { text: base64('else'), signature })).valid).toBe(false);
      const { hmac } = await harness.do(cipher, 'hmac', { plaintext: base64(message) });
      expect((await harness.do(cipher, 'verify', { text: base64(message), hmac })).valid).toBe(true);
      await harness.refused(400, 'invalid-value', cipher, 'sign', { text: base64(message), 'hash-algorithm': 'sha256' });
    },
  );

  test('imported, exported, rotated, backed up and restored', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ml-dsa-65');
    await harness.create('travelled', { cipher: 'ml-dsa-65', exportable: true, 'allow-plaintext-backup': true });
    await harness.do('travelled', 'import', { data: privateKey.export({ type: 'pkcs8', format: 'pem' }) });
    const { keys } = await harness.state('travelled');
    expect(keys['2']).toBe(publicKey.export({ type: 'spki', format: 'pem' }));
    const outside = nodeSign(null, message, privateKey).toString('base64');
    expect((await harness.do('travelled', 'verify', { text: base64(message), signature: `store:v2:${outside}` })).valid).toBe(true);
    const exported = createPrivateKey((await harness.do('travelled', 'export', { version: 2 })).keys['2']);
    expect(nodeVerify(null, message, publicKey, nodeSign(null, message, exported))).toBe(true);
    await harness.do('travelled', 'rotate');
    const { signature } = await harness.do('travelled', 'sign', { text: base64(message) });
    expect(signature).toMatch(/^store:v3:/);
    await harness.create('arrived');
    await harness.do('arrived', 'restore', { key: (await harness.do('travelled', 'backup')).key });
    expect((await harness.do('arrived', 'verify', { text: base64(message), signature })).valid).toBe(true);
    expect((await harness.do('arrived', 'sign', { text: base64(message) })).signature).toMatch(/^store:v3:/);
  });

  test('other ciphers go on living in the first token', async () => {
    await harness.create('symmetric');
    const { ciphertext } = await harness.do('symmetric', 'encrypt', { plaintext: base64(message) });
    expect((await harness.do('symmetric', 'decrypt', { ciphertext })).plaintext).toBe(base64(message));
  });
});
