// The service `certificate-authority` as a protocol with CMS messages uses it: an exchange of RFC 8894, its registration authority with a key
// in the token, revocation lists and certificates by serial number.
import { constants, createPrivateKey, privateDecrypt, randomBytes, sign, X509Certificate } from 'node:crypto';
import * as pkijs from 'pkijs';
import { beforeAll, describe, expect, test } from 'vitest';
import { encodeCertsOnly } from '../../../core/cms/certs-only.ts';
import { decryptContent, findRecipient, readEnvelopedData } from '../../../core/cms/enveloped-data.ts';
import { readSignedData, verifySignedData } from '../../../core/cms/signed-data.ts';
import { writeEnvelopedData } from '../../../core/cms/write-enveloped-data.ts';
import { writeSignedData } from '../../../core/cms/write-signed-data.ts';
import { encode, octetString, Reader, tag } from '../../../core/der/der.ts';
import type {
  CertificateAuthorities,
  CertificateAuthority,
  RegistrationAuthority,
} from '../../../core/plugin/services/certificate-authority.ts';
import { WrappingRotation } from '../../../appliance/wrapping-keys/rotation.ts';
import { caKeyHolders } from '../../../plugins/ca/authority/generation.ts';
import { openCaContext } from '../../../plugins/ca/context.ts';
import { readCertificate } from '../../../plugins/ca/der/certificate.ts';
import { silentLog } from '../../harness/log.ts';
import { openEst, startEstAppliance, type EstAppliance, estParts } from '../est/est-appliance.ts';
import { type Identity, makeDeviceCsr, makeIdentity, readCertsOnly } from './pki.ts';

/** Attributes of a SCEP message (RFC 8894 3.2.1). */
const scep = {
  messageType: '2.16.840.1.113733.1.9.2',
  pkiStatus: '2.16.840.1.113733.1.9.3',
  failInfo: '2.16.840.1.113733.1.9.4',
  senderNonce: '2.16.840.1.113733.1.9.5',
  recipientNonce: '2.16.840.1.113733.1.9.6',
  transactionId: '2.16.840.1.113733.1.9.7',
};
const known = new Set(Object.values(scep));
const printable = (text: string): Uint8Array => encode(tag.printableString, Buffer.from(text));
const textOf = (der: Uint8Array | undefined): string => Buffer.from(new Reader(der ?? new Uint8Array(0)).next().content).toString('latin1');

let appliance: EstAppliance;
let authorities: CertificateAuthorities;

beforeAll(async () => {
  appliance = await startEstAppliance();
  ({ authorities } = estParts(appliance));
});

function find(name: string): CertificateAuthority {
  appliance.store.refresh();
  const found = authorities.find(appliance.tenantId, name);
  if (found === undefined) throw new Error(`there is no CA ${name}`);
  return found;
}

async function registrationOf(name: string): Promise<RegistrationAuthority> {
  const registration = await find(name).registrationAuthority();
  if (registration === undefined) throw new Error('the CA has no registration authority');
  return registration;
}

/** What a device with an RSA key and the certificate that it has signed itself sends, as SCEP clients do (RFC 8894 3.3.1). */
async function requestOf(device: Identity, registration: RegistrationAuthority, name: string, transaction: string): Promise<Uint8Array> {
  const csr = await makeDeviceCsr(device.keys, name);
  const envelope = { recipient: registration.certificate, cipher: 'aes-128-cbc', transport: { padding: 'oaep', hash: 'sha256' } } as const;
  return writeSignedData({
    content: writeEnvelopedData({ content: csr, ...envelope }),
    signer: { certificate: device.certificate, sign: async (hash, octets) => sign(hash, octets, createPrivateKey(device.keys.pem)) },
    hash: 'sha256',
    signingTime: Temporal.Now.instant(),
    attributes: new Map([
      [scep.messageType, printable('19')],
      [scep.transactionId, printable(transaction)],
      [scep.senderNonce, octetString(randomBytes(16))],
    ]),
  });
}

/** What a server answers to a request that it grants (RFC 8894 3.3.2). */
async function grant(ca: CertificateAuthority, registration: RegistrationAuthority, message: Uint8Array): Promise<Uint8Array> {
  const { content, signer, hash, cipher, transport, attributes } = await registration.open(message, known);
  const { certificate } = await ca.readRequest(content).approve().issue({ via: 'scep' });
  return registration.answer({
    content: { content: encodeCertsOnly([certificate]), recipient: signer, cipher, transport },
    hash,
    attributes: new Map([
      [scep.messageType, printable('3')],
      [scep.pkiStatus, printable('0')],
      [scep.transactionId, attributes.get(scep.transactionId) ?? new Uint8Array(0)],
      [scep.recipientNonce, attributes.get(scep.senderNonce) ?? new Uint8Array(0)],
    ]),
  });
}

/** The content of an answer, by the key of the device. */
function open(answer: Uint8Array, device: Identity, registration: RegistrationAuthority): Uint8Array {
  const read = readSignedData(answer, known);
  verifySignedData(read, new X509Certificate(registration.certificate).publicKey);
  const enveloped = readEnvelopedData(read.content ?? new Uint8Array(0));
  const { issuer, serial } = readCertificate(device.certificate);
  const recipient = findRecipient(enveloped, { issuer, serial: Buffer.from(serial, 'hex') });
  const opening = { key: device.keys.pem, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' };
  return decryptContent(enveloped, privateDecrypt(opening, recipient?.encryptedKey ?? new Uint8Array(0)));
}

describe.each([
  ['ecdsa', {}],
  ['rsa', { 'cert-key-type': 'rsa', 'cert-key-bits': 2048 }],
])('a CA with key %s', (_title, fields) => {
  let ca: string;
  let device: Identity;

  beforeAll(async () => {
    ca = await appliance.makeCa({ ...fields, est: openEst });
    device = await makeIdentity({ key: 'RSA-2048', subject: 'CN=device.example.test' });
  });

  test('answers a request that is encrypted for its registration authority with the certificate, encrypted for the device', async () => {
    const registration = await registrationOf(ca);
    const message = await requestOf(device, registration, 'device.example.test', 'AB/+01=');
    const answer = await grant(find(ca), registration, message);
    const { signer } = readSignedData(answer, known);
    expect(textOf(signer.attributes.get(scep.transactionId))).toBe('AB/+01=');
    expect(textOf(signer.attributes.get(scep.pkiStatus))).toBe('0');
    const sent = readSignedData(message, known).signer.attributes.get(scep.senderNonce);
    expect(signer.attributes.get(scep.recipientNonce)).toEqual(sent);
    const [certificate, ...more] = readCertsOnly(Buffer.from(open(answer, device, registration)).toString('base64'));
    expect([certificate?.subject, more]).toEqual(['CN=device.example.test', []]);
    expect(certificate?.checkIssued(new X509Certificate(find(ca).trustedCertificates()[0] as Uint8Array))).toBe(true);

    const held = find(ca).findBySerial(readCertificate(certificate?.raw as Uint8Array).serial);
    expect(held).toMatchObject({ problem: undefined });
    expect(Buffer.from(held?.certificate ?? []).equals(certificate?.raw as Buffer)).toBe(true);
  });

  test('has a registration authority with a certificate of its own, for nothing else, that both kinds of clients take', async () => {
    const { certificate } = await registrationOf(ca);
    const read = new X509Certificate(certificate);
    expect(read.verify(new X509Certificate(find(ca).trustedCertificates()[0] as Uint8Array).publicKey)).toBe(true);
    expect(read.publicKey.asymmetricKeyDetails).toMatchObject({ modulusLength: 2_048 });
    expect(read.keyUsage).toEqual(['1.3.6.1.5.5.7.3.28']);
    const { extensions } = pkijs.Certificate.fromBER(new Uint8Array(certificate).buffer);
    const usage = extensions?.find(({ extnID }) => extnID === '2.5.29.15')?.parsedValue as { valueBlock: { valueHexView: Uint8Array } };
    // digitalSignature and keyEncipherment
    expect(usage.valueBlock.valueHexView[0]).toBe(0b1010_0000);
    expect(find(ca).findIssued(certificate)).toMatchObject({ problem: 'not-for-clients' });
    expect((await registrationOf(ca)).certificate).toEqual(certificate);
  });

  test('lists a revoked certificate, which is then found as such', async () => {
    const registration = await registrationOf(ca);
    const answer = await grant(find(ca), registration, await requestOf(device, registration, 'gone.example.test', '1'));
    const [certificate] = readCertsOnly(Buffer.from(open(answer, device, registration)).toString('base64'));
    const { serial } = readCertificate(certificate?.raw as Uint8Array);
    expect((await appliance.act(ca, 'revoke', { serial, reason: 'superseded' })).status).toBe(200);
    expect(find(ca).findBySerial(serial)).toMatchObject({ problem: 'revoked' });
    const list = pkijs.CertificateRevocationList.fromBER(new Uint8Array(await find(ca).revocationList()).buffer);
    const listed = list.revokedCertificates?.map(({ userCertificate }) =>
      Buffer.from(userCertificate.valueBlock.valueHexView).toString('hex'),
    );
    expect(listed).toContain(serial);
    expect(find(ca).findBySerial('00')).toBeUndefined();
  });

  test('refuses what is not signed, not encrypted for it, or encrypted in another way', async () => {
    const registration = await registrationOf(ca);
    const message = await requestOf(device, registration, 'device.example.test', '2');
    const other = await registrationOf(await appliance.makeCa({ est: openEst }));
    await expect(other.open(message, known)).rejects.toMatchObject({ name: 'CmsError', fault: 'undecryptable' });
    const changed = Uint8Array.from(message);
    changed[changed.length - 1] = (changed.at(-1) as number) ^ 1;
    await expect(registration.open(changed, known)).rejects.toMatchObject({ fault: 'not-signed' });
    const signer = {
      certificate: device.certificate,
      sign: async (hash: string, octets: Uint8Array) => sign(hash, octets, createPrivateKey(device.keys.pem)),
    };
    const by = (content: Uint8Array | undefined, attributes = new Map<string, Uint8Array>()) =>
      writeSignedData({ content, signer, hash: 'sha256', signingTime: Temporal.Now.instant(), attributes });
    await expect(registration.open(await by(undefined), known)).rejects.toMatchObject({ fault: 'malformed' });
    await expect(registration.open(await by(randomBytes(100)), known)).rejects.toMatchObject({ fault: 'malformed' });
    const pkcs1 = {
      content: randomBytes(9),
      recipient: registration.certificate,
      cipher: 'aes-128-cbc',
      transport: { padding: 'pkcs1v15' },
    } as const;
    await expect(registration.open(await by(writeEnvelopedData(pkcs1)), known)).rejects.toMatchObject({ fault: 'unsupported' });
    const unknown = await makeIdentity({ key: 'RSA-2048' });
    const unsigned = { ...signer, certificate: unknown.certificate };
    const asOther = await writeSignedData({
      content: randomBytes(9),
      signer: unsigned,
      hash: 'sha256',
      signingTime: Temporal.Now.instant(),
      attributes: new Map(),
    });
    await expect(registration.open(asOther, known)).rejects.toMatchObject({ fault: 'not-signed' });
  });

  test('opens what was encrypted before a renewal, after which there is another certificate', async () => {
    const before = await registrationOf(ca);
    const message = await requestOf(device, before, 'device.example.test', '3');
    const { serial } = readCertificate(before.certificate);
    expect((await appliance.act(ca, 'revoke', { serial, reason: 'key-compromise' })).status).toBe(200);
    const [after, again] = await Promise.all([registrationOf(ca), registrationOf(ca)]);
    expect(after.certificate).not.toEqual(before.certificate);
    expect(again.certificate).toEqual(after.certificate);
    expect(Buffer.from((await after.open(message, known)).content).length).toBeGreaterThan(0);
  });
});

test('an answer without content is signed, too', async () => {
  const registration = await registrationOf(await appliance.makeCa({ est: openEst }));
  const attributes = new Map([[scep.pkiStatus, printable('3')]]);
  const read = readSignedData(await registration.answer({ content: undefined, hash: 'sha512', attributes }), known);
  verifySignedData(read, new X509Certificate(registration.certificate).publicKey);
  expect([read.content, textOf(read.signer.attributes.get(scep.pkiStatus))]).toEqual([undefined, '3']);
});

test('settings are of a protocol, and undefined where it is off', async () => {
  const settings = async (est: object) => find(await appliance.makeCa({ est })).enrolment('est');
  expect(await settings({})).toBeUndefined();
  expect(find(await appliance.makeCa({ est: openEst })).enrolment('another')).toBeUndefined();
  expect(await settings({ ...openEst, 'allow-reenroll-with-issued-cert': false })).toEqual({
    sharedSecret: 'first:enrolment secret',
    takesTrustedCertificates: false,
    renewsHeldCertificates: false,
  });
});

test('its key is among those that get a new wrapping key', async () => {
  const ca = await appliance.makeCa({ est: openEst });
  const { certificate } = await registrationOf(ca);
  appliance.store.refresh();
  const { hsm, clock, store } = appliance;
  const rotation = new WrappingRotation({ store, hsm, clock });
  const context = openCaContext({ hsm, clock, rotation, store: store.prefixed('est'), log: silentLog, publicUrl: () => undefined });
  const { id } = find(ca);
  const holder = Array.from(caKeyHolders(context)).find(({ keys }) => keys.some(({ binding }) => binding.keyId === id));
  const [key] = holder?.keys.filter(({ binding }) => binding.purpose === 'ra') ?? [];
  if (holder === undefined || key === undefined) throw new Error('no holder has the key of the registration authority');
  const rewrapped = { ...key.stored, blob: randomBytes(8) };
  await store.write((transaction) => expect(holder.replace(transaction, new Map([[key.stored, rewrapped]]))).toBe(1));
  store.refresh();
  const [registration] = context.tables.cas.get([appliance.tenantId, ca])?.registrations ?? [];
  expect(registration?.certificate).toEqual(certificate);
  expect(Buffer.from(registration?.key.stored.blob ?? []).equals(rewrapped.blob)).toBe(true);
});

test('processes that make one at the same time use the same, and one certificate is on record', async () => {
  const ca = await appliance.makeCa({ est: openEst });
  appliance.store.refresh();
  const processes = [authorities, estParts(appliance).authorities, estParts(appliance).authorities];
  const made = await Promise.all(processes.map(async (process) => process.find(appliance.tenantId, ca)?.registrationAuthority()));
  const [first] = made;
  for (const one of made) expect(one?.certificate).toEqual(first?.certificate);
  appliance.store.refresh();
  const { body } = await appliance.request('GET', `/v1/state/keystore/tls/ca/${ca}/certificates`);
  const issued = (body as readonly { readonly via: string }[]).filter(({ via }) => via === 'registration-authority');
  expect(issued).toHaveLength(1);
  // Each of them opens what was encrypted for it.
  const device = await makeIdentity({ key: 'RSA-2048', subject: 'CN=device.example.test' });
  if (first === undefined) throw new Error('the CA has no registration authority');
  const message = await requestOf(device, first, 'device.example.test', '7');
  for (const one of made) expect((await one?.open(message, known))?.content.length).toBeGreaterThan(0);
});

test('the keys of a registration authority go with its CA', async () => {
  const ca = await appliance.makeCa({ est: openEst, 'deletion-allowed': true });
  await registrationOf(ca);
  expect((await appliance.request('DELETE', `/v1/config/keystore/tls/ca/${ca}`)).status).toBe(204);
  appliance.store.refresh();
  expect(authorities.find(appliance.tenantId, ca)).toBeUndefined();
});
