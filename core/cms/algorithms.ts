// Algorithms of CMS messages (RFC 5754, RFC 3565, RFC 3560): those accepted, with exactly the parameters of the standards.
import { DerError, type Element, Reader, readObjectIdentifier, readOnly, tag } from '../der/der.ts';

/** Reason for which a message is refused. `undecryptable` is one reason for every failed decryption. */
export type CmsFault = 'malformed' | 'unsupported' | 'not-signed' | 'undecryptable';

export class CmsError extends Error {
  override readonly name = 'CmsError';
  readonly fault: CmsFault;

  constructor(fault: CmsFault, message: string) {
    super(message);
    this.fault = fault;
  }
}

export type CmsHash = 'sha256' | 'sha384' | 'sha512';
export const hashIds: Readonly<Record<CmsHash, string>> = {
  sha256: '2.16.840.1.101.3.4.2.1',
  sha384: '2.16.840.1.101.3.4.2.2',
  sha512: '2.16.840.1.101.3.4.2.3',
};

export type CmsCipher = 'aes-128-cbc' | 'aes-192-cbc' | 'aes-256-cbc';
export const cipherIds: Readonly<Record<CmsCipher, string>> = {
  'aes-128-cbc': '2.16.840.1.101.3.4.1.2',
  'aes-192-cbc': '2.16.840.1.101.3.4.1.22',
  'aes-256-cbc': '2.16.840.1.101.3.4.1.42',
};
export const cipherKeyBytes: Readonly<Record<CmsCipher, number>> = { 'aes-128-cbc': 16, 'aes-192-cbc': 24, 'aes-256-cbc': 32 };

export const rsaEncryption = '1.2.840.113549.1.1.1';
export const rsaesOaep = '1.2.840.113549.1.1.7';
export const mgf1 = '1.2.840.113549.1.1.8';

/** Signature algorithms: with their key, and the hash that they name. `rsaEncryption` leaves it to the digest algorithm, and may (RFC 3370 3.2). */
const signatureAlgorithms: ReadonlyMap<string, { readonly key: 'rsa' | 'ec'; readonly hash?: CmsHash }> = new Map([
  [rsaEncryption, { key: 'rsa' }],
  ['1.2.840.113549.1.1.11', { key: 'rsa', hash: 'sha256' }],
  ['1.2.840.113549.1.1.12', { key: 'rsa', hash: 'sha384' }],
  ['1.2.840.113549.1.1.13', { key: 'rsa', hash: 'sha512' }],
  ['1.2.840.10045.4.3.2', { key: 'ec', hash: 'sha256' }],
  ['1.2.840.10045.4.3.3', { key: 'ec', hash: 'sha384' }],
  ['1.2.840.10045.4.3.4', { key: 'ec', hash: 'sha512' }],
]);

type Algorithm = { readonly id: string; readonly parameters: Element | undefined };

function readAlgorithm(element: Element): Algorithm {
  const fields = readOnly(element.whole, tag.sequence);
  const id = readObjectIdentifier(fields.next(tag.oid).content);
  const parameters = fields.more ? fields.next() : undefined;
  fields.end();
  return { id, parameters };
}

/** Parameters that are NULL or absent, which mean the same (RFC 5754 section 2). */
function requireNoParameters({ id, parameters }: Algorithm): void {
  if (parameters !== undefined && (parameters.tag !== tag.null || parameters.content.length > 0))
    throw new CmsError('malformed', `algorithm ${id} has parameters that it does not take`);
}

export function readHash(element: Element): CmsHash {
  const algorithm = readAlgorithm(element);
  const found = Object.entries(hashIds).find(([, id]) => id === algorithm.id);
  if (found === undefined) throw new CmsError('unsupported', `hash ${algorithm.id} is not taken: use SHA-256, SHA-384 or SHA-512`);
  requireNoParameters(algorithm);
  return found[0] as CmsHash;
}

/** The kind of key of a signature algorithm, which must agree with the digest algorithm. */
export function readSignatureKey(element: Element, hash: CmsHash): 'rsa' | 'ec' {
  const algorithm = readAlgorithm(element);
  const found = signatureAlgorithms.get(algorithm.id);
  if (found === undefined) throw new CmsError('unsupported', `signature algorithm ${algorithm.id} is not taken`);
  // RFC 5758 section 3.2: those of ECDSA have none, not even NULL.
  if (found.key === 'ec' && algorithm.parameters !== undefined)
    throw new CmsError('malformed', `algorithm ${algorithm.id} has parameters that it does not take`);
  requireNoParameters(algorithm);
  if (found.hash !== undefined && found.hash !== hash)
    throw new CmsError('malformed', 'signature algorithm and digest algorithm name two hashes');
  return found.key;
}

/** The cipher of the content, with its initialisation vector of 16 octets (RFC 3565 section 2.3.1). */
export function readCipher(element: Element): { readonly cipher: CmsCipher; readonly iv: Uint8Array } {
  const { id, parameters } = readAlgorithm(element);
  const found = Object.entries(cipherIds).find(([, known]) => known === id);
  if (found === undefined) throw new CmsError('unsupported', `content encryption ${id} is not taken: use AES in CBC mode`);
  if (parameters?.tag !== tag.octetString || parameters.content.length !== 16)
    throw new CmsError('malformed', 'the initialisation vector is not 16 octets');
  return { cipher: found[0] as CmsCipher, iv: parameters.content };
}

/** Encryption of the content key: RSAES-PKCS1-v1_5, or RSAES-OAEP with one hash for label and mask and an empty label. */
export type KeyTransport = { readonly padding: 'pkcs1v15' } | { readonly padding: 'oaep'; readonly hash: CmsHash };

export function readKeyTransport(element: Element): KeyTransport {
  const algorithm = readAlgorithm(element);
  if (algorithm.id === rsaEncryption) {
    requireNoParameters(algorithm);
    return { padding: 'pkcs1v15' };
  }
  if (algorithm.id !== rsaesOaep) throw new CmsError('unsupported', `key transport ${algorithm.id} is not taken: use RSA`);
  if (algorithm.parameters?.tag !== tag.sequence) throw new CmsError('unsupported', 'RSAES-OAEP with SHA-1 is not taken');
  return { padding: 'oaep', hash: readOaepHash(new Reader(algorithm.parameters.content)) };
}

/** Reads the hash of OAEP (RFC 4055 section 4.1); an absent one means SHA-1, which is not accepted. */
function readOaepHash(fields: Reader): CmsHash {
  const [hashField, maskField, labelField] = [0, 1, 2].map((n) => fields.optional(tag.constructed(n)));
  fields.end();
  if (hashField === undefined || maskField === undefined) throw new CmsError('unsupported', 'RSAES-OAEP with SHA-1 is not taken');
  const hash = readHash(only(hashField));
  const mask = readAlgorithm(only(maskField));
  if (mask.id !== mgf1 || mask.parameters === undefined || readHash(mask.parameters) !== hash)
    throw new CmsError('unsupported', 'RSAES-OAEP is taken with one hash for label and mask');
  if (labelField !== undefined) requireEmptyLabel(readAlgorithm(only(labelField)));
  return hash;
}

function requireEmptyLabel({ parameters }: Algorithm): void {
  if (parameters?.tag !== tag.octetString || parameters.content.length > 0)
    throw new CmsError('unsupported', 'RSAES-OAEP is taken without a label');
}

function only({ content }: Element): Element {
  const fields = new Reader(content);
  const found = fields.next();
  fields.end();
  return found;
}

/** Runs a reader; invalid DER is `malformed`, as are breaches of the rules of CMS. */
export function readingCms<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof DerError) throw new CmsError('malformed', `this is not DER of a CMS message: ${error.message}`);
    throw error;
  }
}
