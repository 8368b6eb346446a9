// Checks of an ID token that openid-client leaves out in the code flow. A VerifiedIdToken has passed all checks.
import { createHash } from 'node:crypto';
import { equalConstantTime, encodeUtf8 } from '../../../core/base/bytes.ts';
import { isJsonObject } from '../../../core/wire/json.ts';
import { isTooDeep } from '../../../core/identity/depth.ts';
import type { Claims } from '../../../core/identity/claims.ts';
import { LoginFailure } from '../failures.ts';

/** Accepted signature algorithms: asymmetric ones with a key in the provider's JWKS; never `none` or HS* (R39). */
export const acceptedAlgorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
] as const;

/** The algorithms that both sides support; RS256 without a list in the metadata (Discovery 3). If empty, no token is accepted. */
export function commonAlgorithms(listed: readonly string[] | undefined): string[] {
  return listed === undefined ? ['RS256'] : acceptedAlgorithms.filter((algorithm) => listed.includes(algorithm));
}

/** Most characters of a subject (OpenID Connect Core 2). */
const maxSubjectLength = 255;
/** An older ID token was not made for this login. */
const maxAgeSeconds = 3_600;

export type IdTokenExpectations = {
  readonly clientId: string;
  readonly now: Temporal.Instant;
  readonly toleranceSeconds: number;
  /** the access token that came with it, for `at_hash` */
  readonly accessToken: string;
};

/** A fully checked ID token: signature, issuer, audience, nonce and times by openid-client, the rest by `judge`. */
export class VerifiedIdToken {
  readonly claims: Claims;
  readonly issuer: string;
  readonly subject: string;

  private constructor(claims: Claims, issuer: string, subject: string) {
    this.claims = claims;
    this.issuer = issuer;
    this.subject = subject;
  }

  /**
   * Takes the compact form and its claims, verified by openid-client. Throws LoginFailure `id-token-refused`.
   * Checks: sub (Core 2), azp also for a single audience (Core 3.1.3.7 no. 5), iat on both sides, at_hash when present (Core 3.1.3.8), nesting.
   */
  static judge(compact: string, claims: Claims, expected: IdTokenExpectations): VerifiedIdToken {
    const { iss, sub, azp, iat } = claims;
    if (isTooDeep(claims)) throw refuse('nested-too-deep');
    if (typeof iss !== 'string' || typeof sub !== 'string' || sub === '' || sub.length > maxSubjectLength)
      throw refuse('subject-malformed');
    if (azp !== undefined && azp !== expected.clientId) throw refuse('azp-mismatch');
    judgeIssueTime(iat, expected);
    judgeAccessTokenHash(compact, claims['at_hash'], expected.accessToken);
    return new VerifiedIdToken(claims, iss, sub);
  }
}

function judgeIssueTime(iat: unknown, expected: IdTokenExpectations): void {
  if (typeof iat !== 'number') throw refuse('iat-missing');
  const age = expected.now.epochMilliseconds / 1000 - iat;
  if (age < -expected.toleranceSeconds) throw refuse('issued-in-the-future', 'Compare the clocks of this system and of the provider.');
  if (age > maxAgeSeconds + expected.toleranceSeconds) throw refuse('issued-too-long-ago');
}

function judgeAccessTokenHash(compact: string, claimed: unknown, accessToken: string): void {
  if (claimed === undefined) return;
  const hash = hashOf(readAlgorithm(compact));
  const full = createHash(hash).update(accessToken, 'ascii').digest();
  const actual = full.subarray(0, full.length / 2).toString('base64url');
  if (typeof claimed !== 'string' || !equalConstantTime(encodeUtf8(claimed), encodeUtf8(actual))) throw refuse('at-hash-mismatch');
}

function hashOf(algorithm: string): string {
  // Ed25519 uses SHA-512 (RFC 8032); the other names end with the size.
  return algorithm.startsWith('Ed') ? 'sha512' : `sha${algorithm.slice(2)}`;
}

function readAlgorithm(compact: string): string {
  const header: unknown = JSON.parse(Buffer.from(compact.split('.')[0] ?? '', 'base64url').toString());
  return isJsonObject(header) && typeof header['alg'] === 'string' ? header['alg'] : '';
}

function refuse(reason: string, hint?: string): LoginFailure {
  return new LoginFailure('id-token-refused', 'id-token', reason, hint === undefined ? {} : { hint });
}
