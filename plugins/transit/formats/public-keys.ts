// Public keys: parsing those from requests, naming what was found, and key objects for verification.
import { type KeyObject, createPrivateKey, createPublicKey } from 'node:crypto';
import { withArticle } from '../../../core/wire/article.ts';
import { cleanly } from '../../../core/base/public-keys/openssl.ts';
import { findPublicKeyProblem, hasCompositeModulus, hasMadeUpCurve } from '../../../core/base/public-keys/public-key.ts';
import type { HashName } from '../../../hsm/api.ts';
import { type Cipher, cipherNameForNodeKey, isSymmetric } from '../ciphers.ts';
import { derInPlaceOfPem, formatPem, isCertificateLabel, readPem, seenInPem } from '../../../core/base/texts/pem.ts';
import { readOnly, tag } from '../../../core/der/der.ts';
import { plainRsa } from '../../../core/der/rsa-pss.ts';
import { fail, unusable } from '../errors.ts';
import { publicKeyOfJwk, readJwkText } from '../inputs/jwk.ts';

/**
 * Reads the field `public-key`: one PEM block, SubjectPublicKeyInfo or PKCS#1, of the cipher's type and size. Returns the
 * SubjectPublicKeyInfo DER. Throws invalid-key-data, key-type-mismatch.
 */
export function parsePublicKey(pem: string, cipherName: string, cipher: Cipher): Uint8Array {
  const key = readAsNamed(pem, '"public-key"');
  requireKeyOf(key, cipherName, cipher);
  return canonicalSpki(key);
}

/**
 * The public key in a text: the one block of it that is a public key, or base64 of DER; of RSA always under the OID of RSA. `what` names the
 * text in messages. Throws invalid-key-data.
 */
export function readPublicKey(text: string, what: string): KeyObject {
  return cleanly(() => plainRsa(readAsNamed(text, what)));
}

function readAsNamed(text: string, what: string): KeyObject {
  const jwk = readJwkText(text, what);
  if (jwk !== undefined) return publicKeyOfJwk(jwk, what);
  const [block, ...more] = publicKeyBlocks(text);
  // createPublicKey also accepts private keys, and would silently use their public half.
  if (block === undefined)
    throw unusable(`${what} must be one PEM public key (PUBLIC KEY or RSA PUBLIC KEY), certificate or JWK; this is ${seenInPem(text)}.`);
  if (more.length > 0) throw unusable(`${what} must be one public key or certificate; this is ${seenInPem(text)}.`);
  if (hasMadeUpCurve(block.der)) throw unusable(`${what} is on a curve that is not known: name P-256, P-384 or P-521.`);
  for (const type of block.label === 'RSA PUBLIC KEY' ? (['pkcs1'] as const) : (['spki', 'pkcs1'] as const)) {
    try {
      return cleanly(() => createPublicKey({ key: Buffer.from(block.der), format: 'der', type }));
    } catch {
      continue;
    }
  }
  throw unusable(`${what} cannot be read as a public key.`);
}

function publicKeyBlocks(text: string): readonly { readonly label: string; readonly der: Uint8Array }[] {
  const instead = derInPlaceOfPem(text);
  if (instead !== undefined) return [{ label: '', der: keyOfCertificate(instead) ?? instead }];
  return readPem(text).flatMap(({ label, der = new Uint8Array(0) }) => {
    if (isCertificateLabel(label)) return [{ label, der: keyOfCertificate(der) ?? der }];
    return /^(?:RSA )?PUBLIC KEY$/.test(label) ? [{ label, der }] : [];
  });
}

/** SubjectPublicKeyInfo of a certificate (RFC 5280 section 4.1); undefined for anything else. Its other fields do not matter here. */
function keyOfCertificate(der: Uint8Array): Uint8Array | undefined {
  try {
    const fields = readOnly(der, tag.sequence).enter(tag.sequence);
    fields.optional(tag.constructed(0));
    fields.next(tag.integer);
    for (const _ of ['signature', 'issuer', 'validity', 'subject']) fields.next(tag.sequence);
    return fields.next(tag.sequence).whole;
  } catch {
    return undefined;
  }
}

/**
 * Throws key-type-mismatch, naming what was seen, unless the key is of the cipher's type and size; invalid-key-data for a public key
 * that breaks the rule for keys of others (core/base/public-keys/public-key.ts), and for parameters of RSASSA-PSS under which the token makes no signature.
 */
export function requireKeyOf(named: KeyObject, cipherName: string, cipher: Cipher): void {
  requirePssParameters(named);
  const key = cleanly(() => plainRsa(named));
  const seen = cleanly(() => nodeKeyOf(key));
  if (isSymmetric(cipher) || cipher.nodeKey !== seen) {
    throw fail('key-type-mismatch', { detail: `The material is ${describe(key, seen)}; the key has cipher ${cipherName}.` });
  }
  if (cipher.kind === 'opening' && named.asymmetricKeyType === 'rsa-pss')
    throw fail('key-type-mismatch', { detail: 'The material is a key for RSASSA-PSS, which signs; the key is for encryption.' });
  const use = cipher.kind === 'opening' ? 'encrypt' : 'verify';
  const problem = findPublicKeyProblem(key.type === 'private' ? createPublicKey(key) : key, use);
  if (problem !== undefined) throw unusable(`The key ${problem}.`);
}

/** Octets of salt that the token uses: as many as the hash has. */
const saltBytes: Readonly<Record<HashName, number>> = { sha256: 32, sha384: 48, sha512: 64 };

/** Throws invalid-key-data for parameters under which the token makes no signature. */
export function requirePssParameters(key: KeyObject): void {
  const { hashAlgorithm: hash, mgf1HashAlgorithm: mgf1, saltLength = 0 } = cleanly(() => key.asymmetricKeyDetails) ?? {};
  if (key.asymmetricKeyType !== 'rsa-pss' || hash === undefined) return;
  const salt = saltBytes[hash as HashName] as number | undefined;
  if (salt !== undefined && mgf1 === hash && saltLength <= salt) return;
  const detail = `The key is for RSASSA-PSS with ${hash}, MGF1 with ${mgf1} and a salt of at least ${saltLength} octets. Signatures are made with sha256, sha384 or sha512, MGF1 with the same hash and a salt as long as that.`;
  throw fail('invalid-key-data', { detail });
}

/** Throws invalid-key-data for an RSA key whose modulus is a prime or a power of one. Takes longer than requireKeyOf. */
export async function requireCompositeModulus(key: KeyObject): Promise<void> {
  if (!(await hasCompositeModulus(plainRsa(key)))) throw unusable('The RSA modulus is a prime, or a power of one.');
}

/** SubjectPublicKeyInfo with a named curve and an uncompressed point, the form that all readers accept (RFC 5480 section 2.1.1 and 2.2). */
export function canonicalSpki(key: KeyObject): Uint8Array {
  return new Uint8Array(cleanly(() => canonical(key).export({ type: 'spki', format: 'der' })));
}

/** PKCS#8 of a private key, in the same form. */
export function canonicalPkcs8(key: KeyObject): Uint8Array {
  return new Uint8Array(cleanly(() => canonical(key).export({ type: 'pkcs8', format: 'der' })));
}

function canonical(key: KeyObject): KeyObject {
  if (key.asymmetricKeyType !== 'ec') return key;
  const jwk = { key: key.export({ format: 'jwk' }), format: 'jwk' } as const;
  return key.type === 'private' ? createPrivateKey(jwk) : createPublicKey(jwk);
}

/** PEM of a stored SubjectPublicKeyInfo. */
export function formatPublicKey(spki: Uint8Array): string {
  return formatPem('PUBLIC KEY', spki);
}

// Remembered by the stored octets: the store returns the same object until the record changes.
const keyObjects = new WeakMap<Uint8Array, KeyObject>();

/** The key object of a stored SubjectPublicKeyInfo; made once per record. */
export function keyObjectOf(spki: Uint8Array): KeyObject {
  let key = keyObjects.get(spki);
  if (key === undefined) {
    key = cleanly(() => createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' }));
    keyObjects.set(spki, key);
  }
  return key;
}

function nodeKeyOf(key: KeyObject): string {
  const type = key.asymmetricKeyType ?? key.type;
  const details = key.asymmetricKeyDetails;
  if (details?.modulusLength !== undefined) return `${type} ${details.modulusLength}`;
  return type === 'ec' ? `ec ${details?.namedCurve ?? 'with explicit parameters'}` : type;
}

function describe(key: KeyObject, seen: string): string {
  const name = cipherNameForNodeKey(seen);
  const what = name === undefined ? seen.replace(/^(?:ec|rsa|dsa|dh|rsa-pss)\b/, (type) => type.toUpperCase()) : name;
  return key.asymmetricKeyType === undefined ? `${withArticle(key.type)} key of an unknown type` : withArticle(`${what} ${key.type} key`);
}
