// Traces that tell a data directory in use from a new one, and missing parts of an appliance. Without any trace of an appliance, one is
// made.
import { existsSync, lstatSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { syncDirectory, writeDurably } from '../../core/base/durable-files.ts';
import { paths } from './paths.ts';
import { StartRefused } from '../start-refused.ts';
import { storeKeyFile } from './store-key.ts';

/** Of a used data directory; when one of these is there, nothing is restored and no appliance made. */
const traces = [
  'store',
  'store-key.json',
  'softhsm',
  'pin',
  'so-pin',
  'root-token',
  'audit',
  'tls',
  'member',
  'cluster.json',
  'shipping',
  'logs',
];

/** The path of something that an appliance keeps in this data directory; undefined when none has ever started in it. */
export function findTrace(directory: string): string | undefined {
  return tracesIn(directory)[0];
}

function tracesIn(directory: string): readonly string[] {
  // The logs of an interrupted first start belong to it.
  const names = isFirstStart(directory) ? traces.filter((name) => name !== 'logs') : traces;
  return names.map((name) => join(directory, name)).filter((path) => isTrace(path));
}

/** Anything but a directory without entries, which is a place to mount something; a new file system has `lost+found`. */
export function isTrace(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return false;
  if (!found.isDirectory()) return true;
  try {
    return readdirSync(path).some((name) => name !== 'lost+found');
  } catch (error) {
    // An inaccessible directory is not meant as a mount point.
    if ((error as NodeJS.ErrnoException).code === 'EACCES') return true;
    throw error;
  }
}

/** It exists from the first step of a first start to its last one: the next start continues an interrupted one. */
const firstStartMark = (data: string): string => join(data, 'founding');

export function isFirstStart(data: string): boolean {
  return lstatSync(firstStartMark(data), { throwIfNoEntry: false }) !== undefined;
}

export function endFirstStart(data: string): void {
  if (!isFirstStart(data)) return;
  rmSync(firstStartMark(data));
  syncDirectory(data);
}

export type NeededParts = {
  /** the embedded token */
  readonly token: boolean;
  /** store and store key; a member of a cluster gets them from the others */
  readonly store: boolean;
  /** it joins a cluster by an invitation, which replaces its lost parts */
  readonly isInvited?: boolean;
};

/**
 * Begins the first start of an appliance in an empty directory. Throws StartRefused if there are traces of one and a part is missing: a disk that was
 * not mounted or an incomplete copy would otherwise get a new appliance over the old one.
 */
export function requireWhole(data: string, needed: NeededParts): void {
  const present = tracesIn(data);
  requireNoCutRestore(data, present);
  // A first start makes these last, after all that is needed: if they exist, no appliance is made.
  const isFounded = isFirstStart(data) && ['root-token', 'audit', 'tls'].some((name) => isTrace(join(data, name)));
  if (isFirstStart(data) && !isFounded) return requireTokenOfKey(data, needed, present);
  const isFilled = needed.isInvited === true && !isTrace(paths.store(data));
  if (present.length === 0 || isFilled) return writeDurably(firstStartMark(data), '');
  requireAll(data, needed, present);
}

/** The place of a restore that was interrupted before its backup was verified (backup/restore.ts). */
const cutRestore = (data: string): string => join(data, 'restoring');

function requireNoCutRestore(data: string, present: readonly string[]): void {
  if (!existsSync(cutRestore(data))) return;
  if (present.length === 0)
    throw new StartRefused(
      `a restore into ${data} was cut off, and nothing was made in its place: run it again, with --restore FILE; for a new appliance, remove ${cutRestore(data)}`,
    );
  rmSync(cutRestore(data), { recursive: true });
  syncDirectory(data);
}

/** The key of the store is made in the token, which another one made now would not open. */
function requireTokenOfKey(data: string, { token, store }: NeededParts, present: readonly string[]): void {
  if (store && existsSync(storeKeyFile(data))) requireAll(data, { token, store: false }, present);
}

/** As requireWhole, for a process that makes no appliance itself. */
export function requireParts(data: string, needed: NeededParts): void {
  if (!isFirstStart(data)) requireAll(data, needed, tracesIn(data));
}

function requireAll(data: string, needed: NeededParts, present: readonly string[]): void {
  const missing = [
    ...(needed.store ? [missingStore(data), missingFile(storeKeyFile(data))] : []),
    ...(needed.token && !isTrace(join(data, 'softhsm'))
      ? [`${join(data, 'softhsm')} is missing (a token of your own is named under hsm.tokens of the configuration, --config)`]
      : []),
  ].filter((one) => one !== undefined);
  if (missing.length === 0) return;
  if (present.length === 0) throw new StartRefused(`there is no appliance in ${data}: nothing was made`);
  const are = present.length === 1 ? 'is' : 'are';
  throw new StartRefused(
    `${missing.join(', ')}, and ${present.join(', ')} ${are} of an appliance that has it: nothing was made in its place. See that every disk is mounted, and put back what is missing from your backup; for a new appliance, name an empty directory`,
  );
}

/** Names of the missing or empty parts, for public messages: without a path. */
export function missingParts(data: string, { token, store }: NeededParts): readonly string[] {
  return [
    ...(store && missingStore(data) !== undefined ? ['store'] : []),
    ...(store && missingFile(storeKeyFile(data)) !== undefined ? ['store-key.json'] : []),
    ...(token && !isTrace(join(data, 'softhsm')) ? ['softhsm'] : []),
  ];
}

function missingStore(data: string): string | undefined {
  const directory = paths.store(data);
  return isTrace(directory) ? missingFile(join(directory, 'data.mdb')) : `${directory} is missing or empty`;
}

/** A file without octets is the remainder of an interrupted copy. */
function missingFile(file: string): string | undefined {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) return `${file} is missing`;
  return found.isFile() && found.size === 0 ? `${file} is empty` : undefined;
}
