// SoftHSM's files: its configuration, flushing of its token directory, and the copy of token.object that a crash at login may require.
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { HsmError, type TokenAddress } from '../api.ts';
import { replaceFile, syncPath } from './durable-files.ts';

/** The text of softhsm.conf at the root, with another token directory. */
export function softhsmConf(tokenDirectory: string): string {
  const template = readFileSync(new URL('../../softhsm.conf', import.meta.url), 'utf8');
  return template.replace(/^(directories\.tokendir\s*=).*$/m, `$1 ${resolve(tokenDirectory)}`);
}

/**
 * The directory with the files of a SoftHSM token, from its SOFTHSM2_CONF; undefined for every other module. Throws `unavailable` when the
 * system denies access to it.
 */
export function findTokenDirectory(token: TokenAddress): string | undefined {
  const directory = configuredDirectory(token);
  try {
    return directory !== undefined && statSync(directory, { throwIfNoEntry: false })?.isDirectory() === true ? directory : undefined;
  } catch (cause) {
    throw new HsmError('unavailable', tokenAway, { cause });
  }
}

/** Finds the files of a SoftHSM token, also if its directory is gone; undefined for every other module. */
export function findTokenFiles(token: TokenAddress): TokenFiles | undefined {
  const directory = configuredDirectory(token);
  return directory === undefined ? undefined : new TokenFiles(directory);
}

function configuredDirectory({ module, environment = {} }: TokenAddress): string | undefined {
  const path = environment['SOFTHSM2_CONF'] ?? process.env['SOFTHSM2_CONF'];
  if (path === undefined || !/softhsm/i.test(basename(module))) return undefined;
  try {
    const found = /^\s*directories\.tokendir\s*=\s*(.+?)\s*$/m.exec(readFileSync(path, 'utf8'));
    return found === null ? undefined : resolve(found[1] as string);
  } catch {
    // The module reports what is wrong with its configuration.
    return undefined;
  }
}

/**
 * Checks the token before a PIN is used again, and returns it: throws `unavailable` if another token has replaced the one with this serial number; it would
 * refuse the PIN permanently, or learn it. A token that was never open, and other modules, cannot be checked.
 */
export function requireSameToken<T extends TokenAddress>(token: T): T {
  const { knownSerial: serial = '' } = token;
  const directory = serial === '' ? undefined : findTokenDirectory(token);
  if (directory === undefined || findTokenObject(directory) === undefined) return token;
  if (tokenObjects(directory).some((files) => hasSerial(files, serial))) return token;
  const remedy = 'put its own files back; no restart is needed';
  throw new HsmError('unavailable', `token ${token.name}: another token is in its place and does not get the PIN: ${remedy}`);
}

/** Attributes of token.object: CKA_OS_TOKENLABEL, CKA_OS_TOKENSERIAL. */
const attributes = { label: 0x8000_5349, serial: 0x8000_534a } as const;

/** The text of an attribute, as SoftHSM writes it: type, kind (octets) and length, 8 octets each, before the octets. */
function readAttribute(contents: Buffer, name: keyof typeof attributes): string | undefined {
  const head = Buffer.alloc(16);
  for (const [index, value] of [attributes[name], 3].entries()) head.writeUInt32BE(value, 8 * index + 4);
  const at = contents.indexOf(head);
  if (at < 0 || contents.length < at + 24) return undefined;
  return contents.toString('utf8', at + 24, at + 24 + contents.readUInt32BE(at + 20)).trimEnd();
}

/** The tokens of a directory, by their files: SoftHSM ends the process over two with one serial number. */
export function listTokens(directory: string): readonly { readonly folder: string; readonly label?: string; readonly serial?: string }[] {
  return tokenObjects(directory).flatMap(({ file, copy }) => {
    const contents = readIfAny(file) ?? readIfAny(copy);
    if (contents === undefined) return [];
    const [label, serial] = [readAttribute(contents, 'label'), readAttribute(contents, 'serial')];
    return [{ folder: dirname(file), ...(label === undefined ? {} : { label }), ...(serial === undefined ? {} : { serial }) }];
  });
}

/** Compares the content: a folder may have another name, or the file of another token. An empty file without a copy says nothing. */
function hasSerial({ file, copy }: TokenObject, serial: string): boolean {
  const contents = readIfAny(file) ?? readIfAny(copy);
  return contents === undefined ? isOfToken(basename(dirname(file)), serial) : readAttribute(contents, 'serial') === serial;
}

/** Compares a folder with a serial number: SoftHSM names the folder of a token by a UUID, and the token by the end of that. */
function isOfToken(folder: string, serial: string): boolean {
  return serial !== '' && folder.replaceAll('-', '').endsWith(serial);
}

/** Flushes the files of all tokens that changed since an instant. SoftHSM itself never does. */
export function syncTokenDirectory(directory: string, sinceMilliseconds = 0): void {
  for (const token of tokenFolders(directory)) {
    for (const name of readdirSync(join(directory, token))) {
      const path = join(directory, token, name);
      unlessGone(() => statSync(path).mtimeMs >= sinceMilliseconds && syncPath(path));
    }
    syncPath(join(directory, token));
  }
  syncPath(directory);
}

/** Message about a token without its own keys, with the remedy, for people. */
export const ownKeysGone = "the token's own keys are missing: put its files or objects back";
/** Message about a token for which it is unknown whether it has them. */
export const tokenAway = 'the token cannot be reached: see that the HSM works, its module reaches it and its files can be read';

/**
 * Finds the damage of a directory of tokens, and of the files `also`: ownKeysGone without a token.object, tokenAway if that is unknown. A
 * token.object may be empty: SoftHSM truncates it for a moment whenever a process logs in. When a crash leaves it empty, the next start
 * restores it from its copy.
 */
export function damageOfFiles(directory: string, also: readonly string[] = []): string | undefined {
  return damageUnless(() => findTokenObject(directory) !== undefined && also.every(isThere));
}

/**
 * Runs damageOfFiles for a caller that asks often. Remembers the file found last and looks for others only when that one is gone, so
 * that a look is one system call and no directory is read. The answer is never older than the call.
 */
export class TokenFiles {
  readonly #directory: string;
  #found: string | undefined;

  constructor(directory: string) {
    this.#directory = directory;
  }

  damage(): string | undefined {
    return damageUnless(() => {
      if (this.#found !== undefined && isThere(this.#found)) return true;
      this.#found = findTokenObject(this.#directory);
      return this.#found !== undefined;
    });
  }
}

/** Returns the damage, or that it is unknown: an error of a disk, a mount or a limit says nothing about the files. */
function damageUnless(areThere: () => boolean): string | undefined {
  try {
    return areThere() ? undefined : ownKeysGone;
  } catch {
    return tokenAway;
  }
}

function findTokenObject(directory: string): string | undefined {
  return isThere(directory) ? tokenObjects(directory).find(({ file }) => isThere(file))?.file : undefined;
}

/** Tells whether a file exists; throws if that is unknown, where existsSync would answer no. */
function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Paths of all object files, and the time of the last change of their folders. */
export type ObjectFiles = { readonly changed: string; readonly paths: readonly string[] };

/** Lists the object files of all tokens; returns `known` when nothing was added or removed since. */
export function listObjectFiles(directory: string, known?: ObjectFiles): ObjectFiles {
  const folders = tokenFolders(directory).map((name) => join(directory, name));
  const changed = folders.map((folder) => `${folder} ${statSync(folder).mtimeMs}`).join();
  if (changed === known?.changed) return known;
  const paths = folders.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)));
  return { changed, paths: paths.filter((path) => path.endsWith('.object')) };
}

/** Runs `act` and ignores ENOENT: another process may remove an object's file at any moment. */
function unlessGone(act: () => unknown): void {
  try {
    act();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

/** Copies each token.object to a file beside its directory. It changes only with PIN and label. */
export function copyTokenObjects(directory: string): void {
  for (const { file, copy } of tokenObjects(directory)) {
    const contents = readIfAny(file);
    if (contents === undefined || readIfAny(copy)?.equals(contents) === true) continue;
    replaceFile(copy, contents, `${copy}.tmp`, statSync(file));
  }
}

/**
 * Restores token.object from its copy if a crash during a login or a PIN change left it empty, with a line on standard error; if there is no
 * copy yet, because no login has happened, it makes one. Called under the start lock before the module is loaded, which would not see the
 * token otherwise.
 */
export function restoreTokenObjects(directory: string | undefined): void {
  if (directory === undefined) return;
  for (const { file, copy } of tokenObjects(directory)) {
    const [present, copied] = [readIfAny(file), readIfAny(copy)];
    if (present !== undefined && copied === undefined) replaceFile(copy, present, `${copy}.tmp`, statSync(file));
    if (present !== undefined || copied === undefined) continue;
    replaceFile(file, copied, `${file}.tmp`, statSync(copy));
    process.stderr.write(`${file} was empty and was restored from its copy\n`);
  }
}

/** Lists the existing copies. */
export function listCopies(directory: string): ReadonlySet<string> {
  return new Set(tokenObjects(directory).flatMap(({ copy }) => (isThere(copy) ? [copy] : [])));
}

/** Removes the copies that are not in `before`, and that of the token with a serial number: every login makes one first. */
export function removeCopies(directory: string, before: ReadonlySet<string>, serial: string): void {
  for (const { file, copy } of tokenObjects(directory)) {
    if (isOfToken(basename(dirname(file)), serial) || !before.has(copy)) rmSync(copy, { force: true });
  }
}

type TokenObject = { readonly file: string; readonly copy: string };

function tokenObjects(directory: string): TokenObject[] {
  return tokenFolders(directory).map((name) => ({
    file: join(directory, name, 'token.object'),
    copy: join(directory, `${name}.token.copy`),
  }));
}

function tokenFolders(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
}

/** Reads a file; undefined if it is absent or empty. Throws if the disk fails: the copy of the file may be of another PIN. */
function readIfAny(path: string): Buffer | undefined {
  let contents: Buffer | undefined;
  unlessGone(() => (contents = readFileSync(path)));
  return contents?.length === 0 ? undefined : contents;
}
