// Selects the entries that --prune deletes: those with the labels of the selector that are in no document and are not protected.
import { Selector, selectorRule } from '../../../core/wire/labels.ts';
import { Refused, type Client } from '../client.ts';
import { exitCodes, usageError } from '../terminal/failure.ts';
import { entriesBelow, everyEntry, isParent, type Entry, type Source } from './entries.ts';
import { inOrder, pathFor, type Kind, type Placed } from './kinds.ts';
import { atPlace, readEntry, type Step } from './plan.ts';

/** An entry that will be deleted, if it still has this entity tag then. */
export type Deletion = Placed & { readonly tag: string; readonly before: Entry['config'] };
/** An entry that has the labels and stays. */
export type Left = { readonly placed: Placed; readonly why: string };
/** Children come before their parents, and an entry that names another one before that one. */
export type Pruning = { readonly deletions: readonly Deletion[]; readonly left: readonly Left[] };

export const noPruning: Pruning = { deletions: [], left: [] };

/** The selector of a command line with `--prune`; undefined without. Throws a usage error for one without the other, or for no labels. */
export function selectorOf({ prune, selector }: { readonly prune?: true; readonly selector?: string }): Selector | undefined {
  if (prune !== true && selector === undefined) return undefined;
  if (prune !== true) throw usageError('--selector says what --prune may delete: give both or neither');
  if (selector === undefined) throw usageError('--prune needs --selector, such as team=a: it deletes nothing but what has these labels');
  const parsed = Selector.parse(selector);
  if (parsed === undefined) throw usageError(`--selector ${selectorRule}`);
  return parsed;
}

/** Every entry with the labels that is in no document is either to be deleted or left, with the reason. Changes nothing. */
export async function planPruning(selector: Selector, steps: readonly Step[], source: Source): Promise<Pruning> {
  const declared = new Set(steps.map((step) => keyOf(step.kind, step.declared.names)));
  const named = new Set(steps.map(({ kind }) => kind.resource));
  const found: Entry[] = [];
  for (const kind of source.kinds) found.push(...(await selected(kind, named.has(kind.resource), selector, source)));
  const others = found.filter(({ kind, names }) => !declared.has(keyOf(kind, names)));
  const placed = inOrder(others.map(undeclared), source.kinds).toReversed();
  const deletions: Deletion[] = [];
  const left: Left[] = [];
  for (const one of placed) {
    const mayFollow = deletions.length > 0 || steps.some(({ does }) => does !== 'nothing');
    const why = named.has(one.kind.resource)
      ? await whyLeft(one, deletions, source)
      : `no document is of its resource, ${one.kind.resource}`;
    const judged = why ?? (await judge(one, selector, mayFollow, source.client));
    if (typeof judged === 'string') left.push({ placed: one, why: judged });
    else if (judged !== undefined) deletions.push(judged);
  }
  return { deletions, left };
}

/** Deletes what has the entity tag, or tries it. */
export async function remove({ kind, declared }: Placed, tag: string, client: Client, isTry: boolean): Promise<void> {
  const query = new URLSearchParams(isTry ? { validate: 'true' } : {});
  await client.exchange({ method: 'DELETE', path: pathFor(kind.remove, declared.names), query, headers: { 'if-match': tag } });
}

/** Reason for which an appliance does not delete an entry, in one line; undefined for a failure unrelated to the entry. */
export function refusalOf(error: unknown): string | undefined {
  return error instanceof Refused && ofEntry.has(error.answer.status) ? error.message.split('\n')[0] : undefined;
}

/** Tells whether another caller has deleted the entry. */
export function isGone(error: unknown): boolean {
  return error instanceof Refused && error.exitCode === exitCodes.notFound;
}

/** denied by policy; the present state forbids it; it was changed meanwhile */
const ofEntry: ReadonlySet<number> = new Set([403, 409, 412]);

/** Resources without a document are listed to report their remaining entries, as far as the token may see them. */
async function selected(kind: Kind, isNamed: boolean, selector: Selector, source: Source): Promise<readonly Entry[]> {
  if (!kind.list.operation.parameters.some(({ name }) => name === 'selector'))
    throw usageError('this appliance is too old: its entries have no labels');
  try {
    // Checked again here: nothing is deleted because of a wrong answer.
    return (await everyEntry(kind, source, selector)).filter(({ config }) => selector.matches(config['labels']));
  } catch (error) {
    const mayNot = error instanceof Refused && (error.exitCode === exitCodes.denied || error.exitCode === exitCodes.notFound);
    if (mayNot && !isNamed) return [];
    throw error;
  }
}

/** Reason to leave an entry: entries below it are deleted with it, whatever their labels are. */
async function whyLeft({ kind, declared }: Placed, deletions: readonly Deletion[], source: Source): Promise<string | undefined> {
  const gone = new Set(deletions.map((one) => keyOf(one.kind, one.declared.names)));
  for (const below of source.kinds.filter((other) => isParent(kind, other))) {
    const children = await entriesBelow(below, declared.names, source);
    const staying = children.filter(({ names }) => !gone.has(keyOf(below, names)));
    if (staying.length > 0) return `${staying.map(({ names }) => `${below.resource} ${names.join(' ')}`).join(', ')} would go with it`;
  }
  return undefined;
}

/** The deletion, or why the entry stays; undefined when it is gone or has other labels by now. `mayFollow`: something is done before it. */
async function judge(placed: Placed, selector: Selector, mayFollow: boolean, client: Client): Promise<Deletion | string | undefined> {
  try {
    const found = await readEntry(placed.kind, placed.declared.names, client);
    if (found === undefined || !selector.matches(found.document['labels'])) return undefined;
    const deletion = { ...placed, tag: found.tag, before: found.document };
    try {
      await remove(placed, found.tag, client, true);
    } catch (error) {
      // Its users may be deleted before its turn comes.
      if (!(mayFollow && error instanceof Refused && error.code === 'in-use')) throw error;
    }
    return deletion;
  } catch (error) {
    return isGone(error) ? undefined : (refusalOf(error) ?? atPlace(error, placed));
  }
}

function undeclared({ kind, names, config }: Entry): Placed['declared'] {
  return { resource: kind.resource, names, config, where: 'in no document' };
}

function keyOf({ resource }: Kind, names: readonly string[]): string {
  return JSON.stringify([resource, ...names]);
}
