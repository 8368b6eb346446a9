// Metrics of this process for Prometheus. Every process counts for itself; sums are made on request.
import { AggregatorRegistry, Counter, Gauge, Histogram, type Metric, Registry } from 'prom-client';
import { quotaKinds, type Quotas, type TenantTotal } from '../../../core/access/quotas.ts';
import { type Audit, type AuditRecord, writingBy } from '../../../core/audit/record.ts';
import type { Answered } from '../../../core/http/context/request-context.ts';
import type { Hsm } from '../../../hsm/api.ts';
import type { Listener } from '../../../core/http/listener/listeners.ts';
import { connectionMetrics } from './connections.ts';
import { tokenMetrics } from './tokens.ts';
import { DurationCounts, histogramValues, metricOf, RequestCounts, secondsBounds } from './duration-counts.ts';

/** All series of one process as plain data, which workers send to each other. */
export type Snapshot = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/** Interval of the canary. */
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
  const requests = new RequestCounts();
  const connections = connectionMetrics();
  const trail = new MeasuredTrail(registry);
  for (const metric of [...requestMetrics(requests), ...trail.metrics, ...tenantMetrics(quotas), ...connections.metrics])
    registry.registerMetric(metric);
  for (const metric of [...tokenMetrics(hsm), ...ownMetrics()]) registry.registerMetric(metric);
  const stop = runCanary(hsm, registry);
  return {
    onAnswered: (answered) => requests.add(answered),
    follow: (listener, followed) => connections.follow(listener, followed),
    measured: (audit) => trail.measured(audit),
    async snapshot() {
      trail.look();
      return (await registry.getMetricsAsJSON()).map(inExactSteps);
    },
    stop,
  };
}

/** A million steps a second: the sum of such values is exact in any order, up to 272 years. */
const stepsOfOne = 2 ** 20;

/**
 * Rounds counts to steps. Otherwise a sum of seconds would depend on the order of the processes, and Prometheus takes one that falls by the
 * last bit for a restart.
 */
function inExactSteps(metric: Snapshot[number]): Snapshot[number] {
  if (String(metric.type) === 'gauge') return metric;
  const values = metric.values.map((series) => ({ ...series, value: Math.round(series.value * stepsOfOne) / stepsOfOne }));
  return { ...metric, values };
}

/** Returns a function that ends it. */
function runCanary(hsm: Hsm, registry: Registry): () => void {
  const canary = new Histogram({
    name: 'keystored_hsm_canary_seconds',
    help: 'Time of the canary: one random number, one encryption and one decryption in every token',
    buckets: secondsBounds,
    registers: [registry],
  });
  const failures = new Counter({
    name: 'keystored_hsm_canary_failures_total',
    help: 'Canaries that a token did not answer',
    registers: [registry],
  });
  const run = async (): Promise<void> => {
    const end = canary.startTimer();
    try {
      await hsm.selfTest();
      end();
    } catch {
      failures.inc();
    }
  };
  void run();
  const timer = setInterval(() => void run(), canarySeconds * 1_000).unref();
  return () => clearInterval(timer);
}

function requestMetrics(requests: RequestCounts): readonly Metric[] {
  return [
    metricOf(
      'counter',
      'keystored_http_requests_total',
      'Requests answered by the management API and by EST; route is the path template',
      () => requests.totals(),
    ),
    metricOf('histogram', 'keystored_http_request_seconds', 'Time from the head of a request to its answer', (name) =>
      requests.durations(name),
    ),
  ];
}

/** The audit trail as this process writes it. */
class MeasuredTrail {
  readonly #writable: Gauge;
  readonly #writes = new DurationCounts();
  #waiting = 0;
  #together: { readonly written: Promise<void>; records: number } | undefined;
  #trail: Audit | undefined;

  constructor(registry: Registry) {
    this.#writable = new Gauge({
      name: 'keystored_audit_writable',
      help: '1 while every process can write the audit trail; otherwise changes and uses of keys are refused',
      aggregator: 'min',
      registers: [registry],
    });
  }

  readonly metrics: readonly Metric[] = [
    metricOf(
      'histogram',
      'keystored_audit_write_seconds',
      'Time until audit records that were written together were on disk: the lag of the trail behind its requests',
      (name) => histogramValues(name, {}, secondsBounds, this.#writes),
    ),
    gaugeOf('keystored_audit_waiting_records', 'Audit records that are not on the disk yet', () => this.#waiting),
  ];

  look(): void {
    this.#writable.set(this.#trail?.writable === false ? 0 : 1);
  }

  measured(audit: Audit): Audit {
    this.#trail = audit;
    return writingBy(audit, (record) => this.#write(audit, record));
  }

  /** Records that are written together share a promise, and are timed once. */
  #write(audit: Audit, record: AuditRecord): Promise<void> {
    const written = audit.write(record);
    const together = written === this.#together?.written ? this.#together : this.#follow(written);
    this.#together = together;
    together.records++;
    this.#waiting++;
    return written;
  }

  #follow(written: Promise<void>): { readonly written: Promise<void>; records: number } {
    const sinceMs = performance.now();
    const followed = { written, records: 0 };
    const settle = (isWritten: boolean): void => {
      this.#waiting -= followed.records;
      if (isWritten) this.#writes.add((performance.now() - sinceMs) / 1_000);
    };
    written.then(
      () => settle(true),
      () => settle(false),
    );
    return followed;
  }
}

/** Resources of the machine that this process uses. */
function ownMetrics(): readonly Metric[] {
  return [
    gaugeOf('keystored_workers', 'Processes that answered', () => 1),
    gaugeOf('process_resident_memory_bytes', 'Memory of the workers, without the processes of their tokens', () =>
      process.memoryUsage.rss(),
    ),
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
  ];
}

/** A gauge that is read on request. */
function gaugeOf(name: string, help: string, value: () => number): Metric {
  return new Gauge({
    name,
    help,
    registers: [],
    collect() {
      this.set(value());
    },
  });
}

/** The text for Prometheus (exposition format 0.0.4) of the snapshots of all processes: sums, unless a metric says otherwise. */
export async function formatMetrics(snapshots: readonly Snapshot[]): Promise<{ readonly mediaType: string; readonly text: string }> {
  const all = AggregatorRegistry.aggregate(snapshots as Snapshot[]);
  return { mediaType: all.contentType, text: await all.metrics() };
}

/** Use by tenants. */
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
