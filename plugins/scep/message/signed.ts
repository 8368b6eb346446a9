// Writes a SignedData of one signer, in DER; the caller signs, in the token.
import { hash as hashOf } from 'node:crypto';
import { rsaEncryption } from '../../../core/cms/algorithms.ts';
import { encode, explicit, integer, objectIdentifier, octetString, sequence, setOf, tag, time } from '../../../core/der/der.ts';
import { cmsAttribute, contentType } from '../../../core/der/oids.ts';
import { type Digest, digestIds, withNull } from './algorithms.ts';
import { readCertificate } from './certificate.ts';

export type MessageToSign = {
  /** octets of eContent, of type data; undefined: absent */
  readonly content: Uint8Array | undefined;
  /** DER certificate, which comes with the message */
  readonly signer: Uint8Array;
  readonly digest: Digest;
  /** signed attribute signingTime; undefined: left out */
  readonly signingTime?: Temporal.Instant | undefined;
  /** DER of the one value of each signed attribute of the protocol, by type */
  readonly attributes?: ReadonlyMap<string, Uint8Array>;
  /** DER certificates beside the signer's */
  readonly certificates?: readonly Uint8Array[];
  /** DER AlgorithmIdentifier of the signature; default: RSASSA-PKCS1-v1_5 with the digest of the message */
  readonly signatureAlgorithm?: Uint8Array;
};

/**
 * Signs octets with the key of the signer's certificate; by default, RSASSA-PKCS1-v1_5 with the digest of the message, which it receives.
 * Signatures of ECDSA are DER.
 */
export type Sign = (octets: Uint8Array, digest: Digest) => Promise<Uint8Array>;

/** DER ContentInfo of a SignedData of version 1. Rejects as `sign`, and with DerError for octets that are not a certificate. */
export async function writeSignedData(message: MessageToSign, sign: Sign): Promise<Uint8Array> {
  const { content, signer, digest, certificates = [] } = message;
  const { issuer, serial } = readCertificate(signer);
  const attributes = setOf(...attributesOf(message));
  const signature = await sign(attributes, digest);
  const digestAlgorithm = withNull(digestIds[digest]);
  const signerInfo = sequence(
    integer(1),
    sequence(issuer, encode(tag.integer, serial)),
    digestAlgorithm,
    retagged(attributes, tag.constructed(0)),
    message.signatureAlgorithm ?? withNull(rsaEncryption),
    octetString(signature),
  );
  return sequence(
    objectIdentifier(contentType.signedData),
    explicit(
      0,
      sequence(
        integer(1),
        setOf(digestAlgorithm),
        sequence(objectIdentifier(contentType.data), ...(content === undefined ? [] : [explicit(0, octetString(content))])),
        retagged(setOf(signer, ...certificates), tag.constructed(0)),
        setOf(signerInfo),
      ),
    ),
  );
}

function attributesOf({ content = new Uint8Array(0), digest, signingTime, attributes = new Map() }: MessageToSign): readonly Uint8Array[] {
  const all = new Map([
    ...attributes,
    [cmsAttribute.contentType, objectIdentifier(contentType.data)],
    [cmsAttribute.messageDigest, octetString(hashOf(digest, content, 'buffer'))],
    ...(signingTime === undefined ? [] : ([[cmsAttribute.signingTime, time(signingTime)]] as const)),
  ]);
  return Array.from(all, ([type, value]) => sequence(objectIdentifier(type), setOf(value)));
}

/** The encoding under another tag (IMPLICIT). */
function retagged(encoded: Uint8Array, tagOctet: number): Uint8Array {
  const copy = Uint8Array.from(encoded);
  copy[0] = tagOctet;
  return copy;
}
