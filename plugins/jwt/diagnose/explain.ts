// The `explain` action: which check refuses a token, which binding fails, and which role is nearest, without a login.
import { z } from 'zod';
import { defined } from '../../../core/base/defined.ts';
import { decodeTimestamp } from '../../../core/base/time.ts';
import { timestampText } from '../../../core/wire/fields.ts';
import { fail } from '../../../core/base/errors.ts';
import { defineEndpoint, type AnyEndpoint, type EndpointCall } from '../../../core/http/endpoint.ts';
import { naming } from '../../../core/http/named-entries.ts';
import { requireTold } from '../../../core/http/checks/told.ts';
import type { Claims } from '../../../core/identity/claims.ts';
import { type Jwt, requireIssuer } from '../context.ts';
import { untilKept } from '../login/report.ts';
import { keyDigestOf } from '../login/target.ts';
import { refuseUsed, wasUsed } from '../login/used-tokens.ts';
import type { LocatedIssuer } from '../keys/issuer-keys.ts';
import { type FailedLogin, keptFailureSeconds } from '../records/failed-login.ts';
import type { RoleRecord } from '../records/role-record.ts';
import { issuerRulesOf, isOnce, roleRulesOf } from '../records/rules.ts';
import { jwtTag } from '../tags.ts';
import { judgeBinding } from '../token/bindings.ts';
import { maxTokenLength, parseToken, readHeader, type ParsedToken, type TokenHeader } from '../token/compact.ts';
import { judgeToken, verifyToken } from '../token/judge.ts';
import { checkNames, TokenRefused } from '../token/refusal.ts';

const input = z
  .object({
    jwt: z
      .string()
      .min(1)
      .max(4 * maxTokenLength)
      .optional()
      .meta({ description: 'A token of the issuer, as a workload would send it.', example: 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ3In0.c2ln' }),
    login: naming(z.string().min(1).max(64), {
      resource: 'failed logins',
      needs: [],
      because: 'It was made at the issuer in the path.',
    })
      .optional()
      .meta({ description: 'In its place the request id of a login that was refused.', example: 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6' }),
  })
  .refine(({ jwt, login }) => (jwt === undefined) !== (login === undefined), 'must have either jwt or login');
type Input = z.output<typeof input>;

const checkField = () => z.enum(checkNames).meta({ typeName: 'JwtCheck' });

const bindingOutput = z.object({
  claim: z.string().meta({ description: 'The claim.', example: 'repository_id' }),
  wanted: z.string().meta({ description: 'What the role wants, in JSON.', example: '"123456789"' }),
  found: z.string().optional().meta({ description: 'What the token has, in JSON; absent: no such claim.', example: '"987654321"' }),
  holds: z.boolean().describe('`true` if the token has what is wanted.'),
});
const roleOutput = z.object({
  name: z.string().meta({ description: 'Name of the role.', example: 'deploy' }),
  accepts: z.boolean().describe('`true` if the token logs in by it.'),
  check: checkField().optional().describe('The check that refuses it.'),
  reason: z.string().meta({ description: 'Why.', example: 'The role binds ref to "refs/heads/main"; the token has "refs/heads/dev".' }),
  bindings: z.array(bindingOutput).describe('Each binding of the role.'),
});
const output = z.object({
  outcome: z.enum(['accepted', 'refused']).meta({ typeName: 'JwtOutcome' }).describe('`accepted` if some role takes the token.'),
  check: checkField().optional().describe('The check that refuses it whatever the role is, or as the nearest role does.'),
  explanation: z.string().meta({ description: 'The same in a sentence.', example: 'deploy takes the token; it gets user.' }),
  nearestRole: z.string().optional().meta({ description: 'The role that takes it, or lacks least.', example: 'deploy' }),
  signature: z
    .enum(['right', 'wrong', 'not-judged'])
    .meta({ typeName: 'JwtSignature' })
    .describe('`right` if a key of the issuer has signed it.'),
  algorithm: z.string().optional().meta({ description: 'alg of the header.', example: 'RS256' }),
  kid: z.string().optional().meta({ description: 'kid of the header.', example: '38826b17-6a30-5f9b-b169-8beb8202f723' }),
  claims: z.record(z.string(), z.unknown()).optional().describe('Claims of the token, proved only if the signature is right.'),
  roles: z.array(roleOutput).describe('Every role of the issuer, the nearest first.'),
  login: z
    .object({
      role: z.string().meta({ description: 'The role that was asked for.', example: 'deploy' }),
      check: checkField().describe('The check that refused it.'),
      reason: z.string().meta({ description: 'Why, in one word.', example: 'not-bound' }),
      hint: z.string().meta({ description: 'Why, and what to do about it.', example: 'The role binds ref to "refs/heads/main".' }),
      occurredAt: timestampText().describe('When.'),
    })
    .optional()
    .describe('The refused login that was asked for.'),
});
type Explanation = z.output<typeof output>;
type RoleExplanation = z.output<typeof roleOutput>;

const ofIssuer = ['issuer', 'algorithms', 'clock-tolerance', 'discovery-url', 'jwks-url', 'static-keys'];
const ofRoles = ['audience', 'audiences', 'bindings', 'max-age', 'use', 'access-tokens', 'token-policies'];

export function explainEndpoint(jwt: Jwt): AnyEndpoint {
  return defineEndpoint<Input, Explanation, LocatedIssuer>({
    method: 'POST',
    path: '/v1/state/keystore/authentication/jwt/{name}/explain',
    summary: 'Say whether a token would log in, and why not',
    idempotent: true,
    description:
      'Takes the token as `jwt`, or as `login` the request id of a login that was refused within the last day although its signature was right. Uses nothing up. ' +
      'Refused where policies hide what it tells of the issuer or of a role.',
    tag: jwtTag,
    access: 'token',
    operation: 'execute',
    audit: 'required',
    act: 'none',
    auditFields: ['login'],
    secretInput: ['jwt'],
    input,
    output,
    errors: ['not-found', 'issuer-unavailable'],
    find: (call) => requireIssuer(jwt, call),
    async run(call, { jwt: text, login }, located) {
      const roles = rolesOf(jwt, located);
      const below = ['keystore', 'authentication', 'jwt', located.issuer];
      requireTold(call, [
        { path: below, fields: ofIssuer, is: 'the issuer' },
        ...roles.map(([name]) => ({ path: [...below, 'roles', name], fields: ofRoles, is: 'a role' })),
      ]);
      return login === undefined ? explainToken(jwt, call, located, text ?? '') : explainLogin(jwt, call, located, login);
    },
  });
}

function rolesOf(jwt: Jwt, { tenantId, issuer }: LocatedIssuer): readonly (readonly [name: string, role: RoleRecord])[] {
  return Array.from(jwt.roles.entries([tenantId, issuer]), ([key, role]) => [String(key.at(-1)), role] as const);
}

async function explainToken(jwt: Jwt, call: EndpointCall, located: LocatedIssuer, text: string): Promise<Explanation> {
  let token: ParsedToken | undefined;
  let header: TokenHeader | undefined;
  let signature: Explanation['signature'] = 'not-judged';
  try {
    token = parseToken(text);
    header = readHeader(token);
    const keys = await jwt.issuerKeys.keysFor(located, header.kid);
    signature = 'wrong';
    const { key } = verifyToken(token, issuerRulesOf(located.record), keys);
    signature = 'right';
    const roles = explainRoles(jwt, call, located, { token, header, signedBy: keyDigestOf(key) });
    return { ...verdictOf(roles), signature, ...describe(token, header), roles };
  } catch (error) {
    if (!(error instanceof TokenRefused)) throw error;
    const about = token === undefined ? {} : describe(token, header);
    return { outcome: 'refused', check: error.check, explanation: error.hint, signature, ...about, roles: [] };
  }
}

function describe({ claims }: ParsedToken, header: TokenHeader | undefined): Pick<Explanation, 'algorithm' | 'kid' | 'claims'> {
  return { ...defined({ algorithm: header?.alg, kid: header?.kid }), claims: { ...claims } };
}

/** Verdicts of all roles about a token whose signature is right, the nearest first. */
function explainRoles(
  jwt: Jwt,
  { now }: EndpointCall,
  located: LocatedIssuer,
  { token, header, signedBy }: { readonly token: ParsedToken; readonly header: TokenHeader; readonly signedBy: string },
): RoleExplanation[] {
  // Another process may have used the token a moment ago.
  jwt.store.refresh();
  const nowSeconds = now.epochMilliseconds / 1_000;
  const verdicts = rolesOf(jwt, located).map(([name, role]): RoleExplanation => {
    const bindings = explainBindings(token.claims, role);
    try {
      const judged = judgeToken(token, header, issuerRulesOf(located.record), roleRulesOf(role), nowSeconds);
      if (isOnce(role) && wasUsed(jwt.used, located, token, { ...judged, signedBy })) throw refuseUsed();
      const once = isOnce(role) ? ' It logs in once.' : '';
      return {
        name,
        accepts: true,
        reason: `All checks pass; the token gets ${role.tokenPolicies.join(', ') || 'no policies'}.${once}`,
        bindings,
      };
    } catch (error) {
      if (!(error instanceof TokenRefused)) throw error;
      return { name, accepts: false, check: error.check, reason: error.hint, bindings };
    }
  });
  return verdicts.toSorted((left, right) => distanceOf(left) - distanceOf(right) || (left.name < right.name ? -1 : 1));
}

function explainBindings(claims: Claims, { bindings }: RoleRecord): RoleExplanation['bindings'] {
  return bindings.map((binding) => {
    const { claim, wanted, found, holds } = judgeBinding(claims, binding);
    return { claim, wanted, holds, ...defined({ found }) };
  });
}

/** Number of checks of a role that the token fails; other checks count as much as a binding. */
function distanceOf({ accepts, check, bindings }: RoleExplanation): number {
  if (accepts) return 0;
  const failing = bindings.filter(({ holds }) => !holds).length;
  return check === 'bindings' ? failing : failing + 1;
}

function verdictOf(roles: readonly RoleExplanation[]): Pick<Explanation, 'outcome' | 'check' | 'explanation' | 'nearestRole'> {
  const [nearest] = roles;
  if (nearest === undefined) return { outcome: 'refused', explanation: 'The issuer has no role, so no workload can log in by it.' };
  const { name, accepts, check, reason } = nearest;
  if (accepts) return { outcome: 'accepted', explanation: `${name} takes the token. ${reason}`, nearestRole: name };
  return { outcome: 'refused', ...defined({ check }), explanation: `The nearest role is ${name}. ${reason}`, nearestRole: name };
}

async function explainLogin(jwt: Jwt, call: EndpointCall, located: LocatedIssuer, reference: string): Promise<Explanation> {
  await untilKept(jwt);
  jwt.store.refresh();
  const failed = jwt.failures.get([located.tenantId, located.issuer, reference]);
  if (failed === undefined || isOld(failed, call.now))
    throw fail('not-found', {
      detail:
        'No login at this issuer within the last day was refused under that request id although its signature was right: look into system:logs.',
    });
  const { time, role, check, reason, hint, claims } = failed;
  const roles = rolesOf(jwt, located)
    .map(([name, record]): RoleExplanation => {
      const bindings = explainBindings(claims, record);
      const isAsked = name === role;
      const holds = bindings.every((binding) => binding.holds);
      const text = isAsked ? hint : holds ? 'All bindings hold.' : 'A binding does not hold.';
      return { name, accepts: false, ...(isAsked ? { check } : {}), reason: text, bindings };
    })
    .toSorted((left, right) => distanceOf(left) - distanceOf(right));
  return {
    outcome: 'refused',
    check,
    explanation: hint,
    ...defined({ nearestRole: roles[0]?.name }),
    signature: 'right',
    claims: { ...claims },
    roles,
    login: { role, check, reason, hint, occurredAt: time },
  };
}

/** Tells whether a failed login is no longer kept. */
export function isOld({ time }: FailedLogin, now: Temporal.Instant): boolean {
  return now.epochMilliseconds >= (decodeTimestamp(time)?.epochMilliseconds ?? 0) + keptFailureSeconds * 1_000;
}
