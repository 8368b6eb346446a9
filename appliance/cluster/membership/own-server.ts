// The member of etcd of this appliance, as the supervisor starts it: of a cluster that it has bootstrapped, or joins now.
import { existsSync, readFileSync } from 'node:fs';
import type { Log } from '../../../core/base/context.ts';
import { systemClock } from '../../../core/base/time.ts';
import type { MemberConfig } from '../../../core/config/cluster.ts';
import { paths } from '../../data-directory/paths.ts';
import { StartRefused } from '../../start-refused.ts';
import { type EtcdProcess, keepEtcd, programProblem } from './etcd-process.ts';
import type { TokenConfig } from '../../../hsm/api.ts';
import { endOfCertificates, memberFiles, type Membership, readEndpoints, readMembership, writeMembership } from './files.ts';
import { addServer, clientOf, hasStarted, promoteServer } from './filling.ts';
import { type Invitation, parseInvitation } from './invitation.ts';
import { takeAdmission } from './joining/admission.ts';
import { takeKeysOf } from './joining/carried-keys.ts';
import { serverFlags, urlsOf } from './server-flags.ts';

export type OwnServerParts = {
  readonly data: string;
  readonly member: MemberConfig;
  /** id and name of the appliance */
  readonly id: string;
  readonly name: string;
  readonly log: Log;
  /** the token of this appliance, where each has one; undefined where all reach one */
  readonly ownToken: () => Promise<TokenConfig | undefined>;
};

/**
 * Uses the invitation, if there is one and this appliance is new. The certificates are on the disk when it resolves. Throws StartRefused.
 */
export async function joinIfInvited(parts: OwnServerParts): Promise<void> {
  const { data, member } = parts;
  if (member.invitationFile === undefined || readMembership(data) !== undefined) return;
  if (existsSync(paths.store(data))) {
    throw new StartRefused(
      'cluster/member/invitation-file: this appliance has a store of its own, which would be lost: join with an empty data directory, or take the line away',
    );
  }
  await join(parts, readInvitation(member.invitationFile));
}

/** Starts it, and waits until it is filled. Throws StartRefused. */
export async function startOwnServer(parts: OwnServerParts): Promise<EtcdProcess> {
  const { data, member, id, log } = parts;
  const files = memberFiles(data);
  const membership = requireMembership(parts);
  requireLastingCertificates(data);
  const { step, peerUrl } = membership;
  const isNew = !hasStarted(files.etcd);
  if (isNew && step === 'member') {
    throw new StartRefused(
      `${files.etcd} no longer has data: a member of etcd never starts without it. Remove this appliance from the cluster, and join again with an empty data directory`,
    );
  }
  const client = step === 'joining' ? clientOf(data, readEndpoints(data)) : undefined;
  try {
    const initial = client !== undefined && isNew ? await addServer(client, id, peerUrl, log) : new Map([[id, peerUrl]]);
    const flags = serverFlags(files, { name: id, membership, initial, metricsPort: member.metricsPort });
    const server = await keepEtcd(member.program, () => flags, files.processId, log);
    try {
      if (client !== undefined) await promoteServer(client, peerUrl, log);
    } catch (error) {
      await server.stop();
      throw error;
    }
    if (step === 'joining' || (step === 'founding' && !isNew)) writeMembership(data, { ...membership, step: 'member' });
    return server;
  } finally {
    client?.close();
  }
}

function requireMembership({ data, member }: OwnServerParts): Membership {
  const membership = readMembership(data);
  if (membership === undefined) throw new TypeError('this appliance is in no cluster');
  const { clientUrl, peerUrl } = urlsOf(member);
  if (membership.clientUrl === clientUrl && membership.peerUrl === peerUrl) return membership;
  throw new StartRefused(
    `cluster/member: this appliance is ${membership.clientUrl} and ${membership.peerUrl} in its cluster: to move it, remove it and join again with an empty data directory`,
  );
}

/**
 * Requires certificates that last: without them no other appliance admits this one, and its start would wait without limit and report only
 * that etcd does not answer.
 */
function requireLastingCertificates(data: string): void {
  const end = endOfCertificates(data);
  if (systemClock.now().epochMilliseconds < end) return;
  throw new StartRefused(
    `cluster: the certificates by which this appliance reaches the others ended on ${new Date(end).toISOString().slice(0, 10)}: ` +
      'set the clock, if it is wrong; else join again with an empty data directory, the same name and a new invitation. ' +
      'If all appliances were off for so long, make one of them the new first with "keystored recover-cluster" (docs/administer/cluster.md)',
  );
}

function readInvitation(file: string): Invitation {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new StartRefused(`cluster/member/invitation-file ${file} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
  const invitation = parseInvitation(text);
  if (invitation !== undefined) return invitation;
  throw new StartRefused(
    `cluster/member/invitation-file ${file} is not an invitation: give the line that "keystorectl cluster invite" has printed`,
  );
}

async function join(parts: OwnServerParts, invitation: Invitation): Promise<void> {
  const { data, member, id, name, ownToken, log } = parts;
  const problem = await programProblem(member.program);
  if (problem !== undefined) throw new StartRefused(`cluster: ${problem}`);
  // Before it can have the shared store: it takes part in nothing that its token cannot open.
  const token = await ownToken();
  if (token !== undefined) await takeKeysOf(invitation, { data, self: { appliance: id, name }, token, log });
  const cluster = await takeAdmission(parts, invitation);
  writeMembership(data, { step: 'joining', cluster, ...urlsOf(member) });
}
