// The reach of policies: what of the whole API they allow, decided by the code with which the appliance decides.
import { compilePolicy, decide, type CompiledPolicy, type Grants } from '../../../../../core/access/policy/engine.ts';
import { hasConstraints, isAsNarrow } from '../../../../../core/access/policy/limits.ts';
import { readPattern, type PolicyOperation } from '../../../../../core/access/policy/patterns.ts';
import type { PolicyRule } from '../../../../../core/access/policy/policy.ts';
import { groupName, type Catalog, type Entry } from '../../description/catalog.ts';
import { locale } from '../../language/language.ts';
import type { Policy as WirePolicy } from './policy-draft.ts';

export type Named = { readonly name: string; readonly policy: WirePolicy };

/** Something that can be done, at an entry of any name or at one of certain names. */
export type Deed = {
  readonly entry: Entry;
  readonly operation: PolicyOperation;
  /** names in its path; undefined stands for any other */
  readonly names: readonly (string | undefined)[];
};

export type Judge = (deed: Deed) => boolean;

/** The rules that allow a deed, with their limits of values and fields; none if it is refused. */
export type Reach = (deed: Deed) => readonly Grants[];

/** No rule has it: it stands for all names that none has. */
const anyName = '\u0000';

export function judgeOf(policies: readonly Named[]): Judge {
  const reach = reachOf(policies);
  return (deed) => reach(deed).length > 0;
}

export function reachOf(policies: readonly Named[]): Reach {
  const compiled = policies.flatMap(({ name, policy }): readonly CompiledPolicy[] => {
    const rules = (policy['rest-api']?.rules ?? []).flatMap(
      ({ path = '', operations = {}, 'allowed-values': allowedValues = {}, 'hide-fields': hideFields = [] }) =>
        readPattern(path) === undefined ? [] : [{ path, operations, allowedValues, hideFields } as PolicyRule],
    );
    return [compilePolicy({ name, description: '', restApi: { rules } })];
  });
  return ({ entry, operation, names }) => decide(compiled, segmentsOf(entry, names), operation).grants;
}

/** The path that policies see. */
function segmentsOf({ path, operation }: Entry, names: readonly (string | undefined)[]): readonly string[] {
  let at = 0;
  const segments = path
    .split('/')
    .slice(1)
    .map((segment) => (segment.startsWith('{') ? (names[at++] ?? anyName) : segment));
  const { 'x-judged-as': judgedAs } = operation;
  return judgedAs === undefined ? segments : [...segments.slice(0, -1), judgedAs];
}

/** Everything that can be done: with any name, and with each that a rule of these policies names. */
export function deedsOf(catalog: Catalog, policies: readonly Named[]): readonly Deed[] {
  const patterns = policies.flatMap(({ policy }) =>
    (policy['rest-api']?.rules ?? []).flatMap(({ path = '' }) => {
      const pattern = readPattern(path);
      return pattern === undefined ? [] : [pattern];
    }),
  );
  return catalog.entries.flatMap((entry): readonly Deed[] => {
    const { 'x-operation': operation, 'x-judged-as': judgedAs } = entry.operation;
    // A batch is judged as what it repeats, which is here as well.
    if (operation === undefined || judgedAs !== undefined) return [];
    const any = { entry, operation, names: entry.names.map(() => undefined) };
    const named = new Map<string, Deed>();
    for (const pattern of patterns) {
      const names = namesIn(entry, pattern);
      if (names !== undefined) named.set(JSON.stringify(names), { entry, operation, names });
    }
    return [any, ...named.values()];
  });
}

/** The names that a rule has for the path of an entry; undefined if it has none, or is about another path. */
function namesIn({ path }: Entry, pattern: NonNullable<ReturnType<typeof readPattern>>): readonly (string | undefined)[] | undefined {
  const segments = path.split('/').slice(1);
  const isOpen = pattern.at(-1)?.kind === 'rest';
  const fixed = isOpen ? pattern.slice(0, -1) : pattern;
  if (isOpen ? fixed.length > segments.length : fixed.length !== segments.length) return undefined;
  const names: (string | undefined)[] = [];
  for (const [index, segment] of segments.entries()) {
    const one = fixed[index];
    if (segment.startsWith('{')) names.push(one?.kind === 'literal' ? one.text : undefined);
    else if (one?.kind === 'literal' && one.text !== segment) return undefined;
  }
  return names.some((name) => name !== undefined) ? names : undefined;
}

/** Operations named for one path. */
const mostTold = 3;

/** Tells in words what the path of a rule covers. */
export function coverOf(catalog: Catalog, path: string): string {
  const rule: Named = { name: '', policy: { 'rest-api': { rules: [{ path, operations: { all: 'allow' } }] } } };
  const covered = deedsOf(catalog, [rule])
    .filter(judgeOf([rule]))
    .map(wordsOf);
  if (covered.length === 0) return 'No operation of the API has such a path.';
  if (covered.length <= mostTold) return `${covered.join('; ')}.`;
  return `${covered.slice(0, mostTold - 1).join('; ')}; and ${(covered.length - mostTold + 1).toLocaleString(locale)} more.`;
}

/** `Encrypt with a transit key: orders` */
function wordsOf({ entry, names }: Deed): string {
  const known = names.filter((name) => name !== undefined);
  return known.length === 0 ? entry.operation.summary : `${entry.operation.summary}: ${known.join(', ')}`;
}

export type Cell = {
  /** with any name */
  readonly allowed: number;
  readonly total: number;
  /** allowed deeds in words */
  readonly words: readonly string[];
};

export type Row = { readonly thing: string; readonly cells: Readonly<Partial<Record<PolicyOperation, Cell>>> };

/** The matrix of things and operations. Things without anything allowed are left out. */
export function matrixOf(deeds: readonly Deed[], judge: Judge): readonly Row[] {
  const rows = new Map<string, Map<PolicyOperation, { allowed: number; total: number; words: string[] }>>();
  for (const deed of deeds) {
    const thing = groupName(deed.entry.operation.tags[0] ?? '');
    const cells = rows.get(thing) ?? new Map();
    rows.set(thing, cells);
    const cell = cells.get(deed.operation) ?? { allowed: 0, total: 0, words: [] };
    cells.set(deed.operation, cell);
    const isAny = deed.names.every((name) => name === undefined);
    const isAllowed = judge(deed);
    if (isAny) cell.total += 1;
    if (isAny && isAllowed) cell.allowed += 1;
    if (isAllowed) cell.words.push(wordsOf(deed));
  }
  return [...rows]
    .filter(([, cells]) => [...cells.values()].some(({ words }) => words.length > 0))
    .map(([thing, cells]) => ({ thing, cells: Object.fromEntries(cells) }));
}

/** Kinds of differences: allowed or refused afterwards, or allowed both times with more values and fields, fewer, or others. */
type Kind = 'gained' | 'lost' | 'wider' | 'narrower' | 'other';

export type Difference = Readonly<Record<Kind, readonly string[]>>;

/** Deeds that are allowed afterwards in another way than before. A name of its own counts where it differs in another way than all others. */
export function differenceOf(deeds: readonly Deed[], before: Reach, after: Reach): Difference {
  const found = deeds.flatMap((deed) => {
    const [was, will] = [before(deed), after(deed)];
    const kind = kindOf(was, will);
    return kind === undefined ? [] : [{ deed, kind, limits: limitsThatDiffer(was, will) }];
  });
  const isAny = ({ names }: Deed): boolean => names.every((name) => name === undefined);
  const wide = new Map(found.filter(({ deed }) => isAny(deed)).map(({ deed, kind, limits }) => [deed.entry, `${kind} ${limits}`]));
  const told = found.filter(({ deed, kind, limits }) => isAny(deed) || wide.get(deed.entry) !== `${kind} ${limits}`);
  const of = (wanted: Kind): readonly string[] =>
    told.filter(({ kind }) => kind === wanted).map(({ deed, limits }) => (limits === '' ? wordsOf(deed) : `${wordsOf(deed)} (${limits})`));
  return { gained: of('gained'), lost: of('lost'), wider: of('wider'), narrower: of('narrower'), other: of('other') };
}

function kindOf(was: readonly Grants[], will: readonly Grants[]): Kind | undefined {
  if (was.length === 0 || will.length === 0) return was.length > 0 ? 'lost' : will.length > 0 ? 'gained' : undefined;
  if (!hasConstraints(was) && !hasConstraints(will)) return undefined;
  const [isWider, isNarrower] = [!isAsNarrow(will, was), !isAsNarrow(was, will)];
  return isWider ? (isNarrower ? 'other' : 'wider') : isNarrower ? 'narrower' : undefined;
}

/** `cipher, keys`: the fields whose values are limited in another way, or which are hidden in another way. */
function limitsThatDiffer(was: readonly Grants[], will: readonly Grants[]): string {
  if (was.length === 0 || will.length === 0) return '';
  const limits = (grants: readonly Grants[], field: string): string =>
    JSON.stringify(grants.flat().map(({ allowedValues, hideFields }) => [allowedValues[field], hideFields.includes(field)]));
  const rules = [...was, ...will].flat();
  const fields = new Set(rules.flatMap(({ allowedValues, hideFields }) => [...Object.keys(allowedValues), ...hideFields]));
  return [...fields].filter((field) => limits(was, field) !== limits(will, field)).join(', ');
}
