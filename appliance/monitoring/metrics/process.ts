// Metrics of this process for Prometheus. Every process counts for itself; sums are made on request.
import { AggregatorRegistry, Counter, Gauge, Histogram, type Metric, Registry } from 'prom-client';
import { quotaKinds, type Quotas, type TenantTotal } from '../../../core/access/quotas.ts';
import type { Audit, AuditRecord } from '../../../core/audit/record.ts';
import type { Answered } from '../../../core/http/context/request-context.ts';
import { latencyBoundsMicros, type Hsm } from '../../../hsm/api.ts';
import type { Listener } from '../../../core/http/listener/listeners.ts';
import { connectionMetrics } from './connections.ts';
import { DurationCounts, histogramValues, metricOf, RequestCounts, secondsBounds } from './duration-counts.ts';

/** All series of one process as plain data, which workers send to each other. */
export type Snapshot = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/** How often the canary runs. */
const canarySeconds = 15;

export type ProcessMetrics = {
  readonly onAnswered: (answered: Answered) => void;
  /** Counts the connections of a listener. */
  follow(listener: string, connections: Listener['connections']): void;
  /** The same audit trail, with its pending records and write times measured. */
  measured(audit: Audit): Audit;
  snapshot(): Promise<Snapshot>;
  /** Ends the canary. */
  stop(): void;
};

/** Begins to measure. The canary is one random number, one encryption and one decryption in every token, timed from the caller's side. */
export function measureProcess(hsm: Hsm, quotas?: Pick<Quotas, 'totals'>): ProcessMetrics {
  const registry = new Registry();
  const registers = [registry];
  const requests = new RequestCounts();
  const auditWrites = new DurationCounts();
  for (const metric of [
    metricOf(
      'counter',
      'keystored_http_requests_total',
      'Requests answered by the management API and by EST; route is the path template',
      () => requests.totals(),
    ),
    metricOf('histogram', 'keystored_http_request_seconds', 'Time from the head of a request to its answer', (name) =>
      requests.durations(name),
    ),
    metricOf(
      'histogram',
      'keystored_audit_write_seconds',
      'Time until audit records that were written together were on disk: the lag of the trail behind its requests',
      (name) => histogramValues(name, {}, secondsBounds, auditWrites),
    ),
    ...tenantMetrics(quotas),
  ]) {
    registry.registerMetric(metric);
  }
  const connections = connectionMetrics();
  for (const metric of connections.metrics) registry.registerMetric(metric);
  const canary = new Histogram({
    name: 'keystored_hsm_canary_seconds',
    help: 'Time of the canary: one random number, one encryption and one decryption in every token',
    buckets: secondsBounds,
    registers,
  });
  const canaryFailures = new Counter({
    name: 'keystored_hsm_canary_failures_total',
    help: 'Canaries that a token did not answer',
    registers,
  });
  const auditWritable = new Gauge({
    name: 'keystored_audit_writable',
    help: '1 while every process can write the audit trail; otherwise changes and uses of keys are refused',
    aggregator: 'min',
    registers,
  });
  let auditWaiting = 0;
  let together: { readonly written: Promise<void>; records: number } | undefined;
  let trail: Audit | undefined;
  gaugesOf(registry, hsm, () => auditWaiting);

  const runCanary = async (): Promise<void> => {
    const end = canary.startTimer();
    try {
      await hsm.selfTest();
      end();
    } catch {
      canaryFailures.inc();
    }
  };
  void runCanary();
  const timer = setInterval(() => void runCanary(), canarySeconds * 1_000).unref();

  const follow = (written: Promise<void>): { readonly written: Promise<void>; records: number } => {
    const sinceMs = performance.now();
    const followed = { written, records: 0 };
    const settle = (isWritten: boolean): void => {
      auditWaiting -= followed.records;
      if (isWritten) auditWrites.add((performance.now() - sinceMs) / 1_000);
    };
    written.then(
      () => settle(true),
      () => settle(false),
    );
    return followed;
  };

  return {
    onAnswered: (answered) => requests.add(answered),
    follow: (listener, followed) => connections.follow(listener, followed),
    measured(audit) {
      trail = audit;
      return {
        get writable() {
          return audit.writable;
        },
        get problem() {
          return audit.problem;
        },
        get behind() {
          return audit.behind;
        },
        write(record: AuditRecord) {
          const written = audit.write(record);
          // Records that are written together share a promise, and are timed once.
          if (written !== together?.written) together = follow(written);
          together.records++;
          auditWaiting++;
          return written;
        },
      };
    },
    snapshot() {
      auditWritable.set(trail?.writable === false ? 0 : 1);
      return registry.getMetricsAsJSON();
    },
    stop: () => clearInterval(timer),
  };
}

/** The text for Prometheus (exposition format 0.0.4) of the snapshots of all processes: sums, unless a metric says otherwise. */
export async function formatMetrics(snapshots: readonly Snapshot[]): Promise<{ readonly mediaType: string; readonly text: string }> {
  const all = AggregatorRegistry.aggregate(snapshots as Snapshot[]);
  return { mediaType: all.contentType, text: await all.metrics() };
}

/** What tenants use. */
function tenantMetrics(quotas: Pick<Quotas, 'totals'> | undefined): readonly Metric[] {
  const totals = (): readonly TenantTotal[] => quotas?.totals() ?? [];
  return [
    metricOf(
      'counter',
      'keystored_tenant_requests_total',
      'Requests with a token of the tenant, or for its CAs over EST, that were served',
      () => totals().map(({ name: tenant, requests }) => ({ labels: { tenant }, value: requests })),
    ),
    metricOf('counter', 'keystored_tenant_token_seconds_total', 'Time that calls under keys of the tenant took the tokens', () =>
      totals().map(({ name: tenant, tokenMicros }) => ({ labels: { tenant }, value: tokenMicros / 1e6 })),
    ),
    metricOf('counter', 'keystored_tenant_refusals_total', 'Requests refused with quota-exceeded, by the quota that was used up', () =>
      totals().flatMap(({ name: tenant, refused }) => quotaKinds.map((quota) => ({ labels: { tenant, quota }, value: refused[quota] }))),
    ),
  ];
}

/** The histograms that the clients of the tokens keep, as a metric. */
function hsmDurations(hsm: Hsm): Metric {
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

/** Metrics that are read on request: from the HSM hosts and from this process. */
function gaugesOf(registry: Registry, hsm: Hsm, auditWaiting: () => number): void {
  registry.registerMetric(
    new Gauge({
      name: 'keystored_hsm_token_up',
      help: '1 when the token works in every process; keystored_hsm_token_state has its state otherwise',
      labelNames: ['token'],
      aggregator: 'min',
      registers: [],
      collect() {
        for (const { name, state } of hsm.status()) this.set({ token: name }, state === 'up' ? 1 : 0);
      },
    }),
  );
  registry.registerMetric(
    new Gauge({
      name: 'keystored_hsm_token_state',
      help: 'Number of processes in which the token is in this state',
      labelNames: ['token', 'state'],
      registers: [],
      collect() {
        for (const { name, state } of hsm.status()) {
          for (const one of ['up', 'damaged', 'down', 'pin-refused']) this.set({ token: name, state: one }, one === state ? 1 : 0);
        }
      },
    }),
  );
  registry.registerMetric(
    new Gauge({
      name: 'keystored_hsm_loaded_keys',
      help: 'Keys loaded in the token, over all processes',
      labelNames: ['token'],
      registers: [],
      collect() {
        for (const { name, loadedKeys } of hsm.status()) this.set({ token: name }, loadedKeys);
      },
    }),
  );
  registry.registerMetric(
    new Gauge({
      name: 'keystored_hsm_sessions',
      help: 'Sessions that the token processes may have open, at work or idle, over all processes',
      labelNames: ['token', 'state'],
      registers: [],
      collect() {
        for (const { name, sessions } of hsm.status()) {
          this.set({ token: name, state: 'busy' }, sessions.busy);
          this.set({ token: name, state: 'idle' }, sessions.size - sessions.busy);
        }
      },
    }),
  );
  registry.registerMetric(
    new Gauge({
      name: 'keystored_hsm_waiting_calls',
      help: 'Calls to the token that wait for a session, over all processes',
      labelNames: ['token'],
      registers: [],
      collect() {
        for (const { name, sessions } of hsm.status()) this.set({ token: name }, sessions.waiting);
      },
    }),
  );
  registry.registerMetric(
    new Counter({
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
    }),
  );
  registry.registerMetric(hsmDurations(hsm));
  registry.registerMetric(
    new Counter({
      name: 'process_cpu_seconds_total',
      help: 'Processor time of the workers, without the processes of their tokens',
      registers: [],
      collect() {
        const { user, system } = process.cpuUsage();
        this.reset();
        this.inc((user + system) / 1e6);
      },
    }),
  );
  const own: readonly [name: string, help: string, value: () => number][] = [
    ['keystored_workers', 'Processes that answered', () => 1],
    ['keystored_audit_waiting_records', 'Audit records that are not on the disk yet', auditWaiting],
    ['process_resident_memory_bytes', 'Memory of the workers, without the processes of their tokens', () => process.memoryUsage.rss()],
  ];
  for (const [name, help, value] of own) {
    registry.registerMetric(
      new Gauge({
        name,
        help,
        registers: [],
        collect() {
          this.set(value());
        },
      }),
    );
  }
}
