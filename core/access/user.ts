// The users of tokens: where a name comes from, and which names nobody else may have.

/** The key of a token's record, safe to log. */
export type TokenName = { readonly tenantId: string; readonly accessor: string };

/**
 * Where the name of a user comes from: the root token of a tenant, an approle, or a sign-in of a person. `userSource` names the
 * approle or the service at which the person signed in: names of different sources may be alike.
 */
export type UserOrigin = { readonly userKind: 'root-token' | 'approle' | 'sign-in'; readonly userSource?: string };

/** The user of the root token of a tenant. */
export const rootUser = 'root';

/** Whether a text is read as the name of the root token's user: no approle and no person has such a name. */
export function isReservedUser(name: string): boolean {
  return plainForm(name) === rootUser;
}

/** A name without what people do not see or tell apart: case, spaces, invisible characters, forms of the same letter. */
export function plainForm(name: string): string {
  return name
    .normalize('NFKC')
    .replaceAll(/[\s\p{Cc}\p{Cf}]/gu, '')
    .toLowerCase();
}
