// Records of tokens, and the validity of a token now and from an address, which also depends on its ancestors.
import { commonRanges, isWithin } from '../../base/addresses.ts';
import { defined } from '../../base/defined.ts';
import { fail } from '../../base/errors.ts';
import type { Store, Table, WriteTransaction } from '../../store/store.ts';
import { type ClientCertificate, type Confirmation, confirms } from '../../tls/client-certificate.ts';
import { grantIsOpen } from '../logins/grants.ts';
import { identityKey, type LoginIdentity, type TokenName, type UserOrigin } from '../user.ts';

/** Address and program of a sign-in, as the browser said it: nothing is decided by them. */
export type SignedIn = { readonly address: string; readonly program: string };

/** Longest name of a program that is kept. */
const mostProgramCharacters = 256;

export function signedInFrom(call: { readonly clientIp: string; readonly userAgent: string }): SignedIn {
  return { address: call.clientIp, program: call.userAgent.slice(0, mostProgramCharacters) };
}

/** Record of a token: everything but the token itself. */
export type TokenRecord = {
  readonly accessor: string;
  /** SHA-256 of the token's text, hexadecimal */
  readonly hash: string;
  readonly tenantId: string;
  /** name for audit and pages: a mapped username, the approle, or `root` */
  readonly user: string;
  /** that of the login, or of the parent; absent in tokens of versions before it was recorded, and in children of such */
  readonly identity?: LoginIdentity;
  /** identities that made the login of the token: of the maker of its secret-id, and those behind that one; children have those of their parent */
  readonly behind?: readonly LoginIdentity[];
  /** grants of the login (logins/grants.ts): the token ends with any of them */
  readonly grants?: readonly string[];
  readonly policies: readonly string[];
  readonly creationTime: string;
  /** absent: does not expire (root tokens) */
  readonly expires?: string;
  /** limit of the time that one refresh adds, and the latest expiry that refreshes can reach; without the second, refreshes have no end */
  readonly ttlSeconds?: number;
  readonly latestExpires?: string;
  /** requests that it can still make; absent: any number */
  readonly usesLeft?: number;
  /** accessor of the token that created it; it is never valid when or where that one is not */
  readonly parent?: string;
  /** ranges of addresses it may be used from; absent: any */
  readonly boundCidrs?: readonly string[];
  /** certificate or key of the TLS client that alone may use it; children are bound by their parent */
  readonly cnf?: Confirmation;
  /** kept in the cookie of a browser; not accepted as a bearer token */
  readonly browser?: true;
  /** of a session of a browser: where the person signed in, so that sessions can be told apart; absent in those of earlier versions */
  readonly signedIn?: SignedIn;
  /** of a session of a browser: time of its last use, to the minute */
  readonly lastUsed?: string;
  /** the approle it was issued to */
  readonly approle?: {
    readonly name: string;
    /** one more of its grants, in the place where earlier versions look for it */
    readonly grantId: string;
    /** creation of the secret-id of the login; absent in tokens of version 0.1.0 */
    readonly secretIdCreationTime?: string;
  };
  /** origin of a token without a parent: the maker of the secret-id of its login, or the token on whose behalf that was made */
  readonly madeBy?: TokenName;
  /** of an administrator of the tenant `system` who has this tenant open: it reads, and ends with the token that `madeBy` names */
  readonly opened?: { readonly by: string; readonly reason: string };
  /** its user is that of a root token, from which it descended */
  readonly ofRootToken?: true;
  /** service of a sign-in, issuer of a workload's login, or role of a login by certificate, by its name here; absent in tokens of version 0.1.0 */
  readonly service?: string;
};

/** [tenant uuid, accessor] */
export const tokenTable = (store: Store): Table<TokenRecord> => store.tenantTable<TokenRecord>('tokens');

/** Reads a record: from the snapshot or, if a change depends on it, through its transaction. */
export type Read = WriteTransaction['get'];

const fromSnapshot: Read = (table, key) => table.get(key);

/** A token and then its ancestors: it works when and where all of them do. */
export type Lineage = readonly [TokenRecord, ...TokenRecord[]];

/** The lineage of a token; undefined if an ancestor, or a grant of the login of one of them, has ended. */
export function lineageOf(store: Store, record: TokenRecord, read: Read = fromSnapshot): Lineage | undefined {
  const ancestors = ancestorsOf(store, record, read);
  const isGranted = (one: TokenRecord | undefined): one is TokenRecord => one !== undefined && hasItsGrants(store, one, read);
  return isGranted(record) && ancestors.every(isGranted) ? [record, ...ancestors] : undefined;
}

const none: readonly never[] = [];

/** Tells whether the grants of a token's own login still exist. */
function hasItsGrants(store: Store, record: TokenRecord, read: Read): boolean {
  const { opened, madeBy } = record;
  if (opened !== undefined) {
    const opener = madeBy && read(tokenTable(store), [madeBy.tenantId, madeBy.accessor]);
    if (opener === undefined || lineageOf(store, opener, read) === undefined) return false;
  }
  return grantsOf(record).every((grant) => grantIsOpen(store, record.tenantId, grant, read));
}

/** The grants of a token's own login. */
export function grantsOf({ approle, grants = none }: TokenRecord): readonly string[] {
  return approle === undefined ? grants : [...grants, approle.grantId];
}

/** Origin of the user's name: children have the user of their first ancestor. */
export function userOriginOf(lineage: Lineage): UserOrigin {
  const { approle, service, expires, ofRootToken, identity } = lineage.at(-1) as TokenRecord;
  if (approle !== undefined) return { userKind: 'approle', userSource: approle.name };
  // Tokens that others give always have an end.
  if (expires === undefined || ofRootToken === true) return { userKind: 'root-token' };
  const userKind = identity?.kind === 'workload' || identity?.kind === 'certificate' ? identity.kind : 'sign-in';
  return service === undefined ? { userKind } : { userKind, userSource: service };
}

/** Identities behind a login: each step from one approle to the next adds one. */
const mostBehind = 16;

/**
 * The identities behind what a token makes, its own first: a maker of the login of another can use that. Throws `token-lineage-too-long` where they are too many:
 * one that is left out would look like somebody else.
 */
export function makersBy({ identity, behind = [] }: TokenRecord): readonly LoginIdentity[] {
  const all = [...(identity === undefined ? [] : [identity]), ...behind];
  const makers = [...new Map(all.map((one) => [identityKey(one), one])).values()];
  if (makers.length <= mostBehind) return makers;
  throw fail('token-lineage-too-long', {
    detail: `At most ${mostBehind} logins may be behind a secret-id, each of which made that of the next: let an earlier one make it.`,
  });
}

/** Origin that a token has by its ancestors and keeps without them: it ends with the grants of their logins. */
export function inheritedBy(lineage: Lineage): Pick<TokenRecord, 'approle' | 'service' | 'madeBy' | 'grants' | 'ofRootToken'> {
  const { approle, service, madeBy } = lineage.at(-1) as TokenRecord;
  const grants = lineage.flatMap((one) => one.grants ?? []);
  return {
    ...defined({ approle, service, madeBy }),
    ...(grants.length === 0 ? {} : { grants }),
    ...(userOriginOf(lineage).userKind === 'root-token' ? { ofRootToken: true } : {}),
  };
}

/** The record of a token that works without its ancestors as it did with them: as long, from where, and as whose it did. */
export function asAlone(lineage: Lineage): TokenRecord {
  const [{ parent: _, ...own }] = lineage;
  // Timestamps of this form sort chronologically.
  const [expires] = lineage.flatMap((one) => one.expires ?? []).sort();
  const [latestExpires] = lineage.flatMap((one) => one.latestExpires ?? []).sort();
  const [ttlSeconds] = lineage.flatMap((one) => one.ttlSeconds ?? []).sort((one, other) => one - other);
  const ranges = lineage.flatMap(({ boundCidrs }) => (boundCidrs === undefined ? [] : [boundCidrs]));
  const cnf = lineage.find((one) => one.cnf !== undefined)?.cnf;
  return {
    ...own,
    ...inheritedBy(lineage),
    ...defined({ expires, latestExpires, ttlSeconds, cnf }),
    ...(ranges.length === 0 ? {} : { boundCidrs: ranges.reduce(commonRanges) }),
  };
}

/** Owner of a token as one text: another login or child token has the same one. Unique in the tenant. */
export function originOf(lineage: Lineage): string {
  const { accessor, user, identity } = lineage.at(-1) as TokenRecord;
  const { userKind, userSource = '' } = userOriginOf(lineage);
  // The name of a workload or a device is cut to a length that can be shown.
  if (userKind === 'workload' || userKind === 'certificate') return JSON.stringify([userKind, identity?.source, identity?.subject]);
  return JSON.stringify(userKind === 'root-token' ? [accessor] : [userKind, userSource, user]);
}

/** Tells whether the token and all its ancestors are within their validity period. */
export function isWorking(store: Store, record: TokenRecord, now: Temporal.Instant, read: Read = fromSnapshot): boolean {
  const lineage = lineageOf(store, record, read);
  return lineage !== undefined && worksAt(lineage, now);
}

/** Tells whether an instant is within the validity period of all. */
export function worksAt(lineage: Lineage, now: Temporal.Instant): boolean {
  return lineage.every((one) => isInItsTime(one, now));
}

/** Tells whether an address is within the ranges of all. */
export function worksFrom(lineage: Lineage, address: string | undefined): boolean {
  return lineage.every(({ boundCidrs }) => boundCidrs === undefined || isWithin(boundCidrs, address));
}

/** Tells whether a client has the certificate or key that each of them is bound to. */
export function worksWith(lineage: Lineage, client: { readonly certificate?: ClientCertificate | undefined } | undefined): boolean {
  return lineage.every(({ cnf }) => cnf === undefined || confirms(cnf, client?.certificate));
}

/** Limit of ancestors: every use of a token reads all of them. */
export const mostAncestors = 8;

/** The parent, its parent, and so on; ends with undefined when one was deleted. */
export function ancestorsOf(
  store: Store,
  { tenantId, parent }: TokenRecord,
  read: Read = fromSnapshot,
): readonly (TokenRecord | undefined)[] {
  if (parent === undefined) return none;
  const found: (TokenRecord | undefined)[] = [];
  for (let accessor: string | undefined = parent; accessor !== undefined; accessor = found.at(-1)?.parent) {
    found.push(read(tokenTable(store), [tenantId, accessor]));
  }
  return found;
}

/** Tells whether a token has expired; at the instant of its expiry it has. */
export function isExpired(record: TokenRecord, now: Temporal.Instant): boolean {
  return now.epochMilliseconds >= timeOf(record).untilMs;
}

/** Tells whether a token had a number of uses and has made them all. */
export function isUsedUp({ usesLeft }: TokenRecord): boolean {
  return usesLeft === 0;
}

/** Tells whether a token is valid. A clock that was set back must not revive an expired one: none has more time left than one refresh gives. */
function isInItsTime(record: TokenRecord, now: Temporal.Instant): boolean {
  const { fromMs, untilMs } = timeOf(record);
  return now.epochMilliseconds >= fromMs && now.epochMilliseconds < untilMs;
}

/** Small corrections of the clock do not end tokens that were issued shortly before. */
const clockToleranceMs = 300_000;

function timeOf(record: TokenRecord): { readonly fromMs: number; readonly untilMs: number } {
  let time = times.get(record);
  if (time === undefined) {
    const untilMs = record.expires === undefined ? Infinity : Temporal.Instant.from(record.expires).epochMilliseconds;
    const fromMs = record.ttlSeconds === undefined ? -Infinity : untilMs - record.ttlSeconds * 1_000 - clockToleranceMs;
    times.set(record, (time = { fromMs, untilMs }));
  }
  return time;
}

/** Decoded once per record: this runs in every request. */
const times = new WeakMap<TokenRecord, { readonly fromMs: number; readonly untilMs: number }>();
