// An update from a medium: `unpack` checks the bundle and writes its parts for systemd-sysupdate; `conclude` reports the result.
import { spawn } from 'node:child_process';
import { createHash, createPublicKey, type KeyObject } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { BundleRefused, openManifest, requireFits, type Manifest } from './bundle.ts';
import { writeNotice } from './notices.ts';
import { readVersion } from './version.ts';

const mostManifestBytes = 64 * 1024;

/** Paths below the root of the machine. */
const paths = {
  medium: (root: string) => join(root, 'run/keystored-update-medium'),
  staging: (root: string) => join(root, 'var/lib/keystored-os/update'),
  keys: (root: string) => join(root, 'usr/share/keystored-os/update-keys'),
} as const;

/** Returns whether the parts of the medium's bundle are ready. Otherwise none of them stays and the screen shows why. */
export async function unpack(root: string): Promise<boolean> {
  const staging = paths.staging(root);
  rmSync(staging, { recursive: true, force: true });
  try {
    const bundle = findBundle(paths.medium(root));
    const manifestOctets = await readMember(bundle, 'manifest.json');
    const manifest = openManifest(manifestOctets, await readMember(bundle, 'signatures.json'), readKeys(paths.keys(root)));
    requireFits(manifest, readVersion(root));
    mkdirSync(staging, { recursive: true, mode: 0o700 });
    requireRoom(manifest, staging);
    for (const part of manifest.parts) await unpackPart(bundle, part, join(staging, part.name));
    writeFileSync(join(staging, 'manifest.json'), manifestOctets);
    return true;
  } catch (error) {
    rmSync(staging, { recursive: true, force: true });
    const reason =
      error instanceof BundleRefused ? error.message : `it cannot be read (${(error as NodeJS.ErrnoException).code ?? 'fault'})`;
    writeNotice(root, 'update', `The update on the medium is refused: ${reason}.`);
    return false;
  }
}

/** Reports the result and removes the parts. `result`: $SERVICE_RESULT of ExecStopPost=. */
export function conclude(root: string, result: string | undefined): void {
  if (result === 'exec-condition') {
    writeNotice(root, 'update', 'No update is taken while this version is on trial: plug the medium in again when it has proved itself.');
    return;
  }
  const manifest = join(paths.staging(root), 'manifest.json');
  if (existsSync(manifest)) {
    const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as Manifest;
    writeNotice(
      root,
      'update',
      result === 'success'
        ? `Version ${version} is installed beside this one: remove the medium and reboot. If it does not serve, this one comes back.`
        : `Version ${version} could not be installed: the disk did not take it.`,
    );
  }
  rmSync(paths.staging(root), { recursive: true, force: true });
}

function findBundle(medium: string): string {
  const [bundle, ...more] = readdirSync(medium).filter((name) => /^[\w.+-]+\.update$/.test(name));
  if (bundle === undefined) throw new BundleRefused('there is no file that ends in .update, or no FAT or ISO 9660 file system');
  if (more.length > 0) throw new BundleRefused('there are several files that end in .update');
  return join(medium, bundle);
}

function readKeys(directory: string): KeyObject[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory).map((name) => createPublicKey(readFileSync(join(directory, name))));
}

function requireRoom({ parts }: Manifest, directory: string): void {
  const { bavail, bsize } = statfsSync(directory);
  const needed = parts.reduce((sum, { bytes }) => sum + bytes, 0);
  if (needed > bavail * bsize) throw new BundleRefused(`it needs ${Math.ceil(needed / 2 ** 20)} MiB of room, and there is less`);
}

async function readMember(bundle: string, name: string): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  await extract(bundle, name, async (content) => {
    for await (const chunk of content) {
      bytes += chunk.length;
      if (bytes > mostManifestBytes) throw new BundleRefused(`its ${name} is too long`);
      chunks.push(chunk);
    }
  });
  return Buffer.concat(chunks);
}

/** Hashes a part while writing it, and writes at most the signed length. */
async function unpackPart(bundle: string, { name, bytes, sha256 }: Manifest['parts'][number], target: string): Promise<void> {
  // Opened first: a stream that opens it by itself may make it while a refusal removes the directory.
  await using file = await open(target, 'w', 0o600);
  const digest = createHash('sha256');
  let written = 0;
  await extract(bundle, name, async (content) => {
    const counted = async function* (): AsyncGenerator<Buffer> {
      for await (const chunk of content) {
        written += chunk.length;
        if (written > bytes) throw new BundleRefused(`its part ${name} is longer than it should be`);
        digest.update(chunk);
        yield chunk;
      }
    };
    await pipeline(counted(), file.createWriteStream({ flush: true }));
  });
  if (written !== bytes || digest.digest('hex') !== sha256) throw new BundleRefused(`its part ${name} is damaged`);
}

/** Passes one member to `take`. tar writes to its standard output only, never to a path from the bundle. */
async function extract(bundle: string, name: string, take: (content: AsyncIterable<Buffer>) => Promise<void>): Promise<void> {
  const tar = spawn('tar', ['--extract', '--to-stdout', '--occurrence=1', '--no-wildcards', `--file=${bundle}`, '--', name], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = new Promise<number | null>((resolve, reject) => tar.once('error', reject).once('close', resolve));
  try {
    await take(tar.stdout as AsyncIterable<Buffer>);
  } catch (error) {
    tar.kill();
    await ended;
    throw error;
  }
  if ((await ended) !== 0) throw new BundleRefused(`its ${name} is missing or cut off`);
}

if (import.meta.main) {
  if (process.argv[2] === 'unpack') process.exitCode = (await unpack('/')) ? 0 : 1;
  else conclude('/', process.env['SERVICE_RESULT']);
}
