// The private keys of the listeners' TLS identities: in the record, or as an object in the token.
import { generateKeyPair, type KeyObject, randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import type { ListenerKeyPlace } from '../../../core/plugin/services/certificate-authority.ts';
import { ownKey, type StoreKey, type WriteTransaction } from '../../../core/store/store.ts';
import { isKeyLost, type KeyReference } from '../../../hsm/api.ts';
import type { CaContext } from '../context.ts';
import type { ListenerRecord, ListenerTokenKey } from '../records/records.ts';

type KeptKey = { readonly keyPem: string } | { readonly tokenKey: ListenerTokenKey; readonly formerKey?: ListenerTokenKey };

const generatePair = promisify(generateKeyPair);

const recordNames: Readonly<Record<ListenerKeyPlace, string>> = {
  store: 'listener',
  token: 'token-listener',
  'store-rsa': 'rsa-listener',
};

/** Size of an RSA key for old clients. */
const rsaBits = 2_048;

/** Key of the record of this appliance: others of a cluster have other names and keys. */
export function listenerKey({ store }: CaContext, place: ListenerKeyPlace): StoreKey {
  return ownKey(store, recordNames[place]);
}

/** A new key, and what the record keeps of it. `publicKey`: DER SubjectPublicKeyInfo. */
export async function makeListenerKey(
  context: CaContext,
  tenantId: string,
  place: ListenerKeyPlace,
  present: ListenerRecord | undefined,
): Promise<{ readonly publicKey: Uint8Array; readonly kept: KeptKey }> {
  if (place !== 'token') {
    const { publicKey, privateKey } = await makePair(place === 'store-rsa');
    return {
      publicKey: publicKey.export({ format: 'der', type: 'spki' }),
      kept: { keyPem: privateKey.export({ format: 'pem', type: 'pkcs8' }) },
    };
  }
  const binding = { tenant: tenantId, keyId: randomUUID(), version: 1, purpose: 'tls' };
  const { stored, publicKey } = await context.ledger.make('ecdsa-p256', binding, 'token', (reserved) => {
    if (reserved === undefined) throw new Error('the token reserved no name for the key');
    return context.hsm.generate('ecdsa-p256', binding, { custody: 'token', extractable: false, reserved });
  });
  if (publicKey === undefined) throw new Error('the token made an asymmetric key without a public key');
  const former = present === undefined || 'keyPem' in present ? {} : { formerKey: present.tokenKey };
  return { publicKey, kept: { tokenKey: { stored, binding, publicKey }, ...former } };
}

/** RSA takes a moment, in a thread of its own. */
function makePair(isRsa: boolean): Promise<{ readonly publicKey: KeyObject; readonly privateKey: KeyObject }> {
  return isRsa ? generatePair('rsa', { modulusLength: rsaBits }) : generatePair('ec', { namedCurve: 'P-256' });
}

/** Claims the key of a new record and disowns the one before the former key, inside the transaction that commits the record. */
export function exchangeListenerKeys(
  { ledger }: CaContext,
  transaction: WriteTransaction,
  present: ListenerRecord | undefined,
  made: ListenerRecord,
): void {
  ledger.claim(transaction, currentKeys(made));
  ledger.disown(transaction, formerKeys(present));
}

/** Destroys keys without an owner, after that transaction; the new key too if another process was first. */
export async function clearListenerKeys(
  { ledger }: CaContext,
  present: ListenerRecord | undefined,
  made: ListenerRecord,
  kept: ListenerRecord,
): Promise<void> {
  await ledger.destroy(kept === made ? formerKeys(present) : currentKeys(made));
}

/** Tells whether the key of the identity can be used: one in a token may have been lost there, or be in another token after a restore. */
export async function isThere({ hsm }: CaContext, record: ListenerRecord): Promise<boolean> {
  try {
    for (const { stored, binding } of currentKeys(record)) await hsm.evidence({ stored, binding });
    return true;
  } catch (error) {
    if (isKeyLost(error)) return false;
    throw error;
  }
}

/** Removes the identity whose key is in a token, if there is one, and the key. */
export async function forgetTokenListener(context: CaContext): Promise<void> {
  const { ledger, store, tables } = context;
  const key = listenerKey(context, 'token');
  const present = tables.identities.get(key);
  if (present === undefined) return;
  const gone = [...currentKeys(present), ...formerKeys(present)];
  await store.write((transaction) => {
    ledger.disown(transaction, gone);
    transaction.delete(tables.identities, key);
  });
  await ledger.destroy(gone);
}

function currentKeys(record: ListenerRecord): readonly KeyReference[] {
  return 'keyPem' in record ? [] : [referenceOf(record.tokenKey)];
}

function formerKeys(record: ListenerRecord | undefined): readonly KeyReference[] {
  return record === undefined || 'keyPem' in record || record.formerKey === undefined ? [] : [referenceOf(record.formerKey)];
}

function referenceOf({ stored, binding }: ListenerTokenKey): KeyReference {
  return { stored, binding };
}
