// The metrics of the appliance on the overview, as they were read last.
import { useMemo } from 'preact/hooks';
import { readMetrics, type Reading } from '../../api/metrics.ts';
import { useLoaded, useSteady } from '../../parts/loaded.ts';

/** Metrics that the overview draws; all of them are more than the rest of the page. */
const drawn = [
  'keystored_workers',
  'process_resident_memory_bytes',
  'keystored_hsm_token_up',
  'keystored_hsm_sessions',
  'keystored_hsm_waiting_calls',
  'keystored_disk_free_bytes',
  'keystored_disk_size_bytes',
  'keystored_store_bytes',
  'keystored_clock_seconds',
  'keystored_clock_plausible',
  'keystored_certificate_not_after_seconds',
].join(',');

export const metricsPath = '/v1/state/system/metrics';

export type Metrics = { readonly newest?: Reading; readonly error?: unknown };

/** Reads the metrics, if that is allowed. */
export function useMetrics(isAllowed: boolean, turn: number): Metrics {
  const request = { method: 'GET', path: metricsPath, query: { names: drawn }, headers: { accept: 'text/plain' } };
  const loaded = useSteady(useLoaded(isAllowed ? request : undefined, turn).value);
  const answer = loaded.state === 'there' ? loaded.answer : undefined;
  return useMemo(() => {
    if (loaded.state === 'failed') return { error: loaded.error };
    return answer === undefined ? {} : { newest: { atMs: Date.now(), samples: readMetrics(String(answer.body)) } };
  }, [answer, loaded.state]);
}
