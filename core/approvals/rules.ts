// Rules of approvals: which acts of a tenant need the approval of how many other people, and of whom.
import { covers } from '../access/policy/engine.ts';
import { type PatternSegment, readPattern } from '../access/policy/patterns.ts';
import { Remembered } from '../store/records/remembered.ts';
import type { Store, Table, WriteTransaction } from '../store/store.ts';
import type { Act } from './acts.ts';
import { isOutside, type Outside, type Values } from './narrowing.ts';

/** A way to log in of which the people approve. `id` is never reused, unlike the name: the grant of a role, the id of an approle. */
export type ApproverRole = { readonly kind: 'role' | 'approle'; readonly name: string; readonly id: string };

/** Record of a rule. Durations are texts, as they were written. */
export type ApprovalRule = {
  readonly acts: readonly Act[];
  /** patterns as in policies; none: every path */
  readonly paths: readonly string[];
  /** values of fields with which alone the rule is about a request; absent: whatever they are */
  readonly values?: Values;
  readonly needed: number;
  readonly approvers: readonly ApproverRole[];
  /** of each of these lists, besides, another person must be among those who approve; absent in older rules */
  readonly distinctGroups?: readonly (readonly ApproverRole[])[];
  /** false: a request may be made without a reason; absent: true */
  readonly reasonRequired?: boolean;
  /** people whose rejection ends a request; absent: one */
  readonly rejections?: number;
  readonly approveWithin: string;
  readonly useWithin: string;
  /** saved although fewer people could approve than are needed */
  readonly force: boolean;
};

export type NamedRule = ApprovalRule & { readonly name: string };

/** [tenant uuid, name] */
export const ruleTable = (store: Store): Table<ApprovalRule> => store.tenantTable<ApprovalRule>('approval-rules');

/** Rules that a tenant may have: every act reads all of them. */
export const mostRules = 32;

/** Tenants whose rules are remembered. */
const mostTenants = 1_000;

/** Rules by tenant, read once for each state of the store. */
export class Rules {
  readonly #store: Store;
  readonly #known: Remembered<string, readonly NamedRule[]>;

  constructor(store: Store) {
    this.#store = store;
    this.#known = new Remembered(store, mostTenants);
  }

  /** The rules of a tenant. Throws `record-unreadable`: a rule that does not open must not open the way. */
  of(tenantId: string): readonly NamedRule[] {
    let rules = this.#known.find(tenantId);
    if (rules === undefined) this.#known.keep(tenantId, (rules = named(ruleTable(this.#store).allEntries([tenantId]))));
    return rules;
  }
}

/** Rules and records of approvals, for requests. */
export type Approvals = { readonly store: Store; readonly rules: Rules };

export function openApprovals(store: Store): Approvals {
  return { store, rules: new Rules(store) };
}

/** As Rules.of, in a transaction. */
export function rulesIn(transaction: WriteTransaction, store: Store, tenantId: string): readonly NamedRule[] {
  return named(transaction.allEntries(ruleTable(store), [tenantId]));
}

function named(entries: Iterable<readonly [readonly (string | number)[], ApprovalRule]>): readonly NamedRule[] {
  return Array.from(entries, ([key, rule]) => ({ ...rule, name: String(key.at(-1)) }));
}

/** Tells whether a rule of the tenant names a role of approvers. `id`: as in ApproverRole. */
export function namesApprover(store: Store, tenantId: string, id: string): boolean {
  return Iterator.from(ruleTable(store).allEntries([tenantId])).some(([, { approvers }]) => approvers.some((role) => role.id === id));
}

/**
 * The rules that a request with these acts must meet, all of them. `paths`: decoded segments of every path that it concerns; none: it concerns everything. Changes of trust fall under
 * every rule of the tenant in any case: who may change the protection has no protection, and a rule that another makes must not take it from the people of the first.
 * `outside`: rules that are not about it because of its values.
 */
export function fitting(
  rules: readonly NamedRule[],
  requested: readonly Act[],
  paths: readonly (readonly string[])[],
  outside?: readonly Pick<Outside, 'name' | 'values'>[],
): readonly NamedRule[] {
  if (requested.includes('change-trust')) return rules;
  return rules.filter(
    (rule) =>
      rule.acts.some((act) => requested.includes(act)) &&
      (paths.length === 0 || paths.some((segments) => isAbout(rule, segments))) &&
      !isOutside(rule, outside),
  );
}

/**
 * Tells whether a rule is about a path. The two trees of the API count as one: a key is deleted in one and exported in the other. A path of a rule also stands for
 * all below it: who names a key means its actions too.
 */
function isAbout({ paths }: ApprovalRule, segments: readonly string[]): boolean {
  if (paths.length === 0) return true;
  const inBothTrees = [segments, inOtherTree(segments)].map((path) => path.map((text): PatternSegment => ({ kind: 'literal', text })));
  return paths.some((path) => {
    const pattern = readPattern(path);
    return pattern === undefined || inBothTrees.some((literal) => covers([...pattern, { kind: 'rest' }], literal));
  });
}

function inOtherTree([version = '', tree = '', ...rest]: readonly string[]): readonly string[] {
  if (tree === 'config') return [version, 'state', ...rest];
  return tree === 'state' ? [version, 'config', ...rest] : [version, tree, ...rest];
}
