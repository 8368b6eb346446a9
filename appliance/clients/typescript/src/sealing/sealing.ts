// Seals and opens streams of any length in constant memory, with one data key for each or of a cache.
import { type DataKeyCache, dataKeyToOpen, dataKeyToSeal, type DataKeySource } from './data-keys.ts';
import {
  deriveKeys,
  headerBytes,
  openPieces,
  readHeader,
  SealedDataError,
  sealPieces,
  type Source,
  splitSource,
  writeHeader,
} from './format.ts';

/** The header, then a piece for each 64 KiB of `source`. */
export async function* seal(source: Source, keys: DataKeySource, cache?: DataKeyCache): AsyncGenerator<Uint8Array, void, undefined> {
  const dataKey = await dataKeyToSeal(keys, cache);
  const [salt, noncePrefix] = [crypto.getRandomValues(new Uint8Array(32)), crypto.getRandomValues(new Uint8Array(7))];
  yield* sealWith(source, { ...dataKey, salt, noncePrefix });
}

/** Overwrites the data key. The salt must be new: two streams of one salt and data key have one key for their pieces. */
export async function* sealWith(
  source: Source,
  parts: {
    readonly plaintext: Uint8Array;
    readonly ciphertext: string;
    readonly salt: Uint8Array;
    readonly noncePrefix: Uint8Array;
  },
): AsyncGenerator<Uint8Array, void, undefined> {
  const { plaintext, ciphertext: wrappedKey, salt, noncePrefix } = parts;
  const { pieceKey, commitment } = await deriveKeys(plaintext, salt).finally(() => plaintext.fill(0));
  const header = writeHeader({ salt, noncePrefix, commitment, wrappedKey });
  yield header;
  yield* sealPieces(source, header, pieceKey);
}

/**
 * The octets that were sealed, piece by piece, each authentic and in its place. That nothing is missing is known when the iteration ends
 * without an error, not before: until then only a beginning was read.
 */
export async function* open(source: Source, keys: DataKeySource, cache?: DataKeyCache): AsyncGenerator<Uint8Array, void, undefined> {
  const { head, rest, close } = await splitSource(source, headerBytes);
  try {
    const { salt, commitment: expected, wrappedKey } = readHeader(head);
    const dataKey = await dataKeyToOpen(keys, wrappedKey, cache);
    const { pieceKey, commitment } = await deriveKeys(dataKey, salt).finally(() => dataKey.fill(0));
    // Compared in variable time: the commitment is public.
    if (commitment.some((octet, index) => octet !== expected[index]))
      throw new SealedDataError('the wrapped key of the header is not the one that sealed this: the header is of other data, or changed');
    yield* openPieces(rest, head, pieceKey);
  } finally {
    await close();
  }
}

/** The header with its data key wrapped by the newest version of the transit key: it is written over the old one, the pieces stay. */
export async function rewrapHeader(header: Uint8Array, rewrap: (wrappedKey: string) => Promise<string>): Promise<Uint8Array> {
  const read = readHeader(header);
  return writeHeader({ ...read, wrappedKey: await rewrap(read.wrappedKey) });
}
