// The manifest of a backup: its content, with digests, and the signature that tells the appliance that made it.
import { createHash, createPublicKey, verify, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import { auditKeyId, splitPublicKeys } from '../../../core/audit/keys.ts';
import { encodeEcdsaSignature } from '../../../core/der/ecdsa-signature.ts';
import { BackupError } from './error.ts';
import { parseIfJson } from '../../../core/wire/json.ts';

/** Facts that a restore needs before it unpacks anything, in all formats. */
export type Contents = {
  /** true if the token itself is in the backup */
  readonly embedded: boolean;
  /** the tokens that the keys are in or wrapped under */
  readonly tokens: readonly { readonly name: string; readonly label: string; readonly serial: string }[];
};

/** `manifest.json`, the first file of the archive. */
export type Manifest = z.output<typeof manifestSchema>;

const manifestSchema = z.object({
  kind: z.literal('keystored-backup'),
  format: z.literal(2),
  /** RFC 3339 */
  'made-at': z.string(),
  /** of keystored */
  version: z.string(),
  /** first host name of the appliance */
  appliance: z.string(),
  embedded: z.boolean(),
  tokens: z.array(z.object({ name: z.string(), label: z.string(), serial: z.string() })),
  /** entries of the store */
  records: z.int().min(0),
  /** every other file, in the order of the archive */
  files: z.array(z.object({ path: z.string(), bytes: z.int().min(0), sha256: z.string().regex(/^[0-9a-f]{64}$/) })),
});

/** The octets that are digested and signed. */
export function formatManifest(manifest: Manifest): Buffer {
  return Buffer.from(`${JSON.stringify(manifest, undefined, 1)}\n`);
}

/** Throws BackupError for a manifest of another version. */
export function parseManifest(octets: Uint8Array): Manifest {
  const parsed = manifestSchema.safeParse(parseIfJson(Buffer.from(octets).toString('utf8')));
  if (!parsed.success) throw new BackupError('the manifest of the backup is damaged or of another version');
  return parsed.data;
}

/** SHA-256 of the manifest in hexadecimal: it names the backup, in the audit trail as well. */
export function manifestDigest(octets: Uint8Array): string {
  return createHash('sha256').update(octets).digest('hex');
}

/** An ECDSA signature r‖s of a token as `openssl dgst -sha256 -verify` reads it. */
export function formatSignature(raw: Uint8Array): Uint8Array {
  return encodeEcdsaSignature(raw);
}

/** Claim of the archive about its maker. Anybody who knows a recipient can make a file for it: only the signature proves the claim. */
export type Claim = { readonly manifest: Uint8Array; readonly signature: Uint8Array | undefined; readonly keys: string };

/** `proven`: the key is one that was kept elsewhere. `unproven`: only the backup itself says that the key is the appliance's. */
export type Origin = { readonly state: 'proven' | 'unproven'; readonly keyId: string } | { readonly state: 'unsigned' };

/**
 * Judges the claim. `trusted`: a file of public keys (PEM) that was kept elsewhere; then an unsigned backup, and one that another key has
 * signed, throw BackupError. A signature that does not verify throws in any case.
 */
export function judgeOrigin({ manifest, signature, keys }: Claim, trusted: string | undefined): Origin {
  if (signature === undefined) {
    if (trusted === undefined) return { state: 'unsigned' };
    throw new BackupError('the backup is not signed, so who made it cannot be told: nothing was restored');
  }
  const known = publicKeys(trusted ?? keys);
  if (trusted !== undefined && known.length === 0)
    throw new BackupError(
      'the file of audit keys has no public key: give audit-keys.pem of the appliance that made the backup; nothing was restored',
    );
  const found = known.find((key) => verify('sha256', manifest, key, signature));
  if (found !== undefined) return { state: trusted === undefined ? 'unproven' : 'proven', keyId: auditKeyId(found) };
  throw new BackupError(
    trusted === undefined
      ? 'the signature of the backup does not verify'
      : 'the backup was signed by none of the audit keys that were given: another appliance made it, or the file of keys is older than its key',
  );
}

function publicKeys(pem: string): readonly KeyObject[] {
  try {
    return splitPublicKeys(pem).map((one) => createPublicKey(one));
  } catch {
    return [];
  }
}
