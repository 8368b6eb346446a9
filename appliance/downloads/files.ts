// keystorectl as the appliance hands it out: files that the package brought along, some of them put together from Node.js of the appliance.
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

/** Directory of the files in the package, beside the sources. Absent in a source tree. */
const packagedDirectory = fileURLToPath(new URL('../../downloads', import.meta.url));

/** The name of the list of files in the directory. */
export const downloadIndexName = 'index.json';

/** A run of octets of a file: of one in the directory, or of the Node.js that runs the appliance. */
const part = z.object({
  from: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/),
  at: z.int().min(0),
  length: z.int().min(1),
});

const download = z.object({
  name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/),
  size: z.int().min(1),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  description: z.string(),
  parts: z.array(part).min(1),
});

const downloadIndex = z.object({ files: z.array(download) });

/**
 * Name of the source of a part that is the Node.js of the appliance: the single file repeats most of it, which is therefore shipped once.
 */
export const nodeSource = 'node';

export type Download = z.output<typeof download>;

/** Octets from `start` up to `end`, which is not among them. */
export type Span = { readonly start: number; readonly end: number };

/** The files of a directory, by default those of the package. Empty when it has none. */
export async function readDownloads(directory: string = packagedDirectory): Promise<readonly Download[]> {
  const text = await readFile(join(directory, downloadIndexName), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  return text === undefined ? [] : downloadIndex.parse(JSON.parse(text)).files;
}

/** The octets of a span, in pieces. Rejects if a file is shorter than it was: the receiver then notices the incomplete answer. */
export async function* readSpan(
  { parts }: Download,
  { start, end }: Span,
  directory: string = packagedDirectory,
): AsyncGenerator<Uint8Array> {
  let position = 0;
  for (const { from, at, length } of parts) {
    const [first, last] = [Math.max(start, position), Math.min(end, position + length)];
    if (first < last) yield* readFrom(from === nodeSource ? process.execPath : join(directory, from), at + first - position, last - first);
    position += length;
  }
}

/** Small, so that many slow readers take little memory. */
const pieceOctets = 32 * 1024;

/** Files that are being read, by path: many readers need one descriptor. */
const opened = new Map<string, { readonly file: Promise<FileHandle>; readers: number }>();

async function* readFrom(path: string, at: number, length: number): AsyncGenerator<Uint8Array> {
  const shared = opened.get(path) ?? { file: open(path), readers: 0 };
  opened.set(path, shared);
  shared.readers++;
  try {
    const file = await shared.file;
    for (let done = 0; done < length;) {
      const piece = Buffer.allocUnsafe(Math.min(pieceOctets, length - done));
      const { bytesRead } = await file.read(piece, 0, piece.length, at + done);
      if (bytesRead === 0) throw new Error(`${path} ends before octet ${at + length}`);
      yield piece.subarray(0, bytesRead);
      done += bytesRead;
    }
  } finally {
    if (--shared.readers === 0) {
      opened.delete(path);
      await shared.file.then(
        (file) => file.close(),
        () => undefined,
      );
    }
  }
}
