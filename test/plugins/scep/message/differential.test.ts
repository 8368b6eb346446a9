// Requests against OpenSSL and pkijs: those of pkijs are read here, and what holds here holds for OpenSSL, also of changed messages.
import { randomBytes } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import * as asn1js from 'asn1js';
import * as pkijs from 'pkijs';
import { beforeAll, describe, expect, test } from 'vitest';
import { ScepMalformed } from '../../../../plugins/scep/message/malformed.ts';
import { readRequest } from '../../../../plugins/scep/message/request.ts';
import { Dice } from '../../../fuzz/cases.ts';
import { drawInput } from '../../../fuzz/parsers/mutations.ts';
import { likeJscep, toBer } from '../../../harness/scep/ber.ts';
import { type DigestName, digestOids, ids, makeEnvelope, makeRequest, type RequestParts } from '../../../harness/scep/messages.ts';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { makeDeviceRequest, makeParty, type Party } from './parties.ts';

const path = temporaryDirectory();
let device: Party;
let onCurve: Party;
let envelope: Uint8Array;
beforeAll(async () => {
  device = await makeParty({ key: 'RSA-2048', subject: 'CN=device' });
  onCurve = await makeParty({ key: 'P-256', subject: 'CN=device' });
  const authority = await makeParty({ key: 'RSA-2048', subject: 'CN=RA' });
  envelope = makeEnvelope({ content: await makeDeviceRequest(device), recipients: [authority.certificate] });
});

const request = (parts: Partial<RequestParts> = {}): Uint8Array => makeRequest({ signer: device, envelope, ...parts });

/** Tells whether the signature holds for OpenSSL, which does not judge the certificate. */
function holdsForOpenssl(message: Uint8Array): boolean {
  writeFileSync(path('message'), message);
  const words = ['cms', '-verify', '-inform', 'DER', '-binary', '-noverify', '-in', path('message'), '-out', path('content')];
  return spawnSync('openssl', words).status === 0;
}

function holdsHere(message: Uint8Array): boolean {
  try {
    return readRequest(message).verifySignature();
  } catch (error) {
    if (!(error instanceof ScepMalformed)) throw error;
    return false;
  }
}

type Kind = 'rsa' | 'pss' | 'ec';
const hashes = { 'SHA-1': 'sha1', 'SHA-256': 'sha256', 'SHA-384': 'sha384', 'SHA-512': 'sha512' } as const;
const kinds: readonly Kind[] = ['rsa', 'pss', 'ec'];

/** A request that pkijs has written and signed; it cuts the content into pieces. */
async function ofPkijs(kind: Kind, hash: keyof typeof hashes): Promise<Uint8Array> {
  const party = kind === 'ec' ? onCurve : device;
  const certificate = pkijs.Certificate.fromBER(new Uint8Array(party.certificate).buffer);
  const names = { rsa: { name: 'RSASSA-PKCS1-v1_5', hash }, pss: { name: 'RSA-PSS', hash }, ec: { name: 'ECDSA', namedCurve: 'P-256' } };
  const pkcs8 = party.privateKey.export({ format: 'der', type: 'pkcs8' });
  const key = await crypto.subtle.importKey('pkcs8', new Uint8Array(pkcs8), names[kind], false, ['sign']);
  const digest = await crypto.subtle.digest(hash, new Uint8Array(envelope));
  const attribute = (type: string, value: unknown) => new pkijs.Attribute({ type, values: [value] });
  const octets = (value: Uint8Array) => new asn1js.OctetString({ valueHex: new Uint8Array(value).buffer });
  const attributes = [
    attribute(ids.contentType, new asn1js.ObjectIdentifier({ value: ids.data })),
    attribute(ids.messageDigest, octets(new Uint8Array(digest))),
    attribute(ids.messageType, new asn1js.PrintableString({ value: '19' })),
    attribute(ids.transactionId, new asn1js.PrintableString({ value: '0123' })),
    attribute(ids.senderNonce, octets(randomBytes(16))),
  ];
  const signed = new pkijs.SignedData({
    version: 1,
    encapContentInfo: new pkijs.EncapsulatedContentInfo({ eContentType: ids.data, eContent: octets(envelope) }),
    certificates: [certificate],
    signerInfos: [
      new pkijs.SignerInfo({
        version: 1,
        sid: new pkijs.IssuerAndSerialNumber({ issuer: certificate.issuer, serialNumber: certificate.serialNumber }),
        signedAttrs: new pkijs.SignedAndUnsignedAttributes({ type: 0, attributes }),
      }),
    ],
  });
  await signed.sign(key, 0, hash);
  const info = new pkijs.ContentInfo({ contentType: ids.signedData, content: signed.toSchema(true) });
  return new Uint8Array(info.toSchema().toBER());
}

describe('a request of pkijs', () => {
  test.each(kinds.flatMap((kind) => Object.entries(hashes).map(([hash, digest]) => [kind, hash as keyof typeof hashes, digest] as const)))(
    'signed by %s with %s holds here',
    async (kind, hash, digest) => {
      const read = readRequest(await ofPkijs(kind, hash));
      expect([read.verifySignature(), read.digest, read.messageType, read.transactionId]).toEqual([true, digest, 19, '0123']);
      expect(read.signatureAlgorithm.scheme).toBe({ rsa: 'rsa-pkcs1v15', pss: 'rsa-pss', ec: 'ecdsa' }[kind]);
    },
  );
});

describe('a request that holds here holds for OpenSSL', () => {
  const digests = Object.keys(digestOids) as readonly DigestName[];
  test.each(digests.flatMap((digest) => (['plain', 'named', 'pss'] as const).map((signature) => [digest, signature] as const)))(
    'with %s, signed %s, in DER and in BER',
    (digest, signature) => {
      const der = request({ digest, signature });
      for (const message of [der, toBer(der, likeJscep), request({ digest, signature, envelope: toBer(envelope, likeJscep) })])
        expect([holdsHere(message), holdsForOpenssl(message)]).toEqual([true, true]);
    },
  );

  test('with attributes in another order', () => {
    const attributes = (all: readonly Uint8Array[]): readonly Uint8Array[] => all.toReversed();
    const message = request({ attributes });
    expect([holdsHere(message), holdsForOpenssl(message)]).toEqual([true, true]);
  });

  test('and one that does not, does not', () => {
    const message = Buffer.from(request());
    message[message.length - 1] = (message.at(-1) ?? 0) ^ 1;
    expect([holdsHere(message), holdsForOpenssl(message)]).toEqual([false, false]);
  });

  /** OpenSSL decodes the whole certificate, of which a signature needs the name and the key. */
  const hasSameCertificate = (message: Uint8Array): boolean => onCurve.certificate.equals(readRequest(message).signer.der);

  test('whatever was changed of it but the certificate', () => {
    const samples = [Buffer.from(request({ signer: onCurve })), toBer(request({ signer: onCurve }), likeJscep)];
    const seed = Number(process.env['FUZZ_SEED'] ?? 42);
    let held = 0;
    for (let number = 0; held < 20 && number < 240_000; number++) {
      const changed = drawInput(new Dice(seed ^ Math.imul(number, 0x9e37_79b1)), { samples, words: [] });
      if (samples.some((sample) => sample.equals(changed)) || !holdsHere(changed) || !hasSameCertificate(changed)) continue;
      held++;
      if (!holdsForOpenssl(changed)) throw new Error(`holds here alone: ${changed.toString('base64')}`);
    }
    expect(held).toBeGreaterThan(3);
  });
});
