// Reads the trail for a page: a window of time once, or from a time on and live. The newest records are kept, so that memory has an end.
import { useSignal, type ReadonlySignal, type Signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { follow } from '../../api/request.ts';
import { secret } from '../../api/session.ts';
import { timeOf, type TrailRecord } from './records.ts';

/** Records that a page holds. */
export const mostRecords = 20_000;
/** Records come by the thousand: a page is drawn this often. */
const drawEveryMs = 250;

export type Trail = {
  readonly state: 'reading' | 'live' | 'read' | 'failed';
  /** the oldest first */
  readonly records: readonly TrailRecord[];
  /** whether older ones were left out, because there are too many */
  readonly isCut: boolean;
  readonly error?: unknown;
};

export type Window = {
  /** `1h`, or a timestamp */
  readonly since: string;
  /** end of the window; absent: now */
  readonly untilMs?: number | undefined;
  readonly isLive: boolean;
};

const nothing: Trail = { state: 'reading', records: [], isCut: false };

export function useTrail(path: string, { since, untilMs, isLive }: Window, turn: number): ReadonlySignal<Trail> {
  const trail = useSignal<Trail>(nothing);
  useEffect(() => {
    const controller = new AbortController();
    const reader = new TrailReader(trail);
    const read = async (): Promise<void> => {
      const query = { since, ...(isLive ? { follow: 'true' } : {}) };
      try {
        for await (const records of follow({ method: 'GET', path, query }, controller.signal)) {
          const wanted = records as readonly TrailRecord[];
          const end = untilMs === undefined ? -1 : wanted.findIndex((record) => timeOf(record) > untilMs);
          reader.add(end === -1 ? wanted : wanted.slice(0, end), isLive);
          if (end !== -1) break;
        }
        reader.end();
      } catch (error) {
        if (!controller.signal.aborted) reader.fail(error);
      }
    };
    void read();
    return () => {
      controller.abort();
      reader.close();
    };
  }, [path, since, untilMs, isLive, turn, secret.value]);
  return trail;
}

class TrailReader {
  readonly #trail: Signal<Trail>;
  #records: TrailRecord[] = [];
  #isCut = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(trail: Signal<Trail>) {
    this.#trail = trail;
    trail.value = nothing;
  }

  add(records: readonly TrailRecord[], isLive: boolean): void {
    this.#records.push(...records);
    if (this.#records.length > mostRecords * 1.25) {
      this.#records = this.#records.slice(-mostRecords);
      this.#isCut = true;
    }
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#show(isLive ? 'live' : 'reading');
    }, drawEveryMs);
  }

  end(): void {
    this.close();
    this.#show('read');
  }

  fail(error: unknown): void {
    this.close();
    this.#trail.value = { state: 'failed', records: [...this.#records], isCut: this.#isCut, error };
  }

  /** Draws nothing any more. */
  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #show(state: Trail['state']): void {
    this.#trail.value = { state, records: [...this.#records], isCut: this.#isCut };
  }
}
