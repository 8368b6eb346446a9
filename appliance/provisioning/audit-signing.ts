// The key that signs the heads of the audit trail, made once in the token, and the heads that the store remembers.
import { createHash, createPublicKey } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { HeadEntry, SignHead } from '../../core/audit/heads.ts';
import { auditKeyId } from '../../core/audit/keys.ts';
import type { ChainHead } from '../../core/audit/line.ts';
import type { RememberedChain, TrailMemory } from '../../core/audit/chain-memory.ts';
import { openChains } from '../../core/audit/opening.ts';
import type { Clock, Log } from '../../core/base/context.ts';
import type { Store, Table } from '../../core/store/store.ts';
import { HsmError, isKeyLost, type KeyBinding, type KeyReference, type StoredKey } from '../../hsm/api.ts';
import { syncDirectory, writeDurably } from '../../core/base/durable-files.ts';
import { paths } from '../state/paths.ts';
import { supervisorChain, workerChain } from './chains.ts';
import type { Runtime } from '../state/runtime.ts';

/** A signing key of the trail. There is a second one only after the token of the first was lost. */
type AuditKey = { readonly keyId: string; readonly stored: StoredKey; readonly publicKey: Uint8Array };

/** [number], the newest last: old ones still verify what they signed */
const keyTable = (store: Store): Table<AuditKey> => store.table<AuditKey>('audit-keys');
/** [chain, part] */
const chainTable = (store: Store): Table<ChainHead> => store.table<ChainHead>('audit-chains');
/** ['latest']: where earlier versions remembered what they had signed */
const signedTable = (store: Store): Table<readonly HeadEntry[]> => store.table<readonly HeadEntry[]>('audit-signed-heads');

/** Exists in the directory of the trail after a restore, until the first start. */
export function restoredMark(data: string): string {
  return join(paths.audit(data), 'restored');
}

/**
 * At every start and every unseal, before any worker writes: makes the key if none works, compares the trail with the remembered heads,
 * signs a head that names every chain, and writes DIR/audit/audit-keys.pem.
 */
export async function openAudit(runtime: Runtime, data: string, workers: number, parts: { clock: Clock; log: Log }): Promise<void> {
  const { log } = parts;
  runtime.store.refresh();
  const present = newestKey(runtime);
  if (present === undefined || !(await works(runtime, present, log))) await makeKey(runtime, (present?.number ?? 0) + 1);
  await adoptMemory(runtime.store);
  if (existsSync(restoredMark(data))) await beginAnew(runtime, data, log);
  // Published keys imply heads in the directory: a later key is published before its first head, the very first key after it.
  if (existsSync(keysFile(data))) publishKeys(runtime, data);
  const others = Array.from({ length: workers - 1 }, (_, index) => workerChain(index + 2));
  const { signHead, memory } = openAuditSigner(runtime, data, log);
  await openChains({
    directory: paths.audit(data),
    chains: [workerChain(1), ...others, supervisorChain],
    ...{ memory, signHead },
    ...parts,
  });
  publishKeys(runtime, data);
}

/** Migrates the heads that an earlier version remembered. */
async function adoptMemory(store: Store): Promise<void> {
  await store.write((transaction) => {
    const latest = transaction.get(signedTable(store), ['latest']) ?? [];
    for (const { chain, sequence, hash } of latest) transaction.put(chainTable(store), [chain, 'signed'], { sequence, hash });
    transaction.delete(signedTable(store), ['latest']);
  });
}

/** Forgets the heads of the trail that is not part of the backup. */
async function beginAnew({ store }: Runtime, data: string, log: Log): Promise<void> {
  log.warn('restored from a backup: a new audit trail begins', { heads: lastSignedHeads(store) });
  await store.write((transaction) => {
    for (const [key] of [...transaction.entries(chainTable(store), [])]) transaction.delete(chainTable(store), key);
  });
  rmSync(restoredMark(data));
}

/** Signs heads and remembers them. A key that its token has lost is replaced at the next signature. */
export function openAuditSigner(runtime: Runtime, data: string, log: Log): { readonly signHead: SignHead; readonly memory: TrailMemory } {
  runtime.store.refresh();
  let present = requireNewestKey(runtime);
  const sign = async (octets: Uint8Array): ReturnType<SignHead> => ({
    keyId: present.key.keyId,
    signature: await signDigest(runtime, present.key, present.number, octets),
  });
  return {
    memory: memoryIn(runtime.store),
    async signHead(octets) {
      try {
        return await sign(octets);
      } catch (error) {
        if (!isKeyLost(error)) throw error;
        warnOfLoss(log, present.key, error);
        await makeKey(runtime, present.number + 1);
        present = requireNewestKey(runtime);
        // Before the first head under it: see openAudit.
        publishKeys(runtime, data);
        return sign(octets);
      }
    },
  };
}

function memoryIn(store: Store): TrailMemory {
  return {
    recall() {
      store.refresh();
      const chains = new Map<string, RememberedChain>();
      for (const [[chain, part], head] of chainTable(store).entries([])) {
        const name = String(chain);
        chains.set(name, { ...chains.get(name), [String(part)]: head });
      }
      return chains;
    },
    update: (changes) =>
      store.write((transaction) => {
        for (const { chain, part, head } of changes) {
          if (head === undefined) transaction.delete(chainTable(store), [chain, part]);
          else transaction.put(chainTable(store), [chain, part], { sequence: head.sequence, hash: head.hash });
        }
      }),
  };
}

/** The last signed position of every chain. */
export function lastSignedHeads(store: Store): readonly HeadEntry[] {
  return [...memoryIn(store).recall()].flatMap(([chain, { signed }]) =>
    signed === undefined || signed.sequence === 0 ? [] : [{ chain, ...signed }],
  );
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

function newestKey(runtime: Runtime): { readonly number: number; readonly key: AuditKey } | undefined {
  for (const [[number], key] of keyTable(runtime.store).entries([], { reverse: true, limit: 1 })) return { number: Number(number), key };
  return undefined;
}

/** False when the token was replaced. A token that is unavailable for a moment must not lead to a new key, so its error is thrown. */
async function works(runtime: Runtime, { number, key }: { number: number; key: AuditKey }, log: Log): Promise<boolean> {
  try {
    await signDigest(runtime, key, number, Buffer.from('keystored: is the key of the audit trail there'));
    return true;
  } catch (error) {
    if (!isKeyLost(error) && !(error instanceof HsmError && error.kind === 'unsupported')) throw error;
    warnOfLoss(log, key, error);
    return false;
  }
}

function warnOfLoss(log: Log, { keyId }: AuditKey, { kind }: HsmError): void {
  log.warn('the key of the audit trail is not in its token any more: a new one is made', { key: keyId, kind });
}

function requireNewestKey(runtime: Runtime): { readonly number: number; readonly key: AuditKey } {
  const found = newestKey(runtime);
  if (found === undefined) throw new Error('the key of the audit trail is made before anything serves');
  return found;
}

async function makeKey(runtime: Runtime, number: number): Promise<void> {
  const { stored, publicKey } = await runtime.hsm.generate('ecdsa-p256', bindingOf(number), { custody: 'token', extractable: false });
  if (publicKey === undefined) throw new Error('a key pair has a public key');
  const keyId = auditKeyId(createPublicKey({ key: Buffer.from(publicKey), format: 'der', type: 'spki' }));
  await runtime.store.write((transaction) => {
    // A start or an unseal may have replaced the lost key as well.
    if (transaction.get(keyTable(runtime.store), [number]) !== undefined) return;
    transaction.put(keyTable(runtime.store), [number], { keyId, stored, publicKey });
  });
}

function bindingOf(version: number): KeyBinding {
  return { tenant: 'system', keyId: 'audit-trail', version, purpose: 'audit' };
}

function signDigest(runtime: Runtime, { stored }: AuditKey, number: number, octets: Uint8Array): Promise<Uint8Array> {
  return runtime.hsm.sign(
    { stored, binding: bindingOf(number) },
    { scheme: 'ecdsa', digest: createHash('sha256').update(octets).digest() },
  );
}

function keysFile(data: string): string {
  return join(paths.audit(data), 'audit-keys.pem');
}

/** `keystorectl audit verify` reads this file by default, and it is copied with the directory. */
function publishKeys(runtime: Runtime, data: string): void {
  const file = keysFile(data);
  const pem = auditPublicKeysPem(runtime.store);
  if (existsSync(file) && readFileSync(file, 'utf8') === pem) return;
  if (mkdirSync(paths.audit(data), { recursive: true, mode: 0o700 }) !== undefined) syncDirectory(data);
  writeDurably(file, pem);
}
