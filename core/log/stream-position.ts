// Continues to read a stream from a stored position, for a restarted reader: the files may have been removed or cut meanwhile.
import { stat } from 'node:fs/promises';
import type { StreamFile } from './stream-files.ts';
import { chunkBytes, readChunk } from './stream-lines.ts';

/** Position in a stream: everything before `offset` of this file, and all earlier files, have been read. */
export type StreamPosition = { readonly number: number; readonly attempt: number; readonly offset: number };

/** A complete line without its line end, and the position after it. */
export type PlacedLine = { readonly text: string; readonly after: StreamPosition };

/**
 * `lines`: the lines after the position, or from the beginning. `skippedFiles`: number of files that were removed unread, as far as
 * their numbers tell. `isCut`: the position is no longer the end of a line, so the last line read was cut off.
 */
export type NextLines = { readonly lines: readonly PlacedLine[]; readonly skippedFiles: number; readonly isCut: boolean };

/** Limit of a line; more octets without a line end are a line that is still being written. */
const maxLineBytes = 4 << 20;

/** Reads the complete lines after a position, of one file, up to about `mostBytes`. `files` is the list of the stream, made before this call. */
export async function readLinesAfter(
  files: readonly StreamFile[],
  position: StreamPosition | undefined,
  mostBytes = chunkBytes,
): Promise<NextLines> {
  const here = position === undefined ? -1 : files.findIndex(({ number, attempt }) => isSame({ number, attempt }, position));
  if (position !== undefined && here >= 0) {
    const file = files[here] as StreamFile;
    if (!(await endsLine(file, position.offset))) return { lines: [], skippedFiles: 0, isCut: true };
    const lines = await linesAt(file, position.offset, mostBytes);
    if (lines.length > 0) return { lines, skippedFiles: 0, isCut: false };
  }
  const rest = here >= 0 ? files.slice(here + 1) : position === undefined ? files : files.filter((file) => isAfter(file, position));
  for (const [index, file] of rest.entries()) {
    const lines = await linesAt(file, 0, mostBytes);
    // The number of a log file is a count; that of an audit file the number of a record, where the reader sees the gap itself.
    const skippedFiles = position === undefined || here >= 0 || index > 0 ? 0 : Math.max(1, file.number - position.number);
    if (lines.length > 0) return { lines, skippedFiles, isCut: false };
  }
  return { lines: [], skippedFiles: 0, isCut: false };
}

/** Octets of a stream after a position; without one, of the whole stream. */
export async function bytesAfter(files: readonly StreamFile[], position: StreamPosition | undefined): Promise<number> {
  const sizes = await Promise.all(
    files
      .filter((file) => position === undefined || isSame(file, position) || isAfter(file, position))
      .map(async (file) => (await sizeOf(file)) - (position !== undefined && isSame(file, position) ? position.offset : 0)),
  );
  return sizes.reduce((sum, size) => sum + Math.max(0, size), 0);
}

/** Tells whether a file has been read to its end. */
export async function isReadThrough(file: StreamFile, position: StreamPosition | undefined): Promise<boolean> {
  if (position === undefined) return false;
  return isSame(file, position) ? position.offset >= (await sizeOf(file)) : !isAfter(file, position);
}

type Numbered = Pick<StreamFile, 'number' | 'attempt'>;

function isSame(file: Numbered, position: Numbered): boolean {
  return file.number === position.number && file.attempt === position.attempt;
}

function isAfter(file: Numbered, position: Numbered): boolean {
  return file.number > position.number || (file.number === position.number && file.attempt > position.attempt);
}

async function linesAt({ path, number, attempt }: StreamFile, offset: number, mostBytes: number): Promise<readonly PlacedLine[]> {
  for (let length = Math.min(mostBytes, maxLineBytes); ; length *= 2) {
    const octets = await readChunk(path, offset, length);
    const end = octets.lastIndexOf(10);
    if (end < 0 && octets.length === length && length < maxLineBytes) continue;
    const lines: PlacedLine[] = [];
    for (let start = 0; start <= end;) {
      const stop = octets.indexOf(10, start);
      lines.push({ text: octets.toString('utf8', start, stop), after: { number, attempt, offset: offset + stop + 1 } });
      start = stop + 1;
    }
    return lines;
  }
}

/** Tells whether a line ends before an offset, as it did when the offset was stored. */
async function endsLine({ path }: StreamFile, offset: number): Promise<boolean> {
  return offset === 0 || (await readChunk(path, offset - 1, 1))[0] === 10;
}

async function sizeOf({ path }: StreamFile): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
    throw error;
  }
}
