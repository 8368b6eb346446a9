// Admission from the inviting member, on the disk of the joining appliance.
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { writeDurably } from '../../../../core/base/durable-files.ts';
import type { MemberConfig } from '../../../../core/config/cluster.ts';
import type { MemberRole } from '../../../../core/plugin/services/member-certificates.ts';
import { memberFiles, writeCredentials, writeEndpoints } from '../files.ts';
import type { Invitation } from '../invitation.ts';
import { askForAdmission } from '../inviter.ts';
import { makeKeyRequest, requestFor } from '../key-request.ts';

/** The appliance that joins: its data directory, id and name. */
export type Joining = { readonly data: string; readonly member: MemberConfig; readonly id: string; readonly name: string };

/**
 * The key of its requests for certificates, PEM: on the disk before it is used, since the member that has invited knows the appliance by it
 * from the first request on.
 */
export function provideRequestKey(data: string, role: MemberRole): string {
  const { directory, ofRole } = memberFiles(data);
  const { key: file } = ofRole(role);
  if (existsSync(file)) return readFileSync(file, 'utf8');
  const { key } = makeKeyRequest();
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  writeDurably(file, key);
  return key;
}

/** Keeps certificates and addresses, which do not make it a member yet. Resolves with the cluster (files.ts). Rejects with NotAdmitted. */
export async function takeAdmission({ data, member, id, name }: Joining, invitation: Invitation): Promise<string> {
  const [peer, client] = [provideRequestKey(data, 'peer'), provideRequestKey(data, 'client')];
  const { cluster, endpoints, ...issued } = await askForAdmission(invitation, {
    ...{ appliance: id, name, address: member.address },
    ...{ peerRequest: requestFor(peer), clientRequest: requestFor(client) },
  });
  writeCredentials(data, {
    peer: { ...issued.peer, key: peer, revocations: Buffer.from(issued.peer.revocations, 'base64') },
    client: { ...issued.client, key: client, revocations: Buffer.from(issued.client.revocations, 'base64') },
  });
  writeEndpoints(data, endpoints);
  return cluster;
}
