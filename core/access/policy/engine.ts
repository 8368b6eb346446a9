// Decides whether policies allow an operation on a path. Each policy is compiled once; a decision is one walk through its tree.
import { maxPatternSegments, operations, readPattern, type PatternSegment, type PolicyOperation } from './patterns.ts';
import type { Policy, PolicyRule } from './policy.ts';

/** Decision of a set of policies. `policy` and `rule` name the deciding ones; both are absent if no rule matched (refused by default). */
export type Verdict = {
  readonly allowed: boolean;
  readonly policy?: string;
  readonly rule?: string;
  /** the rules that allow, by policy: values and hidden fields follow the least restrictive of them */
  readonly grants: readonly Grants[];
};

/** Rules of one policy that allow an operation by one pattern: the same list each time, so that its restrictions are computed once. */
export type Grants = readonly PolicyRule[];
/** The rules of a policy with one pattern that state one operation. */
export type Say = {
  readonly policy: string;
  readonly pattern: readonly PatternSegment[];
  readonly allow: PolicyRule[];
  readonly reject: PolicyRule[];
};
type Says = Partial<Record<PolicyOperation, Say>>;
type Node = { readonly literals: Map<string, Node>; one: Node | undefined; readonly here: Says; readonly rest: Says };

/** A compiled policy. */
export type CompiledPolicy = { readonly root: Node };

/**
 * Decides by the most specific rule that states the operation. Patterns are compared segment by segment from the left: a literal
 * beats `*`, `*` beats `**`, a path that ends beats `**`; so of two patterns that agree, the longer wins. What a rule states for an
 * operation beats its `all`; a rule that states nothing for the operation is ignored. The rules of all policies count as
 * one list; among equally specific ones, one that allows is enough. Names are compared case-sensitively.
 */
export function decide(policies: readonly CompiledPolicy[], segments: readonly string[], operation: PolicyOperation): Verdict {
  let best = -1;
  let say: Say | undefined;
  let grants: Grants[] = [];
  for (const { root } of policies) {
    const found = find(root, segments, 0, operation, 0);
    if (found === undefined || found.rank < best) continue;
    if (found.rank > best) grants = [];
    if (found.rank > best || (grants.length === 0 && found.say.allow.length > 0)) say = found.say;
    best = found.rank;
    if (found.say.allow.length > 0) grants.push(found.say.allow);
  }
  const rule = say?.allow[0] ?? say?.reject[0];
  if (say === undefined || rule === undefined) return refusedByDefault;
  return { allowed: grants.length > 0, policy: say.policy, rule: rule.path, grants };
}

const refusedByDefault: Verdict = { allowed: false, grants: [] };

/** Compiles a policy, once per record: the store returns the same frozen object until the record changes. */
export function compilePolicy(policy: Policy): CompiledPolicy {
  let compiled = compiledPolicies.get(policy);
  if (compiled === undefined) {
    compiled = { root: newNode() };
    for (const rule of policy.restApi.rules) addRule(compiled.root, policy.name, rule);
    compiledPolicies.set(policy, compiled);
  }
  return compiled;
}

const compiledPolicies = new WeakMap<Policy, CompiledPolicy>();

function newNode(): Node {
  return { literals: new Map(), one: undefined, here: {}, rest: {} };
}

function addRule(root: Node, policy: string, rule: PolicyRule): void {
  let node = root;
  let says = root.here;
  const pattern = readPattern(rule.path) ?? [];
  for (const segment of pattern) {
    if (segment.kind === 'rest') {
      says = node.rest;
      break;
    }
    if (segment.kind === 'one') node = node.one ??= newNode();
    else {
      const next = node.literals.get(segment.text) ?? newNode();
      node.literals.set(segment.text, next);
      node = next;
    }
    says = node.here;
  }
  for (const operation of operations) {
    const effect = rule.operations[operation] ?? rule.operations.all;
    if (effect !== undefined) (says[operation] ??= { policy, pattern, allow: [], reject: [] })[effect].push(rule);
  }
}

/**
 * Digits of a rank, one per position from the left; the first difference decides, as in comparing numbers of equal length. An end
 * competes only with `**`. In base 3, every rank is an exact integer.
 */
const digit = { literal: 2, one: 1, end: 1, rest: 0 } as const;
const weights = Array.from({ length: maxPatternSegments + 1 }, (_, position) => 3 ** (maxPatternSegments - position));

/** Depth first in the order of specificity: the first match is the most specific. */
function find(
  node: Node,
  segments: readonly string[],
  at: number,
  operation: PolicyOperation,
  rank: number,
): { say: Say; rank: number } | undefined {
  const weight = weights[at] ?? 0;
  const segment = segments[at];
  if (segment === undefined) {
    const say = node.here[operation];
    if (say !== undefined) return { say, rank: rank + digit.end * weight };
  } else {
    const literal = node.literals.get(segment);
    const byLiteral = literal === undefined ? undefined : find(literal, segments, at + 1, operation, rank + digit.literal * weight);
    if (byLiteral !== undefined) return byLiteral;
    const byOne = node.one === undefined ? undefined : find(node.one, segments, at + 1, operation, rank + digit.one * weight);
    if (byOne !== undefined) return byOne;
  }
  const say = node.rest[operation];
  return say === undefined ? undefined : { say, rank: rank + digit.rest * weight };
}

/** Yields the rules of a policy for an operation on a path, the most specific first. */
export function* saysOf({ root }: CompiledPolicy, segments: readonly string[], operation: PolicyOperation): Generator<Say> {
  yield* saysBelow(root, segments, 0, operation);
}

function* saysBelow(node: Node, segments: readonly string[], at: number, operation: PolicyOperation): Generator<Say> {
  const segment = segments[at];
  if (segment === undefined) {
    const say = node.here[operation];
    if (say !== undefined) yield say;
  } else {
    const literal = node.literals.get(segment);
    for (const next of [literal, node.one]) if (next !== undefined) yield* saysBelow(next, segments, at + 1, operation);
  }
  const say = node.rest[operation];
  if (say !== undefined) yield say;
}

/** Returns all statements of a policy. */
export function statementsOf({ root }: CompiledPolicy): readonly (readonly [PolicyOperation, Say])[] {
  const found: (readonly [PolicyOperation, Say])[] = [];
  for (const operation of operations)
    visitAll(root, operation, (say) => {
      if (say !== undefined) found.push([operation, say]);
    });
  return found;
}

/** Called with each place where a policy could say something, so that the walk can be counted. */
type Visit = (say: Say | undefined) => void;

/** Visits the rules of a policy for an operation on paths that a pattern matches. */
export function visitOverlapping(
  { root }: CompiledPolicy,
  pattern: readonly PatternSegment[],
  operation: PolicyOperation,
  visit: Visit,
): void {
  visitBelow(root, pattern, 0, operation, visit);
}

function visitBelow(node: Node, pattern: readonly PatternSegment[], at: number, operation: PolicyOperation, visit: Visit): void {
  const segment = pattern[at];
  if (segment?.kind === 'rest') return visitAll(node, operation, visit);
  visit(node.rest[operation]);
  if (segment === undefined) return visit(node.here[operation]);
  const literals = segment.kind === 'one' ? node.literals.values() : [node.literals.get(segment.text)];
  for (const next of [...literals, node.one]) if (next !== undefined) visitBelow(next, pattern, at + 1, operation, visit);
}

function visitAll(node: Node, operation: PolicyOperation, visit: Visit): void {
  visit(node.here[operation]);
  visit(node.rest[operation]);
  for (const next of node.literals.values()) visitAll(next, operation, visit);
  if (node.one !== undefined) visitAll(node.one, operation, visit);
}

/**
 * Compares two patterns by the digits of their ranks: above 0 if the first decides where both match. The same for all paths, since a pattern
 * that ends matches paths of its own length alone.
 */
export function compareExactness(left: readonly PatternSegment[], right: readonly PatternSegment[]): number {
  for (let at = 0; at <= maxPatternSegments; at++) {
    const one = left[at]?.kind ?? 'end';
    const other = right[at]?.kind ?? 'end';
    if (digit[one] !== digit[other]) return digit[one] - digit[other];
    if (one === 'end' || one === 'rest') return 0;
  }
  return 0;
}

/** Tells whether a pattern matches every path that another one matches. */
export function covers(wide: readonly PatternSegment[], narrow: readonly PatternSegment[]): boolean {
  for (let at = 0; ; at++) {
    const [one, other] = [wide[at], narrow[at]];
    if (one?.kind === 'rest') return true;
    if (one === undefined || other === undefined) return one === other;
    if (other.kind === 'rest') return false;
    if (one.kind === 'literal' && !(other.kind === 'literal' && one.text === other.text)) return false;
  }
}
