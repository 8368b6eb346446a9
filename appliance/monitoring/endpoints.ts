// Endpoints for monitoring the appliance: metrics for Prometheus, and its activity in the last hour; for the system tenant.
import { defineEndpoint, type AnyEndpoint, Reply } from '../../core/http/endpoint.ts';
import { tags } from '../../core/http/tags.ts';
import { activity, type Activity } from './metrics/activity.ts';
import { formatMetrics, type Snapshot } from './metrics/process.ts';

export type MonitoringParts = {
  /** snapshots of every process that serves, this one included */
  snapshots(): Promise<readonly Snapshot[]>;
  activity(): Promise<Activity>;
};

const shared = {
  tag: tags.system,
  access: 'token',
  method: 'GET',
  operation: 'read',
  audit: 'reads-go-on',
  errors: ['not-found'],
  reservedFor: 'system-tenant',
} as const;

/** Refused with 404 for every tenant but `system`. `measureState`: gauges that are the same in every process. */
export function monitoringEndpoints(parts: MonitoringParts, measureState: () => Promise<Snapshot>): AnyEndpoint[] {
  return [
    defineEndpoint({
      ...shared,
      path: '/v1/state/system/metrics',
      summary: 'Metrics for Prometheus',
      description:
        'Text format 0.0.4. Counters are sums over all worker processes since the start; gauges are of those that answer within two seconds.',
      produces: 'text/plain',
      query: { names: 'Answer with these metrics alone: names separated by commas.' },
      async run({ query }) {
        const [own, others] = await Promise.all([measureState(), parts.snapshots()]);
        const { mediaType, text } = await formatMetrics(chosen([own, ...others], query.get('names')));
        return new Reply(200, text, { 'content-type': mediaType });
      },
    }),
    defineEndpoint({
      ...shared,
      path: '/v1/state/system/activity',
      summary: 'What the appliance did in the last hour',
      named: 'Activity',
      description:
        'Points of half a minute over all worker processes, kept while the daemon runs. For more than an hour, or several appliances, Prometheus reads the metrics.',
      output: activity,
      run: () => parts.activity(),
    }),
  ];
}

function chosen(snapshots: readonly Snapshot[], names: string | undefined): readonly Snapshot[] {
  if (names === undefined) return snapshots;
  const wanted = new Set(names.split(','));
  return snapshots.map((snapshot) => snapshot.filter(({ name }) => wanted.has(name)));
}
