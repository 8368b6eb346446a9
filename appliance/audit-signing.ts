// The key that signs the heads of the audit trail: made once in the token, its public half kept beside the trail, and what it signed remembered.
import { createHash, createPublicKey } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { HeadEntry, SignHead } from '../core/audit-heads.ts';
import { auditKeyId } from '../core/audit-keys.ts';
import type { Log } from '../core/context.ts';
import type { Store, Table } from '../core/store/store.ts';
import { HsmError, isKeyLost, type KeyBinding, type StoredKey } from '../hsm/api.ts';
import { syncDirectory, writeDurably } from './data-directory.ts';
import { places, type House } from './house.ts';

/** A key of the trail. There is a second one only when the token that held the first is gone. */
type AuditKey = { readonly keyId: string; readonly stored: StoredKey; readonly publicKey: Uint8Array };

/** [number], the newest last: old ones still verify what they signed */
const keyTable = (store: Store): Table<AuditKey> => store.table<AuditKey>('audit-keys');
/** ['latest'] */
const signedTable = (store: Store): Table<readonly HeadEntry[]> => store.table<readonly HeadEntry[]>('audit-signed-heads');

/** Lies in the directory of the trail after a restore until the first start. */
export function restoredMark(data: string): string {
  return join(places.audit(data), 'restored');
}

/** First boot and every later start: makes the key if there is none that works, and writes DIR/audit/audit-keys.pem. */
export async function ensureAuditKey(house: House, data: string, log: Log): Promise<void> {
  house.store.refresh();
  const present = newestKey(house);
  if (present === undefined || !(await works(house, present, log))) await makeKey(house, (present?.number ?? 0) + 1);
  if (existsSync(restoredMark(data))) await beginAnew(house, data, log);
  house.store.refresh();
  publishKeys(house, data);
}

/** What the backup remembers of a trail that is not here is not looked for. */
async function beginAnew(house: House, data: string, log: Log): Promise<void> {
  const heads = lastSignedHeads(house.store);
  log.warn('restored from a backup: the audit trail begins anew', { heads });
  await house.store.write((transaction) => transaction.delete(signedTable(house.store), ['latest']));
  rmSync(restoredMark(data));
}

/** Signs for the one process that does, and tells all of them what was signed last. */
export function openAuditSigner(house: House, log: Log): { readonly signHead: SignHead; readonly lastSigned: readonly HeadEntry[] } {
  house.store.refresh();
  const found = newestKey(house);
  if (found === undefined) throw new Error('the key of the audit trail is made before anything serves');
  const { number, key } = found;
  return {
    lastSigned: lastSignedHeads(house.store),
    async signHead(octets, heads) {
      const signature = await signDigest(house, key, number, octets);
      await remember(house, heads).catch((error: unknown) =>
        log.warn('what was signed of the audit trail could not be remembered', { reason: String(error) }),
      );
      return { keyId: key.keyId, signature };
    },
  };
}

/** Where every chain stood when it was signed last. */
export function lastSignedHeads(store: Store): readonly HeadEntry[] {
  return signedTable(store).get(['latest']) ?? [];
}

/** Every key that has signed or signs, the newest last; `pem` is a public key. */
export function auditPublicKeys(store: Store): readonly { readonly keyId: string; readonly pem: string }[] {
  return [...keyTable(store).entries([])].map(([, { keyId, publicKey }]) => ({
    keyId,
    pem: createPublicKey({ key: Buffer.from(publicKey), format: 'der', type: 'spki' }).export({ format: 'pem', type: 'spki' }),
  }));
}

function remember(house: House, heads: readonly HeadEntry[]): Promise<void> {
  return house.store.write((transaction) => transaction.put(signedTable(house.store), ['latest'], [...heads]));
}

function newestKey(house: House): { readonly number: number; readonly key: AuditKey } | undefined {
  for (const [[number], key] of keyTable(house.store).entries([], { reverse: true, limit: 1 })) return { number: Number(number), key };
  return undefined;
}

/** A token that was replaced does not have the key; one that is away for a moment may not lead to a new one. */
async function works(house: House, { number, key }: { number: number; key: AuditKey }, log: Log): Promise<boolean> {
  try {
    await signDigest(house, key, number, Buffer.from('keystored: is the key of the audit trail there'));
    return true;
  } catch (error) {
    if (!isKeyLost(error) && !(error instanceof HsmError && error.kind === 'unsupported')) throw error;
    log.warn('the key of the audit trail is not in its token any more: a new one is made', { key: key.keyId, kind: error.kind });
    return false;
  }
}

async function makeKey(house: House, number: number): Promise<void> {
  const { stored, publicKey } = await house.hsm.generate('ecdsa-p256', bindingOf(number), { custody: 'token', extractable: false });
  if (publicKey === undefined) throw new Error('a key pair has a public key');
  const keyId = auditKeyId(createPublicKey({ key: Buffer.from(publicKey), format: 'der', type: 'spki' }));
  await house.store.write((transaction) => transaction.put(keyTable(house.store), [number], { keyId, stored, publicKey }));
}

function bindingOf(version: number): KeyBinding {
  return { tenant: 'system', keyId: 'audit-trail', version, purpose: 'audit' };
}

function signDigest(house: House, { stored }: AuditKey, number: number, octets: Uint8Array): Promise<Uint8Array> {
  return house.hsm.sign({ stored, binding: bindingOf(number) }, { scheme: 'ecdsa', digest: createHash('sha256').update(octets).digest() });
}

/** Where `keystorectl audit verify` looks, and where the keys are when the directory is copied. */
function publishKeys(house: House, data: string): void {
  const file = join(places.audit(data), 'audit-keys.pem');
  const pem = auditPublicKeys(house.store)
    .map((key) => key.pem)
    .join('');
  if (existsSync(file) && readFileSync(file, 'utf8') === pem) return;
  if (mkdirSync(places.audit(data), { recursive: true, mode: 0o700 }) !== undefined) syncDirectory(data);
  writeDurably(file, pem);
}
