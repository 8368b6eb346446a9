// Names and order of the files of a stream of JSON lines, `<stream>.<number>.jsonl`, for the audit trail and the logs.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** One file of a stream. `number` orders the files: the sequence number of the first record (audit) or a count (logs). */
export type StreamFile = { readonly stream: string; readonly number: number; readonly attempt: number; readonly path: string };

/** Path of a new file. A second file of the same number, after the first one was lost, gets a suffix. */
export function streamFilePath(directory: string, stream: string, number: number, attempt = 0): string {
  return join(directory, `${stream}.${String(number).padStart(12, '0')}${attempt === 0 ? '' : `.${attempt}`}.jsonl`);
}

/** The files of a directory by stream, in order; the streams are in order of name. A missing directory has none. */
export async function listStreams(directory: string): Promise<ReadonlyMap<string, readonly StreamFile[]>> {
  const streams = new Map<string, StreamFile[]>();
  for (const name of (await namesIn(directory)).sort()) {
    const [, stream, number, attempt] = /^([a-z0-9][a-z0-9-]*)\.(\d{12})(?:\.(\d+))?\.jsonl$/.exec(name) ?? [];
    if (stream === undefined) continue;
    const files = streams.get(stream) ?? [];
    files.push({ stream, number: Number(number), attempt: Number(attempt ?? 0), path: join(directory, name) });
    streams.set(stream, files);
  }
  for (const files of streams.values()) files.sort((a, b) => a.number - b.number || a.attempt - b.attempt);
  return streams;
}

async function namesIn(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
