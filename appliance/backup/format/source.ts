// Reads an octet stream by lines and by numbers of octets.
import { BackupError } from './error.ts';

/** Reads a stream by numbers of octets. Throws BackupError when the stream ends first. */
export class OctetReader {
  readonly #parts: AsyncIterator<Uint8Array>;
  #kept: Uint8Array = new Uint8Array();

  constructor(stream: AsyncIterable<Uint8Array>) {
    this.#parts = stream[Symbol.asyncIterator]();
  }

  async take(bytes: number): Promise<Buffer> {
    const parts: Uint8Array[] = [];
    for (let left = bytes; left > 0;) {
      const part = await this.some(left);
      parts.push(part);
      left -= part.length;
    }
    return Buffer.concat(parts);
  }

  /** At least one octet and at most `most`. */
  async some(most: number): Promise<Uint8Array> {
    if (!(await this.#has())) throw new BackupError('the backup is cut off');
    const part = this.#kept.subarray(0, most);
    this.#kept = this.#kept.subarray(most);
    return part;
  }

  /** The rest of the stream, to its end. */
  async *rest(): AsyncGenerator<Uint8Array> {
    while (await this.#has()) {
      yield this.#kept;
      this.#kept = new Uint8Array();
    }
  }

  async #has(): Promise<boolean> {
    while (this.#kept.length === 0) {
      const { value, done } = await this.#parts.next();
      if (done === true) return false;
      this.#kept = value;
    }
    return true;
  }
}

/**
 * Reads lines until `isLast` accepts those that were read; `head` has them with their line ends. Throws BackupError when there is no such
 * line within `mostBytes`: a crafted file must not be read into memory whole.
 */
export async function readLines(
  stream: AsyncIterable<Uint8Array>,
  mostBytes: number,
  isLast: (lines: readonly string[]) => boolean,
): Promise<{ readonly head: Buffer; readonly rest: AsyncGenerator<Uint8Array> }> {
  const reader = new OctetReader(stream);
  const pieces: Uint8Array[] = [];
  const lines: string[] = [];
  let line: Uint8Array[] = [];
  for (let bytes = 0; bytes <= mostBytes;) {
    const part = await reader.some(mostBytes + 1 - bytes);
    bytes += part.length;
    let start = 0;
    for (let end = part.indexOf(10); end >= 0; end = part.indexOf(10, start)) {
      line.push(part.subarray(start, end));
      lines.push(Buffer.concat(line).toString('latin1'));
      line = [];
      start = end + 1;
      if (!isLast(lines)) continue;
      const after = part.subarray(start);
      async function* rest(): AsyncGenerator<Uint8Array> {
        if (after.length > 0) yield after;
        yield* reader.rest();
      }
      return { head: Buffer.concat([...pieces, part.subarray(0, start)]), rest: rest() };
    }
    line.push(part.subarray(start));
    pieces.push(part);
  }
  throw new BackupError('the header of the backup is damaged or too long');
}
