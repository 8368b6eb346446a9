// Reads of material, with the rules for what may leave, and uses that the usage mask allows.
import { createCipheriv } from 'node:crypto';
import { revealSecret, type Secret } from '../../../core/base/secret.ts';
import { formatTimestamp } from '../../../core/base/time.ts';
import type { Kmip } from '../context.ts';
import { fail } from '../errors.ts';
import { hasMaterial, type ObjectRecord } from '../records/object-record.ts';
import { openMaterial } from '../spaces/sealing.ts';
import { invalid } from './attribute-json.ts';
import { isTrue, numberOf } from './attributes.ts';
import { aesNumber } from './algorithms.ts';
import { requireObject, requirePresent, requireState } from './change.ts';
import { type Place, secondsOf } from './make.ts';

/** Bits of Cryptographic Usage Mask */
export const usage = {
  ...{ sign: 0x1, verify: 0x2, encrypt: 0x4, decrypt: 0x8, wrapKey: 0x10, unwrapKey: 0x20, macGenerate: 0x80, macVerify: 0x100 },
  ...{ deriveKey: 0x200, contentCommitment: 0x400, keyAgreement: 0x800, certificateSign: 0x1000, crlSign: 0x2000 },
} as const;

/** Throws `kmip-destroyed`, `kmip-sensitive` and `kmip-not-extractable` for an object that does not leave, or not in clear. */
export function requireLeaving(
  record: ObjectRecord,
  { isWrapped, now }: { readonly isWrapped: boolean; readonly now: Temporal.Instant },
): void {
  requirePresent(record, now);
  if (isTrue(record.attributes, 'Extractable') === false) throw fail('kmip-not-extractable');
  if (isTrue(record.attributes, 'Sensitive') === true && !isWrapped) throw fail('kmip-sensitive');
}

/** Opens the material of an object that may leave. Throws `kmip-destroyed`. */
export async function readMaterial(kmip: Kmip, place: Place, id: string, { objectType }: ObjectRecord): Promise<Secret<Uint8Array>> {
  const { tenantId, space } = place;
  const material = kmip.tables.materials.get([tenantId, space.id, id]);
  if (material === undefined) throw fail('kmip-destroyed');
  return openMaterial(kmip, { tenantId, space, id, objectType }, material);
}

/**
 * Notes in the record that material leaves, right before the answer with it: what was refused on its way has not left. Kept once: later reads need no
 * write, and are in the audit trail. Throws `not-found`, `kmip-destroyed`.
 */
export async function noteLeft(kmip: Kmip, place: Place, id: string, now: Temporal.Instant): Promise<void> {
  if (requireObject(kmip, place, id).leftAt !== undefined) return;
  await kmip.store.write((transaction) => {
    const record = requireObject(kmip, place, id, transaction);
    requirePresent(record, now);
    if (record.leftAt !== undefined) return;
    transaction.put(kmip.tables.objects, [place.tenantId, place.space.id, id], { ...record, leftAt: formatTimestamp(now) });
  });
}

/** Bits of uses that protect, and of those that undo that. */
const protects = usage.sign | usage.encrypt | usage.wrapKey | usage.macGenerate;
const processes = usage.verify | usage.decrypt | usage.unwrapKey | usage.macVerify;

/** Throws `kmip-state` and `kmip-usage` unless the object is Active, its dates allow the use, and its mask has the bit. */
export function requireUse(record: ObjectRecord, bit: number, now: Temporal.Instant): void {
  requireState(record, now, ['active'], 'used');
  const mask = numberOf(record.attributes, 'Cryptographic Usage Mask') ?? 0;
  if ((mask & bit) !== bit) throw fail('kmip-usage');
  const seconds = secondsOf(now);
  if ((bit & protects) !== 0 && (numberOf(record.attributes, 'Protect Stop Date') ?? Infinity) <= seconds)
    throw fail('kmip-state', { detail: 'The Protect Stop Date of the object has come: it protects nothing more.' });
  if ((bit & processes) !== 0 && (numberOf(record.attributes, 'Process Start Date') ?? -Infinity) > seconds)
    throw fail('kmip-state', { detail: 'The Process Start Date of the object has not come.' });
}

/** Throws `kmip-format-unsupported` for a form in which an object does not leave. */
export function requireForm(
  { objectType, keyFormat, wrapping }: ObjectRecord,
  wanted: { readonly isWrapped: boolean; readonly keyFormat?: number | undefined },
): void {
  if (objectType === 'template')
    throw fail('kmip-format-unsupported', { detail: 'A template has attributes and nothing else: read those.' });
  if (wrapping !== undefined && wanted.isWrapped)
    throw fail('kmip-format-unsupported', { detail: 'The object was registered wrapped, and leaves so: it is not wrapped again.' });
  if (wanted.keyFormat !== undefined && keyFormat !== undefined && wanted.keyFormat !== keyFormat) throw fail('kmip-format-unsupported');
  if (wanted.isWrapped && (objectType === 'certificate' || objectType === 'opaque-object'))
    throw fail('kmip-format-unsupported', { detail: 'Certificates and opaque objects have no key block, and are not wrapped.' });
}

/** The record of a key under which others may be wrapped. Throws `not-found`, `kmip-state`, `kmip-usage`. */
export function requireWrapping(kmip: Kmip, place: Place, keyId: string, now: Temporal.Instant): ObjectRecord {
  const record = requireObject(kmip, place, keyId);
  requireUse(record, usage.wrapKey, now);
  if (
    record.objectType !== 'symmetric-key' ||
    !hasMaterial(record) ||
    record.wrapping !== undefined ||
    numberOf(record.attributes, 'Cryptographic Algorithm') !== aesNumber
  )
    throw fail('kmip-usage', { detail: 'A wrapping key must be an AES key whose material is sealed here.' });
  return record;
}

/** RFC 3394 section 2.2.3.1 */
const initialValue = Buffer.alloc(8, 0xa6);

/**
 * Wraps octets under an object (RFC 3394). In this process and not in the token: the wrapping key is an object that its clients may read in clear,
 * and what it wraps is on its way out.
 */
export async function wrap(kmip: Kmip, place: Place, keyId: string, octets: Uint8Array, now: Temporal.Instant): Promise<Uint8Array> {
  const record = requireWrapping(kmip, place, keyId, now);
  if (octets.length < 16 || octets.length % 8 !== 0)
    throw invalid('Key Value', 'must be whole blocks of 8 octets, two or more, to be wrapped');
  const opened = revealSecret(await readMaterial(kmip, place, keyId, record));
  try {
    const cipher = createCipheriv(`aes${opened.length * 8}-wrap`, opened, initialValue);
    return Buffer.concat([cipher.update(octets), cipher.final()]);
  } finally {
    opened.fill(0);
  }
}
