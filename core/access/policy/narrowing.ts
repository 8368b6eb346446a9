// Compares what policies say of whole patterns: what they allow beyond a set that has others beside them (a policy can narrow another, and a caller who
// leaves it out widens the rest), and what they show of every entry.
import { defaultPolicy } from './built-in.ts';
import { hidesOf } from './constraints.ts';
import { hasConstraints, isAsNarrow } from './limits.ts';
import {
  compareExactness,
  compilePolicy,
  covers,
  statementsOf,
  visitOverlapping,
  type CompiledPolicy,
  type Grants,
  type Say,
} from './engine.ts';
import type { PatternSegment, PolicyOperation } from './patterns.ts';
import type { Policy } from './policy.ts';

/** A widening: the policy that allows it and, if known, the rule and the policy left out that would refuse it. */
export type Widening = {
  readonly operation: PolicyOperation;
  readonly policy: string;
  readonly rule: string;
  readonly past?: { readonly policy: string; readonly rule: string };
};

/** Stands for policies that are too long to be compared within the bound. */
export type TooLong = 'too-long';

/** Limit of examined places of rules: some tenths of a second. */
const mostSteps = 200_000;

/** Statement of policies together by one pattern of one operation. */
type Statement = { readonly operation: PolicyOperation; readonly pattern: readonly PatternSegment[]; readonly says: Say[] };

/**
 * Finds an access that the given policies allow and neither of the others does, each a set that decides together; undefined without one.
 * Each given policy is in one of the sets. Pattern by pattern: what a rule allows, a set that has it refuses or limits only by a more exact
 * rule that is not among the given ones. Where rules of both sets have the same pattern, their combined effect counts. It may find a
 * widening that a further rule of the set takes back, and overlooks none.
 */
export function wideningOf(given: readonly Policy[], others: readonly (readonly Policy[])[]): Widening | TooLong | undefined {
  const compiled = [...new Set(given)].map(compilePolicy);
  const rules = [given, ...others].flat().reduce((sum, { restApi }) => sum + restApi.rules.length, 0);
  const walk = new Walk(mostSteps - rules);
  const sets = others.map((set) => ({
    names: new Set(set.map(({ name }) => name)),
    lost: lostTo(
      compiled,
      set.filter((policy) => !given.includes(policy)),
      walk,
    ),
  }));
  if (walk.isOver) return 'too-long';
  if (sets.some(({ names, lost }) => lost.size === 0 && given.every(({ name }) => names.has(name)))) return undefined;
  for (const [key, { operation, says }] of together(compiled.flatMap(statementsOf))) {
    const grants = grantsOf(says);
    if (grants.length === 0) continue;
    const isBounded = sets.some(({ names, lost }) => {
      const part = grantsOf(says.filter(({ policy }) => names.has(policy)));
      return part.length > 0 && !lost.has(key) && (part.length === grants.length || isAsNarrow(grants, part));
    });
    if (isBounded) continue;
    const [allowing] = says.filter(({ allow }) => allow.length > 0);
    return (
      sets.map(({ lost }) => lost.get(key)).find((one) => one !== undefined) ?? {
        operation,
        policy: allowing?.policy ?? '',
        rule: allowing?.allow[0]?.path ?? '',
      }
    );
  }
  return undefined;
}

/** Tells whether a policy refuses or limits anything, and so may narrow others. */
export function narrows(policy: Policy): boolean {
  return statementsOf(compilePolicy(policy)).some(([, { allow }]) => hasConstraints(allow.length === 0 ? [] : [allow]));
}

/**
 * Tells whether policies together show a field (wire form) in reads of every entry that a list could have, whatever its name: an answer that depends on this
 * says nothing of the entries that there are. Where the policies are too long to be searched, false.
 */
export function showsInAll(policies: readonly Policy[], list: readonly string[], field: string): boolean {
  const pattern = [...list.map((text) => ({ kind: 'literal', text }) as const), { kind: 'one' } as const];
  const walk = new Walk(mostSteps);
  const found = walk.overlap(policies.map(compilePolicy), pattern, 'read');
  const cover = coverOf(found, pattern);
  if (cover === undefined || walk.isOver) return false;
  return Iterator.from(found.values()).every((one) => {
    const grants = grantsOf(one.says);
    return compareExactness(one.pattern, cover.pattern) < 0 || (grants.length > 0 && !hidesOf(grants, field));
  });
}

/** The most exact of the statements that are about every path of a pattern. */
function coverOf(found: ReadonlyMap<string, Statement>, pattern: readonly PatternSegment[]): Statement | undefined {
  const covering = [...found.values()].filter((one) => covers(one.pattern, pattern));
  return covering.sort((a, b) => compareExactness(b.pattern, a.pattern))[0];
}

/** By the statement of the given policies that allows it, what they would allow without those that are left out. */
function lostTo(given: readonly CompiledPolicy[], left: readonly Policy[], walk: Walk): ReadonlyMap<string, Widening> {
  const lost = new Map<string, Widening>();
  for (const narrowing of together(left.map(compilePolicy).flatMap(statementsOf)).values()) {
    const { operation, pattern, says } = narrowing;
    const left = grantsOf(says);
    if (!hasConstraints(left)) continue;
    const note = (found: ReadonlyMap<string, Statement>, isPast: (allowing: Statement) => boolean): void => {
      for (const [key, allowing] of found) {
        const grants = grantsOf(allowing.says);
        if (grants.length === 0 || lost.has(key) || !isPast(allowing)) continue;
        if (left.length === 0 || !isAsNarrow(grants, left)) lost.set(key, wideningBy(allowing, narrowing));
      }
    };
    const here = walk.overlap(given, pattern, operation);
    const cover = coverOf(here, pattern);
    // A more exact given rule for all of these paths decides instead of this one.
    const decides = (one: Statement): boolean => cover === undefined || compareExactness(one.pattern, cover.pattern) >= 0;
    note(here, (one) => compareExactness(pattern, one.pattern) > 0 && decides(one));
    for (const elsewhere of standInsOf(pattern, operation, cover?.pattern)) note(walk.overlap(given, elsewhere, operation), isOfAList);
    if (walk.isOver) break;
  }
  return lost;
}

function wideningBy({ operation, says }: Statement, { says: narrowing }: Statement): Widening {
  const [allowing] = says.filter(({ allow }) => allow.length > 0);
  const [past] = narrowing;
  return {
    operation,
    policy: allowing?.policy ?? '',
    rule: allowing?.allow[0]?.path ?? '',
    past: { policy: past?.policy ?? '', rule: (past?.reject[0] ?? past?.allow[0])?.path ?? '' },
  };
}

/**
 * Other paths where a rule counts as well, unless a given one is there in its place: an entry is listed and made at its list where no rule speaks of its own path, and
 * made at its own path where no rule for the list alone refuses that.
 */
function standInsOf(
  pattern: readonly PatternSegment[],
  operation: PolicyOperation,
  cover: readonly PatternSegment[] | undefined,
): readonly (readonly PatternSegment[])[] {
  const isOpen = pattern.at(-1)?.kind === 'rest';
  const lists = isOpen ? [pattern.slice(0, -2), pattern] : [pattern.slice(0, -1)];
  const entries = isOpen ? [] : [[...pattern, { kind: 'one' } as const]];
  return [
    ...(cover === undefined && (operation === 'read' || operation === 'create') ? lists : []),
    ...(operation === 'create' && (cover === undefined || cover.at(-1)?.kind === 'rest') ? entries : []),
  ];
}

/** Tells whether a statement concerns a list: those of the default policy concern a token itself. */
function isOfAList({ says }: Statement): boolean {
  return says.some(({ policy, allow }) => allow.length > 0 && policy !== defaultPolicy.name);
}

function grantsOf(says: readonly Say[]): Grants[] {
  return says.flatMap(({ allow }) => (allow.length === 0 ? [] : [allow]));
}

/** Statements by pattern and operation. */
function together(says: Iterable<readonly [PolicyOperation, Say]>): ReadonlyMap<string, Statement> {
  const found = new Map<string, Statement>();
  for (const [operation, say] of says) {
    const key = `${operation} ${textOf(say.pattern)}`;
    const statement = found.get(key);
    if (statement === undefined) found.set(key, { operation, pattern: say.pattern, says: [say] });
    else statement.says.push(say);
  }
  return found;
}

/** Found once for a rule: another spelling of the same path is the same pattern. */
const texts = new WeakMap<readonly PatternSegment[], string>();

function textOf(pattern: readonly PatternSegment[]): string {
  let text = texts.get(pattern);
  if (text === undefined) texts.set(pattern, (text = JSON.stringify(pattern)));
  return text;
}

/** Searches rules up to the limit. */
class Walk {
  #left: number;

  constructor(steps: number) {
    this.#left = steps;
  }

  get isOver(): boolean {
    return this.#left < 0;
  }

  /** Finds the rules of policies for an operation on paths that a pattern matches. */
  overlap(
    policies: readonly CompiledPolicy[],
    pattern: readonly PatternSegment[],
    operation: PolicyOperation,
  ): ReadonlyMap<string, Statement> {
    const found: (readonly [PolicyOperation, Say])[] = [];
    for (const policy of policies) {
      if (this.isOver) return new Map();
      visitOverlapping(policy, pattern, operation, (say) => {
        this.#left--;
        if (say !== undefined) found.push([operation, say]);
      });
    }
    return together(found);
  }
}
