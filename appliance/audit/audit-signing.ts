// The key that signs the heads of the audit trail, made once in the token of each appliance.
import { createHash, createPublicKey, verify } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { dropOwnRecords, type TableKinds } from '../../core/store/records/table-kinds.ts';
import { chainNames, type TrailMemory } from '../../core/audit/chains.ts';
import type { SignHead } from '../../core/audit/heads.ts';
import { auditKeyId } from '../../core/audit/keys.ts';
import { openChains } from '../../core/audit/opening.ts';
import type { Clock, Log } from '../../core/base/context.ts';
import { readPem } from '../../core/base/texts/pem.ts';
import { defined } from '../../core/base/defined.ts';
import { holderOfStored } from '../../core/plugin/key-holders.ts';
import type { KeyHolder } from '../../core/plugin/services/wrapping-keys.ts';
import type { OpenStore } from '../../core/store/open.ts';
import type { Store, Table } from '../../core/store/store.ts';
import { type Hsm, HsmError, isKeyLost, type KeyBinding, type KeyReference, type StoredKey } from '../../hsm/api.ts';
import { readWhole, syncDirectory, writeDurably } from '../../core/base/durable-files.ts';
import { paths } from '../data-directory/paths.ts';
import { recordFinding } from '../findings/findings.ts';
import { adoptMemory, isFirstAppliance, lastSignedHeads, memoryIn, registerAppliance } from './chain-records.ts';
import { markInTrail, noteForTrail, noteRestoration, readMark, type RestorationSource, restoredMark } from '../backup/restoration.ts';

/** Opened parts of a process. */
type Runtime = { readonly hsm: Hsm; readonly store: OpenStore };

/**
 * A signing key of the trail, in a cluster with the appliance that it belongs to. An appliance has a second one only after its token lost
 * the first.
 */
type AuditKey = { readonly appliance?: string; readonly keyId: string; readonly stored: StoredKey; readonly publicKey: Uint8Array };

/** [number], the newest last: old ones still verify their signatures */
const keyTable = (store: Store): Table<AuditKey> => store.table<AuditKey>('audit-keys');
/** Each key names its appliance and stays when that is gone: it still verifies its signatures. */
export const signingTableKinds: TableKinds = { 'audit-keys': { of: 'all', fills: true } };

/**
 * At every start and every unseal, before any worker writes: makes the key if none works, compares the trail with the remembered heads,
 * signs a head that names every chain, and writes DIR/audit/audit-keys.pem.
 */
export async function openAudit(
  runtime: Runtime,
  data: string,
  workers: number,
  parts: { clock: Clock; log: Log; kinds: TableKinds },
): Promise<void> {
  const { store } = runtime;
  const { log, clock } = parts;
  const directory = paths.audit(data);
  store.refresh();
  await adoptMemory(store);
  const mark = readMark(data, clock);
  if (mark !== undefined) await beginAgain(runtime, data, mark, parts);
  await registerAppliance(store, directory, clock);
  const present = newestKey(runtime);
  if (present === undefined || isInOneOfSeveral(runtime, present) || !(await works(runtime, present, log))) await makeKey(runtime, present);
  // Published keys imply heads in the directory: a later key is published before its first head, the very first key after it.
  const onForeign = noteForeignKeys(store, clock, log);
  if (existsSync(keysFile(data))) await publishKeys(runtime, data, onForeign);
  const names = chainNames(store.appliance);
  const others = Array.from({ length: workers - 1 }, (_, index) => names.worker(index + 2));
  const { signHead, memory } = openAuditSigner(runtime, data, log);
  await openChains({
    ...{ directory, memory, signHead, ...parts },
    chains: [names.worker(1), ...others, names.supervisor],
    ...defined({ storeRevision: store.openedAt, begins: noteForTrail(store) }),
    raiseStore: (revision) => store.goOnAfter(revision),
  });
  await markInTrail(store);
  await publishKeys(runtime, data, onForeign);
}

function noteForeignKeys(store: Store, clock: Clock, log: Log): OnForeign {
  return async (path) => {
    log.error('the file of the public audit keys had keys that this appliance never had, and was set aside', { path });
    const message =
      'audit-keys.pem had keys that this appliance never had, and was set aside: the audit trail beside it, or the store, is of another appliance or of another time';
    await recordFinding(store, clock, { name: 'audit-trail', message, isEvent: true });
  };
}

/** Forgets the heads of the trail that is not part of the backup, and what the backup of a cluster says about its appliances. */
async function beginAgain(
  { store }: Runtime,
  data: string,
  mark: RestorationSource,
  { clock, log, kinds }: { readonly clock: Clock; readonly log: Log; readonly kinds: TableKinds },
): Promise<void> {
  const heads = lastSignedHeads(store);
  log.warn('restored: a new audit trail begins', { ...mark, heads });
  await noteRestoration(store, { clock, kinds }, mark, heads);
  await dropOwnRecords(store, kinds);
  rmSync(restoredMark(data));
}

/** Signs heads and remembers them. A key that its token has lost is replaced at the next signature. */
export function openAuditSigner(runtime: Runtime, data: string, log: Log): { readonly signHead: SignHead; readonly memory: TrailMemory } {
  runtime.store.refresh();
  // Read again each time: a rotation of the wrapping key replaces what is stored of it.
  const findKey = (): FoundKey => {
    runtime.store.refresh();
    return requireNewestKey(runtime);
  };
  const sign = async ({ key, number }: FoundKey, octets: Uint8Array): ReturnType<SignHead> => ({
    keyId: key.keyId,
    signature: await signDigest(runtime, key, number, octets),
  });
  return {
    memory: memoryIn(runtime.store),
    async signHead(octets) {
      const present = findKey();
      try {
        return await sign(present, octets);
      } catch (error) {
        if (!isKeyLost(error)) throw error;
        warnOfLoss(log, present.key, error);
        await makeKey(runtime, present);
        // Before the first head under it: see openAudit.
        await publishKeys(runtime, data, async (path) => log.error('foreign public audit keys were set aside', { path }));
        return sign(findKey(), octets);
      }
    },
  };
}

/** All signing keys, the newest last; `pem` is a public key. */
export function auditPublicKeys(store: Store): readonly { readonly keyId: string; readonly pem: string }[] {
  return [...keyTable(store).entries([])].map(([, { keyId, publicKey }]) => ({
    keyId,
    pem: createPublicKey({ key: Buffer.from(publicKey), format: 'der', type: 'spki' }).export({ format: 'pem', type: 'spki' }),
  }));
}

/** All signing keys, for a use that proves that they open. */
export function* auditKeyReferences(store: Store): Iterable<KeyReference> {
  for (const [[number], { stored }] of keyTable(store).entries([])) yield { stored, binding: bindingOf(Number(number)) };
}

/** All of them as one file. */
export function auditPublicKeysPem(store: Store): string {
  return auditPublicKeys(store)
    .map((key) => key.pem)
    .join('');
}

type FoundKey = { readonly number: number; readonly key: AuditKey };

/** Key of this appliance. One that stands alone takes the present key, also after it was restored from the backup of a cluster. */
function newestKey({ store }: Runtime): FoundKey | undefined {
  const isFirst = isFirstAppliance(store);
  for (const [[number], key] of keyTable(store).entries([], { reverse: true })) {
    const isOurs = key.appliance === undefined ? isFirst : key.appliance === store.appliance;
    if (isOurs || store.appliance === undefined) return { number: Number(number), key };
  }
  return undefined;
}

/** Of all appliances. */
function newestNumber(store: Store): number {
  for (const [number] of keyTable(store).keys([], { reverse: true, limit: 1 })) return Number(number);
  return 0;
}

/** False when the token was replaced. A token that is unavailable for a moment must not lead to a new key, so its error is thrown. */
async function works(runtime: Runtime, { number, key }: FoundKey, log: Log): Promise<boolean> {
  try {
    await signDigest(runtime, key, number, Buffer.from('keystored: is the key of the audit trail there'));
    return true;
  } catch (error) {
    if (!isKeyLost(error) && !(error instanceof HsmError && error.kind === 'unsupported')) throw error;
    warnOfLoss(log, key, error);
    return false;
  }
}

/** An object in one of several tokens: without that token nothing could start. */
function isInOneOfSeveral({ hsm }: Runtime, { key: { stored } }: FoundKey): boolean {
  return stored.custody === 'token' && hsm.ownCustody('ecdsa-p256') === 'wrapped';
}

/** Those that are wrapped, for the rotation of the wrapping key. */
export function* auditKeyHolders(store: Store): Iterable<KeyHolder> {
  for (const [[number], key] of keyTable(store).allEntries([]))
    yield* holderOfStored(keyTable(store), [number as number], key, bindingOf(Number(number)));
}

function warnOfLoss(log: Log, { keyId }: AuditKey, { kind }: HsmError): void {
  log.warn('the key of the audit trail is no longer in its token: a new one is made', { key: keyId, kind });
}

function requireNewestKey(runtime: Runtime): FoundKey {
  const found = newestKey(runtime);
  if (found === undefined) throw new Error('the key of the audit trail is made before anything serves');
  return found;
}

/**
 * Makes a key in place of the one that was found. Of two processes of an appliance that do it at once one succeeds, as a start and an
 * unseal may. Another appliance of the cluster takes another number.
 */
async function makeKey(runtime: Runtime, replaced: FoundKey | undefined): Promise<void> {
  const { store, hsm } = runtime;
  for (;;) {
    store.refresh();
    if (newestKey(runtime)?.number !== replaced?.number) return;
    const number = newestNumber(store) + 1;
    const { stored, publicKey } = await hsm.generate('ecdsa-p256', bindingOf(number), {
      ...{ custody: hsm.ownCustody('ecdsa-p256'), extractable: false },
    });
    if (publicKey === undefined) throw new Error('a key pair has a public key');
    const keyId = auditKeyId(createPublicKey({ key: Buffer.from(publicKey), format: 'der', type: 'spki' }));
    await store.write((transaction) => {
      if (transaction.get(keyTable(store), [number]) !== undefined) return;
      transaction.put(keyTable(store), [number], { ...defined({ appliance: store.appliance }), keyId, stored, publicKey });
    });
  }
}

function bindingOf(version: number): KeyBinding {
  return { tenant: 'system', keyId: 'audit-trail', version, purpose: 'audit' };
}

/** Signs and verifies: a head that does not verify would be a permanent flaw of the trail. */
function signDigest(runtime: Runtime, { stored, publicKey }: AuditKey, number: number, octets: Uint8Array): Promise<Uint8Array> {
  const key = createPublicKey({ key: Buffer.from(publicKey), format: 'der', type: 'spki' });
  return runtime.hsm.sign(
    { stored, binding: bindingOf(number) },
    { scheme: 'ecdsa', digest: createHash('sha256').update(octets).digest() },
    (signature) => verify('sha256', octets, { key, dsaEncoding: 'ieee-p1363' }, signature),
  );
}

function keysFile(data: string): string {
  return join(paths.audit(data), 'audit-keys.pem');
}

/** Called when keys of others were in the file, which is kept at `path`. */
type OnForeign = (path: string) => Promise<void>;

/**
 * `keystorectl audit verify` reads this file by default, and it is copied with the directory. One with keys that the store never had is of
 * another appliance or of a later time, as its trail may be, which nothing else verifies: it is kept beside.
 */
async function publishKeys({ store }: Pick<Runtime, 'store'>, data: string, onForeign: OnForeign): Promise<void> {
  const file = keysFile(data);
  const pem = auditPublicKeysPem(store);
  const present = existsSync(file) ? readWhole(file).toString() : undefined;
  if (present === pem) return;
  const own = new Set(readPem(pem).map(({ text }) => text));
  if (present !== undefined && readPem(present).some(({ label, text }) => label === 'PUBLIC KEY' && !own.has(text))) {
    const kept = freeName(`${file}.set-aside`);
    renameSync(file, kept);
    await onForeign(kept);
  }
  if (mkdirSync(paths.audit(data), { recursive: true, mode: 0o700 }) !== undefined) syncDirectory(data);
  writeDurably(file, pem);
}

function freeName(path: string, number = 1): string {
  const name = number === 1 ? path : `${path}.${number}`;
  return existsSync(name) ? freeName(path, number + 1) : name;
}
