// Shipped records: those of the audit trail, lines of the logs, and events of the shipper itself.
import { hash, randomUUID } from 'node:crypto';
import { isJsonObject, type JsonObject } from '../../../core/wire/json.ts';
import type { PlacedLine } from '../../../core/log/stream-position.ts';
import { severityOfLog, severityOfRecord, type Severity, severities } from './severity.ts';

export type ShippedRecord = {
  /** `shipping`: written by the shipper, and in no file */
  readonly source: 'audit' | 'logs' | 'shipping';
  /** chain of the audit trail, or process that wrote the log */
  readonly stream: string;
  /** kind of an audit record; `log`; event of the shipper */
  readonly kind: string;
  readonly occurredAt: string;
  readonly severity: Severity;
  /** the same whenever this record is sent, and of no other record */
  readonly id: string;
  /** number and hash within the chain; audit trail only */
  readonly sequence?: number;
  readonly digest?: string;
  /** the record as one JSON text, as in the file */
  readonly text: string;
  readonly record: JsonObject;
};

/** Events of the shipper itself. `dropped`: records are missing here. `unreadable`: a line is not a record. */
export type ShipperEvent = 'heartbeat' | 'test' | 'dropped' | 'unreadable';

/** Reads a record of the audit trail; undefined for any other line. */
export function auditRecordOf(
  chain: string,
  text: string,
): (ShippedRecord & { readonly sequence: number; readonly digest: string }) | undefined {
  const record = parseObject(text);
  const { sequence, kind, hash: digest, 'occurred-at': occurredAt } = record ?? {};
  if (record === undefined || typeof sequence !== 'number' || typeof digest !== 'string' || typeof kind !== 'string') return undefined;
  return {
    ...{ source: 'audit', stream: chain, kind, text, record, sequence, digest },
    occurredAt: typeof occurredAt === 'string' ? occurredAt : '',
    severity: severityOfRecord(record),
    // A chain that was begun again, after a factory reset for instance, has the same numbers and other hashes.
    id: `${chain}-${sequence}-${digest.slice(0, 16)}`,
  };
}

/** A line of a log; undefined when it is not an object. */
export function logRecordOf(stream: string, { text, after }: PlacedLine): ShippedRecord | undefined {
  const record = parseObject(text);
  if (record === undefined) return undefined;
  const { 'occurred-at': occurredAt, level } = record;
  return {
    ...{ source: 'logs', stream, kind: 'log', text, record },
    occurredAt: typeof occurredAt === 'string' ? occurredAt : '',
    severity: severityOfLog(level),
    id: `${stream}-${after.number}-${after.offset}-${hash('sha256', text).slice(0, 16)}`,
  };
}

const eventSeverity: Readonly<Record<ShipperEvent, Severity>> = {
  heartbeat: severities.info,
  test: severities.info,
  dropped: severities.error,
  unreadable: severities.error,
};

/** A record of the shipper about a stream, or about itself. */
export function shipperRecord(event: ShipperEvent, occurredAt: string, fields: JsonObject = {}): ShippedRecord {
  const id = randomUUID();
  const record = { kind: 'shipping', event, 'occurred-at': occurredAt, id, ...fields };
  return {
    ...{ source: 'shipping', kind: event, occurredAt, id, record },
    stream: 'shipper',
    severity: eventSeverity[event],
    text: JSON.stringify(record),
  };
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value = JSON.parse(text) as unknown;
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
