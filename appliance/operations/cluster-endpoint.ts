// GET /v1/state/system/cluster: who shares the store, who is in, and how far everyone has followed; for the system tenant.
import { z } from 'zod';
import { fail } from '../../core/base/errors.ts';
import { defined } from '../../core/base/defined.ts';
import { defineEndpoint, type AnyEndpoint } from '../../core/http/endpoint.ts';
import { tags } from '../../core/http/tags.ts';
import type { ClusterState, ClusterWay, SeenAppliance } from '../state/cluster-way.ts';

const member = z.object({
  name: z.string().meta({ description: 'Name of the appliance in its configuration.', example: 'plant-a' }),
  id: z.string().meta({ description: 'Its identity, drawn when it came in first.', example: '0f3c9a52-7d0e-4c35-9d53-7a1c26a5b1ee' }),
  version: z.string().meta({ description: 'Version of its program.', example: '0.1.0' }),
  state: z
    .enum(['in', 'expelled', 'out'])
    .meta({ typeName: 'ClusterMemberState' })
    .describe('`in`: it may answer, and changes wait for it. `expelled`: it did not apply what it should. `out`: it answers no more.'),
  self: z.boolean().describe('Whether it is the one that answers.'),
  leadsJobs: z.boolean().describe('Whether it runs the background jobs of all.'),
  behind: z.int().min(0).meta({ description: 'Revisions that it lacked at its last sign of life; a few are ordinary.', example: 2 }),
  silentMilliseconds: z.int().min(0).meta({ description: 'Time since its last sign of life was seen.', example: 210 }),
});

const clusterState = z.object({
  shape: z
    .enum(['alone', 'cluster'])
    .meta({ typeName: 'ClusterShape' })
    .describe('`alone`: the configuration has no section `cluster`, and the other fields are empty.'),
  epoch: z.string().optional().meta({ description: 'Name of the shared store.', example: '6d1f1c1e-3b0a-4b6e-9b55-2f6f0e9b7a10' }),
  revision: z.int().min(0).meta({ description: 'The state of the shared store that the appliance has.', example: 48213 }),
  members: z.array(member).describe('Every appliance that came in once, by name.'),
});

/** The part of SystemParts that is needed. */
export type ClusterParts = {
  readonly cluster?: ClusterWay | undefined;
  readonly jobsLeader?: (() => string | undefined) | undefined;
};

/** Refused with 404 for every tenant but `system`. */
export function clusterEndpoint(system: ClusterParts): AnyEndpoint {
  return defineEndpoint({
    method: 'GET',
    path: '/v1/state/system/cluster',
    access: 'token',
    operation: 'read',
    tag: tags.system,
    summary: 'The appliances that share the store',
    named: 'Cluster',
    description: 'As the answering appliance sees them. One that is cut off from the majority does not answer: ask another.',
    audit: 'reads-go-on',
    errors: ['not-found'],
    output: clusterState,
    reservedFor: 'system-tenant',
    async run() {
      const { cluster } = system;
      if (cluster === undefined) return { shape: 'alone' as const, revision: 0, members: [] };
      const state = await readCluster(cluster);
      const leader = system.jobsLeader?.();
      const members = state.members.map((one) => ({
        ...{ name: one.name, id: one.id, version: one.version, state: one.state },
        ...{ self: one.id === state.id, leadsJobs: one.id === leader },
        ...{ behind: behindOf(one, state.position), silentMilliseconds: Math.round(one.silentMs) },
      }));
      return {
        shape: 'cluster' as const,
        ...defined({ epoch: state.epoch }),
        revision: state.position,
        members: members.toSorted((one, other) => (one.name < other.name ? -1 : 1)),
      };
    },
  });
}

/** Throws cluster-unavailable while the process that follows the others is being started again. */
export async function readCluster(cluster: ClusterWay): Promise<ClusterState> {
  return cluster.state().catch((cause: unknown) => {
    throw fail('cluster-unavailable', { retryAfterSeconds: 1, cause });
  });
}

/** Revisions that a member lacked when it gave its last sign, against what this appliance has now. */
export function behindOf({ applied }: SeenAppliance, position: number): number {
  return Math.max(0, position - applied);
}
