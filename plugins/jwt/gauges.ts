// Gauges of the metrics: how old the keys of each issuer are, and how many tokens may not log in again.
import { decodeTimestamp } from '../../core/base/time.ts';
import type { Gauge } from '../../core/plugin/plugin.ts';
import type { Jwt } from './context.ts';

export function gaugesOf(jwt: Jwt): readonly Gauge[] {
  return [
    {
      name: 'keystored_jwt_key_age_seconds',
      help: 'Seconds since the keys of a JWT issuer were fetched; keys of a day and more are not used. No sample: never fetched, or stated in the settings.',
      labels: ['tenant', 'issuer'],
      measure(tenants) {
        const nowMs = jwt.clock.now().epochMilliseconds;
        return Array.from(jwt.keys.entries([])).flatMap(([[tenantId, issuer], { fetchedTime }]) => {
          const fetched = fetchedTime === undefined ? undefined : decodeTimestamp(fetchedTime);
          if (fetched === undefined) return [];
          const labels = { tenant: tenants.get(String(tenantId)) ?? String(tenantId), issuer: String(issuer) };
          return [{ labels, value: Math.max(0, Math.round((nowMs - fetched.epochMilliseconds) / 1_000)) }];
        });
      },
    },
    {
      name: 'keystored_jwt_used_tokens',
      help: 'Tokens of workloads that have logged in and may not again, until they are expired.',
      labels: [],
      measure: () => [{ labels: {}, value: jwt.used.count([]) }],
    },
  ];
}
