// What an issued certificate is like (requirements R57 to R66), seen by openssl and by @peculiar/x509.
import { X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { basic } from '../est/client.ts';
import { type EstAppliance, openEst, secret, startEstAppliance } from '../est/est-appliance.ts';
import { file, openssl } from '../est/openssl.ts';
import { type KeyName, makeCsr, makeDeviceCsr, makeIdentity, makeKeys, readCertsOnly, usages, x509 } from './pki.ts';

const name = 'device.example.test';
let appliance: EstAppliance;
let ca: string;

beforeAll(async () => {
  appliance = await startEstAppliance();
  ca = await appliance.makeCa();
});

async function issue(from = ca, key: KeyName = 'P-256', csr?: Buffer): Promise<X509Certificate> {
  const request = csr ?? (await makeDeviceCsr(await makeKeys(key), name));
  const reply = await appliance.enrol(from, 'simpleenroll', request, { headers: { Authorization: basic(secret) } });
  const [certificate] = reply.status === 200 ? readCertsOnly(reply.text) : [];
  if (certificate === undefined) throw new Error(`${reply.status} ${reply.text}`);
  return certificate;
}

const caKeys: readonly (readonly [string, object, RegExp])[] = [
  ['ecdsa secp256r1', {}, /ecdsa-with-SHA256/],
  ['ecdsa secp384r1', { 'cert-key-curve': 'secp384r1' }, /ecdsa-with-SHA384/],
  ['ecdsa secp521r1', { 'cert-key-curve': 'secp521r1' }, /ecdsa-with-SHA512/],
  ['rsa 2048', { 'cert-key-type': 'rsa', 'cert-key-bits': 2048 }, /sha256WithRSAEncryption/],
  ['ed25519', { 'cert-key-type': 'ed25519' }, /ED25519/],
];

describe('certificate', () => {
  test('R57: version 3; serial numbers of 16 octets, positive, all different, 126 bits random', async () => {
    const serials = new Set<string>();
    for (let n = 0; n < 8; n++) {
      const { serialNumber } = await issue();
      expect(serialNumber).toMatch(/^[4-7][0-9A-F]{31}$/);
      serials.add(serialNumber);
    }
    expect(serials.size).toBe(8);
    const text = openssl('x509', '-noout', '-text', '-in', file(join(appliance.directory, 'v3.pem'), (await issue()).toString()));
    expect(text.output).toContain('Version: 3 (0x2)');
  });

  test('R58: from a minute ago to est.ttl from now, never past the end of the CA', async () => {
    const now = appliance.clock.now().epochMilliseconds;
    const certificate = await issue();
    expect(now - certificate.validFromDate.getTime()).toBeGreaterThanOrEqual(60_000);
    expect(now - certificate.validFromDate.getTime()).toBeLessThan(62_000);
    expect((certificate.validToDate.getTime() - now) / 86_400_000).toBeCloseTo(30, 3);
    const young = await appliance.makeCa({ ttl: '2d', est: { ...openEst, ttl: '1y' } });
    const short = await issue(young);
    expect(short.validToDate.toISOString()).toBe(
      new Date((await appliance.state(young))['not-after']).toISOString().replace(/\.\d+/, '.000'),
    );
  });

  test('R58: a CA that has expired issues nothing and says so', async () => {
    const brief = await appliance.makeCa({ ttl: '1h', est: openEst });
    appliance.clock.advance(3_601);
    const reply = await appliance.enrol(brief, 'simpleenroll', await makeDeviceCsr(await makeKeys('P-256'), name), {
      headers: { Authorization: basic(secret) },
    });
    await appliance.setBack(3_601);
    expect(reply).toMatchObject({ status: 503, text: expect.stringMatching(/expired/) as string });
  });

  test('R58: a root that has expired is renewed, without roll-over certificates that would never be valid', async () => {
    const brief = await appliance.makeCa({ ttl: '1h', est: openEst });
    appliance.clock.advance(3_700);
    const renewed = await appliance.act(brief, 'renew');
    const issued = await issue(brief);
    const chain = readCertsOnly((await appliance.call(brief, 'cacerts')).text);
    await appliance.setBack(3_700);
    expect(renewed).toMatchObject({ status: 200, body: { 'key-version': 2 } });
    expect(issued.verify(new X509Certificate(renewed.body['ca-cert']).publicKey)).toBe(true);
    expect(chain.map(({ raw }) => raw)).toEqual([new X509Certificate(renewed.body['ca-cert']).raw]);
  });

  test('R59: UTCTime to 2049, GeneralizedTime after, whole seconds', async () => {
    const long = await appliance.makeCa({ ttl: '50y', est: { ...openEst, ttl: '40y' } });
    // Tags and lengths of two times in a row: UTCTime (0x17) has 13 characters, GeneralizedTime (0x18) has 15.
    expect((await issue(long)).raw.toString('hex')).toMatch(/170d(3\d){12}5a180f3230(3\d){12}5a/);
    expect((await issue()).raw.toString('hex')).toMatch(/170d(3\d){12}5a170d(3\d){12}5a/);
  });

  test('R60: never a CA; key usage is digitalSignature, and keyEncipherment for RSA keys of servers only', async () => {
    const asked = await makeCsr({
      keys: await makeKeys('P-256'),
      subject: `CN=${name}`,
      extensions: [new x509.BasicConstraintsExtension(true, 3, true), usages('keyCertSign')],
    });
    const plain = /Basic Constraints: critical\s+CA:FALSE\s+X509v3 Key Usage: critical\s+Digital Signature\s*$/;
    expect(constraintsOf(await issue(ca, 'P-256'))).toMatch(plain);
    expect(constraintsOf(await issue(ca, 'P-256', asked))).toMatch(plain);
    expect(constraintsOf(await issue(ca, 'Ed25519'))).toMatch(plain);
    expect(constraintsOf(await issue(ca, 'RSA-2048'))).toMatch(plain);
    const server = new x509.ExtendedKeyUsageExtension(['1.3.6.1.5.5.7.3.1']);
    const ofServer = async (key: KeyName) => makeCsr({ keys: await makeKeys(key), subject: `CN=${name}`, extensions: [server] });
    expect(constraintsOf(await issue(ca, 'RSA-2048', await ofServer('RSA-2048')))).toMatch(/Digital Signature, Key Encipherment\s*$/);
    expect(constraintsOf(await issue(ca, 'P-256', await ofServer('P-256')))).toMatch(plain);
  });

  test('R61: clientAuth always, serverAuth when asked for, nothing else ever', async () => {
    const [client, server, ocsp, code, any, cmcCa] = [
      '1.3.6.1.5.5.7.3.2',
      '1.3.6.1.5.5.7.3.1',
      '1.3.6.1.5.5.7.3.9',
      '1.3.6.1.5.5.7.3.3',
      '2.5.29.37.0',
      '1.3.6.1.5.5.7.3.27',
    ] as const;
    expect(await purposesFor([])).toEqual([client]);
    expect(await purposesFor([server])).toEqual([client, server]);
    expect(await purposesFor([ocsp, code, any, cmcCa])).toEqual([client]);
  });

  test("R62: the authority key identifier is the CA certificate's subject key identifier, also one made elsewhere", async () => {
    const [authority, subject] = await identifiersUnder(ca);
    expect(authority).toBe(subject);
    expect(authority).toMatch(/^[0-9a-f]{40}$/);
  });

  test.each(caKeys)('R63, R64: a CA with key %s issues what openssl verifies strictly', async (_what, fields, algorithm) => {
    const from = await appliance.makeCa({ ...fields, est: openEst });
    const at = (suffix: string): string => join(appliance.directory, `${from}-${suffix}`);
    const chain = readCertsOnly((await appliance.call(from, 'cacerts')).text);
    const trusted = file(at('ca.pem'), chain.map(String).join(''));
    for (const key of ['P-256', 'RSA-2048'] as const) {
      const leaf = file(at('leaf.pem'), (await issue(from, key)).toString());
      expect(openssl('verify', '-x509_strict', '-purpose', 'sslclient', '-CAfile', trusted, leaf)).toMatchObject({ code: 0 });
      const text = openssl('x509', '-noout', '-text', '-in', leaf).output;
      expect(text.match(new RegExp(`Signature Algorithm: ${algorithm.source}`, 'g'))).toHaveLength(2);
    }
  });

  test('R64: the URLs of CRL and OCSP are in the certificate and answer', async () => {
    const leaf = file(join(appliance.directory, 'urls.pem'), (await issue()).toString());
    const text = openssl('x509', '-noout', '-text', '-in', leaf).output;
    const { 'crl-url': crlUrl, 'ocsp-url': ocspUrl } = await appliance.state(ca);
    expect(text).toContain(`URI:${crlUrl}`);
    expect(text).toContain(`OCSP - URI:${ocspUrl}`);
    const crl = await appliance.request('GET', new URL(crlUrl).pathname, undefined, { token: undefined });
    expect(crl.status).toBe(200);
  });

  test('R65: a certificate is on record once its signature exists, and only then', async () => {
    const listed = async (): Promise<readonly { serial: string }[]> =>
      (await appliance.request('GET', `/v1/state/keystore/tls/ca/${ca}/certificates?limit=1000`)).body;
    const before = await listed();
    const { serialNumber } = await issue();
    const after = await listed();
    expect(after).toHaveLength(before.length + 1);
    expect(after.map(({ serial }) => serial)).toContain(serialNumber.toLowerCase());
    const refused = await appliance.enrol(ca, 'simpleenroll', await makeDeviceCsr(await makeKeys('P-256'), 'evil.test'), {
      headers: { Authorization: basic(secret) },
    });
    expect(refused.status).toBe(403);
    expect(await listed()).toHaveLength(after.length);
  });

  test('R66: every outcome is in the audit trail: who, where from, which names, which certificate, and why not', async () => {
    const from = await appliance.makeCa();
    const { serialNumber, fingerprint256 } = await issue(from);
    await appliance.enrol(from, 'simpleenroll', await makeDeviceCsr(await makeKeys('P-256'), 'evil.test'), {
      headers: { Authorization: basic(secret) },
    });
    await appliance.enrol(from, 'simpleenroll', Buffer.from('junk'), { headers: { Authorization: basic('wrong') } });
    await appliance.call(from, 'nothing');
    const records = appliance.audited().filter((record) => String(record['path']).includes(from));
    expect(records.map(({ status, code }) => [status, code])).toEqual([
      [200, undefined],
      [403, 'identity-not-allowed'],
      [401, 'enrolment-refused'],
      [404, 'not-found'],
    ]);
    expect(records[0]).toMatchObject({
      kind: 'est',
      tenant: 'system',
      method: 'POST',
      'client-ip': '127.0.0.1',
      'request-parameters': {
        operation: 'simpleenroll',
        ca: from,
        credential: 'est-secret',
        subject: `CN=${name}`,
        names: [`DNS:${name}`],
        'key-type': 'ECDSA P-256',
        serial: serialNumber.toLowerCase(),
        'certificate-sha256': fingerprint256.replaceAll(':', '').toLowerCase(),
      },
    });
    expect(records[1]?.['request-parameters']).toMatchObject({
      subject: 'CN=evil.test',
      reason: expect.stringContaining('allowed-domains'),
    });
    expect(records[2]?.['request-parameters']).toMatchObject({
      credential: 'est-secret',
      reason: expect.stringContaining('secret is wrong'),
    });
  });

  test('R66: a refusal for a certificate is in the audit trail with that certificate, its texts cut', async () => {
    const from = await appliance.makeCa();
    const client = await makeIdentity({ subject: `CN=${'long '.repeat(100)}` });
    await appliance.enrol(from, 'simplereenroll', Buffer.from('junk'), { client });
    const record = appliance.audited().findLast(({ path }) => String(path).includes(from));
    expect(record).toMatchObject({
      status: 401,
      'request-parameters': {
        credential: 'certificate',
        'client-certificate': { subject: expect.stringMatching(/^CN=long .{248}$/s), serial: expect.stringMatching(/^[0-9a-f]+$/) },
        reason: expect.stringContaining('not issued by this CA'),
      },
    });
  });

  test('R66: a certificate whose subject TLS reads and we do not is refused as any other', async () => {
    const from = await appliance.makeCa();
    const client = await makeIdentity({ subject: `CN=${'x'.repeat(20)}` });
    // The length of the text in two octets where one is enough: not DER.
    const der = Buffer.from(client.certificate.toString('latin1').replaceAll('\x13\x14x', '\x13\x81\x13'), 'latin1');
    expect(der.equals(client.certificate)).toBe(false);
    const pem = new X509Certificate(der).toString();
    const { status } = await appliance.enrol(from, 'simplereenroll', Buffer.from('junk'), { client: { ...client, certificate: der, pem } });
    expect(status).toBe(401);
    const record = appliance.audited().findLast(({ path }) => String(path).includes(from));
    expect(record).toMatchObject({ status: 401, 'request-parameters': { credential: 'certificate', reason: expect.anything() } });
  });
});

/** basicConstraints and keyUsage as openssl shows them. */
function constraintsOf(certificate: X509Certificate): string {
  const path = file(join(appliance.directory, 'constraints.pem'), certificate.toString());
  return openssl('x509', '-noout', '-ext', 'basicConstraints,keyUsage', '-in', path).output;
}

/** Purposes of a certificate whose request asks for these. */
async function purposesFor(asked: readonly string[]): Promise<readonly string[]> {
  const extensions = asked.length === 0 ? [] : [new x509.ExtendedKeyUsageExtension([...asked])];
  return (await issue(ca, 'P-256', await makeCsr({ keys: await makeKeys('P-256'), subject: `CN=${name}`, extensions }))).keyUsage;
}

/** Authority key identifier of a new certificate, and subject key identifier of its CA. */
async function identifiersUnder(from: string): Promise<readonly [string | undefined, string | undefined]> {
  const [caCertificate] = readCertsOnly((await appliance.call(from, 'cacerts')).text);
  const [leaf, issuer] = [await issue(from), caCertificate].map((one) => new x509.X509Certificate(new Uint8Array(one?.raw ?? [])));
  return [leaf?.getExtension(x509.AuthorityKeyIdentifierExtension)?.keyId, issuer?.getExtension(x509.SubjectKeyIdentifierExtension)?.keyId];
}
