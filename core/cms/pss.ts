// AlgorithmIdentifier of RSASSA-PSS (RFC 4055 section 3.1) with one hash for signature and mask, one of SHA-2.
import { hashBytes } from '../base/hash.ts';
import {
  DerError,
  explicit,
  integer,
  nullValue,
  objectIdentifier,
  type Reader,
  readObjectIdentifier,
  readOnly,
  sequence,
  tag,
} from '../der/der.ts';
import type { HashName } from '../../hsm/api.ts';
import { hashIds, hashNames, mgf1 } from './algorithms.ts';

export const rsassaPss = '1.2.840.113549.1.1.10';

/** `saltLength` in octets. */
export type PssParameters = { readonly hash: HashName; readonly saltLength: number };

/** The salt where the parameters name none. */
const defaultSaltLength = 20;

/** AlgorithmIdentifier with MGF1 of the same hash; the salt is as long as the hash unless given. */
export function pssIdentifier(
  hash: HashName,
  saltLength: number = hashBytes[hash],
  hashParameters: readonly Uint8Array[] = [nullValue],
): Uint8Array {
  const ofHash = sequence(objectIdentifier(hashIds[hash]), ...hashParameters);
  const salt = saltLength === defaultSaltLength ? [] : [explicit(2, integer(saltLength))];
  const parameters = sequence(explicit(0, ofHash), explicit(1, sequence(objectIdentifier(mgf1), ofHash)), ...salt);
  return sequence(objectIdentifier(rsassaPss), parameters);
}

/**
 * Reads the parameters of an AlgorithmIdentifier of RSASSA-PSS: `none` where they are absent, undefined for hashes that are refused, as those that
 * are meant by default (SHA-1), or that are not one. Throws DerError.
 */
export function readPss(identifier: Uint8Array): PssParameters | 'none' | undefined {
  const fields = readOnly(identifier, tag.sequence);
  if (readObjectIdentifier(fields.next(tag.oid).content) !== rsassaPss) throw new DerError('not RSASSA-PSS');
  if (!fields.more) return 'none';
  const parameters = fields.enter(tag.sequence);
  fields.end();
  const [hashField, maskField, saltField, trailer] = [0, 1, 2, 3].map((n) => parameters.optional(tag.constructed(n)));
  parameters.end();
  if (trailer !== undefined && numberIn(trailer.content) !== 1) return undefined;
  if (hashField === undefined || maskField === undefined) return undefined;
  const hash = hashIn(readOnly(hashField.content, tag.sequence));
  const mask = readOnly(maskField.content, tag.sequence);
  if (readObjectIdentifier(mask.next(tag.oid).content) !== mgf1) return undefined;
  const ofMask = hashIn(mask.enter(tag.sequence));
  mask.end();
  if (hash === undefined || ofMask !== hash) return undefined;
  return { hash, saltLength: saltField === undefined ? defaultSaltLength : numberIn(saltField.content) };
}

/** Parameters that are NULL or absent, which mean the same (RFC 5754 section 2). */
function hashIn(algorithm: Reader): HashName | undefined {
  const hash = hashNames.get(readObjectIdentifier(algorithm.next(tag.oid).content));
  const parameters = algorithm.optional(tag.null);
  algorithm.end();
  if (parameters !== undefined && parameters.content.length > 0) throw new DerError('NULL with content');
  return hash;
}

/** An INTEGER of at most two octets, not negative: no modulus that is taken has room for a longer salt. */
function numberIn(content: Uint8Array): number {
  const octets = readOnly(content, tag.integer).remaining;
  const [first = 0x80, ...more] = octets;
  if (first > 0x7f || more.length > 1) throw new DerError('number out of range');
  return more.reduce((sum, octet) => sum * 256 + octet, first);
}

/** Tells whether the identifier of a public key is written in DER, with parameters that were read: defaults are left out. */
export function isPssInDer(identifier: Uint8Array, { hash, saltLength }: PssParameters): boolean {
  return [[nullValue], []].some((parameters) => Buffer.compare(pssIdentifier(hash, saltLength, parameters), identifier) === 0);
}
