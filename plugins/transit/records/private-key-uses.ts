// Private keys of a tenant, each with its use: one private key does one job (NIST SP 800-57 part 1, section 5.2), under whatever names it
// is brought in.
import { hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { inTurn } from '../../../core/base/async/turns.ts';
import { defined } from '../../../core/base/defined.ts';
import { cleanly } from '../../../core/base/public-keys/openssl.ts';
import { plainRsa } from '../../../core/der/rsa-pss.ts';
import { telling } from '../../../core/http/response/telling.ts';
import { writeInPieces } from '../../../core/store/records/pieces.ts';
import { getIfOpen, type Store, type StoreKey, type Table, type WriteTransaction } from '../../../core/store/store.ts';
import { type CipherUse, cipherOf, isSymmetric, useOf } from '../ciphers.ts';
import { fail } from '../errors.ts';
import { canonicalSpki, keyObjectOf } from '../formats/public-keys.ts';
import { type Key, toldOfKey, type Version } from './keyring.ts';
import type { RemovedVersions, Tables, VersionRecord } from './records.ts';

/** A version that has a private key. */
export type PrivateKeyPlace = {
  readonly tenantId: string;
  readonly keyId: string;
  readonly name: string;
  readonly number: number;
  readonly use: CipherUse;
};

/** Name and use of the key that a noted private key is in. */
type PrivateKeyNote = Pick<PrivateKeyPlace, 'name' | 'use'>;

type Parts = { readonly tables: Tables; readonly store: Store };

/** Versions of a private key that are read to judge one more: all have one use, unless the tenant allows two. */
const judgedPlaces = 100;
/** Versions that are read and noted before other requests get their turn. */
const readAtOnce = 200;

/**
 * Notes a private key, inside the transaction that commits its version. Throws `private-key-in-use` where the tenant has it for another use. One that
 * was generated (`isNew`) is in no other place.
 */
export function notePrivateKey(
  { tables }: Pick<Parts, 'tables'>,
  transaction: WriteTransaction,
  place: PrivateKeyPlace,
  publicKey: Uint8Array,
  { isNew, allowsOthers }: { readonly isNew: boolean; readonly allowsOthers: boolean },
): void {
  const { tenantId, keyId, number, name, use } = place;
  const thumbprint = thumbprintOf(publicKey);
  if (!isNew && !allowsOthers) {
    const places = Iterator.from(transaction.entries(tables.privateKeyUses, [tenantId, thumbprint])).take(judgedPlaces);
    const other = places.find(([[, , id, version], one]) => {
      const isThere = transaction.has(tables.versions, [tenantId, id, version] as StoreKey);
      return one.use !== use && isThere && !isGone(transaction.get(tables.removedVersions, [tenantId, id] as StoreKey), version);
    });
    if (other !== undefined) throw inUse(other[1]);
  }
  transaction.put(tables.privateKeyUses, [tenantId, thumbprint, keyId, number], { name, use });
}

/** Forgets a private key with its version. */
export function forgetPrivateKey(
  { tables }: Pick<Parts, 'tables'>,
  transaction: WriteTransaction,
  [tenantId, keyId, number]: readonly [string, string, number],
  record: VersionRecord,
): void {
  for (const publicKey of publicKeysOf(record))
    transaction.delete(tables.privateKeyUses, [tenantId, thumbprintOf(publicKey), keyId, number]);
}

/** Public keys of the private keys of a version. */
export function publicKeysOf({
  stored,
  publicKey,
  agreementPublicKey,
}: Pick<VersionRecord, 'stored' | 'publicKey' | 'agreementPublicKey'>): readonly Uint8Array[] {
  return stored === undefined ? [] : [publicKey, agreementPublicKey].filter((one) => one !== undefined);
}

/** Uses that other keys of the tenant have for the private key of a version, each once. */
export function otherUsesOf(
  { tables }: Pick<Parts, 'tables'>,
  tenantId: string,
  use: CipherUse,
  publicKey: Uint8Array,
): readonly CipherUse[] {
  return [...new Set(livingPlaces({ tables }, tenantId, publicKey).map((one) => one.use))].filter((one) => one !== use);
}

/** Throws `private-key-in-use` where a key of the tenant has the private key, and these are not its use alone. */
export function requireNoOtherUse(parts: Pick<Parts, 'tables'>, tenantId: string, publicKey: Uint8Array, uses: readonly CipherUse[]): void {
  const other = livingPlaces(parts, tenantId, publicKey).find(({ use }) => uses.some((one) => one !== use));
  if (other !== undefined) throw inUse(other);
}

/** Notes of the private key whose versions are there. */
function livingPlaces({ tables }: Pick<Parts, 'tables'>, tenantId: string, publicKey: Uint8Array): IteratorObject<PrivateKeyNote> {
  return Iterator.from(tables.privateKeyUses.entries([tenantId, thumbprintOf(publicKey)]))
    .filter(
      ([[, , id, number]]) =>
        tables.versions.has([tenantId, id, number] as StoreKey) && !isGone(tables.removedVersions.get([tenantId, id] as StoreKey), number),
    )
    .map(([, note]) => note);
}

/**
 * Notes the private keys that earlier versions of the appliance have left without a note, once for each tenant: before one is brought in. What is made
 * meanwhile notes itself. One walk serves all who wait for it, with other requests in between.
 */
export function notePrivateKeysOfBefore(parts: Parts, tenantId: string): Promise<void> {
  const isNoted = (): boolean => parts.tables.privateKeysNoted.has([tenantId]);
  if (isNoted()) return Promise.resolve();
  return inTurn(`transit/private-keys/${tenantId}`, async () => {
    if (!isNoted()) await noteAll(parts, tenantId);
  });
}

async function noteAll({ tables, store }: Parts, tenantId: string): Promise<void> {
  let found: (readonly [PrivateKeyPlace, Uint8Array])[] = [];
  const note = async (): Promise<void> => {
    await writeInPieces(store, found, (transaction, [place, publicKey]) => {
      if (!transaction.has(tables.versions, [tenantId, place.keyId, place.number])) return;
      notePrivateKey({ tables }, transaction, place, publicKey, { isNew: true, allowsOthers: true });
    });
    found = [];
  };
  // Damaged records are passed over: a restore that mends one notes it.
  for await (const keyKey of keysInTurns(tables.keys, [tenantId])) {
    const record = getIfOpen(tables.keys, keyKey);
    if (record === undefined || isSymmetric(cipherOf(record))) continue;
    for await (const versionKey of keysInTurns(tables.versions, [tenantId, record.id])) {
      const version = getIfOpen(tables.versions, versionKey);
      const place = { tenantId, keyId: record.id, name: String(keyKey[1]), number: Number(versionKey[2]), use: useOf(record) };
      for (const publicKey of version === undefined ? [] : publicKeysOf(version)) found.push([place, publicKey]);
      if (found.length >= readAtOnce) await note();
    }
  }
  await note();
  await store.write((transaction) => transaction.put(tables.privateKeysNoted, [tenantId], true));
}

/** Keys of records below a prefix, with other requests in between. */
async function* keysInTurns(table: Table<unknown>, prefix: StoreKey): AsyncGenerator<StoreKey> {
  for (let after: string | number | undefined; ; await setImmediate()) {
    const some = Array.from(table.keys(prefix, { limit: readAtOnce, ...defined({ after }) }));
    yield* some;
    after = some.at(-1)?.at(-1);
    if (some.length < readAtOnce) return;
  }
}

/** Tells whether a version was removed whose records are about to follow. */
function isGone(removed: RemovedVersions | undefined, version: string | number | undefined): boolean {
  return Number(version) <= (removed?.through ?? 0);
}

/** Tells whether the note of a version that has a private key is there, for the invariant check. */
export function isNoted({ tables }: Pick<Parts, 'tables'>, { tenantId, record }: Key, { number, record: version }: Version): boolean {
  return publicKeysOf(version).every(
    (publicKey) => tables.privateKeyUses.get([tenantId, thumbprintOf(publicKey), record.id, number])?.use === useOf(record),
  );
}

/** Tells whether a version has the private key of a note. */
export function isPrivateKey(version: VersionRecord, thumbprint: string): boolean {
  return publicKeysOf(version).some((publicKey) => thumbprintOf(publicKey) === thumbprint);
}

/** The same for a private key, however its public key is named (RSASSA-PSS) and encoded. */
function thumbprintOf(publicKey: Uint8Array): string {
  return hash('sha256', canonicalSpki(cleanly(() => plainRsa(keyObjectOf(publicKey)))), 'hex');
}

function inUse({ name, use }: { readonly name: string; readonly use: CipherUse }): Error {
  const advice =
    'Make a new key for this use, or delete the other; allow-dual-use in the section transit of the configuration allows both.';
  const unseen = fail('private-key-in-use', { detail: `A key of this tenant has this private key for another use. ${advice}` });
  return telling(unseen, toldOfKey(name, ['use'], `The key "${name}" has this private key for the use "${use}". ${advice}`));
}
