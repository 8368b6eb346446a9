// Contexts, ed25519ph and deterministic ML-DSA through the API, in tokens of two modules: what one has and the other has not (RFC 8032, FIPS 204).
import { createPublicKey, generateKeyPairSync, sign as nodeSign, verify as nodeVerify } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { ed25519ph } from '@noble/curves/ed25519.js';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { builtKryoptic, makeKryopticToken } from '../../../harness/token/kryoptic.ts';
import { makeNssToken, obtainNss } from '../../../harness/token/nss.ts';
import { type TransitHarness, base64, startTransitHarness } from '../harness.ts';

const directory = temporaryDirectory();
const text = base64('a record');
const octetsOf = (signature: string): Buffer => Buffer.from(signature.split(':')[2] as string, 'base64');

describe('in SoftHSM2, which has none of them', () => {
  let harness: TransitHarness;
  beforeAll(async () => {
    harness = await startTransitHarness(directory('soft'));
    await harness.create('plain', { cipher: 'ed25519' });
    await harness.create('curve', { cipher: 'ecdsa-p256' });
  });
  afterEach(() => harness.expectSound());
  afterAll(() => harness.stop());

  test('a signature that the token was not proven to make is refused by name', async () => {
    for (const options of [{ context: base64('orders') }, { 'signature-algorithm': 'ed25519ph' }]) {
      const { detail } = await harness.refused(400, 'operation-not-supported', 'plain', 'sign', { text, ...options });
      expect(detail).toContain('context' in options ? 'ed25519ctx' : 'ed25519ph');
    }
  });

  test('options of another cipher, other formats and contexts that are too long are refused', async () => {
    for (const options of [{ context: base64('orders') }, { deterministic: true }, { 'signature-algorithm': 'ed25519ph' }])
      await harness.refused(400, 'invalid-value', 'curve', 'sign', { text, ...options });
    await harness.refused(400, 'invalid-value', 'plain', 'sign', { text, deterministic: true });
    await harness.refused(400, 'invalid-value', 'plain', 'sign', { text, context: base64('x'.repeat(256)) });
    await harness.refused(400, 'invalid-base64', 'plain', 'sign', { text, context: 'no base64' });
    for (const options of [{ context: base64('orders') }, { 'signature-algorithm': 'ed25519ph' }])
      await harness.refused(400, 'invalid-value', 'plain', 'sign', { text, format: 'jws', ...options });
    await harness.refused(400, 'invalid-value', 'plain', 'verify', { text, hmac: 'store:hashed:v1:AAAA', context: base64('orders') });
    await harness.refused(400, 'invalid-value', 'plain', 'generate-csr', {
      'dns-names': ['a.example'],
      'signature-algorithm': 'ed25519ph',
    });
  });

  test('a batch of signatures over finished hashes, which JavaScript verifies, keeps no other request waiting', async () => {
    await harness.create('p521', { cipher: 'ecdsa-p521' });
    const digest = { text: Buffer.alloc(64, 7).toString('base64'), prehashed: true, 'hash-algorithm': 'sha512' };
    const { signature } = await harness.do('p521', 'sign', digest);
    let isDone = false;
    const batch = harness
      .do('p521', 'verify', { 'batch-input': Array.from({ length: 100 }, () => ({ ...digest, signature })) })
      .finally(() => (isDone = true));
    for (let asked = 0; asked < 20; asked++) await harness.state('plain');
    expect(isDone).toBe(false);
    const { 'batch-results': results } = await batch;
    expect(results.filter(({ valid }: { valid: boolean }) => valid)).toHaveLength(100);
  });

  test('what others have signed with a context, or as Ed25519ph, is verified by the public key', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    await harness.create('theirs', { cipher: 'ed25519', 'public-key': publicKey.export({ type: 'spki', format: 'pem' }) });
    const context = Buffer.from('orders');
    const seed = Buffer.from(privateKey.export({ format: 'jwk' }).d as string, 'base64url');
    const made = {
      context: nodeSign(null, Buffer.from('a record'), { key: privateKey, context }),
      ph: Buffer.from(ed25519ph.sign(Buffer.from('a record'), seed)),
      phWithContext: Buffer.from(ed25519ph.sign(Buffer.from('a record'), seed, { context })),
    };
    const isValid = async (signature: Buffer, options: object): Promise<boolean> =>
      (await harness.do('theirs', 'verify', { text, signature: `store:v1:${signature.toString('base64')}`, ...options })).valid;
    const ways = [
      { made: made.context, options: { context: base64('orders') } },
      { made: made.ph, options: { 'signature-algorithm': 'ed25519ph' } },
      { made: made.phWithContext, options: { 'signature-algorithm': 'ed25519ph', context: base64('orders') } },
    ];
    for (const one of ways)
      for (const { options } of [...ways, { options: {} }]) expect(await isValid(one.made, options)).toBe(options === one.options);
    expect(await isValid(made.context, { text: 'a record', context: 'orders', 'base64-encoded': false })).toBe(true);
    expect(await isValid(Buffer.alloc(63), { 'signature-algorithm': 'ed25519ph' })).toBe(false);
  });
});

const [nss, kryoptic] = [await obtainNss(), builtKryoptic()];

describe.skipIf(!('directory' in nss))('in NSS softoken', () => {
  let harness: TransitHarness;
  beforeAll(async () => {
    if (!('directory' in nss)) return;
    for (const name of ['nss', 'with-nss']) mkdirSync(directory(name));
    harness = await startTransitHarness(directory('with-nss'), { moreTokens: [await makeNssToken(nss, directory('nss'))] });
    await harness.create('lattice', { cipher: 'ml-dsa-65' });
  });
  afterEach(() => harness.expectSound());
  afterAll(() => harness.stop());

  test('ML-DSA signs under a context, which verifies with it alone, and without random octets the same each time', async () => {
    const options = { text, context: base64('orders'), deterministic: true };
    const [one, again] = [await harness.do('lattice', 'sign', options), await harness.do('lattice', 'sign', options)];
    expect(again.signature).toBe(one.signature);
    expect((await harness.do('lattice', 'sign', { ...options, deterministic: false })).signature).not.toBe(one.signature);
    const key = createPublicKey((await harness.state('lattice')).keys['1']);
    expect(nodeVerify(null, Buffer.from('a record'), { key, context: Buffer.from('orders') }, octetsOf(one.signature))).toBe(true);
    const isValid = async (context: object): Promise<boolean> =>
      (await harness.do('lattice', 'verify', { text, signature: one.signature, ...context })).valid;
    expect([await isValid({ context: base64('orders') }), await isValid({ context: base64('other') }), await isValid({})]).toEqual([
      true,
      false,
      false,
    ]);
  });
});

describe.skipIf(!('module' in kryoptic))('in kryoptic', () => {
  let harness: TransitHarness;
  beforeAll(async () => {
    if (!('module' in kryoptic)) return;
    for (const name of ['kryoptic', 'with-kryoptic']) mkdirSync(directory(name));
    harness = await startTransitHarness(directory('with-kryoptic'), { token: await makeKryopticToken(kryoptic, directory('kryoptic')) });
    await harness.create('edwards', { cipher: 'ed25519' });
  });
  afterEach(() => harness.expectSound());
  afterAll(() => harness.stop());

  test('Ed25519 signs under a context and as Ed25519ph, also in a batch, which others verify', async () => {
    const { 'batch-results': results } = await harness.do('edwards', 'sign', {
      'batch-input': [{ text }, { text, context: base64('orders') }, { text, 'signature-algorithm': 'ed25519ph' }],
    });
    const [plain, ctx, ph] = results.map(({ signature }: { signature: string }) => octetsOf(signature)) as [Buffer, Buffer, Buffer];
    const key = createPublicKey((await harness.state('edwards')).keys['1']);
    const message = Buffer.from('a record');
    expect(nodeVerify(null, message, key, plain)).toBe(true);
    expect(nodeVerify(null, message, { key, context: Buffer.from('orders') }, ctx)).toBe(true);
    expect(ed25519ph.verify(ph, message, key.export({ format: 'raw-public' }), { zip215: false })).toBe(true);
    expect(nodeVerify(null, message, key, ctx) || nodeVerify(null, message, key, ph)).toBe(false);
  });
});
