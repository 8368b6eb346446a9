// The keys that all appliances of a cluster open with the HSM that they share: that of the store, and a canary that is used at each start.
import { z } from 'zod';
import { decodeBase64, encodeBase64, encodeUtf8 } from '../../../core/base/bytes.ts';
import { HsmError, type Hsm, type HsmErrorKind, type KeyBinding, type StoredKey } from '../../../hsm/api.ts';
import { StartRefused } from '../../start-refused.ts';
import { findStoreToken, readStoreKey, replaceStoreKey, storeKeyBinding } from '../../data-directory/store-key.ts';

/** Encrypted under the canary by the appliance that bootstraps the cluster, decrypted by every other. */
const canaryText = encodeUtf8('keystored: every appliance of a cluster opens this');
const canaryBinding: KeyBinding = { tenant: 'system', keyId: 'cluster', version: 1, purpose: 'canary' };

const base64 = z.string().transform((text, context): Uint8Array => {
  const octets = decodeBase64(text);
  if (octets !== undefined) return octets;
  context.addIssue('must be base64');
  return z.NEVER;
});
const storedKey = z.object({
  type: z.custom<StoredKey['type']>((value) => typeof value === 'string'),
  custody: z.custom<StoredKey['custody']>((value) => typeof value === 'string'),
  token: z.string(),
  blob: base64,
  mac: base64,
});
const clusterKeys = z.object({
  format: z.literal(1),
  storeKey: storedKey,
  canary: storedKey,
  /** the text under the canary */
  sealed: base64,
});

/** Errors of a token that is not there or not let us in: they say nothing about whether it is the right one. */
const passing: ReadonlySet<HsmErrorKind> = new Set(['unavailable', 'timeout', 'pin-refused', 'configuration']);

/** Makes the canary beside the store key of a data directory. JSON without readable key material, for `takeClusterKeys`. */
export async function wrapClusterKeys(hsm: Hsm, directory: string): Promise<Uint8Array> {
  const { stored: storeKey } = readStoreKey(directory);
  const { stored: canary } = await hsm.generate('aes-256', canaryBinding, { custody: 'wrapped' });
  const sealed = await hsm.encrypt({ stored: canary, binding: canaryBinding }, canaryText);
  return encodeKeys({ storeKey, canary, sealed });
}

/** The same keys under the wrapping key in use. */
export async function rewrapClusterKeys({ wrappingKeys }: Pick<Hsm, 'wrappingKeys'>, octets: Uint8Array): Promise<Uint8Array> {
  const { storeKey, canary, sealed } = decodeKeys(octets);
  return encodeKeys({
    storeKey: await wrappingKeys.rewrap({ stored: storeKey, binding: storeKeyBinding }),
    canary: await wrappingKeys.rewrap({ stored: canary, binding: canaryBinding }),
    sealed,
  });
}

/** The number of the oldest wrapping key that they are under. */
export function wrappingNumberOf({ wrappingKeys }: Pick<Hsm, 'wrappingKeys'>, octets: Uint8Array): number {
  const { storeKey, canary } = decodeKeys(octets);
  return Math.min(...[storeKey, canary].map((stored) => wrappingKeys.numberOf(stored) ?? 1));
}

/** As proveClusterKeys, and keeps the store key in the data directory. */
export async function takeClusterKeys(hsm: Hsm, directory: string, octets: Uint8Array): Promise<void> {
  const storeKey = await proveClusterKeys(hsm, octets);
  if (!isKept(directory, storeKey)) replaceStoreKey(directory, storeKey);
}

/**
 * Proves that the token of this appliance opens the keys of the cluster. Resolves with the store key. Throws StartRefused when it does not,
 * and HsmError for a token that cannot be used at the moment.
 */
export async function proveClusterKeys(hsm: Hsm, octets: Uint8Array): Promise<StoredKey> {
  const { storeKey, canary, sealed } = decodeKeys(octets);
  const names = hsm.status().map(({ name, group }) => group?.name ?? name);
  if (!names.includes(storeKey.token)) {
    throw new StartRefused(
      `the cluster keeps its keys in the token ${storeKey.token}, and this appliance has ${names.join(', ')}: give it that name under hsm/tokens`,
    );
  }
  try {
    // A token without its own keys is another one, or one that has lost them: nothing is made in it.
    const damage = hsm.damage(storeKey.token);
    if (damage !== undefined) throw damage;
    const material = await hsm.readKeyMaterialInClear({ stored: storeKey, binding: storeKeyBinding });
    material.fill(0);
    const opened = await hsm.decrypt({ stored: canary, binding: canaryBinding }, sealed);
    if (!Buffer.from(opened).equals(canaryText)) throw new HsmError('decryption-failed', 'the canary of the cluster has another text');
  } catch (error) {
    if (!(error instanceof HsmError) || passing.has(error.kind)) throw error;
    throw new StartRefused(
      `the token ${storeKey.token} does not open the keys of the cluster (${error.message}): it must be the HSM that the other appliances use, or a clone of it; where each has a token of its own, join with an empty data directory and a new invitation`,
      { cause: error },
    );
  }
  return storeKey;
}

function isKept(directory: string, { blob, mac }: StoredKey): boolean {
  if (findStoreToken(directory) === undefined) return false;
  const { stored } = readStoreKey(directory);
  return Buffer.from(stored.blob).equals(blob) && Buffer.from(stored.mac).equals(mac);
}

function decodeKeys(octets: Uint8Array): z.output<typeof clusterKeys> {
  try {
    return clusterKeys.parse(JSON.parse(Buffer.from(octets).toString('utf8')));
  } catch (error) {
    throw new StartRefused(`the keys of the cluster in etcd cannot be read (${(error as Error).name}): they were made by another version`);
  }
}

function encodeKeys({ storeKey, canary, sealed }: Pick<z.output<typeof clusterKeys>, 'storeKey' | 'canary' | 'sealed'>): Uint8Array {
  const record = { format: 1, storeKey: encodeStored(storeKey), canary: encodeStored(canary), sealed: encodeBase64(sealed) };
  return encodeUtf8(JSON.stringify(record));
}

function encodeStored(stored: StoredKey): Record<string, string> {
  return { ...stored, blob: encodeBase64(stored.blob), mac: encodeBase64(stored.mac) };
}
