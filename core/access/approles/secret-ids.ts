// Secret-ids: stored as hashes, counted down inside the transaction of the login, removed with their approle.
import { randomUUID } from 'node:crypto';
import { isWithin } from '../../base/addresses.ts';
import type { Clock, Job } from '../../base/context.ts';
import { revealSecret, type Secret } from '../../base/secret.ts';
import { writeInPieces } from '../../store/records/pieces.ts';
import type { TableKinds } from '../../store/records/table-kinds.ts';
import { type Store, type StoreKey, type Table, Unreadable, type WriteTransaction } from '../../store/store.ts';
import { decodeTimestamp, formatTimestamp } from '../../base/time.ts';
import type { LoginIdentity, TokenName } from '../user.ts';
import { approleTable } from './approles.ts';
import { dropOldFailures } from './attempt-limit.ts';
import { hashOf } from '../../base/hash.ts';

/** Record of a secret-id: everything but the secret-id itself. */
export type SecretIdRecord = {
  readonly accessor: string;
  /** SHA-256 of the secret-id's text, hexadecimal */
  readonly hash: string;
  readonly tenantId: string;
  /** the approle: its name, and its id, which a later approle of the same name does not have */
  readonly approle: string;
  readonly approleId: string;
  readonly creationTime: string;
  /** absent: does not expire */
  readonly expires?: string;
  /** absent: any number of uses */
  readonly usesLeft?: number;
  readonly boundCidrs: readonly string[];
  /** token that made it; absent in records of earlier versions, and for claiming the appliance */
  readonly madeBy?: TokenName;
  /** identities behind its logins: of its maker, and those behind that one */
  readonly behind?: readonly LoginIdentity[];
};

/** [hash]: the only way from a secret-id to its record */
const secretIdTable = (store: Store): Table<SecretIdRecord> => store.table<SecretIdRecord>('secret-ids');
/** [tenant uuid, id of the approle, accessor] to the hash */
const accessorTable = (store: Store): Table<string> => store.table<string>('secret-id-accessors');
export const secretIdTableKinds: TableKinds = {
  'secret-ids': { of: 'all', fills: true },
  'secret-id-accessors': { of: 'all', fills: true },
};

export type SecretIdGrant = Pick<SecretIdRecord, 'tenantId' | 'approle' | 'approleId' | 'boundCidrs' | 'madeBy' | 'behind'> & {
  readonly ttlSeconds: number | undefined;
  /** 0: any number of uses */
  readonly numUses: number;
};

/** Records a drawn secret-id as part of a transaction. */
export function issueSecretId(
  transaction: WriteTransaction,
  store: Store,
  now: Temporal.Instant,
  secretId: Secret<string>,
  { ttlSeconds, numUses, ...grant }: SecretIdGrant,
): SecretIdRecord {
  const record: SecretIdRecord = {
    ...grant,
    accessor: randomUUID(),
    hash: hashOf(revealSecret(secretId)),
    creationTime: formatTimestamp(now),
    ...(ttlSeconds === undefined ? {} : { expires: formatTimestamp(now.add({ seconds: ttlSeconds })) }),
    ...(numUses === 0 ? {} : { usesLeft: numUses }),
  };
  transaction.put(secretIdTable(store), [record.hash], record);
  transaction.put(accessorTable(store), [record.tenantId, record.approleId, record.accessor], record.hash);
  return record;
}

/** The record of a secret-id that is valid now and from this address. */
export function findSecretId(
  read: WriteTransaction['get'],
  store: Store,
  now: Temporal.Instant,
  secretId: string,
  address: string,
): SecretIdRecord | undefined {
  const record = read(secretIdTable(store), [hashOf(secretId)]);
  if (record === undefined || !isInItsTime(record, now)) return undefined;
  return record.boundCidrs.length === 0 || isWithin(record.boundCidrs, address) ? record : undefined;
}

/** Counts one use; the last one removes the record. */
export function useSecretId(transaction: WriteTransaction, store: Store, record: SecretIdRecord): void {
  if (record.usesLeft === undefined) return;
  if (record.usesLeft > 1) transaction.put(secretIdTable(store), [record.hash], { ...record, usesLeft: record.usesLeft - 1 });
  else dropSecretId(transaction, store, record);
}

/** The secret-ids of an approle that are still valid. */
export function listSecretIds(store: Store, now: Temporal.Instant, tenantId: string, approleId: string): readonly SecretIdRecord[] {
  return Array.from(accessorTable(store).entries([tenantId, approleId])).flatMap(([, hash]) => {
    const record = secretIdTable(store).getFound([hash]);
    return record === undefined || record instanceof Unreadable || !isInItsTime(record, now) ? [] : [record];
  });
}

/** Number of stored secret-ids; expired ones count until they are removed. */
export function countSecretIds(store: Store, tenantId: string, approleId: string): number {
  return accessorTable(store).count([tenantId, approleId]);
}

/** Disables one secret-id of an approle, given itself or its accessor. Returns whether it existed. */
export function disableSecretId(
  transaction: WriteTransaction,
  store: Store,
  [tenantId, approleId]: readonly [tenantId: string, approleId: string],
  { secretId, accessor }: { readonly secretId?: string | undefined; readonly accessor?: string | undefined },
): string | undefined {
  const place = secretId === undefined ? transaction.get(accessorTable(store), [tenantId, approleId, accessor ?? '']) : hashOf(secretId);
  const record = place === undefined ? undefined : transaction.get(secretIdTable(store), [place]);
  if (record?.tenantId !== tenantId || record.approleId !== approleId) return undefined;
  dropSecretId(transaction, store, record);
  return record.accessor;
}

/** Disables all secret-ids of an approle with few of them. */
export function dropSecretIds(transaction: WriteTransaction, store: Store, tenantId: string, approleId: string): void {
  for (const entry of Array.from(transaction.entries(accessorTable(store), [tenantId, approleId]))) dropEntry(transaction, store, entry);
}

/** Removes the secret-ids of a deleted approle, which no login accepts. */
export async function dropSecretIdsInPieces(store: Store, tenantId: string, approleId: string, signal?: AbortSignal): Promise<void> {
  store.refresh();
  const entries = Array.from(accessorTable(store).entries([tenantId, approleId]));
  await writeInPieces(store, entries, (transaction, entry) => dropEntry(transaction, store, entry), signal);
}

/** Removes the secret-ids of all approles except those to be kept; returns their number. */
export async function dropOtherSecretIds(store: Store, isKept: (record: SecretIdRecord) => boolean): Promise<number> {
  store.refresh();
  // One that does not open may be put back as it was.
  const meant = Array.from(secretIdTable(store).entriesFound([])).filter(([, record]) => record instanceof Unreadable || !isKept(record));
  await writeInPieces(store, meant, (transaction, [key, record]) => {
    if (record instanceof Unreadable) transaction.deleteUnreadable(secretIdTable(store), key);
    else dropSecretId(transaction, store, record);
  });
  return meant.length;
}

function dropEntry(transaction: WriteTransaction, store: Store, [key, place]: readonly [StoreKey, string]): void {
  transaction.delete(secretIdTable(store), [place]);
  transaction.delete(accessorTable(store), key);
}

/** The job that removes secret-ids that have expired or whose approle is gone, and failed logins that no longer count. */
export function loginSweepJob(store: Store, clock: Clock): Job {
  return {
    name: 'expired-secret-ids',
    everySeconds: 600,
    async run(signal) {
      store.refresh();
      const now = clock.now();
      await dropOldFailures(store, now.epochMilliseconds, signal);
      const isOver = (record: SecretIdRecord): boolean => isExpired(record, now) || isOrphan(store, record);
      const over = [...secretIdTable(store).entriesFound([])].flatMap(([, record]) =>
        !(record instanceof Unreadable) && isOver(record) ? [record] : [],
      );
      await writeInPieces(store, over, (transaction, record) => dropSecretId(transaction, store, record), signal);
    },
  };
}

function dropSecretId(transaction: WriteTransaction, store: Store, { hash, tenantId, approleId, accessor }: SecretIdRecord): void {
  transaction.delete(secretIdTable(store), [hash]);
  transaction.delete(accessorTable(store), [tenantId, approleId, accessor]);
}

/** Tells whether the approle of a record is gone: a new one with the same name has another id. */
function isOrphan(store: Store, { tenantId, approle, approleId }: SecretIdRecord): boolean {
  return approleTable(store).get([tenantId, approle])?.id !== approleId;
}

function isExpired({ expires }: SecretIdRecord, now: Temporal.Instant): boolean {
  return expires !== undefined && now.epochMilliseconds >= millisecondsOf(expires);
}

/** Tells whether a secret-id is valid: a clock set back to before its creation would prolong the life of one that expires. */
function isInItsTime(record: SecretIdRecord, now: Temporal.Instant): boolean {
  const isEarly = record.expires !== undefined && now.epochMilliseconds + clockToleranceMs < millisecondsOf(record.creationTime);
  return !isEarly && !isExpired(record, now);
}

const clockToleranceMs = 300_000;

function millisecondsOf(timestamp: string): number {
  return decodeTimestamp(timestamp)?.epochMilliseconds ?? 0;
}
