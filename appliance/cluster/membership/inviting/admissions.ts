// The side of the member that invites: invitations, the proof of who was invited, the certificates of that appliance, and the end of both.
import { hash, randomBytes, X509Certificate } from 'node:crypto';
import type { Clock } from '../../../../core/base/context.ts';
import { fail } from '../../../../core/base/errors.ts';
import type { MemberCertificates, MemberRole } from '../../../../core/plugin/services/member-certificates.ts';
import type { OpenStore } from '../../../../core/store/open.ts';
import type { ClusterState, ClusterWay } from '../../cluster-way.ts';
import { awaitConfirmed, noteEnded } from '../ending/ended-credentials.ts';
import { readEndpoints } from '../files.ts';
import { formatInvitation, hashOfSecret } from '../invitation.ts';
import {
  type Asking,
  idOfInvitation,
  listInvitations,
  recordInvitation,
  redeemInvitation,
  type RequestKeys,
  requireInvitation,
  type ShownInvitation,
  withdrawInvitation,
} from '../invitations.ts';
import type { Admission } from '../inviter.ts';
import { challengeOf } from '../key-request.ts';

export type AdmissionParts = {
  readonly data: string;
  readonly store: OpenStore;
  readonly clock: Clock;
  /** base URL of the management API of this appliance, as the others reach it */
  readonly ownUrl: string;
  /** CA certificates of the listeners, PEM, newest first */
  readonly authority: () => string;
  readonly cluster?: ClusterWay | undefined;
  /** Throws before the plugin of the membership is started. */
  readonly issuer: () => { readonly certificates: MemberCertificates; readonly tenantId: string };
  /** Throws `operation-refused` where there is no cluster. */
  readonly requireCluster: () => { readonly cluster: string; readonly clientUrl: string };
};

/** Claimed identity of an appliance: the holder of the keys of its requests is that appliance. */
type Named = { readonly secret: string; readonly appliance: string; readonly name: string };

/** An appliance that asks for the own keys of the others, for its transport key. */
export type TokenApplicant = Named & { readonly peerRequest: Uint8Array; readonly transportKey: string };

/** An invited appliance; its values are checked where they are used. */
export type Applicant = Named & {
  readonly address: string;
  readonly peerRequest: Uint8Array;
  readonly clientRequest: Uint8Array;
};

export type WithdrawnInvitation = {
  /** the appliance that has used it, and not come in */
  readonly appliance: string | undefined;
  /** as of Membership.end */
  readonly unconfirmed: readonly string[];
};

export class Admissions {
  readonly #parts: AdmissionParts;

  constructor(parts: AdmissionParts) {
    this.#parts = parts;
  }

  /** An invitation for one appliance, of that name if one is given. Throws `operation-refused` where there is no cluster. */
  async invite(by: string, member: string | undefined): Promise<{ id: string; invitation: string; expires: Temporal.Instant }> {
    const { store, clock, ownUrl, authority, requireCluster } = this.#parts;
    requireCluster();
    const secret = randomBytes(32).toString('base64url');
    const expires = await recordInvitation(store, clock.now(), hashOfSecret(secret), { by, member });
    const fingerprint = hash('sha256', new X509Certificate(authority()).raw, 'hex');
    const invitation = formatInvitation({ url: ownUrl, authority: fingerprint, secret });
    return { id: idOfInvitation(hashOfSecret(secret)), invitation, expires };
  }

  list(): readonly ShownInvitation[] {
    const { store, clock, requireCluster } = this.#parts;
    requireCluster();
    return listInvitations(store, clock.now());
  }

  /**
   * Ends an invitation, and the credentials of an appliance that was admitted by it and has not come in. Throws `not-found` and
   * `operation-refused`.
   */
  async withdraw(id: string): Promise<WithdrawnInvitation> {
    const { store, cluster, requireCluster } = this.#parts;
    requireCluster();
    const appliance = await withdrawInvitation(store, id);
    if (appliance === undefined || cluster === undefined) return { appliance, unconfirmed: [] };
    // Its server may be there although it has sent no heartbeat.
    const outcome = await cluster.remove(appliance, false);
    if (outcome === 'alive')
      throw fail('operation-refused', { detail: 'Its appliance has come in meanwhile: remove that one from the cluster.' });
    return { appliance, unconfirmed: await this.end(appliance) };
  }

  /**
   * Proves that an appliance was invited, before anything else: without an invitation it cannot find out existing names. `state`: present
   * members. Answers the id of the invitation. Throws `login-failed`, `invalid-csr` and `operation-refused`.
   */
  async requireInvited(applicant: Applicant, state: ClusterState): Promise<string> {
    const { peerRequest, clientRequest } = applicant;
    return this.#redeem(applicant, state, (certificates) => ({
      peer: digestOf(certificates.readRequest(peerRequest).key),
      client: digestOf(certificates.readRequest(clientRequest).key),
    }));
  }

  /** The same before it asks for certificates: its request speaks of the transport key, which another one cannot put in its place. */
  async requireInvitedToken(applicant: TokenApplicant, state: ClusterState): Promise<string> {
    return this.#redeem(applicant, state, (certificates) => {
      const { key, challenge } = certificates.readRequest(applicant.peerRequest);
      if (challenge === challengeOf(applicant)) return { peer: digestOf(key) };
      throw fail('login-failed', { detail: 'The request is not signed for this transport key and invitation.' });
    });
  }

  /** Undone when the invitation was withdrawn, or its appliance removed, meanwhile. As requireInvited. */
  async admit(applicant: Applicant, state: ClusterState): Promise<Admission> {
    const { data, store, issuer, requireCluster } = this.#parts;
    const { cluster, clientUrl } = requireCluster();
    const { appliance, name, address, peerRequest, clientRequest } = applicant;
    const { certificates, tenantId } = issuer();
    // One that comes in again after the loss of its disk has a new identity.
    const former = new Set(state.members.filter((one) => one.name === name).map(({ id }) => id));
    await noteEnded(store, await certificates.revoke(tenantId, (one) => one === appliance || former.has(one)));
    const certified = async (role: MemberRole, request: Uint8Array): Promise<Admission[MemberRole]> => ({
      ...(await certificates.issue(tenantId, role, { appliance, address, request })),
      revocations: Buffer.from(await certificates.revocations(tenantId, role)).toString('base64'),
    });
    const peer = await certified('peer', peerRequest);
    const client = await certified('client', clientRequest);
    try {
      await this.requireInvited(applicant, state);
    } catch (error) {
      await noteEnded(store, await certificates.revoke(tenantId, (one) => one === appliance));
      throw error;
    }
    return { cluster, endpoints: [clientUrl, ...readEndpoints(data).filter((url) => url !== clientUrl)], peer, client };
  }

  /** Ends the certificates of an appliance, and its connections. Answers the names of those that have not confirmed that. */
  async end(appliance: string): Promise<readonly string[]> {
    const { store, cluster, issuer } = this.#parts;
    if (cluster === undefined) return [];
    const { certificates, tenantId } = issuer();
    return awaitConfirmed(store, cluster, await noteEnded(store, await certificates.revoke(tenantId, (one) => one === appliance)));
  }

  async #redeem(
    { secret, appliance, name }: Named,
    state: ClusterState,
    prove: (certificates: MemberCertificates) => RequestKeys,
  ): Promise<string> {
    const { store, clock, issuer, requireCluster } = this.#parts;
    requireCluster();
    const now = clock.now();
    const invitation = hashOfSecret(secret);
    requireInvitation(store, now, invitation);
    const asking: Asking = { appliance, name, keys: prove(issuer().certificates) };
    const isIn = state.members.some(({ id }) => id === appliance);
    const id = await redeemInvitation(store, now, invitation, asking, isIn);
    requireFreeName(state, asking);
    return id;
  }
}

function digestOf(key: Uint8Array): string {
  return hash('sha256', key, 'hex');
}

/** Messages and audit trails name appliances by their names. */
function requireFreeName({ members }: ClusterState, { name }: Pick<Named, 'name'>): void {
  const other = members.find((one) => one.name === name && one.state !== 'out');
  if (other === undefined) return;
  throw fail('operation-refused', {
    detail:
      other.state === 'removed' || other.state === 'removing'
        ? `"${name}" is the name of an appliance that was removed permanently: give the new one another cluster/name.`
        : `An appliance of the cluster is named "${name}": give the new one another cluster/name.`,
  });
}
