// The error that ends a start: one line for the terminal with cause and fix.
import { reasonOf, ServiceError } from '../core/base/errors.ts';
import { StartError } from '../core/plugin/registry.ts';
import { StoreDamaged } from '../core/store/files/store-damaged.ts';
import { readWhole } from '../core/base/durable-files.ts';
import { HsmError, type HsmErrorKind } from '../hsm/api.ts';

/** Thrown while starting: the message is printed unchanged and the process exits with 1. */
export class StartRefused extends Error {
  override readonly name = 'StartRefused';
}

const startAgain = ', then start again';

/** Cause and remedy as one sentence, for attempts that are repeated without a start. */
export function causeAndRemedy({ message }: StartRefused): string {
  return message.endsWith(startAgain) ? message.slice(0, -startAgain.length) : message;
}

/** Tells whether a start was refused because of the cluster: messages begin with the section of the configuration that they are about. */
export function isAboutCluster(error: unknown): boolean {
  return error instanceof StartRefused && error.message.startsWith('cluster: ');
}

/**
 * Reads and parses a file of the data directory. Throws StartRefused, with the `remedy`, if its content is not as it was written, and the
 * error of the disk if it cannot be read: an unreadable file need not be damaged.
 */
export function parseFile<T>(file: string, parse: (text: string) => T, remedy: string): T {
  const text = readWhole(file).toString();
  try {
    return parse(text);
  } catch (error) {
    throw new StartRefused(`${file} is damaged (${(error as Error).name}): ${remedy}`, { cause: error });
  }
}

/** Remedies for an error of the disk, by its code. */
const diskRemedies: Readonly<Record<string, string>> = {
  ENOSPC: 'make room, or free inodes where df -i has none',
  EDQUOT: 'make room',
  EROFS: 'mount its file system so that it can be written',
  EFBIG: 'allow this user larger files (LimitFSIZE=infinity of the unit, ulimit -f unlimited in a shell)',
  ENOMEM: 'allow this user more memory (MemoryMax= of the unit, ulimit -v in a shell)',
  EMFILE: 'allow this user more open files',
  ENFILE: 'allow this machine more open files',
  EACCES: 'give its files to the user of the service, with the rights that they had (files 0600, directories 0700)',
  EPERM: 'give its files to the user of the service, with the rights that they had (files 0600, directories 0700)',
  EISDIR: 'move away what is in the place of this file, and put the file back from your backup',
  ENOTFILE: 'move away what is in the place of this file, and put the file back from your backup',
  ENOTDIR: 'move away what is in the place of this directory, and put the directory back from your backup',
  EEXIST: 'move away what is in this place',
  ELOOP: 'remove this link',
  ENOENT: 'put back what this path leads to, or remove what is in its place',
};

/** Calls that are about the network and processes. */
const elsewhere = /^(?:listen|bind|connect|getaddrinfo|kill|spawn)/;

export const storeRemedy =
  'put the store back from your backup, with the store key and the token of the same time (--restore, into an empty directory)';

/** Message of LMDB about an unusable file, also if a read found it. */
function findDamage(error: unknown, directory: string): string | undefined {
  if (error instanceof StoreDamaged) return error.message;
  const reason = error instanceof ServiceError && error.code === 'storage-unavailable' ? reasonOf(error) : '';
  return /MDB_(?!MAP_FULL|READERS_FULL)|corrupt|page not found/i.test(reason)
    ? `the store in ${directory}/store is damaged (${reason})`
    : undefined;
}

/** Remedies for an error of a token, by its kind. */
const tokenRemedies: Partial<Record<HsmErrorKind, string>> = {
  configuration: 'correct hsm/tokens in the configuration (--config)',
  'pin-refused': 'correct the PIN that hsm/tokens names, or DIR/pin of the embedded token',
};

/**
 * An error that a start ends with, as its refusal: of a file, of a token, of the store or of the cluster. Undefined for a fault of this
 * software. `directory`: of the data.
 */
export function refusalFor(error: unknown, directory: string): StartRefused | undefined {
  if (error instanceof StartRefused) return error;
  // The plugin that first needed token or store is irrelevant.
  if (error instanceof StartError) return refusalFor(error.cause, directory);
  const damaged = findDamage(error, directory);
  if (damaged !== undefined) return new StartRefused(`${damaged}: ${storeRemedy}`, { cause: error });
  if (error instanceof HsmError) return tokenRefusal(error);
  if (error instanceof ServiceError && error.cause instanceof HsmError) return tokenRefusal(error.cause);
  const message = error instanceof ServiceError ? serviceRefusal(error, directory) : diskRefusal(error, directory);
  return message === undefined ? undefined : new StartRefused(`${message}${startAgain}`, { cause: error });
}

/** `embedded`: the data directory of an appliance without a configured token, which has nothing to correct in its configuration. */
export function tokenRefusal(error: HsmError, embedded?: string): StartRefused {
  const ofEmbedded = embedded === undefined ? undefined : (embeddedRemedies[error.kind] ?? ofItsFiles)(embedded);
  const ofToken = tokenRemedies[error.kind] ?? (error.rv === undefined ? undefined : 'see that the HSM works and its module reaches it');
  const remedy = ofEmbedded ?? ofToken;
  return new StartRefused(remedy === undefined ? error.message : `${error.message}: ${remedy}`, { cause: error });
}

/** Whatever a module says that works on files alone, they are the cause. */
const ofItsFiles = (data: string): string =>
  `see that the files in ${data}/softhsm are those of the embedded token and belong to the user of the service, or put them back from your backup`;

const embeddedRemedies: Partial<Record<HsmErrorKind, (data: string) => string>> = {
  configuration: (data) => `put ${data}/softhsm and ${data}/pin back from your backup`,
  'pin-refused': (data) => `correct the PIN in ${data}/pin, or put it and ${data}/softhsm back from your backup`,
};

function serviceRefusal(error: ServiceError, directory: string): string | undefined {
  if (error.code === 'storage-unavailable')
    return `the store in ${directory} did not take what the start writes (${reasonOf(error)}): see that its disk has room and takes writes`;
  if (error.code === 'cluster-unavailable')
    return `cluster: most appliances could not be reached during the start (${reasonOf(error)}): see that the network to them works`;
  return undefined;
}

function diskRefusal(error: unknown, directory: string): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, syscall, message } = error as NodeJS.ErrnoException;
  if (code === undefined || syscall === undefined || elsewhere.test(syscall)) return undefined;
  const remedy = diskRemedies[code] ?? 'examine the disk and the messages of the kernel';
  return `the disk of ${directory} did not do what the start needs (${message}): ${remedy}`;
}

/** Tells whether a token has refused a PIN. */
export function isPinRefused(error: unknown): error is StartRefused {
  return error instanceof StartRefused && error.cause instanceof HsmError && error.cause.kind === 'pin-refused';
}

/** A PIN that a person has given was refused: the remedy of a start, in the file of the appliance, is not that of it. */
export const wrongPin =
  'the token refused the PIN that was given, and counts that as a failed try: nothing was changed. Give its present user PIN';
