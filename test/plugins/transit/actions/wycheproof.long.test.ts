// Wycheproof vectors against the service: signatures through verification-only keys, AES-GCM through import, HMAC through restore.
import { createHash, createPublicKey } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { documentSchema } from '../../../../plugins/transit/keys/document.ts';
import { formatBackup } from '../../../../plugins/transit/backup/format.ts';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { type Vector, type VectorFile, hexToBase64, loadWycheproof } from '../../../vectors/wycheproof.ts';
import { type TransitHarness, base64, startTransitHarness } from '../harness.ts';

const directory = temporaryDirectory();
let harness: TransitHarness;

beforeAll(async () => {
  harness = await startTransitHarness(directory('harness'));
});
afterEach(() => harness.expectSound());
afterAll(() => harness.stop());

type Wrong = { readonly tcId: number; readonly comment: string; readonly expected: string; readonly got: boolean };

/** Vectors whose answer was not the expected one; an acceptable vector is expected to be refused. */
function wrongOnes(vectors: readonly Vector[], valid: readonly boolean[]): Wrong[] {
  return vectors.flatMap(({ tcId, comment, result }, at) => {
    const got = valid[at] as boolean;
    return (result === 'valid') === got ? [] : [{ tcId, comment, expected: result, got }];
  });
}

let made = 0;

async function verifyFile(file: VectorFile, cipher: string, options: Record<string, unknown>, digestOf?: string): Promise<Wrong[]> {
  const wrong: Wrong[] = [];
  for (const group of file.groups) {
    if (group.tests.length === 0) continue;
    const name = `wycheproof-${(made += 1)}`;
    const der = Buffer.from(group.publicKeyDer as string, 'hex');
    const pem = `-----BEGIN PUBLIC KEY-----\n${der.toString('base64')}\n-----END PUBLIC KEY-----\n`;
    const created = await harness.request('POST', '/v1/config/keystore/transit-keys', { name, cipher, 'public-key': pem });
    if (created.status === 400) {
      wrong.push(
        ...wrongOnes(
          group.tests,
          group.tests.map(() => false),
        ),
      );
      continue;
    }
    const items = group.tests.map(({ msg, sig, ctx }) => ({
      text: digestOf === undefined ? hexToBase64(msg) : createHash(digestOf).update(Buffer.from(msg, 'hex')).digest('base64'),
      signature: `store:v1:${hexToBase64(sig)}`,
      ...(ctx === undefined ? {} : { context: hexToBase64(ctx) }),
      ...options,
    }));
    const { 'batch-results': results } = await harness.do(name, 'verify', { 'batch-input': items });
    wrong.push(
      ...wrongOnes(
        group.tests,
        results.map((one: { valid: boolean }) => one.valid),
      ),
    );
  }
  return wrong;
}

// OpenSSL signs with the longest salt that fits unless told otherwise; verify takes any length, as users of other services expect.
const saltOfAnotherLength = ({ comment }: Vector): string | undefined =>
  comment.startsWith('s_len changed') ? 'salt of another length, accepted on purpose' : undefined;

describe('signatures', () => {
  const files: readonly [VectorFile, string, string, Record<string, unknown>][] = [
    [loadWycheproof('ecdsa_secp256r1_sha256'), 'ecdsa-p256', 'sha256', {}],
    [loadWycheproof('ecdsa_secp384r1_sha384'), 'ecdsa-p384', 'sha384', { 'hash-algorithm': 'sha384' }],
    [loadWycheproof('ecdsa_secp521r1_sha512'), 'ecdsa-p521', 'sha512', { 'hash-algorithm': 'sha512' }],
    [loadWycheproof('ecdsa_secp256k1_sha256'), 'ecdsa-secp256k1', 'sha256', {}],
    [loadWycheproof('rsa_signature_2048_sha256'), 'rsa-2048', 'sha256', {}],
    [loadWycheproof('rsa_pss_2048_sha256_mgf1_32', saltOfAnotherLength), 'rsa-2048', 'sha256', { 'signature-algorithm': 'pss' }],
  ];
  for (const [file, cipher, hash, options] of files) {
    test(`${file.name}: ${file.summary}`, async () => {
      expect(await verifyFile(file, cipher, options)).toEqual([]);
    });
    test(`${file.name} as finished hashes: ${file.summary}`, async () => {
      expect(await verifyFile(file, cipher, { ...options, prehashed: true }, hash)).toEqual([]);
    });
  }

  const ed25519 = loadWycheproof('ed25519');
  test(`${ed25519.name}: ${ed25519.summary}`, async () => {
    expect(await verifyFile(ed25519, 'ed25519', {})).toEqual([]);
  });

  const mlDsa = loadWycheproof('mldsa_65_verify', ({ ctx }) =>
    ctx !== undefined && ctx.length > 510 ? 'a context of 256 octets, which is refused by its length' : undefined,
  );
  test(`${mlDsa.name}: ${mlDsa.summary}`, async () => {
    expect(await verifyFile(mlDsa, 'ml-dsa-65', {})).toEqual([]);
  });
});

describe('AES-GCM', () => {
  const file = loadWycheproof('aes_gcm', (_vector, group) =>
    group.ivSize === 96 && group.tagSize === 128 ? undefined : 'nonce or tag of another length',
  );
  test(`${file.name}: ${file.summary}`, async () => {
    const wrong: Wrong[] = [];
    for (const bits of [128, 192, 256]) {
      const name = `gcm-${bits}`;
      await harness.create(name, { cipher: `aes${bits}-gcm96` });
      const vectors = file.groups.filter((group) => group.keySize === bits).flatMap((group) => group.tests);
      const valid: boolean[] = [];
      for (const [at, { key, iv, aad, ct, tag, msg }] of vectors.entries()) {
        await harness.do(name, 'import', { data: hexToBase64(key) });
        const body = { ciphertext: `store:v${at + 2}:${hexToBase64(iv + ct + tag)}`, 'associated-data': hexToBase64(aad) };
        const answer = await harness.act(name, 'decrypt', body);
        expect([hexToBase64(msg), 'decryption-failed']).toContain(answer.body.plaintext ?? answer.body.code);
        valid.push(answer.status === 200);
      }
      wrong.push(...wrongOnes(vectors, valid));
    }
    expect(wrong).toEqual([]);
  });
});

describe('CMAC', () => {
  const file = loadWycheproof('aes_cmac', (_vector, group) => {
    if (group.keySize !== 128 && group.keySize !== 256) return 'key of another length';
    return group.tagSize === 128 ? undefined : 'truncated tag';
  });
  test(`${file.name}: ${file.summary}`, async () => {
    const wrong: Wrong[] = [];
    for (const bits of [128, 256]) {
      const name = `cmac-${bits}`;
      await harness.create(name, { cipher: `aes${bits}-cmac` });
      const vectors = file.groups.filter((group) => group.keySize === bits).flatMap((group) => group.tests);
      const valid: boolean[] = [];
      for (const [at, { key, msg, tag }] of vectors.entries()) {
        await harness.do(name, 'import', { data: hexToBase64(key) });
        const text = hexToBase64(msg);
        valid.push((await harness.do(name, 'verify', { text, cmac: `store:v${at + 2}:${hexToBase64(tag)}` })).valid);
      }
      wrong.push(...wrongOnes(vectors, valid));
    }
    expect(wrong).toEqual([]);
  });
});

describe('HMAC', () => {
  const file = loadWycheproof('hmac_sha256', (_vector, group) => {
    if (group.keySize !== 256) return 'key of another length';
    return group.tagSize === 256 ? undefined : 'truncated tag';
  });
  test(`${file.name}: ${file.summary}`, async () => {
    const vectors = file.groups.flatMap((group) => group.tests);
    const versions = vectors.map(({ key }, at) => ({
      version: at + 1,
      createdAt: 0,
      activatesAt: 0,
      uses: 0,
      material: new Uint8Array(32),
      hmac: Uint8Array.from(Buffer.from(key, 'hex')),
    }));
    const document = { name: 'mac', document: documentSchema.parse({}), createdAt: 0, latest: vectors.length, floor: 1, versions };
    await harness.create('mac');
    await harness.do('mac', 'restore', { key: base64(formatBackup(document)) });
    const items = vectors.map(({ msg, tag }, at) => ({ text: hexToBase64(msg), hmac: `store:hashed:v${at + 1}:${hexToBase64(tag)}` }));
    const { 'batch-results': results } = await harness.do('mac', 'verify', { 'batch-input': items });
    expect(
      wrongOnes(
        vectors,
        results.map((one: { valid: boolean }) => one.valid),
      ),
    ).toEqual([]);
  });
});

test('the vectors are the published ones: every public key parses or is meant not to', () => {
  const keys = loadWycheproof('ecdsa_secp256r1_sha256').groups.map((group) => Buffer.from(group.publicKeyDer as string, 'hex'));
  expect(keys.map((key) => createPublicKey({ key, format: 'der', type: 'spki' }).asymmetricKeyType)).not.toContain('rsa');
});
