// Plugin of the platform: the service `sessions`, the cleanup jobs, and the check of its records.
import { z } from 'zod';
import { approvalExpiryJob } from '../approvals/ending.ts';
import type { FailedLogins } from './sessions/failed-logins.ts';
import { loginSweepJob } from '../access/approles/secret-ids.ts';
import { handOverSweepJob } from '../access/hand-overs.ts';
import { approleGrantsJob } from './approles/approle-grants.ts';
import { tokenExpiryJob } from '../access/tokens/expiry.ts';
import { releaseJobsOf } from '../plugin/job-holder.ts';
import type { RunningPlugins } from '../plugin/lifecycle.ts';
import { type AnyPlugin, definePlugin, type PluginContext } from '../plugin/plugin.ts';
import { provide } from '../plugin/service.ts';
import { sessionsService } from '../plugin/services/sessions.ts';
import type { OpenStore } from '../store/open.ts';
import { createSessions } from './sessions/sessions-service.ts';
import { approvalGauges } from './approvals/gauges.ts';
import { approvalNotices } from './approvals/notices.ts';
import { openingNotices } from './open-as/endpoints.ts';
import { auditTopicPath } from './system/topic-endpoints.ts';
import { deadTenantJob, findDeadTenants } from './tenants/dead-tenants.ts';

export type PlatformParts = Pick<PluginContext<unknown>, 'hsm' | 'clock' | 'log'> & {
  /** without a prefix */
  readonly store: OpenStore;
  /** absent in tools that open the store without serving */
  readonly failedLogins?: FailedLogins | undefined;
  /** all plugins, once they have started */
  readonly running: () => Pick<RunningPlugins, 'dropTenant'>;
};

export function platformPlugin({ store, hsm, clock, log, running, failedLogins }: PlatformParts): AnyPlugin {
  return definePlugin({
    name: 'platform',
    contract: 1,
    config: z.unknown(),
    provides: [sessionsService],
    provision: ({ audit }) => ({
      services: [provide(sessionsService, createSessions({ store, hsm, clock }))],
      jobs: [
        tokenExpiryJob(store, clock),
        approleGrantsJob(store),
        loginSweepJob(store, clock),
        handOverSweepJob(store, clock),
        approvalExpiryJob(store, clock, audit),
        ...(failedLogins === undefined ? [] : [failedLogins.job]),
        deadTenantJob(store, { dropTenant: (tenantId) => running().dropTenant(tenantId) }, log),
      ],
      gauges: approvalGauges(store, clock),
      notices: ({ tenantId }, caller) => [
        ...approvalNotices(store, clock, tenantId, caller),
        ...openingNotices(store, tenantId, clock.now()),
        ...(failedLogins?.notices(tenantId, auditTopicPath) ?? []),
      ],
      dropAppliance: (transaction, appliance) => releaseJobsOf(transaction, store, appliance),
      check: () => [...store.check(), ...findDeadTenants(store)],
    }),
  });
}
