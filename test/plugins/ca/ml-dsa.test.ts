// ML-DSA end to end: CA key in a token that offers CKM_ML_DSA, ML-DSA requests, and ML-DSA client certificates for renewal.
import { generateKeyPairSync, sign, X509Certificate } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { bitString, explicit, integer, nullValue, objectIdentifier, sequence } from '../../../core/der/der.ts';
import { commonName } from '../../../core/der/name.ts';
import { bitStringOfPublicKey } from '../../../plugins/ca/der/public-key.ts';
import { makeNssToken, obtainNss } from '../../harness/token/nss.ts';
import { makeSoftToken } from '../../harness/token/softhsm.ts';
import { basic, type Reply, send } from '../est/client.ts';
import { type EstAppliance, openEst, secret, startEstAppliance } from '../est/est-appliance.ts';
import { type Identity, type KeyName, type Keys, makeDeviceCsr, makeIdentity, makeKeys, readCertsOnly, x509 } from './pki.ts';

const nss = await obtainNss();
const name = 'device.example.test';
let appliance: EstAppliance;
let ca: string;

describe.skipIf('missing' in nss)(`ML-DSA with NSS softoken${'missing' in nss ? ` (${nss.missing})` : ''}`, () => {
  beforeAll(async () => {
    appliance = await startEstAppliance({
      async tokens(directory) {
        if ('missing' in nss) throw new Error(nss.missing);
        return [await makeSoftToken(directory), await makeNssToken(nss, directory)];
      },
    });
    ca = await appliance.makeCa({ 'cert-key-type': 'ml-dsa-65', est: openEst });
  });

  test.each<KeyName>(['ML-DSA-44', 'ML-DSA-65', 'ML-DSA-87'])('R29: an ML-DSA CA certifies %s keys', async (key) => {
    const { pem } = await obtain(key);
    const [leaf, issuer] = [new X509Certificate(pem), new X509Certificate((await appliance.state(ca))['ca-cert'])];
    expect(leaf.publicKey.asymmetricKeyType).toBe(key.toLowerCase());
    expect(leaf.signatureAlgorithm).toBe('ML-DSA-65');
    expect(leaf.checkIssued(issuer) && leaf.verify(issuer.publicKey)).toBe(true);
    expect(issuer.verify(issuer.publicKey)).toBe(true);
  });

  test('R29: an ML-DSA CA refuses classical keys', async () => {
    for (const key of ['P-256', 'RSA-2048', 'Ed25519'] as const) {
      const reply = await enrol(await makeKeys(key));
      expect(reply).toMatchObject({ status: 400, text: expect.stringMatching(/does not certify/) as string });
    }
  });

  test('R29: a wrong signature, and parameters beside the algorithm of the key, are 400', async () => {
    const broken = await makeDeviceCsr(await makeKeys('ML-DSA-65'), name);
    broken[broken.length - 100] = (broken[broken.length - 100] ?? 0) ^ 1;
    for (const csr of [broken, requestWithNullParameters()]) {
      expect((await appliance.enrol(ca, 'simpleenroll', csr, { headers: { Authorization: basic(secret) } })).status).toBe(400);
    }
  });

  test('R60, R63: key usage has digitalSignature only, and both algorithm identifiers are id-ml-dsa-65 without parameters', async () => {
    const { certificate } = await obtain('ML-DSA-65');
    const parsed = new x509.X509Certificate(new Uint8Array(certificate));
    expect(parsed.getExtension(x509.KeyUsagesExtension)?.usages).toBe(x509.KeyUsageFlags.digitalSignature);
    const identifier = '300b0609608648016503040312';
    expect(certificate.toString('hex').split(identifier)).toHaveLength(4); // inside, outside, and the key
  });

  test('renewal by TLS 1.3 with the ML-DSA certificate that the CA issued, with the same key and with a new one', async () => {
    const client = await obtain('ML-DSA-65');
    for (const keys of [client.keys, await makeKeys('ML-DSA-65')]) {
      const reply = await appliance.enrol(ca, 'simplereenroll', await makeDeviceCsr(keys, name), { client });
      expect({ status: reply.status, protocol: reply.protocol }).toEqual({ status: 200, protocol: 'TLSv1.3' });
    }
  });

  test('over TLS 1.2 an ML-DSA certificate cannot be sent, and the 401 says so', async () => {
    const client = await obtain('ML-DSA-65');
    const reply = await appliance.enrol(ca, 'simplereenroll', await makeDeviceCsr(client.keys, name), { client, maxVersion: 'TLSv1.2' });
    expect(reply).toMatchObject({ status: 401, text: expect.stringMatching(/ML-DSA certificates need TLS 1\.3/) as string });
  });

  test('first enrolment with an ML-DSA birth certificate of a vendor, over an ML-DSA intermediate', async () => {
    const vendor = await makeIdentity({ key: 'ML-DSA-65', subject: 'CN=Vendor', ca: true });
    const middle = await makeIdentity({ key: 'ML-DSA-65', subject: 'CN=Middle', ca: true, issuer: vendor });
    const client = await makeIdentity({ key: 'ML-DSA-44', subject: 'CN=serial', issuer: middle });
    const trusted = await appliance.makeCa({ 'ca-cert': vendor.pem });
    const from = await appliance.makeCa({ 'cert-key-type': 'ml-dsa-65', est: { ...openEst, 'initial-enroll-trust-ca': trusted } });
    const csr = await makeDeviceCsr(await makeKeys('ML-DSA-65'), name);
    expect((await appliance.enrol(from, 'simpleenroll', csr, { client, issuers: [middle] })).status).toBe(200);
    expect((await appliance.enrol(from, 'simpleenroll', csr, { client })).status).toBe(401);
  });

  test('an ML-DSA intermediate under an ML-DSA root, a renewal with roll-over, and a CRL', async () => {
    const root = await appliance.makeCa({ 'cert-key-type': 'ml-dsa-87' });
    const below = await appliance.makeCa({ 'cert-key-type': 'ml-dsa-65', 'issuing-ca': root, est: openEst });
    const [own, above] = [
      new X509Certificate((await appliance.state(below))['ca-cert']),
      new X509Certificate((await appliance.state(root))['ca-cert']),
    ];
    expect(own.verify(above.publicKey)).toBe(true);
    expect((await appliance.act(root, 'renew')).status).toBe(200);
    expect((await enrol(await makeKeys('ML-DSA-65'), below)).status).toBe(200);
    const crl = await send(appliance.url, new URL((await appliance.state(below))['crl-url']).pathname);
    const parsed = new x509.X509Crl(new Uint8Array(crl.body));
    expect(
      await parsed.verify({ publicKey: new x509.PublicKey(new Uint8Array(own.publicKey.export({ format: 'der', type: 'spki' }))) }),
    ).toBe(true);
  });

  test('csrattrs asks for an ML-DSA key', async () => {
    const der = Buffer.from((await appliance.call(ca, 'csrattrs')).text, 'base64').toString('hex');
    expect(der).toContain('0609608648016503040312');
  });
});

/** A request whose key's AlgorithmIdentifier carries NULL, which RFC 9881 forbids; the self-signature is right. */
function requestWithNullParameters(): Buffer {
  const { publicKey, privateKey } = generateKeyPairSync('ml-dsa-65');
  const id = objectIdentifier('2.16.840.1.101.3.4.3.18');
  const spki = sequence(sequence(id, nullValue), bitString(bitStringOfPublicKey(publicKey.export({ format: 'der', type: 'spki' }))));
  const info = sequence(integer(0), commonName(name), spki, explicit(0));
  return Buffer.from(sequence(info, sequence(id), bitString(sign(null, info, privateKey))));
}

/** A first enrolment with the shared secret. */
async function enrol(keys: Keys, from = ca): Promise<Reply> {
  return appliance.enrol(from, 'simpleenroll', await makeDeviceCsr(keys, name), { headers: { Authorization: basic(secret) } });
}

/** Enrols and holds the certificate. */
async function obtain(key: KeyName, from = ca): Promise<Identity> {
  const keys = await makeKeys(key);
  const [certificate] = readCertsOnly((await enrol(keys, from)).text);
  if (certificate === undefined) throw new Error('no certificate');
  return { keys, certificate: certificate.raw, pem: certificate.toString() };
}
