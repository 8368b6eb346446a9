// Address, trusted CA and token: from options, then the environment, then the profile.
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { defined } from '../../core/base/defined.ts';
import { type ClientIdentity, type Connection, type ConnectionOptions, defaultUrl } from './connection-options.ts';
import { usageError } from './terminal/failure.ts';
import { readText, type Io } from './terminal/io.ts';
import { chosenContext, readContexts, type Profile } from './profile.ts';

/**
 * Throws a usage error for an address that is not https, a file that cannot be read, a profile others may read, or a context that does
 * not exist, unless it may be `new`. A context that an option names wins over the environment, whose address and token are of another.
 * A token of the profile whose login is made again is replaced in time, or when it is the one that was `refused`; rejects as that login.
 */
export async function resolveConnection(
  options: ConnectionOptions,
  io: Io,
  context: 'existing' | 'new' = 'existing',
  refused?: string,
): Promise<Connection> {
  const { name, profile } = await profileOf(options, io, context);
  const environment = options.context === undefined ? io.environment : {};
  const data = options.dataDir ?? (environment['KEYSTORED_DATA'] || undefined);
  const url = originsOf(options.url ?? (environment['KEYSTORED_URL'] || undefined) ?? profile.url ?? defaultUrl);
  // The token of a profile is sent only to the appliance that made it.
  const remembered = profile.url !== undefined && originsOf(profile.url) === url ? profile : {};
  const caFile = options.ca ?? (environment['KEYSTORED_CA'] || undefined) ?? fileIn(data, 'tls/ca.pem');
  const tokenFile = environment['KEYSTORED_TOKEN_FILE'] || undefined;
  const token =
    options.token ??
    (options.tokenFile === undefined ? undefined : await readText(options.tokenFile, io)) ??
    (environment['KEYSTORED_TOKEN'] || undefined) ??
    (tokenFile === undefined ? undefined : await readText(tokenFile, io)) ??
    tokenIn(data);
  const ca = caFile === undefined ? remembered.ca : await readText(caFile, io);
  const cert = options.clientCert ?? (environment['KEYSTORED_CLIENT_CERT'] || undefined);
  const key = options.clientKey ?? (environment['KEYSTORED_CLIENT_KEY'] || undefined);
  const isRemembered = cert === undefined && key === undefined && context === 'existing';
  const identity = await identityIn(isRemembered ? { cert: remembered.clientCert, key: remembered.clientKey } : { cert, key }, io);
  const connection = { url, ca, token: token?.trim(), context: name, ...defined({ identity }) };
  if (token !== undefined) return connection;
  if (remembered.again === undefined || context === 'new') return { ...connection, token: remembered.token };
  const { tokenOf } = await import('./logins/login-again.ts');
  return { ...connection, token: await tokenOf(remembered, connection, io, refused) };
}

/** Read for each connection: the files may be renewed. Throws a usage error for one without the other. */
async function identityIn(
  { cert, key }: { cert: string | undefined; key: string | undefined },
  io: Io,
): Promise<ClientIdentity | undefined> {
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined || key === undefined) throw usageError('give both --client-cert and --client-key');
  const files = { cert: resolve(cert), key: resolve(key) };
  return { cert: await readText(files.cert, io), key: await readText(files.key, io), files };
}

async function profileOf(
  { context }: ConnectionOptions,
  io: Io,
  expected: 'existing' | 'new',
): Promise<{ name: string; profile: Profile }> {
  const { current, named } = await readContexts(io);
  const chosen = chosenContext(context, io);
  const name = chosen ?? current;
  const profile = named.get(name);
  if (profile === undefined && chosen !== undefined && expected === 'existing')
    throw usageError(`there is no context "${name}"; there are: ${[...named.keys()].join(', ') || 'none'}`);
  return { name, profile: profile ?? {} };
}

/** Of one address or several. Throws a usage error for anything but https://HOST:PORT; the scheme may be left out. */
export function originsOf(text: string): string {
  return text.split(',').map(originOf).join(',');
}

function originOf(given: string): string {
  const text = given.trim();
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
