// Algorithms of SCEP messages: those of today, and old ones, which are read so that an administrator may allow them by name.
import { cipherIds, hashIds, mgf1, rsaEncryption, rsaesOaep } from '../../../core/cms/algorithms.ts';
import {
  type Element,
  nullValue,
  objectIdentifier,
  Reader,
  readOnly,
  sequence,
  tag,
  readAlgorithm,
  type Algorithm,
} from '../../../core/der/der.ts';
import { ScepMalformed } from './malformed.ts';

export type Digest = 'md5' | 'sha1' | 'sha256' | 'sha384' | 'sha512';
export type ContentCipher = 'aes-128-cbc' | 'aes-192-cbc' | 'aes-256-cbc' | 'des-ede3-cbc' | 'des-cbc';
/** Algorithms that a CA takes only where its configuration names them. */
export type OldAlgorithm = 'md5' | 'sha1' | 'des-ede3-cbc' | 'des-cbc';

/** Encryption of the content key: RSAES-PKCS1-v1_5, or RSAES-OAEP with one hash for label and mask and an empty label. */
export type KeyTransport = { readonly padding: 'pkcs1v15' } | { readonly padding: 'oaep'; readonly hash: Digest };

/** Algorithm of a signature; the digest is the one of the signer's digestAlgorithm. */
export type SignatureScheme =
  | { readonly scheme: 'rsa-pkcs1v15' | 'ecdsa' }
  | {
      readonly scheme: 'rsa-pss';
      /** octets */
      readonly saltLength: number;
    };

export const digestIds: Readonly<Record<Digest, string>> = { md5: '1.2.840.113549.2.5', sha1: '1.3.14.3.2.26', ...hashIds };
const digestsById: ReadonlyMap<string, Digest> = new Map(Object.entries(digestIds).map(([name, id]) => [id, name as Digest]));

type CipherRow = {
  readonly id: string;
  /** octets of the key that the message carries */
  readonly keyLength: number;
  /** octets of a block, and of the initialisation vector */
  readonly blockLength: number;
};

export const contentCiphers: Readonly<Record<ContentCipher, CipherRow>> = {
  'aes-128-cbc': { id: cipherIds['aes-128-cbc'], keyLength: 16, blockLength: 16 },
  'aes-192-cbc': { id: cipherIds['aes-192-cbc'], keyLength: 24, blockLength: 16 },
  'aes-256-cbc': { id: cipherIds['aes-256-cbc'], keyLength: 32, blockLength: 16 },
  'des-ede3-cbc': { id: '1.2.840.113549.3.7', keyLength: 24, blockLength: 8 },
  'des-cbc': { id: '1.3.14.3.2.7', keyLength: 8, blockLength: 8 },
};
const ciphersById: ReadonlyMap<string, ContentCipher> = new Map(
  Object.entries(contentCiphers).map(([name, { id }]) => [id, name as ContentCipher]),
);

const ofToday: ReadonlySet<string> = new Set([...Object.keys(hashIds), ...Object.keys(cipherIds)]);

/** The old ones among algorithms, each once. */
export function oldAmong(algorithms: readonly (Digest | ContentCipher)[]): readonly OldAlgorithm[] {
  return [...new Set(algorithms.filter((one) => !ofToday.has(one)))] as OldAlgorithm[];
}

const rsassaPss = '1.2.840.113549.1.1.10';

/** Signature algorithms with the digest that they name. `rsaEncryption` leaves it to digestAlgorithm (RFC 3370 3.2), and so do OpenSSL's clients. */
const signatures: ReadonlyMap<string, { readonly scheme: 'rsa-pkcs1v15' | 'ecdsa'; readonly digest?: Digest }> = new Map([
  [rsaEncryption, { scheme: 'rsa-pkcs1v15' }],
  ['1.2.840.113549.1.1.4', { scheme: 'rsa-pkcs1v15', digest: 'md5' }],
  ['1.2.840.113549.1.1.5', { scheme: 'rsa-pkcs1v15', digest: 'sha1' }],
  ['1.2.840.113549.1.1.11', { scheme: 'rsa-pkcs1v15', digest: 'sha256' }],
  ['1.2.840.113549.1.1.12', { scheme: 'rsa-pkcs1v15', digest: 'sha384' }],
  ['1.2.840.113549.1.1.13', { scheme: 'rsa-pkcs1v15', digest: 'sha512' }],
  ['1.2.840.10045.4.1', { scheme: 'ecdsa', digest: 'sha1' }],
  ['1.2.840.10045.4.3.2', { scheme: 'ecdsa', digest: 'sha256' }],
  ['1.2.840.10045.4.3.3', { scheme: 'ecdsa', digest: 'sha384' }],
  ['1.2.840.10045.4.3.4', { scheme: 'ecdsa', digest: 'sha512' }],
]);

/** Parameters that are NULL or absent, which mean the same (RFC 5754 section 2). */
function requireNoParameters({ id, parameters }: Algorithm): void {
  if (parameters !== undefined && (parameters.tag !== tag.null || parameters.content.length > 0))
    throw new ScepMalformed('badAlg', `the algorithm ${id} has parameters that it does not take`);
}

export function readDigest(whole: Uint8Array): Digest {
  const algorithm = readAlgorithm(whole);
  const digest = digestsById.get(algorithm.id);
  if (digest === undefined)
    throw new ScepMalformed('badAlg', `the digest algorithm ${algorithm.id} is not taken: use SHA-256, SHA-384 or SHA-512`);
  requireNoParameters(algorithm);
  return digest;
}

/** Reads a signature algorithm, which must name the digest of its message if it names one. Answers the scheme. */
export function readSignatureScheme(whole: Uint8Array, digest: Digest): SignatureScheme {
  const { scheme, digest: named } = readSignature(whole);
  if (named !== undefined && named !== digest)
    throw new ScepMalformed('badAlg', `the signature algorithm names ${named} and the digest algorithm ${digest}: use one digest`);
  return scheme;
}

/** Reads a signature algorithm with the digest that it names; undefined: none. */
export function readSignature(whole: Uint8Array): { readonly scheme: SignatureScheme; readonly digest: Digest | undefined } {
  const algorithm = readAlgorithm(whole);
  if (algorithm.id === rsassaPss) return readPss(algorithm);
  const found = signatures.get(algorithm.id);
  if (found === undefined)
    throw new ScepMalformed('badAlg', `the signature algorithm ${algorithm.id} is not taken: use RSA or ECDSA with SHA-256`);
  requireNoParameters(algorithm);
  return { scheme: { scheme: found.scheme }, digest: found.digest };
}

/** Octets of the longest digest; a longer salt has no use (RFC 8017 section 9.1). */
const longestSalt = 64;

/** RSASSA-PSS-params (RFC 4055 section 3.1), whose defaults are SHA-1 and a salt of 20 octets. */
function readPss({ parameters }: Algorithm): { readonly scheme: SignatureScheme; readonly digest: Digest } {
  if (parameters?.tag !== tag.sequence) throw new ScepMalformed('badAlg', 'RSASSA-PSS is taken with its parameters alone');
  const fields = new Reader(parameters.content);
  const digest = readHashOf(fields);
  const salt = fields.optional(tag.constructed(2));
  const saltLength = salt === undefined ? 20 : readSmall(only(salt));
  const trailer = fields.optional(tag.constructed(3));
  fields.end();
  if (saltLength > longestSalt || (trailer !== undefined && readSmall(only(trailer)) !== 1))
    throw new ScepMalformed('badAlg', 'RSASSA-PSS is taken with a salt of at most 64 octets and the trailer field 1');
  return { scheme: { scheme: 'rsa-pss', saltLength }, digest };
}

/** The hash of [0] and of the mask generation function in [1], which must be one (RFC 4055 sections 3.1 and 4.1); absent: SHA-1. */
function readHashOf(fields: Reader): Digest {
  const [hashField, maskField] = [0, 1].map((n) => fields.optional(tag.constructed(n)));
  const hash = hashField === undefined ? 'sha1' : readDigest(only(hashField).whole);
  const mask = maskField === undefined ? undefined : readAlgorithm(only(maskField).whole);
  const maskHash = mask === undefined ? 'sha1' : readMaskHash(mask);
  if (hash !== maskHash)
    throw new ScepMalformed('badAlg', 'RSASSA-PSS and RSAES-OAEP are taken with the hash of their mask generation function');
  return hash;
}

function readMaskHash({ id, parameters }: Algorithm): Digest {
  if (id !== mgf1 || parameters === undefined)
    throw new ScepMalformed('badAlg', `the mask generation function ${id} is not taken: use MGF1`);
  return readDigest(parameters.whole);
}

/** An INTEGER of at most 127. */
function readSmall(element: Element): number {
  const [value, ...more] = element.content;
  if (element.tag !== tag.integer || value === undefined || value > 0x7f || more.length > 0)
    throw new ScepMalformed('badAlg', 'an algorithm has a number in its parameters that is out of range');
  return value;
}

export function readKeyTransport(whole: Uint8Array): KeyTransport {
  const algorithm = readAlgorithm(whole);
  if (algorithm.id === rsaEncryption) {
    requireNoParameters(algorithm);
    return { padding: 'pkcs1v15' };
  }
  if (algorithm.id !== rsaesOaep)
    throw new ScepMalformed('badAlg', `the key transport ${algorithm.id} is not taken: use RSA with PKCS#1 v1.5 or OAEP`);
  const { parameters } = algorithm;
  if (parameters === undefined) return { padding: 'oaep', hash: 'sha1' };
  const fields = readOnly(parameters.whole, tag.sequence);
  const hash = readHashOf(fields);
  const label = fields.optional(tag.constructed(2));
  fields.end();
  if (label !== undefined && !isEmptyLabel(readAlgorithm(only(label).whole)))
    throw new ScepMalformed('badAlg', 'RSAES-OAEP is taken without a label');
  return { padding: 'oaep', hash };
}

const isEmptyLabel = ({ parameters }: Algorithm): boolean => parameters?.tag === tag.octetString && parameters.content.length === 0;

/** Reads the cipher of the content, with its initialisation vector of one block. */
export function readContentCipher(whole: Uint8Array): { readonly contentCipher: ContentCipher; readonly iv: Uint8Array } {
  const { id, parameters } = readAlgorithm(whole);
  const contentCipher = ciphersById.get(id);
  if (contentCipher === undefined)
    throw new ScepMalformed('badAlg', `the content encryption ${id} is not taken: use AES in CBC mode with 128, 192 or 256 bits`);
  if (parameters?.tag !== tag.octetString || parameters.content.length !== contentCiphers[contentCipher].blockLength)
    throw new ScepMalformed('badAlg', `the content encryption ${contentCipher} has no initialisation vector of one block`);
  return { contentCipher, iv: parameters.content };
}

function only({ content }: Element): Element {
  const fields = new Reader(content);
  const found = fields.next();
  fields.end();
  return found;
}

/** AlgorithmIdentifier with NULL parameters, as OpenSSL and RFC 8017 write those of RSA and its digests. */
export const withNull = (id: string): Uint8Array => sequence(objectIdentifier(id), nullValue);

/** Reads a CMSVersion, 0 to 5 (RFC 5652 section 10.2.5). Throws ScepMalformed `badRequest` for another number. */
export function readVersion(fields: Reader): void {
  const { content } = fields.next(tag.integer);
  if (content.length !== 1 || (content[0] as number) > 5)
    throw new ScepMalformed('badRequest', 'the message has a version that CMS does not have: its versions are 0 to 5');
}
