// Address, trusted CA and token: from options, then the environment, then the profile.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defaultUrl, type ConnectionOptions } from './connection-options.ts';
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

/** Throws a usage error for an address that is not https, a file that cannot be read, or a profile others may read. */
export async function resolveConnection(options: ConnectionOptions, io: Io): Promise<Connection> {
  const { environment } = io;
  const profile = await readProfile(io);
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
