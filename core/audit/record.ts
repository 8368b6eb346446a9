// What the house sees of the audit trail: one record per decision, durable before the answer (design hsm 22, api 69 to 72).

/** An audit record without what the trail itself adds (sequence, previous hash, own hash). Absent fields are left out. */
export type AuditRecord = {
  readonly kind: 'request' | 'login' | 'est' | 'rotation' | 'console' | 'system';
  /** RFC 3339 UTC with six decimals */
  readonly occurredAt: string;
  readonly requestId: string;
  /** name of the tenant, and its uuid, which no later tenant of the name has; whoever writes a record may give either */
  readonly tenant?: string;
  readonly tenantId?: string;
  readonly user?: string;
  readonly accessor?: string;
  /** normalised path without query */
  readonly path?: string;
  readonly method?: string;
  readonly status?: number;
  readonly code?: string;
  readonly requestTimeMs?: number;
  readonly clientIp?: string;
  readonly userAgent?: string;
  readonly keyVersion?: number;
  readonly signedDigest?: SignedDigest;
  /** allow-listed fields of the request; payloads stand as {"bytes": n} */
  readonly requestParameters?: Readonly<Record<string, unknown>>;
};

/**
 * What a signature is of: `sha256:` and the SHA-256 of the text in hexadecimal, or, where the caller gave the hash, its algorithm and the
 * hash. Of a batch one for each item in order, null where there is no signature: at most as many as a batch may have.
 */
export type SignedDigest = string | readonly (string | null)[];

export interface Audit {
  /** Appends and resolves once it is on the disk; records written together share a promise. Rejects with `audit-unavailable` (bounded wait). */
  write(record: AuditRecord): Promise<void>;
  /** Whether records can be written at the moment; false makes changes and key uses be refused before they run. */
  readonly writable: boolean;
  /** Why not, for people; without it the reason is not known. */
  readonly problem?: string | undefined;
}
