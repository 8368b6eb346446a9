// The npm packages of an installation, from the lock file: what the Debian package takes along and the bill of materials lists.
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const repository = resolve(import.meta.dirname, '../..');

/** An entry of the lock file. */
export type LockedPackage = {
  readonly version: string;
  readonly license?: string;
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
};

/**
 * By path below the repository: no development tools, nothing for other platforms, and no packages of typings, which some production
 * packages depend on although nothing loads them. Not from `npm sbom`, which leaves out production packages that a development tool could
 * use as well (npm 11 and yaml).
 */
export function productionPackages(): ReadonlyMap<string, LockedPackage> {
  const { packages } = JSON.parse(readFileSync(join(repository, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, LockedPackage>;
  };
  const isTaken = ([path, { dev, devOptional }]: readonly [string, LockedPackage]): boolean =>
    path !== '' && dev !== true && devOptional !== true && !path.includes('node_modules/@types/') && existsSync(join(repository, path));
  return new Map(Object.entries(packages).filter(isTaken));
}
