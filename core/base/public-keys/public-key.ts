// The checks on every public key from outside: as a field, in a certificate, a request or a JSON Web Key Set.
import { createPublicKey, type KeyObject } from 'node:crypto';
import { createRequire } from 'node:module';
import { setImmediate } from 'node:timers/promises';
import type * as ed25519Library from '@noble/curves/ed25519.js';
import { once } from '../async/once.ts';
import { cleanly } from './openssl.ts';

const require = createRequire(import.meta.url);
/** Loaded at the first Ed25519 key from outside. */
const curves = once(() => require('@noble/curves/ed25519.js') as typeof ed25519Library);

/** `verify`: an exponent of 3 is accepted, for signatures of old keys. `encrypt`: the key is to protect our data. */
export type KeyUse = 'verify' | 'encrypt';

/** Accepted sizes of the RSA modulus in bits: smaller ones are too weak, larger ones cost too much time. */
const rsaBits = { least: 2048, most: 8192 } as const;

/**
 * Returns the problem of a public key, as the rest of a sentence that begins with "The key"; undefined if it has none. EC: the point is not
 * infinity (OpenSSL has checked that it is on the curve). Ed25519: the canonical encoding of a point of the prime-order subgroup. RSA: the
 * partial validation of NIST SP 800-56B section 6.4.2.2, and no primes so close that Fermat's method finds them. Other types pass.
 */
export function findPublicKeyProblem(key: KeyObject, use: KeyUse): string | undefined {
  return rules[key.asymmetricKeyType ?? '']?.(key, use);
}

/**
 * Tells whether an RSA modulus is neither prime nor a power of a prime, which anyone could factor: with such a modulus, 2^(n-1) - 1 has a
 * factor in common. Other types pass. Takes up to 0.3 s; the event loop is yielded to every millisecond or so.
 */
export async function hasCompositeModulus(key: KeyObject): Promise<boolean> {
  if (key.asymmetricKeyType !== 'rsa') return true;
  const { n } = rsaNumbers(key);
  let power = 1n;
  let steps = 0;
  for (const digit of (n - 1n).toString(2)) {
    power = (power * power) % n;
    if (digit === '1') power = (power << 1n) % n;
    if (++steps % stepsInTurn === 0) await setImmediate();
  }
  return greatestCommonDivisor(n, power - 1n) === 1n;
}

const stepsInTurn = 64;

/** The public key of a JSON Web Key, or undefined when it is not one or fails the checks. */
export function readJwk(jwk: JsonWebKey, use: KeyUse): KeyObject | undefined {
  try {
    const key = cleanly(() => createPublicKey({ key: jwk, format: 'jwk' }));
    return findPublicKeyProblem(key, use) === undefined ? key : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Tells whether a key, a certificate or a request in DER has an unknown curve in explicit parameters. Called before OpenSSL reads it: on
 * a malicious curve, OpenSSL needs a third of a second for a single compressed point.
 */
export function hasMadeUpCurve(der: Uint8Array): boolean {
  const octets = Buffer.from(der.buffer, der.byteOffset, der.length);
  if (octets.includes(binaryField)) return true;
  for (let at = octets.indexOf(primeField); at >= 0; at = octets.indexOf(primeField, at + 1)) {
    const prime = octets.subarray(at + primeField.length);
    if (!knownPrimes.some((known) => prime.subarray(0, known.length).equals(known))) return true;
  }
  return false;
}

/** DER of the field type in explicit parameters of a curve (SEC 1 C.1). */
const primeField = Buffer.from('06072a8648ce3d0101', 'hex');
const binaryField = Buffer.from('06072a8648ce3d0102', 'hex');
/** DER of the primes of P-256, P-384 and P-521: some programs write these curves as explicit parameters. */
const knownPrimes: readonly Buffer[] = [
  2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n,
  2n ** 384n - 2n ** 128n - 2n ** 96n + 2n ** 32n - 1n,
  2n ** 521n - 1n,
].map((prime) => {
  const digits = prime.toString(16);
  const octets = Buffer.from(digits.length % 2 === 0 ? `00${digits}` : `0${digits}`, 'hex');
  return Buffer.concat([Buffer.from([0x02, octets.length]), octets]);
});

const rules: Readonly<Record<string, (key: KeyObject, use: KeyUse) => string | undefined>> = {
  ec: findEcProblem,
  ed25519: findEd25519Problem,
  rsa: (key, use) => findRsaProblem(rsaNumbers(key), use),
  'rsa-pss': (key, use) => findRsaProblem(rsaNumbers(numbersAlone(key)), use),
};

function findEcProblem(key: KeyObject): string | undefined {
  try {
    cleanly(() => key.export({ format: 'raw-public' }));
    return undefined;
  } catch {
    return 'is the point at infinity, or has no point that can be written';
  }
}

function findEd25519Problem(key: KeyObject): string | undefined {
  try {
    const point = curves().ed25519.Point.fromBytes(cleanly(() => key.export({ format: 'raw-public' })));
    return point.isTorsionFree() && !point.is0() ? undefined : 'is an Ed25519 point of small or mixed order';
  } catch {
    return 'is not the canonical encoding of an Ed25519 point';
  }
}

type RsaNumbers = { readonly n: bigint; readonly e: bigint };

function rsaNumbers(key: KeyObject): RsaNumbers {
  const { n, e } = cleanly(() => key.export({ format: 'jwk' }));
  return { n: numberOf(n), e: numberOf(e) };
}

/** The numbers of a key for RSASSA-PSS, which JSON Web Keys do not have: behind the AlgorithmIdentifier comes the BIT STRING with the key of PKCS #1. */
function numbersAlone(key: KeyObject): KeyObject {
  const spki = cleanly(() => key.export({ format: 'der', type: 'spki' }));
  const algorithm = elementAt(spki, 0).from;
  const bits = elementAt(spki, elementAt(spki, algorithm).to);
  return cleanly(() => createPublicKey({ key: spki.subarray(bits.from + 1, bits.to), format: 'der', type: 'pkcs1' }));
}

/** Begin and end of the content of an element of DER that OpenSSL has written. */
function elementAt(der: Buffer, at: number): { readonly from: number; readonly to: number } {
  const length = der.readUInt8(at + 1);
  if (length < 0x80) return { from: at + 2, to: at + 2 + length };
  const octets = length & 0x7f;
  const from = at + 2 + octets;
  return { from, to: from + der.readUIntBE(at + 2, octets) };
}

const leastExponents: Readonly<Record<KeyUse, bigint>> = { verify: 3n, encrypt: 65_537n };

function findRsaProblem({ n, e }: RsaNumbers, use: KeyUse): string | undefined {
  const bits = n === 0n ? 0 : n.toString(2).length;
  if (bits < rsaBits.least || bits > rsaBits.most)
    return `has an RSA modulus of ${bits} bits; ${rsaBits.least} to ${rsaBits.most} are taken`;
  if (e % 2n === 0n) return 'has an even RSA exponent';
  if (e < leastExponents[use]) return `has an RSA exponent below ${leastExponents[use]}`;
  if (e >= largestExponent) return 'has an RSA exponent of more than 256 bits';
  if (smallPrimes.some((prime) => n % prime === 0n)) return 'has an RSA modulus with a factor below 752';
  return hasClosePrimes(n) ? 'has an RSA modulus whose primes are found at once: they are too close together' : undefined;
}

const largestExponent = 2n ** 256n;

/** Small primes for trial division, including 2: a modulus is odd. */
const smallPrimes: readonly bigint[] = Array.from({ length: 750 }, (_, index) => index + 2)
  .filter((number) => !Array.from({ length: 26 }, (_, index) => index + 2).some((factor) => factor < number && number % factor === 0))
  .map(BigInt);

const fermatRounds = 100;

/** Fermat's method: n = a² - b² = (a + b)(a - b), starting with `a` at the square root of n; p = q is found in the first round. */
function hasClosePrimes(n: bigint): boolean {
  let a = squareRoot(n);
  if (a * a < n) a += 1n;
  for (let round = 0; round < fermatRounds; round += 1, a += 1n) {
    const rest = a * a - n;
    if (mayBeSquare(rest) && squareRoot(rest) ** 2n === rest) return true;
  }
  return false;
}

// Squares have few residues, so the square root is computed for about one number in thirty.
function mayBeSquare(number: bigint): boolean {
  return squaresModulo64.has(number & 63n) && squaresModulo45.has(number % 45n);
}

const squaresModulo64: ReadonlySet<bigint> = squaresModulo(64n);
const squaresModulo45: ReadonlySet<bigint> = squaresModulo(45n);

function squaresModulo(modulus: bigint): ReadonlySet<bigint> {
  return new Set(Array.from({ length: Number(modulus) }, (_, root) => BigInt(root) ** 2n % modulus));
}

/** The integer square root, by Newton's method. */
function squareRoot(number: bigint): bigint {
  if (number < 2n) return number;
  let root = 1n << BigInt(Math.ceil(number.toString(2).length / 2));
  for (;;) {
    const next = (root + number / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}

function greatestCommonDivisor(a: bigint, b: bigint): bigint {
  let [larger, smaller] = [a, b < 0n ? b + a : b];
  while (smaller !== 0n) [larger, smaller] = [smaller, larger % smaller];
  return larger;
}

function numberOf(base64url: string | undefined): bigint {
  return BigInt(`0x0${Buffer.from(base64url ?? '', 'base64url').toString('hex')}`);
}
