// A plan as text: the difference of every entry that would change or go, entries that stay although they have the labels, then the numbers.
import { painterFor } from '../terminal/color.ts';
import { writeAll } from '../terminal/files.ts';
import type { Io } from '../terminal/io.ts';
import { difference } from './difference.ts';
import type { Placed } from './kinds.ts';
import type { Step } from './plan.ts';
import type { Deletion, Pruning } from './prune.ts';

/** Steps and deletions to be carried out. */
export type Plan = { readonly steps: readonly Step[]; readonly pruning: Pruning };

/** Steps that change something. */
export function changing(steps: readonly Step[]): readonly Step[] {
  return steps.filter(({ does }) => does !== 'nothing');
}

/** Tells whether nothing would be changed, deleted or made. */
export function isDone({ steps, pruning: { deletions } }: Plan): boolean {
  return changing(steps).length === 0 && deletions.length === 0;
}

/** Writes the differences to standard output. */
export async function showDifferences({ steps, pruning: { deletions, left } }: Plan, io: Io): Promise<void> {
  const paint = painterFor(io, io.stdout);
  const head = (...lines: readonly string[]): string => lines.map((line) => `${paint('heading', line)}\n`).join('');
  for (const step of changing(steps)) {
    const title = titleOf(step);
    const text = await difference(step.before, step.after, paint);
    const secrets = step.secrets.map((path) => `# a secret is sent as well: ${path}\n`).join('');
    const unseen = text === '' && secrets === '' ? '# only secrets differ, which are not shown\n' : secrets;
    const heads = head(`--- ${title}${step.before === undefined ? ', not there' : ''}`, `+++ ${title}, ${step.declared.where}`);
    await writeAll(io, `${heads}${text}${unseen}`);
  }
  for (const deletion of deletions) {
    const title = titleOf(deletion);
    const text = await difference(deletion.before, undefined, paint);
    await writeAll(io, `${head(`--- ${title}`, `+++ ${title}, deleted`)}${text}# this ${endsOf(deletion)}\n`);
  }
  for (const { placed, why } of left) await writeAll(io, `# left: ${titleOf(placed)}: ${why}\n`);
}

/** `2 to create, 1 to change, 1 to delete, 7 as they are, 1 left`. */
export function summaryOf({ steps, pruning: { deletions, left } }: Plan): string {
  const count = (does: Step['does']): number => steps.filter((step) => step.does === does).length;
  const parts = [
    [count('create'), 'to create'],
    [count('change'), 'to change'],
    [deletions.length, 'to delete'],
    [count('nothing'), 'as they are'],
    [left.length, 'left'],
  ] as const;
  return parts
    .filter(([number]) => number > 0)
    .map(([number, text]) => `${number} ${text}`)
    .join(', ');
}

/** `transit-keys orders`. */
export function titleOf({ declared }: Placed): string {
  return [declared.resource, ...declared.names].join(' ');
}

function endsOf({ kind }: Deletion): string {
  return kind.remove.command.ends ?? 'deletes the entry';
}
