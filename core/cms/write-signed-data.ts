// Writes signed CMS messages with pkijs; the caller signs, in the token.
import { hash as hashOf } from 'node:crypto';
import type * as pkijsTypes from 'pkijs';
import { encode, octetString, objectIdentifier, time } from '../der/der.ts';
import { cmsAttribute, contentType } from '../der/oids.ts';
import { type CmsHash, hashIds, rsaEncryption } from './algorithms.ts';
import { pkijsWithAsn1 } from './pkijs.ts';
import { readSignedData } from './signed-data.ts';

export type MessageSigner = {
  /** DER certificate of an RSA key */
  readonly certificate: Uint8Array;
  /** RSASSA-PKCS1-v1_5 over these octets. */
  sign(hash: CmsHash, octets: Uint8Array): Promise<Uint8Array>;
};

export type MessageToSign = {
  /** eContent of type data; undefined: absent */
  readonly content: Uint8Array | undefined;
  readonly signer: MessageSigner;
  readonly hash: CmsHash;
  readonly signingTime: Temporal.Instant;
  /** signed attributes of the protocol, with the DER of their one value */
  readonly attributes: ReadonlyMap<string, Uint8Array>;
  /** DER certificates beside that of the signer */
  readonly more?: readonly Uint8Array[];
};

/**
 * DER ContentInfo of a SignedData of version 1 with one signer. What pkijs has written is read again by readSignedData, because it writes
 * what it is given: BER, and sets in any order.
 */
export async function writeSignedData(message: MessageToSign): Promise<Uint8Array> {
  const { pkijs, asn1js } = pkijsWithAsn1();
  const { content, signer, hash, more = [] } = message;
  const certificate = parseCertificate(signer.certificate);
  const attributes = attributesOf(message);
  const signature = await signer.sign(hash, encode(0x31, ...attributes));
  const digestAlgorithm = new pkijs.AlgorithmIdentifier({ algorithmId: hashIds[hash], algorithmParams: new asn1js.Null() });
  const signed = new pkijs.SignedData({
    version: 1,
    digestAlgorithms: [digestAlgorithm],
    encapContentInfo: new pkijs.EncapsulatedContentInfo({ eContentType: contentType.data }),
    certificates: inOrder([signer.certificate, ...more]).map(parseCertificate),
    signerInfos: [
      new pkijs.SignerInfo({
        version: 1,
        sid: new pkijs.IssuerAndSerialNumber({ issuer: certificate.issuer, serialNumber: certificate.serialNumber }),
        digestAlgorithm,
        signedAttrs: new pkijs.SignedAndUnsignedAttributes({ type: 0, attributes: attributes.map(parseAttribute) }),
        signatureAlgorithm: new pkijs.AlgorithmIdentifier({ algorithmId: rsaEncryption, algorithmParams: new asn1js.Null() }),
        signature: new asn1js.OctetString({ valueHex: bufferOf(signature) }),
      }),
    ],
  });
  // Its constructor would cut the content into pieces, which is BER.
  if (content !== undefined) signed.encapContentInfo.eContent = new asn1js.OctetString({ valueHex: bufferOf(content) });
  const info = new pkijs.ContentInfo({ contentType: contentType.signedData, content: signed.toSchema(true) });
  const written = new Uint8Array(info.toSchema().toBER());
  readSignedData(written, new Set(message.attributes.keys()));
  return written;
}

/** The signed attributes, DER, in the order of a SET OF. */
function attributesOf({ content = new Uint8Array(0), hash, signingTime, attributes }: MessageToSign): readonly Uint8Array[] {
  const all = new Map([
    ...attributes,
    [cmsAttribute.contentType, objectIdentifier(contentType.data)],
    [cmsAttribute.messageDigest, octetString(hashOf(hash, content, 'buffer'))],
    [cmsAttribute.signingTime, time(signingTime)],
  ]);
  return inOrder(Array.from(all, ([type, value]) => encode(0x30, objectIdentifier(type), encode(0x31, value))));
}

function inOrder(elements: readonly Uint8Array[]): readonly Uint8Array[] {
  return elements.toSorted((left, right) => Buffer.compare(left, right));
}

function parseAttribute(der: Uint8Array): pkijsTypes.Attribute {
  const { pkijs, asn1js } = pkijsWithAsn1();
  return new pkijs.Attribute({ schema: asn1js.fromBER(bufferOf(der)).result });
}

export function parseCertificate(der: Uint8Array): pkijsTypes.Certificate {
  return pkijsWithAsn1().pkijs.Certificate.fromBER(bufferOf(der));
}

/** A copy of its own: pkijs keeps buffers. */
export function bufferOf(octets: Uint8Array): ArrayBuffer {
  return new Uint8Array(octets).buffer;
}
