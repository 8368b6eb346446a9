// Service of the plugin `ca` for a cluster whose appliances run the members of etcd: issues and revokes their certificates.
import { defineService } from '../service.ts';

/** Provided by the plugin `ca`. */
export const memberCertificatesService = defineService<MemberCertificates>('member-certificates');

/** Purposes of certificates: among the members of etcd, or for the appliances that write to it. Each has its own CA. */
export const memberRoles = ['peer', 'client'] as const;
export type MemberRole = (typeof memberRoles)[number];

/** PEM */
export type MemberCertificate = { readonly certificate: string; readonly authority: string };

/**
 * A CA key that is an object in one token. `isNewest`: it signs new certificates. `neededUntil`: end of the last certificate whose status it
 * signs; undefined without one.
 */
export type CaKeyInToken = {
  readonly tenantId: string;
  readonly ca: string;
  readonly isNewest: boolean;
  readonly neededUntil: string | undefined;
};

/** Proven contents of a DER PKCS#10 request: the key that its sender holds, and the other signed parts. */
export type ProvenRequest = {
  /** DER SubjectPublicKeyInfo */
  readonly key: Uint8Array;
  /** challengePassword (RFC 2985 5.4.1) */
  readonly challenge: string | undefined;
};

export type MemberCertificates = {
  /** Verifies a request. Throws `invalid-csr`. */
  readRequest(request: Uint8Array): ProvenRequest;
  /**
   * Issues a certificate for both ends of a connection. Only the key of the DER PKCS#10 request is used: the common name is the
   * id of the appliance, the alternative name its address. The CA is made on first use, in the given tenant. Throws `invalid-csr`,
   * `clock-implausible` and `in-use`.
   */
  issue(
    tenantId: string,
    role: MemberRole,
    wanted: { readonly appliance: string; readonly address: string; readonly request: Uint8Array },
  ): Promise<MemberCertificate>;
  /** Revokes the certificates of the appliances for which `isMeant` is true. Resolves with their addresses, empty if none had a valid certificate. */
  revoke(tenantId: string, isMeant: (appliance: string) => boolean): Promise<readonly string[]>;
  /** Returns those of these appliances whose certificates are all revoked. Reads the state of the last refresh. */
  lacking(tenantId: string, appliances: readonly string[]): readonly string[];
  /** Makes a revocation list of all revoked certificates, DER. Throws HsmError while the token cannot sign one. */
  revocations(tenantId: string, role: MemberRole): Promise<Uint8Array>;
  /** Returns the keys of CAs of all tenants that other appliances could not use. */
  keysInToken(): readonly CaKeyInToken[];
};
