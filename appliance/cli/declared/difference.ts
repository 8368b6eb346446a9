// The unified difference of two documents as YAML.
import { type Document, isDocument } from '../field-path.ts';
import { replaceUnseen } from '../../../core/wire/unseen-text.ts';
import type { Style } from '../terminal/color.ts';

type Line = { readonly sign: ' ' | '-' | '+'; readonly text: string };

const contextLines = 3;
/** Cells of the table of common lines; beyond that everything counts as changed. */
const mostCells = 4_000_000;

/** The document in the order of names of another, with new names last. */
function inOrderOf(model: unknown, value: unknown): unknown {
  if (!isDocument(value)) return value;
  const like = isDocument(model) ? model : {};
  const names = [...Object.keys(like).filter((name) => name in value), ...Object.keys(value).filter((name) => !(name in like))];
  return Object.fromEntries(names.map((name) => [name, inOrderOf(like[name], value[name])]));
}

/** Hunks with three lines of context, each line with its end; empty for equal documents. Undefined stands for a missing document. */
export async function difference(
  before: Document | undefined,
  after: Document | undefined,
  paint: (style: Style, text: string) => string,
): Promise<string> {
  const { stringify } = await import('yaml');
  const linesOf = (document: Document | undefined): string[] =>
    document === undefined ? [] : stringify(document, { lineWidth: 0, blockQuote: 'literal' }).trimEnd().split('\n');
  return hunks(compare(linesOf(before), linesOf(inOrderOf(before, after) as Document | undefined)))
    .map(({ head, lines }) => [paint('hunk', head), ...lines.map((line) => painted(line, paint))].map((line) => `${line}\n`).join(''))
    .join('');
}

function painted({ sign, text }: Line, paint: (style: Style, text: string) => string): string {
  const line = `${sign}${replaceUnseen(text, '\u{FFFD}')}`;
  return sign === ' ' ? line : paint(sign === '+' ? 'added' : 'removed', line);
}

/** The lines of both, the common ones once (longest common subsequence). */
function compare(before: readonly string[], after: readonly string[]): readonly Line[] {
  const columns = after.length + 1;
  if (before.length * after.length > mostCells)
    return [...before.map((text): Line => ({ sign: '-', text })), ...after.map((text): Line => ({ sign: '+', text }))];
  const longest = new Uint32Array((before.length + 1) * columns);
  const at = (row: number, column: number): number => longest[row * columns + column] ?? 0;
  for (let row = before.length - 1; row >= 0; row -= 1)
    for (let column = after.length - 1; column >= 0; column -= 1)
      longest[row * columns + column] =
        before[row] === after[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
  const lines: Line[] = [];
  let [row, column] = [0, 0];
  while (row < before.length || column < after.length) {
    const [old, fresh] = [before[row], after[column]];
    if (old !== undefined && old === fresh) {
      lines.push({ sign: ' ', text: old });
      row += 1;
      column += 1;
    } else if (old !== undefined && (fresh === undefined || at(row + 1, column) >= at(row, column + 1))) {
      lines.push({ sign: '-', text: old });
      row += 1;
    } else {
      lines.push({ sign: '+', text: fresh ?? '' });
      column += 1;
    }
  }
  return lines;
}

function hunks(lines: readonly Line[]): readonly { readonly head: string; readonly lines: readonly Line[] }[] {
  const near = lines.map((_, index) =>
    lines.slice(Math.max(0, index - contextLines), index + contextLines + 1).some(({ sign }) => sign !== ' '),
  );
  const found: { head: string; lines: Line[] }[] = [];
  let [old, fresh] = [0, 0];
  let open: { old: number; fresh: number; lines: Line[] } | undefined;
  const close = (): void => {
    if (open === undefined) return;
    const count = (other: '+' | '-'): number => open?.lines.filter(({ sign }) => sign !== other).length ?? 0;
    const range = (start: number, length: number): string => `${length === 0 ? start : start + 1},${length}`;
    found.push({ head: `@@ -${range(open.old, count('+'))} +${range(open.fresh, count('-'))} @@`, lines: open.lines });
    open = undefined;
  };
  for (const [index, line] of lines.entries()) {
    if (near[index] === true) (open ??= { old, fresh, lines: [] }).lines.push(line);
    else close();
    if (line.sign !== '+') old += 1;
    if (line.sign !== '-') fresh += 1;
  }
  close();
  return found;
}
