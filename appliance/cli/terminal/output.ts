// Answers for people and programs: YAML on a terminal, JSON in a pipe, a table, or comma-separated values.
import { replaceUnseen } from '../../../core/wire/unseen-text.ts';
import { painterFor, paintYaml } from './color.ts';
import { writeAll } from './files.ts';
import type { Io } from './io.ts';
import { formatCsv } from './plain.ts';
import { type Document, isDocument } from '../field-path.ts';

export const formats = ['yaml', 'json', 'table', 'csv'] as const;
export type Format = (typeof formats)[number];

/** The default format. */
function usualFormat({ stdout }: Io): Format {
  return stdout.isTTY === true ? 'yaml' : 'json';
}

/** Writes a value to standard output, in colour where that has it. */
export async function printValue(value: unknown, format: Format | undefined, io: Io): Promise<void> {
  const chosen = format ?? usualFormat(io);
  const text = await formatValue(value, chosen, io.stdout.columns);
  const paint = painterFor(io, io.stdout);
  await writeAll(io, chosen === 'yaml' ? paintYaml(text, paint) : text);
}

/** A value as text that ends with a line end. The YAML package is loaded when it is needed: it takes as long as the rest of keystorectl. */
export async function formatValue(value: unknown, format: Format, columns = 120): Promise<string> {
  if (format === 'json') return `${JSON.stringify(value, undefined, 2)}\n`;
  if (format === 'table') return formatTable(value, columns);
  if (format === 'csv') return formatCsv(value);
  const { stringify } = await import('yaml');
  return stringify(value, { lineWidth: 0, blockQuote: 'literal' });
}

/**
 * A list of documents as rows; a document as two columns or, where it has only such lists, as one table for each; a list of texts as
 * lines. Containers and long texts are shown by the other formats only.
 */
function formatTable(value: unknown, columns: number): string {
  if (isRows(value)) return rows(value, columns);
  if (Array.isArray(value)) return value.map((one) => `${cell(one)}\n`).join('');
  if (!isDocument(value)) return `${cell(value)}\n`;
  const lists = Object.values(value).filter((list) => !isEmptyList(list));
  return lists.length > 0 && lists.every(isRows) ? lists.map((list) => rows(list, columns)).join('\n') : pairs(value, columns);
}

function rows(all: readonly Document[], columns: number): string {
  const documents = all.map(withLabelsAsText);
  const [first = '', ...others] = new Set(documents.flatMap((row) => Object.keys(row).filter((name) => isCell(row[name]))));
  // Columns are dropped from the right when they do not fit: the first ones show whether an entry is still in use.
  const names = [first, ...vital.filter((name) => others.includes(name)), ...others.filter((name) => !vital.includes(name))];
  return align([names.map((name) => name.toUpperCase()), ...documents.map((row) => names.map((name) => cell(row[name])))], columns);
}

const vital = ['status', 'state', 'not-after', 'expires'];

function pairs(document: Document, columns: number): string {
  return align(
    Object.entries(withLabelsAsText(document)).map(([name, value]) => [name, cell(value)]),
    columns,
  );
}

/** Labels tell entries of a list apart: unlike other containers they are a cell, spelled as a selector. */
function withLabelsAsText(document: Document): Document {
  const { labels } = document;
  const text = (map: Document): string =>
    Object.entries(map)
      .map((label) => label.join('='))
      .join(',');
  return isDocument(labels) ? { ...document, labels: text(labels) } : document;
}

/** Drops columns that do not fit, the last ones first; the first one always stays. */
function align(rows: readonly (readonly string[])[], columns: number): string {
  const widths = (rows[0] ?? []).map((_, index) => Math.min(60, Math.max(...rows.map((row) => row[index]?.length ?? 0))));
  let shown = 0;
  for (let used = 0; shown < widths.length && (shown === 0 || used + (widths[shown] ?? 0) <= columns); shown += 1) {
    used += (widths[shown] ?? 0) + 2;
  }
  const line = (row: readonly string[]): string =>
    row
      .slice(0, shown)
      .map((text, index) => clip(text, widths[index] ?? 0).padEnd(index === shown - 1 ? 0 : (widths[index] ?? 0)))
      .join('  ')
      .trimEnd();
  return `${rows.map(line).join('\n')}\n`;
}

function clip(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(1, width - 1))}…`;
}

/** Text from users must not control the terminal or imitate other text: invisible characters are replaced. */
function cell(value: unknown): string {
  return replaceUnseen(cellText(value), '\u{FFFD}');
}

function cellText(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value.split('\n')[0] ?? '';
  return Array.isArray(value) && value.every((one) => typeof one === 'string') ? value.join(', ') : JSON.stringify(value);
}

function isCell(value: unknown): boolean {
  return typeof value !== 'object' || value === null || (Array.isArray(value) && value.every((one) => typeof one === 'string'));
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function isRows(value: unknown): value is readonly Document[] {
  return Array.isArray(value) && value.length > 0 && value.every(isDocument);
}
