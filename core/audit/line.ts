// One line of the audit trail: a record in JSON, chained to the one before it by SHA-256.
import { hash } from 'node:crypto';
import type { AuditRecord } from './record.ts';

/*
 * {"chain":"main","sequence":7,"previous":"<hash of record 6>","kind":"request",…,"hash":"<hash of this record>"}
 *
 * hash = lower-case hexadecimal SHA-256 over the octets of the line before `,"hash":`. Record 1 has 64 zeros as previous.
 */

/** Where a chain stands: its last record. */
export type ChainHead = { readonly sequence: number; readonly hash: string };

export const emptyChain: ChainHead = { sequence: 0, hash: '0'.repeat(64) };

/** Characters of a text that came with a request; more is cut, because one request must not fill the disk. */
const maxTextLength = 2_048;
const maxStructureLength = 16_384;

/** The part of a line that does not depend on its place: field names become kebab-case, values stand as they are. */
export function formatFields(record: object): string {
  const text = JSON.stringify(renamed(record));
  return text === '{}' ? '' : `,${text.slice(1, -1)}`;
}

/** As formatFields, for what came with a request: a long text is cut, a large structure replaced by its size. */
export function formatBoundedFields(record: object): string {
  const fields = formatFields(record);
  // Where all together is short, nothing in it is long.
  if (fields.length <= maxTextLength) return fields;
  return formatFields(
    Object.fromEntries(Object.entries(record).map(([name, value]) => [name, boundedByItself.has(name) ? value : bounded(value)])),
  );
}

/** A digest has its length, and a batch has its items: what names the signatures of a batch is at most 80 KB, and must not be left out. */
const boundedByItself: ReadonlySet<string> = new Set<keyof AuditRecord>(['signedDigest']);

function bounded(value: unknown): unknown {
  if (typeof value === 'string') return value.length > maxTextLength ? `${value.slice(0, maxTextLength)}…` : value;
  const length = JSON.stringify(value)?.length ?? 0;
  return length > maxStructureLength ? { bytes: length } : value;
}

/** A line, line end included, and the chain's new head. */
export function formatLine(chain: string, { sequence, hash: previous }: ChainHead, fields: string): { text: string; head: ChainHead } {
  const body = `{"chain":"${chain}","sequence":${sequence + 1},"previous":"${previous}"${fields}`;
  const own = hash('sha256', body);
  return { text: `${body},"hash":"${own}"}\n`, head: { sequence: sequence + 1, hash: own } };
}

/** A record read back: its fields with the names of the wire, whole and unchanged since it was written. */
export type TrailRecord = Readonly<Record<string, unknown>> & {
  readonly chain: string;
  readonly sequence: number;
  readonly previous: string;
  readonly kind: string;
  readonly 'occurred-at': string;
  readonly hash: string;
};

/** Reads the octets of a line without its line end. Undefined when it is no record or its own hash does not fit. */
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

function renamed(record: object): Record<string, unknown> {
  const wire: Record<string, unknown> = {};
  for (const name of Object.keys(record)) wire[wireName(name)] = (record as Record<string, unknown>)[name];
  return wire;
}

const wireNames = new Map<string, string>();

/** `occurred-at` of `occurredAt`; the few names there are come from types, never from requests. */
function wireName(name: string): string {
  let wire = wireNames.get(name);
  if (wire === undefined) wireNames.set(name, (wire = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)));
  return wire;
}
