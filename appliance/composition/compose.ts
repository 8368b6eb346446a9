// Composes core, HSM, store and plugins. Workers serve the result, and tests start from it.
import { defined } from '../../core/base/defined.ts';
import type { Audit } from '../../core/audit/record.ts';
import { limitUnauthenticated, type UnauthenticatedLimits } from '../../core/audit/unauthenticated-limit.ts';
import { withTenants } from '../../core/platform/tenants/audit-tenants.ts';
import { createSessions } from '../../core/platform/sessions/sessions-service.ts';
import { loginSweepJob } from '../../core/access/approles/secret-ids.ts';
import { tokenExpiryJob } from '../../core/access/tokens/expiry.ts';
import { deadTenantJob, findDeadTenants, tenantExists } from '../../core/platform/tenants/dead-tenants.ts';
import type { Clock, CheckFinding, Job, Log } from '../../core/base/context.ts';
import type { BodyRoom } from '../../core/http/request/body-room.ts';
import { createApp, type App } from '../../core/platform/app.ts';
import type { Replica } from '../../core/http/context/request-context.ts';
import type { TopicDirectories } from '../../core/platform/system/topic-endpoints.ts';
import { type RunningPlugins, startPlugins } from '../../core/plugin/lifecycle.ts';
import type { AnyPlugin } from '../../core/plugin/plugin.ts';
import { provide, type ProvidedService } from '../../core/plugin/service.ts';
import { type Appliances, appliancesService } from '../../core/plugin/services/appliances.ts';
import { requestErrors } from '../../core/plugin/services/certificate-authority.ts';
import { custodyStatementsService } from '../../core/plugin/services/custody-statements.ts';
import { sessionsService } from '../../core/plugin/services/sessions.ts';
import { type KeyHolder, wrappingKeysService } from '../../core/plugin/services/wrapping-keys.ts';
import type { OpenStore } from '../../core/store/open.ts';
import { openTenants } from '../../core/access/tenants.ts';
import type { Hsm, KeyReference } from '../../hsm/api.ts';
import { AttestationKeys } from '../attestation/attestation-keys.ts';
import { attestationEndpoints } from '../attestation/endpoints.ts';
import { createCustodyStatements } from '../attestation/statements.ts';
import { findingEndpoints } from '../findings/endpoints.ts';
import { findingParts } from '../findings/findings.ts';
import { lostKeysJob } from '../findings/lost-keys.ts';
import { auditKeyHolders } from '../provisioning/audit-signing.ts';
import { auditEndpoint } from '../operations/audit-endpoint.ts';
import { examineParts, formatHealth, type HealthPart } from '../operations/health.ts';
import { mergeHealth } from '../operations/health-of-workers.ts';
import { hsmEndpoints } from '../operations/hsm-endpoint.ts';
import { ownPins, type OwnPins } from '../operations/own-pins.ts';
import { stateMeasurer } from '../operations/metrics/state.ts';
import { followAgreedTypes, tokenTypesJob } from '../wrapping-keys/agreed-types.ts';
import { bringingInJob, carryByConfiguration } from '../wrapping-keys/groups.ts';
import { carryingPartJob, oldKeysJob } from '../wrapping-keys/carrying-part.ts';
import { carryInCluster, type CarryingParts, withdrawalJob } from '../wrapping-keys/cluster-carrying.ts';
import { OwnTokens } from '../wrapping-keys/own-tokens.ts';
import { cutRotationJob, rewrappingJob, type RewrappingParts } from '../wrapping-keys/rewrapping.ts';
import { isStoreKeyShared, storeKeyCopyJob } from '../wrapping-keys/shared-store-key.ts';
import { keystorectlEndpoints } from '../operations/keystorectl-endpoints.ts';
import { readCluster } from '../operations/cluster-endpoint.ts';
import type { ClusterWay } from '../state/cluster-way.ts';
import { type SystemParts, systemEndpoints } from '../operations/system-endpoints.ts';
import { type CarryKeys, WrappingRotation } from '../wrapping-keys/rotation.ts';

export type Parts = {
  readonly plugins: readonly AnyPlugin[];
  readonly store: OpenStore;
  readonly hsm: Hsm;
  readonly audit: Audit;
  /** how many records of unauthenticated requests are written; the default is for everything but tests */
  readonly unauthenticatedLimit?: UnauthenticatedLimits;
  readonly log: Log;
  readonly clock: Clock;
  /** the validated configuration section of a plugin */
  configurationOf(plugin: string): unknown;
  /** services of the composition root for plugins, beside those of core */
  readonly services?: readonly ProvidedService[];
  /** directories of audit trail and logs, served as topics */
  readonly topics?: TopicDirectories;
  /** whether the process is sealed; default: never */
  readonly sealed?: () => boolean;
  /** where large bodies wait for memory; absent: one of the usual size */
  readonly bodyRoom?: BodyRoom;
  /** As in Runtime; absent where nothing is written. */
  readonly damage?: () => string | undefined;
  /** absent: the store is its own */
  readonly replica?: Replica | undefined;
  /** as in RequestServer */
  readonly admit?: ((tenantId: string) => void) | undefined;
  /** the tokens whose PIN the appliance keeps; default: none */
  readonly ownPins?: OwnPins;
  /** absent in tools that open tokens and store without serving */
  readonly system?: SystemParts;
  /** directory of what GET /v1/keystorectl hands out, by default that of the package */
  readonly downloads?: string;
};

export type Composed = {
  readonly app: App;
  readonly jobs: readonly Job[];
  /** the parts of the appliance: as this process sees them, and as all workers do */
  readonly health: { readonly own: () => readonly HealthPart[]; readonly ofAll: () => Promise<readonly HealthPart[]> };
  check(): Promise<readonly CheckFinding[]>;
  /** Every stored key of the plugins. */
  keys(): Iterable<KeyReference>;
  /** Before a seal, when requests have ended: stores what is only in memory. */
  settle(): Promise<void>;
  /** Stops the plugins, last started first. The caller closes store, HSM and audit trail. */
  stop(): Promise<void>;
};

/** Starts the plugins and makes the request handler. Throws StartError; nothing stays started then. */
export async function compose(parts: Parts): Promise<Composed> {
  const { store, hsm, clock, log, system } = parts;
  const audit = limitUnauthenticated(parts.audit, clock, parts.unauthenticatedLimit);
  const directory = system?.directory;
  const carrying = system && carryingPartsOf(system, { store, clock, log });
  const carry: CarryKeys | undefined =
    carrying === undefined
      ? system && carryByConfiguration(system.tokens, log)
      : (_group, inUse, invited) => carryInCluster(carrying, inUse, invited);
  const rotation = new WrappingRotation({ store, hsm, clock, carry });
  if (carrying !== undefined) followAgreedTypes(store, hsm);
  const attestation = new AttestationKeys({ store, hsm, clock, rotation, log: log.with('attestation') });
  store.guardTenants(tenantExists(store));
  const running = await startPlugins(parts.plugins, {
    ...parts,
    audit: withTenants(audit, openTenants(store)),
    invoke: (invocation) => app.invoke(invocation),
    services: [
      provide(sessionsService, createSessions({ store, hsm, clock })),
      provide(wrappingKeysService, rotation),
      provide(appliancesService, appliancesOf(system?.cluster)),
      provide(custodyStatementsService, createCustodyStatements(store, hsm, attestation)),
      ...(parts.services ?? []),
    ],
  });
  const wrappedKeys = function* (): Iterable<KeyHolder> {
    yield* running.wrappedKeys();
    yield* attestation.holders();
    yield* auditKeyHolders(store);
  };
  const ownTokens = carrying && new OwnTokens({ ...carrying, hsm, rotation, keys: () => running.keys() });
  const health: Composed['health'] = {
    own: () =>
      examineParts({
        ...{ hsm, audit, clock, store, directory, cluster: system?.cluster, listenerKeyFault: system?.listenerKeyFault },
        wrapping: (token) => rotation.state(token),
        backup: () => system?.backups.health(),
        findings: () => findingParts(store),
        damage: parts.damage,
        lostCredentials: () => system?.membership.lostCredentials,
      }),
    // Without an answer of the supervisor, what this process sees is better than nothing.
    ofAll: async () => (await system?.workerReports().then(mergeHealth, () => undefined)) ?? health.own(),
  };
  const app = createApp({
    endpoints: [
      ...hsmEndpoints(hsm, rotation, parts.ownPins ?? ownPins([])),
      auditEndpoint(store),
      ...findingEndpoints(store, clock),
      ...attestationEndpoints(attestation),
      ...keystorectlEndpoints(parts.downloads),
      ...(system === undefined
        ? []
        : systemEndpoints(system, store, {
            ...{ keys: () => running.keys(), ownTokens },
            measureState: stateMeasurer({ ...system, store, clock, gauges: running.gauges }),
          })),
      ...running.endpoints,
    ],
    resources: running.resources,
    // That of requests for certificates, which joining appliances send, with or without plugin ca.
    errors: [...running.errors, requestErrors],
    schemes: running.schemes,
    aliases: running.aliases,
    topics: parts.topics,
    health: async () => formatHealth(await health.ofAll()),
    ...defined({
      onAnswered: system?.metrics.onAnswered,
      sealed: parts.sealed,
      bodyRoom: parts.bodyRoom,
      replica: parts.replica,
      admit: parts.admit,
    }),
    store,
    hsm,
    audit,
    clock,
    log,
  });
  return {
    health,
    app,
    jobs: [
      ...holdJobs(
        [tokenExpiryJob(store, clock), loginSweepJob(store, clock), deadTenantJob(store, running, log), attestation.job, ...running.jobs],
        system,
      ),
      ...(system === undefined
        ? []
        : [
            ...(system.cluster === undefined ? [] : [migrationJob(store, running)]),
            ...(system.backups.job === undefined ? [] : [system.backups.job]),
            lostKeysJob({ store, hsm, clock, rotation, keys: () => running.keys() }),
            ...rewrappingJobs({ ...system, store, hsm, clock, log, audit, wrappedKeys }),
            ...(carrying === undefined
              ? [bringingInJob({ hsm, rotation, log })]
              : [
                  carryingPartJob(carrying),
                  oldKeysJob({ ...system, ...carrying, hsm }),
                  withdrawalJob(carrying),
                  tokenTypesJob({ store, hsm }),
                ]),
          ]),
    ],
    check: async () => [
      ...store.check(),
      ...findDeadTenants(store),
      ...(await running.check()),
      ...(await Array.fromAsync(rotation.findings(wrappedKeys()))),
      ...(await findWiderObjects(hsm)),
    ],
    keys: () => running.keys(),
    async settle() {
      await running.settle();
      await audit.settle().catch(() => undefined);
    },
    async stop() {
      await running.stop();
      await audit.settle().catch(() => undefined);
    },
  };
}

/** Tokens that are down are left out. */
async function findWiderObjects(hsm: Hsm): Promise<readonly CheckFinding[]> {
  const names = hsm.status().flatMap(({ name, state }) => (state === 'up' ? [name] : []));
  const found = await Promise.all(names.map(async (name) => [name, await hsm.widerObjects(name)] as const));
  return found.flatMap(([name, wider]) => wider.map((problem) => ({ where: `token ${name}`, problem, isNote: true as const })));
}

/** Those that were not removed: of one whose removal was cut off, the state says so. */
function appliancesOf(cluster: ClusterWay | undefined): Appliances {
  return {
    async list() {
      const { members } = cluster === undefined ? { members: [] } : await readCluster(cluster);
      return members
        .filter(({ state }) => state !== 'removed')
        .map(({ id, name, state }) => ({ id, name, isIn: state === 'in' }))
        .toSorted((one, other) => (one.name < other.name ? -1 : 1));
    },
  };
}

/** Stored records are migrated when every appliance works with the next level: at a start, or by this job after the last one was updated. */
function migrationJob(store: OpenStore, running: Pick<RunningPlugins, 'migrate'>): Job {
  let migratedTo: number | undefined;
  return {
    name: 'migrations',
    everySeconds: 5,
    async run() {
      store.refresh();
      const { level } = store;
      if (level !== migratedTo) await running.migrate();
      migratedTo = level;
    },
  };
}

/** In a cluster, each appliance also sees to its own copy of the key of the store. */
function rewrappingJobs({ cluster, ...parts }: RewrappingParts & Pick<SystemParts, 'cluster'>): readonly Job[] {
  if (cluster === undefined) return [rewrappingJob(parts)];
  const shared = { ...parts, cluster };
  return [
    rewrappingJob({ ...parts, isStoreKeyShared: (number) => isStoreKeyShared(shared, number) }),
    cutRotationJob(parts),
    storeKeyCopyJob(shared, parts.directory),
  ];
}

/** Of an appliance in a cluster of a token in each. */
function carryingPartsOf(
  { cluster, tokens }: SystemParts,
  parts: Pick<CarryingParts, 'store' | 'clock' | 'log'>,
): CarryingParts | undefined {
  const token = cluster === undefined ? undefined : tokens[0];
  if (cluster === undefined || token?.group === undefined) return undefined;
  return { ...parts, cluster, token: { ...token, group: token.group } };
}

/** Jobs that depend on the time wait while the clock is implausible. */
function holdJobs(jobs: readonly Job[], system: SystemParts | undefined): readonly Job[] {
  return system === undefined ? jobs : [...jobs.map((job) => system.clockWatch.held(job)), system.clockWatch.job];
}
