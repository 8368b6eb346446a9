// Membership in a serving process: bootstraps a cluster, joins one, renews its own certificates, and ends those of others.
import { randomUUID, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { openTenants, systemTenantName } from '../../../core/access/tenants.ts';
import type { Clock, Job, Log } from '../../../core/base/context.ts';
import { writeDurably } from '../../../core/base/durable-files.ts';
import { fail } from '../../../core/base/errors.ts';
import type { ClusterConfig, MemberConfig } from '../../../core/config/cluster.ts';
import { type AnyPlugin, definePlugin } from '../../../core/plugin/plugin.ts';
import {
  type MemberCertificates,
  memberCertificatesService,
  type MemberRole,
  memberRoles,
} from '../../../core/plugin/services/member-certificates.ts';
import type { OpenStore } from '../../../core/store/open.ts';
import { findContent, type TableKinds } from '../../../core/store/records/table-kinds.ts';
import type { Hsm, TokenConfig } from '../../../hsm/api.ts';
import { provideIdentity } from './identity.ts';
import type { ClusterWay } from '../cluster-way.ts';
import { holdAlone } from '../../data-directory/data-directory.ts';
import { endingJob } from './ending/ended-credentials.ts';
import { isRefusedByOthers, refusedReason } from './ending/refused-credentials.ts';
import { programProblem } from './etcd-process.ts';
import { memberFiles, readMembership, type RoleFiles, writeCredentials, writeMembership } from './files.ts';
import { parseInvitation } from './invitation.ts';
import { Admissions } from './inviting/admissions.ts';
import { makeKeyRequest } from './key-request.ts';
import { type Moving, requireNoObjects } from '../keys/untransferable-keys.ts';
import { urlsOf } from './server-flags.ts';

export type MembershipParts = {
  readonly data: string;
  readonly config: ClusterConfig | undefined;
  readonly store: OpenStore;
  /** of all tables */
  readonly kinds: TableKinds;
  readonly hsm: Hsm;
  readonly clock: Clock;
  /** base URL of the management API of this appliance, as the others reach it */
  readonly ownUrl: string;
  /** CA certificates of the listeners, PEM, newest first */
  readonly authority: () => string;
  /** of an appliance in a cluster */
  readonly cluster?: ClusterWay | undefined;
  /** the token of this appliance, as it was opened, where each has one with the same own keys; otherwise all reach one */
  readonly ownToken?: TokenConfig | undefined;
  readonly log: Log;
  /** The supervisor starts the member of etcd again. */
  readonly restartServer: () => Promise<void>;
  /** Rejects with `conflict` while processes of this appliance start. */
  readonly requireReady: () => Promise<void>;
  /** The supervisor replaces all processes by those of a member. Resolves before that. */
  readonly takePart: () => Promise<void>;
};

const renewalSeconds = 3_600;
/** Interval at which an appliance that is cut off checks whether refused credentials are the reason. */
const refusalLookSeconds = 10;

/** Certificates for the shared store that are no longer valid. */
export type LostCredentials = {
  /** reason for which this appliance has none, or is no longer a member; undefined: it is one, as far as it knows */
  readonly own: string | undefined;
  /** ids of other members */
  readonly others: readonly string[];
};

export class Membership {
  readonly #parts: MembershipParts;
  /** invited and joining appliances */
  readonly admissions: Admissions;
  #certificates: MemberCertificates | undefined;
  /** last known value while this appliance is cut off */
  #isRefused = false;

  constructor(parts: MembershipParts) {
    this.#parts = parts;
    this.admissions = new Admissions({ ...parts, issuer: () => this.#issuer(), requireCluster: () => this.#requireCluster() });
  }

  /** To be started with the plugins of the appliance: it has the certificates from one of them. */
  readonly plugin: AnyPlugin = definePlugin({
    name: 'cluster-membership',
    contract: 1,
    config: z.unknown(),
    uses: [memberCertificatesService],
    provision: (context) => {
      this.#certificates = context.service(memberCertificatesService);
      return { jobs: this.#jobs() };
    },
  });

  /** Every appliance sees to its own certificates and revocation lists. */
  #jobs(): readonly Job[] {
    const { cluster, config } = this.#parts;
    const member = config?.member;
    if (member === undefined || cluster === undefined) return [];
    const revocations = (role: MemberRole): Promise<Uint8Array> => {
      const { certificates, tenantId } = this.#issuer();
      return certificates.revocations(tenantId, role);
    };
    const shared = { isOfEach: true, whileClockInDoubt: true } as const;
    return [
      { ...shared, name: 'member-certificates', everySeconds: renewalSeconds, run: () => this.#renew() },
      endingJob({ ...this.#parts, member, cluster, revocations }),
      { ...shared, name: 'member-refusal', everySeconds: refusalLookSeconds, run: () => this.#look(cluster) },
    ];
  }

  /** An appliance that is cut off may not have the records with the reason. */
  async #look(cluster: ClusterWay): Promise<void> {
    const { data } = this.#parts;
    const membership = cluster.isValid ? undefined : readMembership(data);
    this.#isRefused = membership !== undefined && (await isRefusedByOthers(data, membership.clientUrl));
  }

  /** By the store of this appliance, and by its own observation. */
  get lostCredentials(): LostCredentials {
    const { cluster, config, store } = this.#parts;
    if (cluster === undefined || config?.member === undefined) return { own: cluster?.over, others: [] };
    store.refresh();
    const { certificates, tenantId } = this.#issuer();
    const lacking = certificates.lacking(tenantId, cluster.members);
    const isRefused = lacking.includes(cluster.appliance) || (this.#isRefused && !cluster.isValid);
    return { own: cluster.over ?? (isRefused ? refusedReason : undefined), others: lacking.filter((id) => id !== cluster.appliance) };
  }

  /**
   * Makes an appliance that stands alone the first of a cluster. Certificates of a former cluster end. Resolves before the processes are
   * replaced, which takes seconds. Throws `operation-refused` and `conflict`.
   */
  bootstrap(moving: Moving): Promise<{ readonly name: string }> {
    return this.#once(() => this.#bootstrap(moving));
  }

  async #bootstrap(moving: Moving): Promise<{ readonly name: string }> {
    const { data, config, takePart, ownToken } = this.#parts;
    const member = this.#requireMember();
    await this.#requireAlone(member);
    const { certificates, tenantId } = this.#issuer();
    if (ownToken !== undefined) requireNoObjects(this.#parts.store, certificates.keysInToken(), moving);
    await certificates.revoke(tenantId, () => true);
    writeCredentials(data, await this.#issueOwn(member));
    writeMembership(data, { step: 'founding', cluster: randomUUID(), ...urlsOf(member) });
    await takePart();
    return { name: config?.name ?? '' };
  }

  /**
   * Makes an appliance that stands alone, and has nothing yet, a member of the cluster that has invited it, whose state replaces its own.
   * Resolves before the processes are replaced. Throws `invalid-value`, `operation-refused`, `conflict`, `not-new`, and the errors of
   * joining/join.ts.
   */
  join(text: string): Promise<{ readonly name: string; readonly invitedBy: string }> {
    return this.#once(() => this.#join(text));
  }

  async #join(text: string): Promise<{ readonly name: string; readonly invitedBy: string }> {
    const { data, config, store, kinds, takePart } = this.#parts;
    const member = this.#requireMember();
    const invitation = parseInvitation(text);
    if (invitation === undefined)
      throw fail('invalid-value', { detail: '"invitation" must be the line that "keystorectl cluster invite" has printed.' });
    await this.#requireAlone(member);
    store.refresh();
    const content = findContent(store, kinds);
    if (content !== undefined) {
      throw fail('not-new', {
        detail: `This appliance has something of its own (${content}), which would be lost: reset it, or start it with an empty data directory.`,
      });
    }
    const { prepareToJoin } = await import('./joining/join.ts');
    const name = config?.name ?? '';
    await prepareToJoin({ ...this.#parts, member, id: provideIdentity(data), name }, invitation);
    await takePart();
    return { name, invitedBy: invitation.url };
  }

  /**
   * Ends the certificates of a removed appliance, and its connections. Answers the names of the appliances that have not confirmed that;
   * none of an etcd that somebody else runs. Rejects with `cluster-unavailable`.
   */
  async end(appliance: string): Promise<readonly string[]> {
    return this.#parts.config?.member === undefined ? [] : this.admissions.end(appliance);
  }

  /** Etcd reads the pair at every handshake, and the follower looks every minute. */
  async #renew(): Promise<void> {
    const { data, clock } = this.#parts;
    if (readMembership(data) === undefined) return;
    const { ofRole } = memberFiles(data);
    const isDue = memberRoles.some((role) => {
      const { validFromDate, validToDate } = new X509Certificate(readFileSync(ofRole(role).certificate));
      const life = validToDate.getTime() - validFromDate.getTime();
      return validToDate.getTime() - clock.now().epochMilliseconds < life / 3;
    });
    if (isDue) await this.#replacePairs(await this.#issueOwn(this.#requireMember()));
  }

  async #replacePairs(credentials: Readonly<Record<MemberRole, RoleFiles>>): Promise<void> {
    for (const role of memberRoles) {
      const { key, certificate } = memberFiles(this.#parts.data).ofRole(role);
      // Between both no handshake succeeds; each is tried again.
      writeDurably(key, credentials[role].key);
      writeDurably(certificate, credentials[role].certificate);
    }
  }

  async #issueOwn({ address }: MemberConfig): Promise<Readonly<Record<MemberRole, RoleFiles>>> {
    const { certificates, tenantId } = this.#issuer();
    const appliance = provideIdentity(this.#parts.data);
    const issue = async (role: MemberRole): Promise<RoleFiles> => {
      const { key, request } = makeKeyRequest();
      const issued = await certificates.issue(tenantId, role, { appliance, address, request });
      return { ...issued, key, revocations: await certificates.revocations(tenantId, role) };
    };
    return { peer: await issue('peer'), client: await issue('client') };
  }

  #requireMember(): MemberConfig {
    const member = this.#parts.config?.member;
    if (member !== undefined) return member;
    throw refused('The configuration has no section "cluster" with "member": it says which address of this machine the others reach.');
  }

  /** Two at once would mix the certificates of both. */
  async #once<T>(run: () => Promise<T>): Promise<T> {
    const release = await holdAlone(this.#parts.data, 'membership');
    if (release === undefined)
      throw fail('conflict', { detail: 'Another request bootstraps or joins a cluster at this moment: ask again.' });
    try {
      await this.#parts.requireReady();
      return await run();
    } finally {
      release();
    }
  }

  async #requireAlone({ program }: MemberConfig): Promise<void> {
    if (readMembership(this.#parts.data) !== undefined)
      throw refused('This appliance is in a cluster already: GET /v1/state/system/cluster shows it.');
    const problem = await programProblem(program);
    if (problem !== undefined) throw refused(`A cluster needs etcd: ${problem}.`);
  }

  #requireCluster(): { readonly cluster: string; readonly clientUrl: string } {
    this.#requireMember();
    const membership = readMembership(this.#parts.data);
    if (membership !== undefined && this.#parts.store.appliance !== undefined) return membership;
    throw refused('This appliance stands alone: "keystorectl cluster init" makes it the first of a cluster.');
  }

  #issuer(): { readonly certificates: MemberCertificates; readonly tenantId: string } {
    const system = openTenants(this.#parts.store).findByName(systemTenantName);
    if (system === undefined || this.#certificates === undefined) throw new Error('the plugin of the membership is not started');
    return { certificates: this.#certificates, tenantId: system.uuid };
  }
}

function refused(detail: string) {
  return fail('operation-refused', { detail });
}
