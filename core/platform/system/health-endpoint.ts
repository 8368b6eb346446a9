// GET and HEAD /v1/state/system/health, for load balancers and people: no token, no audit record.
import { z } from 'zod';
import { Wire, formatOutput } from '../../wire/schema.ts';
import { Reply, definePublicEndpoint, type AnyEndpoint } from '../../http/endpoint.ts';
import { tags } from '../../http/tags.ts';

/** `report` is answered as JSON in wire form, with 503 when not healthy. */
export type Health = { readonly healthy: boolean; readonly report: Readonly<Record<string, unknown>> };

const healthReport = z.looseObject({
  status: z
    .enum(['ok', 'degraded', 'down'])
    .describe('degraded: requests are served, and a person should act; down: some requests cannot be served.'),
});

/** `GET /v1/state/system/health`. */
export function healthEndpoint(health: () => Health | Promise<Health>): AnyEndpoint {
  return definePublicEndpoint<undefined, Reply>({
    method: 'GET',
    path: '/v1/state/system/health',
    summary: 'Show the health of the appliance',
    description: 'The answer has the same form in both cases; the status is 503 while something is not well.',
    tag: tags.system,
    access: 'public',
    audit: 'none',
    named: 'Health',
    documented: { output: healthReport, otherStatuses: { 503: 'Something is not well' } },
    produces: 'application/json',
    whileSealed: true,
    async run() {
      const { healthy, report } = await health();
      return new Reply(healthy ? 200 : 503, new Wire(formatOutput(report)), healthy ? {} : { 'retry-after': '5' });
    },
  });
}
