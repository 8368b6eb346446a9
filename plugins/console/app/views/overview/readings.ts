// Readings of the metrics while the console is open: the API says where the counters stand, and what lies between two readings is drawn.
import { signal, type ReadonlySignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { readMetrics, type Reading } from '../../api/metrics.ts';
import { send } from '../../api/request.ts';
import { presence } from '../../parts/presence.ts';

export const metricsPath = '/v1/state/system/metrics';

/** Between two readings. */
export const everySeconds = 10;
/** Readings that are kept: a quarter of an hour. */
export const mostReadings = 91;
/** The second reading comes sooner, because the first one alone draws nothing. */
const secondAfterMs = 2_000;

const kept = signal<readonly Reading[]>([]);
const failure = signal<unknown>(undefined);

/** The oldest first. They stay while the tab is open, so that coming back to the page finds them. */
export const readings: ReadonlySignal<readonly Reading[]> = kept;
export const readingsFailure: ReadonlySignal<unknown> = failure;

/** Reads as long as the page is shown and somebody is there. */
export function useReadings(isAllowed: boolean): void {
  const isWanted = isAllowed && presence.value;
  useEffect(() => {
    if (!isWanted) return undefined;
    const controller = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const read = async (): Promise<void> => {
      try {
        const { body } = await send({ method: 'GET', path: metricsPath, headers: { accept: 'text/plain' } }, controller.signal);
        kept.value = [...kept.value, { atMs: Date.now(), samples: readMetrics(String(body)) }].slice(-mostReadings);
        failure.value = undefined;
      } catch (error) {
        if (!controller.signal.aborted) failure.value = error;
      }
      if (!controller.signal.aborted) timer = setTimeout(() => void read(), kept.value.length === 1 ? secondAfterMs : everySeconds * 1_000);
    };
    void read();
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, [isWanted]);
}
