// Protection by a signature: its algorithm, and whether it holds under the key of a certificate that was found good.
import { constants, type KeyObject, verify } from 'node:crypto';
import { cleanly } from '../../../core/base/public-keys/openssl.ts';
import { readPss, rsassaPss } from '../../../core/cms/pss.ts';
import { Reader, readObjectIdentifier, tag } from '../../../core/der/der.ts';
import { CmpRefusal, reading } from './refusal.ts';

type Hash = 'sha256' | 'sha384' | 'sha512';

/** `saltLength`: of RSASSA-PSS, whose mask has the hash of the signature */
type Row = { readonly hash: Hash | null; readonly keys: readonly string[]; readonly saltLength?: number };

const rsa = ['rsa'];
/** a key that is named for RSASSA-PSS makes no other signatures; OpenSSL keeps to its parameters */
const rsaForPss = ['rsa', 'rsa-pss'];
const mlDsa = ['ml-dsa-44', 'ml-dsa-65', 'ml-dsa-87'];

/** Algorithms (RFC 9481 section 3, RFC 9881). DSA, MD5 and SHA-1 are not here. */
const algorithms: ReadonlyMap<string, Row> = new Map<string, Row>([
  ['1.2.840.113549.1.1.11', { hash: 'sha256', keys: rsa }],
  ['1.2.840.113549.1.1.12', { hash: 'sha384', keys: rsa }],
  ['1.2.840.113549.1.1.13', { hash: 'sha512', keys: rsa }],
  ['1.2.840.10045.4.3.2', { hash: 'sha256', keys: ['ec'] }],
  ['1.2.840.10045.4.3.3', { hash: 'sha384', keys: ['ec'] }],
  ['1.2.840.10045.4.3.4', { hash: 'sha512', keys: ['ec'] }],
  ['1.3.101.112', { hash: null, keys: ['ed25519'] }],
  ...mlDsa.map((key, index): [string, Row] => [`2.16.840.1.101.3.4.3.${17 + index}`, { hash: null, keys: [key] }]),
]);

/** Reads a protectionAlg that is not one of a MAC. Throws CmpRefusal. */
export function readSignatureAlgorithm(algorithm: Uint8Array): Row {
  const id = algorithmIdOf(algorithm);
  const row = id === rsassaPss ? pssRow(algorithm) : algorithms.get(id);
  if (row === undefined)
    throw new CmpRefusal(
      'badAlg',
      `the protection algorithm ${id} is not taken: use a signature with SHA-256 or better, or a MAC under a password`,
    );
  return row;
}

/** Undefined for other hashes than those of SHA-2, and for other masks. */
function pssRow(algorithm: Uint8Array): Row | undefined {
  const read = reading('the algorithm of the protection', () => readPss(algorithm));
  return read === undefined || read === 'none' ? undefined : { ...read, keys: rsaForPss };
}

function algorithmIdOf(algorithm: Uint8Array): string {
  return reading('the algorithm of the protection', () =>
    readObjectIdentifier(new Reader(algorithm).enter(tag.sequence).next(tag.oid).content),
  );
}

export function isSignedBy(key: KeyObject, { hash, keys, saltLength }: Row, octets: Uint8Array, signature: Uint8Array): boolean {
  if (!keys.includes(key.asymmetricKeyType ?? '')) return false;
  const padding =
    saltLength !== undefined
      ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength }
      : keys === rsa
        ? { padding: constants.RSA_PKCS1_PADDING }
        : {};
  try {
    return cleanly(() => verify(hash, octets, { key, ...padding }, signature));
  } catch {
    return false;
  }
}
