// The data directory: made with mode 0700, proven writable, held by one appliance at a time, with the right kind of file at each name.
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  closeSync,
  constants,
  type Dirent,
  existsSync,
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { isUnfinished } from '../../core/base/durable-files.ts';
import { readDisk } from './disk.ts';
import { findTrace, isFirstStart } from './traces.ts';
import { holdLockFile } from './lock-file.ts';
import { StartRefused } from '../start-refused.ts';

/** The least free space for a start: token, store and audit trail each write a little. */
const roomBytes = 256 << 10;

/** Limit for a killed appliance and its workers to end, and the interval of the check. */
const patienceMs = 5_000;
const againMs = 50;

/**
 * Throws StartRefused when the directory cannot be made or written, has no room, another appliance holds it, or something strange is in it.
 * Held until the process ends. `source`: the setting that gave the directory, for the messages.
 */
export async function holdDataDirectory(directory: string, source = '--data'): Promise<void> {
  try {
    makeDirectory(directory);
    requireOwnDirectory(directory, source);
    requireInodes(directory, source);
    proveRoom(directory);
  } catch (error) {
    if (error instanceof StartRefused) throw error;
    if (codeOf(error) === 'EFBIG')
      throw new StartRefused(
        `this user may not write ${roomBytes >> 10} KiB into a file of ${source} ${directory} (EFBIG): allow larger files (LimitFSIZE=infinity of the unit, ulimit -f unlimited in a shell)`,
      );
    if (codeOf(error) === 'ENOSPC' || codeOf(error) === 'EDQUOT')
      throw new StartRefused(`the disk of ${source} ${directory} is full: make room, at least ${roomBytes >> 10} KiB, then start again`);
    throw new StartRefused(`${source} ${directory} cannot be written (${codeOf(error)}): give a directory this user may write`);
  }
  const heldByAnother = (where: string): StartRefused =>
    new StartRefused(
      `${source} ${directory} is held by another running keystored: ${where}stop it first, or give another directory${source === '--data' ? '' : ' with --data, which wins'}`,
    );
  await untilHeld(
    () => listenAsLock(directory),
    () => heldByAnother(''),
  );
  // The socket is one of the network name space: in a container, another one that has the directory would not see it.
  await untilHeld(
    () => holdLockFile(directory),
    () => heldByAnother('perhaps in another container or on another machine, '),
  );
  requireKinds(directory);
  sweepTemporaryFiles(directory);
}

/** Files and directories that an appliance keeps there. `again`: files that a start makes again. */
const kept = {
  file: [
    'pin',
    'pin.new',
    'so-pin',
    'store-key.json',
    'store/data.mdb',
    'root-token',
    'cluster.json',
    'recovering.json',
    'tls/sealed-identity.json',
  ],
  again: ['softhsm.conf', 'founding', 'store/lock.mdb', 'audit/restored', 'audit/audit-keys.pem', 'tls/ca.pem', 'unseal-code'],
  directory: ['store', 'softhsm', 'audit', 'logs', 'tls', 'shipping', 'member', 'restored', 'restoring'],
} as const;

/**
 * Throws StartRefused where something else is in the place of a file or a directory: LMDB and modules end the process over it, and a FIFO
 * is waited for without limit.
 */
export function requireKinds(directory: string): void {
  const require = (path: string, wanted: 'a file' | 'a directory', remedy: string): void => {
    const found = kindOf(path);
    if (found !== undefined && found !== wanted) throw new StartRefused(`${path} is ${found}, not ${wanted}: ${remedy}`);
  };
  for (const name of kept.file) require(join(directory, name), 'a file', 'move it away, and put the file back from your backup');
  for (const name of kept.again) require(join(directory, name), 'a file', 'move it away');
  for (const name of kept.directory)
    require(join(directory, name), 'a directory', 'move it away, and put the directory back from your backup');
  for (const name of chainFiles(directory))
    require(join(directory, name), 'a file', 'move it away, and put the file back from your backup');
  const fifo = findFifo(directory);
  if (fifo !== undefined)
    throw new StartRefused(`${fifo} is neither a file nor a directory: move it away, and put what was in its place back from your backup`);
}

/** Files of the audit trail, by their names; empty for an unreadable directory. */
function chainFiles(directory: string): readonly string[] {
  try {
    return readdirSync(join(directory, 'audit'))
      .filter((name) => name.endsWith('.jsonl'))
      .map((name) => join('audit', name));
  } catch {
    return [];
  }
}

/**
 * Rights of others than the user of the service, by their use: of files that are secret, and of directories in which files can be
 * exchanged.
 */
const othersMay = {
  write: { bits: 0o022, names: ['.', 'store', 'softhsm', 'audit', 'tls', 'member'], so: 'files in it could be exchanged', mode: '700' },
  read: {
    bits: 0o077,
    names: ['pin', 'pin.new', 'so-pin', 'store-key.json', 'root-token', 'unseal-code', 'store/data.mdb', 'tls/sealed-identity.json'],
    so: 'the secrets in it may be known to them: rotate what it holds if others were on this machine',
    mode: '600',
  },
} as const;

/**
 * Removes rights of others on files that they must not use. Ssh and Vault refuse such files; a copy or a volume with wider rights is no
 * reason not to serve. Answers sentences for the log: rights that were corrected or could not be, and problems of the disk for a person to
 * solve.
 */
export function mendDirectory(directory: string): readonly string[] {
  const found: string[] = [];
  for (const { bits, names, so, mode } of Object.values(othersMay)) {
    for (const path of names.map((name) => join(directory, name))) {
      const present = isReached(directory, path) ? statSync(path, { throwIfNoEntry: false }) : undefined;
      if (present === undefined || (present.mode & bits) === 0) continue;
      const before = `others could use ${path} (mode ${(present.mode & 0o777).toString(8)}), and ${so}`;
      const left = takeRights(path, bits);
      found.push(
        left === undefined
          ? `${before}; they no longer may`
          : `${before}; it could not be taken from them (${left}): ${remedyFor(path, present.uid, mode)}`,
      );
    }
  }
  const logs = join(directory, 'logs');
  // A first start, and one after a restore, begins them.
  const isNew = isFirstStart(directory) || existsSync(join(directory, 'audit/restored'));
  if (findTrace(directory) !== undefined && !isNew && !existsSync(logs))
    found.push(`${logs} was removed: what was logged before is gone unless a copy is kept elsewhere, and a new one begins`);
  const { problem } = readDisk(directory);
  return problem === undefined ? found : [...found, problem];
}

/** A file of another user: without its rights for a group, the service might have none. */
function remedyFor(path: string, owner: number, mode: string): string {
  const own = process.getuid?.() ?? owner;
  return owner === own
    ? `chmod ${mode} ${path}`
    : `give it to the user of the service (chown ${own} ${path}), who then mends it at a start`;
}

/** False below a link, which may lead anywhere. */
function isReached(directory: string, path: string): boolean {
  const above = dirname(path);
  return !path.startsWith(`${directory}/`) || above === directory || lstatSync(above, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Returns the reason for a failure: only the owner can do it. The target of a link may belong to somebody else, and stays as it is. */
function takeRights(path: string, bits: number): string | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    fchmodSync(descriptor, fstatSync(descriptor).mode & 0o7777 & ~bits);
    return undefined;
  } catch (error) {
    return codeOf(error) === 'ELOOP' ? 'it is a link' : codeOf(error);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Undefined for a missing or inaccessible path: its user reports that. */
function kindOf(path: string): string | undefined {
  try {
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) return 'a link to nothing';
    return found.isFile() ? 'a file' : found.isDirectory() ? 'a directory' : found.isFIFO() ? 'a FIFO' : 'something else';
  } catch (error) {
    return codeOf(error) === 'ELOOP' ? 'a link to itself' : undefined;
  }
}

/** Below the directory: the module of the token opens whatever is in its own. */
function findFifo(directory: string): string | undefined {
  let entries: Dirent[];
  try {
    entries = readdirSync(directory, { withFileTypes: true });
  } catch {
    // Inaccessible, like `lost+found`: its user reports that.
    return undefined;
  }
  for (const entry of entries) {
    const path = join(directory, entry.name);
    if (entry.isFIFO() || entry.isCharacterDevice() || entry.isBlockDevice()) return path;
    const below = entry.isDirectory() ? findFifo(path) : undefined;
    if (below !== undefined) return below;
  }
  return undefined;
}

/** Removes half-written files of a crash; some are secret. */
function sweepTemporaryFiles(directory: string): void {
  const entries = readdirSync(directory, { withFileTypes: true });
  for (const entry of entries) {
    if (entry.isFile() && (isUnfinished(entry.name) || /^\.probe-[\da-f-]{36}$/.test(entry.name)))
      rmSync(join(directory, entry.name), { force: true });
    if (entry.isDirectory() && ['tls', 'audit'].includes(entry.name)) sweepTemporaryFiles(join(directory, entry.name));
  }
}

/**
 * The directory for the files of everybody, as /tmp, would lose the rights that others need there. An empty one may be a volume of its own.
 */
function requireOwnDirectory(directory: string, source: string): void {
  const isForAll = (statSync(directory).mode & 0o1000) !== 0 && findTrace(directory) === undefined;
  if (!isForAll || readdirSync(directory).every((name) => name === 'lost+found')) return;
  throw new StartRefused(
    `${source} ${directory} is a directory for the files of everybody (its mode has the sticky bit), and has some: give one below it, or another`,
  );
}

/** Names that a first start makes, the objects of its token most of all, and that each later one may. */
const neededInodes = { first: 128, later: 16 } as const;

/** A file system may have room and no place for another name. Some have as many as there is room for, and say 0. */
function requireInodes(directory: string, source: string): void {
  const { files, ffree } = statfsSync(directory);
  const least = findTrace(directory) === undefined ? neededInodes.first : neededInodes.later;
  if (files === 0 || ffree >= least) return;
  throw new StartRefused(
    `the file system of ${source} ${directory} has ${ffree} inodes left (df -i), and a start needs ${least}: remove files there, or make it with more (mkfs -N, nr_inodes= of a tmpfs), then start again`,
  );
}

function proveRoom(directory: string): void {
  const probe = join(directory, `.probe-${randomUUID()}`);
  try {
    writeFileSync(probe, Buffer.alloc(roomBytes), { mode: 0o600, flush: true });
  } finally {
    rmSync(probe, { force: true });
  }
}

/** As `mkdir -p`; Node's own recursive form never ends below /proc. */
function makeDirectory(directory: string): void {
  if (existsSync(directory)) return;
  makeDirectory(dirname(directory));
  mkdirSync(directory, { mode: 0o700 });
}

/** Tries again for as long as a killed appliance and its workers may take to end. */
async function untilHeld(hold: () => boolean | Promise<boolean>, refusal: () => StartRefused): Promise<void> {
  for (const deadline = performance.now() + patienceMs; !(await hold()); await setTimeout(againMs))
    if (performance.now() > deadline) throw refusal();
}

/**
 * The lock is a Unix socket in the abstract name space: the kernel releases it when the process ends for any reason,
 * so a crash leaves no lock file to remove. False while another process has it.
 */
async function listenAsLock(directory: string): Promise<boolean> {
  const lock = createServer();
  try {
    lock.listen(`\0keystored-${nameOf(directory)}`);
    await once(lock, 'listening');
    lock.unref();
    return true;
  } catch (error) {
    if (codeOf(error) !== 'EADDRINUSE') throw error;
    return false;
  }
}

/**
 * Serialises work of the processes of one appliance: answers a function that releases it, undefined while another one has it. An exit
 * releases it, too.
 */
export async function holdAlone(directory: string, what: string): Promise<(() => void) | undefined> {
  const lock = createServer().unref();
  try {
    // Not exclusive, it would be shared by all workers.
    lock.listen({ path: `\0keystored-${what}-${nameOf(directory)}`, exclusive: true });
    await once(lock, 'listening');
    return () => void lock.close();
  } catch (error) {
    if (codeOf(error) === 'EADDRINUSE') return undefined;
    throw error;
  }
}

/** The same for every path of a directory. */
function nameOf(directory: string): string {
  const { dev, ino } = statSync(realpathSync(directory));
  return createHash('sha256').update(`${dev}:${ino}`).digest('hex').slice(0, 32);
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error);
}
