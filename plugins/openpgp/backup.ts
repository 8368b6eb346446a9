// OpenPGP records from a backup. Backups are untrusted, so everything in a record is checked again.
import type { Key } from 'openpgp';
import { z } from 'zod';
import { concat } from '../../core/base/bytes.ts';
import { defined } from '../../core/base/defined.ts';
import { fail as failCore } from '../../core/base/errors.ts';
import type { RestoredVersion } from '../../core/plugin/services/transit-keys.ts';
import { hasRole, type OpenpgpDefinition, type OpenpgpKey, type OpenpgpKeys, type OpenpgpRecord } from './records.ts';
import { fail } from './errors.ts';
import { bindingTime } from './certificates/certificate.ts';
import { requireNoLiveSubkeys, requireUserId } from './definition.ts';
import { importCertificate } from './certificates/import-public-key.ts';
import { parseCertificate, parsedCertificate } from './format/keyblock.ts';
import { formatFingerprint } from './format/packets.ts';
import { publicKeyBody } from './format/signer.ts';

const octets = z.custom<Uint8Array>((value) => value instanceof Uint8Array && value.length <= 64 * 1024);
const seconds = z.int().min(0).max(0xffff_ffff);
const recordSchema = z.strictObject({
  fingerprints: z.array(z.string().regex(/^(?:[0-9A-F]{40}|[0-9A-F]{64})$/)).max(64),
  created: seconds,
  notBefore: seconds,
  certificate: z.custom<Uint8Array>((value) => value instanceof Uint8Array && value.length <= 256 * 1024),
  certified: seconds.optional(),
  lifetime: seconds.optional(),
  subkey: z
    .strictObject({ packets: octets, primaryVersion: z.int().min(1), primaryFingerprint: z.string(), primaryExpires: z.int().optional() })
    .optional(),
  brought: z.strictObject({ userIds: z.array(z.string().max(4096)).max(64), subkeys: octets }).optional(),
  imported: z.string().optional(),
});

/** See KeyAttachment.acceptRestored. Throws invalid-value, invalid-key-data, in-use. */
export async function acceptRestored(
  target: OpenpgpKey,
  definition: OpenpgpDefinition,
  versions: readonly RestoredVersion[],
  transitKeys: OpenpgpKeys,
  now: Temporal.Instant,
): Promise<ReadonlyMap<number, OpenpgpRecord>> {
  const accepted = new Map<number, OpenpgpRecord>();
  for (const { version, publicKey, attached } of versions) {
    if (attached === undefined) continue;
    accepted.set(version, await acceptRecord(definition, publicKey, attached, now));
  }
  if (definition.fields.openpgpUserId === undefined) requireNoLiveSubkeys(target, transitKeys);
  if (hasRole(definition.fields) && versions.some(({ version, hasPrivateKey }) => hasPrivateKey && !accepted.has(version)))
    throw fail('invalid-key-data', { detail: 'The backup contradicts itself: an OpenPGP key without its certificate.' });
  return accepted;
}

async function acceptRecord(
  definition: OpenpgpDefinition,
  publicKey: Uint8Array | undefined,
  given: unknown,
  now: Temporal.Instant,
): Promise<OpenpgpRecord> {
  const parsed = recordSchema.safeParse(given);
  if (!parsed.success || publicKey === undefined) throw refused();
  const { subkey, imported, certified, lifetime, brought, ...rest } = parsed.data;
  const record: OpenpgpRecord = { ...rest, ...defined({ subkey: subkey && asBound(subkey), imported, certified, lifetime, brought }) };
  if (imported !== undefined) return acceptImported(imported, publicKey, now);
  const key = publicKeyBody(definition.cipher, publicKey, record.created, definition.fields.openpgpPacketVersion);
  if (key === undefined) throw refused();
  const fingerprint = formatFingerprint(key.fingerprint);
  // Reading an untrusted certificate fails in many ways; all are the same refusal.
  const certificate = await parsedCertificate(record).catch(() => undefined);
  const signingKey = await certificate?.getSigningKey(undefined, new Date(record.notBefore * 1000)).catch(() => undefined);
  if (certificate === undefined || signingKey?.getFingerprint().toUpperCase() !== fingerprint) throw refused();
  const primaryCreated = Math.floor(certificate.getCreationTime().getTime() / 1000);
  const consistent =
    record.fingerprints.length === 1 &&
    record.fingerprints[0] === fingerprint &&
    record.notBefore === bindingTime({ created: primaryCreated }, key) &&
    fitsRole(record, definition, certificate) &&
    (await fitsBrought(record));
  if (!consistent) throw refused();
  return record;
}

function fitsRole(record: OpenpgpRecord, { fields }: OpenpgpDefinition, certificate: Key): boolean {
  if (record.subkey !== undefined) {
    // An unbound subkey keeps its record: `sign` continues to refuse what would be an OpenPGP signature.
    const isSubkey = fields.openpgpPrimary !== undefined || !hasRole(fields);
    return isSubkey && record.subkey.primaryFingerprint === certificate.getFingerprint().toUpperCase();
  }
  if (fields.openpgpPrimary !== undefined) return false;
  // A key without User ID keeps its record until it gets one again.
  return fields.openpgpUserId === undefined || certificate.getUserIDs().includes(requireUserId(fields.openpgpUserId));
}

/** The subkeys that came with an imported key are published with it: they must be readable. */
async function fitsBrought({ certificate, brought, fingerprints }: OpenpgpRecord): Promise<boolean> {
  if (brought === undefined) return true;
  const whole = { fingerprints, certificate: concat(certificate, brought.subkeys), created: 0, notBefore: 0 };
  const read = await parseCertificate(whole).catch(() => undefined);
  return read?.getFingerprint().toUpperCase() === fingerprints[0];
}

function asBound({
  primaryExpires,
  ...subkey
}: NonNullable<z.output<typeof recordSchema>['subkey']>): NonNullable<OpenpgpRecord['subkey']> {
  return { ...subkey, ...defined({ primaryExpires }) };
}

async function acceptImported(block: string, publicKey: Uint8Array, now: Temporal.Instant): Promise<OpenpgpRecord> {
  const { publicKey: named, record } = await importCertificate(block, now);
  if (Buffer.compare(named, publicKey) !== 0) throw refused();
  return record;
}

function refused(): Error {
  return failCore('invalid-value', { detail: 'The backup holds an OpenPGP certificate that does not fit its key.' });
}
