// Sealed data, format 1 (appliance/docs/use/sealed-data.md): a header, then pieces of AES-256-GCM in the STREAM construction.

/** Octets of plaintext in a piece; only the last one has fewer. */
export const pieceBytes = 65_536;
const tagBytes = 16;
/** The header has one length whatever the wrapped key, so that a rewrap writes over it in place. */
export const headerBytes = 1_024;

const magic = new TextEncoder().encode('KSEALED\u0001');
const [saltAt, prefixAt, commitmentAt, lengthAt, wrappedAt] = [8, 40, 47, 79, 81] as const;
const info = new TextEncoder().encode('keystored sealed data 1');
/** The counter of the nonce has 32 bits. */
const mostPieces = 2 ** 32;

/** The data cannot be opened: changed, reordered, cut off, extended, of another header, or sealed under another data key. */
export class SealedDataError extends Error {
  override readonly name = 'SealedDataError';
}

export type Header = {
  /** 32 octets, random for each stream */
  readonly salt: Uint8Array;
  /** 7 octets, random for each stream */
  readonly noncePrefix: Uint8Array;
  /** 32 octets: says which data key opens this */
  readonly commitment: Uint8Array;
  /** the data key, encrypted by the transit key */
  readonly wrappedKey: string;
};

/** Throws SealedDataError for a wrapped key that does not fit. */
export function writeHeader({ salt, noncePrefix, commitment, wrappedKey }: Header): Uint8Array {
  const header = new Uint8Array(headerBytes);
  if (!/^[!-~]+$/.test(wrappedKey) || wrappedKey.length > headerBytes - wrappedAt)
    throw new SealedDataError(`the wrapped data key must be 1 to ${headerBytes - wrappedAt} ASCII characters`);
  header.set(magic);
  header.set(salt, saltAt);
  header.set(noncePrefix, prefixAt);
  header.set(commitment, commitmentAt);
  new DataView(header.buffer).setUint16(lengthAt, wrappedKey.length);
  header.set(new TextEncoder().encode(wrappedKey), wrappedAt);
  return header;
}

/** Parses a header. Throws SealedDataError for octets that are not a header of this format. */
export function readHeader(header: Uint8Array): Header {
  if (header.length !== headerBytes) throw new SealedDataError(`the header has ${header.length} octets of ${headerBytes}: it is cut off`);
  if (magic.some((octet, index) => header[index] !== octet)) throw new SealedDataError('this is not sealed data of format 1');
  const length = new DataView(header.buffer, header.byteOffset).getUint16(lengthAt);
  const wrappedKey = String.fromCharCode(...header.subarray(wrappedAt, Math.min(wrappedAt + length, headerBytes)));
  const isPadded = header.subarray(Math.min(wrappedAt + length, headerBytes)).every((octet) => octet === 0);
  if (!/^[!-~]+$/.test(wrappedKey) || wrappedKey.length !== length || !isPadded) throw new SealedDataError('the header is damaged');
  return {
    salt: header.slice(saltAt, prefixAt),
    noncePrefix: header.slice(prefixAt, commitmentAt),
    commitment: header.slice(commitmentAt, lengthAt),
    wrappedKey,
  };
}

/** Derives from a data key of 32 octets and the salt of one stream: the key of its pieces, and the commitment to the data key. */
export async function deriveKeys(
  dataKey: Uint8Array,
  salt: Uint8Array,
): Promise<{ readonly pieceKey: CryptoKey; readonly commitment: Uint8Array }> {
  if (dataKey.length !== 32) throw new SealedDataError(`the data key has ${dataKey.length * 8} bits, not 256`);
  const material = await crypto.subtle.importKey('raw', own(dataKey), 'HKDF', false, ['deriveBits']);
  const derived = new Uint8Array(await crypto.subtle.deriveBits({ name: 'HKDF', hash: 'SHA-256', salt: own(salt), info }, material, 512));
  const pieceKey = await crypto.subtle.importKey('raw', derived.subarray(0, 32), 'AES-GCM', false, ['encrypt', 'decrypt']);
  const commitment = derived.slice(32);
  derived.fill(0);
  return { pieceKey, commitment };
}

/** The octets of `source` as sealed pieces. `header` is the one before them. */
export async function* sealPieces(source: Source, header: Uint8Array, pieceKey: CryptoKey): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const { octets, index, isLast } of piecesOf(source, pieceBytes))
    yield new Uint8Array(await crypto.subtle.encrypt(parameters(header, index, isLast), pieceKey, own(octets)));
}

/** The octets of sealed pieces, each as soon as it is authentic. Throws SealedDataError when one is not, and when the last is missing. */
export async function* openPieces(source: Source, header: Uint8Array, pieceKey: CryptoKey): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const { octets, index, isLast } of piecesOf(source, pieceBytes + tagBytes)) {
    const opened = await crypto.subtle.decrypt(parameters(header, index, isLast), pieceKey, own(octets)).catch(() => undefined);
    if (opened === undefined) throw new SealedDataError(`piece ${index + 1} is not as it was sealed: changed, moved, cut off or extended`);
    if (opened.byteLength === 0 && index > 0) throw new SealedDataError(`piece ${index + 1} is empty`);
    if (opened.byteLength > 0) yield new Uint8Array(opened);
  }
}

/** Octets, or a stream or a list of octets of any sizes; a text stands for its UTF-8. */
export type Source = AsyncIterable<Uint8Array> | Iterable<Uint8Array> | Uint8Array | string;

export type Split = {
  readonly head: Uint8Array;
  readonly rest: AsyncIterable<Uint8Array>;
  /** Ends the source where it was not read to its end. */
  close(this: void): Promise<void>;
};

/** Reads `count` octets from the beginning, or as many as there are; the rest follows. */
export async function splitSource(source: Source, count: number): Promise<Split> {
  const list = listOf(source);
  const iterator = Symbol.asyncIterator in list ? list[Symbol.asyncIterator]() : list[Symbol.iterator]();
  const pending = new Pending();
  let isAtEnd = false;
  /** False at the end. */
  const read = async (): Promise<boolean> => {
    if (isAtEnd) return false;
    const { done, value } = await iterator.next();
    if (done === true) isAtEnd = true;
    else pending.push(value);
    return !isAtEnd;
  };
  while (pending.length < count && (await read()));
  async function* rest(): AsyncGenerator<Uint8Array, void, undefined> {
    do if (pending.length > 0) yield pending.take(pending.length);
    while (await read());
  }
  return {
    head: pending.take(Math.min(count, pending.length)),
    rest: rest(),
    async close() {
      if (!isAtEnd) await iterator.return?.();
    },
  };
}

export function listOf(source: Source): AsyncIterable<Uint8Array> | Iterable<Uint8Array> {
  if (typeof source === 'string') return [new TextEncoder().encode(source)];
  return source instanceof Uint8Array ? [source] : source;
}

type Piece = { readonly octets: Uint8Array; readonly index: number; readonly isLast: boolean };

/**
 * Pieces of `size`, the last one with the rest; of no octets one empty piece. One piece is held back until its successor is known.
 */
async function* piecesOf(source: Source, size: number): AsyncGenerator<Piece, void, undefined> {
  const pending = new Pending();
  let index = 0;
  for await (const octets of listOf(source)) {
    pending.push(octets);
    while (pending.length > size) yield { octets: pending.take(size), index: numbered(index++), isLast: false };
  }
  yield { octets: pending.take(pending.length), index: numbered(index), isLast: true };
}

function numbered(index: number): number {
  if (index < mostPieces) return index;
  throw new SealedDataError(`a stream has at most ${mostPieces} pieces of ${pieceBytes} octets: seal the rest as another`);
}

/** Octets that have come and were not taken, without copying them together at each arrival. */
class Pending {
  #parts: Uint8Array[] = [];
  length = 0;

  push(octets: Uint8Array): void {
    if (!(octets instanceof Uint8Array)) throw new TypeError(`a source gives octets (Uint8Array), not ${typeof octets}`);
    if (octets.length === 0) return;
    this.#parts.push(octets);
    this.length += octets.length;
  }

  take(count: number): Uint8Array {
    const taken = new Uint8Array(count);
    let [at, used] = [0, 0];
    while (at < count) {
      const first = this.#parts[used] ?? new Uint8Array();
      const part = first.subarray(0, count - at);
      taken.set(part, at);
      at += part.length;
      if (part.length === first.length) used++;
      else this.#parts[used] = first.subarray(part.length);
    }
    this.#parts.splice(0, used);
    this.length -= count;
    return taken;
  }
}

function parameters(header: Uint8Array, index: number, isLast: boolean): AesGcmParams {
  const iv = new Uint8Array(12);
  iv.set(header.subarray(prefixAt, commitmentAt));
  const view = new DataView(iv.buffer);
  view.setUint32(7, index);
  view.setUint8(11, isLast ? 1 : 0);
  // All but the wrapped key, which a rewrap changes: the commitment speaks for it.
  return { name: 'AES-GCM', iv, additionalData: own(header.subarray(0, lengthAt)), tagLength: tagBytes * 8 };
}

/** The same octets in an array without shared memory, as Web Crypto requires. */
function own(octets: Uint8Array): Uint8Array<ArrayBuffer> {
  return octets.buffer instanceof ArrayBuffer ? (octets as Uint8Array<ArrayBuffer>) : new Uint8Array(octets);
}
