// Reads signed CMS messages (RFC 5652 section 5), strictly: DER alone, one signer, signed attributes, each once and of one value.
import { hash as hashOf, type KeyObject, verify } from 'node:crypto';
import { encode, Reader, readObjectIdentifier, readOnly, tag } from '../der/der.ts';
import { cmsAttribute, contentType } from '../der/oids.ts';
import { CmsError, type CmsHash, readHash, readingCms, readSignatureKey } from './algorithms.ts';

/** A parsed message of one signer; verifySignedData verifies the signature. */
export type SignedData = {
  /** octets of eContent; undefined when it is absent */
  readonly content: Uint8Array | undefined;
  /** eContentType, dotted decimals */
  readonly contentType: string;
  /** DER, in the order of the message */
  readonly certificates: readonly Uint8Array[];
  readonly signer: SignerInfo;
};

export type SignerInfo = {
  /** DER Name and INTEGER of the signer's certificate */
  readonly issuer: Uint8Array;
  readonly serial: Uint8Array;
  readonly hash: CmsHash;
  readonly key: 'rsa' | 'ec';
  /** signed attributes by type, with the DER of their one value; content type, message digest and signing time are among them */
  readonly attributes: ReadonlyMap<string, Uint8Array>;
  /** DER of the SET that is signed */
  readonly signedOctets: Uint8Array;
  readonly signature: Uint8Array;
};

/** Most certificates that a message may carry. */
const maxCertificates = 16;
/** Most signed attributes. */
const maxAttributes = 32;

/**
 * Reads the ContentInfo of a message with one signer. `known`: types of signed attributes that the protocol has, beside those of CMS; a
 * message with another one is refused, because nobody would look at it. Throws CmsError.
 */
export function readSignedData(der: Uint8Array, known: ReadonlySet<string>): SignedData {
  return readingCms(() => {
    const info = readOnly(der, tag.sequence);
    requireType(info, contentType.signedData, 'signed message');
    const wrapped = info.enter(tag.constructed(0));
    info.end();
    const fields = wrapped.enter(tag.sequence);
    wrapped.end();
    // 1 for a signer that is named by issuer and serial number and content of type data, else 3 (section 5.1).
    requireVersion(fields, [1, 3]);
    const hashes = Array.from(new Reader(fields.next(tag.set).content).rest(), readHash);
    const encapsulated = fields.enter(tag.sequence);
    const type = readObjectIdentifier(encapsulated.next(tag.oid).content);
    const content = encapsulated.optional(tag.constructed(0));
    encapsulated.end();
    const certificates = readCertificates(fields.optional(tag.constructed(0))?.content);
    if (fields.optional(tag.constructed(1)) !== undefined)
      throw new CmsError('unsupported', 'a message with revocation lists is not taken');
    const [signer, ...more] = Array.from(new Reader(fields.next(tag.set).content).rest(), ({ whole }) => readSigner(whole, known));
    fields.end();
    if (signer === undefined || more.length > 0) throw new CmsError('unsupported', 'a message with one signer is taken');
    if (hashes.length !== 1 || hashes[0] !== signer.hash)
      throw new CmsError('malformed', 'the message announces another hash than its signer uses');
    return { content: content === undefined ? undefined : readContent(content.content), contentType: type, certificates, signer };
  });
}

/** Throws CmsError `not-signed` unless the attributes are those of the content, and the key has signed them. */
export function verifySignedData({ content, contentType: type, signer }: SignedData, publicKey: KeyObject): void {
  const { attributes, hash, signedOctets, signature } = signer;
  const fits = { rsa: 'rsa', ec: 'ec' }[signer.key] === publicKey.asymmetricKeyType;
  if (!fits) throw new CmsError('not-signed', 'the signature algorithm does not fit the key of the signer');
  readingCms(() => {
    const typeField = new Reader(requireAttribute(attributes, cmsAttribute.contentType));
    if (readObjectIdentifier(typeField.next(tag.oid).content) !== type)
      throw new CmsError('not-signed', 'the signed content type is another one');
    const digest = new Reader(requireAttribute(attributes, cmsAttribute.messageDigest)).next(tag.octetString).content;
    if (Buffer.compare(digest, hashOf(hash, content ?? new Uint8Array(0), 'buffer')) !== 0)
      throw new CmsError('not-signed', 'the content is not the one that was signed');
  });
  let holds: boolean;
  try {
    holds = verify(hash, signedOctets, publicKey, signature);
  } catch {
    holds = false;
  }
  if (!holds) throw new CmsError('not-signed', 'the signature does not verify');
}

function requireAttribute(attributes: ReadonlyMap<string, Uint8Array>, type: string): Uint8Array {
  const value = attributes.get(type);
  if (value === undefined) throw new CmsError('not-signed', `the signed attribute ${type} is missing`);
  return value;
}

function readContent(explicitContent: Uint8Array): Uint8Array {
  const fields = new Reader(explicitContent);
  const { content } = fields.next(tag.octetString);
  fields.end();
  return content;
}

function readCertificates(content: Uint8Array | undefined): readonly Uint8Array[] {
  if (content === undefined) return [];
  const certificates = Array.from(new Reader(content).rest(), ({ tag: found, whole }) => {
    if (found !== tag.sequence) throw new CmsError('unsupported', 'a certificate of another kind than X.509 is not taken');
    return whole;
  });
  if (certificates.length > maxCertificates) throw new CmsError('unsupported', `a message has at most ${maxCertificates} certificates`);
  return certificates;
}

function readSigner(whole: Uint8Array, known: ReadonlySet<string>): SignerInfo {
  const fields = readOnly(whole, tag.sequence);
  requireVersion(fields, [1]);
  const name = fields.enter(tag.sequence);
  const issuer = name.next(tag.sequence).whole;
  const serial = name.next(tag.integer).content;
  name.end();
  const hash = readHash(fields.next(tag.sequence));
  const signed = fields.optional(tag.constructed(0))?.content;
  if (signed === undefined) throw new CmsError('unsupported', 'a signature without signed attributes is not taken');
  const key = readSignatureKey(fields.next(tag.sequence), hash);
  const signature = fields.next(tag.octetString).content;
  // Nobody signs unsigned attributes, and no protocol here has any.
  if (fields.more) throw new CmsError('unsupported', 'unsigned attributes are not taken');
  return { issuer, serial, hash, key, attributes: readAttributes(signed, known), signedOctets: encode(tag.set, signed), signature };
}

/** Attributes of CMS itself that any signer may add (RFC 5652 section 11, RFC 6211). */
const ofCms: ReadonlySet<string> = new Set(Object.values(cmsAttribute));

function readAttributes(content: Uint8Array, known: ReadonlySet<string>): ReadonlyMap<string, Uint8Array> {
  const attributes = new Map<string, Uint8Array>();
  let before: Uint8Array | undefined;
  for (const { whole } of new Reader(content).rest()) {
    if (before !== undefined && Buffer.compare(before, whole) >= 0)
      throw new CmsError('malformed', 'signed attributes are not in the order of DER');
    before = whole;
    const fields = readOnly(whole, tag.sequence);
    const type = readObjectIdentifier(fields.next(tag.oid).content);
    const values = fields.enter(tag.set);
    fields.end();
    const value = values.next().whole;
    values.end();
    if (attributes.has(type)) throw new CmsError('malformed', `the signed attribute ${type} is repeated`);
    if (!ofCms.has(type) && !known.has(type)) throw new CmsError('unsupported', `the signed attribute ${type} is not known`);
    attributes.set(type, value);
    if (attributes.size > maxAttributes) throw new CmsError('unsupported', `a signer has at most ${maxAttributes} signed attributes`);
  }
  return attributes;
}

/** The content type of a ContentInfo. */
export function requireType(info: Reader, type: string, what: string): void {
  if (readObjectIdentifier(info.next(tag.oid).content) !== type) throw new CmsError('unsupported', `this is no ${what}`);
}

export function requireVersion(fields: Reader, versions: readonly number[]): void {
  const { content } = fields.next(tag.integer);
  if (content.length !== 1 || !versions.includes(content[0] as number))
    throw new CmsError('unsupported', `a version other than ${versions.join(' or ')} is not taken`);
}
