// Readings of the metrics while the console is open: the API says where the counters are, and what is between two readings is drawn.
import { effect, signal, type ReadonlySignal } from '@preact/signals';
import { readMetrics, type Reading } from '../../api/metrics.ts';
import { send } from '../../api/request.ts';
import { secret, standing } from '../../api/session.ts';
import { presence } from '../../parts/presence.ts';

export const metricsPath = '/v1/state/system/metrics';

/** Between two readings. */
export const everySeconds = 10;
/** Readings that are kept: a quarter of an hour. */
export const mostReadings = 91;
/** The second reading comes sooner, because the first one alone draws nothing. */
const secondAfterMs = 2_000;
/** What is older than a pause of this length is not of the same graph. */
const longestPauseMs = 60_000;

const kept = signal<readonly Reading[]>([]);
const failure = signal<unknown>(undefined);
/** The session in which they are read. */
const session = signal<string | undefined>(undefined);

/** The oldest first. */
export const readings: ReadonlySignal<readonly Reading[]> = kept;
export const readingsFailure: ReadonlySignal<unknown> = failure;

/** From now on the metrics are read in this session, on whatever page, as long as somebody is there. */
export function keepReading(): void {
  session.value = secret.peek();
}

effect(() => {
  if (session.value === undefined || session.value !== secret.value) {
    // They were read in the name of somebody else.
    kept.value = [];
    return undefined;
  }
  return presence.value && standing.value === 'signed-in' ? readAgainAndAgain() : undefined;
});

/** Answers how to end it. */
function readAgainAndAgain(): () => void {
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const read = async (): Promise<void> => {
    try {
      const { body } = await send({ method: 'GET', path: metricsPath, headers: { accept: 'text/plain' } }, controller.signal);
      note({ atMs: Date.now(), samples: readMetrics(String(body)) });
      failure.value = undefined;
    } catch (error) {
      if (!controller.signal.aborted) failure.value = error;
    }
    if (!controller.signal.aborted) timer = setTimeout(() => void read(), kept.peek().length === 1 ? secondAfterMs : everySeconds * 1_000);
  };
  void read();
  return () => {
    controller.abort();
    clearTimeout(timer);
  };
}

function note(reading: Reading): void {
  const before = kept.peek();
  const last = before.at(-1);
  const isOneGraph = last !== undefined && reading.atMs - last.atMs <= longestPauseMs;
  kept.value = isOneGraph ? [...before, reading].slice(-mostReadings) : [reading];
}
