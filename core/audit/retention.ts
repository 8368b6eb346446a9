// Removes old files of an audit chain in two steps: a record announces it, and the file is removed when that record has been signed.
import { unlink } from 'node:fs/promises';
import { basename } from 'node:path';
import type { ChainHead } from './line.ts';
import type { TrailMemory } from './chains.ts';
import { readHead } from './resume.ts';
import { listStreams, type StreamFile } from '../log/stream-files.ts';

type Options = {
  readonly directory: string;
  readonly chain: string;
  readonly retainFiles: number;
  readonly memory: TrailMemory;
  /** tells whether a file is still needed, for instance by a receiver that has not received it */
  readonly isHeld?: (file: StreamFile) => Promise<boolean>;
  /** Writes a record with these fields; resolves when it is on the disk, with a sequence number that is at least its own. */
  note(fields: Readonly<Record<string, unknown>>): Promise<number>;
};

type Noted = { readonly sequence: number; readonly last: ChainHead | undefined };

export class Retention {
  readonly #options: Options;
  /** announced files by path */
  readonly #noted = new Map<string, Noted>();

  constructor(options: Options) {
    this.#options = options;
  }

  /** Takes the next step for each of the oldest files beyond the number to keep. */
  async step(): Promise<void> {
    const { directory, chain, retainFiles, memory, isHeld } = this.#options;
    const files = (await listStreams(directory)).get(chain) ?? [];
    for (const file of files.slice(0, Math.max(0, files.length - retainFiles))) {
      // Files are removed in order, or the chain would have a hole.
      if (!this.#noted.has(file.path) && (await isHeld?.(file)) === true) return;
      const noted = this.#noted.get(file.path) ?? (await this.#note(file));
      const signedThrough = memory.recall().get(chain)?.signed?.sequence ?? 0;
      if (noted.sequence > signedThrough) continue;
      if (noted.last !== undefined) await memory.update([{ chain, part: 'retired', head: noted.last }]);
      await unlink(file.path);
      this.#noted.delete(file.path);
    }
  }

  async #note(file: StreamFile): Promise<Noted> {
    const last = await readHead(file);
    const fields = { event: 'retired', file: basename(file.path), lastSequence: last?.sequence, lastHash: last?.hash };
    const noted = { sequence: await this.#options.note(fields), last };
    this.#noted.set(file.path, noted);
    return noted;
  }
}
