// Endpoints of the appliances that share the store: members, how far everyone has followed, and the removal of a permanently lost one.
import { z } from 'zod';
import { acknowledgementOf } from '../../core/audit/chains.ts';
import { reservedRefusal } from '../../core/access/reserved.ts';
import { fail } from '../../core/base/errors.ts';
import { clusterUnavailable } from '../../core/base/unavailable.ts';
import { defined } from '../../core/base/defined.ts';
import { defineEndpoint, type AnyEndpoint } from '../../core/http/endpoint.ts';
import { naming } from '../../core/http/named-entries.ts';
import { tags } from '../../core/http/tags.ts';
import type { RunningPlugins } from '../../core/plugin/lifecycle.ts';
import { firstLevel } from '../../core/store/records/level.ts';
import type { OpenStore } from '../../core/store/open.ts';
import type { TableKinds } from '../../core/store/records/table-kinds.ts';
import { timestampText } from '../../core/wire/fields.ts';
import type { KeyReference } from '../../hsm/api.ts';
import type { OwnTokens } from './keys/own-tokens.ts';
import type { Membership } from './membership/membership.ts';
import { membershipEndpoints } from './membership/endpoints.ts';
import { removeAppliance } from './removal.ts';
import { listDepartures } from '../audit/chain-records.ts';
import { publicUrlEndpoints } from './public-url/endpoints.ts';
import type { ClusterState, ClusterWay, SeenAppliance, ServerState } from './cluster-way.ts';
import { findSharedUrl } from './public-url/public-url.ts';

const member = z.object({
  name: z.string().meta({ description: 'Name of the appliance in its configuration.', example: 'plant-a' }),
  id: z.string().meta({ description: 'Its identity, drawn when it came in first.', example: '0f3c9a52-7d0e-4c35-9d53-7a1c26a5b1ee' }),
  version: z.string().meta({ description: 'Version of its program.', example: '0.1.0' }),
  newestLevel: z.int().min(1).meta({ description: 'The highest level of the records that its program works with.', example: 1 }),
  state: z
    .enum(['in', 'expelled', 'out'])
    .meta({ typeName: 'ClusterMemberState' })
    .describe('`in`: it may answer, and changes wait for it. `expelled`: it did not apply what it should. `out`: it answers no more.'),
  publicUrl: z.string().optional().meta({
    description:
      'The `public-url` of its configuration, which its certificates and links name unless one was set for all; absent before it has started with a program that says it.',
    example: 'https://keys.example:4646',
  }),
  self: z.boolean().describe('`true` for the one that answers.'),
  leadsJobs: z.boolean().describe('`true` if it runs the background jobs of all.'),
  behind: z.int().min(0).meta({ description: 'Revisions that it lacked at its last heartbeat; a few are ordinary.', example: 2 }),
  certificatesRevoked: z
    .boolean()
    .describe(
      '`true` once those were revoked by which it reaches the shared store, so that it comes in no more; only where the appliances run etcd.',
    ),
  silentMilliseconds: z.int().min(0).meta({ description: 'Time since its last heartbeat was seen.', example: 210 }),
});

const departed = z.object({
  name: member.shape.name,
  id: member.shape.id,
  removedAt: timestampText().describe('When it was removed.'),
  removedBy: z.string().meta({ description: 'User of the token that removed it.', example: 'root' }),
});

const server = z.object({
  appliance: z.string().meta({ description: 'Name of the appliance that runs it; empty before it has started once.', example: 'plant-a' }),
  url: z.string().meta({ description: 'Where the appliances reach it.', example: 'https://192.0.2.11:2379' }),
  leader: z.boolean().describe('`true` if it leads etcd.'),
  learner: z.boolean().describe('`true` while it is being filled, and does not count for the majority yet.'),
  version: z.string().optional().meta({ description: 'Version of etcd; absent when it does not answer.', example: '3.6.16' }),
  bytes: z.int().min(0).optional().meta({ description: 'Size of its file; 8 GiB are the most.', example: 20480 }),
  problem: z.string().optional().meta({ description: 'What is wrong with it.', example: 'it does not answer' }),
});

const clusterState = z.object({
  shape: z
    .enum(['alone', 'cluster'])
    .meta({ typeName: 'ClusterShape' })
    .describe('`alone`: the configuration has no section `cluster`, and there are no members.'),
  cutOff: z
    .boolean()
    .optional()
    .describe(
      '`true` while the appliance that answers is cut off: this is then what it knew last, and which members of etcd it reaches now.',
    ),
  publicUrl: z.string().optional().meta({
    description: 'What all appliances name in certificates and links, in place of the `public-url` of each; absent: it was not set.',
    example: 'https://keys.example:4646',
  }),
  epoch: z.string().optional().meta({ description: 'Name of the shared store.', example: '6d1f1c1e-3b0a-4b6e-9b55-2f6f0e9b7a10' }),
  revision: z.int().min(0).meta({ description: 'The state of the shared store that the appliance has.', example: 48213 }),
  level: z.int().min(1).meta({
    description: 'The level in whose formats records are written: the highest that the programs of all members work with.',
    example: 1,
  }),
  members: z.array(member).describe('Every appliance that came in once and was not removed, by name.'),
  etcd: z.array(server).describe('The members of etcd, where the appliances run them; empty for an etcd that somebody else runs.'),
  removed: z.array(departed).describe('Those that were removed permanently, by name.'),
  warnings: z
    .array(z.string())
    .optional()
    .meta({ description: 'What the administrator should know, or change, in sentences.', example: [] }),
});

/** The part of SystemParts that is needed, and the store. */
export type ClusterParts = {
  readonly store: OpenStore;
  /** of all tables */
  readonly kinds: TableKinds;
  readonly cluster?: ClusterWay | undefined;
  readonly jobsLeader?: (() => string | undefined) | undefined;
  readonly membership: Membership;
  /** all plugins, once they have started */
  readonly running: () => Pick<RunningPlugins, 'dropAppliance' | 'migrate'>;
  /** recommended changes to the configuration of this appliance */
  readonly clusterWarnings?: (() => readonly string[]) | undefined;
} & ClusterKeys;

/** Operations on the keys of a cluster by its members. */
export type ClusterKeys = {
  /** every stored key */
  readonly keys: () => Iterable<KeyReference>;
  /** present if each appliance has a token: those that get its keys before they join, and the treatment of its keys after a removal */
  readonly ownTokens?: OwnTokens | undefined;
};

const base = '/v1/state/system/cluster';

/** Refused with 404 for every tenant but `system`; the removal needs the root policy there. */
export function clusterEndpoints(parts: ClusterParts): AnyEndpoint[] {
  return [
    stateEndpoint(parts),
    ...publicUrlEndpoints(parts),
    removalEndpoint(parts),
    ...membershipEndpoints({ ...parts, stateOf: readCluster }),
  ];
}

function stateEndpoint(system: ClusterParts): AnyEndpoint {
  return defineEndpoint({
    method: 'GET',
    path: base,
    access: 'token',
    operation: 'read',
    tag: tags.system,
    summary: 'The appliances that share the store',
    named: 'Cluster',
    description:
      'As the answering appliance sees them. One that is cut off from the majority answers this from its last state to root of the tenant `system`, says so by `cut-off`, and names in `warnings` which members of etcd it reaches.',
    audit: 'reads-go-on',
    whileCutOff: true,
    errors: ['not-found'],
    output: clusterState,
    reservedFor: 'system-tenant',
    async run({ caller }) {
      const { cluster } = system;
      const publicUrl = findSharedUrl(system.store)?.url;
      if (cluster === undefined) {
        const nobody = { revision: 0, level: system.store.level, members: [], etcd: [], removed: [] };
        return { shape: 'alone' as const, ...defined({ publicUrl }), ...nobody };
      }
      const cutOff = !cluster.isValid;
      // A token may have been ended elsewhere: its holder learns this only if it may manage the cluster.
      if (cutOff && reservedRefusal('system-root', caller) !== undefined) throw clusterUnavailable('cut-off');
      const [state, servers] = await Promise.all([readCluster(cluster), cluster.servers({ alone: cutOff })]);
      const leader = system.jobsLeader?.();
      const departures = listDepartures(system.store);
      const { others } = system.membership.lostCredentials;
      const present = state.members.filter(({ id }) => !departures.has(id));
      const members = present.map((one) => ({
        ...{ name: one.name, id: one.id, version: one.version, newestLevel: one.levels.newest, state: shownStates[one.state] },
        ...defined({ publicUrl: one.publicUrl }),
        ...{ self: one.id === state.id, leadsJobs: one.id === leader },
        certificatesRevoked: others.includes(one.id),
        ...{ behind: behindOf(one, state.position), silentMilliseconds: Math.round(one.silentMs) },
      }));
      const etcd = servers.map((one) => serverShown(one, state.members));
      const warnings = [
        ...(cutOff ? [cutOffWarning(etcd)] : []),
        ...(system.clusterWarnings?.() ?? []),
        ...(publicUrl === undefined ? differingUrls(members) : []),
      ];
      return {
        shape: 'cluster' as const,
        ...(cutOff ? { cutOff } : {}),
        ...defined({ publicUrl, epoch: state.epoch }),
        revision: state.position,
        level: state.level ?? firstLevel,
        members: members.toSorted(byName),
        etcd,
        removed: Array.from(departures, ([id, { name, at, by }]) => ({ name, id, removedAt: at, removedBy: by })).toSorted(byName),
        ...(warnings.length === 0 ? {} : { warnings }),
      };
    },
  });
}

/** `version`: it has answered, whatever its problem is. */
function cutOffWarning(etcd: readonly Pick<z.output<typeof server>, 'appliance' | 'url' | 'version'>[]): string {
  const named = (those: typeof etcd): string => those.map(({ appliance, url }) => (appliance === '' ? url : appliance)).join(', ');
  const reached = etcd.filter(({ version }) => version !== undefined);
  const away = etcd.filter(({ version }) => version === undefined);
  const ways = [
    reached.length === 0 ? 'It reaches no member of etcd' : `It reaches etcd of ${named(reached)}`,
    ...(away.length === 0 ? [] : [`it does not reach ${named(away)}`]),
  ];
  return (
    'This appliance is cut off from the majority of its cluster, and others may have changed what is said here: it is what this appliance knew last. ' +
    `${ways.join('; ')}. See that those run, and the network between; ask another appliance how the cluster is.`
  );
}

/** Certificates of one CA would name different appliances. Those that are out are judged when they come back. */
function differingUrls(members: readonly Pick<z.output<typeof member>, 'name' | 'state' | 'publicUrl'>[]): readonly string[] {
  const byUrl = new Map<string, string[]>();
  for (const { name, state, publicUrl } of members)
    if (state !== 'out' && publicUrl !== undefined) byUrl.set(publicUrl, [...(byUrl.get(publicUrl) ?? []), name]);
  if (byUrl.size < 2) return [];
  const each = Array.from(byUrl, ([url, names]) => `${names.toSorted().join(', ')} ${names.length === 1 ? 'has' : 'have'} ${url}`);
  return [
    `The appliances have different public-urls: ${each.toSorted().join('; ')}. Certificates and links lead to the one that made them. Give all one that leads to all of them: keystorectl cluster set-public-url URL.`,
  ];
}

/** An appliance whose removal was interrupted before it was recorded is shown as before, so that it is removed again. */
const shownStates = { in: 'in', expelled: 'expelled', removing: 'expelled', out: 'out', removed: 'out' } as const;

function serverShown({ appliance, url, isLeader, isLearner, version, bytes, problem }: ServerState, members: readonly SeenAppliance[]) {
  const name = members.find(({ id }) => id === appliance)?.name ?? appliance;
  return { appliance: name, url, leader: isLeader, learner: isLearner, ...defined({ version, bytes, problem }) };
}

function byName(one: { readonly name: string }, other: { readonly name: string }): number {
  return one.name < other.name ? -1 : 1;
}

const removalInput = z.object({
  member: naming(z.string().min(1).max(64), {
    resource: 'appliances of the cluster',
    needs: [],
    because: 'Only the policy "root" in the tenant "system" disposes of them.',
  }).meta({ description: 'Name or id of the appliance, as the state of the cluster has it.', example: 'plant-a' }),
  evenIfAlive: z
    .boolean()
    .default(false)
    .describe('Remove it although it sends heartbeats. It refuses everything within two seconds, and permanently.'),
});

const removal = departed.extend({
  lostChains: z.array(z.string()).meta({
    description: 'Chains of the audit trail that are lost with it: verifications no longer expect them.',
    example: ['0f3c9a52-7d0e-4c35-9d53-7a1c26a5b1ee-worker-1'],
  }),
  unconfirmed: z.array(z.string()).meta({
    description:
      'Appliances that have not confirmed within 20 seconds that it no longer has a way to the shared store, where the appliances run etcd: the same request asks again.',
    example: [],
  }),
  wrappingKey: z
    .enum(['rotating', 'rotated', 'unchanged'])
    .optional()
    .meta({ typeName: 'WrappingKeyAfterRemoval' })
    .describe(
      'Where each appliance has a token: whether the wrapping key, which the token of the removed one has, is being rotated, or was `rotated` by an earlier request; `unchanged`: it could not be, as system:logs says, and is to be rotated by hand. Absent where all reach one HSM.',
    ),
});

function removalEndpoint({ cluster, store, kinds, membership, ownTokens, running }: ClusterParts): AnyEndpoint {
  return defineEndpoint<z.output<typeof removalInput>, z.output<typeof removal>>({
    method: 'POST',
    path: `${base}/remove-member`,
    act: 'change-trust',
    access: 'token',
    operation: 'execute',
    tag: tags.system,
    summary: 'Remove an appliance that is permanently lost from the cluster',
    description:
      'It never comes in again, and its name is given to no other. Health no longer misses it, the background jobs that it ran go on elsewhere, and its audit trail counts as lost, on record. One that was only stopped, or has lost its disk, is not removed: it comes back under its name. Ask any other appliance. Where the appliances run etcd, its member leaves, its certificates are revoked and its connections end; an etcd of your own has to refuse its certificate.',
    audit: 'required',
    idempotent: true,
    input: removalInput,
    output: removal,
    auditFields: ['member', 'evenIfAlive'],
    commandLine: {
      positional: ['member'],
      ends: 'removes the appliance from its cluster permanently; its name is not given again, and its audit trail counts as lost',
    },
    errors: ['not-found', 'operation-refused'],
    reservedFor: 'system-root',
    async run(call, { member: wanted, evenIfAlive }) {
      if (cluster === undefined)
        throw fail('operation-refused', { detail: 'This appliance stands alone: there is no other that could be removed.' });
      const parts = { cluster, store, kinds, running, state: await readCluster(cluster) };
      const removed = await removeAppliance(parts, { member: wanted, evenIfAlive, by: call.caller, now: call.now });
      call.noteAudit({ requestParameters: { member: wanted, 'even-if-alive': evenIfAlive, ...acknowledgementOf(removed) } });
      const { name, appliance: id, at, by, chains } = removed;
      const unconfirmed = [...(await membership.end(id))];
      const wrappingKey = await ownTokens?.rotateAfterRemoval(id);
      return { name, id, removedAt: at, removedBy: by, lostChains: [...chains], unconfirmed, ...defined({ wrappingKey }) };
    },
  });
}

/** Throws cluster-unavailable while the process that follows the others is being started again. */
export async function readCluster(cluster: ClusterWay): Promise<ClusterState> {
  return cluster.state().catch((cause: unknown) => {
    throw fail('cluster-unavailable', { retryAfterSeconds: 1, cause });
  });
}

/** Revisions that a member lacked when it sent its last heartbeat, against what this appliance has now. */
export function behindOf({ applied }: SeenAppliance, position: number): number {
  return Math.max(0, position - applied);
}
