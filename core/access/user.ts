// Users of tokens: the origin of a name, and reserved names.

/** The key of a token's record, safe to log. */
export type TokenName = { readonly tenantId: string; readonly accessor: string };

/**
 * Origin of a user's name: the root token of a tenant, an approle, a sign-in of a person, or the login of a workload with a token of its
 * platform or with a certificate. `userSource` names the approle, the service at which the person signed in, the issuer of the platform, or the role
 * of the certificate: names of different sources may be alike.
 */
export type UserOrigin = {
  readonly userKind: 'root-token' | 'approle' | 'sign-in' | 'workload' | 'certificate';
  readonly userSource?: string;
};

/**
 * Identity that a login has proved, unique in a tenant and never given to another: names for people may be alike, and may change. Children
 * have the identity of the token that made them. `source` and `subject`: for `root-token` the uuid of the tenant and `root`, for `approle` its id and name,
 * for `sign-in` and `workload` the issuer (`iss`) and the subject (`sub`) as the provider writes them, for `certificate` the uuid of the CA and the
 * name in the certificate after its kind.
 */
export type LoginIdentity = { readonly kind: UserOrigin['userKind']; readonly source: string; readonly subject: string };

/** An identity as one text. */
export function identityKey({ kind, source, subject }: LoginIdentity): string {
  return JSON.stringify([kind, source, subject]);
}

/** The user of the root token of a tenant. */
export const rootUser = 'root';

/** The identity of the root token of a tenant. */
export function rootIdentity(tenantId: string): LoginIdentity {
  return { kind: 'root-token', source: tenantId, subject: rootUser };
}

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
