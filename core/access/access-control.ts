// Authentication and authorization: callers from bearer tokens, decisions from callers, paths and operations.
import { defined } from '../base/defined.ts';
import { fail, ServiceError } from '../base/errors.ts';
import type { Caller } from './caller.ts';
import { hiddenFields, hidesOf, requireAllowedValues, withoutHidden, type JudgedChange } from './policy/constraints.ts';
import { hasConstraints } from './policy/limits.ts';
import { compilePolicy, decide, type Verdict } from './policy/engine.ts';
import { showsInAll } from './policy/narrowing.ts';
import type { Policies } from './policy/policies.ts';
import type { PolicyOperation } from './policy/patterns.ts';
import type { Policy } from './policy/policy.ts';
import type { Store } from '../store/store.ts';
import { isJsonObject } from '../wire/json.ts';
import type { Shape } from '../wire/schema.ts';
import { needsSystemRoot, reservedRefusal, type Reserved } from './reserved.ts';
import { systemTenantName, type Tenants } from './tenants.ts';
import { Decisions } from './decisions.ts';
import type { ClientCertificate } from '../tls/client-certificate.ts';
import { isUsedUp, type Lineage, type TokenRecord, originOf, userOriginOf, worksFrom, worksWith } from './tokens/record.ts';
import { TokenFinder } from './tokens/tokens.ts';

export type AccessControl = {
  /**
   * Finds the caller of an Authorization header. Undefined if the header is absent or not a bearer token, and for a token that is unknown,
   * expired, disabled, used from outside its address ranges or without the certificate that it is bound to, or the cookie of a browser.
   */
  authenticate(authorization: string | undefined, now: Temporal.Instant, from: Sender): Caller | undefined;
  /** As authenticate, for the token alone. Without an address or certificate, a token that is bound to one does not work. */
  callerOf(token: string, now: Temporal.Instant, from?: Sender): Caller | undefined;
  /** As callerOf, for a token without a parent that was issued in this moment. */
  callerIssued(record: TokenRecord, from: Sender): Caller | undefined;
  /**
   * Returns the proof that a caller may perform an operation on a path. Throws `policy-denied` and, for paths of the tenant `system` only,
   * `not-found`.
   */
  authorize(caller: Caller, segments: readonly string[], operation: PolicyOperation, reservedFor?: Reserved): Authorized;
  /** Decides: the policies of the tenant and those of the token must both allow. The decision is that of the refusing set, or of the token's. */
  decide(caller: Caller, segments: readonly string[], operation: PolicyOperation): Decision;
  /** The policies of the caller's tenant, or those of its token. */
  policiesOf(caller: Caller, owner: 'tenant' | 'token'): readonly Policy[];
};

/** Origin of a request. The certificate of the TLS client is read only for tokens that are bound to one. */
export type Sender = { readonly clientIp: string; readonly certificate?: ClientCertificate | undefined };

/** The document (wire form) of a request that would have the same effect, and what such documents may have. */
export type Effect = { readonly wire: unknown; readonly shape: Shape };

/** Access to fields and other paths in an authorized request, by the policies of the caller. */
export type FieldAccess = {
  /** Tells whether the caller may also perform an operation on the same path: a PUT that creates needs `create`, not only `update`. */
  allows(operation: PolicyOperation): boolean;
  /**
   * Throws `policy-denied` unless the caller may also perform an operation on another path, as the request does in effect; with a document (wire
   * form) also unless the rules there allow all its values.
   */
  requireAt(segments: readonly string[], operation: PolicyOperation, wire?: unknown, shape?: Shape): void;
  /**
   * As requireAt if a rule covers the operation on the other path; otherwise the decision on the path of this request applies: a POST to a
   * list makes an entry whose own path may be refused.
   */
  requireNotRefusedAt(segments: readonly string[], operation: PolicyOperation, wire?: unknown, shape?: Shape): void;
  /**
   * Throws `policy-denied` where rules for a list refuse that an entry is made there, or one with these values (wire form): a PUT makes one, too. Rules
   * that are about what is below the list as well have been weighed at the path of the entry, where a more exact one may allow it.
   */
  requireMadeInList(entry: readonly string[], wire?: unknown, shape?: Shape): void;
  /** As requireAt, for a document that the caller did not write but the request amounts to: a right with certain values does not allow others. */
  requireEffectAt(segments: readonly string[], operation: PolicyOperation, effect: Effect): void;
  /** As requireAt, for another operation on the path of this request: a PUT that creates is also judged as a creation. */
  requireHere(operation: PolicyOperation, wire: unknown, shape?: Shape): void;
  /** Tells whether the caller may perform an operation on another path, such as an entry that a field of the request names. With a document as requireAt. */
  allowsAt(segments: readonly string[], operation: PolicyOperation, effect?: Effect): boolean;
  /** Throws `policy-denied` if a field of this document (wire form) has a value outside the policy's `allowed-values`. */
  requireAllowedValues(wire: unknown, shape?: Shape, change?: JudgedChange): void;
  /** true if values or fields are restricted at all */
  readonly isConstrained: boolean;
  /** Removes the fields that the policy hides from a document (wire form), except the name field `nameField`. */
  withoutHidden(wire: unknown, nameField?: string): unknown;
  /** Tells whether answers have this field (wire form, inside containers `a/b`): a hidden field cannot be requested or used in filters. */
  shows(field: string): boolean;
  /** Tells whether a read of the same path would show the complete entry. */
  readsAll(nameField?: string): boolean;
  /** Reduces a document (wire form) to the view of a read of the same or of another path: its name alone if reading is refused. */
  asRead(wire: Readonly<Record<string, unknown>>, nameField: string, segments?: readonly string[]): unknown;
  /**
   * Reduces an entry (wire form) to its view in the list of this request: without fields hidden by the rules for the path of the entry; its
   * name alone if a rule refuses that path; unchanged if no rule covers it.
   */
  asListed(wire: unknown, nameField: string, segments: readonly string[]): unknown;
  /** Returns the visible fields (as `shows`) of asListed. */
  listedShows(segments: readonly string[]): (field: string) => boolean;
  /** Returns the visible fields (as `shows`) of a read of another path: none if it is refused. */
  shownAt(segments: readonly string[]): (field: string) => boolean;
  /** Tells whether reads of all entries that a list could have, whatever their names, show a field (as `shows`). */
  showsInAll(list: readonly string[], field: string): boolean;
};

/** Decision of both sets of policies. `rule` and `policy` name the deciding ones. */
export type Decision = Pick<Verdict, 'allowed' | 'policy' | 'rule'> & {
  /** the policies of the tenant refused, so those of the token do not matter */
  readonly refusedByTenant?: true;
  /** absent if neither values nor fields are restricted */
  readonly constraints?: Pick<FieldAccess, 'requireAllowedValues' | 'withoutHidden'> & {
    /** Tells whether answers leave fields out. */
    hides(nameField?: string): boolean;
    /** Tells whether answers leave a field out, or a part of it. */
    hidesOf(field: string): boolean;
  };
};

/** A decision that allows a request. The class is not exported: only `authorize` can make one. */
class Authorization implements FieldAccess {
  readonly caller: Caller;
  readonly #constraints: Decision['constraints'];
  readonly #segments: readonly string[];
  readonly #decide: AccessControl['decide'];
  readonly #policiesOf: AccessControl['policiesOf'];

  constructor(
    caller: Caller,
    segments: readonly string[],
    { constraints }: Decision,
    access: Pick<AccessControl, 'decide' | 'policiesOf'>,
  ) {
    this.caller = caller;
    this.#segments = segments;
    this.#constraints = constraints;
    this.#decide = access.decide;
    this.#policiesOf = access.policiesOf;
  }

  get isConstrained(): boolean {
    return this.#constraints !== undefined;
  }

  allows(operation: PolicyOperation): boolean {
    return this.allowsAt(this.#segments, operation);
  }

  allowsAt(segments: readonly string[], operation: PolicyOperation, effect?: Effect): boolean {
    const decision = this.#decide(this.caller, segments, operation);
    return decision.allowed && (effect === undefined || refusalOfEffect(decision, effect) === undefined);
  }

  requireAt(segments: readonly string[], operation: PolicyOperation, wire?: unknown, shape?: Shape): void {
    const { allowed, constraints } = this.#decide(this.caller, segments, operation);
    if (!allowed)
      throw fail('policy-denied', { detail: `The policies of tenant and token must also allow "${operation}" on /${segments.join('/')}.` });
    if (wire !== undefined) constraints?.requireAllowedValues(wire, shape);
  }

  requireEffectAt(segments: readonly string[], operation: PolicyOperation, effect: Effect): void {
    this.requireAt(segments, operation);
    const refusal = refusalOfEffect(this.#decide(this.caller, segments, operation), effect);
    if (refusal === undefined) return;
    const detail = `This is "${operation}" on /${segments.join('/')} in effect, which the policies allow with other values. ${refusal.message}`;
    throw fail('policy-denied', { detail });
  }

  requireNotRefusedAt(segments: readonly string[], operation: PolicyOperation, wire?: unknown, shape?: Shape): void {
    const { allowed, rule } = this.#decide(this.caller, segments, operation);
    if (allowed || rule !== undefined) this.requireAt(segments, operation, wire, shape);
  }

  requireMadeInList(entry: readonly string[], wire?: unknown, shape?: Shape): void {
    const list = entry.slice(0, -1);
    for (const owner of ['tenant', 'token'] as const) {
      const verdict = decide(this.#policiesOf(this.caller, owner).map(compilePolicy), list, 'create');
      if (!isOfListAlone(verdict)) continue;
      if (!verdict.allowed)
        throw fail('policy-denied', {
          detail: `The policies of the ${owner} refuse "create" on /${list.join('/')}, where the entry would be made.`,
        });
      if (wire !== undefined) requireAllowedValues(verdict.grants, wire, shape);
    }
  }

  requireHere(operation: PolicyOperation, wire: unknown, shape?: Shape): void {
    this.requireAt(this.#segments, operation, wire, shape);
  }

  requireAllowedValues(wire: unknown, shape?: Shape, change?: JudgedChange): void {
    this.#constraints?.requireAllowedValues(wire, shape, change);
  }

  withoutHidden(wire: unknown, nameField?: string): unknown {
    return this.#constraints === undefined ? wire : this.#constraints.withoutHidden(wire, nameField);
  }

  shows(field: string): boolean {
    return isShown(this.#constraints, field);
  }

  asListed(wire: unknown, nameField: string, segments: readonly string[]): unknown {
    const { allowed, rule, constraints } = this.#decide(this.caller, segments, 'read');
    if (allowed) return constraints === undefined ? wire : constraints.withoutHidden(wire, nameField);
    if (rule === undefined || !isJsonObject(wire)) return wire;
    return Object.hasOwn(wire, nameField) ? { [nameField]: wire[nameField] } : {};
  }

  listedShows(segments: readonly string[]): (field: string) => boolean {
    const { allowed, rule, constraints } = this.#decide(this.caller, segments, 'read');
    return (field) => (allowed ? isShown(constraints, field) : rule === undefined);
  }

  shownAt(segments: readonly string[]): (field: string) => boolean {
    const { allowed, constraints } = this.#decide(this.caller, segments, 'read');
    return (field) => allowed && isShown(constraints, field);
  }

  showsInAll(list: readonly string[], field: string): boolean {
    return (['tenant', 'token'] as const).every((owner) => showsInAll(this.#policiesOf(this.caller, owner), list, field));
  }

  readsAll(nameField?: string): boolean {
    const { allowed, constraints } = this.#decide(this.caller, this.#segments, 'read');
    return allowed && constraints?.hides(nameField) !== true;
  }

  asRead(wire: Readonly<Record<string, unknown>>, nameField: string, segments = this.#segments): unknown {
    const { allowed, constraints } = this.#decide(this.caller, segments, 'read');
    if (!allowed) return { [nameField]: wire[nameField] };
    return constraints === undefined ? wire : constraints.withoutHidden(wire, nameField);
  }
}

/** Tells whether the rule that decided on the path of a list covers nothing below it. */
export function isOfListAlone({ rule }: Pick<Verdict, 'rule'>): boolean {
  return rule !== undefined && !rule.endsWith('/**');
}

/** Reason for which an allowing decision does not allow this; undefined if it does. */
export function refusalOfEffect({ constraints }: Decision, { wire, shape }: Effect): ServiceError | undefined {
  try {
    constraints?.requireAllowedValues(wire, shape);
    return undefined;
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
}

/** Tells whether answers under these constraints have a field, including all its contents. */
function isShown(constraints: Decision['constraints'], field: string): boolean {
  return constraints?.hidesOf(field) !== true;
}

/** Proof that access control allowed a request, required by code that runs for callers with a token. */
export type Authorized = Authorization;

/** Policies of tenants belong to the system tenant; those of tokens to their own tenant. */
export function createAccessControl(store: Store, tenants: Tenants, policies: Policies): AccessControl {
  const tokens = new TokenFinder(store);
  const callers = new WeakMap<TokenRecord, Caller>();
  const decisions = new Decisions<Decision>(store);
  /** made once, at first start */
  let systemTenantId: string | undefined;

  function callerOf(token: string, now: Temporal.Instant, from?: Sender): Caller | undefined {
    const lineage = tokens.find(token, now);
    return lineage === undefined ? undefined : callerBy(lineage, from);
  }

  function callerBy(lineage: Lineage, from: Sender | undefined): Caller | undefined {
    const [record] = lineage;
    if (isUsedUp(record) || !worksFrom(lineage, from?.clientIp) || !worksWith(lineage, from)) return undefined;
    const known = callers.get(record);
    if (known !== undefined) return known;
    const tenant = tenants.findByUuid(record.tenantId);
    if (tenant === undefined) return undefined;
    const caller: Caller = {
      tenantId: tenant.uuid,
      tenantName: tenant.name,
      accessor: record.accessor,
      user: record.user,
      ...defined({ identity: record.identity, isVisitor: record.opened && (true as const) }),
      ...userOriginOf(lineage),
      origin: originOf(lineage),
      ...defined({ branch: lineage.at(-2)?.accessor }),
      policies: record.policies,
      boundCidrs: lineage.flatMap(({ boundCidrs }) => (boundCidrs === undefined ? [] : [boundCidrs])),
      expires: record.expires === undefined ? undefined : Temporal.Instant.from(record.expires),
      ...(lineage.some(({ cnf }) => cnf !== undefined) ? { boundToKey: true } : {}),
      ...(record.usesLeft === undefined ? {} : { isCounted: true }),
    };
    callers.set(record, caller);
    return caller;
  }

  /** The policies of the caller's tenant; undefined if that tenant was deleted, even if a new one has its name. */
  function boundsOf(caller: Caller): readonly Policy[] | undefined {
    const tenant = tenants.findByName(caller.tenantName);
    if (tenant?.uuid !== caller.tenantId) return undefined;
    systemTenantId ??= tenants.findByName(systemTenantName)?.uuid;
    return policies.behind(systemTenantId ?? '', tenant.policies);
  }

  /** `root` allows everything: rules of other policies beside it must not restrict it. */
  function grantsOf({ tenantId, policies: names }: Caller): readonly Policy[] {
    return policies.behind(tenantId, names.includes('root') ? ['root'] : names);
  }

  function decideFor(caller: Caller, segments: readonly string[], operation: PolicyOperation): Decision {
    let decision = decisions.find(caller, segments, operation);
    if (decision === undefined) decisions.keep(caller, segments, operation, (decision = decideUncached(caller, segments, operation)));
    return decision;
  }

  function decideUncached(caller: Caller, segments: readonly string[], operation: PolicyOperation): Decision {
    if (caller.isVisitor === true && !visitorMay(segments, operation)) return { allowed: false };
    const bounds = boundsOf(caller);
    if (bounds === undefined) return { allowed: false, refusedByTenant: true };
    const byTenant = decide(bounds.map(compilePolicy), segments, operation);
    if (!byTenant.allowed) return { ...byTenant, refusedByTenant: true };
    const byToken = decide(grantsOf(caller).map(compilePolicy), segments, operation);
    if (!byToken.allowed) return byToken;
    if (!hasConstraints(byTenant.grants) && !hasConstraints(byToken.grants)) return byToken;
    return { ...byToken, constraints: constraintsOf([byTenant, byToken]) };
  }

  const policiesOf: AccessControl['policiesOf'] = (caller, owner) => (owner === 'token' ? grantsOf(caller) : (boundsOf(caller) ?? []));

  return {
    callerOf,
    callerIssued: (record, from) => callerBy([record], from),
    policiesOf,
    authenticate(authorization, now, from) {
      // RFC 6750 section 2.1; the scheme is case-insensitive (RFC 9110 section 11.1).
      const token = authorization === undefined ? undefined : /^bearer +([\w\-.~+/]+=*) *$/i.exec(authorization)?.[1];
      const lineage = token === undefined ? undefined : tokens.find(token, now);
      return lineage === undefined || lineage[0].browser === true ? undefined : callerBy(lineage, from);
    },
    decide: decideFor,
    authorize(caller, segments, operation, reservedFor) {
      const decision = decideFor(caller, segments, operation);
      if (!decision.allowed)
        throw fail('policy-denied', { detail: `The policies of tenant and token must both allow "${operation}" on this path.` });
      const refusal = reservedRefusal(reservedFor, caller);
      if (refusal !== undefined) throw fail(refusal, refusal === 'policy-denied' ? { detail: needsSystemRoot } : {});
      return new Authorization(caller, segments, decision, { decide: decideUncached, policiesOf });
    },
  };
}

/** Actions of a visitor, besides reading: about the own token, and questions about policies. */
const visitorActions = new Set(['v1/state/keystore/token/info', 'v1/state/keystore/token/disable', 'v1/logout', 'v1/state/policy/check']);

/** Limits a visitor whatever the policies of the token say: the policy `default` alone would let approve. */
function visitorMay(segments: readonly string[], operation: PolicyOperation): boolean {
  return operation === 'read' || (operation === 'execute' && visitorActions.has(segments.join('/')));
}

function constraintsOf(verdicts: readonly Verdict[]): NonNullable<Decision['constraints']> {
  return {
    requireAllowedValues(document, shape, change) {
      for (const { grants } of verdicts) requireAllowedValues(grants, document, shape, change);
    },
    withoutHidden: (document, nameField) =>
      verdicts.reduce((shown: unknown, { grants }) => withoutHidden(grants, shown, nameField), document),
    hides: (nameField) => verdicts.some(({ grants }) => hiddenFields(grants, nameField).length > 0),
    hidesOf: (field) => verdicts.some(({ grants }) => hidesOf(grants, field)),
  };
}
