// The newest records of a topic, as they are written: a stream that is opened again where it ended.
import { useSignal, type Signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { follow, Refusal } from '../../api/request.ts';
import { secret } from '../../api/session.ts';
import { isRecord, timeOf, withNewer, type TopicRecord } from './records.ts';

export type Followed = {
  /** newest first */
  readonly records: readonly TopicRecord[];
  /** `refused`: with the reason, and nobody tries again */
  readonly state: 'connecting' | 'live' | 'interrupted' | 'refused';
  readonly error?: unknown;
};

/** How long to wait before a stream that ended is opened again. */
const againMs = 2_000;

/** Begins with the newest `most` records, and keeps no more. */
export function useFollowed(path: string, most: number): Signal<Followed> {
  const followed = useSignal<Followed>({ records: [], state: 'connecting' });
  useEffect(() => {
    const controller = new AbortController();
    followed.value = { records: [], state: 'connecting' };
    const add = (records: readonly TopicRecord[]): void => {
      if (!controller.signal.aborted) followed.value = { records: withNewer(followed.peek().records, records, most), state: 'live' };
    };
    const tell = (state: Followed['state'], error?: unknown): void => {
      if (!controller.signal.aborted) followed.value = { ...followed.peek(), state, error };
    };
    void keepFollowing(path, most, controller.signal, { add, tell, newest: () => followed.peek().records[0] });
    return () => controller.abort();
  }, [path, most, secret.value]);
  return followed;
}

type Into = {
  readonly add: (records: readonly TopicRecord[]) => void;
  readonly tell: (state: Followed['state'], error?: unknown) => void;
  readonly newest: () => TopicRecord | undefined;
};

async function keepFollowing(path: string, most: number, signal: AbortSignal, { add, tell, newest }: Into): Promise<void> {
  while (!signal.aborted) {
    try {
      const since = timeOf(newest());
      const query = { follow: 'true', ...(since === undefined ? { limit: String(most) } : { since }) };
      tell('live');
      for await (const values of follow({ method: 'GET', path, query }, signal)) add(values.filter(isRecord));
    } catch (error) {
      if (error instanceof Refusal && error.status >= 400 && error.status < 500) {
        tell('refused', error);
        return;
      }
    }
    tell('interrupted');
    await new Promise((done) => setTimeout(done, againMs));
  }
}
