// What the plugin `ca` offers to a cluster whose members of etcd are those of the appliances: their certificates, and their end.
import { defineService } from '../service.ts';

/** Provided by the plugin `ca`. */
export const memberCertificatesService = defineService<MemberCertificates>('member-certificates');

/** What a certificate is for: among the members of etcd, or for the appliances that write to it. A CA of its own for each. */
export const memberRoles = ['peer', 'client'] as const;
export type MemberRole = (typeof memberRoles)[number];

/** PEM */
export type MemberCertificate = { readonly certificate: string; readonly authority: string };

/**
 * A CA key that is an object in one token. `isNewest`: it signs new certificates. `neededUntil`: when the last certificate ends whose status it
 * signs; undefined where there is none.
 */
export type CaKeyInToken = {
  readonly tenantId: string;
  readonly ca: string;
  readonly isNewest: boolean;
  readonly neededUntil: string | undefined;
};

/** What a DER PKCS#10 request proves: that who made it has this key, and what its signature speaks of beside it. */
export type ProvenRequest = {
  /** DER SubjectPublicKeyInfo */
  readonly key: Uint8Array;
  /** challengePassword (RFC 2985 5.4.1) */
  readonly challenge: string | undefined;
};

export type MemberCertificates = {
  /** Throws `invalid-csr`. */
  readRequest(request: Uint8Array): ProvenRequest;
  /**
   * Issues a certificate for both ends of a connection, for the key of a DER PKCS#10 request and nothing else of it: the common name is the
   * id of the appliance, the alternative name its address. The CA is made on first use, in the given tenant. Throws `invalid-csr`,
   * `clock-implausible` and `in-use`.
   */
  issue(
    tenantId: string,
    role: MemberRole,
    wanted: { readonly appliance: string; readonly address: string; readonly request: Uint8Array },
  ): Promise<MemberCertificate>;
  /** Revokes what the appliances have that are meant; answers their addresses, none where nothing was left to be revoked. */
  revoke(tenantId: string, isMeant: (appliance: string) => boolean): Promise<readonly string[]>;
  /** Of these appliances, those that have no certificate any more that is good, because theirs were revoked. Reads the state of the last refresh. */
  lacking(tenantId: string, appliances: readonly string[]): readonly string[];
  /** A revocation list of everything that is revoked, DER. Throws HsmError while the token cannot sign one. */
  revocations(tenantId: string, role: MemberRole): Promise<Uint8Array>;
  /** Of the CAs of all tenants: what other appliances could not use. */
  keysInToken(): readonly CaKeyInToken[];
};
