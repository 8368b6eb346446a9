// Certificates of transit keys: requests that a key signs, and chains that are kept with its versions (actions generate-csr, set-certificate-chain).
import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import ca from '../../../../plugins/ca/index.ts';
import { requireChainOf } from '../../../../plugins/transit/certificates/chain.ts';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { type TransitHarness, ok, startTransitHarness } from '../harness.ts';

const directory = temporaryDirectory();
const cas = '/v1/config/keystore/tls/ca';
let harness: TransitHarness;

beforeAll(async () => {
  harness = await startTransitHarness(directory('harness'), { plugins: [ca] });
  await ok(201, harness.request('POST', cas, { name: 'root', subject: 'CN=Root', ttl: '5y', est: {} }));
});
afterEach(() => harness.expectSound());
afterAll(() => harness.stop());

function openssl(...parameters: readonly string[]): string {
  return execFileSync('openssl', parameters, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

/** Text of a request, after openssl has verified its signature. */
function readRequest(csr: string): string {
  writeFileSync(directory('csr.pem'), csr);
  return openssl('req', '-in', directory('csr.pem'), '-noout', '-verify', '-text', '-nameopt', 'RFC2253');
}

/** Certificate of the CA for a request, with that of the CA behind it. */
async function certified(csr: string): Promise<string> {
  const body = { csr, ttl: '30d' };
  const { certificate, chain } = await ok(200, harness.request('POST', '/v1/state/keystore/tls/ca/root/sign-csr', body));
  return certificate + chain;
}

describe('generate-csr', () => {
  const ways: readonly (readonly [string, object, string])[] = [
    ['ecdsa-p256', {}, 'ecdsa-with-SHA256'],
    ['ecdsa-p384', {}, 'ecdsa-with-SHA384'],
    ['ecdsa-p521', {}, 'ecdsa-with-SHA512'],
    ['ecdsa-p384', { 'hash-algorithm': 'sha256' }, 'ecdsa-with-SHA256'],
    ['ed25519', {}, 'ED25519'],
    ['rsa-2048', {}, 'sha256WithRSAEncryption'],
    ['rsa-2048', { 'hash-algorithm': 'sha384', 'signature-algorithm': 'pss' }, 'rsassaPss'],
  ];

  test.each(ways)(
    '%s with %j is verified by openssl, and the record has the digest of what was signed',
    async (cipher, fields, algorithm) => {
      const name = `csr-${ways.findIndex((way) => way[0] === cipher && way[1] === fields)}`;
      await harness.create(name, { cipher });
      const names = { 'dns-names': ['a.example.com', '*.b.example.com'], 'ip-addresses': ['192.0.2.1', '2001:db8::1'] };
      const body = { subject: 'CN=Müller\\, Söhne,O=Example,C=DE', ...names, 'email-addresses': ['a@example.com'], uris: ['spiffe://x/y'] };
      const { csr, 'key-version': version } = await harness.do(name, 'generate-csr', { ...body, ...fields });
      expect(version).toBe(1);
      const text = readRequest(csr);
      for (const part of ['O=Example', 'DNS:*.b.example.com', 'IP Address:192.0.2.1', 'email:a@example.com', 'URI:spiffe://x/y', algorithm])
        expect(text).toContain(part);
      expect(harness.records().at(-1)).toMatchObject({ 'key-version': 1, 'signed-digest': expect.stringMatching(/^sha256:[0-9a-f]{64}$/) });
    },
  );

  test('without a subject the first DNS name is the common name, and other names alone make an empty one', async () => {
    await harness.create('bare', { cipher: 'ecdsa-p256' });
    expect(readRequest((await harness.do('bare', 'generate-csr', { 'dns-names': ['a.example.com'] })).csr)).toContain('CN=a.example.com');
    const text = readRequest((await harness.do('bare', 'generate-csr', { uris: ['spiffe://x/y'] })).csr);
    expect(text).toContain('Subject Alternative Name: critical');
  });

  test('refuses what cannot be a request, and keys that do not sign', async () => {
    await harness.create('aes');
    await harness.create('opens', { cipher: 'rsa-2048', use: 'encrypt' });
    for (const name of ['aes', 'opens']) await harness.refused(400, 'operation-not-supported', name, 'generate-csr', { subject: 'CN=a' });
    await harness.refused(400, 'missing-field', 'bare', 'generate-csr', {});
    const wrong = [
      { subject: 'no name' },
      { subject: 'CN=a,Foo=b' },
      { 'dns-names': ['a..b'] },
      { 'dns-names': ['a b'] },
      { 'ip-addresses': ['1.2.3'] },
      { 'email-addresses': ['a'] },
      { uris: ['spiffe://ä'] },
      { subject: 'CN=a', 'signature-algorithm': 'pss' },
    ];
    for (const body of wrong) await harness.refused(400, 'invalid-value', 'bare', 'generate-csr', body);
    await harness.patch('bare', { disabled: true });
    await harness.refused(409, 'key-disabled', 'bare', 'generate-csr', { subject: 'CN=a' });
  });

  test('a version that waits for activate-after gets its certificate before it signs', async () => {
    await harness.create('waiting', { cipher: 'ecdsa-p256', 'auto-rotate': { 'rotate-after': '30d', 'activate-after': '1d' } });
    await harness.do('waiting', 'rotate');
    await harness.refused(409, 'version-not-allowed', 'waiting', 'sign', { text: '', 'key-version': 2 });
    const { csr } = await harness.do('waiting', 'generate-csr', { subject: 'CN=next', 'key-version': 2 });
    await ok(204, harness.act('waiting', 'set-certificate-chain', { 'certificate-chain': await certified(csr), 'key-version': 2 }));
    const { versions, keys } = await harness.state('waiting');
    expect(versions['1']['certificate-chain']).toBeUndefined();
    const [own] = [new X509Certificate(versions['2']['certificate-chain'])];
    expect(own?.publicKey.export({ type: 'spki', format: 'pem' })).toBe(keys['2']);
  });
});

describe('set-certificate-chain', () => {
  test('keeps a chain until it is replaced or removed, through a backup too', async () => {
    await harness.create('kept', { cipher: 'rsa-2048', 'allow-plaintext-backup': true, 'deletion-allowed': true });
    const chain = await certified((await harness.do('kept', 'generate-csr', { subject: 'CN=kept' })).csr);
    await ok(204, harness.act('kept', 'set-certificate-chain', { 'certificate-chain': chain }));
    expect((await harness.state('kept')).versions['1']['certificate-chain']).toBe(chain);
    const { key } = await harness.do('kept', 'backup');
    await ok(204, harness.act('kept', 'set-certificate-chain', { 'certificate-chain': '' }));
    expect((await harness.state('kept')).versions['1']['certificate-chain']).toBeUndefined();
    await harness.do('kept', 'restore', { key });
    expect((await harness.state('kept')).versions['1']['certificate-chain']).toBe(chain);
  });

  test('takes PKCS #7 as openssl writes it, in any order, and leaves out what is not on the path', async () => {
    await harness.create('bundled', { cipher: 'rsa-2048' });
    await harness.create('beside', { cipher: 'ecdsa-p256' });
    const chain = await certified((await harness.do('bundled', 'generate-csr', { subject: 'CN=bundled' })).csr);
    const other = await certified((await harness.do('beside', 'generate-csr', { subject: 'CN=beside' })).csr);
    const set = (pem: string) => harness.act('bundled', 'set-certificate-chain', { 'certificate-chain': pem });
    const bundle = (pem: string): string => {
      writeFileSync(directory('certificates.pem'), pem);
      return openssl('crl2pkcs7', '-nocrl', '-certfile', directory('certificates.pem'));
    };
    await ok(204, set(bundle(other + chain)));
    expect((await harness.state('bundled')).versions['1']['certificate-chain']).toBe(chain);
    const deep = Buffer.concat(Array.from({ length: 8_000 }, () => Buffer.from('3080', 'hex')));
    const message = (der: Buffer): string => `-----BEGIN PKCS7-----\n${der.toString('base64')}\n-----END PKCS7-----\n`;
    for (const pem of [bundle(other), message(Buffer.from('3000', 'hex')), message(deep)])
      expect((await set(pem)).body.code).toBe('invalid-certificate-chain');
  });

  test('refuses a chain that is larger than a request may have, however it comes', () => {
    expect(() => requireChainOf(new Uint8Array(), [new Uint8Array(40_000), new Uint8Array(20_000)])).toThrow(/60000 octets; 49152/);
  });

  test('refuses a certificate of another key, a chain out of order, and what is no certificate', async () => {
    await harness.create('one', { cipher: 'ecdsa-p256' });
    await harness.create('other', { cipher: 'ecdsa-p256' });
    const chain = await certified((await harness.do('one', 'generate-csr', { subject: 'CN=one' })).csr);
    const [own = '', above = ''] = chain.split(/(?<=-----END CERTIFICATE-----\n)/);
    const another = await certified((await harness.do('other', 'generate-csr', { subject: 'CN=other' })).csr);
    const set = (name: string, pem: string) => harness.act(name, 'set-certificate-chain', { 'certificate-chain': pem });
    for (const pem of [another, above + own, own + own, own + another, 'no certificate', `${own}${above}`.replace('MII', 'MIJ')]) {
      expect((await set('one', pem)).body.code).toBe('invalid-certificate-chain');
    }
    expect((await set('one', own + Array(8).fill(above).join(''))).body.code).toBe('invalid-certificate-chain');
    await ok(204, set('one', own));
    await harness.create('aes-too');
    await harness.refused(400, 'operation-not-supported', 'aes-too', 'set-certificate-chain', { 'certificate-chain': own });
  });
});
