// GET /v1/state/system/activity: requests, signatures, encryptions and refusals a second over the last hour; for the system tenant.
import { defineEndpoint, type AnyEndpoint } from '../../../core/http/endpoint.ts';
import { tags } from '../../../core/http/tags.ts';
import { activity, type Activity } from './activity.ts';

/** The part of SystemParts that is needed. */
export type ActivityParts = { activity(): Promise<Activity> };

/** Refused with 404 for every tenant but `system`. */
export function activityEndpoint(system: ActivityParts): AnyEndpoint {
  return defineEndpoint({
    method: 'GET',
    path: '/v1/state/system/activity',
    access: 'token',
    operation: 'read',
    tag: tags.system,
    summary: 'What the appliance did in the last hour',
    named: 'Activity',
    description:
      'Points of half a minute over all worker processes, kept while the daemon runs. For more than an hour, or several appliances, Prometheus reads the metrics.',
    audit: 'reads-go-on',
    errors: ['not-found'],
    output: activity,
    reservedFor: 'system-tenant',
    run: () => system.activity(),
  });
}
