// Users of tokens: the origin of a name, and reserved names.

/** The key of a token's record, safe to log. */
export type TokenName = { readonly tenantId: string; readonly accessor: string };

/**
 * Origin of a user's name: the root token of a tenant, an approle, or a sign-in of a person. `userSource` names the
 * approle or the service at which the person signed in: names of different sources may be alike.
 */
export type UserOrigin = { readonly userKind: 'root-token' | 'approle' | 'sign-in'; readonly userSource?: string };

/** The user of the root token of a tenant. */
export const rootUser = 'root';

/** Tells whether a text reads as the name of the root token's user, which no approle and no person may have. */
export function isReservedUser(name: string): boolean {
  return plainForm(name) === rootUser;
}

/** Normalises differences of a name that people do not see: case, spaces, invisible characters, forms of the same letter. */
export function plainForm(name: string): string {
  return name
    .normalize('NFKC')
    .replaceAll(/[\s\p{Cc}\p{Cf}]/gu, '')
    .toLowerCase();
}
