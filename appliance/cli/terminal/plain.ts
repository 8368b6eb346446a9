// Answers for other programs: one bare value, or rows as comma-separated values.
import { replaceUnseen } from '../../../core/wire/unseen-text.ts';
import { fieldAt, type Document, isDocument } from '../field-path.ts';
import { CommandFailed, exitCodes } from './failure.ts';

/**
 * The value at a path as it is, without a line end, for a file or a variable. A terminal gets a line end, and no control characters. A list
 * is a line for each element; of a list of documents, the field of each. Throws CommandFailed when the answer has no such field.
 */
export function formatBare(answer: unknown, path: readonly string[], isTerminal: boolean): string {
  const ofEach = Array.isArray(answer) && !/^\d+$/.test(path[0] ?? '');
  const value = ofEach ? answer.map((one: unknown) => (isDocument(one) ? (fieldAt(one, path) ?? '') : one)) : fieldAt(answer, path);
  if (value === undefined) throw new CommandFailed(exitCodes.no, `the answer has no ${path.join('/')}`);
  const text = Array.isArray(value) ? value.map((one) => `${bareText(one)}\n`).join('') : bareText(value);
  if (!isTerminal) return text;
  const shown = seenLines(text);
  return shown === '' || shown.endsWith('\n') ? shown : `${shown}\n`;
}

/** RFC 4180: a header, then a row for each document; containers are JSON. */
export function formatCsv(value: unknown): string {
  const documents = (Array.isArray(value) ? value : [value]).map((one): Document => (isDocument(one) ? one : { value: one }));
  const names = [...new Set(documents.flatMap((document) => Object.keys(document)))];
  if (names.length === 0) return '';
  return [names, ...documents.map((document) => names.map((name) => document[name]))]
    .map((row) => `${row.map(csvCell).join(',')}\r\n`)
    .join('');
}

/** A text that a spreadsheet would run as a formula begins with an apostrophe. */
function csvCell(value: unknown): string {
  const text = seenLines(bareText(value));
  const inert = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}

/** Lines without characters that cannot be seen. */
function seenLines(text: string): string {
  return text
    .split('\n')
    .map((line) => replaceUnseen(line, '\u{FFFD}'))
    .join('\n');
}

/** A value as text; containers as JSON, nothing as the empty text. */
export function bareText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
