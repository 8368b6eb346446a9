// The log files of one process: appended in the background, limited in size and number. Lines are dropped rather than waited for.
import { appendFile, mkdir, open, unlink } from 'node:fs/promises';
import { listStreams, streamFilePath } from './stream-files.ts';

/** Limit of the queue in characters; further lines are dropped. */
const maxWaitingLength = 1 << 20;

export class LogFile {
  readonly #directory: string;
  readonly #stream: string;
  readonly #maxFileBytes: number;
  readonly #retainFiles: number;
  #waiting = '';
  #lost = 0;
  #flushing: Promise<void> | undefined;
  #closed = false;
  readonly #begins: Promise<unknown> | undefined;
  /** current file; undefined until the directory was read */
  #current: { readonly number: number; bytes: number; isFirst: boolean } | undefined;

  /** `begins`: until it resolves, lines wait and the directory is not made. */
  constructor(directory: string, stream: string, maxFileBytes: number, retainFiles: number, begins?: Promise<unknown>) {
    this.#begins = begins;
    this.#directory = directory;
    this.#stream = stream;
    this.#maxFileBytes = maxFileBytes;
    this.#retainFiles = retainFiles;
  }

  /** Takes a whole line; returns at once. */
  write(line: string): void {
    if (this.#closed || this.#waiting.length + line.length > maxWaitingLength) return this.countLost();
    this.#waiting += line;
    this.#flushing ??= this.#flush();
  }

  countLost(): void {
    this.#lost++;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#flushing;
  }

  async #flush(): Promise<void> {
    // Lines of the same turn of the event loop are written together.
    await this.#begins;
    while (this.#waiting.length > 0) {
      const text = this.#waiting;
      this.#waiting = '';
      try {
        await this.#append(
          this.#lost === 0 ? text : lineOf(text, 'lines could not be written and are missing here', { lost: this.#lost }) + text,
        );
        this.#lost = 0;
      } catch {
        this.#lost += text.split('\n').length - 1;
        this.#current = undefined;
      }
    }
    this.#flushing = undefined;
  }

  async #append(text: string): Promise<void> {
    const current = (this.#current ??= await this.#newest());
    try {
      await appendFile(streamFilePath(this.#directory, this.#stream, current.number), text, { mode: 0o600 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || current.isFirst) throw error;
      // Somebody has removed the directory while this process used it.
      this.#current = { ...(await this.#newest()), isFirst: true };
      return this.#append(lineOf(text, 'the directory of the log was removed: earlier lines are missing') + text);
    }
    current.isFirst = false;
    current.bytes += Buffer.byteLength(text);
    if (current.bytes < this.#maxFileBytes) return;
    this.#current = { number: current.number + 1, bytes: 0, isFirst: false };
    const files = (await listStreams(this.#directory)).get(this.#stream) ?? [];
    // One more file is about to be created.
    for (const { path } of files.slice(0, Math.max(0, files.length + 1 - this.#retainFiles))) await unlink(path);
  }

  /** `isFirst`: nothing was written yet since the directory was read. */
  async #newest(): Promise<{ number: number; bytes: number; isFirst: boolean }> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    const last = (await listStreams(this.#directory)).get(this.#stream)?.at(-1);
    if (last === undefined) return { number: 1, bytes: 0, isFirst: true };
    const { length, isWhole } = await endOf(last.path);
    if (!isWhole) await appendFile(last.path, '\n');
    return { number: last.number, bytes: length, isFirst: true };
  }
}

/** Length of a file; `isWhole`: its last line is complete. A full disk or a power loss may have cut it. */
async function endOf(path: string): Promise<{ length: number; isWhole: boolean }> {
  await using handle = await open(path, 'r');
  const { size: length } = await handle.stat();
  if (length === 0) return { length, isWhole: true };
  const { buffer } = await handle.read({ buffer: Buffer.alloc(1), position: length - 1 });
  return { length, isWhole: buffer[0] === 10 };
}

/** A line about the files themselves, with the time of the line after it. */
function lineOf(text: string, message: string, fields?: object): string {
  const { 'occurred-at': occurredAt } = JSON.parse(text.slice(0, text.indexOf('\n'))) as { 'occurred-at': string };
  return `${JSON.stringify({ 'occurred-at': occurredAt, level: 'warn', component: 'log', message, fields })}\n`;
}
