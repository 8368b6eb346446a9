// Key material that comes in: read, checked for consistency, and brought into the one form the HSM takes (design hsm 6).
import { type KeyObject, checkPrime, createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';
import { promisify } from 'node:util';
import { parseBase64 } from '../../../core/base/bytes.ts';
import { cleanly } from '../../../core/base/openssl.ts';
import type { AeadCipher, Cipher, SignatureFamily, SigningCipher } from '../ciphers.ts';
import { fail } from '../errors.ts';
import { findNistCurve } from './nist-curves.ts';
import { pemBlocks } from './pem.ts';
import { canonicalPkcs8, canonicalSpki, requireKeyOf } from './public-keys.ts';

/** Material ready for Hsm.importKey, which zeroes it: raw octets, or PKCS#8 DER together with its public key (SPKI DER). */
export type Material = { readonly octets: Uint8Array; readonly publicKey?: Uint8Array };

/** What the material is for. */
export type MaterialTarget = { readonly cipherName: string; readonly cipher: Cipher; readonly derived: boolean };

/**
 * Reads `data` of an import: a PKCS#8, PKCS#1 or SEC1 PEM, or base64 for symmetric keys (api 39).
 * Throws invalid-key-data, invalid-base64, key-type-mismatch; each says what was seen.
 */
export async function parseMaterialText(text: string, target: MaterialTarget): Promise<Material> {
  const blocks = pemBlocks(text).filter((block) => block.label !== 'EC PARAMETERS');
  if (target.cipher.kind === 'aead') {
    if (text.includes('-----BEGIN')) {
      const seen = blocks[0]?.label ?? 'a PEM text';
      throw fail('key-type-mismatch', { detail: `"data" is PEM (${seen}); a key with cipher ${target.cipherName} takes base64.` });
    }
    return checkSymmetric(parseBase64(text, 'data'), target, target.cipher);
  }
  const [block, ...more] = blocks;
  if (block === undefined || more.length > 0) throw unusable('"data" must be exactly one PEM private key.');
  if (block.label === 'ENCRYPTED PRIVATE KEY' || block.text.includes('ENCRYPTED')) {
    throw unusable('"data" is an encrypted private key; decrypt it first, or import it wrapped as ciphertext.');
  }
  if (!/^(?:RSA |EC )?PRIVATE KEY$/.test(block.label)) {
    throw unusable(`"data" must be a PRIVATE KEY, RSA PRIVATE KEY or EC PRIVATE KEY block; this is ${block.label}.`);
  }
  return checkPrivateKey(
    readKey(() => createPrivateKey(block.text), `The ${block.label} block`),
    target,
    target.cipher,
  );
}

/** As parseMaterialText for octets: raw for symmetric keys, PKCS#8 DER for private ones. Zeroes `octets` unless it returns them. */
export async function parseMaterialOctets(octets: Uint8Array, target: MaterialTarget): Promise<Material> {
  if (target.cipher.kind === 'aead') return checkSymmetric(octets, target, target.cipher);
  try {
    const read = (): KeyObject =>
      createPrivateKey({ key: Buffer.from(octets.buffer, octets.byteOffset, octets.length), format: 'der', type: 'pkcs8' });
    return await checkPrivateKey(readKey(read, 'The material'), target, target.cipher);
  } finally {
    octets.fill(0);
  }
}

/** Octets of the secret that a symmetric key keeps: of the cipher, or of the generic secret a derived key derives from. */
function symmetricBytes(target: MaterialTarget, cipher: AeadCipher): number {
  return target.derived ? 32 : cipher.keyBytes;
}

function checkSymmetric(octets: Uint8Array, target: MaterialTarget, cipher: AeadCipher): Material {
  const wanted = symmetricBytes(target, cipher);
  if (octets.length !== wanted) {
    const seen = octets.length;
    octets.fill(0);
    const what = target.derived ? 'a derived key' : `a key with cipher ${target.cipherName}`;
    throw fail('key-type-mismatch', { detail: `The material has ${seen} octets; ${what} takes ${wanted}.` });
  }
  return { octets };
}

function readKey(read: () => KeyObject, what: string): KeyObject {
  try {
    return cleanly(() => withoutPssRestrictions(read()));
  } catch {
    throw unusable(`${what} cannot be read as a private key.`);
  }
}

async function checkPrivateKey(key: KeyObject, target: MaterialTarget, cipher: SigningCipher): Promise<Material> {
  requireKeyOf(key, target.cipherName, cipher);
  if (!(await numbersAgree[cipher.family](key)) || !cleanly(() => signsForItself(key, cipher)))
    throw unusable('The numbers of the private key contradict each other, or are out of their range.');
  return { octets: canonicalPkcs8(key), publicKey: canonicalSpki(createPublicKey(key)) };
}

/** Per family: whether the numbers of the private key are what a token can use; what is not asked here shows when the key signs. */
const numbersAgree: Readonly<Record<SignatureFamily, (key: KeyObject) => boolean | Promise<boolean>>> = {
  rsa: rsaNumbersAgree,
  ecdsa: hasScalarInRange,
  ed25519: () => true,
  'ml-dsa': () => true,
};

// OpenSSL takes any scalar, and reduces it as it likes: 0 < d < n (SEC 1 section 3.2.1).
function hasScalarInRange(key: KeyObject): boolean {
  const curve = findNistCurve(key.asymmetricKeyDetails?.namedCurve);
  try {
    const scalar = cleanly(() => key.export({ format: 'raw-private' }));
    const d = BigInt(`0x0${scalar.toString('hex')}`);
    scalar.fill(0);
    return curve !== undefined && d > 0n && d < curve.Point.Fn.ORDER;
  } catch {
    return false;
  }
}

function signsForItself(key: KeyObject, cipher: SigningCipher): boolean {
  const probe = Buffer.from('keystored import check');
  const hash = cipher.family === 'rsa' || cipher.family === 'ecdsa' ? 'sha256' : null;
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

// A PKCS#8 key under the OID of RSASSA-PSS (RFC 4055) is an RSA key with a hint; tokens keep plain RSA keys.
// PrivateKeyInfo ::= SEQUENCE { version, privateKeyAlgorithm SEQUENCE, privateKey OCTET STRING { RSAPrivateKey } }
function withoutPssRestrictions(key: KeyObject): KeyObject {
  if (key.asymmetricKeyType !== 'rsa-pss') return key;
  const der = key.export({ type: 'pkcs8', format: 'der' });
  const info = derContent(der, 0);
  const algorithm = derContent(der, derContent(der, info.start).end);
  const inner = derContent(der, algorithm.end);
  return createPrivateKey({ key: der.subarray(inner.start, inner.end), format: 'der', type: 'pkcs1' });
}

// The content of the DER element at an offset; OpenSSL wrote it, so lengths are well-formed.
function derContent(der: Uint8Array, at: number): { start: number; end: number } {
  const first = der[at + 1] as number;
  if (first < 0x80) return { start: at + 2, end: at + 2 + first };
  const octets = first & 0x7f;
  const start = at + 2 + octets;
  const length = der.subarray(at + 2, start).reduce((value, octet) => value * 256 + octet, 0);
  return { start, end: start + length };
}

function unusable(detail: string): Error {
  return fail('invalid-key-data', { detail });
}
