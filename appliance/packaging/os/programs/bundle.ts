// An update as one file: a tar of manifest.json, signatures.json and the parts that the manifest names. The manifest is
// trusted when every key of the appliance has signed it, and a part when its hash is that of the manifest.
import { hash, type KeyObject, verify } from 'node:crypto';
import { z } from 'zod';
import { ServiceError } from '../../../../core/base/errors.ts';
import { parseJsonObject } from '../../../../core/wire/json.ts';
import { parseInput } from '../../../../core/wire/schema.ts';

/** A refused bundle; the message is one line for the screen. */
export class BundleRefused extends Error {}

const version = z.string().regex(/^\d{1,6}(?:\.\d{1,6}){0,3}$/, 'must be numbers with dots between them');

const manifestSchema = z.strictObject({
  format: z.literal(1),
  version,
  /** appliances older than this one need a version in between */
  minimumVersion: version,
  parts: z
    .array(
      z.strictObject({
        name: z.string().regex(/^(?!manifest\.json$|signatures\.json$)[A-Za-z0-9][\w.+@-]{0,127}$/, 'must be a plain file name'),
        bytes: z.int().min(1),
        sha256: z.string().regex(/^[0-9a-f]{64}$/),
      }),
    )
    .min(1)
    .max(16),
});

export type Manifest = z.output<typeof manifestSchema>;
/** Base64 of each signature by the fingerprint of its key. */
const signaturesSchema = z.strictObject({ signatures: z.record(z.string(), z.string()) });

/** The signed octets: this prefix, then manifest.json. The prefix separates it from other uses of the keys. */
export function signedOctets(manifest: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from('keystored update bundle 1\0'), manifest]);
}

/** SHA-256 of a public key's SubjectPublicKeyInfo, hexadecimal. */
export function fingerprintOf(key: KeyObject): string {
  return hash('sha256', key.export({ type: 'spki', format: 'der' }), 'hex');
}

/** Digest with which keys of this kind sign updates; undefined for kinds that may not sign them. */
export function digestOf(key: KeyObject): { readonly digest: string | null } | undefined {
  const { namedCurve } = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType === 'ec') return namedCurve === 'secp384r1' ? { digest: 'sha384' } : undefined;
  return key.asymmetricKeyType === 'ml-dsa-65' || key.asymmetricKeyType === 'ml-dsa-87' ? { digest: null } : undefined;
}

/** The manifest, once every key has signed it. Throws BundleRefused. */
export function openManifest(manifest: Uint8Array, signatures: Uint8Array, keys: readonly KeyObject[]): Manifest {
  if (keys.length === 0) throw new BundleRefused('this appliance has no key for updates');
  const given = parse(signaturesSchema, signatures, 'signatures.json').signatures;
  for (const key of keys) {
    const kind = digestOf(key);
    const signature = given[fingerprintOf(key)];
    if (kind === undefined)
      throw new BundleRefused(`a key of this appliance is of a kind that signs no updates (${key.asymmetricKeyType})`);
    if (signature === undefined) throw new BundleRefused(`it is not signed with the ${key.asymmetricKeyType} key of this appliance`);
    if (!verify(kind.digest, signedOctets(manifest), key, Buffer.from(signature, 'base64')))
      throw new BundleRefused(`its ${key.asymmetricKeyType} signature is wrong`);
  }
  return parse(manifestSchema, manifest, 'manifest.json');
}

/** Throws BundleRefused unless the bundle is newer than the running version, and that is new enough for it. */
export function requireFits({ version, minimumVersion }: Manifest, running: string): void {
  if (compareVersions(version, running) <= 0) throw new BundleRefused(`its version ${version} is not newer than ${running}, which runs`);
  if (compareVersions(running, minimumVersion) < 0)
    throw new BundleRefused(`version ${running}, which runs, is too old for it: update to ${minimumVersion} first`);
}

/** Compares number by number; missing ones count as 0. */
function compareVersions(one: string, other: string): number {
  const [a, b] = [one, other].map((text) => text.split('.').map(Number)) as [number[], number[]];
  for (let index = 0; index < Math.max(a.length, b.length); index++) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function parse<T>(schema: z.ZodType<T>, octets: Uint8Array, name: string): T {
  try {
    return parseInput(schema, parseJsonObject(octets));
  } catch (error) {
    if (error instanceof ServiceError) throw new BundleRefused(`its ${name} cannot be read`);
    throw error;
  }
}
