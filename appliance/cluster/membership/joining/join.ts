// Joins a cluster on a request to an appliance that stands alone: every possible failure is found before it gives up its own state.
import { fail } from '../../../../core/base/errors.ts';
import { levelRefusal } from '../../../../core/cluster/agreed-level.ts';
import { findSharedStore, type SharedStoreSeen } from '../../../../core/cluster/bootstrap.ts';
import { ownLevels } from '../../../../core/store/records/level.ts';
import type { Log } from '../../../../core/base/context.ts';
import type { Hsm, TokenConfig } from '../../../../hsm/api.ts';
import program from '../../../../package.json' with { type: 'json' };
import { proveClusterKeys } from '../../keys/cluster-keys.ts';
import { StartRefused } from '../../../start-refused.ts';
import { readEndpoints, writeMembership } from '../files.ts';
import { clientOf } from '../filling.ts';
import type { Invitation } from '../invitation.ts';
import { NotAdmitted } from '../inviter.ts';
import { urlsOf } from '../server-flags.ts';
import { type Joining, takeAdmission } from './admission.ts';
import { takeKeysOf } from './carried-keys.ts';

export type JoiningByRequest = Joining & {
  readonly hsm: Hsm;
  /** the token of this appliance, where each has one */
  readonly ownToken?: TokenConfig | undefined;
  readonly log: Log;
};

/** Limit for the waiting caller: below the limits of programs and load balancers. */
const patienceMs = 40_000;

/**
 * Resolves when the next start of this appliance joins, and not before. If repeated after an interruption, it is admitted again. Throws
 * `invitation-refused`, `inviter-unreachable`, `level-not-supported`, `cluster-keys-refused`, and `conflict` to be asked again.
 */
export async function prepareToJoin(joining: JoiningByRequest, invitation: Invitation): Promise<void> {
  const { data, member, hsm } = joining;
  await takeOwnKeys(joining, invitation).catch((error: unknown) => throwAsAnswer(invitation, error));
  const cluster = await takeAdmission(joining, invitation).catch((error: unknown) => throwAsAnswer(invitation, error));
  const { level, wrappedKeys } = await readSharedStore(data);
  const refusal = levelRefusal({ version: program.version, levels: ownLevels }, level);
  if (refusal !== undefined) throw fail('level-not-supported', { detail: `This appliance cannot join: ${refusal}.` });
  await proveClusterKeys(hsm, wrappedKeys).catch((error: unknown) => throwAsAnswer(invitation, error));
  writeMembership(data, { step: 'joining', cluster, replaces: true, ...urlsOf(member) });
}

/** Before it can have the shared store: it takes part in nothing that its token cannot open. */
async function takeOwnKeys({ data, id, name, ownToken, log }: JoiningByRequest, invitation: Invitation): Promise<void> {
  if (ownToken === undefined) return;
  const self = { appliance: id, name };
  const left = await takeKeysOf(invitation, { data, self, token: ownToken, log, patienceMs });
  if (left === undefined) return;
  throw fail('conflict', {
    detail: `The cluster wraps its keys again for this appliance, ${left.done} of ${left.total} by now: ask again with the same invitation, until it joins.`,
  });
}

function throwAsAnswer({ url }: Invitation, error: unknown): never {
  if (error instanceof NotAdmitted && error.kind === 'refused')
    throw fail('invitation-refused', { detail: `${url} says: ${error.reason}` });
  if (error instanceof NotAdmitted) throw unreachable(url, error.reason);
  if (error instanceof StartRefused) throw fail('cluster-keys-refused', { detail: `This appliance cannot join: ${error.message}.` });
  throw error;
}

/** With the certificate of this appliance, over the network of the members of etcd. */
async function readSharedStore(data: string): Promise<SharedStoreSeen> {
  const endpoints = readEndpoints(data);
  const client = clientOf(data, endpoints);
  try {
    const found = await findSharedStore(client);
    if (found !== undefined) return found;
  } catch (error) {
    throw unreachable(endpoints.join(', '), (error as Error).message);
  } finally {
    client.close();
  }
  throw unreachable(endpoints.join(', '), 'there is no shared store');
}

function unreachable(what: string, reason: string) {
  return fail('inviter-unreachable', { detail: `This appliance cannot join by ${what}: ${reason.replace(/\.$/, '')}.` });
}
