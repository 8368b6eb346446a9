// Requests of every kind are read, verified and opened. refusals.test.ts has those that are refused.
import { beforeAll, describe, expect, test } from 'vitest';
import { encode, explicit, nullValue, octetString, Reader, sequence, setOf, tag } from '../../../../core/der/der.ts';
import { readCertificationRequest } from '../../../../plugins/scep/message/content.ts';
import { findRecipient } from '../../../../plugins/scep/message/envelope.ts';
import { readRequest, type ScepRequest } from '../../../../plugins/scep/message/request.ts';
import { readCertificate } from '../../../../plugins/scep/message/certificate.ts';
import { likeJscep, toBer } from '../../../harness/scep/ber.ts';
import {
  algorithm,
  attribute,
  type CipherName,
  digestOids,
  defaultTransactionId,
  type EnvelopeParts,
  ids,
  makeEnvelope,
  makeRequest,
  oid,
  printable,
  pssAlgorithm,
  type RequestParts,
  type SignedParts,
  type TransportName,
  withAlgorithm,
  wrapEnvelope,
} from '../../../harness/scep/messages.ts';
import { decryptKey, makeDeviceRequest, makeParty, type Party } from './parties.ts';

let device: Party;
let authority: Party;
let csr: Buffer;
beforeAll(async () => {
  device = await makeParty({ key: 'RSA-2048', subject: 'CN=device' });
  authority = await makeParty({ key: 'RSA-2048', subject: 'CN=RA' });
  csr = await makeDeviceRequest(device);
});

const envelope = (parts: Partial<EnvelopeParts> = {}): Uint8Array =>
  makeEnvelope({ content: csr, recipients: [authority.certificate], ...parts });
const request = (parts: Partial<RequestParts> = {}): Uint8Array => makeRequest({ signer: device, envelope: envelope(), ...parts });
const hex = (octets: Uint8Array | undefined): string => Buffer.from(octets ?? []).toString('hex');

/** The content that the authority finds. */
function opened({ envelope }: ScepRequest, by: Party = authority): Uint8Array {
  const recipient = findRecipient(envelope, readCertificate(by.certificate));
  if (recipient === undefined) throw new Error('the message is not for this authority');
  return envelope.open(decryptKey(by, recipient));
}

/** Reads it wholly, as a server does. */
function expectGood(octets: Uint8Array): ScepRequest {
  const read = readRequest(octets);
  expect(read.verifySignature()).toBe(true);
  const content = readCertificationRequest(opened(read), read.signer);
  expect([hex(content.der), content.challengePassword]).toEqual([hex(csr), 'open sesame']);
  return read;
}

describe('a request is read', () => {
  test('with all that it says', () => {
    const senderNonce = Buffer.alloc(16, 7);
    const read = expectGood(request({ senderNonce, messageType: '17' }));
    expect(read).toMatchObject({ messageType: 17, transactionId: defaultTransactionId, digest: 'sha256', oldAlgorithms: [] });
    expect(read).toMatchObject({ signatureAlgorithm: { scheme: 'rsa-pkcs1v15' }, signer: { key: { type: 'rsa' } } });
    expect([hex(read.senderNonce), hex(read.signer.der)]).toEqual([hex(senderNonce), hex(device.certificate)]);
    expect(read.certificates.map(hex)).toEqual([hex(device.certificate)]);
  });

  const ciphers = ['aes-128-cbc', 'aes-192-cbc', 'aes-256-cbc', 'des-ede3-cbc', 'des-cbc'] as const;
  const transports = ['pkcs1', 'pkcs1-bare', 'oaep-sha1', 'oaep-sha256', 'oaep-sha384', 'oaep-sha512'] as const;
  test.each(ciphers.flatMap((cipher) => transports.map((transport): [CipherName, TransportName] => [cipher, transport])))(
    'with %s and %s',
    (cipher, transport) => {
      const read = expectGood(request({ envelope: envelope({ cipher, transport }) }));
      expect(read.envelope.contentCipher).toBe(cipher);
      expect(read.oldAlgorithms).toEqual(cipher.startsWith('des') ? [cipher] : []);
      const hash = transport.slice(5);
      expect(read.envelope.recipients[0]?.keyTransport).toEqual(
        transport.startsWith('pkcs1') ? { padding: 'pkcs1v15' } : { padding: 'oaep', hash },
      );
    },
  );

  const digests = ['md5', 'sha1', 'sha256', 'sha384', 'sha512'] as const;
  test.each(digests.flatMap((digest) => (['plain', 'named', 'pss'] as const).map((signature) => [digest, signature] as const)))(
    'with %s, signed %s',
    (digest, signature) => {
      const read = expectGood(request({ digest, signature }));
      expect(read.digest).toBe(digest);
      expect(read.oldAlgorithms).toEqual(digest === 'md5' || digest === 'sha1' ? [digest] : []);
      expect(read.signatureAlgorithm.scheme).toBe(signature === 'pss' ? 'rsa-pss' : 'rsa-pkcs1v15');
    },
  );

  test.each(['P-256', 'P-384', 'P-521'] as const)('signed with ECDSA on %s', async (key) => {
    const signer = await makeParty({ key, subject: 'CN=device' });
    for (const digest of ['sha1', 'sha256', 'sha384', 'sha512'] as const)
      expect(expectGood(request({ signer, digest })).signer.key.type).toBe('ec');
  });

  test('in BER, as jscep and micromdm write it', () => {
    const inner = toBer(envelope(), likeJscep);
    const der = request({ envelope: inner });
    expectGood(der);
    expectGood(toBer(der, likeJscep));
    for (const pieceLength of [1, 8, 16, 1_000, 5_000])
      expectGood(toBer(request(), { isIndefinite: () => false, zerosOfLength: () => 0, pieceLength: () => pieceLength }));
    expectGood(toBer(request(), { isIndefinite: () => false, zerosOfLength: () => 1, pieceLength: () => 0 }));
  });

  test('whose encrypted content is in pieces', () => {
    const whole = envelope();
    const fields = new Reader(
      new Reader(new Reader(new Reader(whole).next().content).rest().toArray()[1]?.content ?? whole).next().content,
    );
    const [, recipients, encrypted] = fields.rest().toArray();
    const [type, cipher, sealed] = new Reader(encrypted?.content ?? whole).rest().toArray();
    const { content } = sealed ?? { content: whole };
    const pieces = encode(tag.constructed(0), octetString(content.subarray(0, 100)), octetString(content.subarray(100)));
    const again = wrapEnvelope(recipients?.whole ?? whole, sequence(type?.whole ?? whole, cipher?.whole ?? whole, pieces));
    expectGood(request({ envelope: again }));
  });

  test('for one of several recipients, wherever it is, and by its key identifier', async () => {
    const others = [await makeParty({ key: 'RSA-2048', subject: 'CN=other' }), await makeParty({ key: 'RSA-3072', subject: 'CN=RA' })];
    const certificates = others.map(({ certificate }) => certificate);
    expectGood(request({ envelope: envelope({ recipients: [...certificates, authority.certificate] }) }));
    const { subjectKeyId } = readCertificate(authority.certificate);
    if (subjectKeyId === undefined) throw new Error('the certificate has no key identifier');
    expectGood(request({ envelope: envelope({ subjectKeyId }) }));
    const foreign = readRequest(request({ envelope: envelope({ recipients: certificates }) }));
    expect(findRecipient(foreign.envelope, readCertificate(authority.certificate))).toBeUndefined();
  });

  test('whose signer is named by its key identifier, among other certificates', () => {
    const { subjectKeyId } = readCertificate(device.certificate);
    if (subjectKeyId === undefined) throw new Error('the certificate has no key identifier');
    const certificates = [authority.certificate, device.certificate];
    expect(expectGood(request({ subjectKeyId, certificates })).certificates.length).toBe(2);
  });

  test('whose attributes are not in the order of DER, signed as they are or as DER has them', () => {
    const attributes = (all: readonly Uint8Array[]): readonly Uint8Array[] => all.toReversed();
    expectGood(request({ attributes }));
    expectGood(request({ attributes, signsSorted: true }));
  });

  test('with attributes that nobody here knows, and parts that prove nothing', () => {
    expectGood(request({ attributes: (all) => [...all, attribute('1.2.3.4', printable('x'))] }));
    const extended = (content: Uint8Array, ...more: readonly Uint8Array[]): Uint8Array =>
      sequence(...new Reader(new Reader(content).next().content).rest().map(({ whole }) => whole), ...more);
    const change = (parts: SignedParts): SignedParts => ({
      ...parts,
      certificates: Buffer.concat([parts.certificates, encode(tag.constructed(1), sequence())]),
      signerInfos: setOf(extended(new Reader(parts.signerInfos).next().content, encode(tag.constructed(1), attribute('1.2.3', nullValue)))),
    });
    expectGood(request({ change }));
  });

  test('with CMSAlgorithmProtection that names its algorithms, as jscep has it', () => {
    const protection = (signature: string) =>
      attribute(
        '1.2.840.113549.1.9.52',
        sequence(algorithm(digestOids.sha256, nullValue), encode(tag.constructed(1), oid(signature), nullValue)),
      );
    expectGood(request({ attributes: (all) => [...all, protection(ids.rsa)] }));
    expect(() => readRequest(request({ attributes: (all) => [...all, protection('1.2.840.113549.1.1.5')] }))).toThrow(
      expect.objectContaining({ failInfo: 'badMessageCheck' }),
    );
  });
});

describe('a signature does not hold', () => {
  test('of another key, over another content, or over other attributes', () => {
    const others = [
      request({ signer: { certificate: device.certificate, privateKey: authority.privateKey } }),
      request({ change: (parts) => ({ ...parts, encapsulated: sequence(oid(ids.data), explicit(0, octetString(envelope()))) }) }),
      request({ attributes: (all) => all.map((one) => replaceNonce(one)), signsSorted: true, change: undoNonce }),
    ];
    for (const other of others) expect(readRequest(other).verifySignature()).toBe(false);
  });

  test('made with another scheme than the message says', () => {
    const swapped = (signed: 'plain' | 'pss', said: Uint8Array) =>
      request({
        signature: signed,
        change: (parts) => ({ ...parts, signerInfos: setOf(withAlgorithm(parts.signerInfos, said)) }),
      });
    expect(readRequest(swapped('plain', pssAlgorithm('sha256', 32))).verifySignature()).toBe(false);
    expect(readRequest(swapped('pss', pssAlgorithm('sha256', 20))).verifySignature()).toBe(false);
    expect(readRequest(swapped('pss', algorithm(ids.rsa, nullValue))).verifySignature()).toBe(false);
    expect(readRequest(swapped('plain', algorithm('1.2.840.10045.4.3.2'))).verifySignature()).toBe(false);
  });
});

const nonceOf = (octet: number): Uint8Array => attribute(ids.senderNonce, octetString(Buffer.alloc(16, octet)));
const replaceNonce = (one: Uint8Array): Uint8Array => (hex(one).includes(hex(oid(ids.senderNonce))) ? nonceOf(1) : one);
const undoNonce = (parts: SignedParts): SignedParts => ({
  ...parts,
  signerInfos: Buffer.from(hex(parts.signerInfos).replace(hex(nonceOf(1)), hex(nonceOf(2))), 'hex'),
});
