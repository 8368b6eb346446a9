// serverkeygen (RFC 7030 4.4): the key is made in the token, and openssl opens it with the key of the certificate that the device has shown, and with no other.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { beforeAll, expect, test, vi } from 'vitest';
import { explicit, objectIdentifier, octetString, readOnly, sequence, tag } from '../../../core/der/der.ts';
import { findReceiver } from '../../../core/cms/key-package.ts';
import type { CertificateAuthority } from '../../../core/plugin/services/certificate-authority.ts';
import { KeyPlaces } from '../../../plugins/est/key-places.ts';
import { openTls } from '../../harness/client.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { type Identity, type KeyName, type Keys, makeCsr, makeDeviceCsr, makeIdentity, makeKeys, readCertsOnly, x509 } from '../ca/pki.ts';
import { basic, pkcs10, type Reply } from './client.ts';
import { type EstAppliance, openEst, secret, startEstAppliance } from './est-appliance.ts';
import { file, openssl } from './openssl.ts';

const at = temporaryDirectory();
const name = 'device.example.test';
let appliance: EstAppliance;
let ca: string;
let birth: Identity;
let asking: Keys;
const shown: Partial<Record<KeyName, Identity>> = {};

beforeAll(async () => {
  appliance = await startEstAppliance();
  birth = await makeIdentity({ subject: 'CN=Birth', ca: true });
  await appliance.request('POST', '/v1/config/keystore/tls/ca', { name: 'birth-ca', 'ca-cert': birth.pem });
  ca = await appliance.makeCa({ est: { ...openEst, 'server-keygen': true, 'initial-enroll-trust-ca': 'birth-ca' } });
  asking = await makeKeys('P-256');
  for (const key of ['P-256', 'P-384', 'P-521', 'RSA-2048', 'Ed25519'] as const)
    shown[key] = await makeIdentity({ subject: `CN=born ${key}`, issuer: birth, key });
}, 60_000);

const generate = async (
  client: Identity | undefined,
  { keys = asking, from = ca, headers = {}, csr = undefined as Buffer | undefined } = {},
): Promise<Reply> =>
  appliance.call(from, 'serverkeygen', {
    ...pkcs10(csr ?? (await makeDeviceCsr(keys, name)), headers),
    ...(client === undefined ? {} : { client, issuers: [birth] }),
  });

/** The parts of an answer, each with its media type. */
function partsOf({ rawHeaders, text }: Reply): [key: Buffer, certificate: X509Certificate] {
  const [, boundary = ''] = /^multipart\/mixed; boundary=(\S+)$/.exec(rawHeaders.get('Content-Type') ?? '') ?? [];
  const parts = text.split(`--${boundary}`).slice(1, -1);
  expect(parts.map((part) => /Content-Type: (.*)\r\n/.exec(part)?.[1])).toEqual([
    'application/pkcs7-mime; smime-type=server-generated-key',
    'application/pkcs7-mime; smime-type=certs-only',
  ]);
  const [key = '', certificates = ''] = parts.map((part) => part.split('\r\n\r\n')[1]?.replaceAll(/\s/g, '') ?? '');
  return [Buffer.from(key, 'base64'), readCertsOnly(certificates)[0] as X509Certificate];
}

/** Opens the envelope with a private key, and verifies the signature below the CA; the key that was inside. */
function openKey(envelope: Buffer, client: Identity, caPem: string): string {
  const [inKey, inCert, message] = [
    file(at('client.key'), client.keys.pem),
    file(at('client.pem'), client.pem),
    file(at('message'), envelope),
  ];
  const decrypted = openssl(
    'cms',
    '-decrypt',
    '-inform',
    'DER',
    '-binary',
    '-in',
    message,
    '-inkey',
    inKey,
    '-recip',
    inCert,
    '-out',
    at('signed'),
  );
  if (decrypted.code !== 0) return decrypted.output;
  const signed = sequence(objectIdentifier('1.2.840.113549.1.7.2'), explicit(0, readFileSync(at('signed'))));
  const verified = openssl(
    ...['cms', '-verify', '-inform', 'DER', '-binary', '-in', file(at('signed.der'), Buffer.from(signed)), '-purpose', 'any'],
    ...['-CAfile', file(at('ca.pem'), caPem), '-out', at('package')],
  );
  expect(verified.output).toMatch(/verification success/i);
  const [key] = readOnly(readFileSync(at('package')), tag.sequence).rest();
  return createPrivateKey({ key: Buffer.from(key?.whole ?? []), format: 'der', type: 'pkcs8' }).export({ format: 'pem', type: 'pkcs8' });
}

test.each(['P-256', 'P-384', 'P-521', 'RSA-2048'] as const)(
  'sends the key encrypted to the %s key of the birth certificate, signed below the CA',
  async (kind) => {
    const client = shown[kind] as Identity;
    const reply = await generate(client);
    expect([reply.status, reply.status === 200 ? '' : reply.text]).toEqual([200, '']);
    const [envelope, certificate] = partsOf(reply);
    expect(certificate.subjectAltName).toBe(`DNS:${name}`);
    const pem = openKey(envelope, client, (await appliance.state(ca))['ca-cert']);
    expect(certificate.checkPrivateKey(createPrivateKey(pem))).toBe(true);
    expect(certificate.checkPrivateKey(createPrivateKey(asking.pem))).toBe(false);
    const other = shown[kind === 'RSA-2048' ? 'P-256' : 'RSA-2048'] as Identity;
    expect(openKey(envelope, other, '')).not.toContain('PRIVATE KEY');
  },
);

test.each(['P-384', 'RSA-2048', 'Ed25519'] as const)(
  'makes a key of the kind that asks: %s, with the usages that it asks for',
  async (kind) => {
    const keys = await makeKeys(kind);
    const csr = await makeCsr({
      keys,
      subject: `CN=${name}`,
      names: [{ type: 'dns', value: name }],
      extensions: [new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth])],
    });
    const [, certificate] = partsOf(await generate(shown['P-256'], { csr }));
    expect(openssl('x509', '-in', file(at('leaf.pem'), certificate.toString()), '-noout', '-text').output).toMatch(
      /TLS Web Server Authentication/,
    );
    expect(certificate.publicKey.asymmetricKeyType).toBe(kind === 'P-384' ? 'ec' : kind === 'Ed25519' ? 'ed25519' : 'rsa');
  },
);

test('takes the shared secret too, and encrypts to the certificate that is shown beside it', async () => {
  const headers = { Authorization: basic(secret) };
  expect((await generate(shown['RSA-2048'], { headers })).status).toBe(200);
  expect(await generate(undefined, { headers })).toMatchObject({
    status: 400,
    text: expect.stringMatching(/encrypted to the key of the client certificate/) as string,
  });
  expect((await generate(shown['Ed25519'])).text).toMatch(/encrypted to the key of the client certificate/);
});

test('is for those who may enrol, with names that they may have; nothing is made for others', async () => {
  expect((await generate(undefined)).status).toBe(401);
  expect((await generate(await makeIdentity({ subject: 'CN=nobody here' }))).status).toBe(401);
  const refused = await generate(shown['P-256'], { csr: await makeDeviceCsr(asking, 'evil.example') });
  expect(refused.status).toBe(403);
});

test('a request that names another key for the encryption gets none, and one that names that of the certificate does', async () => {
  const [symmetric, asymmetric] = ['1.2.840.113549.1.9.16.2.37', '1.2.840.113549.1.9.16.2.54'];
  const client = shown['P-256'] as Identity;
  const { keyId } = await x509.SubjectKeyIdentifierExtension.create(client.keys.publicKey);
  const asked = async (type: string, octets: Uint8Array): Promise<Reply> => {
    const attribute = new x509.Attribute(type, [Uint8Array.from(octetString(octets)).buffer]);
    return generate(client, {
      csr: await makeCsr({ keys: asking, subject: `CN=${name}`, names: [{ type: 'dns', value: name }], attributes: [attribute] }),
    });
  };
  expect((await asked(asymmetric, Buffer.from(keyId, 'hex'))).status).toBe(200);
  for (const [type, octets, names] of [
    [asymmetric, Buffer.alloc(20, 7), 'AsymmetricDecryptKeyIdentifier'],
    [symmetric, Buffer.from('theirs'), 'a symmetric key'],
  ] as const)
    expect(await asked(type, octets)).toMatchObject({ status: 400, text: expect.stringContaining(names) as string });
});

test('is off unless the CA has it', async () => {
  const without = await appliance.makeCa({ est: { ...openEst, 'initial-enroll-trust-ca': 'birth-ca' } });
  expect((await generate(shown['P-256'], { from: without })).status).toBe(404);
  await appliance.patchCa(without, { est: { 'server-keygen': true } });
  expect((await generate(shown['P-256'], { from: without })).status).toBe(200);
});

test('leaves no key behind, and no private key in the audit trail', async () => {
  const client = shown['P-256'] as Identity;
  const [envelope] = partsOf(await generate(client));
  const pem = openKey(envelope, client, (await appliance.state(ca))['ca-cert']);
  const secretPart = createPrivateKey(pem).export({ format: 'jwk' }).d ?? '';
  expect(secretPart).not.toBe('');
  expect(JSON.stringify(appliance.audited())).not.toContain(secretPart);
});

test('a key that receives nothing is told from one that does', async () => {
  expect(findReceiver(Uint8Array.of(0))).toBeUndefined();
  const weak = await makeIdentity({ subject: 'CN=weak', key: 'RSA-1024' });
  for (const { pem } of [shown['Ed25519'] as Identity, weak]) expect(findReceiver(new X509Certificate(pem).raw)).toBeUndefined();
  expect(findReceiver(new X509Certificate((shown['P-521'] as Identity).pem).raw)?.asymmetricKeyType).toBe('ec');
});

test('who asks for many keys at once gets 503 and a time for most, and others still get theirs', async () => {
  const places = new KeyPlaces();
  const [first, second] = [{ id: 'one' }, { id: 'two' }] as CertificateAuthority[];
  const ends: (() => void)[] = [];
  const begin = (at: CertificateAuthority | undefined, clientIp: string) =>
    places.run({ ca: at as CertificateAuthority, clientIp }, () => new Promise<string>((resolve) => ends.push(() => resolve('made'))));
  const refused = { code: 'keys-in-making' };
  const running = [begin(first, '2001:db8::1'), begin(first, '2001:db8::2')];
  await expect(begin(first, '2001:db8::3')).rejects.toMatchObject(refused);
  running.push(begin(first, '192.0.2.1'), begin(first, '192.0.2.2'), begin(second, '2001:db8::3'));
  await expect(begin(first, '192.0.2.3')).rejects.toMatchObject(refused);
  for (const end of ends.splice(0)) end();
  expect(await Promise.all(running)).toEqual(running.map(() => 'made'));
  const again = begin(first, '2001:db8::3');
  ends[0]?.();
  expect(await again).toBe('made');
});

test('who leaves before the key is made gets neither key nor certificate', async () => {
  const csr = await makeDeviceCsr(await makeKeys('RSA-2048'), name);
  const { body, headers, method } = pkcs10(csr, { Host: 'localhost', Authorization: basic(secret) });
  const client = shown['P-256'] as Identity;
  const socket = await openTls(Number(new URL(appliance.est).port), { key: client.keys.pem, cert: client.pem });
  const head = Object.entries({ ...headers, 'Content-Length': String(body?.length) }).map(([field, value]) => `${field}: ${value}`);
  const target = `/.well-known/est/${appliance.tenantId}/${ca}/serverkeygen`;
  const issued = async () => ((await appliance.request('GET', `/v1/state/keystore/tls/ca/${ca}/certificates`)).body as unknown[]).length;
  const before = await issued();
  socket.end([`${method} ${target} HTTP/1.1`, ...head, '', String(body)].join('\r\n'));
  await vi.waitFor(() => expect(appliance.audited()).toContainEqual(expect.objectContaining({ code: 'sender-gone', status: 408 })), 30_000);
  expect(await issued()).toBe(before);
});
