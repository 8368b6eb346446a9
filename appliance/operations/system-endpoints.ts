// Endpoints for operators: metrics, sealing, clock, machine operations. For the system tenant only.
import { z } from 'zod';
import { fail } from '../../core/base/errors.ts';
import { defineEndpoint, definePublicEndpoint, Reply, type AnyEndpoint } from '../../core/http/endpoint.ts';
import type { Backups } from '../backup/run/backups.ts';
import { activityEndpoint, type ActivityParts } from './metrics/activity-endpoint.ts';
import { backupEndpoints } from './backup-endpoints.ts';
import { clusterEndpoints, type ClusterKeys } from './cluster-endpoint.ts';
import type { ClockWatch } from './clock-watch.ts';
import type { WorkerReport } from './health-of-workers.ts';
import { restoreEndpoints } from './restore-endpoints.ts';
import { machineEndpoints } from './machine/machine-endpoints.ts';
import type { OpenStore } from '../../core/store/open.ts';
import type { ClusterWay } from '../state/cluster-way.ts';
import type { TokenConfig } from '../../hsm/api.ts';
import { readApplianceCa } from '../state/sealed-identity.ts';
import type { Membership } from '../membership/membership.ts';
import { type ShippingParts, shippingEndpoints } from './shipping-endpoints.ts';
import { formatMetrics, type ProcessMetrics, type Snapshot } from './metrics/process.ts';
import { tags } from '../../core/http/tags.ts';

/** Functions from the composition root. */
export type SystemParts = ActivityParts & {
  readonly directory: string;
  /** as they were opened, with their PINs */
  readonly tokens: readonly TokenConfig[];
  /** The longest time from reading a record until the token has opened its keys. */
  readonly settleMs: number;
  readonly clockWatch: ClockWatch;
  readonly metrics: ProcessMetrics;
  /** snapshots of every process that serves, this one included */
  snapshots(): Promise<readonly Snapshot[]>;
  /** what every worker says of the parts of the appliance */
  workerReports(): Promise<readonly WorkerReport[]>;
  /** Resolves when no process holds a key; sealed processes replace them afterwards. */
  seal(): Promise<void>;
  readonly backups: Backups;
  /** As in HealthParts. */
  readonly listenerKeyFault?: (() => string | undefined) | undefined;
  /** the others that share the store; absent: the appliance stands alone */
  readonly cluster?: ClusterWay | undefined;
  /** id of the appliance of the cluster that runs the background jobs; undefined while none does */
  readonly jobsLeader?: (() => string | undefined) | undefined;
  /** what is to be changed in the configuration of a member of a cluster */
  readonly clusterWarnings?: readonly string[] | undefined;
  /** how a cluster begins and grows */
  readonly membership: Membership;
  /** The receivers of the audit trail and the logs. */
  readonly shipping: ShippingParts;
  /** Socket of the machine operations; absent unless the machine is an appliance. */
  readonly operationsSocket?: string | undefined;
};

const shared = { tag: tags.system, access: 'token', errors: ['not-found'] } as const;

/** The endpoints. Those that change something, and the backup, need the root policy in the system tenant. */
export function systemEndpoints(
  system: SystemParts,
  store: OpenStore,
  { measureState, ...clusterKeys }: ClusterKeys & { readonly measureState: () => Promise<Snapshot> },
): AnyEndpoint[] {
  return [
    defineEndpoint({
      ...shared,
      method: 'GET',
      path: '/v1/state/system/metrics',
      operation: 'read',
      summary: 'Metrics for Prometheus',
      description:
        'Text format 0.0.4. Counters are sums over all worker processes since the start; gauges are of those that answer within two seconds.',
      audit: 'reads-go-on',
      produces: 'text/plain',
      reservedFor: 'system-tenant',
      async run() {
        const [own, others] = await Promise.all([measureState(), system.snapshots()]);
        const { mediaType, text } = await formatMetrics([own, ...others]);
        return new Reply(200, text, { 'content-type': mediaType });
      },
    }),
    activityEndpoint(system),
    ...backupEndpoints(system.backups),
    ...restoreEndpoints(store),
    defineEndpoint({
      ...shared,
      method: 'POST',
      path: '/v1/state/system/accept-clock',
      operation: 'execute',
      summary: 'Accept the clock',
      description: 'For a clock that was set back on purpose, or was wrongly in the future before: held work goes on.',
      audit: 'required',
      reservedFor: 'system-root',
      async run() {
        await system.clockWatch.accept();
        return undefined;
      },
    }),
    defineEndpoint({
      ...shared,
      method: 'POST',
      path: '/v1/state/keystore/system/seal',
      operation: 'execute',
      summary: 'Seal the appliance until a person gives the PIN',
      whileBehind: true,
      description:
        'No new use of a key begins, running ones end, and the keys are removed from the memory of every process. Then the request is answered, as the last one on its connection. A sealed appliance answers only health, its CA certificates and unseal.',
      audit: 'required',
      commandLine: { ends: 'stops every use of keys until a person gives the PIN' },
      reservedFor: 'system-root',
      // The record is the last one of its process: none can be kept in mind once the store is closed.
      run: () => new Reply(204, undefined, { connection: 'close' }, () => system.seal()),
    }),
    unsealEndpoint,
    ...shippingEndpoints(system.shipping),
    ...clusterEndpoints({ ...system, ...clusterKeys, store }),
    definePublicEndpoint({
      tag: tags.system,
      access: 'public',
      method: 'GET',
      path: '/v1/ca/system/appliance/ca.pem',
      summary: 'The CA certificates of this appliance, for callers that know only its address',
      operationId: 'applianceDownloadCaCertificates',
      description: 'A caller that does not trust them yet compares the fingerprint with one from another source.',
      audit: 'none',
      produces: 'application/x-pem-file',
      run: () => new Reply(200, readApplianceCa(system.directory), { 'content-type': 'application/x-pem-file' }),
    }),
    ...machineEndpoints(system.operationsSocket),
  ];
}

/** One PIN for all tokens, or one for each by name. */
export const unsealInput = z.object({
  pin: z.string().min(1).max(256).optional().meta({ description: 'The user PIN of every configured token.', example: '12345678' }),
  pins: z
    .record(z.string().max(64), z.string().min(1).max(256))
    .optional()
    .meta({ description: 'PINs by name of the token, where they differ.', example: { default: '12345678' } }),
  unsealCode: z.string().min(1).max(64).optional().meta({
    description:
      'What the appliance has shown on its console and in its log when it was sealed; needed from elsewhere than the machine itself.',
    example: 'BCDF-GHJK-LMNP',
  }),
});

export type UnsealInput = z.output<typeof unsealInput>;

/** The answer of a process that serves. While the appliance is sealed, seal/sealed-server.ts answers, from the same description. */
export const unsealEndpoint = definePublicEndpoint<UnsealInput, undefined>({
  tag: tags.system,
  access: 'public',
  method: 'POST',
  path: '/v1/state/keystore/system/unseal',
  summary: 'Give the PIN of the tokens to a sealed appliance',
  description:
    'A PIN is looked at from those who give the unseal code of this seal, or are at the machine itself as root or the user of the service. It is tried once. After a refused one the next attempt has to wait; after three the daemon must be started again, because tokens lock themselves.',
  audit: 'none',
  whileSealed: true,
  input: unsealInput,
  secretInput: ['pin', 'pins', 'unsealCode'],
  errors: [
    ...(['not-sealed', 'conflict', 'data-damaged', 'unseal-code-refused', 'pin-refused', 'rate-limited'] as const),
    ...(['hsm-unavailable', 'cluster-unavailable', 'audit-unavailable'] as const),
  ],
  run() {
    throw fail('not-sealed', { detail: 'The appliance is not sealed; the PIN was not looked at.' });
  },
});
