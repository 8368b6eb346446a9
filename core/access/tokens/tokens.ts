// Tokens: drawn from the HSM, kept only as a hash, found by it, ended together with their children.
import { randomUUID } from 'node:crypto';
import { defined } from '../../base/defined.ts';
import { drawUuid } from '../../base/uuid.ts';
import type { Hsm } from '../../../hsm/api.ts';
import type { Clock } from '../../base/context.ts';
import { Secret, revealSecret } from '../../base/secret.ts';
import { Remembered } from '../../store/records/remembered.ts';
import type { TableKinds } from '../../store/records/table-kinds.ts';
import type { Store, Table, WriteTransaction } from '../../store/store.ts';
import { formatTimestamp } from '../../base/time.ts';
import { noteLogin } from '../logins/recent-logins.ts';
import type { LoginIdentity } from '../user.ts';
import { asAlone, isExpired, type Lineage, lineageOf, tokenTable, type TokenRecord, worksAt } from './record.ts';
import { hashOf } from '../../base/hash.ts';

/** Grant of a new token. The policies are names, resolved at each use, never frozen. A child has the identity of its parent. */
export type TokenGrant = {
  readonly tenantId: string;
  readonly user: string;
  readonly policies: readonly string[];
  /** absent: does not expire */
  readonly ttlSeconds?: number;
  /** longest life over all refreshes; default: `ttlSeconds`, so that a refresh cannot lengthen it; 'endless': refreshes go on */
  readonly maxTtlSeconds?: number | 'endless';
} & Pick<
  TokenRecord,
  | 'boundCidrs'
  | 'cnf'
  | 'approle'
  | 'grants'
  | 'behind'
  | 'madeBy'
  | 'service'
  | 'browser'
  | 'signedIn'
  | 'usesLeft'
  | 'ofRootToken'
  | 'opened'
> &
  ({ readonly parent: string; readonly identity?: never } | { readonly parent?: never; readonly identity: LoginIdentity | undefined });

/** A new token, shown once. */
export type IssuedToken = {
  readonly token: Secret<string>;
  readonly accessor: string;
  readonly creationTime: Temporal.Instant;
  readonly expires: Temporal.Instant | undefined;
  readonly record: TokenRecord;
};

/** [hash] to the key of the record: the only way from a token to its record */
const hashTable = (store: Store): Table<readonly [tenantId: string, accessor: string]> => store.table('token-hashes');
/** [tenant uuid, parent's accessor, child's accessor] */
const childTable = (store: Store): Table<true> => store.table('token-children');
export const tokenTableKinds: TableKinds = {
  tokens: { of: 'all', fills: true },
  'token-hashes': { of: 'all', fills: true },
  'token-children': { of: 'all', fills: true },
};

/** A new token in UUID form, from C_GenerateRandom: 122 random bits. Drawn before the transaction that issues it. */
export async function drawToken(hsm: Hsm): Promise<Secret<string>> {
  return new Secret(await drawUuid(hsm));
}

/** Records a drawn token as part of a transaction; it is valid once that is durable. */
export function issueToken(
  transaction: WriteTransaction,
  store: Store,
  clock: Clock,
  token: Secret<string>,
  grant: TokenGrant,
): IssuedToken {
  const { tenantId, user, policies, ttlSeconds, maxTtlSeconds, parent, boundCidrs = [], grants = [], ...of } = grant;
  const { cnf, approle, madeBy, service, browser, signedIn, usesLeft, ofRootToken, opened } = of;
  const { identity, behind = [] } = parent === undefined ? grant : (transaction.get(tokenTable(store), [tenantId, parent]) ?? {});
  const accessor = randomUUID();
  const creationTime = clock.now();
  const expires = ttlSeconds === undefined ? undefined : creationTime.add({ seconds: ttlSeconds });
  const record: TokenRecord = {
    accessor,
    hash: hashOf(revealSecret(token)),
    tenantId,
    user,
    ...defined({ identity }),
    policies,
    creationTime: formatTimestamp(creationTime),
    ...(ttlSeconds === undefined || expires === undefined
      ? {}
      : {
          expires: formatTimestamp(expires),
          ttlSeconds,
          ...(maxTtlSeconds === 'endless'
            ? {}
            : { latestExpires: formatTimestamp(creationTime.add({ seconds: Math.max(ttlSeconds, maxTtlSeconds ?? ttlSeconds) })) }),
        }),
    ...defined({ parent }),
    ...(boundCidrs.length === 0 ? {} : { boundCidrs }),
    ...(behind.length === 0 ? {} : { behind }),
    ...(grants.length === 0 ? {} : { grants }),
    ...defined({ cnf, approle, madeBy, service, browser, signedIn, usesLeft, ofRootToken, opened }),
  };
  transaction.put(tokenTable(store), [tenantId, accessor], record);
  transaction.put(hashTable(store), [record.hash], [tenantId, accessor]);
  if (parent !== undefined) transaction.put(childTable(store), [tenantId, parent, accessor], true);
  else if (opened === undefined) noteLogin(transaction, store, tenantId, record, creationTime);
  return { token, accessor, creationTime, expires, record };
}

/** Notes the use of a session of a browser, for those who look at the list of sessions. */
export function noteSessionUse(transaction: WriteTransaction, store: Store, tenantId: string, accessor: string, nowMs: number): void {
  const key = [tenantId, accessor];
  const record = transaction.get(tokenTable(store), key);
  const lastUsed = formatTimestamp(Temporal.Instant.fromEpochMilliseconds(nowMs));
  if (record?.browser === true) transaction.put(tokenTable(store), key, { ...record, lastUsed });
}

/**
 * Sets a token's expiry to now plus the smaller of `incrementSeconds` and its ttl, never past its longest life. A small increment
 * shortens the remaining time.
 * Undefined if the token was disabled or expired meanwhile.
 */
export function refreshToken(
  transaction: WriteTransaction,
  store: Store,
  now: Temporal.Instant,
  tenantId: string,
  accessor: string,
  incrementSeconds: number = Infinity,
): TokenRecord | undefined {
  const record = transaction.get(tokenTable(store), [tenantId, accessor]);
  if (record === undefined || isExpired(record, now)) return undefined;
  const { expires, ttlSeconds, latestExpires } = record;
  if (expires === undefined || ttlSeconds === undefined) return record;
  const wanted = formatTimestamp(now.add({ seconds: Math.min(incrementSeconds, ttlSeconds) }));
  // Timestamps of this form sort chronologically.
  const refreshed: TokenRecord = { ...record, expires: latestExpires === undefined || wanted < latestExpires ? wanted : latestExpires };
  transaction.put(tokenTable(store), [tenantId, accessor], refreshed);
  return refreshed;
}

/**
 * Counts one use of a token with a number of uses; false if none is left, or it has ended. A token without one counts nothing. Its record stays
 * until the job `expired-tokens` removes it: the request of the last use may read it.
 */
export async function spendUse(store: Store, tenantId: string, accessor: string): Promise<boolean> {
  return store.write((transaction) => {
    const record = transaction.get(tokenTable(store), [tenantId, accessor]);
    if (record?.usesLeft === undefined) return record !== undefined;
    if (record.usesLeft === 0) return false;
    transaction.put(tokenTable(store), [tenantId, accessor], { ...record, usesLeft: record.usesLeft - 1 });
    return true;
  });
}

/**
 * Removes a token. Its descendants stop working at once, because each use reads all ancestors; the job `expired-tokens` removes their
 * records. Returns whether the token existed.
 */
export function removeToken(transaction: WriteTransaction, store: Store, tenantId: string, accessor: string): boolean {
  const record = transaction.get(tokenTable(store), [tenantId, accessor]);
  if (record === undefined) return false;
  if (record.parent !== undefined) transaction.delete(childTable(store), [tenantId, record.parent, accessor]);
  transaction.delete(hashTable(store), [record.hash]);
  return transaction.delete(tokenTable(store), [tenantId, accessor]);
}

/** Lets a token go on when those that it descends from end, bounded as it was by them; one that does not work stays as it is. */
export function uproot(transaction: WriteTransaction, store: Store, tenantId: string, accessor: string): void {
  const record = transaction.get(tokenTable(store), [tenantId, accessor]);
  const lineage = record && lineageOf(store, record, (table, key) => transaction.get(table, key));
  if (record?.parent === undefined || lineage === undefined) return;
  transaction.delete(childTable(store), [tenantId, record.parent, accessor]);
  transaction.put(tokenTable(store), [tenantId, accessor], asAlone(lineage));
}

/** Descendants whose records are removed with a token. There may be any number of them, and a transaction of a shared store takes so many. */
const removedTogether = 8;

/** As removeToken, with the records of the nearest descendants, which are all of them as a rule. */
export function disableToken(transaction: WriteTransaction, store: Store, tenantId: string, accessor: string): boolean {
  const going = [accessor];
  // It grows while it is read: children of children follow.
  for (const one of going) {
    const children = Iterator.from(transaction.keys(childTable(store), [tenantId, one]));
    going.push(...children.take(removedTogether + 1 - going.length).map((key) => String(key.at(-1))));
  }
  const [existed] = going.map((one) => removeToken(transaction, store, tenantId, one));
  return existed === true;
}

/** The record of a token that is valid now, or undefined. */
export function findToken(store: Store, token: string, now: Temporal.Instant): TokenRecord | undefined {
  const lineage = readLineage(store, hashOf(token));
  return lineage !== undefined && worksAt(lineage, now) ? lineage[0] : undefined;
}

/** Tokens whose lineage is remembered; half a kilobyte each. */
const mostRemembered = 1_000;

/** Finds tokens, remembering them for the present state of the store: every change that ends a token ends it here too. */
export class TokenFinder {
  readonly #store: Store;
  readonly #known: Remembered<string, Lineage>;

  constructor(store: Store) {
    this.#store = store;
    this.#known = new Remembered(store, mostRemembered);
  }

  /** The lineage of a token that is valid now, or undefined. */
  find(token: string, now: Temporal.Instant): Lineage | undefined {
    const hash = hashOf(token);
    let lineage = this.#known.find(hash);
    if (lineage === undefined) {
      lineage = readLineage(this.#store, hash);
      // Attempts of unauthenticated callers are not remembered.
      if (lineage !== undefined) this.#known.keep(hash, lineage);
    }
    return lineage !== undefined && worksAt(lineage, now) ? lineage : undefined;
  }
}

/** The lookup is by hash: its duration depends on the hash of what was sent, which reveals nothing about other tokens. */
function readLineage(store: Store, hash: string): Lineage | undefined {
  const place = hashTable(store).get([hash]);
  const record = place === undefined ? undefined : tokenTable(store).get(place);
  return record === undefined ? undefined : lineageOf(store, record);
}
