// Reads what a client of SCEP sends (RFC 8894 section 3): a SignedData of one signer around an EnvelopedData, in DER or BER.
import { hash as hashOf } from 'node:crypto';
import { encode, Reader, readObjectIdentifier, readOnly, tag, readAlgorithm } from '../../../core/der/der.ts';
import { cmsAttribute, contentType } from '../../../core/der/oids.ts';
import {
  type Digest,
  digestIds,
  type OldAlgorithm,
  oldAmong,
  readDigest,
  readSignatureScheme,
  type SignatureScheme,
  readVersion,
} from './algorithms.ts';
import { type Attributes, readAnswerable, readAttributes, readMessageType, requireAttribute } from './attributes.ts';
import { toDer } from './ber.ts';
import { type CertificateName, isNamed, readCertificate, readCertificateName } from './certificate.ts';
import { type Envelope, readEnvelope } from './envelope.ts';
import { messageLimits, type MessageLimits } from './limits.ts';
import { type AnswerableFields, readingMessage, ScepMalformed } from './malformed.ts';
import { isSignedBy, type Signer, withKey } from './key.ts';

/** A request as read. Nothing is proven before verifySignature has answered true. */
export type ScepRequest = {
  /** one of `messageType` in attributes.ts, never CertRep */
  readonly messageType: number;
  /** 1 to 128 printable characters of ASCII, among them `/`, quotes and spaces */
  readonly transactionId: string;
  /** 16 octets */
  readonly senderNonce: Uint8Array;
  readonly signer: Signer;
  /** DER of all certificates of the message, the signer's among them */
  readonly certificates: readonly Uint8Array[];
  readonly digest: Digest;
  readonly signatureAlgorithm: SignatureScheme;
  /** algorithms of the signature and of the envelope that a CA takes by configuration alone */
  readonly oldAlgorithms: readonly OldAlgorithm[];
  readonly envelope: Envelope;
  /** Tells whether the key of the signer has signed these attributes and this content. */
  verifySignature(): boolean;
};

/**
 * Reads a request. The type of the message is judged first, and nothing more is read of a message whose type is not taken. Throws
 * ScepMalformed, with the fields of an answer once they are read.
 */
export function readRequest(octets: Uint8Array, limits: MessageLimits = messageLimits): ScepRequest {
  return readingMessage(() => {
    const signed = readSignedData(toDer(octets, limits));
    const info = readSignerInfo(signed.signerInfos);
    const attributes = readAttributes(info.signedAttributes, limits);
    try {
      const type = readMessageType(attributes);
      const answerable = readAnswerable(attributes, limits);
      return readingMessage(() => readRest({ signed, info, attributes, type, answerable, limits }));
    } catch (error) {
      if (error instanceof ScepMalformed) error.answerable ??= findAnswerable(attributes, limits);
      throw error;
    }
  });
}

type SignedParts = {
  readonly digestAlgorithms: Uint8Array;
  readonly encapsulated: Uint8Array;
  readonly certificates: Uint8Array;
  readonly signerInfos: Uint8Array;
};

type SignerParts = {
  readonly name: CertificateName;
  readonly digestAlgorithm: Uint8Array;
  readonly signedAttributes: Uint8Array;
  readonly signatureAlgorithm: Uint8Array;
  readonly signature: Uint8Array;
};

/** The parts of a SignedData (RFC 5652 section 5.1), unread. */
function readSignedData(der: Uint8Array): SignedParts {
  const info = readOnly(der, tag.sequence);
  if (readObjectIdentifier(info.next(tag.oid).content) !== contentType.signedData)
    throw new ScepMalformed('badRequest', 'the message is not a SignedData');
  const wrapped = info.enter(tag.constructed(0));
  info.end();
  const fields = wrapped.enter(tag.sequence);
  wrapped.end();
  readVersion(fields);
  const digestAlgorithms = fields.next(tag.set).content;
  const encapsulated = fields.next(tag.sequence).whole;
  const certificates = fields.optional(tag.constructed(0))?.content ?? new Uint8Array(0);
  // Revocation lists, which no client of SCEP sends.
  fields.optional(tag.constructed(1));
  const signerInfos = fields.next(tag.set).content;
  fields.end();
  return { digestAlgorithms, encapsulated, certificates, signerInfos };
}

/** The parts of the one SignerInfo (RFC 5652 section 5.3), unread but the name of the certificate. */
function readSignerInfo(signerInfos: Uint8Array): SignerParts {
  const all = new Reader(signerInfos);
  const fields = all.more ? all.enter(tag.sequence) : undefined;
  if (fields === undefined || all.more) throw new ScepMalformed('badRequest', 'the message does not have one signature: sign it once');
  readVersion(fields);
  const name = readCertificateName(fields);
  const digestAlgorithm = fields.next(tag.sequence).whole;
  const signedAttributes = fields.optional(tag.constructed(0))?.content;
  if (signedAttributes === undefined)
    throw new ScepMalformed('badRequest', 'the signature has no signed attributes, which every message of SCEP has');
  const signatureAlgorithm = fields.next(tag.sequence).whole;
  const signature = fields.next(tag.octetString).content;
  // Unsigned attributes, which prove nothing.
  fields.optional(tag.constructed(1));
  fields.end();
  return { name, digestAlgorithm, signedAttributes, signatureAlgorithm, signature };
}

/** Reads what a refusal can be answered with, of a message that was refused before or by this. */
function findAnswerable(attributes: Attributes, limits: MessageLimits): AnswerableFields | undefined {
  try {
    return readAnswerable(attributes, limits);
  } catch {
    return undefined;
  }
}

type ReadSoFar = {
  readonly signed: SignedParts;
  readonly info: SignerParts;
  readonly attributes: Attributes;
  readonly type: number;
  readonly answerable: AnswerableFields;
  readonly limits: MessageLimits;
};

function readRest({ signed, info, attributes, type, answerable, limits }: ReadSoFar): ScepRequest {
  const digest = readDigest(info.digestAlgorithm);
  requireAnnounced(signed.digestAlgorithms, digest);
  const signatureAlgorithm = readSignatureScheme(info.signatureAlgorithm, digest);
  requireProtection(attributes.get(cmsAttribute.algorithmProtection), info);
  const signedType = new Reader(requireAttribute(attributes, cmsAttribute.contentType, 'contentType'));
  if (readObjectIdentifier(signedType.next(tag.oid).content) !== contentType.data)
    throw new ScepMalformed('badRequest', 'the signed attribute contentType does not say data');
  const messageDigest = new Reader(requireAttribute(attributes, cmsAttribute.messageDigest, 'messageDigest')).next(tag.octetString).content;
  const content = readContent(signed.encapsulated);
  const certificates = readCertificates(signed.certificates, limits);
  const signer = findSigner(certificates, info.name);
  const envelope = readEnvelope(content, limits);
  return {
    messageType: type,
    ...answerable,
    ...{ signer, certificates, digest, signatureAlgorithm, envelope },
    oldAlgorithms: oldAmong([digest, envelope.contentCipher]),
    verifySignature() {
      if (Buffer.compare(messageDigest, hashOf(digest, content, 'buffer')) !== 0) return false;
      const how = { scheme: signatureAlgorithm, digest };
      // Signed is the DER of the set. Some write it in another order and sign what they have written.
      return candidates(info.signedAttributes).some((octets) => isSignedBy(signer.key, how, octets, info.signature));
    },
  };
}

/** The SET of signed attributes in the order of the message, and in the order of DER if that is another one. */
function candidates(signedAttributes: Uint8Array): readonly Uint8Array[] {
  const parts = Array.from(new Reader(signedAttributes).rest(), ({ whole }) => whole);
  const sorted = parts.toSorted((left, right) => Buffer.compare(left, right));
  const orders = sorted.every((part, index) => part === parts[index]) ? [parts] : [parts, sorted];
  return orders.map((order) => encode(tag.set, ...order));
}

/** The digest of the signer is among those that the message announces (RFC 5652 section 5.1). */
function requireAnnounced(digestAlgorithms: Uint8Array, digest: Digest): void {
  for (const { whole } of new Reader(digestAlgorithms).rest())
    if (readAlgorithm(whole).id === digestIds[digest] && readDigest(whole) === digest) return;
  throw new ScepMalformed('badRequest', 'the message does not announce the digest algorithm that its signature uses');
}

/** CMSAlgorithmProtection, if it is there, names the algorithms of the signature (RFC 6211), as jscep writes it. */
function requireProtection(value: Uint8Array | undefined, info: SignerParts): void {
  if (value === undefined) return;
  const fields = readOnly(value, tag.sequence);
  const digest = readAlgorithm(fields.next(tag.sequence).whole).id;
  const signature = fields.optional(tag.constructed(1));
  const named = signature === undefined ? undefined : readAlgorithm(encode(tag.sequence, signature.content)).id;
  if (digest !== readAlgorithm(info.digestAlgorithm).id || named !== readAlgorithm(info.signatureAlgorithm).id)
    throw new ScepMalformed('badMessageCheck', 'the signed attribute CMSAlgorithmProtection names other algorithms than the signature has');
}

/** eContent: the ContentInfo of the envelope, inside an OCTET STRING. */
function readContent(encapsulated: Uint8Array): Uint8Array {
  const fields = readOnly(encapsulated, tag.sequence);
  if (readObjectIdentifier(fields.next(tag.oid).content) !== contentType.data)
    throw new ScepMalformed('badRequest', 'the content that is signed has a type other than data');
  const explicit = fields.optional(tag.constructed(0));
  fields.end();
  if (explicit === undefined) throw new ScepMalformed('badRequest', 'the message has no content: sign the EnvelopedData');
  const inner = new Reader(explicit.content);
  const { content } = inner.next(tag.octetString);
  inner.end();
  return content;
}

function readCertificates(content: Uint8Array, limits: MessageLimits): readonly Uint8Array[] {
  const certificates: Uint8Array[] = [];
  for (const { tag: kind, whole } of new Reader(content).rest()) {
    if (certificates.length === limits.certificates)
      throw new ScepMalformed('badRequest', `the message has more than ${limits.certificates} certificates`);
    if (kind !== tag.sequence) throw new ScepMalformed('badRequest', 'the message has a certificate that is not one of X.509');
    certificates.push(whole);
  }
  return certificates;
}

function findSigner(certificates: readonly Uint8Array[], name: CertificateName): Signer {
  const certificate = certificates.map(readCertificate).find((one) => isNamed(one, name));
  if (certificate === undefined)
    throw new ScepMalformed('badRequest', 'the message does not have the certificate that its signature names');
  return withKey(certificate);
}
