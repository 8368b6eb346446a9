// A device that speaks SCEP: it writes requests by test/harness/scep and reads answers with pkijs, verified and decrypted by node:crypto.
import {
  constants,
  createDecipheriv,
  createPrivateKey,
  type KeyObject,
  privateDecrypt,
  randomBytes,
  verify,
  X509Certificate,
} from 'node:crypto';
import * as pkijs from 'pkijs';
import { integer, sequence } from '../../../core/der/der.ts';
import { issuerAndSerial, makeEnvelope, makeRequest, namesOf, type EnvelopeParts, type RequestParts } from '../../harness/scep/messages.ts';
import { type Identity, makeCsr, makeIdentity, x509, type Keys } from '../ca/pki.ts';
import type { ScepAppliance } from './scep-appliance.ts';

export type Device = Identity & { readonly privateKey: KeyObject };

export async function makeDevice(subject = 'CN=dev.example.test', options: Parameters<typeof makeIdentity>[0] = {}): Promise<Device> {
  const identity = await makeIdentity({ key: 'RSA-2048', subject, ...options });
  return { ...identity, privateKey: createPrivateKey(identity.keys.pem) };
}

/** The device with the certificate that it got. */
export const holding = (device: Device, certificate: X509Certificate): Device => ({ ...device, certificate: certificate.raw });

export function csrOf(keys: Keys, password: string | undefined, name = 'dev.example.test', subject = `CN=${name}`): Promise<Buffer> {
  const attributes = password === undefined ? [] : [new x509.ChallengePasswordAttribute(password)];
  return makeCsr({ keys, subject, names: name === '' ? [] : [{ type: 'dns', value: name }], attributes });
}

/** What serves SCEP. */
export type Served = Pick<ScepAppliance, 'urlOf'>;

export type Reply = {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly text: string;
  /** 0 success, 2 failure, 3 pending; undefined: no message came */
  readonly pkiStatus: string | undefined;
  readonly failInfo: string | undefined;
  readonly failText: string | undefined;
  readonly transactionId: string | undefined;
  readonly recipientNonce: Buffer | undefined;
  /** decrypted content */
  readonly content: Buffer | undefined;
  readonly certificate: X509Certificate | undefined;
};

export type Asking = Partial<Omit<RequestParts, 'signer' | 'envelope'>> & {
  readonly envelope?: Partial<EnvelopeParts>;
  /** in place of the one that is made */
  readonly sealed?: Uint8Array;
  readonly by?: 'GET' | 'POST';
};

/** The certificate of the registration authority, as GetCACert gives it first; a server without one gives that of the CA alone, bare. */
export async function registrationOf(appliance: Served, ca: string): Promise<X509Certificate> {
  const response = await fetch(`${appliance.urlOf(ca)}?operation=GetCACert`);
  const octets = Buffer.from(await response.arrayBuffer());
  const isBare = response.headers.get('content-type') === 'application/x-x509-ca-cert';
  const [first] = isBare ? [new X509Certificate(octets)] : certificatesOf(octets);
  if (first === undefined) throw new Error('GetCACert has no certificate');
  return first;
}

/** In the order of the message, which readCertsOnly does not keep. */
export function certificatesOf(der: Buffer): X509Certificate[] {
  const info = pkijs.ContentInfo.fromBER(bufferOf(der));
  const { certificates = [] } = new pkijs.SignedData({ schema: info.content });
  return certificates.map((one) => new X509Certificate(Buffer.from(one.toSchema(true).toBER())));
}

/** Sends a message with this content, encrypted and signed, and reads the answer. */
export async function ask(appliance: Served, ca: string, device: Device, content: Uint8Array, asking: Asking = {}): Promise<Reply> {
  const registration = await registrationOf(appliance, ca);
  const { envelope = {}, sealed, by = 'POST', ...parts } = asking;
  const message = makeRequest({
    signer: device,
    envelope: sealed ?? makeEnvelope({ content, recipients: [registration.raw], ...envelope }),
    ...parts,
  });
  return send(appliance, ca, message, device, registration, by);
}

export async function send(
  appliance: Served,
  ca: string,
  message: Uint8Array,
  device: Device,
  registration: X509Certificate,
  by: 'GET' | 'POST' = 'POST',
): Promise<Reply> {
  const url = `${appliance.urlOf(ca)}?operation=PKIOperation`;
  const response =
    by === 'GET'
      ? await fetch(`${url}&message=${encodeURIComponent(Buffer.from(message).toString('base64'))}`)
      : await fetch(url, { method: 'POST', body: Buffer.from(message), headers: { 'content-type': 'application/octet-stream' } });
  const body = Buffer.from(await response.arrayBuffer());
  const isMessage = response.headers.get('content-type') === 'application/x-pki-message';
  const read = isMessage ? readReply(body, device, registration) : nothing;
  const retryAfter = response.headers.get('retry-after') ?? undefined;
  return { status: response.status, retryAfter, text: isMessage ? '' : body.toString(), ...read };
}

const nothing = {
  ...{ pkiStatus: undefined, failInfo: undefined, failText: undefined, transactionId: undefined },
  ...{ recipientNonce: undefined, content: undefined, certificate: undefined },
};

const attributeNames = { '9.3': 'pkiStatus', '9.4': 'failInfo', '9.6': 'recipientNonce', '9.7': 'transactionId' } as const;

function readReply(body: Buffer, device: Device, registration: X509Certificate): Omit<Reply, 'status' | 'text' | 'retryAfter'> {
  const info = pkijs.ContentInfo.fromBER(bufferOf(body));
  const signed = new pkijs.SignedData({ schema: info.content });
  const [signer] = signed.signerInfos;
  const attributes = signer?.signedAttrs;
  if (signer === undefined || attributes === undefined) throw new Error('the answer has no signature');
  const hashes: Readonly<Record<string, string>> = {
    // step-ca answers with it.
    '1.3.14.3.2.26': 'sha1',
    '2.16.840.1.101.3.4.2.1': 'sha256',
    '2.16.840.1.101.3.4.2.2': 'sha384',
    '2.16.840.1.101.3.4.2.3': 'sha512',
  };
  const hash = hashes[signer.digestAlgorithm.algorithmId] ?? 'none';
  if (!verify(hash, Buffer.from(attributes.encodedValue), registration.publicKey, Buffer.from(signer.signature.valueBlock.valueHexView)))
    throw new Error('the signature of the answer does not verify');
  const valueOf = (type: string): Buffer | undefined => {
    const found = attributes.attributes.find((one) => one.type === type)?.values[0] as
      | { valueBlock: { valueHexView: Uint8Array; value?: unknown } }
      | undefined;
    return found === undefined
      ? undefined
      : Buffer.from(typeof found.valueBlock.value === 'string' ? found.valueBlock.value : found.valueBlock.valueHexView);
  };
  const scep = (last: keyof typeof attributeNames): Buffer | undefined => valueOf(`2.16.840.1.113733.1.${last}`);
  const inside = signed.encapContentInfo.eContent?.getValue();
  const content = inside === undefined || inside.byteLength === 0 ? undefined : openEnvelope(Buffer.from(inside), device);
  return {
    pkiStatus: scep('9.3')?.toString(),
    failInfo: scep('9.4')?.toString(),
    failText: valueOf('1.3.6.1.5.5.7.24.1')?.toString(),
    transactionId: scep('9.7')?.toString(),
    recipientNonce: scep('9.6'),
    content,
    certificate: content === undefined ? undefined : certificatesOf(content)[0],
  };
}

function openEnvelope(der: Buffer, { privateKey, certificate }: Device): Buffer {
  const info = pkijs.ContentInfo.fromBER(bufferOf(der));
  const enveloped = new pkijs.EnvelopedData({ schema: info.content });
  const recipient = enveloped.recipientInfos[0]?.value as pkijs.KeyTransRecipientInfo;
  const { serial } = namesOf(certificate);
  const named = Buffer.from((recipient.rid as pkijs.IssuerAndSerialNumber).serialNumber.valueBlock.valueHexView);
  if (!Buffer.from(serial).subarray(-named.length).equals(named)) throw new Error('the answer is encrypted for another certificate');
  const key = privateDecrypt(
    { key: privateKey, padding: constants.RSA_PKCS1_PADDING },
    Buffer.from(recipient.encryptedKey.valueBlock.valueHexView),
  );
  const { contentEncryptionAlgorithm: algorithm, encryptedContent } = enveloped.encryptedContentInfo;
  const iv = Buffer.from((algorithm.algorithmParams as { valueBlock: { valueHexView: Uint8Array } }).valueBlock.valueHexView);
  const isOld = iv.length === 8;
  const whole = isOld && key.length === 8 ? Buffer.concat([key, key, key]) : key;
  const decipher = createDecipheriv(isOld ? 'des-ede3-cbc' : `aes-${key.length * 8}-cbc`, whole, iv);
  return Buffer.concat([decipher.update(Buffer.from(encryptedContent?.valueBlock.valueHexView ?? [])), decipher.final()]);
}

/** Contents of CertPoll, and of GetCert and GetCRL. */
export const issuerAndSubject = (issuer: X509Certificate, device: Device): Uint8Array => {
  const name = namesOf(issuer.raw).subject;
  return sequence(name, namesOf(device.certificate).subject);
};
export const serialOf = (certificate: X509Certificate): Uint8Array => issuerAndSerial(certificate.raw);
export const numberOf = (issuer: X509Certificate, serial: number): Uint8Array => sequence(namesOf(issuer.raw).subject, integer(serial));

export const newTransaction = (): string => randomBytes(20).toString('hex');

function bufferOf(octets: Uint8Array): ArrayBuffer {
  return new Uint8Array(octets).buffer;
}
