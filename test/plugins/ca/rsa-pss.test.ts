// RSASSA-PSS: requests and keys of devices by that name, CAs that sign by it, and what paths take of it. OpenSSL makes and judges.
import { execFile } from 'node:child_process';
import { constants, createPrivateKey, sign as makeSignature, X509Certificate } from 'node:crypto';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { formatPem } from '../../../core/base/texts/pem.ts';
import { pssIdentifier, readPss } from '../../../core/cms/pss.ts';
import { plainRsa } from '../../../core/der/rsa-pss.ts';
import { bitString, DerError, explicit, nullValue, objectIdentifier, Reader, sequence, setOf, tag } from '../../../core/der/der.ts';
import { findPath } from '../../../plugins/ca/issuing/chain.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { startScepAppliance } from '../scep/scep-appliance.ts';

const at = temporaryDirectory();
const openssl = async (...args: string[]) => (await promisify(execFile)('openssl', args, { cwd: at('.') })).stdout;
const file = (name: string, content: string | Uint8Array): string => {
  writeFileSync(at(name), content);
  return at(name);
};
const appliance = await startScepAppliance();
const names = { 'allowed-domains': ['plant.example'], 'allow-subdomains': true };
const ca = await appliance.makeCa({ est: names });

const pss = ['-sigopt', 'rsa_padding_mode:pss'];
const pssKey = (...parameters: string[]) => ['rsa-pss', ...['rsa_keygen_bits:2048', ...parameters].flatMap((one) => ['-pkeyopt', one])];
const bound = (hash: string, saltLength: number) =>
  pssKey(`rsa_pss_keygen_md:${hash}`, `rsa_pss_keygen_mgf1_md:${hash}`, `rsa_pss_keygen_saltlen:${saltLength}`);
/** one key for all that are RSA by name */
await openssl('genrsa', '-out', 'rsa.pem', '2048');
const rsa = ['rsa'];
const ec = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];
const request = (kind: readonly string[], ...more: readonly string[]) =>
  openssl('req', '-new', '-nodes', '-subj', '/CN=a.plant.example', ...keyOf(kind, 'key.pem'), ...more);
const keyOf = (kind: readonly string[], out: string): string[] => {
  if (kind !== rsa) return ['-newkey', ...kind, '-keyout', out];
  copyFileSync(at('rsa.pem'), at(out));
  return ['-key', out];
};
const sign = (csr: string, from = ca) => appliance.act(from, 'sign-csr', { csr });

test.each([
  ['RSA, the longest salt', rsa, pss],
  ['RSA, SHA-384 and a salt as long', rsa, ['-sha384', ...pss, '-sigopt', 'rsa_pss_saltlen:digest']],
  ['RSA, no salt', rsa, [...pss, '-sigopt', 'rsa_pss_saltlen:0']],
  ['RSASSA-PSS without parameters', pssKey(), []],
  ['RSASSA-PSS bound to SHA-256', bound('sha256', 32), []],
  ['RSASSA-PSS bound to SHA-512, the default salt', bound('sha512', 20), ['-sha512']],
])('a request of a key is taken: %s', async (_what, newKey, more) => {
  const { status, body } = await sign(await request(newKey, ...more));
  expect([status, body.detail]).toEqual([200, undefined]);
  const [inKey, inCertificate] = [await openssl('pkey', '-in', 'key.pem', '-pubout'), new X509Certificate(body.certificate).publicKey];
  expect(inCertificate.export({ format: 'pem', type: 'spki' })).toBe(inKey);
  expect(await openssl('verify', '-x509_strict', '-CAfile', file('ca.pem', body.chain), file('leaf.pem', body.certificate))).toContain(
    'OK',
  );
  const usage = await openssl('x509', '-in', 'leaf.pem', '-noout', '-ext', 'keyUsage');
  expect(usage.includes('Encipherment')).toBe(newKey[0] !== 'rsa-pss');
});

test.each([
  ['SHA-1', rsa, ['-sha1', ...pss], /self-signature/],
  ['a mask of another hash', rsa, [...pss, '-sigopt', 'rsa_mgf1_md:sha512'], /self-signature/],
  ['a key for SHA-1', bound('sha1', 20), ['-sha1'], /RSASSA-PSS with parameters/],
  [
    'a key whose mask has another hash',
    pssKey('rsa_pss_keygen_md:sha256', 'rsa_pss_keygen_mgf1_md:sha512'),
    ['-sha256'],
    /RSASSA-PSS with parameters/,
  ],
  ['a key of 1024 bits', ['rsa-pss', '-pkeyopt', 'rsa_keygen_bits:1024'], [], /RSA modulus of 1024 bits/],
])('a request is refused with the reason: %s', async (_what, newKey, more, says) => {
  const { status, body } = await sign(await request(newKey, ...more));
  expect([status, body.code, body.detail]).toEqual([400, 'invalid-csr', expect.stringMatching(says)]);
});

test('a key for RSASSA-PSS makes no other signature, and no shorter salt than it names', async () => {
  const again = async (pem: string, algorithm: Uint8Array, padding: object) => {
    const outer = new Reader(Buffer.from(pem.replace(/-.*-|\n/g, ''), 'base64')).enter(tag.sequence);
    const info = outer.next(tag.sequence).whole;
    const key = { key: plainRsa(createPrivateKey(readFileSync(at('key.pem')))), ...padding };
    const csr = formatPem('CERTIFICATE REQUEST', sequence(info, algorithm, bitString(makeSignature('sha256', info, key))));
    const { status, body } = await sign(csr);
    return body.detail ?? status;
  };
  const salted = (saltLength: number) =>
    [pssIdentifier('sha256', saltLength), { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength }] as const;
  const csr = await request(bound('sha256', 32));
  expect(await again(csr, ...salted(32))).toBe(200);
  expect(await again(csr, ...salted(31))).toMatch(/self-signature/);
  expect(await again(csr, sequence(objectIdentifier('1.2.840.113549.1.1.11'), nullValue), {})).toMatch(/self-signature/);
});

test('parameters are read as RFC 4055 has them, and defaults that are SHA-1 are refused', () => {
  expect(readPss(pssIdentifier('sha384'))).toEqual({ hash: 'sha384', saltLength: 48 });
  expect(readPss(pssIdentifier('sha256', 20, []))).toEqual({ hash: 'sha256', saltLength: 20 });
  const id = objectIdentifier('1.2.840.113549.1.1.10');
  expect(readPss(sequence(id))).toBe('none');
  expect(readPss(sequence(id, sequence()))).toBeUndefined();
  for (const wrong of [
    sequence(id, nullValue),
    sequence(id, sequence(explicit(4, nullValue))),
    sequence(id, sequence(), nullValue),
    setOf(id),
  ])
    expect(() => readPss(wrong)).toThrow(DerError);
});

test('a CA signs by it where it was made so: certificates, lists, OCSP answers, and after a renewal', async () => {
  const signer = await appliance.makeCa({ 'cert-key-type': 'rsa', 'cert-key-bits': 2048, 'signature-algorithm': 'pss', est: names });
  expect((await appliance.request('GET', `/v1/config/keystore/tls/ca/${signer}`)).body['signature-algorithm']).toBe('pss');
  for (const round of ['first', 'renewed']) {
    if (round === 'renewed') await appliance.act(signer, 'renew');
    expect([round, (await appliance.state(signer))['key-version']]).toEqual([round, round === 'first' ? 1 : 2]);
    const { body } = await sign(await request(rsa), signer);
    file('ca.pem', (await appliance.state(signer))['ca-cert']);
    file('leaf.pem', body.certificate);
    const text = await openssl('x509', '-in', 'leaf.pem', '-noout', '-text');
    expect(
      text.match(/Signature Algorithm: rsassaPss\s+Hash Algorithm: sha256\s+Mask Algorithm: mgf1 with sha256\s+Salt Length: 0x20/g),
    ).toHaveLength(1);
    expect(text.match(/Signature Algorithm: rsassaPss/g)).toHaveLength(2);
    const path = `${appliance.plain}/v1/ca/${appliance.tenantId}/${signer}`;
    const crl = Buffer.from(await (await fetch(`${path}/crl`)).arrayBuffer());
    file('crl.pem', formatPem('X509 CRL', crl));
    expect(await openssl('crl', '-in', 'crl.pem', '-noout', '-text')).toContain('rsassaPss');
    expect(await openssl('verify', '-x509_strict', '-crl_check', '-CRLfile', 'crl.pem', '-CAfile', 'ca.pem', 'leaf.pem')).toContain('OK');
    const ocsp = await openssl('ocsp', '-issuer', 'ca.pem', '-cert', 'leaf.pem', '-CAfile', 'ca.pem', '-url', `${path}/ocsp`, '-resp_text');
    expect(ocsp).toMatch(/leaf\.pem: good/);
    expect(ocsp).toContain('rsassaPss');
  }
});

test('such a CA has RSA keys, says so when it has not, and stays as it is', async () => {
  const made = await appliance.request('POST', '/v1/config/keystore/tls/ca', { name: 'refused', 'signature-algorithm': 'pss' });
  expect([made.status, made.body.detail]).toEqual([400, expect.stringContaining('belongs to cert-key-type rsa')]);
  const later = await appliance.request('PATCH', `/v1/config/keystore/tls/ca/${ca}`, { 'signature-algorithm': 'pss' });
  expect(later.body.code).toBe('immutable-field');
});

test('a path takes it with SHA-2 and keys that are long enough, and nothing else by its name', async () => {
  const pathOf = async (rootKey: readonly string[], middle: readonly string[]) => {
    const leafExt = file('leaf.ext', 'basicConstraints=CA:FALSE\n');
    const ext = file('ext', 'basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign\n');
    await openssl('req', '-x509', '-nodes', ...keyOf(rootKey, 'root.key'), '-subj', '/CN=root', '-out', 'root.pem');
    await openssl('req', '-new', '-nodes', ...ec, '-keyout', 'middle.key', '-subj', '/CN=middle', '-out', 'middle.csr');
    await openssl(
      'x509',
      '-req',
      '-in',
      'middle.csr',
      '-CA',
      'root.pem',
      '-CAkey',
      'root.key',
      ...middle,
      '-extfile',
      ext,
      '-out',
      'middle.pem',
    );
    await openssl('req', '-new', '-nodes', ...ec, '-keyout', 'leaf.key', '-subj', '/CN=leaf', '-out', 'leaf.csr');
    await openssl('x509', '-req', '-in', 'leaf.csr', '-CA', 'middle.pem', '-CAkey', 'middle.key', '-extfile', leafExt, '-out', 'leaf.pem');
    const [leaf, above, root] = ['leaf', 'middle', 'root'].map((name) => new X509Certificate(readFileSync(at(`${name}.pem`))).raw);
    return findPath(leaf as Buffer, [above as Buffer], [root as Buffer], Temporal.Now.instant())?.length;
  };
  expect(await pathOf(pssKey(), ['-sha256'])).toBe(3);
  expect(await pathOf(rsa, ['-sha256', ...pss])).toBe(3);
  expect(await pathOf(rsa, ['-sha1', ...pss])).toBeUndefined();
  expect(await pathOf(['rsa-pss', '-pkeyopt', 'rsa_keygen_bits:1024'], ['-sha256'])).toBeUndefined();
});
