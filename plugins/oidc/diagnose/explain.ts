// The `explain` action: which roles a set of claims matches, which policies they give, and why not, without a sign-in.
import { z } from 'zod';
import { defined } from '../../../core/base/defined.ts';
import { timestampText } from '../../../core/wire/fields.ts';
import { fail } from '../../../core/base/errors.ts';
import { defineEndpoint, type AnyEndpoint, type EndpointCall } from '../../../core/http/endpoint.ts';
import { naming } from '../../../core/http/named-entries.ts';
import type { JsonObject } from '../../../core/wire/json.ts';
import { type Claims, findClaim, showableText } from '../../../core/identity/claims.ts';
import { isOverage } from '../provider/directory.ts';
import { LoginFailure } from '../failures.ts';
import { requireService, type Located, type Oidc } from '../context.ts';
import type { FailedLogin } from '../records/sign-ins.ts';
import { keptFailureMs } from '../report.ts';
import { neededClaims, spellingAdvice, type RoleSelection, type RoleVerdict } from '../../../core/identity/role-match.ts';
import { requireRole, type RoleSelect, selectSignInRoles } from '../claims/granted-roles.ts';
import { oidcTag } from '../tags.ts';
import { requireTold, type Told } from './told.ts';

const input = z
  .object({
    claims: z.record(z.string().max(512), z.unknown()).optional().describe('Claims as the provider sends them.'),
    login: naming(z.string().min(1).max(64), {
      resource: 'failed sign-ins',
      needs: [],
      because: 'It was made at the service in the path.',
    })
      .optional()
      .meta({ description: 'Reference of a failed sign-in, as shown on its page.', example: 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6' }),
  })
  .refine(({ claims, login }) => (claims === undefined) !== (login === undefined), 'must have either claims or login');
type Input = z.output<typeof input>;

const roleOutput = z.object({
  name: z.string().meta({ description: 'Name of the role.', example: 'operators' }),
  matches: z.boolean().describe('`true` if the role claim has its name.'),
  grants: z.boolean().describe('`true` if it gives its policies.'),
  missingClaims: z.array(z.string()).describe('Required claims that are not there.'),
  reason: z.string().meta({ description: 'Why.', example: 'A value of groups is operators.' }),
});

const output = z.object({
  outcome: z.string().meta({ description: 'signed-in, or the code of the refusal.', example: 'signed-in' }),
  explanation: z.string().meta({ description: 'The same in a sentence.', example: 'operators matches; the session gets user.' }),
  roleClaim: z.string().meta({ description: 'Claim that roles are matched with.', example: 'groups' }),
  roleClaimValues: z.int().optional().describe('How many values it has; absent when it is missing.'),
  roles: z.array(roleOutput).describe('Every role of the service.'),
  policies: z.array(z.string()).describe('What the sign-in gets.'),
  unknownPolicies: z.array(z.string()).describe('Named by a granted role, and not there: they grant nothing.'),
  username: z.string().optional().meta({ description: 'As mapped from the claims.', example: 'ada@example.com' }),
  fullname: z.string().optional().meta({ description: 'As mapped from the claims.', example: 'Ada Lovelace' }),
  notes: z.array(z.string()).describe('What else to know, in sentences.'),
  login: z
    .object({
      stage: z.string().meta({ description: 'Where it failed.', example: 'role' }),
      code: z.string().meta({ description: 'The error code.', example: 'no-role' }),
      reason: z.string().meta({ description: 'Why, in one word.', example: 'no-role-matches' }),
      hint: z.string().optional().meta({ description: 'What to do about it.', example: 'Create a role named after one of the values.' }),
      occurredAt: timestampText().describe('When.'),
    })
    .optional()
    .describe('The failed sign-in that was asked for.'),
});
type Explanation = z.output<typeof output>;

const told: Told = { ofService: ['role-select'], ofRoles: ['required-claims', 'claim-mappings', 'token-policies'] };

export function explainEndpoint(oidc: Oidc): AnyEndpoint {
  return defineEndpoint<Input, Explanation, Located>({
    method: 'POST',
    path: '/v1/state/keystore/authentication/oidc/{name}/explain',
    summary: 'Say which roles claims match, and why not',
    idempotent: true,
    description:
      'Takes `claims`, or as `login` the reference of a sign-in that failed within the last day. Refused where policies hide what it tells of the service or of a role.',
    tag: oidcTag,
    access: 'token',
    operation: 'execute',
    audit: 'required',
    act: 'none',
    auditFields: ['login'],
    secretInput: ['claims'],
    input,
    output,
    bodyLimit: 1_048_576,
    errors: ['not-found'],
    find: (call) => requireService(oidc, call),
    run(call, { claims, login }, located) {
      const roles = oidc.rolesOf(located.tenantId, located.service).map(({ name }) => name);
      requireTold(call, told, located.service, roles);
      if (login === undefined) return explain(oidc, located, claims as JsonObject);
      const failed = requireFailure(oidc, call, located, login);
      return { ...explainFailure(oidc, located, failed), login: describeFailure(failed) };
    },
  });
}

/** The result of a sign-in with these claims. */
function explain(oidc: Oidc, located: Located, claims: Claims): Explanation {
  const { roleClaim } = located.record.roleSelect;
  const roles = oidc.rolesOf(located.tenantId, located.service);
  let selection: RoleSelection = {
    claims,
    roleValues: undefined,
    verdicts: [],
    granted: [],
    policies: [],
    username: undefined,
    fullname: undefined,
  };
  try {
    selection = selectSignInRoles(claims, located.record.roleSelect, roles);
    requireRole(selection, roleClaim);
    return { ...describe(oidc, located, claims, selection), outcome: 'signed-in', explanation: sentenceOf(selection) };
  } catch (error) {
    if (!(error instanceof LoginFailure)) throw error;
    return { ...describe(oidc, located, claims, selection), outcome: error.code, explanation: error.hint ?? error.reason };
  }
}

function explainFailure(oidc: Oidc, located: Located, failed: FailedLogin): Explanation {
  if (failed.claims !== undefined) return explain(oidc, located, failed.claims);
  const explanation = failed.hint ?? `The sign-in ended at the step ${failed.stage} (${failed.reason}), before there were claims.`;
  const { roleClaim } = located.record.roleSelect;
  return { outcome: failed.code, explanation, roleClaim, roles: [], policies: [], unknownPolicies: [], notes: [] };
}

function describe(
  oidc: Oidc,
  { tenantId, record }: Located,
  claims: Claims,
  selection: RoleSelection,
): Omit<Explanation, 'outcome' | 'explanation'> {
  const { roleClaim } = record.roleSelect;
  const { roleValues, policies, username, fullname } = selection;
  const subject = findClaim(claims, 'sub');
  const name = username ?? (typeof subject === 'string' ? showableText(subject) : undefined);
  return {
    roleClaim,
    ...defined({ roleClaimValues: roleValues?.length }),
    roles: selection.verdicts.map((verdict) => describeVerdict(verdict, record.roleSelect, roleValues)),
    policies: [...policies],
    unknownPolicies: policies.filter((policy) => !oidc.accounts.hasPolicy(tenantId, policy)),
    ...defined({ username: name, fullname }),
    notes: notesOf(claims, record.roleSelect, selection),
  };
}

function describeVerdict(
  { role, matches, missingClaims }: RoleVerdict,
  { roleClaim, roleWithoutGroups }: RoleSelect,
  values: readonly string[] | undefined,
): z.output<typeof roleOutput> {
  const grants = matches && missingClaims.length === 0;
  const near = values?.find((value) => value !== role.name && value.trim().toLowerCase() === role.name.trim().toLowerCase());
  const isOfNobody = matches && values?.includes(role.name) !== true && role.name === roleWithoutGroups;
  const reason =
    isOfNobody && grants
      ? `The provider sends no value of ${roleClaim}, and role-without-groups is ${role.name}.`
      : grants
        ? `A value of ${roleClaim} is ${role.name}.`
        : matches
          ? `It matches, but the provider did not send: ${missingClaims.join(', ')}.`
          : values === undefined
            ? `The claim ${roleClaim} is missing: the provider does not send it, or the account is in no group.`
            : near === undefined
              ? `No value of ${roleClaim} is ${role.name}.`
              : `No value of ${roleClaim} is ${role.name}; one differs only in upper and lower case or in spaces, which count.`;
  return { name: role.name, matches, grants, missingClaims: [...missingClaims], reason };
}

function notesOf(claims: Claims, { roleClaim, keysOfObject }: RoleSelect, selection: RoleSelection): string[] {
  const claim = findClaim(claims, roleClaim);
  const roles = selection.verdicts.map(({ role }) => role);
  return [
    ...neededClaims(roleClaim, roles).flatMap((name) => spellingAdvice(claims, name) ?? []),
    ...(isOverage(claims, roleClaim)
      ? ['The provider left the groups out because they are too many: a sign-in would fetch them from the directory API.']
      : []),
    ...(Array.isArray(claim) && claim.some((value) => typeof value !== 'string')
      ? [`${roleClaim} has values that are not strings; they are ignored.`]
      : []),
    ...(claim !== undefined && typeof claim !== 'string' && !Array.isArray(claim) && keysOfObject !== true
      ? [`${roleClaim} is neither a string nor a list of strings; of an object the members count with role-select/keys-of-object.`]
      : []),
    ...(selection.granted.length > 1
      ? ['Several roles match: their policies are combined, and names come from the first role that maps them.']
      : []),
    ...(selection.granted.length > 0 && selection.username === undefined
      ? ['No claim that was sent is mapped to username: the subject (sub) is used.']
      : []),
  ];
}

function sentenceOf({ granted, policies }: RoleSelection): string {
  const names = granted.map((role) => role.name).join(', ');
  return policies.length === 0
    ? `${names} matches, and grants no policies: the session could do nothing.`
    : `${names} matches; the session gets ${policies.join(', ')}.`;
}

function requireFailure(oidc: Oidc, call: EndpointCall, { tenantId, service }: Located, reference: string): FailedLogin {
  const failed = oidc.failures.get([tenantId, service, reference]);
  if (failed === undefined || call.now.epochMilliseconds >= failed.atMs + keptFailureMs) {
    throw fail('not-found', { detail: 'No failed sign-in of this service within the last day has that reference.' });
  }
  return failed;
}

function describeFailure({ stage, code, reason, hint, atMs }: FailedLogin): NonNullable<Explanation['login']> {
  const occurredAt = Temporal.Instant.fromEpochMilliseconds(atMs).toString({ fractionalSecondDigits: 6 });
  return { stage, code, reason, occurredAt, ...defined({ hint }) };
}
