// Changes of many records, in pieces: each piece fits into a transaction of a shared store, and many of them make one commit of LMDB.
import type { Store, WriteTransaction } from '../store.ts';

/** Records of a piece. etcd takes 128 operations in a transaction by default, and a record may need several. */
const inOnePiece = 10;
/** Records of the pieces queued together: other writes wait for their commit. */
const together = 200;

/** Splits a list into consecutive parts of that length; the last may be shorter. */
export function piecesOf<T>(items: readonly T[], length: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(items.length / length) }, (_, index) => items.slice(index * length, (index + 1) * length));
}

/**
 * Writes in pieces; each is committed or refused by itself. Rejects with the first refusal; stops between commits when aborted. `atOnce`:
 * records of a piece, fewer if a record takes many operations.
 */
export async function writeInPieces<T>(
  store: Pick<Store, 'write'>,
  items: readonly T[],
  change: (transaction: WriteTransaction, item: T) => void,
  signal?: AbortSignal,
  atOnce = inOnePiece,
): Promise<void> {
  for (const some of piecesOf(items, together)) {
    if (signal?.aborted === true) return;
    const writing = piecesOf(some, atOnce).map((piece) =>
      store.write((transaction) => {
        for (const item of piece) change(transaction, item);
      }),
    );
    await Promise.all(writing);
  }
}
