// Interface of the audit trail for core and plugins: one record per decision, durable before the answer.
import type { LoginIdentity, UserOrigin } from '../access/user.ts';
import { fail, type ServiceError } from '../base/errors.ts';

/** Marks the record of an enrolment whose sender has shown an accepted credential, for the limit of unauthenticated ones. It is not written. */
export const hasCredential: unique symbol = Symbol('hasCredential');

/** An audit record without the trail's own fields (sequence, previous hash, own hash). Absent fields are left out. */
export type AuditRecord = {
  readonly [hasCredential]?: boolean;
  readonly kind: 'request' | 'login' | 'approval' | 'est' | 'scep' | 'acme' | 'cmp' | 'rotation' | 'deletion' | 'console' | 'system';
  /** RFC 3339 UTC with six decimals */
  readonly occurredAt: string;
  readonly requestId: string;
  /** name of the tenant, and its uuid, which is never reused; either may be given */
  readonly tenant?: string;
  readonly tenantId?: string;
  readonly user?: string;
  /** origin of that name, with the approle or the sign-in service that gave it */
  readonly userKind?: UserOrigin['userKind'];
  readonly userSource?: string;
  /** proved by the login of the token; absent for tokens of versions before it was recorded */
  readonly identity?: LoginIdentity;
  readonly accessor?: string;
  /** of a failed login: number of tenants that have chosen its role-id. Any of them may be meant and has a record. Only `system` reads it */
  readonly possibleTenants?: number;
  /** program of the appliance that the caller used; absent: an external one with a bearer token */
  readonly via?: string;
  /** normalised path without query */
  readonly path?: string;
  readonly method?: string;
  /** parameters of the query, only for requests with a token */
  readonly query?: Readonly<Record<string, unknown>>;
  readonly status?: number;
  readonly code?: string;
  readonly requestTimeMs?: number;
  readonly clientIp?: string;
  readonly userAgent?: string;
  /** acts of the request, for which rules may need approval */
  readonly acts?: readonly string[];
  /** rules of approvals that are not about it because of values that it has, each with one of its fields */
  readonly outsideRules?: readonly { readonly rule: string; readonly field: string; readonly values: unknown }[];
  /** id of the request for approval: of an act the one that it has spent */
  readonly approval?: string;
  /** people who have approved it */
  readonly approvers?: readonly { readonly user: string; readonly identity: LoginIdentity; readonly accessor: string }[];
  readonly keyVersion?: number;
  readonly signedDigest?: SignedDigest;
  /** answered from the last state, while the appliance was cut off from its cluster */
  readonly isolated?: true;
  /** names of the entries that a batch created */
  readonly created?: readonly string[];
  /** allow-listed fields of the request; payloads become {"bytes": n} */
  readonly requestParameters?: Readonly<Record<string, unknown>> | Whole;
};

/** Parameters recorded in full, up to 3 MiB: the content of a completed change. */
export class Whole {
  readonly value: Readonly<Record<string, unknown>>;

  constructor(value: Readonly<Record<string, unknown>>) {
    this.value = value;
  }

  toJSON(): unknown {
    return this.value;
  }
}

/**
 * Digest of the signed text: `sha256:` and its SHA-256 in hexadecimal, or, if the caller gave the hash, its algorithm and the hash.
 * For a batch one for each item in order, null if nothing was signed.
 */
export type SignedDigest = string | readonly (string | null)[];

export interface Audit {
  /** Appends; resolves when the record is on the disk. Records written together share a promise. Rejects with `audit-unavailable`. */
  write(record: AuditRecord): Promise<void>;
  /** true if records can be written; otherwise changes and uses of keys are refused before they run */
  readonly writable: boolean;
  /** reason for which they cannot, for people; undefined if unknown */
  readonly problem?: string | undefined;
  /** destination that lags too far behind the trail, under `on-lag: block`; records are still written */
  readonly behind?: string | undefined;
}

const behindRetrySeconds = 10;

/** Refusal of a request: `audit-unavailable` or `shipping-behind`; undefined without one. `onlyWritable`: ignores a receiver that is behind. */
export function refusalOf(audit: Audit, onlyWritable = false): ServiceError | undefined {
  if (!audit.writable) return fail('audit-unavailable');
  if (onlyWritable || audit.behind === undefined) return undefined;
  return fail('shipping-behind', { retryAfterSeconds: behindRetrySeconds });
}

/** Returns a trail that records by `write`, is behind as `lag` says, and is otherwise as another one is at the moment. */
export function writingBy(audit: Audit, write: Audit['write'], lag: Pick<Audit, 'behind'> = audit): Audit {
  return {
    write,
    get writable() {
      return audit.writable;
    },
    get problem() {
      return audit.problem;
    },
    get behind() {
      return lag.behind;
    },
  };
}
