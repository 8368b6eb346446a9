// Detached CMS signatures (RFC 5652): the attributes that are signed, and the message around the signature, which pkijs writes.
import type * as Pkijs from 'pkijs';
import { hash } from 'node:crypto';
import { fail as coreFail } from '../../../core/base/errors.ts';
import { hashIds } from '../../../core/cms/algorithms.ts';
import { objectIdentifier, octetString, sequence, setOf, time } from '../../../core/der/der.ts';
import { cmsAttribute, contentType } from '../../../core/der/oids.ts';
import { encodeEcdsaSignature } from '../../../core/der/ecdsa-signature.ts';
import type { HashName } from '../../../hsm/api.ts';
import { signatureIdentifier } from './algorithms.ts';
import type { SigningCipher } from '../ciphers.ts';
import type { SignatureMethod } from '../formats/signatures.ts';

/** Contents of a message. */
export type CmsContent = {
  readonly cipher: SigningCipher;
  readonly method: SignatureMethod;
  /** by contentHashOf */
  readonly digest: Uint8Array;
  /** certificates in DER, that of the key first */
  readonly chain: readonly Uint8Array[];
  readonly at: Temporal.Instant;
};

export type CmsMessage = {
  /** the signed attributes, as the key signs them: a SET OF (RFC 5652 section 5.4) */
  readonly signed: Uint8Array;
  /** ContentInfo in DER; `signature` as the token made it. */
  finish(signature: Uint8Array): Uint8Array;
};

/** Hash of the content: that of the signature; SHA-512 for Ed25519 (RFC 8419 section 3.1) and ML-DSA (RFC 9882 section 3.3). */
export function contentHashOf(method: SignatureMethod): HashName {
  return 'hash' in method ? method.hash : 'sha512';
}

/**
 * Prepares a message without its content: content type, digest, the time, and the certificate that belongs to the signature (ESS, RFC 5035), so that
 * no other certificate of the key can be put in its place.
 */
export async function openCms({ cipher, method, digest, chain, at }: CmsContent): Promise<CmsMessage> {
  const [pkijs, asn1js] = await Promise.all([import('pkijs'), import('asn1js')]);
  const parse = (der: Uint8Array) => asn1js.fromBER(alone(der)).result;
  const own = chain[0] as Uint8Array;
  const attributes = [
    attribute(cmsAttribute.contentType, objectIdentifier(contentType.data)),
    attribute(cmsAttribute.messageDigest, octetString(digest)),
    attribute(cmsAttribute.signingTime, time(at)),
    attribute(cmsAttribute.signingCertificateV2, sequence(sequence(sequence(octetString(hash('sha256', own, 'buffer')))))),
  ].toSorted((left, right) => Buffer.compare(left, right));
  const certificates = certificatesOf(pkijs, chain);
  const { issuer, serialNumber } = certificates[0] as Pkijs.Certificate;
  const digestAlgorithm = new pkijs.AlgorithmIdentifier({ algorithmId: hashIds[contentHashOf(method)] });
  return {
    signed: setOf(...attributes),
    finish: (raw) => {
      const signature = method.family === 'ecdsa' ? encodeEcdsaSignature(raw) : raw;
      const signer = new pkijs.SignerInfo({
        version: 1,
        sid: new pkijs.IssuerAndSerialNumber({ issuer, serialNumber }),
        digestAlgorithm,
        signedAttrs: new pkijs.SignedAndUnsignedAttributes({
          type: 0,
          attributes: attributes.map((der) => new pkijs.Attribute({ schema: parse(der) })),
        }),
        signatureAlgorithm: new pkijs.AlgorithmIdentifier({ schema: parse(signatureIdentifier(cipher, method)) }),
        signature: new asn1js.OctetString({ valueHex: alone(signature) }),
      });
      const message = new pkijs.SignedData({
        version: 1,
        digestAlgorithms: [digestAlgorithm],
        encapContentInfo: new pkijs.EncapsulatedContentInfo({ eContentType: contentType.data }),
        certificates,
        signerInfos: [signer],
      });
      const content = new pkijs.ContentInfo({ contentType: contentType.signedData, content: message.toSchema(true) });
      return intact(new Uint8Array(content.toSchema().toBER()), [...chain, ...attributes, octetString(signature)]);
    },
  };
}

// Read once for each chain: the store returns the same object until the record changes, and a batch has a thousand signatures.
const readChains = new WeakMap<readonly Uint8Array[], Pkijs.Certificate[]>();

function certificatesOf(pkijs: typeof Pkijs, chain: readonly Uint8Array[]): Pkijs.Certificate[] {
  let read = readChains.get(chain);
  if (read === undefined) readChains.set(chain, (read = chain.map((der) => pkijs.Certificate.fromBER(alone(der)))));
  return read;
}

/** These octets in a buffer of their own: slice() of a Buffer shares memory with other data of the process, and asn1js writes whole buffers. */
function alone(octets: Uint8Array): ArrayBuffer {
  return Uint8Array.from(octets).buffer;
}

function attribute(type: string, value: Uint8Array): Uint8Array {
  return sequence(objectIdentifier(type), setOf(value));
}

/** pkijs reads certificates leniently and may write them in another way, which would leave signatures that nobody verifies. */
function intact(message: Uint8Array, parts: readonly Uint8Array[]): Uint8Array {
  const octets = Buffer.from(message.buffer, message.byteOffset, message.length);
  if (parts.every((part) => octets.includes(part))) return message;
  throw coreFail('internal-error', { cause: new Error('a part of a CMS message was written in another way than it was read') });
}
