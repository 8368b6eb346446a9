// The composed appliance in the test's own process: real token, store, audit trail and TLS on a free port; the clock is the test's.
import { fail } from '../../core/base/errors.ts';
import { join } from 'node:path';
import { defined } from '../../core/base/defined.ts';
import type { UnauthenticatedLimits } from '../../core/audit/unauthenticated-limit.ts';
import { openAuditTrail } from '../../core/audit/trail.ts';
import type { BackupConfig } from '../../core/config/backup.ts';
import type { NoticesConfig } from '../../core/config/notices.ts';
import type { CheckFinding, Log } from '../../core/base/context.ts';
import { listenHttps } from '../../core/http/listener/listeners.ts';
import type { AnyPlugin } from '../../core/plugin/plugin.ts';
import { provide, type ProvidedService } from '../../core/plugin/service.ts';
import { type Listeners, listenersService } from '../../core/plugin/services/listeners.ts';
import { revealSecret } from '../../core/base/secret.ts';
import { openStore, type OpenStore } from '../../core/store/open.ts';
import { Quotas } from '../../core/access/quotas.ts';
import { createSystemTenant } from '../../core/access/system-tenant.ts';
import { Drills, recordDrill } from '../../appliance/backup/drills/drills.ts';
import { Backups } from '../../appliance/backup/run/backups.ts';
import { watchClock } from '../../appliance/machine/clock-watch.ts';
import { compose, type Composed } from '../../appliance/composition/compose.ts';
import { keepActivity } from '../../appliance/monitoring/metrics/activity.ts';
import { measureProcess } from '../../appliance/monitoring/metrics/process.ts';
import type { ClusterWay } from '../../appliance/cluster/cluster-way.ts';
import { beginExportHistory } from '../../appliance/attestation/export-history.ts';
import { pinOrigin } from '../../appliance/custodians/pin-origin.ts';
import { provideStoreKey } from '../../appliance/data-directory/store-key.ts';
import { Membership } from '../../appliance/cluster/membership/membership.ts';
import { tableKinds } from '../../appliance/table-kinds.ts';
import { plugins as everyPlugin } from '../../appliance/plugins.ts';
import type { Hsm, TokenConfig } from '../../hsm/api.ts';
import { openHsm } from '../../hsm/client/open.ts';
import { TestClock } from './clock.ts';
import { type Answer, ask, type Asking, keepConnections } from './client.ts';
import { makeSoftToken, testHsmConfig } from './token/softhsm.ts';
import { selfSignedIdentity } from './tls.ts';

export type { Answer } from './client.ts';

export type RequestOptions = Pick<Asking, 'token' | 'headers' | 'from'>;

export type TestAppliance = {
  readonly url: string;
  readonly hsm: Hsm;
  readonly store: OpenStore;
  readonly clock: TestClock;
  readonly app: Composed['app'];
  readonly jobs: Composed['jobs'];
  readonly rootToken: string;
  readonly directory: string;
  readonly logged: readonly { level: string; message: string; fields: unknown }[];
  /**
   * Sends a request with a JSON body: an object, or a string or octets that are sent as they are. The root token is sent unless `token`
   * is given. Connections are kept between requests.
   */
  request(method: string, path: string, body?: unknown, options?: RequestOptions): Promise<Answer>;
  check(): Promise<readonly CheckFinding[]>;
  close(): Promise<void>;
};

export type TestApplianceOptions = {
  readonly directory: string;
  readonly clock?: TestClock;
  readonly plugins?: readonly AnyPlugin[];
  /** default: one fresh SoftHSM2 token */
  readonly tokens?: readonly TokenConfig[];
  /** as `hsm/check-answers` */
  readonly checkAnswers?: boolean;
  readonly configuration?: Readonly<Record<string, unknown>>;
  /** of an earlier start in the same directory by this process */
  readonly rootToken?: string;
  readonly services?: readonly ProvidedService[];
  readonly backup?: BackupConfig;
  readonly notices?: NoticesConfig;
  /** directory of what GET /v1/keystorectl hands out; default: that of a source tree, which has none */
  readonly downloads?: string;
  /** default: every record is written, unauthenticated ones too */
  readonly unauthenticatedLimit?: UnauthenticatedLimits;
  /** the others of a cluster, as far as the API shows them; the store stays that of this appliance */
  readonly cluster?: ClusterWay;
};

/** Starts it; close it in afterAll. Every plugin's invariants are checked by `check()`: expect them to be empty after each test. */
export async function startTestAppliance(options: TestApplianceOptions): Promise<TestAppliance> {
  const { directory, clock = new TestClock(), unauthenticatedLimit = { burst: Infinity } } = options;
  const tokens = options.tokens ?? [await makeSoftToken(directory)];
  const logged: { level: string; message: string; fields: unknown }[] = [];
  const log = memoryLog(logged);
  const hsm = await openHsm({ ...testHsmConfig(...tokens), checkAnswers: options.checkAnswers });
  const storeDirectory = join(directory, 'store');
  const store = await openStore({ directory: storeDirectory, dataKey: await provideStoreKey(hsm, directory, storeDirectory) });
  await store.migrate('core', []);
  const audit = await openAuditTrail({
    directory: join(directory, 'audit'),
    chain: 'test',
    clock,
    log,
    storeRevision: () => store.committed,
  });
  const system = await createSystemTenant(store, hsm, clock);
  await beginExportHistory(store, clock, false);
  const rootToken = system === undefined ? (options.rootToken ?? '') : revealSecret(system.rootToken.token);
  const plugins = options.plugins ?? everyPlugin;
  const configurationOf = (name: string): unknown =>
    plugins.find((plugin) => plugin.name === name)?.config.parse(options.configuration?.[name] ?? {});
  const identity = selfSignedIdentity(directory);
  const clockWatch = watchClock(store, clock, { earliest: Temporal.Instant.from('2000-01-01T00:00:00Z') });
  const quotas = new Quotas({ store, hsm, clock });
  const metrics = measureProcess(hsm, quotas);
  const activity = keepActivity(async () => [await metrics.snapshot()], clock);
  const backups = new Backups({
    ...{ directory, store, hsm, clock, audit, log, config: options.backup, embedded: false, appliance: 'test', version: '0.0.0' },
    // The key of the audit trail is made by a start, which this is not.
    sign: () => Promise.reject(new Error('there is no key of the audit trail')),
    auditKeys: () => '',
  });
  const drills = new Drills({
    ...{ data: directory, options: [], store, clock, log, config: options.backup },
    auditKeys: () => '',
    record: (result) => recordDrill(audit, clock, result),
  });
  const membership = new Membership({
    ...{
      log,
      data: directory,
      config: undefined,
      store,
      kinds: tableKinds,
      hsm,
      clock,
      ownUrl: 'https://localhost:4646',
      authority: () => '',
    },
    ...{ cluster: options.cluster, requireReady: async () => undefined, restartServer: async () => undefined },
    takePart: () => Promise.reject(new Error('an appliance in the process of a test has no processes to replace')),
  });
  const composed = await compose({
    plugins,
    store,
    hsm,
    log,
    configurationOf,
    audit: metrics.measured(audit),
    unauthenticatedLimit,
    clock: clockWatch.clock,
    admit: (tenantId) => quotas.admit(tenantId),
    services: [provide(listenersService, notServing), ...(options.services ?? [])],
    topics: { audit: join(directory, 'audit'), logs: join(directory, 'logs') },
    ...defined({ downloads: options.downloads }),
    system: {
      directory,
      tokens: options.tokens ?? [],
      settleMs: 100,
      clockWatch,
      metrics,
      snapshots: async () => [await metrics.snapshot()],
      activity: () => activity.read(),
      workerReports: async () => [{ worker: 1, parts: composed.health.own() }],
      shipping: {
        data: directory,
        clock,
        destinations: [],
        behind: () => undefined,
        live: async () => [],
        test: () => Promise.reject(fail('not-found')),
      },
      seal: () => Promise.reject(new Error('an appliance in the process of a test has no processes to seal')),
      backups,
      drills,
      notices: options.notices ?? {},
      pinOrigin: () => pinOrigin({ data: directory, hsm: testHsmConfig(...tokens), attended: false }),
      cluster: options.cluster,
      membership,
    },
  });
  const listener = await listenHttps({
    host: '127.0.0.1',
    port: 0,
    identity,
    handler: composed.app.handler,
    takesList: composed.app.takesList,
    log,
  });
  const url = listener.url.replace(/\/$/, '');
  // A handshake costs more than most requests.
  const agent = keepConnections({ atOnce: Infinity });
  return {
    url,
    ...{ hsm, store, clock, rootToken, directory, logged },
    app: composed.app,
    jobs: composed.jobs,
    check: () => composed.check(),
    request: (method, path, body, options = {}) =>
      ask(url, path, {
        // Callers from other addresses come once: their connections would only take memory.
        ...(options.from === undefined ? { agent } : {}),
        ...{ method, body, ca: identity.cert, token: rootToken, from: '127.0.0.1', ...options },
        headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...options.headers },
      }),
    async close() {
      agent.destroy();
      await listener.close(1_000);
      await backups.stop();
      await composed.stop();
      metrics.stop();
      activity.stop();
      clockWatch.stop();
      await audit.close();
      await store.close();
      await hsm.close();
    },
  };
}

/** Plugins with a port of their own leave it closed in tests, unless a test gives them its own `listeners`. */
export const notServing: Listeners = {
  serving: false,
  est: { host: '127.0.0.1', port: 4665 },
  hosts: ['localhost', '127.0.0.1'],
  managementUrl: 'https://localhost:4646',
  sealed: () => false,
  identity: () => ({ key: '', cert: '' }),
  onIdentityChange: () => () => undefined,
};

export function memoryLog(into: { level: string; message: string; fields: unknown }[]): Log {
  const at = (level: string) => (message: string, fields?: unknown) => void into.push({ level, message, fields });
  const log: Log = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error'), with: () => log };
  return log;
}
