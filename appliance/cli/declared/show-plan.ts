// A plan as text: the difference of every entry that would change, then how many there are.
import { painterFor } from '../terminal/color.ts';
import { writeAll } from '../terminal/files.ts';
import type { Io } from '../terminal/io.ts';
import { difference } from './difference.ts';
import type { Step } from './plan.ts';

/** Steps that change something. */
export function changing(steps: readonly Step[]): readonly Step[] {
  return steps.filter(({ does }) => does !== 'nothing');
}

/** Writes the differences to standard output. */
export async function showDifferences(steps: readonly Step[], io: Io): Promise<void> {
  const paint = painterFor(io, io.stdout);
  for (const step of changing(steps)) {
    const [title, place] = [titleOf(step), step.declared.where];
    const text = await difference(step.before, step.after, paint);
    const heads = [`--- ${title}${step.before === undefined ? ', not there' : ''}`, `+++ ${title}, ${place}`];
    const secrets = step.secrets.map((path) => `# a secret is sent as well: ${path}\n`).join('');
    const unseen = text === '' && secrets === '' ? '# only secrets differ, which are not shown\n' : secrets;
    await writeAll(io, `${heads.map((line) => paint('heading', line)).join('\n')}\n${text}${unseen}`);
  }
}

/** `2 to create, 1 to change, 7 as they are`. */
export function summaryOf(steps: readonly Step[]): string {
  const count = (does: Step['does']): number => steps.filter((step) => step.does === does).length;
  const parts = [
    [count('create'), 'to create'],
    [count('change'), 'to change'],
    [count('nothing'), 'as they are'],
  ] as const;
  return parts
    .filter(([number]) => number > 0)
    .map(([number, text]) => `${number} ${text}`)
    .join(', ');
}

/** `transit-keys orders`. */
export function titleOf({ declared }: Step): string {
  return [declared.resource, ...declared.names].join(' ');
}
