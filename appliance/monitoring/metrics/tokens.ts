// Metrics of the tokens, read on request from the state of their clients in this process.
import { Counter, Gauge, type Metric } from 'prom-client';
import { type Hsm, latencyBoundsMicros, type TokenStatus } from '../../../hsm/api.ts';
import { histogramValues, metricOf } from './duration-counts.ts';

const states: readonly TokenStatus['state'][] = ['up', 'damaged', 'down', 'pin-refused'];

export function tokenMetrics(hsm: Hsm): readonly Metric[] {
  /** `labels`: beside the name of the token; `samples`: their values and the number. */
  const ofTokens = (
    name: string,
    help: string,
    labels: readonly string[],
    samples: (token: TokenStatus) => readonly (readonly [Readonly<Record<string, string>>, number])[],
    aggregator: 'sum' | 'min' = 'sum',
  ): Metric =>
    new Gauge({
      ...{ name, help, labelNames: ['token', ...labels], aggregator, registers: [] },
      collect() {
        for (const token of hsm.status()) for (const [own, value] of samples(token)) this.set({ token: token.name, ...own }, value);
      },
    });
  return [
    ofTokens(
      'keystored_hsm_token_up',
      '1 when the token works in every process; keystored_hsm_token_state has its state otherwise',
      [],
      ({ state }) => [[{}, state === 'up' ? 1 : 0]],
      'min',
    ),
    ofTokens('keystored_hsm_token_state', 'Number of processes in which the token is in this state', ['state'], ({ state }) =>
      states.map((one) => [{ state: one }, one === state ? 1 : 0]),
    ),
    ofTokens('keystored_hsm_loaded_keys', 'Keys loaded in the token, over all processes', [], ({ loadedKeys }) => [[{}, loadedKeys]]),
    ofTokens(
      'keystored_hsm_sessions',
      'Sessions that the token processes may have open, at work or idle, over all processes',
      ['state'],
      ({ sessions }) => [
        [{ state: 'busy' }, sessions.busy],
        [{ state: 'idle' }, sessions.size - sessions.busy],
      ],
    ),
    ofTokens('keystored_hsm_waiting_calls', 'Calls to the token that wait for a session, over all processes', [], ({ sessions }) => [
      [{}, sessions.waiting],
    ]),
    callCounts(hsm),
    callDurations(hsm),
  ];
}

function callCounts(hsm: Hsm): Metric {
  return new Counter({
    name: 'keystored_hsm_operations_total',
    help: 'Calls to the token by operation',
    labelNames: ['token', 'operation'],
    registers: [],
    collect() {
      this.reset();
      for (const { name, latencies } of hsm.status()) {
        for (const [operation, { count }] of Object.entries(latencies)) this.inc({ token: name, operation }, count);
      }
    },
  });
}

/** The histograms that the clients of the tokens keep, as a metric. */
function callDurations(hsm: Hsm): Metric {
  const bounds = latencyBoundsMicros.map((micros) => micros / 1e6);
  return metricOf('histogram', 'keystored_hsm_operation_seconds', 'Time the token took for a call, without waiting for a session', (name) =>
    hsm
      .status()
      .flatMap(({ name: token, latencies }) =>
        Object.entries(latencies).flatMap(([operation, { count, sumMicros, perBound }]) =>
          histogramValues(name, { token, operation }, bounds, { count, sumSeconds: sumMicros / 1e6, perBound }),
        ),
      ),
  );
}
