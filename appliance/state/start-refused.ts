// The error that ends a start: one line for the terminal with cause and fix.
import { readFileSync } from 'node:fs';
import { reasonOf, ServiceError } from '../../core/base/errors.ts';
import { StartError } from '../../core/plugin/registry.ts';
import { HsmError, type HsmErrorKind } from '../../hsm/api.ts';

/** Thrown while starting: the message is printed unchanged and the process exits with 1. */
export class StartRefused extends Error {
  override readonly name = 'StartRefused';
}

/** Whether a start was refused because of the cluster: messages begin with the section of the configuration that they are about. */
export function isAboutCluster(error: unknown): boolean {
  return error instanceof StartRefused && error.message.startsWith('cluster: ');
}

/**
 * What a file of the data directory says. Throws StartRefused, with the `remedy`, where it is not what was written there, and the error of the disk
 * where that does not give it: what cannot be read is not damaged.
 */
export function parseFile<T>(file: string, parse: (text: string) => T, remedy: string): T {
  const text = readFileSync(file, 'utf8');
  try {
    return parse(text);
  } catch (error) {
    throw new StartRefused(`${file} is damaged (${(error as Error).name}): ${remedy}`, { cause: error });
  }
}

/** What helps against an error of the disk, by its code. */
const diskRemedies: Readonly<Record<string, string>> = {
  ENOSPC: 'make room',
  EDQUOT: 'make room',
  EROFS: 'mount its file system so that it can be written',
  EMFILE: 'allow this user more open files',
  ENFILE: 'allow this machine more open files',
  EACCES: 'give its files to the user of the service',
  EPERM: 'give its files to the user of the service',
};

/** Calls that are about the network and processes. */
const elsewhere = /^(?:listen|bind|connect|getaddrinfo|kill|spawn)/;

/** What helps against an error of a token, by its kind. */
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
  // Which plugin was the first to need token or store says nothing.
  if (error instanceof StartError) return refusalFor(error.cause, directory);
  if (error instanceof HsmError) return tokenRefusal(error);
  if (error instanceof ServiceError && error.cause instanceof HsmError) return tokenRefusal(error.cause);
  const message = error instanceof ServiceError ? serviceRefusal(error, directory) : diskRefusal(error, directory);
  return message === undefined ? undefined : new StartRefused(`${message}, then start again`, { cause: error });
}

export function tokenRefusal(error: HsmError): StartRefused {
  const remedy = tokenRemedies[error.kind] ?? (error.rv === undefined ? undefined : 'see that the HSM works and its module reaches it');
  return new StartRefused(remedy === undefined ? error.message : `${error.message}: ${remedy}`, { cause: error });
}

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
