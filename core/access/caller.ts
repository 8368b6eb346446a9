// Who a request is from, as its token says.

/** The caller of a request: the tenant, user and policies of the token. */
export type Caller = {
  readonly tenantId: string;
  readonly tenantName: string;
  readonly accessor: string;
  /** name for audit and pages: a mapped username, the approle, or `root` */
  readonly user: string;
  readonly policies: readonly string[];
  readonly expires: Temporal.Instant | undefined;
};
