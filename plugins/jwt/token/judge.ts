// The judge of a token, in the order of the checks. Everything it needs is given: it reads no store, no network and no clock.
import type { KeyObject } from 'node:crypto';
import { isReservedUser } from '../../../core/access/user.ts';
import type { Claims } from '../../../core/identity/claims.ts';
import { showableText } from '../../../core/identity/claims.ts';
import type { JsonValue } from '../../../core/wire/json.ts';
import { findUnseen } from '../../../core/wire/unseen-text.ts';
import { decoyFor } from './decoys.ts';
import { type AlgorithmName, isAlgorithm, isSignatureRight, keyTypeOf } from '../../../core/identity/signature-algorithms.ts';
import { type Binding, judgeBinding } from './bindings.ts';
import { type ParsedToken, readHeader, type TokenHeader } from './compact.ts';
import { TokenRefused } from './refusal.ts';

/** A public key of an issuer. Without `kid` it was given as a PEM: then it may verify any token of the issuer. */
export type VerificationKey = {
  readonly kid?: string | undefined;
  readonly alg?: string | undefined;
  readonly kty: string;
  readonly crv?: string | undefined;
  /** given by an administrator as a PEM, which has no kid: the kid of the token does not count */
  readonly anyKid?: boolean | undefined;
  readonly key: KeyObject;
};

/** Expectations of the issuer. */
export type IssuerRules = {
  /** value of `iss`; of a trust domain (`spiffe://example.org`) the beginning of the subject, and `iss` is absent then */
  readonly issuer: string;
  readonly algorithms: readonly AlgorithmName[];
  readonly toleranceSeconds: number;
};

/** Expectations of the role. */
export type RoleRules = {
  readonly audience: string;
  readonly audiences: 'one' | 'any';
  readonly bindings: readonly Binding[];
  /** longest life of a token, from its issue to its end */
  readonly maxAgeSeconds: number;
  /** takes access tokens (`typ: at+jwt`, RFC 9068) */
  readonly accessTokens: boolean;
};

/** A token that has passed all checks. */
export type JudgedToken = {
  readonly claims: Claims;
  readonly subject: string;
  readonly jti: string | undefined;
  readonly expiresSeconds: number;
};

/** Tokens under one kid are verified with this many keys at most: a provider has one, for a moment two. */
const mostKeysTried = 4;

/** Verifies the signature, and returns the key that has made it. Throws TokenRefused of the checks `header` to `signature`. */
export function verifyToken(token: ParsedToken, rules: Pick<IssuerRules, 'algorithms'>, keys: readonly VerificationKey[]): VerificationKey {
  const { alg, kid } = readHeader(token);
  if (!isAlgorithm(alg) || !rules.algorithms.includes(alg)) {
    // Refused as late as with an algorithm that is taken: roles are not told by it.
    if (isAlgorithm(alg)) verifyByDecoy(alg, token);
    const known = isAlgorithm(alg)
      ? 'add it to "algorithms" of the issuer if the platform signs so'
      : 'only signatures with public keys are taken';
    throw new TokenRefused('algorithm', 'not-allowed', `The token is signed with ${showableText(alg, 32)}: ${known}.`);
  }
  const fitting = keys.filter((key) => fits(key, alg) && (kid === undefined || key.anyKid === true || key.kid === kid));
  const [first, ...more] = fitting;
  if (first === undefined || (kid === undefined && more.length > 0 && first.anyKid !== true)) {
    verifyByDecoy(alg, token);
    throw refuseKey(kid, alg, first === undefined);
  }
  const signedBy = fitting.slice(0, mostKeysTried).find(({ key }) => isSignatureRight(alg, key, token.signed, token.signature));
  if (signedBy === undefined)
    throw new TokenRefused('signature', 'wrong', 'No key of the issuer that the header names has made the signature.');
  return signedBy;
}

/** Takes as long as the verification by a key of the issuer. */
function verifyByDecoy(alg: AlgorithmName, { signed, signature }: ParsedToken): void {
  isSignatureRight(alg, decoyFor(alg), signed, signature);
}

/** Tells whether a key may verify signatures of an algorithm. */
function fits({ kty, crv, alg: own }: VerificationKey, alg: AlgorithmName): boolean {
  const wanted = keyTypeOf(alg);
  return kty === wanted.kty && (wanted.crv === undefined || crv === wanted.crv) && (own === undefined || own === alg);
}

function refuseKey(kid: string | undefined, alg: string, isUnknown: boolean): TokenRefused {
  if (kid === undefined)
    return new TokenRefused(
      'key',
      isUnknown ? 'no-key' : 'no-kid',
      `The token names no key (kid), and not exactly one key of the issuer is for ${alg}.`,
    );
  return new TokenRefused(
    'key',
    'unknown-kid',
    `The issuer has no key "${showableText(kid, 128)}" for ${alg}: "test" of the issuer lists its keys.`,
  );
}

/** Judges the verified token by issuer and role. Throws TokenRefused of the checks `type` to `bindings`. */
export function judgeToken(
  { claims }: ParsedToken,
  { typ }: TokenHeader,
  issuer: IssuerRules,
  role: RoleRules,
  nowSeconds: number,
): JudgedToken {
  requireType(typ, role);
  requireIssuer(claims, issuer);
  requireAudience(claims, role);
  const expiresSeconds = requireTime(claims, issuer.toleranceSeconds, role.maxAgeSeconds, nowSeconds);
  const subject = requireSubject(claims, issuer);
  const { jti } = claims;
  if (jti !== undefined && jti !== null && (typeof jti !== 'string' || jti === ''))
    throw new TokenRefused('subject', 'jti-malformed', 'jti is empty, or not a text.');
  requireBindings(claims, role);
  return { claims, subject, jti: jti ?? undefined, expiresSeconds };
}

/** Other tokens of the same signer are for other purposes: logout tokens, security events, proofs of possession. */
function requireType(typ: string | undefined, { accessTokens }: RoleRules): void {
  if (typ === undefined || typ === 'JWT' || typ === 'JOSE' || (accessTokens && typ === 'at+jwt')) return;
  const hint = typ === 'at+jwt' ? 'set "access-tokens" of the role to take it' : 'only JWT, JOSE or none is taken';
  throw new TokenRefused('type', 'typ-not-taken', `typ of the header is "${showableText(typ, 64)}": ${hint}.`);
}

/** Prefix of trust domains (SPIFFE ID section 2). */
const trustDomainScheme = 'spiffe://';

/** Tells whether an issuer is a trust domain, whose tokens have no `iss`. */
export function isTrustDomain(issuer: string): boolean {
  return issuer.startsWith(trustDomainScheme);
}

function requireIssuer({ iss }: Claims, { issuer }: IssuerRules): void {
  if (isTrustDomain(issuer) ? iss === undefined : iss === issuer) return;
  throw new TokenRefused(
    'issuer',
    'other-issuer',
    `iss of the token is ${showClaim(iss)}; the issuer is set to ${JSON.stringify(issuer)}, and each character counts.`,
  );
}

function requireAudience({ aud, azp }: Claims, { audience, audiences, bindings }: RoleRules): void {
  const values: readonly JsonValue[] = Array.isArray(aud) ? aud : [aud ?? null];
  if (values.length === 0 || !values.every((value) => typeof value === 'string'))
    throw new TokenRefused('audience', 'malformed', 'aud is missing, or neither a text nor a list of texts.');
  if (!values.includes(audience))
    throw new TokenRefused(
      'audience',
      'other-audience',
      `aud is ${showClaim(aud)}; the role wants ${JSON.stringify(audience)}: ask the platform for a token with that audience.`,
    );
  if (audiences === 'one' && values.length > 1)
    throw new TokenRefused(
      'audience',
      'several-audiences',
      `aud has ${values.length} values: everybody else it is for could log in with it. Ask for a token with one, or set "audiences" of the role to any.`,
    );
  const isBound = bindings.some(({ claim }) => claim === 'azp' || claim === '/azp');
  if (azp !== undefined && azp !== null && azp !== audience && !isBound)
    throw new TokenRefused(
      'audience',
      'other-party',
      `azp, for whom the token was issued, is ${showClaim(azp)}: bind azp in the role if that is right.`,
    );
}

/** End of the year 9999, in seconds since 1970. */
const latestTime = 253_402_300_799;

function requireTime(claims: Claims, toleranceSeconds: number, maxAgeSeconds: number, nowSeconds: number): number {
  const [exp, iat, nbf] = (['exp', 'iat', 'nbf'] as const).map((name) => timeOf(claims, name));
  if (exp === undefined) throw new TokenRefused('time', 'no-exp', 'The token has no end (exp).');
  const from = iat ?? nbf;
  if (from === undefined)
    throw new TokenRefused('time', 'no-iat', 'The token says neither when it was issued (iat) nor from when it is valid (nbf).');
  if (exp <= from || exp <= (nbf ?? from)) throw new TokenRefused('time', 'ends-early', 'The token ends before it begins.');
  if (exp - from > maxAgeSeconds)
    throw new TokenRefused(
      'time',
      'lives-too-long',
      `The token lives for ${exp - from} s; the role takes ${maxAgeSeconds} s ("max-age"). Ask for a token with a shorter life.`,
    );
  if (nowSeconds >= exp + toleranceSeconds)
    throw new TokenRefused('time', 'expired', `The token ended ${Math.round(nowSeconds - exp)} s ago.`);
  const earliest = Math.max(from, nbf ?? from);
  if (nowSeconds < earliest - toleranceSeconds)
    throw new TokenRefused(
      'time',
      'not-yet',
      `The token begins in ${Math.round(earliest - nowSeconds)} s: compare the clocks of this appliance and of the issuer.`,
    );
  return exp;
}

/** A time claim (NumericDate, RFC 7519 section 2), or undefined. Null is not a time. */
function timeOf(claims: Claims, name: 'exp' | 'iat' | 'nbf'): number | undefined {
  if (!Object.hasOwn(claims, name)) return undefined;
  const value = claims[name];
  if (typeof value === 'number' && value >= 0 && value <= latestTime) return value;
  throw new TokenRefused('time', `${name}-malformed`, `${name} is ${showClaim(value)}, not a time in seconds since 1970.`);
}

/** Longest subject, in characters. Those of GitHub contain names of branches. */
const maxSubjectLength = 1_024;

function requireSubject({ sub }: Claims, { issuer }: IssuerRules): string {
  if (typeof sub !== 'string' || sub === '' || sub.length > maxSubjectLength)
    throw new TokenRefused('subject', 'malformed', `sub is missing, empty, longer than ${maxSubjectLength} characters, or not a text.`);
  const unseen = findUnseen(sub);
  if (unseen !== undefined)
    throw new TokenRefused('subject', 'unseen-character', `sub contains ${unseen}, which a reader of the audit trail does not see.`);
  if (isReservedUser(sub)) throw new TokenRefused('subject', 'reserved', 'sub reads as the user of root tokens.');
  if (isTrustDomain(issuer) && !(sub.startsWith(`${issuer}/`) && sub.length > issuer.length + 1))
    throw new TokenRefused('subject', 'other-trust-domain', `sub is ${showClaim(sub)}, not an id of ${issuer}.`);
  return sub;
}

function requireBindings(claims: Claims, { bindings }: RoleRules): void {
  for (const binding of bindings) {
    const { holds, claim, wanted, found } = judgeBinding(claims, binding);
    if (holds) continue;
    const seen = found === undefined ? 'the token has no such claim' : `the token has ${found}`;
    throw new TokenRefused('bindings', 'not-bound', `The role binds ${claim} to ${wanted}; ${seen}.`);
  }
}

function showClaim(value: JsonValue | undefined): string {
  return value === undefined ? 'missing' : showableText(JSON.stringify(value));
}
