// Sizes of caches: shares of the memory that the machine, or the limit of the service, allows for all processes.
import { totalmem } from 'node:os';

/** Octets of the machine, or fewer where a limit is set (cgroup). */
export function availableBytes(limit = process.constrainedMemory(), machine = totalmem()): number {
  return limit > 0 ? Math.min(limit, machine) : machine;
}

/** Memory of a loaded AES key: 9 KiB in SoftHSM 2.6, the rest in the process around it. */
const loadedKeyBytes = 10_240;
const fewestKeys = 1_000;
/** Limit of loaded keys: SoftHSM examines each loaded object when it searches the token, so with more of them a search delays all other work. */
const mostKeys = 200_000;

/** Keys that each token process keeps loaded, if all of them together may take a quarter of the memory. */
export function keysThatFit(tokenProcesses: number, bytes = availableBytes()): number {
  return between(fewestKeys, Math.floor(bytes / 4 / tokenProcesses / loadedKeyBytes), mostKeys);
}

/** Decoded, records take about four times the octets of their sealed form, by which their cache is limited. */
const decodedToSealed = 4;
const fewestRecordBytes = 32 << 20;
const mostRecordBytes = 256 << 20;

/** The limit of the record cache of each worker, in octets of sealed records: all of them together may take an eighth of the memory. */
export function recordBytesThatFit(workers: number, bytes = availableBytes()): number {
  return between(fewestRecordBytes, Math.floor(bytes / 8 / workers / decodedToSealed), mostRecordBytes);
}

const leastRoomBytes = 16 << 20;
const mostRoomBytes = 256 << 20;

/**
 * The room of each worker for large bodies, in octets of the bodies and their parsed forms (core/http/request/body-room.ts): all of them
 * together may take a sixteenth of the memory. Uncollected garbage comes on top, as much again.
 */
export function bodyRoomThatFits(workers: number, bytes = availableBytes()): number {
  return between(leastRoomBytes, Math.floor(bytes / 16 / workers), mostRoomBytes);
}

/** Memory that a connection of an unauthenticated caller may hold: TLS, unread input, a waiting request, and garbage. */
const connectionBytes = 64 << 10;
/** Least number of connections of a listener with which it still serves. */
const fewestConnections = 128;

/** Connections that each of the listeners of each worker accepts, if all of them together may take a quarter of the memory. */
export function connectionsByMemory(workers: number, listeners: number, bytes = availableBytes()): number {
  return Math.max(fewestConnections, Math.floor(bytes / 4 / workers / listeners / connectionBytes));
}

function between(least: number, value: number, most: number): number {
  return Math.min(Math.max(least, value), most);
}
