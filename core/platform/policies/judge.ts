// Explains a decision before a request is made: the policies, as for the request itself, and further requirements of endpoints.
import { defined } from '../../base/defined.ts';
import { isOfListAlone, refusalOfEffect, type AccessControl, type Decision } from '../../access/access-control.ts';
import { needsSystemRoot, reservedRefusal } from '../../access/reserved.ts';
import type { Caller } from '../../access/caller.ts';
import type { Policy, PolicyOperation } from '../../access/policy/policy.ts';
import type { AnyEndpoint } from '../../http/endpoint.ts';
import { segmentsOf, type NamedField } from '../../http/named-entries.ts';
import { compilePolicy, saysOf } from '../../access/policy/engine.ts';
import { isAsked, namedFieldsIn, operationsOf, type Reach } from './reach.ts';

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
  /** further rights that the request needs if it has the field; `{}` stands for the name */
  readonly alsoNeeds: readonly { readonly field: string; readonly operation: PolicyOperation; readonly path: string }[];
};

/** Judges whether the request would be refused with 403, with the reason. Other refusals are not considered. */
export function judge(access: AccessControl, subject: Caller, question: Question, reach: Reach): Judgement {
  const own = judgePath(access, subject, question, reach);
  const fields = fieldsOf(question);
  const named = fields.flatMap(({ wire: field, entry }) => entry.needs.map((need) => ({ field, ...need })));
  const alsoNeeds = [...named.map(({ field, operation, path }) => ({ field, operation, path })), ...fieldRightsOf(question)];
  for (const { field, operation, path, effect } of own.allowed ? named : []) {
    const name = question.names[field];
    if (name === undefined) continue;
    const there = judgePath(access, subject, { segments: segmentsOf(path, name), operation, endpoints: [], names: {} }, reach);
    const isNone =
      effect !== undefined && refusalOfEffect(access.decide(subject, segmentsOf(path, name), operation), effect()) !== undefined;
    const why = `"${field}" names "${name}". ${there.why}${isNone ? ' It allows that with certain values alone, which is not enough.' : ''}`;
    if (!there.allowed || isNone) return { ...own, ...there, allowed: false, exists: own.exists, why, alsoNeeds };
  }
  return { ...own, alsoNeeds };
}

/** Fields for which the request may need further rights. */
export function fieldsOf({ endpoints, operation }: Pick<Question, 'endpoints' | 'operation'>): readonly NamedField[] {
  const all = endpoints.filter((endpoint) => operationsOf(endpoint).includes(operation)).flatMap(namedFieldsIn);
  return [...new Map(all.map((field) => [field.wire, field])).values()];
}

/** The rights that some values of fields need, each once, with the names of the request in their paths. */
function fieldRightsOf({ endpoints, segments, operation }: Question): Judgement['alsoNeeds'] {
  const rights = endpoints.flatMap((endpoint) => {
    if (endpoint.access === 'public' || endpoint.operation !== operation) return [];
    const names = new Map(
      endpoint.path
        .slice(1)
        .split('/')
        .map((part, index) => [part, encodeURIComponent(segments[index] ?? '')]),
    );
    const filled = (path: string): string => path.replaceAll(/\{[^}]+\}/g, (part) => names.get(part) ?? part);
    return (endpoint.fieldRights ?? []).map((right) => ({ ...right, path: filled(right.path) }));
  });
  return [...new Map(rights.map((right) => [`${right.field} ${right.path}`, right])).values()];
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
  const { allowed, rule, policy, refusedByTenant = false, constraints } = decision;
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
  return {
    allowed,
    exists: !isUnknown && !isReserved('not-found'),
    ...defined({ rule, policy }),
    decidedBy: refusedByTenant ? 'tenant' : 'token',
    restricted: constraints !== undefined,
    why: [reasonOf(access, subject, at, asked, decision), ...said].join(' '),
  };
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
  const policies = access.policiesOf(subject, owner);
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
