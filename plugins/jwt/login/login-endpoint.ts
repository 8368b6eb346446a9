// POST /v1/jwt-login: a token for the signed identity of a workload. All refusals of a login are the same, and take the same time.
import { z } from 'zod';
import { defined } from '../../../core/base/defined.ts';
import { fail, type ServiceError } from '../../../core/base/errors.ts';
import { parseDuration } from '../../../core/base/time.ts';
import type { LoginIdentity } from '../../../core/access/user.ts';
import { definePublicEndpoint, type AnyEndpoint, type PublicCall } from '../../../core/http/endpoint.ts';
import { tags } from '../../../core/http/tags.ts';
import { showableText } from '../../../core/identity/claims.ts';
import { formatIssuedToken, issuedTokenOutput } from '../../../core/platform/tokens/issued-token.ts';
import type { IssuedSession } from '../../../core/plugin/services/sessions.ts';
import type { Jwt } from '../context.ts';
import type { LocatedIssuer } from '../keys/issuer-keys.ts';
import { isOnce } from '../records/rules.ts';
import { maxTokenLength, parseToken, type ParsedToken, readHeader } from '../token/compact.ts';
import { type JudgedToken, verifyToken } from '../token/judge.ts';
import { TokenRefused } from '../token/refusal.ts';
import { LoginLimits } from '../../../core/access/approles/login-limits.ts';
import { type Refusal, reportRefusal } from './report.ts';
import { findTargets, isOfIssuer, judge, refuseVerified, type SignedToken, type Target } from './target.ts';
import { fetchKeysFor, isAtHand, isUnavailable } from './needed-keys.ts';
import { refuseUsed, useOnce, wasUsed } from './used-tokens.ts';

const input = z.object({
  tenant: z.string().min(1).max(128).meta({ description: 'Name of the tenant.', example: 'system' }),
  role: z.string().min(1).max(128).meta({ description: 'Name of the JWT role.', example: 'deploy' }),
  issuer: z
    .string()
    .min(1)
    .max(128)
    .optional()
    .meta({ description: 'Name of the JWT issuer, where several with the same iss have a role of this name.', example: 'github' }),
  // Not limited to what is taken: a token that is too long is refused as any other.
  jwt: z
    .string()
    .min(1)
    .max(4 * maxTokenLength)
    .meta({ description: 'The token of the workload.', example: 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ3In0.c2ln' }),
});
type Input = z.output<typeof input>;

export function loginEndpoint(jwt: Jwt): AnyEndpoint {
  const limits = new LoginLimits(jwt.clock);
  return definePublicEndpoint<Input, z.output<typeof issuedTokenOutput>>({
    method: 'POST',
    path: '/v1/jwt-login',
    access: 'public',
    tag: tags.logins,
    summary: 'Log in with the signed identity of a workload',
    description:
      'The token is one that a platform (GitHub, GitLab, Kubernetes, SPIFFE, …) signed for the workload. Whatever is wrong, the refusal is the same; `explain` of the issuer ' +
      'tells an administrator which check it was. After 60 refusals in a minute for one address further wrong tokens are answered 429; right ones log in, one ' +
      'workload 600 times a minute.',
    audit: 'required',
    input,
    output: issuedTokenOutput,
    secretInput: ['jwt'],
    secretOutput: ['token'],
    auditFields: ['tenant', 'role', 'issuer'],
    bodyLimit: 131_072,
    errors: ['login-failed', 'rate-limited', 'issuer-unavailable'],
    run: (call, given) => logIn(jwt, limits, call, given),
  });
}

const refusedDetail =
  'The token is not accepted: an administrator of the tenant finds the reason in the log, or by "explain" of the issuer, with the request id.';

async function logIn(jwt: Jwt, limits: LoginLimits, call: PublicCall, given: Input): Promise<z.output<typeof issuedTokenOutput>> {
  call.noteAudit({ kind: 'login' });
  let refusal: Refusal | undefined;
  let token: ParsedToken | undefined;
  try {
    token = parseToken(given.jwt);
    const targets = findTargets(jwt, given, token);
    const outcome = await logInAsFirst(jwt, limits, call, given, token, targets);
    if (outcome !== undefined && 'expiresIn' in outcome) return outcome;
    refusal = outcome ?? { refused: verifyNothing(token), target: undefined, token };
  } catch (error) {
    if (!(error instanceof TokenRefused)) throw error;
    refusal = { refused: error, target: undefined, token };
  }
  // Before anything is written for it.
  limits.countRefusal(call.clientIp);
  reportRefusal(jwt, limits, call, given, refusal);
  throw fail('login-failed', { detail: refusedDetail });
}

/**
 * Logs in as the first target that takes the token. The refusal of the target whose issuer has signed it counts, else that of the last. Throws
 * `issuer-unavailable` if an issuer that may be meant could not be asked, and no other has signed it. Where the targets whose keys are at hand do not
 * take the token, the keys of all issuers that it names are fetched: time and refusal tell no roles to callers without a token of the issuer.
 */
async function logInAsFirst(
  jwt: Jwt,
  limits: LoginLimits,
  call: PublicCall,
  given: Input,
  token: ParsedToken,
  targets: readonly Target[],
): Promise<z.output<typeof issuedTokenOutput> | Refusal | undefined> {
  let refusal: Refusal | undefined;
  let away: ServiceError | undefined;
  let fetching: Promise<ServiceError | undefined> | undefined;
  const fetchOnce = async (): Promise<void> => {
    fetching ??= fetchKeysFor(jwt, given, token);
    away ??= await fetching;
  };
  for (const target of targets) {
    if (!isAtHand(jwt, token, target.located)) await fetchOnce();
    try {
      return await logInAs(jwt, limits, call, token, target);
    } catch (error) {
      if (isUnavailable(error)) away = error;
      else if (!(error instanceof TokenRefused)) throw error;
      else if (refusal === undefined || !isOfIssuer(refusal.refused)) refusal = { refused: error, target, token };
    }
  }
  if (refusal !== undefined && isOfIssuer(refusal.refused)) return refusal;
  await fetchOnce();
  if (away !== undefined) throw away;
  return refusal;
}

/** Takes as long as the verification by the keys of an issuer. */
function verifyNothing(token: ParsedToken): TokenRefused {
  try {
    const { alg } = readHeader(token);
    verifyToken(token, { algorithms: [alg as never] }, []);
  } catch (error) {
    if (!(error instanceof TokenRefused)) throw error;
    if (error.check !== 'key') return error;
  }
  return new TokenRefused('key', 'no-role', 'No issuer of the tenant that the token names has a role of this name.');
}

/** Settings that change meanwhile make it begin again, so that a right token is never refused for it. */
const mostAttempts = 3;

async function logInAs(
  jwt: Jwt,
  limits: LoginLimits,
  call: PublicCall,
  token: ParsedToken,
  first: Target,
): Promise<z.output<typeof issuedTokenOutput>> {
  let target = first;
  for (let attempt = 1; ; attempt++) {
    const judged = await judge(jwt, token, target, call.now);
    const issued = await issue(jwt, limits, call.now, token, target, judged);
    if (issued !== undefined) {
      noteSuccess(call, target, judged, issued);
      return formatIssuedToken(issued);
    }
    const again = attempt < mostAttempts ? findAgain(jwt, target) : undefined;
    if (again === undefined) throw new TokenRefused('key', 'no-role', 'The role was changed or deleted while the login was under way.');
    target = again;
  }
}

function findAgain(jwt: Jwt, { located, name }: Target): Target | undefined {
  jwt.store.refresh();
  const found = jwt.locate({ id: located.tenantId, name: located.tenantName }, located.issuer);
  const role = jwt.roles.get([located.tenantId, located.issuer, name]);
  return found === undefined || role === undefined ? undefined : { located: found, name, role };
}

/** Issues the token in the transaction that uses up the other. Undefined if the settings have changed. Throws TokenRefused and `rate-limited`. */
async function issue(
  jwt: Jwt,
  limits: LoginLimits,
  now: Temporal.Instant,
  token: ParsedToken,
  { located, name, role }: Target,
  judged: SignedToken,
): Promise<IssuedSession | undefined> {
  const { tenantId, issuer, record } = located;
  // Before it counts: a used token in the wrong hands must not use up the limit of its workload.
  if (isOnce(role) && wasUsed(jwt.used, located, token, judged)) throw refuseVerified(refuseUsed());
  limits.admit(JSON.stringify([tenantId, issuer, judged.subject]));
  const drawn = await jwt.accounts.drawToken();
  const outcome = await jwt.store.write((transaction) => {
    const present = transaction.get(jwt.roles, [tenantId, issuer, name]);
    if (present?.grant !== role.grant || transaction.get(jwt.issuers, [tenantId, issuer])?.grant !== record.grant) return undefined;
    if (isOnce(present) && !useOnce(transaction, jwt.used, located, token, judged, now)) return 'used';
    return jwt.accounts.issue(transaction, drawn, {
      tenantId,
      user: userOf(judged),
      identity: identityOf(located, judged),
      grants: [record.grant, present.grant],
      service: issuer,
      policies: [...present.tokenPolicies],
      ttlSeconds: parseDuration(present.tokenTtl, 'token-ttl').seconds,
      maxTtlSeconds: parseDuration(present.tokenMaxTtl, 'token-max-ttl').seconds,
      boundCidrs: [...present.tokenBoundCidrs],
    });
  });
  if (outcome !== 'used') return outcome;
  throw refuseVerified(refuseUsed());
}

function userOf({ subject }: JudgedToken): string {
  return showableText(subject);
}

function identityOf({ record }: LocatedIssuer, { subject }: JudgedToken): LoginIdentity {
  return { kind: 'workload', source: record.issuer, subject };
}

function noteSuccess(call: PublicCall, { located, name, role }: Target, judged: JudgedToken, { accessor }: IssuedSession): void {
  call.noteAudit({
    tenant: located.tenantName,
    user: userOf(judged),
    userKind: 'workload',
    userSource: located.issuer,
    identity: identityOf(located, judged),
    accessor,
    requestParameters: {
      tenant: located.tenantName,
      issuer: located.issuer,
      role: name,
      'token-policies': role.tokenPolicies,
      ...defined({ jti: judged.jti === undefined ? undefined : showableText(judged.jti) }),
    },
  });
}
