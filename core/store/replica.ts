// What the store of an appliance keeps as a replica of a shared one: the revision of each record, and how far it has followed.
import { Packr } from 'msgpackr';
import { Environment } from './environment.ts';
import { keyBytes } from './keys.ts';

/*
 * replicated record = 0x02 ‖ revision(8, big endian) ‖ sealed record
 *
 * A sealed record begins with 0x01 (records/sealing.ts). An appliance that stands alone again reads both forms and writes the second one
 * without its head.
 */
const replicatedFormat = 2;
const headBytes = 9;

/** The shared store that is followed, and its latest revision that is here in full. */
export type Position = {
  /** changes when a shared store is made again, also from a backup: its revisions then say nothing about ours */
  readonly epoch: string;
  readonly revision: number;
  /** the latest revision in which a record changed, where that is not the one above */
  readonly changedAt?: number;
  /** of the formats of its records (records/level.ts); absent: the first */
  readonly level?: number;
  /** the replica is being filled: it is no state that the shared store ever had, and nothing may be answered from it */
  readonly filling?: true;
  /** the store that is followed is to be made of the records that are here: until it exists, they exist only here */
  readonly founding?: true;
};

/** Key of the position. No table name starts with a control character. */
const positionKey = keyBytes('\u0002position');

const packr = new Packr({ useRecords: false });

/** A sealed record with the revision of the shared store that wrote it. */
export function replicated(sealed: Uint8Array, revision: number): Uint8Array {
  const head = Buffer.alloc(headBytes, replicatedFormat);
  head.writeBigUInt64BE(BigInt(revision), 1);
  return Buffer.concat([head, sealed]);
}

/** The sealed record in a value of the store, replicated or not. */
export function sealedPart(value: Uint8Array): Uint8Array {
  return value[0] === replicatedFormat ? value.subarray(headBytes) : value;
}

/** The revision that wrote a value; 0 for a record that is absent. Throws for one that never was in a shared store. */
export function writtenAt(value: Uint8Array | undefined): number {
  const revision = value === undefined ? 0 : revisionIn(value);
  if (revision === undefined) throw new Error('a record of a replica has no revision: the store was written without its cluster');
  return revision;
}

/** As writtenAt, undefined for a record without a revision and for none. */
export function revisionIn(value: Uint8Array | undefined): number | undefined {
  if (value?.[0] !== replicatedFormat) return undefined;
  return Number(new DataView(value.buffer, value.byteOffset, value.length).getBigUint64(1));
}

/** Undefined for a store that follows none. */
export function positionOf(environment: Pick<Environment, 'get'>): Position | undefined {
  const value = environment.get(positionKey);
  return value === undefined || value.length === 0 ? undefined : (packr.unpack(value) as Position);
}

/** Key of what this appliance knows its own transactions by (cluster/marks/lane-marks.ts). */
export const laneMarksKey = keyBytes('\u0002lane-marks');

/** Only inside a commit. */
export function putPosition(environment: Pick<Environment, 'put'>, position: Position): void {
  environment.put(positionKey, packr.pack(position));
}

/** Of the store in a directory, which nothing else has open. */
export async function readPosition(directory: string): Promise<Position | undefined> {
  const environment = new Environment(directory, () => undefined);
  try {
    return positionOf(environment);
  } finally {
    await environment.close();
  }
}

/** Makes the replica in a directory, which nothing else has open, a store of its own. The number of its entries stays. */
export async function standAlone(directory: string): Promise<void> {
  const environment = new Environment(directory, () => undefined);
  try {
    if (positionOf(environment) !== undefined) await environment.commit(() => environment.put(positionKey, new Uint8Array()));
  } finally {
    await environment.close();
  }
}
