// CMS signatures: sign with format cms, verified by openssl, and by Node.js where the installed openssl does not know the algorithm.
import { execFileSync } from 'node:child_process';
import { createHash, verify, X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import * as pkijs from 'pkijs';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import ca from '../../../../plugins/ca/index.ts';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { type TransitHarness, base64, ok, startTransitHarness } from '../harness.ts';

const directory = temporaryDirectory();
const content = Buffer.from('firmware 7\n');
const text = base64(content);
let harness: TransitHarness;
let root = '';
let at = '';

beforeAll(async () => {
  harness = await startTransitHarness(directory('harness'), { plugins: [ca] });
  await ok(201, harness.request('POST', '/v1/config/keystore/tls/ca', { name: 'root', subject: 'CN=Root', ttl: '5y', est: {} }));
});
afterEach(() => harness.expectSound());
afterAll(() => harness.stop());

/** A key with a certificate of the CA. */
async function certifiedKey(name: string, definition: object, options: object = {}): Promise<void> {
  await harness.create(name, definition);
  const { csr } = await harness.do(name, 'generate-csr', { subject: `CN=${name}`, ...options });
  const { certificate, chain } = await ok(200, harness.request('POST', '/v1/state/keystore/tls/ca/root/sign-csr', { csr, ttl: '30d' }));
  root = chain;
  at = String(Date.parse(new X509Certificate(certificate).validTo) / 1000 - 60);
  await ok(204, harness.act(name, 'set-certificate-chain', { 'certificate-chain': certificate + chain }));
}

/** What openssl says of a detached signature of the content. */
function verifiedByOpenssl(signature: string, of: Uint8Array = content): string {
  writeFileSync(directory('signature.p7s'), Buffer.from(signature, 'base64'));
  writeFileSync(directory('content'), of);
  writeFileSync(directory('root.pem'), root);
  const words = ['cms', '-verify', '-binary', '-inform', 'DER', '-in', directory('signature.p7s'), '-content', directory('content')];
  try {
    const more = ['-CAfile', directory('root.pem'), '-purpose', 'any', '-cades', '-attime', at];
    return execFileSync('openssl', [...words, ...more], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    return String((error as { readonly stderr: unknown }).stderr);
  }
}

const ways: readonly (readonly [string, object, string])[] = [
  ['ecdsa-p256', {}, 'sha256'],
  ['ecdsa-p521', { 'hash-algorithm': 'sha512' }, 'sha512'],
  ['rsa-2048', {}, 'sha256'],
  ['rsa-2048', { 'hash-algorithm': 'sha384', 'signature-algorithm': 'pss' }, 'sha384'],
];

test.each(ways)('%s with %j: openssl verifies it with -cades, of the content and of its hash', async (cipher, options, hash) => {
  const name = `cms-${ways.findIndex((way) => way[0] === cipher && way[1] === options)}`;
  await certifiedKey(name, { cipher });
  const { signature } = await harness.do(name, 'sign', { text, format: 'cms', ...options });
  expect(Buffer.from(signature, 'base64').length).toBeLessThan(4_096);
  expect(verifiedByOpenssl(signature)).toBe(content.toString());
  const digest = createHash(hash).update(content).digest();
  expect(harness.records().at(-1)).toMatchObject({ 'key-version': 1, 'signed-digest': `${hash}:${digest.toString('hex')}` });
  expect(verifiedByOpenssl(signature, Buffer.from('firmware 8\n'))).toMatch(/verify error|digest/);
  const prehashed = { text: base64(digest), prehashed: true, format: 'cms', ...options };
  const { 'batch-results': results } = await harness.do(name, 'sign-batch', { 'batch-input': [prehashed] });
  expect(verifiedByOpenssl(results[0].signature)).toBe(content.toString());
});

test('ed25519: the attributes are signed as they are, with SHA-512 of the content', async () => {
  await certifiedKey('cms-ed25519', { cipher: 'ed25519' });
  const { signature } = await harness.do('cms-ed25519', 'sign', { text, format: 'cms' });
  const { content: inner } = pkijs.ContentInfo.fromBER(Buffer.from(signature, 'base64'));
  const message = new pkijs.SignedData({ schema: inner });
  const [signer] = message.signerInfos;
  const attributes = Buffer.from(signer?.signedAttrs?.encodedValue ?? new ArrayBuffer());
  expect(attributes.includes(createHash('sha512').update(content).digest())).toBe(true);
  const { publicKey } = new X509Certificate((await harness.state('cms-ed25519')).versions['1']['certificate-chain']);
  expect(verify(null, attributes, publicKey, Buffer.from(signer?.signature.valueBlock.valueHexView ?? []))).toBe(true);
});

test('refuses a version without certificates, a hash of another length, and fields of other formats', async () => {
  await harness.create('bare', { cipher: 'ecdsa-p256' });
  await harness.refused(409, 'certificate-chain-missing', 'bare', 'sign', { text, format: 'cms' });
  await certifiedKey('strict', { cipher: 'ed25519' });
  const wrong = [{ prehashed: true }, { marshaling: 'jws' }, { 'jws-type': 'JWT' }, { 'hash-algorithm': 'sha256' }];
  for (const body of wrong) await harness.refused(400, 'invalid-value', 'strict', 'sign', { text, format: 'cms', ...body });
});
