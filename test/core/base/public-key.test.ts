// The checks on public keys from outside, which leave nothing in OpenSSL's error queue.
import { execFileSync } from 'node:child_process';
import { createPublicKey, generateKeyPairSync, generatePrimeSync, type KeyObject } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { afterEach, describe, expect, test } from 'vitest';
import { cleanly } from '../../../core/base/public-keys/openssl.ts';
import { findPublicKeyProblem, hasCompositeModulus, hasMadeUpCurve, readJwk } from '../../../core/base/public-keys/public-key.ts';
import { ecSpki, infinity, rsaKey } from '../../harness/token/odd-keys.ts';
import { takeOpensslErrors } from '../../harness/openssl-queue.ts';

afterEach(() => expect(takeOpensslErrors()).toEqual([]));

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey;
const n = BigInt(`0x${Buffer.from(String(rsa.export({ format: 'jwk' }).n), 'base64url').toString('hex')}`);
const f4 = 65_537n;
const spki = (der: Uint8Array): KeyObject => createPublicKey({ key: Buffer.from(der), format: 'der', type: 'spki' });
const edwards = (point: Uint8Array): KeyObject => createPublicKey({ key: point, format: 'raw-public', asymmetricKeyType: 'ed25519' });

describe('cleanly', () => {
  test('the export of a key at infinity leaves an error in the queue, which cleanly removes', () => {
    const key = spki(ecSpki('P-256', infinity));
    expect(() => key.export({ format: 'jwk' })).toThrow('Failed to export JWK');
    expect(takeOpensslErrors()).not.toEqual([]);
    expect(() => cleanly(() => key.export({ format: 'jwk' }))).toThrow('Failed to export JWK');
    expect(takeOpensslErrors()).toEqual([]);
  });

  test('a call that succeeds can leave an error as well', () => {
    const huge = rsaKey(2n ** 20_000n + 1n, f4);
    expect(huge.asymmetricKeyDetails?.modulusLength).toBe(20_001);
    expect(takeOpensslErrors()).not.toEqual([]);
    expect(cleanly(() => rsaKey(2n ** 20_000n + 1n, f4).asymmetricKeyDetails?.modulusLength)).toBe(20_001);
    expect(takeOpensslErrors()).toEqual([]);
  });
});

describe('a public key from outside', () => {
  test.each(['P-256', 'P-384', 'P-521', 'secp256k1'])('of curve %s is accepted, at infinity it is not', (curve) => {
    expect(findPublicKeyProblem(generateKeyPairSync('ec', { namedCurve: curve }).publicKey, 'encrypt')).toBeUndefined();
    expect(findPublicKeyProblem(spki(ecSpki(curve, infinity)), 'verify')).toMatch(/infinity/);
  });

  test('of Ed25519 is accepted unless it is of small or mixed order, or not canonical', () => {
    const own = generateKeyPairSync('ed25519').publicKey;
    expect(findPublicKeyProblem(own, 'verify')).toBeUndefined();
    const torsion = ed25519.Point.fromBytes(Buffer.from('26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05', 'hex'));
    for (let times = 1n; times <= 8n; times += 1n) {
      const small = times === 8n ? ed25519.Point.ZERO : torsion.multiply(times);
      expect(findPublicKeyProblem(edwards(small.toBytes()), 'verify')).toMatch(/order/);
    }
    const mixed = ed25519.Point.fromBytes(own.export({ format: 'raw-public' })).add(torsion);
    expect(findPublicKeyProblem(edwards(mixed.toBytes()), 'verify')).toMatch(/order/);
    const field = 2n ** 255n - 19n;
    const octets = (y: bigint): Uint8Array => Buffer.from(y.toString(16).padStart(64, '0'), 'hex').reverse();
    for (const y of [field, field + 1n, field + 3n, 2n ** 255n - 1n, 2n ** 255n + 1n, 2n])
      expect(findPublicKeyProblem(edwards(octets(y)), 'verify')).toMatch(/canonical/);
  });

  test('of RSA is accepted with 2,048 to 8,192 bits and an odd exponent of 65,537 up to 256 bits; to verify, of 3 or more', () => {
    for (const e of [f4, 65_539n, 2n ** 255n + 95n]) expect(findPublicKeyProblem(rsaKey(n, e), 'encrypt')).toBeUndefined();
    for (const e of [3n, 17n]) {
      expect(findPublicKeyProblem(rsaKey(n, e), 'verify')).toBeUndefined();
      expect(findPublicKeyProblem(rsaKey(n, e), 'encrypt')).toMatch(/exponent below 65537/);
    }
    for (const use of ['verify', 'encrypt'] as const) {
      for (const e of [0n, 1n, 2n, 65_538n, 2n ** 256n + 1n, n - 2n, n + 2n, n ** 2n])
        expect([e, findPublicKeyProblem(rsaKey(n, e), use)]).toEqual([e, expect.stringMatching(/exponent/)]);
      for (const modulus of [0n, 1n, n >> 1n, 2n ** 2047n - 1n, 2n ** 8192n + 1n, 2n ** 30_000n + 1n])
        expect(findPublicKeyProblem(rsaKey(modulus, f4), use)).toMatch(/bits; 2048 to 8192/);
    }
  });

  test('of RSA is refused with a modulus that is even, has a small factor, or has its primes close together', () => {
    for (const modulus of [n + 1n, n * 2n, n * 3n, n * 751n])
      expect(findPublicKeyProblem(rsaKey(modulus, f4), 'verify')).toMatch(/factor below 752/);
    expect(findPublicKeyProblem(rsaKey(n * 757n, f4), 'verify')).toBeUndefined();
    const p = generatePrimeSync(1032, { bigint: true });
    expect(findPublicKeyProblem(rsaKey(p * p, f4), 'verify')).toMatch(/close together/);
    let next = p + 2n;
    while (hasSmallFactor(next)) next += 2n;
    expect(findPublicKeyProblem(rsaKey(p * next, f4), 'verify')).toMatch(/close together/);
  });

  test('of RSA has a modulus that is neither prime nor a power of a prime', async () => {
    expect(await hasCompositeModulus(rsa)).toBe(true);
    expect(await hasCompositeModulus(rsaKey(n * n, f4))).toBe(true);
    const p = generatePrimeSync(700, { bigint: true });
    expect(await hasCompositeModulus(rsaKey(p ** 3n, f4))).toBe(false);
    expect(await hasCompositeModulus(rsaKey(generatePrimeSync(2048, { bigint: true }), f4))).toBe(false);
    expect(await hasCompositeModulus(generateKeyPairSync('ed25519').publicKey)).toBe(true);
  });

  test('has no curve that is written out, but for those that have a name', () => {
    const written = (curve: string): Buffer =>
      execFileSync('openssl', ['ecparam', '-name', curve, '-param_enc', 'explicit', '-genkey', '-noout', '-outform', 'DER']);
    for (const curve of ['P-256', 'P-384', 'P-521']) expect(hasMadeUpCurve(written(curve)), curve).toBe(false);
    for (const curve of ['brainpoolP256r1', 'secp256k1', 'sect571r1']) expect(hasMadeUpCurve(written(curve)), curve).toBe(true);
    expect(
      hasMadeUpCurve(generateKeyPairSync('ec', { namedCurve: 'brainpoolP256r1' }).publicKey.export({ format: 'der', type: 'spki' })),
    ).toBe(false);
  });

  test('as a JSON Web Key is read only when it passes the checks', () => {
    expect(readJwk(rsa.export({ format: 'jwk' }), 'verify')).toBeDefined();
    const big = Buffer.alloc(4_000, 3).toString('base64url');
    expect(readJwk({ kty: 'RSA', n: big, e: 'AQAB' }, 'verify')).toBeUndefined();
    expect(readJwk({ kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA' }, 'verify')).toBeUndefined();
    expect(readJwk({ kty: 'oct', k: 'AA' }, 'verify')).toBeUndefined();
    expect(readJwk({ kty: 'OKP', crv: 'Ed25519', x: Buffer.alloc(32).toString('base64url') }, 'verify')).toBeUndefined();
  });
});

function hasSmallFactor(number: bigint): boolean {
  for (let factor = 3n; factor < 752n; factor += 2n) if (number % factor === 0n) return true;
  return false;
}
