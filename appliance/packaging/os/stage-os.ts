// Copies the files of the appliance over a root tree with the Debian package: console, settings, firewall, updates, presets. Called by
// image builds.
import { createPublicKey } from 'node:crypto';
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { digestOf, fingerprintOf } from './programs/bundle.ts';

const here = import.meta.dirname;
const repository = resolve(here, '../../..');

/** An appliance has no logins: units that ask for a password or start a shell are masked. */
const masked = [
  'autovt@.service',
  'console-getty.service',
  'container-getty@.service',
  'debug-shell.service',
  'getty@.service',
  'rescue.service',
  'serial-getty@.service',
];

/**
 * Copies the files of the appliance's operating system over `root`, a tree in which the Debian package is installed (programs run from
 * /usr/lib/keystored). May be repeated. Throws without the package. Its preset enables the units.
 * `updateKeys`: public keys in PEM, all of which must sign an update; without keys no update is accepted.
 */
export async function stageOs(root: string, updateKeys: readonly string[] = []): Promise<void> {
  if (!existsSync(join(root, 'usr/lib/keystored/appliance'))) throw new Error(`${root} has no keystored: install its package there first`);
  cpSync(join(here, 'tree'), root, { recursive: true });
  stagePrograms(root);
  for (const unit of masked) link('/dev/null', join(root, 'etc/systemd/system', unit));
  stageUpdateKeys(join(root, 'usr/share/keystored-os/update-keys'), updateKeys);
  mkdirSync(join(root, 'var/lib/keystored-os'), { recursive: true, mode: 0o700 });
  settleModes(join(here, 'tree'), root);
}

/** The programs keep their paths below the sources, because they import neighbouring files. */
function stagePrograms(root: string): void {
  const source = join(here, 'programs');
  const target = join(root, 'usr/lib/keystored', source.slice(repository.length + 1));
  rmSync(target, { recursive: true, force: true });
  cpSync(source, target, { recursive: true });
  settleModes(source, target);
  chmodSync(target, 0o755);
}

function stageUpdateKeys(directory: string, keys: readonly string[]): void {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  for (const pem of keys) {
    const key = createPublicKey(pem);
    if (digestOf(key) === undefined) throw new Error(`keys of the kind ${key.asymmetricKeyType} sign no updates`);
    writeFileSync(join(directory, `${fingerprintOf(key)}.pem`), key.export({ type: 'spki', format: 'pem' }), { mode: 0o644 });
  }
  chmodSync(directory, 0o755);
}

/** Independent of the builder's umask: readable by all, writable by root, executable when the first line names an interpreter. */
function settleModes(source: string, target: string): void {
  for (const entry of readdirSync(source, { recursive: true, withFileTypes: true })) {
    const path = join(target, entry.parentPath.slice(source.length + 1), entry.name);
    chmodSync(path, entry.isDirectory() || isScript(path) ? 0o755 : 0o644);
  }
}

function isScript(path: string): boolean {
  return readFileSync(path, 'latin1').startsWith('#!');
}

function link(to: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  rmSync(path, { force: true, recursive: true });
  symlinkSync(to, path);
}
