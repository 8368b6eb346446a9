// Key material that comes in: read, checked for consistency, and brought into the one form the HSM takes.
import {
  type KeyObject,
  checkPrime,
  createPrivateKey,
  createPublicKey,
  decapsulate,
  diffieHellman,
  encapsulate,
  generateKeyPairSync,
  sign,
  verify,
} from 'node:crypto';
import { promisify } from 'node:util';
import { decodeBase64, parseBase64 } from '../../../core/base/bytes.ts';
import { openInTurn } from '../../../core/base/async/opening.ts';
import { fail as coreFail } from '../../../core/base/errors.ts';
import { cleanly } from '../../../core/base/public-keys/openssl.ts';
import { jwkOfOpenssh, OpensshKeyError } from '../../../core/base/public-keys/openssh.ts';
import { containerAdvice, isEncryptedPkcs8 } from '../../../core/der/private-key-files.ts';
import { hasMadeUpCurve } from '../../../core/base/public-keys/public-key.ts';
import {
  type Cipher,
  type EstablishingCipher,
  isSymmetric,
  type OpeningCipher,
  type SignatureFamily,
  type SigningCipher,
  type SymmetricCipher,
} from '../ciphers.ts';
import { derInPlaceOfPem, readPem, seenInPem } from '../../../core/base/texts/pem.ts';
import { encode, readOnly, tag } from '../../../core/der/der.ts';
import { plainRsa } from '../../../core/der/rsa-pss.ts';
import { hashFor } from '../../../hsm/api.ts';
import { fail, unusable } from '../errors.ts';
import { decryptPkcs8 } from '../inputs/encrypted-pkcs8.ts';
import { octetsOfJwk, privateKeyOfJwk, readJwkText } from '../inputs/jwk.ts';
import { findCurve } from '../../../core/base/public-keys/curves.ts';
import { canonicalPkcs8, canonicalSpki, requireKeyOf } from './public-keys.ts';

/** Material ready for Hsm.importKey, which zeroes it: raw octets, or PKCS#8 DER together with its public key (SPKI DER), named as it came. */
export type Material = { readonly octets: Uint8Array; readonly publicKey?: Uint8Array };

/** Cipher and use that the material is for. `extracts`: keys are derived from it by HKDF, which takes secrets of any length. */
export type MaterialTarget = {
  readonly cipherName: string;
  readonly cipher: Cipher;
  readonly derived: boolean;
  readonly extracts?: boolean;
};

/** Passphrase of an encrypted private key, and the tenant in whose turn it is opened. */
type Protection = { readonly passphrase?: string | undefined; readonly tenantId?: string };

/**
 * Reads `data` of an import: a private key as PKCS#8, PKCS#1, SEC1, OpenSSH or JWK, or base64 or a JWK for symmetric keys.
 * Throws invalid-key-data, invalid-base64, key-type-mismatch, invalid-value, missing-field; each says what was seen.
 */
export async function parseMaterialText(text: string, target: MaterialTarget, protection: Protection = {}): Promise<Material> {
  if (isSymmetric(target.cipher)) {
    if (protection.passphrase !== undefined) throw needlessPassphrase();
    return checkSymmetric(readSymmetric(text, target), target, target.cipher);
  }
  return checkPrivateKey(await readPrivateKey(text, protection), target, target.cipher);
}

function readSymmetric(text: string, target: MaterialTarget): Uint8Array {
  if (text.includes('-----BEGIN'))
    throw fail('key-type-mismatch', { detail: `"data" is ${seenInPem(text)}; a key with cipher ${target.cipherName} takes base64.` });
  const jwk = readJwkText(text, '"data"');
  if (jwk === undefined) return parseBase64(text.replaceAll(/\s/g, ''), 'data');
  const octets = octetsOfJwk(jwk);
  if (octets !== undefined) return octets;
  throw fail('key-type-mismatch', { detail: `"data" is a JWK without "kty" oct and "k"; the key has cipher ${target.cipherName}.` });
}

/** The one private key of a text: keys often come with parameters, certificates and their public half. Throws invalid-key-data. */
async function readPrivateKey(text: string, protection: Protection): Promise<KeyObject> {
  const jwk = readJwkText(text, '"data"');
  const blocks = readPem(text);
  const [block, ...more] = blocks.filter(({ label }) => label === encrypted || label === openssh || privateTypes[label] !== undefined);
  const der = jwk === undefined ? (derInPlaceOfPem(text) ?? block?.der) : undefined;
  if (der !== undefined && more.length === 0 && isEncryptedPkcs8(der)) return readEncrypted(der, protection);
  if (blocks.some((one) => one.der === undefined && one.text.includes('ENCRYPTED')))
    throw unusable(
      '"data" is encrypted as OpenSSL did before PKCS#8. Write it as PKCS#8 first ("openssl pkcs8 -topk8"), and give its passphrase, or import it with "keystorectl import-key".',
    );
  if (jwk === undefined && block === undefined) requireNoContainer(text, der);
  const ofOpenssh = block?.label === openssh && more.length === 0 ? readOpenssh(block.der ?? new Uint8Array(0)) : undefined;
  if (protection.passphrase !== undefined && (jwk ?? block ?? der) !== undefined) throw needlessPassphrase();
  if (jwk !== undefined) return privateKeyOfJwk(jwk);
  if (block === undefined && der !== undefined) return readPrivateDer(der, ['pkcs8', 'pkcs1', 'sec1'], '"data"');
  if (block === undefined || more.length > 0)
    throw unusable(
      `"data" must be one PEM private key (PRIVATE KEY, ENCRYPTED PRIVATE KEY, RSA PRIVATE KEY, EC PRIVATE KEY or OPENSSH PRIVATE KEY), or a JWK; this is ${seenInPem(text)}.`,
    );
  if (ofOpenssh !== undefined) return privateKeyOfJwk(ofOpenssh);
  return readPrivateDer(block.der ?? new Uint8Array(0), [privateTypes[block.label] ?? 'pkcs8'], `The ${block.label} block`);
}

/** Throws invalid-key-data for a file in base64 that keeps a key beside certificates. */
function requireNoContainer(text: string, der: Uint8Array | undefined): void {
  const advice = containerAdvice(der ?? decodeBase64(text.replaceAll(/\s/g, '')) ?? new Uint8Array(0));
  if (advice !== undefined) throw unusable(`"data" ${advice}.`);
}

function readOpenssh(der: Uint8Array): JsonWebKey {
  try {
    return jwkOfOpenssh(der);
  } catch (error) {
    throw error instanceof OpensshKeyError ? unusable(error.message) : error;
  }
}

const encrypted = 'ENCRYPTED PRIVATE KEY';
const openssh = 'OPENSSH PRIVATE KEY';

async function readEncrypted(der: Uint8Array, { passphrase, tenantId = '' }: Protection): Promise<KeyObject> {
  if (passphrase === undefined)
    throw coreFail('missing-field', {
      detail: '"data" is an encrypted private key: give its "passphrase", or import it wrapped as ciphertext.',
      items: [{ message: 'is required', info: 'passphrase' }],
    });
  const opened = await openInTurn(tenantId, () => decryptPkcs8(der, passphrase));
  try {
    return readPrivateDer(opened, ['pkcs8'], 'The encrypted private key');
  } finally {
    opened.fill(0);
  }
}

function needlessPassphrase(): Error {
  return coreFail('invalid-value', {
    detail: '"passphrase" is for an encrypted private key, and this key is not encrypted.',
    items: [{ message: 'is for an encrypted private key', info: 'passphrase' }],
  });
}

type PrivateType = 'pkcs8' | 'pkcs1' | 'sec1';
/** Encoding of a block, by its label. */
const privateTypes: Readonly<Record<string, PrivateType>> = {
  'PRIVATE KEY': 'pkcs8',
  'RSA PRIVATE KEY': 'pkcs1',
  'EC PRIVATE KEY': 'sec1',
};

/** Reads octets as parseMaterialText: raw for symmetric keys, PKCS#8 DER for private ones. Zeroes `octets` unless it returns them. */
export async function parseMaterialOctets(octets: Uint8Array, target: MaterialTarget): Promise<Material> {
  if (isSymmetric(target.cipher)) return checkSymmetric(octets, target, target.cipher);
  try {
    return await checkPrivateKey(readPrivateDer(octets, ['pkcs8'], 'The material'), target, target.cipher);
  } finally {
    octets.fill(0);
  }
}

/** Octets of a symmetric key, the least and the most: those of the cipher, or of the secret that a derived key derives from. */
function symmetricBytes({ derived, extracts = false }: MaterialTarget, cipher: SymmetricCipher): readonly [number, number] {
  if (extracts) return [16, 64];
  return derived ? [32, 32] : [cipher.keyBytes, cipher.keyBytes];
}

function checkSymmetric(octets: Uint8Array, target: MaterialTarget, cipher: SymmetricCipher): Material {
  const [least, most] = symmetricBytes(target, cipher);
  if (octets.length < least || octets.length > most) {
    const seen = octets.length;
    octets.fill(0);
    const what = target.derived ? 'a derived key' : `a key with cipher ${target.cipherName}`;
    const wanted = least === most ? String(most) : `${least} to ${most}`;
    throw fail('key-type-mismatch', { detail: `The material has ${seen} octets; ${what} takes ${wanted}.` });
  }
  return { octets };
}

/** Reads the key in DER of one of these types. Throws invalid-key-data, also if the key comes with a public key that is not its own. */
function readPrivateDer(der: Uint8Array, types: readonly PrivateType[], what: string): KeyObject {
  if (hasMadeUpCurve(der)) throw unusable(`${what} is on a curve that is not known: name P-256, P-384 or P-521.`);
  const key = types.map((type) => findPrivateKey(der, type)).find((found) => found !== undefined);
  if (key === undefined) throw unusable(`${what} cannot be read as a private key.`);
  const stated = statedPublicKey(der);
  if (stated !== undefined && !isPublicKeyOf(stated, key))
    throw unusable(`${what} states a public key that is not that of its private key.`);
  return key;
}

function findPrivateKey(der: Uint8Array, type: PrivateType): KeyObject | undefined {
  const key = Buffer.from(der.buffer, der.byteOffset, der.length);
  try {
    return cleanly(() => createPrivateKey({ key, format: 'der', type }));
  } catch {
    return undefined;
  }
}

/**
 * SubjectPublicKeyInfo of the public key that a OneAsymmetricKey of version 2 states beside its private key (RFC 5958 section 2), which
 * OpenSSL passes over; undefined without one.
 */
function statedPublicKey(der: Uint8Array): Uint8Array | undefined {
  try {
    const fields = readOnly(der, tag.sequence);
    fields.next(tag.integer);
    const algorithm = fields.next(tag.sequence).whole;
    fields.next(tag.octetString);
    fields.optional(tag.constructed(0));
    const bits = fields.optional(tag.primitive(1))?.content;
    return bits === undefined ? undefined : encode(tag.sequence, algorithm, encode(tag.bitString, bits));
  } catch {
    // PKCS#1 and SEC 1 have other fields.
    return undefined;
  }
}

function isPublicKeyOf(spki: Uint8Array, key: KeyObject): boolean {
  try {
    const stated = cleanly(() => plainRsa(createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' })));
    return Buffer.compare(canonicalSpki(stated), canonicalSpki(createPublicKey(plainRsa(key)))) === 0;
  } catch {
    return false;
  }
}

async function checkPrivateKey(
  named: KeyObject,
  target: MaterialTarget,
  cipher: SigningCipher | OpeningCipher | EstablishingCipher,
): Promise<Material> {
  requireKeyOf(named, target.cipherName, cipher);
  const key = plainRsa(named);
  if (cipher.family === 'rsa' && hasMorePrimes(key))
    throw unusable('The key has more than two primes (RFC 8017 section 3.2), which tokens do not take: make one with two.');
  if (
    !(await numbersAgree[cipher.family](key)) ||
    !cleanly(() => (cipher.kind === 'establishing' ? fitsItself[cipher.use](key) : signsForItself(key, cipher)))
  )
    throw unusable('The numbers of the private key contradict each other, or are out of their range.');
  return { octets: canonicalPkcs8(key), publicKey: canonicalSpki(createPublicKey(named)) };
}

/** Per family: whether the numbers of the private key are what a token can use; what is not asked here shows when the key signs. */
const numbersAgree: Readonly<Record<SignatureFamily | EstablishingCipher['family'], (key: KeyObject) => boolean | Promise<boolean>>> = {
  rsa: rsaNumbersAgree,
  ecdsa: hasScalarInRange,
  ecdh: hasScalarInRange,
  x25519: () => true,
  ed25519: () => true,
  'ml-dsa': () => true,
  // A token takes the seed alone.
  'ml-kem': hasSeed,
};

function hasSeed(key: KeyObject): boolean {
  try {
    cleanly(() => key.export({ format: 'raw-seed' })).fill(0);
    return true;
  } catch {
    throw unusable('The key is in its expanded form alone: give it with its seed of 64 octets (RFC 9935 section 6).');
  }
}

// OpenSSL takes any scalar, and reduces it as it likes: 0 < d < n (SEC 1 section 3.2.1).
function hasScalarInRange(key: KeyObject): boolean {
  const curve = findCurve(key.asymmetricKeyDetails?.namedCurve);
  try {
    const scalar = cleanly(() => key.export({ format: 'raw-private' }));
    const d = BigInt(`0x0${scalar.toString('hex')}`);
    scalar.fill(0);
    return curve !== undefined && d > 0n && d < curve.Point.Fn.ORDER;
  } catch {
    return false;
  }
}

/** The version of RSAPrivateKey says it. */
function hasMorePrimes(key: KeyObject): boolean {
  const der = cleanly(() => key.export({ type: 'pkcs1', format: 'der' }));
  const version = readOnly(der, tag.sequence).next(tag.integer).content;
  der.fill(0);
  return version.length !== 1 || version[0] !== 0;
}

/** Tells whether the private key opens what its public key has encapsulated. */
function decapsulatesItsOwn(privateKey: KeyObject): boolean {
  try {
    const { sharedKey, ciphertext } = encapsulate(createPublicKey(privateKey));
    return sharedKey.equals(decapsulate(privateKey, ciphertext));
  } catch {
    return false;
  }
}

/** Tells whether private and public key agree with another pair on one secret. */
function agreesWithItself(privateKey: KeyObject): boolean {
  try {
    const { namedCurve = '' } = privateKey.asymmetricKeyDetails ?? {};
    const other = privateKey.asymmetricKeyType === 'ec' ? generateKeyPairSync('ec', { namedCurve }) : generateKeyPairSync('x25519');
    const secret = diffieHellman({ privateKey, publicKey: other.publicKey });
    return secret.equals(diffieHellman({ privateKey: other.privateKey, publicKey: createPublicKey(privateKey) }));
  } catch {
    return false;
  }
}

const fitsItself = { agree: agreesWithItself, decapsulate: decapsulatesItsOwn } as const;

function signsForItself(key: KeyObject, cipher: SigningCipher | OpeningCipher): boolean {
  const probe = Buffer.from('keystored import check');
  const hash = hashFor(cipher.family, 'sha256');
  try {
    return verify(hash, probe, createPublicKey(key), sign(hash, probe, key));
  } catch {
    return false;
  }
}

const isPrime = promisify(checkPrime as (candidate: bigint, callback: (error: Error | null, prime: boolean) => void) => void);

// OpenSSL repairs wrong CRT numbers while signing, a token does not: check them (RFC 8017 section 3.2).
async function rsaNumbersAgree(key: KeyObject): Promise<boolean> {
  const jwk = cleanly(() => key.export({ format: 'jwk' }));
  const [n, e, d, p, q, dp, dq, qi] = (['n', 'e', 'd', 'p', 'q', 'dp', 'dq', 'qi'] as const).map((name) =>
    BigInt(`0x0${Buffer.from(jwk[name] ?? '', 'base64url').toString('hex')}`),
  ) as [bigint, bigint, bigint, bigint, bigint, bigint, bigint, bigint];
  const agree =
    n === p * q &&
    p > 1n &&
    q > 1n &&
    d < n &&
    dp === d % (p - 1n) &&
    dq === d % (q - 1n) &&
    (qi * q) % p === 1n &&
    (e * d) % (p - 1n) === 1n &&
    (e * d) % (q - 1n) === 1n;
  return agree && (await isPrime(p)) && (await isPrime(q));
}
