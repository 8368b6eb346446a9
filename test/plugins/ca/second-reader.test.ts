// Everything a CA writes, read by pkijs, a second implementation: field by field it says what our own reader says, for every key type.
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as pkijs from 'pkijs';
import { beforeAll, describe, expect, test } from 'vitest';
import { readDer } from '../../../core/base/texts/pem.ts';
import { type Certificate, readCertificate } from '../../../plugins/ca/der/certificate.ts';
import { makeNssToken, obtainNss } from '../../harness/token/nss.ts';
import { makeSoftToken } from '../../harness/token/softhsm.ts';
import { basic, send } from '../est/client.ts';
import { type EstAppliance, openEst, secret, startEstAppliance } from '../est/est-appliance.ts';
import { file, openssl } from '../est/openssl.ts';
import { type KeyName, makeDeviceCsr, makeKeys } from './pki.ts';

/** CA key with the key of a device, the algorithm that signs, and whether pkijs can verify it. */
const rows: readonly (readonly [name: string, fields: object, device: KeyName, algorithm: string, verifies: boolean])[] = [
  ['ecdsa secp256r1', {}, 'P-256', '1.2.840.10045.4.3.2', true],
  ['ecdsa secp384r1', { 'cert-key-curve': 'secp384r1' }, 'P-384', '1.2.840.10045.4.3.3', true],
  ['ecdsa secp521r1', { 'cert-key-curve': 'secp521r1' }, 'RSA-2048', '1.2.840.10045.4.3.4', true],
  ['rsa 2048', { 'cert-key-type': 'rsa', 'cert-key-bits': 2048 }, 'Ed25519', '1.2.840.113549.1.1.11', true],
  ['ed25519', { 'cert-key-type': 'ed25519' }, 'P-521', '1.3.101.112', false],
];
const mlDsaRows: typeof rows = [
  ['ml-dsa-44', { 'cert-key-type': 'ml-dsa-44' }, 'ML-DSA-44', '2.16.840.1.101.3.4.3.17', false],
  ['ml-dsa-65', { 'cert-key-type': 'ml-dsa-65' }, 'ML-DSA-65', '2.16.840.1.101.3.4.3.18', false],
  ['ml-dsa-87', { 'cert-key-type': 'ml-dsa-87' }, 'ML-DSA-87', '2.16.840.1.101.3.4.3.19', false],
];

const nss = await obtainNss();
let appliance: EstAppliance;

beforeAll(async () => {
  appliance = await startEstAppliance({
    tokens: async (directory) => [await makeSoftToken(directory), ...('missing' in nss ? [] : [await makeNssToken(nss, directory)])],
  });
});

const hex = (octets: ArrayBuffer | Uint8Array): string =>
  Buffer.from(octets instanceof Uint8Array ? octets : new Uint8Array(octets)).toString('hex');
const derOf = (pem: string, label = 'CERTIFICATE'): readonly Uint8Array[] => readDer(pem, label) ?? [];

/** What pkijs reads of a certificate, in the words of our own reader. */
function fieldsOf(one: pkijs.Certificate): object {
  return {
    serial: hex(one.serialNumber.valueBlock.valueHexView),
    issuer: hex(one.issuer.toSchema().toBER()),
    subject: hex(one.subject.toSchema().toBER()),
    notBefore: one.notBefore.value.toISOString(),
    notAfter: one.notAfter.value.toISOString(),
    publicKey: hex(one.subjectPublicKeyInfo.toSchema().toBER()),
    extensions: (one.extensions ?? []).map(({ extnID, critical, extnValue }) => [extnID, critical, hex(extnValue.valueBlock.valueHexView)]),
  };
}

function ownFields(certificate: Certificate): object {
  const time = (instant: Temporal.Instant): string => new Date(instant.epochMilliseconds).toISOString();
  return {
    serial: certificate.serial,
    issuer: hex(certificate.issuer),
    subject: hex(certificate.subject),
    notBefore: time(certificate.notBefore),
    notAfter: time(certificate.notAfter),
    publicKey: hex(certificate.publicKey),
    extensions: [...certificate.extensions.values()].map(({ id, critical, value }) => [id, critical, hex(value)]),
  };
}

/** Reads a certificate both ways; the answer is that of pkijs. */
function readBoth(der: Uint8Array, algorithm: string): pkijs.Certificate {
  const one = pkijs.Certificate.fromBER(der.slice().buffer);
  expect(fieldsOf(one)).toEqual(ownFields(readCertificate(der)));
  expect(one.version).toBe(2);
  expect([one.signature.algorithmId, one.signatureAlgorithm.algorithmId]).toEqual([algorithm, algorithm]);
  // Encoded again from its fields: no other DER says the same.
  expect(hex(one.toSchema(true).toBER())).toBe(hex(der));
  return one;
}

function parsed<T>(certificate: pkijs.Certificate, id: string): T {
  return certificate.extensions?.find(({ extnID }) => extnID === id)?.parsedValue as T;
}

describe.each([...rows, ...('missing' in nss ? [] : mlDsaRows)])(
  'what a CA with key %s writes, read by pkijs',
  (_name, fields, device, algorithm, verifies) => {
    let ca: string;
    let root: pkijs.Certificate;
    let leaf: pkijs.Certificate;
    let leafDer: Uint8Array;
    /** pkijs 3.4.3 verifies neither Ed25519 nor ML-DSA. */
    const verified = async (verify: () => Promise<boolean>): Promise<boolean> => !verifies || (await verify());

    beforeAll(async () => {
      ca = await appliance.makeCa({ ...fields, est: openEst });
      const [der] = derOf((await appliance.state(ca))['ca-cert']);
      if (der === undefined) throw new Error('a CA has a certificate');
      root = readBoth(der, algorithm);
      const csr = await makeDeviceCsr(await makeKeys(device), 'device.example.test');
      const reply = await appliance.enrol(ca, 'simpleenroll', csr, { headers: { Authorization: basic(secret) } });
      expect(reply.status, reply.text).toBe(200);
      const content = pkijs.ContentInfo.fromBER(new Uint8Array(Buffer.from(reply.text, 'base64')));
      expect(content.contentType).toBe(pkijs.ContentInfo.SIGNED_DATA);
      const signed = new pkijs.SignedData({ schema: content.content });
      expect([signed.version, signed.digestAlgorithms, signed.signerInfos, signed.crls]).toEqual([1, [], [], undefined]);
      expect([signed.encapContentInfo.eContentType, signed.encapContentInfo.eContent]).toEqual([pkijs.ContentInfo.DATA, undefined]);
      const [first, ...more] = signed.certificates ?? [];
      expect(more).toEqual([]);
      leafDer = new Uint8Array((first as pkijs.Certificate).toSchema(true).toBER());
      leaf = readBoth(leafDer, algorithm);
    });

    test('certificates: constraints, usages, identifiers, names and addresses', async () => {
      expect(parsed<pkijs.BasicConstraints>(root, '2.5.29.19').cA).toBe(true);
      expect(parsed<pkijs.BasicConstraints>(leaf, '2.5.29.19').cA).toBe(false);
      expect(parsed<pkijs.ExtKeyUsage>(leaf, '2.5.29.37').keyPurposes).toEqual(['1.3.6.1.5.5.7.3.2']);
      const names = parsed<pkijs.AltName>(leaf, '2.5.29.17').altNames.map(({ type, value }) => [type, value as string]);
      expect(names).toEqual([[2, 'device.example.test']]);
      const above = parsed<{ valueBlock: { valueHexView: Uint8Array } }>(root, '2.5.29.14').valueBlock.valueHexView;
      const authority = parsed<pkijs.AuthorityKeyIdentifier>(leaf, '2.5.29.35').keyIdentifier?.valueBlock.valueHexView;
      expect(hex(authority ?? new Uint8Array())).toBe(hex(above));
      const { 'crl-url': crlUrl, 'ocsp-url': ocspUrl } = await appliance.state(ca);
      const [access] = parsed<pkijs.InfoAccess>(leaf, '1.3.6.1.5.5.7.1.1').accessDescriptions;
      expect(access?.accessLocation.value).toBe(ocspUrl);
      const [point] = parsed<pkijs.CRLDistributionPoints>(leaf, '2.5.29.31').distributionPoints;
      const [address] = (point?.distributionPoint ?? []) as pkijs.GeneralName[];
      expect(String(address?.value)).toMatch(new RegExp(`^${crlUrl}(/1)?$`));
      expect(await verified(() => root.verify(root))).toBe(true);
      expect(await verified(() => leaf.verify(root))).toBe(true);
    });

    test('the certificate in words says the names, the validity, the key and every extension', async () => {
      const { serial } = readCertificate(leafDer);
      const { body } = await appliance.request('GET', `/v1/state/keystore/tls/ca/${ca}/certificates/${serial}`);
      const text: string = body.text;
      for (const word of [
        'Issuer: CN=',
        'Subject: CN=device.example.test',
        'Not After: ',
        '  digitalSignature',
        'DNS: device.example.test',
      ])
        expect(text).toContain(word);
      const titles = ['Basic Constraints: critical', 'Key Usages: critical', 'Extended Key Usages:', 'Subject Alternative Name:'];
      for (const title of titles) expect(text).toContain(`      ${title}\n`);
      expect(text.replaceAll(/[^0-9a-f]/g, '')).toContain(serial.slice(0, 32));
      // As short for a key of ML-DSA, and without the signature.
      expect(text.split('\n').length).toBeLessThan(50);
      expect(text).not.toMatch(/^ {2}Signature:|(?:^ +[0-9a-f]{2} .*\n){4}/m);
    });

    test('the request of the CA for a certificate from outside', async () => {
      const [der] = derOf((await appliance.act(ca, 'csr')).body.csr, 'CERTIFICATE REQUEST');
      const request = pkijs.CertificationRequest.fromBER((der ?? new Uint8Array()).slice().buffer);
      expect(hex(request.subject.toSchema().toBER())).toBe(hex(root.subject.toSchema().toBER()));
      expect(hex(request.subjectPublicKeyInfo.toSchema().toBER())).toBe(hex(root.subjectPublicKeyInfo.toSchema().toBER()));
      expect([request.version, request.signatureAlgorithm.algorithmId]).toEqual([0, algorithm]);
      expect(request.attributes?.map(({ type }) => type)).toEqual(['1.2.840.113549.1.9.14']);
      expect(hex(request.toSchema(true).toBER())).toBe(hex(der ?? new Uint8Array()));
      expect(await verified(() => request.verify())).toBe(true);
    });

    test('the revocation list and the OCSP response about a revoked certificate', async () => {
      const { serial } = readCertificate(leafDer);
      const { status } = await appliance.act(ca, 'revoke', { serial, reason: 'key-compromise' });
      expect(status).toBe(200);
      const { 'crl-url': crlUrl, 'ocsp-url': ocspUrl, 'ca-cert': caCert } = await appliance.state(ca);
      const list = await send(appliance.url, new URL(crlUrl).pathname);
      const crl = pkijs.CertificateRevocationList.fromBER(new Uint8Array(list.body).buffer);
      expect(crl.revokedCertificates?.map(({ userCertificate }) => hex(userCertificate.valueBlock.valueHexView))).toEqual([serial]);
      expect(hex(crl.issuer.toSchema().toBER())).toBe(hex(root.subject.toSchema().toBER()));
      expect([crl.version, crl.signature.algorithmId, crl.signatureAlgorithm.algorithmId]).toEqual([1, algorithm, algorithm]);
      expect(crl.crlExtensions?.extensions.map(({ extnID }) => extnID)).toEqual(['2.5.29.35', '2.5.29.20']);
      expect((crl.nextUpdate?.value.getTime() ?? 0) - crl.thisUpdate.value.getTime()).toBe((7 * 86_400 + 60) * 1_000);
      expect(hex(crl.toSchema(true).toBER())).toBe(list.body.toString('hex'));
      expect(crl.isCertificateRevoked(leaf)).toBe(true);
      expect(await verified(() => crl.verify({ issuerCertificate: root }))).toBe(true);

      const at = (name: string): string => join(appliance.directory, `${ca}-${name}`);
      const asked = ['-issuer', file(at('ca.pem'), caCert), '-cert', file(at('leaf.pem'), new X509Certificate(leafDer).toString())];
      expect(openssl('ocsp', ...asked, '-reqout', at('request.der')).code).toBe(0);
      const body = readFileSync(at('request.der'));
      const headers = { 'Content-Type': 'application/ocsp-request' };
      const answer = await send(appliance.url, new URL(ocspUrl).pathname, { method: 'POST', body, headers });
      const response = pkijs.OCSPResponse.fromBER(new Uint8Array(answer.body).buffer);
      expect(response.responseStatus.valueBlock.valueDec).toBe(0);
      const basicResponse = pkijs.BasicOCSPResponse.fromBER(
        response.responseBytes?.response.valueBlock.valueHexView.slice().buffer ?? new ArrayBuffer(0),
      );
      expect(basicResponse.signatureAlgorithm.algorithmId).toBe(algorithm);
      expect(await basicResponse.getCertificateStatus(leaf, root)).toEqual({ isForCertificate: true, status: 1 });
      expect(basicResponse.tbsResponseData.producedAt.getTime()).toBeGreaterThan(0);
      // The CA signs its responses itself and attaches no certificate; pkijs looks for the signer among those attached.
      basicResponse.certs = [root];
      expect(await verified(() => basicResponse.verify({ trustedCerts: [root] }))).toBe(true);
    });
  },
);
