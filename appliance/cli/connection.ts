// Address, trusted CA and token: from options, then the environment, then the profile.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Option } from 'commander';
import { usageError } from './terminal/failure.ts';
import { readText, type Io } from './terminal/io.ts';
import { readProfile } from './profile.ts';

export type Connection = {
  /** origin, `https://127.0.0.1:4646` */
  readonly url: string;
  /** certificates in PEM; undefined: those the system trusts */
  readonly ca: string | undefined;
  readonly token: string | undefined;
};

export type ConnectionOptions = { url?: string; ca?: string; token?: string; tokenFile?: string; dataDir?: string };

const defaultUrl = 'https://127.0.0.1:4646';

/** The options, for every command that talks to an appliance. */
export function connectionOptions(): Option[] {
  return [
    new Option('--url <URL>', `address of the management API [KEYSTORED_URL] (default: ${defaultUrl})`),
    new Option('--ca <FILE>', 'certificates to trust, PEM [KEYSTORED_CA]'),
    new Option('--token <TOKEN>', 'token; other users of this machine can see it here, so prefer: [KEYSTORED_TOKEN]'),
    new Option('--token-file <FILE>', 'file with the token, - for standard input [KEYSTORED_TOKEN_FILE]'),
    new Option('--data-dir <DIR>', 'data directory of an appliance on this machine: its CA and root token [KEYSTORED_DATA]'),
  ].map((option) => option.helpGroup('Connection:'));
}

/** Throws a usage error for an address that is not https, a file that cannot be read, or a profile others may read. */
export async function resolveConnection(options: ConnectionOptions, io: Io): Promise<Connection> {
  const { environment } = io;
  const profile = readProfile(io);
  const data = options.dataDir ?? (environment['KEYSTORED_DATA'] || undefined);
  const url = originOf(options.url ?? (environment['KEYSTORED_URL'] || undefined) ?? profile.url ?? defaultUrl);
  // The token of a profile is sent only to the appliance that made it.
  const remembered = profile.url !== undefined && originOf(profile.url) === url ? profile : {};
  const caFile = options.ca ?? (environment['KEYSTORED_CA'] || undefined) ?? fileIn(data, 'tls/ca.pem');
  const tokenFile = environment['KEYSTORED_TOKEN_FILE'] || undefined;
  const token =
    options.token ??
    (options.tokenFile === undefined ? undefined : await readText(options.tokenFile, io)) ??
    (environment['KEYSTORED_TOKEN'] || undefined) ??
    (tokenFile === undefined ? undefined : await readText(tokenFile, io)) ??
    tokenIn(data) ??
    remembered.token;
  return { url, ca: caFile === undefined ? remembered.ca : await readText(caFile, io), token: token?.trim() };
}

function originOf(text: string): string {
  const url = URL.parse(text.includes('://') ? text : `https://${text}`);
  if (url === null || url.protocol !== 'https:' || (url.pathname !== '/' && url.pathname !== '')) {
    throw usageError(`${text} is not an address: give https://HOST:PORT`);
  }
  return url.origin;
}

function fileIn(directory: string | undefined, name: string): string | undefined {
  if (directory === undefined) return undefined;
  const path = join(directory, name);
  if (!existsSync(path)) throw usageError(`${path} does not exist: --data-dir must be the data directory of an appliance`);
  return path;
}

/** The root token may have been moved to a safe place; another token is needed then. */
function tokenIn(directory: string | undefined): string | undefined {
  const path = directory === undefined ? undefined : join(directory, 'root-token');
  return path === undefined || !existsSync(path) ? undefined : readFileSync(path, 'utf8');
}
