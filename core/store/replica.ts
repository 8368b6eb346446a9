// State of a store as a replica of a shared one: the revision of each record, and the position.
import { Packr } from 'msgpackr';
import { Environment } from './environment.ts';
import { keyBytes } from './keys.ts';

/*
 * replicated record = 0x02 ‖ revision(8, big endian) ‖ sealed record
 *
 * A sealed record begins with 0x01 (records/sealing.ts). An appliance that left its cluster reads both forms and writes the second one
 * without its head.
 */
const replicatedFormat = 2;
const headBytes = 9;

/** The followed shared store, and its latest revision that is completely applied. */
export type Position = {
  /** changes when a shared store is made again, also from a backup: its revisions are then unrelated to the local ones */
  readonly epoch: string;
  readonly revision: number;
  /** latest revision in which a record changed, if it is not the one above */
  readonly changedAt?: number;
  /** level of the formats of its records (records/level.ts); absent: the first */
  readonly level?: number;
  /** the replica is being filled: its state is inconsistent, and nothing may be answered from it */
  readonly filling?: true;
  /** the shared store is to be made of the local records: until it exists, they exist only here */
  readonly founding?: true;
};

/** Key of the position. No table name starts with a control character. */
const positionKey = keyBytes('\u0002position');

const packr = new Packr({ useRecords: false });

/** Prefixes a sealed record with the revision of the shared store that wrote it. */
export function replicated(sealed: Uint8Array, revision: number): Uint8Array {
  const head = Buffer.alloc(headBytes, replicatedFormat);
  head.writeBigUInt64BE(BigInt(revision), 1);
  return Buffer.concat([head, sealed]);
}

/** Returns the sealed record in a value of the store, replicated or not. */
export function sealedPart(value: Uint8Array): Uint8Array {
  return value[0] === replicatedFormat ? value.subarray(headBytes) : value;
}

/** Revision that wrote a value; 0 for an absent record. Throws for one that never was in a shared store. */
export function writtenAt(value: Uint8Array | undefined): number {
  const revision = value === undefined ? 0 : revisionIn(value);
  if (revision === undefined) throw new Error('a record of a replica has no revision: the store was written without its cluster');
  return revision;
}

/** As writtenAt, but undefined for an absent record and for one without a revision. */
export function revisionIn(value: Uint8Array | undefined): number | undefined {
  if (value?.[0] !== replicatedFormat) return undefined;
  return Number(new DataView(value.buffer, value.byteOffset, value.length).getBigUint64(1));
}

/** Reads the position; undefined for a store that follows no other. */
export function positionOf(environment: Pick<Environment, 'get'>): Position | undefined {
  const value = environment.get(positionKey);
  return value === undefined || value.length === 0 ? undefined : (packr.unpack(value) as Position);
}

/** Key of the marks by which this appliance recognises its own transactions (cluster/marks/lane-marks.ts). */
export const laneMarksKey = keyBytes('\u0002lane-marks');

/** Only inside a commit. */
export function putPosition(environment: Pick<Environment, 'put'>, position: Position): void {
  environment.put(positionKey, packr.pack(position));
}

/** Reads the position of the store in a directory, which no process has open. */
export async function readPosition(directory: string): Promise<Position | undefined> {
  const environment = new Environment(directory, () => undefined);
  try {
    return positionOf(environment);
  } finally {
    await environment.close();
  }
}

/** Turns the replica in a directory, which no process has open, into an independent store. The number of its entries stays. */
export async function standAlone(directory: string): Promise<void> {
  const environment = new Environment(directory, () => undefined);
  try {
    if (positionOf(environment) !== undefined) await environment.commit(() => environment.put(positionKey, new Uint8Array()));
  } finally {
    await environment.close();
  }
}
