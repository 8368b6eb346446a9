// One line of the audit trail: a record in JSON, chained to the one before it by SHA-256.
import { hash } from 'node:crypto';
import { type AuditRecord, Whole } from './record.ts';

/*
 * {"chain":"main","sequence":7,"previous":"<hash of record 6>","kind":"request",…,"hash":"<hash of this record>"}
 *
 * hash = lower-case hexadecimal SHA-256 over the octets of the line before `,"hash":`. Record 1 has 64 zeros as previous.
 */

/** The last record of a chain. */
export type ChainHead = { readonly sequence: number; readonly hash: string };

/** Last record of one chain. */
export type HeadEntry = ChainHead & { readonly chain: string };

export const emptyChain: ChainHead = { sequence: 0, hash: '0'.repeat(64) };

/** Longest text from a request, in characters; the rest is cut off, so that one request cannot fill the disk. */
const maxTextLength = 2_048;
const maxStructureLength = 16_384;
/** Limit of text that is recorded in full: readers of lines accept 4 MiB. */
const maxWholeLength = 3 << 20;
/** Length up to which members of a structure that is too long are kept, settings above all. */
const maxKeptLength = 256;

/** Formats the part of a line that does not depend on its position: field names become kebab-case, values are kept, absent ones left out. */
export function formatFields(record: object): string {
  let text = '';
  for (const name of Object.keys(record)) text += formatField(name, (record as Record<string, unknown>)[name]);
  return text;
}

/** A field with its last short text in formatted form: most texts of a record are those of the previous record. */
type Field = { readonly head: string; value: string; text: string };

const known = new Map<string, Field>();
const longestKept = 256;

function formatField(name: string, value: unknown): string {
  const field = fieldOf(name);
  if (value === field.value) return field.text;
  const formatted = formatValue(value);
  if (formatted === undefined) return '';
  const text = field.head + formatted;
  if (typeof value !== 'string' || value.length > longestKept) return text;
  field.value = value;
  field.text = text;
  return text;
}

/** Texts that JSON writes unchanged. */
const plainText = /^[ !#-[\]-~]*$/;

/** As JSON.stringify, but faster for the many short texts of a record. */
function formatValue(value: unknown): string | undefined {
  if (typeof value === 'string' && plainText.test(value)) return `"${value}"`;
  return JSON.stringify(value);
}

/** As formatFields, for data from a request: a long text is cut, a large structure replaced by its size. */
export function formatBoundedFields(record: object): string {
  const fields = formatFields(record);
  // If the whole is short, so is every part.
  if (fields.length <= maxTextLength) return fields;
  return formatFields(
    Object.fromEntries(Object.entries(record).map(([name, value]) => [name, boundedByItself.has(name) ? value : bounded(value)])),
  );
}

/**
 * Fields that are never cut: digests and names have a limited length and a batch a limited number of items, so those of a batch have at most
 * 80 and 131 KB.
 */
const boundedByItself: ReadonlySet<string> = new Set<keyof AuditRecord & string>(['signedDigest', 'created']);

function bounded(value: unknown): unknown {
  if (typeof value === 'string') return value.length > maxTextLength ? `${value.slice(0, maxTextLength)}…` : value;
  const text = JSON.stringify(value) ?? '';
  if (text.length <= (value instanceof Whole ? maxWholeLength : maxStructureLength)) return value;
  return { ...shortMembers(value instanceof Whole ? value.value : value), bytes: text.length, sha256: hash('sha256', text) };
}

/** Short members of a structure, and those of its containers; none if there are too many. */
function shortMembers(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {};
  const members = Object.entries(value).map(([name, one]) => {
    if ((JSON.stringify(one)?.length ?? 0) <= maxKeptLength) return [name, one] as const;
    return [name, Array.isArray(one) || typeof one === 'string' ? undefined : shortMembers(one)] as const;
  });
  const kept = Object.fromEntries(members.filter(([, one]) => one !== undefined));
  return JSON.stringify(kept).length <= maxStructureLength ? kept : {};
}

/** A line with its line end, and the chain's new head. */
export function formatLine(chain: string, { sequence, hash: previous }: ChainHead, fields: string): { text: string; head: ChainHead } {
  const body = `{"chain":"${chain}","sequence":${sequence + 1},"previous":"${previous}"${fields}`;
  const own = hash('sha256', body);
  return { text: `${body},"hash":"${own}"}\n`, head: { sequence: sequence + 1, hash: own } };
}

/** A record that was read: its fields with their wire names, complete and unmodified. */
export type TrailRecord = Readonly<Record<string, unknown>> & {
  readonly chain: string;
  readonly sequence: number;
  readonly previous: string;
  readonly kind: string;
  readonly 'occurred-at': string;
  readonly hash: string;
};

/** Parses the octets of a line without its line end. Undefined if it is not a record or its hash does not match. */
export function parseLine(octets: Buffer): TrailRecord | undefined {
  const end = octets.lastIndexOf(',"hash":"');
  if (end < 0 || octets.toString('latin1', end) !== `,"hash":"${hash('sha256', octets.subarray(0, end))}"}`) return undefined;
  try {
    const record = JSON.parse(octets.toString('utf8')) as TrailRecord;
    return Number.isSafeInteger(record.sequence) && typeof record.chain === 'string' ? record : undefined;
  } catch {
    return undefined;
  }
}

/** `,"occurred-at":` of `occurredAt`; the names come from types, never from requests, so there are few. */
function fieldOf(name: string): Field {
  let field = known.get(name);
  if (field === undefined) {
    const head = `,"${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}":`;
    known.set(name, (field = { head, value: '', text: `${head}""` }));
  }
  return field;
}
