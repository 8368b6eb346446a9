// The npm packages of an installation, from the lock file: the Debian package includes them and the bills of materials list them.
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const repository = resolve(import.meta.dirname, '../..');

/** An entry of the lock file. */
export type LockedPackage = {
  readonly version: string;
  readonly license?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  /** inside of the archive of the package above it */
  readonly inBundle?: boolean;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly hasInstallScript?: boolean;
  /** absent where another package needs it */
  readonly optional?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  /** operating systems on which it can be installed; absent: all */
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
};

/** By path below the repository (`node_modules/zod`). */
export type LockedPackages = ReadonlyMap<string, LockedPackage>;

/** Every package of the lock file, those of development and of other platforms as well. */
export function lockedPackages(): LockedPackages {
  const lock = JSON.parse(readFileSync(join(repository, 'package-lock.json'), 'utf8')) as { packages: Record<string, LockedPackage> };
  return new Map(Object.entries(lock.packages).filter(([path]) => path !== ''));
}

/**
 * No development tools, nothing for other platforms, and no packages of typings, which some production
 * packages depend on although nothing loads them. Not from `npm sbom`, which leaves out production packages that a development tool could
 * use as well (npm 11 and yaml).
 */
export function productionPackages(): LockedPackages {
  const isTaken = ([path, { dev, devOptional }]: readonly [string, LockedPackage]): boolean =>
    dev !== true && devOptional !== true && !path.includes('node_modules/@types/') && existsSync(join(repository, path));
  return new Map([...lockedPackages()].filter(isTaken));
}

/** The packages that the bundle of the console contains, as its build found them. Throws where the console was not built. */
export function consolePackages(): LockedPackages {
  const file = join(repository, 'plugins/console/built/packages.json');
  if (!existsSync(file)) throw new Error('the console was not built: run this by its npm script');
  return packagesNamed(JSON.parse(readFileSync(file, 'utf8')) as string[]);
}

/** The packages that bundles contain, by name. Throws for one that the lock file does not have at the top. */
export function packagesNamed(names: readonly string[]): LockedPackages {
  const locked = lockedPackages();
  return new Map(
    names.map((name) => {
      const path = `node_modules/${name}`;
      const entry = locked.get(path);
      if (entry === undefined) throw new Error(`the lock file has no ${path}`);
      return [path, entry];
    }),
  );
}
