// Reads the complete lines of a file that another process may be writing, in chunks, forwards or backwards.
import { type FileHandle, open } from 'node:fs/promises';
import { Semaphore } from '../base/async/semaphore.ts';

/** Octets read at a time. */
export const chunkBytes = 64 << 10;

/** The complete lines of a file, the last one first. */
export async function* linesFromEnd(path: string): AsyncIterable<{ readonly text: string; readonly offset: number }> {
  let rest: Buffer = Buffer.alloc(0);
  for (let end = await wholeBytes(path); end > 0;) {
    const begin = Math.max(0, end - chunkBytes);
    let octets = Buffer.concat([await readChunkInTurn(path, begin, end - begin), rest]);
    while (octets.length > 0) {
      const before = octets.length < 2 ? -1 : octets.lastIndexOf(10, octets.length - 2);
      // The line starts in the previous chunk.
      if (before < 0 && begin > 0) break;
      yield { text: octets.toString('utf8', before + 1, octets.length - 1), offset: begin + before + 1 };
      octets = octets.subarray(0, before + 1);
    }
    rest = octets;
    end = begin;
  }
}

/** Octets of a file up to its last line end; the rest is an incomplete line. */
export async function wholeBytes(path: string): Promise<number> {
  for (let end = await sizeOf(path); end > 0; end -= chunkBytes) {
    const begin = Math.max(0, end - chunkBytes);
    const found = (await readChunk(path, begin, end - begin)).lastIndexOf(10);
    if (found >= 0) return begin + found + 1;
  }
  return 0;
}

async function sizeOf(path: string): Promise<number> {
  return withFile(path, 0, async (handle) => (await handle.stat()).size);
}

/**
 * As readChunk, but one at a time in this process: a chunk is searched in the turn of the event loop in which it arrives, and many
 * concurrent readers would leave no time to requests.
 */
export function readChunkInTurn(path: string, offset: number, length: number): Promise<Buffer> {
  return turns.run(() => readChunk(path, offset, length));
}

const turns = new Semaphore(1);

/** Reads up to `length` octets from an offset; fewer at the end of the file. */
export function readChunk(path: string, offset: number, length: number): Promise<Buffer> {
  return withFile(path, Buffer.alloc(0), (handle) => readFully(handle, offset, length));
}

/**
 * Reads up to `length` octets from an offset; fewer only at the end of the file. A single system call may return fewer, for example before a
 * disk error.
 */
export async function readFully(handle: FileHandle, offset: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  for (let done = 0; done < length;) {
    const { bytesRead } = await handle.read({ buffer, offset: done, length: length - done, position: offset + done });
    if (bytesRead === 0) return buffer.subarray(0, done);
    done += bytesRead;
  }
  return buffer;
}

/** Runs a task on a file. A file that was removed meanwhile, as the oldest ones are, counts as empty. */
async function withFile<T>(path: string, whenGone: T, task: (handle: FileHandle) => Promise<T>): Promise<T> {
  try {
    await using handle = await open(path, 'r');
    return await task(handle);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return whenGone;
    throw error;
  }
}
