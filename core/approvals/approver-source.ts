// Ways to log in that plugins provide, as far as rules of approvals name them.

/** Roles of one kind of login. */
export type ApproverSource = {
  /** first part of their names in rules */
  readonly name: string;
  /** The id of a role by the rest of its name; undefined for one that is not there, or was last saved by a version without ids. */
  idOf(tenantId: string, role: string): string | undefined;
};
