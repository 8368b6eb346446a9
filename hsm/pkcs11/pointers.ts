// Addresses of buffers, for parameters with pointers that the binding has no structure for, and for functions that it lacks: by node:ffi, which Node.js
// calls experimental.
import type * as Ffi from 'node:ffi';

/** Number of octets of a pointer and of CK_ULONG, on every platform that the service runs on. */
export const wordBytes = 8;

/** Tells whether this Node.js gives addresses. Without them a token has no parameters with pointers. */
export function hasPointers(): boolean {
  return findFfi() !== undefined;
}

/** The address of a buffer, which the caller keeps referenced until the call that reads there has returned. */
export function addressOf(buffer: Buffer): bigint {
  const known = findFfi();
  if (known === undefined) throw new TypeError('this Node.js has no node:ffi');
  // Small buffers are moved out of the garbage collector's reach when their memory is asked for.
  return buffer.buffer.byteLength === 0 ? 0n : known.getRawPointer(buffer);
}

/** node:ffi, where this Node.js has it. */
export function findFfi(): typeof Ffi | undefined {
  return process.getBuiltinModule('node:ffi');
}
