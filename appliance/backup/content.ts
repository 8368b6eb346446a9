// The content of a backup: a sequence of files, each after its path and size, the manifest first.
import { z } from 'zod';
import { BackupError } from './cipher.ts';

/** length(4, big-endian) ‖ JSON of {path, bytes} ‖ content, repeated; at the end {files} without content. */
const entryHead = z.union([
  z.strictObject({ path: z.string().max(512), bytes: z.int().min(0) }),
  z.strictObject({ files: z.int().min(0) }),
]);
const longestHeadBytes = 4_096;

export const manifestPath = 'manifest.json';

export type Manifest = z.output<typeof manifestSchema>;

const manifestSchema = z.object({
  format: z.literal(1),
  madeAt: z.string(),
  /** whether the token itself is in the backup */
  embedded: z.boolean(),
  tokens: z.array(z.object({ name: z.string(), label: z.string(), serial: z.string() })),
});

/** One file. `bytes` is needed for content that is a stream. Throws for a path that readContent would refuse. */
export async function* formatEntry(
  path: string,
  content: Uint8Array | AsyncIterable<Uint8Array>,
  bytes = content instanceof Uint8Array ? content.length : 0,
): AsyncGenerator<Uint8Array> {
  if (path !== manifestPath && !isBackupPath(path)) throw new Error(`${path} does not belong in a backup`);
  yield formatHead({ path, bytes });
  if (content instanceof Uint8Array) yield content;
  else yield* content;
}

/** The end: the number of files. */
export function formatEnd(files: number): Uint8Array {
  return formatHead({ files });
}

function formatHead(head: z.input<typeof entryHead>): Uint8Array {
  const text = Buffer.from(JSON.stringify(head));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(text.length);
  return Buffer.concat([length, text]);
}

/** Receives the files of a backup. */
export type Taker = {
  manifest(manifest: Manifest): void;
  /** A file begins; the result receives its content and its end. */
  file(path: string): { write(part: Uint8Array): void; close(): void };
};

/** Only these paths are restored: a backup must not write anywhere else. */
const knownPath = /^(?:store\/data\.mdb|store-key\.json|(?:so-)?pin(?:\.new)?|softhsm\/[\w-]+(?:\.token\.copy|\/[\w-]+(?:\.\w+)?))$/;

/** Whether backups hold this file, given by its path in the data directory. */
export function isBackupPath(path: string): boolean {
  return knownPath.test(path);
}

/** Reads the files of a backup. Throws BackupError unless it is complete. */
export async function readContent(plain: AsyncIterable<Uint8Array>, taker: Taker): Promise<void> {
  const reader = new Reader(plain);
  const first = parseHead(await reader.head());
  if (!('path' in first) || first.path !== manifestPath) throw new BackupError('the backup does not begin with its manifest');
  const manifest = manifestSchema.safeParse(JSON.parse(Buffer.from(await reader.take(Math.min(first.bytes, 1 << 20))).toString('utf8')));
  if (!manifest.success) throw new BackupError('the manifest of the backup is not of this version');
  taker.manifest(manifest.data);
  for (let files = 1; ; files++) {
    const head = parseHead(await reader.head());
    if ('files' in head) {
      if (head.files !== files) throw new BackupError('files of the backup are missing');
      return;
    }
    if (!isBackupPath(head.path)) throw new BackupError('the backup has a file that does not belong there');
    const file = taker.file(head.path);
    for (let left = head.bytes; left > 0;) {
      const part = await reader.some(left);
      file.write(part);
      left -= part.length;
    }
    file.close();
  }
}

function parseHead(text: Uint8Array): z.output<typeof entryHead> {
  const head = entryHead.safeParse(JSON.parse(Buffer.from(text).toString('utf8')));
  if (!head.success) throw new BackupError('the backup is damaged');
  return head.data;
}

/** Reads a stream by numbers of octets. */
class Reader {
  readonly #parts: AsyncIterator<Uint8Array>;
  #kept: Uint8Array = new Uint8Array();

  constructor(stream: AsyncIterable<Uint8Array>) {
    this.#parts = stream[Symbol.asyncIterator]();
  }

  async head(): Promise<Uint8Array> {
    const length = Buffer.from(await this.take(4)).readUInt32BE();
    if (length > longestHeadBytes) throw new BackupError('the backup is damaged');
    return this.take(length);
  }

  async take(bytes: number): Promise<Uint8Array> {
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
    while (this.#kept.length === 0) {
      const { value, done } = await this.#parts.next();
      if (done === true) throw new BackupError('the backup is cut off');
      this.#kept = value;
    }
    const part = this.#kept.subarray(0, most);
    this.#kept = this.#kept.subarray(most);
    return part;
  }
}
