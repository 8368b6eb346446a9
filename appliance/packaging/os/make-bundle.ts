// npm run build bundle -- --version 0.2.0 --key ec.pem --key ml-dsa.pem --output FILE PART…: an update signed with every key given.
import { createHash, createPrivateKey, createPublicKey, sign, type KeyObject } from 'node:crypto';
import { createReadStream, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { formatOutput } from '../../../core/wire/schema.ts';
import { run } from '../run.ts';
import { digestOf, fingerprintOf, openManifest, signedOctets, type Manifest } from './programs/bundle.ts';

export type BundleOptions = {
  readonly version: string;
  /** default: any version may be updated */
  readonly minimumVersion?: string | undefined;
  /** PEM files of private keys: EC on P-384, ML-DSA-65 or ML-DSA-87 */
  readonly keys: readonly string[];
  /** files; systemd-sysupdate matches their names */
  readonly parts: readonly string[];
  readonly output: string;
};

/** Writes the bundle. Throws for a key that may not sign updates, and for a manifest that appliances would refuse. */
export async function makeBundle({ version, minimumVersion = '0', keys, parts, output }: BundleOptions): Promise<void> {
  const described = await Promise.all(
    parts.map(async (file) => ({ name: basename(file), bytes: statSync(file).size, sha256: await sha256Of(file) })),
  );
  const manifest: Manifest = { format: 1, version, minimumVersion, parts: described };
  const octets = Buffer.from(`${JSON.stringify(formatOutput(manifest), undefined, 2)}\n`);
  const privateKeys = keys.map((file) => createPrivateKey(readFileSync(file)));
  const signatures = {
    signatures: Object.fromEntries(privateKeys.map((key) => [fingerprintOf(createPublicKey(key)), signWith(key, octets)])),
  };
  const signatureOctets = Buffer.from(`${JSON.stringify(signatures, undefined, 2)}\n`);
  openManifest(
    octets,
    signatureOctets,
    privateKeys.map((key) => createPublicKey(key)),
  );
  pack(octets, signatureOctets, parts, output);
}

function signWith(key: KeyObject, manifest: Uint8Array): string {
  const kind = digestOf(key);
  if (kind === undefined)
    throw new Error(`keys of the kind ${key.asymmetricKeyType} sign no updates: use EC on P-384, ML-DSA-65 or ML-DSA-87`);
  return sign(kind.digest, signedOctets(manifest), key).toString('base64');
}

/** Deterministic. The two small members come first, so that a bundle is verified before its parts are read. */
function pack(manifest: Uint8Array, signatures: Uint8Array, parts: readonly string[], output: string): void {
  const directory = mkdtempSync(join(tmpdir(), 'keystored-bundle-'));
  try {
    writeFileSync(join(directory, 'manifest.json'), manifest);
    writeFileSync(join(directory, 'signatures.json'), signatures);
    for (const part of parts) symlinkSync(resolve(part), join(directory, basename(part)));
    const members = ['manifest.json', 'signatures.json', ...parts.map((part) => basename(part))];
    const settled = ['--format=ustar', '--owner=0', '--group=0', '--numeric-owner', '--mode=0644', '--mtime=@0', '--dereference'];
    run('tar', ['--create', ...settled, `--file=${resolve(output)}`, '--', ...members], { cwd: directory });
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function sha256Of(file: string): Promise<string> {
  const digest = createHash('sha256');
  for await (const chunk of createReadStream(file)) digest.update(chunk as Buffer);
  return digest.digest('hex');
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      version: { type: 'string' },
      'minimum-version': { type: 'string' },
      key: { type: 'string', multiple: true },
      output: { type: 'string' },
    },
  });
  const { version, 'minimum-version': minimumVersion, key: keys = [], output } = values;
  if (version === undefined || output === undefined || keys.length === 0 || positionals.length === 0) {
    console.error(
      'Usage: npm run build bundle -- --version N.N.N [--minimum-version N.N.N] --key PEM [--key PEM] --output FILE.update PART…',
    );
    process.exitCode = 2;
  } else await makeBundle({ version, minimumVersion, keys, parts: positionals, output });
}
