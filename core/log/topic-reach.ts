// Limits a search in a topic for one answer, by a time, so that everyone knows which records were searched.
import { stat } from 'node:fs/promises';
import { listStreams, type StreamFile } from './stream-files.ts';
import { chunkBytes, readChunkInTurn } from './stream-lines.ts';
import { timeIn, type TopicOptions } from './topic.ts';

/** Octets searched for one answer. */
const searchedBytes = 32 << 20;

/** Start and direction of a search: from `since` on, or back from `before`. */
export type Search = Pick<TopicOptions, 'directory' | 'since' | 'before'> & { readonly isBackwards: boolean };

/** The time at which a search that would read more ends; undefined: it reaches the end of the topic. */
export async function reachOf({ directory, since, before, isBackwards }: Search, mostBytes = searchedBytes): Promise<string | undefined> {
  const streams = [...(await listStreams(directory)).values()];
  const each = Math.floor(mostBytes / streams.length);
  const times = await Promise.all(
    streams.map(async (files) => {
      const stream = await measure(files);
      if (!isBackwards) return stream.timeAt((since === undefined ? 0 : await stream.placeOf(since)) + each);
      const end = before === undefined ? stream.bytes : await stream.placeOf(before);
      return end <= each ? undefined : stream.timeAt(end - each);
    }),
  );
  // The stream with the shortest reach decides for all: the others are searched up to that time.
  const known = times.filter((time) => time !== undefined).sort();
  const reach = isBackwards ? known.at(-1) : known[0];
  // After a clock was set back, times are not in the order of lines: such a search is not limited.
  const advances = reach !== undefined && (isBackwards ? before === undefined || reach < before : since === undefined || reach > since);
  return advances ? reach : undefined;
}

/** Measures a stream as one run of octets. */
async function measure(files: readonly StreamFile[]): Promise<Stream> {
  const sizes = await Promise.all(files.map(async ({ path }) => stat(path).then(({ size }) => size, gone)));
  return new Stream(files, sizes);
}

/** Size of a missing file: the oldest files are removed while they are read. */
const gone = (): number => 0;

class Stream {
  readonly bytes: number;
  readonly #files: readonly StreamFile[];
  readonly #sizes: readonly number[];

  constructor(files: readonly StreamFile[], sizes: readonly number[]) {
    this.#files = files;
    this.#sizes = sizes;
    this.bytes = sizes.reduce((sum, size) => sum + size, 0);
  }

  /** The time of the first record that begins at this place or after it; undefined at the end. */
  async timeAt(place: number): Promise<string | undefined> {
    let from = Math.max(0, place);
    for (const [index, { path }] of this.#files.entries()) {
      const size = this.#sizes[index] ?? 0;
      for (let offset = from; offset < size; offset += chunkBytes) {
        const text = (await readChunkInTurn(path, offset, chunkBytes)).toString();
        const time = timeIn(offset === 0 ? text : text.slice(text.indexOf('\n') + 1));
        if (time !== '') return time;
      }
      from = Math.max(0, from - size);
    }
    return undefined;
  }

  /** Position where records of this time begin, accurate to a chunk. */
  async placeOf(time: string): Promise<number> {
    let [low, high] = [0, this.bytes];
    while (high - low > chunkBytes) {
      const middle = Math.floor((low + high) / 2);
      const found = await this.timeAt(middle);
      if (found !== undefined && found < time) low = middle;
      else high = middle;
    }
    return high;
  }
}
