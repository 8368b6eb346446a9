// Debian packages of staged trees, the same octets for the same tree.
import { chmodSync, lutimesSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { run } from './run.ts';

const root = resolve(import.meta.dirname, '../..');

export type Settled = {
  /** time of every file */
  readonly epochSeconds: number;
  /** by the path of a file below the stage; others and those without the right are 0644 */
  readonly isExecutable: (path: string) => boolean;
};

/** Packs a tree with its DEBIAN folder into `target`, and answers that path. */
export function archiveDeb(stage: string, target: string, { epochSeconds, isExecutable }: Settled): string {
  // The folder at the root is in the archive, too, with the mode that mkdtemp or the umask gave it.
  chmodSync(stage, 0o755);
  for (const entry of readdirSync(stage, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isSymbolicLink()) chmodSync(path, entry.isDirectory() || isExecutable(path) ? 0o755 : 0o644);
    lutimesSync(path, epochSeconds, epochSeconds);
  }
  mkdirSync(dirname(target), { recursive: true });
  // With one thread zstd writes other octets than with several, whatever their number: otherwise the processors of a machine decide.
  const compression = ['-Zzstd', '-z10', '--threads-max=2'];
  // The archive and the folder at its root have times as well.
  run('dpkg-deb', ['--root-owner-group', ...compression, '--build', stage, target], {
    environment: { SOURCE_DATE_EPOCH: String(epochSeconds) },
  });
  return target;
}

/** The control file of a package. */
export function controlOf(fields: Readonly<Record<string, string>>): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}

/** For the field Installed-Size: KiB. */
export function installedSize(stage: string): string {
  const octets = readdirSync(stage, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((total, entry) => total + statSync(join(entry.parentPath, entry.name)).size, 0);
  return String(Math.ceil(octets / 1024));
}

/** The time of the last commit; `SOURCE_DATE_EPOCH` overrides it. */
export function commitEpochSeconds(): number {
  return Number(process.env['SOURCE_DATE_EPOCH'] ?? run('git', ['-C', root, 'log', '-1', '--format=%ct']).trim());
}

export function debianArchitecture(): string {
  return run('dpkg', ['--print-architecture']).trim();
}
