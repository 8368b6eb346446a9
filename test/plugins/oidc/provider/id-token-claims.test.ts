// Checks of an ID token beyond openid-client: R39, R43, R44, R45, R47.
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Claims } from '../../../../core/identity/claims.ts';
import { LoginFailure } from '../../../../plugins/oidc/failures.ts';
import { acceptedAlgorithms, commonAlgorithms, VerifiedIdToken } from '../../../../plugins/oidc/provider/id-token.ts';

const now = Temporal.Instant.from('2026-11-21T10:00:00Z');
const nowSeconds = now.epochMilliseconds / 1000;
const expected = { clientId: 'me', now, toleranceSeconds: 60, accessToken: 'access' };
const claims: Claims = { iss: 'https://idp.example', sub: 'someone', aud: 'me', iat: nowSeconds, exp: nowSeconds + 300, nonce: 'n' };

function judge(changes: Claims, algorithm = 'RS256'): string {
  const header = Buffer.from(JSON.stringify({ alg: algorithm })).toString('base64url');
  try {
    VerifiedIdToken.judge(`${header}.e30.sig`, { ...claims, ...changes }, expected);
    return 'accepted';
  } catch (error) {
    if (error instanceof LoginFailure) return error.reason;
    throw error;
  }
}

test('R39: neither none nor HS* is ever common; without a list it is RS256', () => {
  expect(commonAlgorithms(['none', 'HS256', 'HS512', 'ES256', 'RS256', 'ML-DSA-65'])).toEqual(['RS256', 'ES256']);
  expect(commonAlgorithms(undefined)).toEqual(['RS256']);
  expect(commonAlgorithms(['HS256'])).toEqual([]);
  expect(acceptedAlgorithms.filter((algorithm) => /^(?:none|HS)/i.test(algorithm))).toEqual([]);
});

test('R43: azp must be this client whenever it is present', () => {
  expect(judge({ azp: 'me' })).toBe('accepted');
  expect(judge({ azp: 'other' })).toBe('azp-mismatch');
  expect(judge({ azp: ['me'] })).toBe('azp-mismatch');
});

test('R44: the subject has 1 to 255 characters', () => {
  expect(judge({ sub: 'x'.repeat(255) })).toBe('accepted');
  expect(judge({ sub: 'x'.repeat(256) })).toBe('subject-malformed');
  expect(judge({ sub: '' })).toBe('subject-malformed');
  expect(judge({ sub: 7 })).toBe('subject-malformed');
});

describe('R45: iat', () => {
  test.each([
    [0, 'accepted'],
    [60, 'accepted'],
    [61, 'issued-in-the-future'],
    [-3_660, 'accepted'],
    [-3_661, 'issued-too-long-ago'],
  ])('%i s from now: %s', (offset, result) => expect(judge({ iat: nowSeconds + offset })).toBe(result));
  test('must be a number', () => expect(judge({ iat: 'now' })).toBe('iat-missing'));
});

const half = (hash: string, text = 'access'): string => {
  const digest = createHash(hash).update(text).digest();
  return digest.subarray(0, digest.length / 2).toString('base64url');
};

describe('R47: at_hash', () => {
  test.each([
    ['RS256', 'sha256'],
    ['ES256', 'sha256'],
    ['PS384', 'sha384'],
    ['ES512', 'sha512'],
    ['EdDSA', 'sha512'],
    ['Ed25519', 'sha512'],
  ])('%s uses %s', (algorithm, hash) => expect(judge({ at_hash: half(hash) }, algorithm)).toBe('accepted'));
  test.each([
    ['of another token', half('sha256', 'other')],
    ['of another hash', half('sha384')],
    ['empty', ''],
    ['not a text', 7],
    ['null', null],
  ])('%s is refused', (_, value) => expect(judge({ at_hash: value })).toBe('at-hash-mismatch'));
  test('absent is allowed in the code flow', () => expect(judge({})).toBe('accepted'));
});
