// Composes core, HSM, store and plugins. Workers serve the result, and tests start from it.
import { openTenants } from '../../core/access/tenants.ts';
import { FailedLogins } from '../../core/platform/sessions/failed-logins.ts';
import { writingBy } from '../../core/audit/record.ts';
import { limitUnauthenticated, type UnauthenticatedLimits } from '../../core/audit/unauthenticated-limit.ts';
import type { CheckFinding, HealthPart, Job } from '../../core/base/context.ts';
import { type App, type AppOptions, createApp } from '../../core/platform/app.ts';
import { withTenants } from '../../core/platform/tenants/audit-tenants.ts';
import { tenantExists } from '../../core/platform/tenants/dead-tenants.ts';
import { type RunningPlugins, startPlugins } from '../../core/plugin/lifecycle.ts';
import type { AnyPlugin } from '../../core/plugin/plugin.ts';
import { requestErrors } from '../../core/plugin/services/request-errors.ts';
import type { ProvidedService } from '../../core/plugin/service.ts';
import type { KeyReference } from '../../hsm/api.ts';
import { formatHealth } from '../monitoring/health.ts';
import { mergeHealth, type WorkerReport } from '../monitoring/health-of-workers.ts';
import type { ProcessMetrics } from '../monitoring/metrics/process.ts';
import { type OwnParts, ownPlugins, type SystemParts } from './own-plugins.ts';

export type Parts = Omit<OwnParts, 'running' | 'failedLogins'> &
  Pick<AppOptions, 'topics' | 'sealed' | 'bodyRoom' | 'replica' | 'admit'> & {
    /** beside those of the appliance itself */
    readonly plugins: readonly AnyPlugin[];
    /** limit of written records of unauthenticated requests; the default is for everything but tests */
    readonly unauthenticatedLimit?: UnauthenticatedLimits;
    /** the validated configuration section of a plugin */
    configurationOf(plugin: string): unknown;
    /** services of the composition root for plugins, beside those of the appliance itself */
    readonly services?: readonly ProvidedService[];
    /** absent in tools that open tokens and store without serving */
    readonly system?: Omit<SystemParts, 'health'> & {
      readonly metrics: Pick<ProcessMetrics, 'onAnswered'>;
      /** reports of every worker about the parts of the appliance */
      workerReports(): Promise<readonly WorkerReport[]>;
    };
  };

export type Composed = {
  readonly app: App;
  /** Those that depend on the time wait while the clock is implausible. */
  readonly jobs: readonly Job[];
  /** the parts of the appliance: as this process sees them, and as all workers do */
  readonly health: { readonly own: () => readonly HealthPart[]; readonly ofAll: () => Promise<readonly HealthPart[]> };
  check(): Promise<readonly CheckFinding[]>;
  /** Every stored key of the plugins. */
  keys(): Iterable<KeyReference>;
  /** Before a seal, when requests have ended: stores data that is only in memory. */
  settle(): Promise<void>;
  /** Stops the plugins, last started first. The caller closes store, HSM and audit trail. */
  stop(): Promise<void>;
};

/** Starts the plugins and makes the request handler. Throws StartError; nothing stays started then. */
export async function compose(parts: Parts): Promise<Composed> {
  const { store, clock, system } = parts;
  const failedLogins = new FailedLogins(store, clock);
  const limited = limitUnauthenticated(parts.audit, clock, parts.unauthenticatedLimit);
  const counting = writingBy(limited, (record) => {
    failedLogins.note(record);
    return limited.write(record);
  });
  const audit = Object.assign(counting, { settle: () => limited.settle() });
  store.guardTenants(tenantExists(store));
  const own = ownPlugins({ ...parts, audit, failedLogins, running: () => running }, system && { ...system, health: () => health.ofAll() });
  const running: RunningPlugins = await startPlugins([...own, ...parts.plugins], {
    ...parts,
    audit: withTenants(audit, openTenants(store)),
    invoke: (invocation) => app.invoke(invocation),
  });
  const health: Composed['health'] = {
    own: () => running.health(),
    // Without an answer of the supervisor, the view of this process is better than nothing.
    ofAll: async () => {
      const reports = await system?.workerReports().catch(() => undefined);
      return reports === undefined ? running.health() : mergeHealth(reports, () => running.health());
    },
  };
  const app = createApp({
    ...parts,
    ...running,
    // That of requests for certificates, which joining appliances send, with or without plugin ca.
    errors: [...running.errors, requestErrors],
    audit,
    health: async () => formatHealth(await health.ofAll()),
    ...(system === undefined ? {} : { onAnswered: system.metrics.onAnswered }),
  });
  const ended = async (end: () => Promise<void>): Promise<void> => {
    await end();
    await audit.settle().catch(() => undefined);
  };
  return {
    health,
    app,
    jobs: running.jobs.map((job) => (system === undefined || job.whileClockInDoubt === true ? job : system.clockWatch.held(job))),
    check: () => running.check(),
    keys: () => running.keys(),
    settle: () => ended(() => running.settle()),
    stop: () => ended(() => running.stop()),
  };
}
