// The pinned Node.js for each platform that packages are made for: the installed one, or the same version of another platform from npm.
import { createHash, hash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { run } from './run.ts';
import pinned from './pinned-node.json' with { type: 'json' };

const root = resolve(import.meta.dirname, '../..');
const { version } = pinned;

/** Debian's names of the platforms that packages are made for. */
export const platforms = ['amd64', 'arm64'] as const;
export type Platform = (typeof platforms)[number];

/**
 * Pinned Node.js of one platform: its package of npm, the SHA-512 of the archive (base64) and the SHA-256 of the program in it (hex). A new
 * version needs new ones.
 */
export type PinnedNode = { readonly package: string; readonly archiveSha512: string; readonly binarySha256: string };

/** The Node.js that packages of a platform contain. */
export function pinnedNode(platform: Platform): PinnedNode & { readonly version: string } {
  return { ...pinned.platforms[platform], version };
}

/** The platform this runs on. Throws on others than those of the table. */
export function ownPlatform(): Platform {
  const own = ({ x64: 'amd64', arm64: 'arm64' } as const)[process.arch as string];
  if (own === undefined || process.platform !== 'linux') throw new Error(`there is no package for ${process.platform} ${process.arch}`);
  return own;
}

/**
 * Path of the Node.js that `npm start` has installed. The lock file does not cover it: the package `node` fetches it while it is installed.
 * Therefore it is compared with its pinned sum. Throws for another version, and for other octets.
 */
export function installedNode(): string {
  if (process.versions.node !== version) throw new Error(`Node.js ${version} is needed, and this is ${process.versions.node}`);
  const path = join(root, 'node_modules/node/bin/node');
  requireSum(path, pinnedNode(ownPlatform()).binarySha256);
  return path;
}

export type NodeRelease = { readonly binary: string; readonly license: string };

/**
 * Path of the archive of Node.js for a platform, from npm. It is kept below node_modules/.cache, and checked at each use. Throws when it
 * cannot be had, or is not the pinned one.
 */
export function fetchNodeArchive(platform: Platform): string {
  const { package: name, archiveSha512 } = pinnedNode(platform);
  const cache = join(root, 'node_modules/.cache/keystored');
  const archive = join(cache, `${name}-${version}.tgz`);
  mkdirSync(cache, { recursive: true });
  if (!existsSync(archive)) run('npm', ['pack', '--silent', `${name}@${version}`, '--pack-destination', cache], { cwd: root });
  const found = createHash('sha512').update(readFileSync(archive)).digest('base64');
  if (found === archiveSha512) return archive;
  rmSync(archive);
  throw new Error(`${name} ${version} is not the pinned one: SHA-512 ${found}`);
}

/** Node.js for a platform from npm, its program and licence unpacked below `directory`. Throws as fetchNodeArchive. */
export function fetchNode(platform: Platform, directory: string): NodeRelease {
  const archive = fetchNodeArchive(platform);
  const target = join(directory, pinnedNode(platform).package);
  mkdirSync(target, { recursive: true });
  run('tar', ['--extract', `--file=${archive}`, `--directory=${target}`, 'package/bin/node', 'package/LICENSE']);
  return { binary: join(target, 'package/bin/node'), license: readFileSync(join(target, 'package/LICENSE'), 'utf8') };
}

function requireSum(path: string, sha256: string): void {
  const found = hash('sha256', readFileSync(path), 'hex');
  if (found !== sha256) throw new Error(`${path} is not the pinned Node.js ${version}: SHA-256 ${found}`);
}
