// How an appliance that stands alone joins by a request: everything that can go wrong is found out before it gives up what it has.
import { fail } from '../../../core/base/errors.ts';
import { levelRefusal } from '../../../core/cluster/agreed-level.ts';
import { findSharedStore, type SharedStoreSeen } from '../../../core/cluster/founding.ts';
import { ownLevels } from '../../../core/store/records/level.ts';
import type { Hsm } from '../../../hsm/api.ts';
import program from '../../../package.json' with { type: 'json' };
import { proveClusterKeys } from '../../state/cluster-keys.ts';
import { StartRefused } from '../../state/start-refused.ts';
import { readEndpoints, writeMembership } from '../files.ts';
import { clientOf } from '../filling.ts';
import type { Invitation } from '../invitation.ts';
import { NotAdmitted } from '../inviter.ts';
import { urlsOf } from '../server-flags.ts';
import { type Joining, takeAdmission } from './admission.ts';

/**
 * Resolves when the next start of this appliance joins, and not before. Asked again after it was cut off, it is admitted again. Throws
 * `invitation-refused`, `inviter-unreachable`, `level-not-supported` and `cluster-keys-refused`.
 */
export async function prepareToJoin(joining: Joining, invitation: Invitation, hsm: Hsm): Promise<void> {
  const { data, member } = joining;
  const cluster = await takeAdmission(joining, invitation).catch((error: unknown) => {
    if (!(error instanceof NotAdmitted)) throw error;
    if (error.kind === 'refused') throw fail('invitation-refused', { detail: `${invitation.url} says: ${error.reason}` });
    throw unreachable(invitation.url, error.reason);
  });
  const { level, wrappedKeys } = await readSharedStore(data);
  const refusal = levelRefusal({ version: program.version, levels: ownLevels }, level);
  if (refusal !== undefined) throw fail('level-not-supported', { detail: `This appliance cannot join: ${refusal}.` });
  await proveClusterKeys(hsm, wrappedKeys).catch((error: unknown) => {
    if (error instanceof StartRefused) throw fail('cluster-keys-refused', { detail: `This appliance cannot join: ${error.message}.` });
    throw error;
  });
  writeMembership(data, { step: 'joining', cluster, replaces: true, ...urlsOf(member) });
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
