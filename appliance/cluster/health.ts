// Health of the cluster: whether this appliance may answer, and whether others are missing.
import type { HealthPart } from '../../core/base/context.ts';
import type { LostCredentials } from './membership/membership.ts';
import type { ClusterWay } from './cluster-way.ts';

type SeenCluster = Pick<ClusterWay, 'isValid' | 'isIsolated' | 'missing'>;

/** `lost`: undefined if all have valid credentials. Health is public, so it names no appliance: GET /v1/state/system/cluster does that. */
export function clusterPart(seen: SeenCluster, lost?: LostCredentials): HealthPart {
  return { name: 'cluster', ...stateOf(seen, lost) };
}

function stateOf(
  { isValid, isIsolated, missing }: SeenCluster,
  lost: LostCredentials = { own: undefined, others: [] },
): Omit<HealthPart, 'name'> {
  if (lost.own !== undefined) return { state: 'shut-out', reason: lost.own, ...(isValid || isIsolated ? {} : { hinders: true }) };
  if (isIsolated)
    return {
      state: 'isolated',
      reason: 'the majority of the cluster cannot be reached: keys are used from the last state, everything else is refused',
    };
  if (!isValid)
    return {
      state: 'cut-off',
      reason: 'the majority of the cluster cannot be reached, so requests are refused: ask another appliance',
      hinders: true,
    };
  if (lost.others.length > 0)
    return {
      state: 'incomplete',
      reason: `the certificates of ${countOf(lost.others)} of the cluster were revoked, so that ${lost.others.length === 1 ? 'it comes' : 'they come'} in no more: the state of the cluster says which`,
    };
  if (missing.length === 0) return { state: 'up' };
  return { state: 'incomplete', reason: `${countOf(missing)} of the cluster cannot answer: the state of the cluster says which` };
}

function countOf({ length }: readonly string[]): string {
  return length === 1 ? 'an appliance' : `${length} appliances`;
}
