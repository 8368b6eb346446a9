// What we demand of an ID token beyond openid-client, which leaves these open in the code flow; a VerifiedIdToken is the proof that all held.
import { createHash } from 'node:crypto';
import { equalConstantTime, encodeUtf8 } from '../../../core/base/bytes.ts';
import { isJsonObject } from '../../../core/wire/json.ts';
import { isTooDeep } from '../claims/depth.ts';
import type { Claims } from '../claims/claims.ts';
import { LoginFailure } from '../failures.ts';

/** Signature algorithms we accept: asymmetric ones with a key in the provider's JWKS; never `none`, never HS* (reference R39). */
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

/** The algorithms both sides know; RS256 where the metadata says nothing (Discovery 3). May be empty: then nothing is accepted. */
export function commonAlgorithms(listed: readonly string[] | undefined): string[] {
  return listed === undefined ? ['RS256'] : acceptedAlgorithms.filter((algorithm) => listed.includes(algorithm));
}

/** Most characters of a subject (OpenID Connect Core 2). */
const maxSubjectLength = 255;
/** An ID token older than this was not made for the login that is under way. */
const maxAgeSeconds = 3_600;

export type IdTokenExpectations = {
  readonly clientId: string;
  readonly now: Temporal.Instant;
  readonly toleranceSeconds: number;
  /** the access token that came with it, for `at_hash` */
  readonly accessToken: string;
};

/** An ID token of which everything was checked: signature, issuer, audience, nonce and times by openid-client, the rest by `judge`. */
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
   * Takes the compact form and the claims openid-client has verified it to hold. Throws LoginFailure `id-token-refused`.
   * Checks: sub (Core 2), azp also for a single audience (Core 3.1.3.7 no. 5), iat on both sides, at_hash when present (Core 3.1.3.8).
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
  // Ed25519 hashes with SHA-512 (RFC 8032); the others carry the size in their name.
  return algorithm.startsWith('Ed') ? 'sha512' : `sha${algorithm.slice(2)}`;
}

function readAlgorithm(compact: string): string {
  const header: unknown = JSON.parse(Buffer.from(compact.split('.')[0] ?? '', 'base64url').toString());
  return isJsonObject(header) && typeof header['alg'] === 'string' ? header['alg'] : '';
}

function refuse(reason: string, hint?: string): LoginFailure {
  return new LoginFailure('id-token-refused', 'id-token', reason, hint === undefined ? {} : { hint });
}
