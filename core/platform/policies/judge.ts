// Explains a decision before a request is made: the policies, as for the request itself, and further requirements of endpoints.
import { defined } from '../../base/defined.ts';
import { isOfListAlone, refusalOfEffect, type AccessControl, type Decision } from '../../access/access-control.ts';
import { needsSystemRoot, reservedRefusal } from '../../access/reserved.ts';
import type { Caller } from '../../access/caller.ts';
import type { PolicyOperation } from '../../access/policy/patterns.ts';
import type { Policy } from '../../access/policy/policy.ts';
import type { AnyEndpoint } from '../../http/endpoint.ts';
import { segmentsOf } from '../../http/named-entries.ts';
import { builtInPolicies } from '../../access/policy/built-in.ts';
import { isHeld } from '../../access/policy/granting.ts';
import { systemTenantName } from '../../access/tenants.ts';
import { effectAt, needsOf, newNameField, type Need } from './further-needs.ts';
import { compilePolicy, saysOf } from '../../access/policy/engine.ts';
import { isAsked, operationsOf, type Reach } from './reach.ts';

/** The request in question: path, operation, and the endpoints of that path. */
export type Question = {
  readonly segments: readonly string[];
  readonly operation: PolicyOperation;
  readonly endpoints: readonly AnyEndpoint[];
  /** entries named by fields of the request, by wire name of the field */
  readonly names: Readonly<Record<string, string>>;
};

/** Judgement. `rule` and `policy` are absent if no rule decided. */
export type Judgement = Pick<Decision, 'allowed' | 'rule' | 'policy'> & {
  readonly decidedBy: 'tenant' | 'token' | 'service';
  readonly restricted: boolean;
  /** true if the path exists for the tenant of the caller */
  readonly exists: boolean;
  readonly why: string;
  /** needs of the request besides, by its fields */
  readonly alsoNeeds: readonly Need[];
};

/** Judges whether the request would be refused with 403, with the reason. Other refusals are not considered. */
export function judge(access: AccessControl, subject: Caller, question: Question, reach: Reach): Judgement {
  const own = judgePath(access, subject, question, reach);
  const alsoNeeds = needsOf(question);
  const refused = own.allowed ? refusalByNames(access, subject, { question, needs: alsoNeeds }, reach) : undefined;
  return { ...own, ...refused, exists: own.exists, alsoNeeds };
}

/** The refusal that follows from the names in the question; undefined without one. */
function refusalByNames(
  access: AccessControl,
  subject: Caller,
  { question, needs }: { readonly question: Question; readonly needs: readonly Need[] },
  reach: Reach,
): Omit<Judgement, 'alsoNeeds' | 'exists'> | undefined {
  const { names, segments, operation } = question;
  const made = names[newNameField(question) ?? ''];
  if (made !== undefined) {
    // A rule may refuse the new entry at its own path, and none needs to allow it there.
    const at = [...segments, made];
    const decision = access.decide(subject, at, operation);
    if (!decision.allowed && decision.rule !== undefined) return toldOf(access, subject, { segments: at, operation }, decision);
  }
  for (const { field, operation: needed, path, policy, when } of needs) {
    const name = names[field];
    if (name === undefined || when !== undefined) continue;
    const says = `"${field}" names "${name}".`;
    if (policy !== undefined) {
      if (policy === '{}' && !isHeld(subject, name))
        return {
          allowed: false,
          decidedBy: 'service',
          restricted: false,
          why: `${says} Nobody gives a policy that the own token does not have.`,
        };
      continue;
    }
    const at = segmentsOf(path, name);
    const there = judgePath(access, subject, { segments: at, operation: needed, endpoints: [], names: {} }, reach);
    const effect = effectAt(question, field, path);
    const isNone = effect !== undefined && refusalOfEffect(access.decide(subject, at, needed), effect) !== undefined;
    const why = `${says} ${there.why}${isNone ? ' It allows that with certain values alone, which is not enough.' : ''}`;
    if (!there.allowed || isNone) return { ...there, allowed: false, why };
  }
  return undefined;
}

function judgePath(access: AccessControl, subject: Caller, question: Question, reach: Reach): Omit<Judgement, 'alsoNeeds'> {
  const { endpoints, segments, operation } = question;
  if (endpoints.length > 0 && endpoints.every((endpoint) => endpoint.access === 'public'))
    return { allowed: true, exists: true, decidedBy: 'service', restricted: false, why: 'No token is asked for here: everybody may.' };

  const meant = endpoints.filter((endpoint) => operationsOf(endpoint).includes(operation));
  const hasPut = meant.some(({ method }) => method === 'PUT');
  const say = (asked: PolicyOperation, at = segments) => ({ asked, at, decision: access.decide(subject, at, asked) });
  // PUT creates entries, needs `update` too, and is not refused by the list.
  const inList = hasPut && operation === 'create' ? say('create', segments.slice(0, -1)) : undefined;
  const needed = [
    say(operation),
    ...(inList === undefined ? [] : [say('update'), ...(isOfListAlone(inList.decision) ? [inList] : [])]),
  ] as const;
  const { asked, at, decision } = needed.find((one) => !one.decision.allowed) ?? needed[0];
  const { allowed } = decision;
  const refusals = new Set(
    meant.map((endpoint) => (endpoint.access === 'public' ? undefined : reservedRefusal(endpoint.reservedFor, subject))),
  );
  const isReserved = (refusal: 'policy-denied' | 'not-found'): boolean => refusals.size === 1 && refusals.has(refusal);
  if (allowed && isReserved('policy-denied'))
    return { allowed: false, exists: true, decidedBy: 'service', restricted: false, why: needsSystemRoot };

  const isUnknown = endpoints.length === 0 && !isAsked(segments, reach);
  const remarks = {
    'No path of the API is like this: a request is answered 404.': isUnknown,
    [`No request does "${operation}" on this path: it is answered 405.`]: endpoints.length > 0 && meant.length === 0,
    'Only the tenant "system" has this path: the request is answered 404.': isReserved('not-found'),
    'A PUT that would make the entry also needs "create", which is refused.':
      allowed && hasPut && operation === 'update' && !say('create').decision.allowed,
  };
  const said = Object.entries(remarks).flatMap(([text, isTrue]) => (isTrue ? [text] : []));
  const told = toldOf(access, subject, { segments: at, operation: asked }, decision);
  return { ...told, exists: !isUnknown && !isReserved('not-found'), why: [told.why, ...said].join(' ') };
}

/** A decision, with its reason as far as the subject may know it. */
function toldOf(
  access: AccessControl,
  subject: Caller,
  { segments, operation }: Pick<Question, 'segments' | 'operation'>,
  decision: Decision,
): Omit<Judgement, 'alsoNeeds' | 'exists'> {
  const { allowed, rule, policy, refusedByTenant = false, constraints } = decision;
  const about = { allowed, restricted: constraints !== undefined } as const;
  if (refusedByTenant && !isKnownToTenant(access, subject, policy))
    return { ...about, decidedBy: 'tenant', why: `What the tenant may do at most leaves out "${operation}" here. ${askSystem}` };
  const why = reasonOf(access, subject, segments, operation, decision);
  return { ...about, ...defined({ rule, policy }), decidedBy: refusedByTenant ? 'tenant' : 'token', why };
}

const askSystem = 'The tenant "system" keeps those policies: its administrators can tell which one decides.';

/** Tells whether a tenant may know the policies that bound it: those that everybody has, and `system` its own. */
function isKnownToTenant(access: AccessControl, subject: Caller, policy: string | undefined): boolean {
  if (subject.tenantName === systemTenantName) return true;
  // Without a deciding rule, the reason names all of them.
  const named = policy === undefined ? access.policiesOf(subject, 'tenant').map(({ name }) => name) : [policy];
  return named.every((name) => builtInPolicies.has(name));
}

function reasonOf(
  access: AccessControl,
  subject: Caller,
  segments: readonly string[],
  operation: PolicyOperation,
  decision: Decision,
): string {
  const { allowed, rule, policy, refusedByTenant } = decision;
  const owner = refusedByTenant ? 'tenant' : 'token';
  const all = access.policiesOf(subject, owner);
  const policies = owner === 'tenant' ? all.filter(({ name }) => isKnownToTenant(access, subject, name)) : all;
  if (rule === undefined || policy === undefined) {
    const names = policies.map(({ name }) => `"${name}"`).join(', ');
    return `No rule of the ${owner}'s policies (${names}) speaks of "${operation}" here, and what no rule allows is refused.`;
  }
  const overruled = [...overruledBy(policies, segments, operation, { allowed, rule }).take(mostNamed)];
  return [
    `The rule "${rule}" of the ${owner}'s policy "${policy}" ${allowed ? 'allows' : 'refuses'} "${operation}".`,
    ...(overruled.length === 0 ? [] : [`More exact than ${overruled.join(', ')}, it decides.`]),
    ...(owner === 'token' && subject.policies.includes('root') && subject.policies.length > 1
      ? ['"root" is everything: the policies beside it take nothing away.']
      : []),
    ...(owner === 'tenant' ? ['What the tenant may not do, none of its tokens may.'] : []),
  ].join(' ');
}

/** Rules that would have decided otherwise, had they been alone. */
function* overruledBy(
  policies: readonly Policy[],
  segments: readonly string[],
  operation: PolicyOperation,
  { allowed, rule }: Pick<Decision, 'allowed' | 'rule'>,
): Generator<string> {
  for (const policy of policies) {
    for (const say of saysOf(compilePolicy(policy), segments, operation)) {
      const [other] = allowed ? say.reject : say.allow;
      if (other !== undefined && other.path !== rule) yield `"${other.path}" of "${policy.name}"`;
    }
  }
}

/** Limit of overruled rules in a reason. */
const mostNamed = 3;
