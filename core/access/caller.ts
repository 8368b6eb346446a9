// The caller of a request.
import type { LoginIdentity, UserOrigin } from './user.ts';

/** The tenant, user and policies of the token that a request was sent with. */
export type Caller = UserOrigin & {
  readonly tenantId: string;
  readonly tenantName: string;
  readonly accessor: string;
  /** owner of the token, by its first ancestor: the approle, the person who signed in, or the root token. For counting; unique in the tenant */
  readonly origin: string;
  /** of a token that was made by another one: the accessor of its ancestor that the first one made, or its own. Tokens that descend from that share it */
  readonly branch?: string;
  /** name for audit and pages: a mapped username, the approle, or `root` */
  readonly user: string;
  /** absent for tokens that a version before issued, and for children of such */
  readonly identity?: LoginIdentity;
  readonly policies: readonly string[];
  readonly expires: Temporal.Instant | undefined;
  /** address ranges to which its token, and each of its ancestors, is bound */
  readonly boundCidrs: readonly (readonly string[])[];
  /** the token works with one certificate or key of TLS clients alone */
  readonly boundToKey?: true;
  /** the token has a number of uses, one of which each request takes */
  readonly isCounted?: true;
  /** an administrator of the tenant `system` who has the tenant open, and reads alone */
  readonly isVisitor?: true;
  /** program of the appliance that authenticated it other than by a bearer token, for the audit trail */
  readonly via?: string;
};
