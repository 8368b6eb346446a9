// The caller of a request.
import type { UserOrigin } from './user.ts';

/** The tenant, user and policies of the token that a request was sent with. */
export type Caller = UserOrigin & {
  readonly tenantId: string;
  readonly tenantName: string;
  readonly accessor: string;
  /** whom the token stands for, by its first ancestor: the approle, the person who signed in, or the root token. For counting; unique in the tenant */
  readonly origin: string;
  /** name for audit and pages: a mapped username, the approle, or `root` */
  readonly user: string;
  readonly policies: readonly string[];
  readonly expires: Temporal.Instant | undefined;
  /** ranges of addresses that its token is bound to, and each of those that it descends from */
  readonly boundCidrs: readonly (readonly string[])[];
  /** the program of the appliance that authenticated it otherwise than by a bearer token, for the audit trail */
  readonly via?: string;
};
