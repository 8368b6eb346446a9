// The embedded token of an appliance without a configured one: SoftHSM2 below the data directory, random PINs in files of mode 0600.
import { isUtf8 } from 'node:buffer';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { HsmError, type TokenConfig } from '../../hsm/api.ts';
import { initialiseSoftToken, listTokens, softhsmConf } from '../../hsm/setup/setup.ts';
import { syncDirectory, writeDurably } from '../../core/base/durable-files.ts';
import { StartRefused } from '../start-refused.ts';
import { paths } from '../data-directory/paths.ts';
import { findTokenSerial, storeKeyFile } from '../data-directory/store-key.ts';
import { isTrace, requireParts } from '../data-directory/traces.ts';

/** Name of the token that the appliance makes itself. */
export const embeddedTokenName = 'default';
const label = 'keystored';

const modulePaths = [
  '/usr/lib/softhsm/libsofthsm2.so',
  `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu/softhsm/libsofthsm2.so`,
  '/usr/lib64/pkcs11/libsofthsm2.so',
  '/usr/local/lib/softhsm/libsofthsm2.so',
];

/**
 * The configuration of the embedded token, made on the first start. A token is initialised in a temporary
 * directory and renamed, so that an interrupted start leaves no partial token: the next start begins again.
 */
export async function provideEmbeddedToken(directory: string, step: (text: string) => void): Promise<TokenConfig> {
  const module = modulePaths.find((path) => existsSync(path));
  if (module === undefined) {
    throw new StartRefused(
      'SoftHSM2 is not installed: apt-get install softhsm2, or name your own module under hsm.tokens in the configuration',
    );
  }
  const tokens = join(directory, 'softhsm');
  const isNew = !isTrace(tokens);
  if (isNew) requireParts(directory, { token: true, store: false });
  else requireOneToken(tokens);
  const configuration = join(directory, 'softhsm.conf');
  writeDurably(configuration, softhsmConf(tokens));
  const token: TokenConfig = {
    name: embeddedTokenName,
    module,
    label,
    pin: { file: join(directory, 'pin'), next: join(directory, 'pin.new') },
    environment: { SOFTHSM2_CONF: configuration },
  };
  if (isNew) {
    step('making the embedded token (SoftHSM2)');
    await makeToken(directory, tokens, token);
  }
  return token;
}

/** The module would end the process over two copies, and could not tell two of one label apart. */
function requireOneToken(tokens: string): void {
  const found = listTokens(tokens);
  const copies = Map.groupBy(found, ({ serial }) => serial ?? '')
    .values()
    .find((same) => same.length > 1);
  const named = (folders: typeof found): string => folders.map(({ folder }) => folder).join(' and ');
  if (copies !== undefined)
    throw new StartRefused(`${named(copies)} are the same token: move away the folder that is a copy, out of ${tokens}`);
  const alike = found.filter((one) => one.label === label);
  if (alike.length > 1)
    throw new StartRefused(
      `${tokens} has several tokens of an appliance, ${named(alike)}: move away those that are not of this one, whose folder has the name that it has in your backup`,
    );
}

/**
 * Requires the token that has opened the key of the store, by its files: another one would get the PIN before it is known that it opens nothing. Of a start
 * of an earlier version, or of an appliance in a cluster, nothing is known. Throws StartRefused, because of an HsmError `unavailable`.
 */
export function requireTokenOfStore(directory: string): void {
  const serial = findTokenSerial(directory);
  const tokens = join(directory, 'softhsm');
  const serials = serial === undefined || !isTrace(tokens) ? [] : listTokens(tokens).flatMap((one) => one.serial ?? []);
  if (serial === undefined || serials.length === 0 || serials.includes(serial)) return;
  const message = `token ${embeddedTokenName}: another token is in its place and does not get the PIN: ${tokens} and ${storeKeyFile(directory)} are of different appliances, or of different times; put both back from the same backup, with ${paths.store(directory)}`;
  throw new StartRefused(message, { cause: new HsmError('unavailable', message) });
}

/** Throws StartRefused when an unattended start has no PIN, as with a restored backup of an appliance that kept none. */
export function requireEmbeddedPin(directory: string): void {
  const file = join(directory, 'pin');
  const found = statSync(file, { throwIfNoEntry: false });
  if (found?.isFile() === true && isPin(readFileSync(file))) return;
  if (found !== undefined)
    throw new StartRefused(`${file} is damaged: put the PIN of the embedded token back there from your backup (a file of mode 0600)`);
  throw new StartRefused(
    `the PIN of the embedded token is not in ${file}: write it there (mode 0600), as your backup or your notes have it, and start again, without --restore; attended, this start alone needs it`,
  );
}

/** Tells whether octets can be a PIN: text, and not empty. */
function isPin(octets: Buffer): boolean {
  return isUtf8(octets) && octets.toString().trim() !== '' && !octets.includes(0);
}

async function makeToken(directory: string, tokens: string, token: TokenConfig): Promise<void> {
  // A PIN must be on disk before a token has it, so the files are written first; an interrupted start finds and keeps them.
  for (const name of ['pin', 'so-pin']) {
    const path = join(directory, name);
    if (!existsSync(path)) writeDurably(path, randomBytes(16).toString('hex'));
  }
  const unfinished = `${tokens}.new`;
  const temporaryConfiguration = join(directory, 'softhsm.new.conf');
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { mode: 0o700 });
  writeDurably(temporaryConfiguration, softhsmConf(unfinished));
  await initialiseSoftToken({
    ...token,
    label,
    soPin: { file: join(directory, 'so-pin') },
    environment: { SOFTHSM2_CONF: temporaryConfiguration },
  });
  rmSync(temporaryConfiguration);
  renameSync(unfinished, tokens);
  syncDirectory(directory);
}
