// Large data as streams of pieces: openpgp.js works on each as it is read, and other requests have their turn between two.
import { setImmediate } from 'node:timers/promises';

/** Octets of a piece; hashing this much takes half a millisecond, armoring it one. */
export const pieceOctets = 128 * 1024;

/** The octets, which are not copied. */
export function inPieces(data: Uint8Array): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    async pull(controller) {
      await setImmediate();
      if (at < data.length) controller.enqueue(data.subarray(at, (at += pieceOctets)));
      else controller.close();
    },
  });
}

/** The pieces of a stream of openpgp.js, which has methods of its own that iteration would bypass. */
export async function piecesOf<T>(stream: ReadableStream<T>): Promise<readonly T[]> {
  const pieces: T[] = [];
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return pieces;
    pieces.push(value);
  }
}
