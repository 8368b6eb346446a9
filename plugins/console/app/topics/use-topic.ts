// The records of a topic for a page. The newest are kept, so that memory has an end, and they are drawn some at a time.
import { useSignal, type ReadonlySignal, type Signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { requireReadable } from '../api/may.ts';
import { follow } from '../api/request.ts';
import { secret } from '../api/session.ts';
import { readTopic, type OpenStream, type TopicQuery, type TopicRecord, type TopicState, type Wanted } from './read-topic.ts';

/** Records come by the thousand: a page is drawn this often. */
const drawEveryMs = 250;

export type Topic = {
  readonly state: TopicState;
  /** the oldest first */
  readonly records: readonly TopicRecord[];
  /** true if older ones were left out, because there are too many */
  readonly isCut: boolean;
  readonly error?: unknown;
};

export type TopicProps = Wanted & {
  readonly path: string;
  /** records that the page holds */
  readonly most: number;
};

const nothing: Topic = { state: 'reading', records: [], isCut: false };

/** Reads again when what is wanted changes, when `turn` does, and after another sign-in. */
export function useTopic({ path, most, ...wanted }: TopicProps, turn = 0): ReadonlySignal<Topic> {
  const topic = useSignal<Topic>(nothing);
  useEffect(() => {
    if (secret.value === undefined) return undefined;
    const controller = new AbortController();
    const page = new PageOfTopic(topic, most);
    const open: OpenStream = (query, signal) => openTopic(path, query, signal);
    void readTopic(open, wanted, controller.signal, page);
    return () => {
      controller.abort();
      page.close();
    };
  }, [path, most, JSON.stringify(wanted), turn, secret.value]);
  return topic;
}

async function* openTopic(path: string, query: TopicQuery, signal: AbortSignal): AsyncGenerator<readonly unknown[]> {
  const request = { method: 'GET', path, query };
  await requireReadable(request);
  yield* follow(request, signal);
}

class PageOfTopic {
  readonly #topic: Signal<Topic>;
  readonly #most: number;
  #records: TopicRecord[] = [];
  #now: Omit<Topic, 'records'> = nothing;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(topic: Signal<Topic>, most: number) {
    this.#topic = topic;
    this.#most = most;
    topic.value = nothing;
  }

  readonly add = (records: readonly TopicRecord[]): void => {
    this.#records.push(...records);
    // Cutting copies everything: it is done for many at once.
    if (this.#records.length > this.#most * 1.25) {
      this.#records = this.#records.slice(-this.#most);
      this.#now = { ...this.#now, isCut: true };
    }
  };

  /** Sets the state of the reading. An end or an interruption is shown at once. */
  readonly tell = (state: TopicState, error?: unknown): void => {
    const isEnd = state !== 'reading' && state !== 'live';
    this.#now = { ...this.#now, state, error };
    if (isEnd) this.#draw();
    else this.#timer ??= setTimeout(() => this.#draw(), drawEveryMs);
  };

  /** Stops drawing. */
  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #draw(): void {
    this.close();
    this.#topic.value = { ...this.#now, records: [...this.#records] };
  }
}
