// What the member that has invited gives to an appliance that joins, on the disk of that appliance.
import { mkdirSync } from 'node:fs';
import type { MemberConfig } from '../../../core/config/cluster.ts';
import { memberFiles, writeCredentials, writeEndpoints } from '../files.ts';
import type { Invitation } from '../invitation.ts';
import { askForAdmission } from '../inviter.ts';
import { makeKeyRequest } from '../key-request.ts';

/** The appliance that joins: its data directory, id and name. */
export type Joining = { readonly data: string; readonly member: MemberConfig; readonly id: string; readonly name: string };

/** Keeps certificates and addresses, which make nobody a member yet. Resolves with the cluster (files.ts). Rejects with NotAdmitted. */
export async function takeAdmission({ data, member, id, name }: Joining, invitation: Invitation): Promise<string> {
  const [peer, client] = [makeKeyRequest(), makeKeyRequest()];
  const { cluster, endpoints, ...issued } = await askForAdmission(invitation, {
    ...{ appliance: id, name, address: member.address },
    ...{ peerRequest: peer.request, clientRequest: client.request },
  });
  mkdirSync(memberFiles(data).directory, { recursive: true, mode: 0o700 });
  writeCredentials(data, {
    peer: { ...issued.peer, key: peer.key, revocations: Buffer.from(issued.peer.revocations, 'base64') },
    client: { ...issued.client, key: client.key, revocations: Buffer.from(issued.client.revocations, 'base64') },
  });
  writeEndpoints(data, endpoints);
  return cluster;
}
