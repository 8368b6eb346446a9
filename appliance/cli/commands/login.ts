// login and logout: a token from a role, from a sign-in in the browser, or from a file, kept in the profile.
import { spawn } from 'node:child_process';
import { Command, Option } from 'commander';
import { defined } from '../../../core/base/defined.ts';
import { fieldsOf } from '../../../core/http/description/document.ts';
import { waitForApproval, type Asked } from './approval.ts';
import { Catalog, type CatalogEntry } from '../catalog.ts';
import { Client, Refused } from '../client.ts';
import { commandFor } from '../terminal/command-output.ts';
import { type Connection, connectionOptions, type ConnectionOptions } from '../connection-options.ts';
import { resolveConnection } from '../connection.ts';
import { loadDescription } from '../description.ts';
import type { Document } from '../field-path.ts';
import { CommandFailed, exitCodes, OutputFailed, usageError } from '../terminal/failure.ts';
import { loginAgain, requireFiles } from '../logins/login-again.ts';
import { type Field, fieldOption, fieldValue, fieldsIn } from '../operations/fields.ts';
import { writeAll } from '../terminal/files.ts';
import { type Io } from '../terminal/io.ts';
import { changeContexts, chosenContext, type Profile, readContexts, requireWritable } from '../profile.ts';

/** The answer to a login: a token, or the sign-in that a person has to approve first. */
type LoginAnswer = Asked & { readonly token?: string };

/** The appliance's description of a token. */
type TokenInfo = {
  readonly user: string;
  readonly tenant: string;
  readonly policies: readonly string[];
  readonly expires?: string;
  readonly 'expires-in'?: number;
};

/** `login METHOD …`: the methods are those of the appliance, and `token` for an existing token. */
export async function login(words: readonly string[], before: ConnectionOptions, io: Io): Promise<void> {
  const [method, ...rest] = words;
  const scanner = withConnection(new Command().allowUnknownOption().allowExcessArguments().helpOption(false));
  scanner.parseOptions([...rest]);
  const connection = await resolveConnection({ ...before, ...scanner.opts<ConnectionOptions>() }, io, 'new');
  const client = new Client({ ...connection, token: undefined });
  try {
    if (method === 'token') return await keepToken(rest, connection, io);
    const wantsHelp = words.includes('--help') || words.includes('-h');
    const catalog = new Catalog(await loadDescription(client, io, wantsHelp));
    const entry = catalog.entries.find(({ command }) => command.verb === 'login' && command.resource === method);
    const methods = [...catalog.resources('login'), 'token'].join(', ');
    if (entry === undefined) {
      if (!wantsHelp) throw usageError(`no method was given: keystorectl login METHOD, one of: ${methods}`);
      io.stdout.write(`keystorectl login METHOD [options]\n\nMethods: ${methods}\n\nkeystorectl login METHOD --help shows the options.\n`);
      return;
    }
    const command = loginCommand(entry, io);
    command.parse([...rest], { from: 'user' });
    const { browser = false, print = false, renew = false } = command.opts<{ browser?: boolean; print?: boolean; renew?: boolean }>();
    const typed = { path: entry.path, files: renew ? filesOf(entry, command) : new Map<string, string>() };
    if (renew) requireRenewable(entry, typed.files, print, connection);
    if (!print) await requireWritable(io);
    const body = await bodyOf(entry, command, io);
    const answer = (await client.json({ method: 'POST', path: entry.path, body })) as LoginAnswer;
    const { poll } = entry.command;
    if (poll !== undefined) showTheWay(answer, browser, io);
    const { token } = poll === undefined ? answer : ((await waitForApproval(client, poll, answer, io)) as LoginAnswer);
    if (token === undefined) throw new CommandFailed(exitCodes.fault, 'the login was answered without a token');
    const again = renew ? loginAgain({ ...typed, body }, answer) : undefined;
    const kept = print
      ? writeAll(io, io.stdout.isTTY === true ? `${token}\n` : token)
      : remember(connection, { token, fromLogin: true, ...defined({ again }) }, io);
    await kept.catch(async (error: unknown) => {
      await endToken(connection, token, io);
      throw error instanceof OutputFailed
        ? usageError(`${error.message || 'standard output has no reader'}: the new token was ended`)
        : error;
    });
    if (print) return;
    // The login has succeeded even if the token may not be looked up.
    const info = await tokenInfo({ ...connection, token }, catalog).catch(() => undefined);
    tellLogin(connection, info, io);
  } finally {
    client.close();
  }
}

/** Forgets the token, and revokes it if a login made it. A root token that was only kept is not revoked: it could not be made again. */
export async function logout(words: readonly string[], before: ConnectionOptions, io: Io): Promise<void> {
  const command = withConnection(baseCommand('logout [options]', 'End the token of the last login and forget it', io));
  command.parse([...words], { from: 'user' });
  const options = { ...before, ...command.opts<ConnectionOptions>() };
  const { named, current } = await readContexts(io);
  const name = chosenContext(options.context, io) ?? current;
  const { token, fromLogin = false, again: _, ...profile } = named.get(name) ?? {};
  if (token === undefined) throw usageError(named.size < 2 ? 'not logged in' : `not logged in with the context "${name}"`);
  // The token goes to the appliance that made it, whatever address the environment has.
  if (fromLogin) await endToken(await resolveConnection({ ...options, token, ...defined({ url: profile.url }) }, io), token, io);
  await changeContexts(io, { set: [name, profile] });
}

async function endToken(connection: Connection, token: string, io: Io): Promise<void> {
  const client = new Client({ ...connection, token });
  try {
    const entry = new Catalog(await loadDescription(client, io)).entries.find(({ command: { verb } }) => verb === 'logout');
    if (entry !== undefined) await client.exchange({ method: entry.method, path: entry.path });
  } catch (error) {
    // An expired token needs no revocation.
    if (!(error instanceof Refused) || error.exitCode !== exitCodes.denied) throw error;
  } finally {
    client.close();
  }
}

function loginCommand(entry: CatalogEntry, io: Io): Command {
  const { command, operation } = entry;
  const built = baseCommand(`login ${command.resource} [options]`, operation.summary, io);
  for (const field of fieldsIn(entry.input)) built.addOption(fieldOption(field));
  built.addOption(new Option('--print', 'print the token for another program, and keep nothing'));
  if (command.poll === undefined)
    built.addOption(new Option('--renew', 'log in again, with what the files of the secrets have then, before the token ends'));
  if (command.poll !== undefined) built.addOption(new Option('--browser', 'open the address in a browser'));
  return withConnection(built);
}

/** The files of the secret fields, by field. */
function filesOf(entry: CatalogEntry, command: Command): ReadonlyMap<string, string> {
  const typed = command.opts<Record<string, readonly string[]>>();
  return new Map(
    secretsIn(entry).flatMap((field) => {
      const text = typed[fieldOption(field).attributeName()]?.at(-1) ?? '';
      return /^@[^@]/.test(text) ? [[field.path, text.slice(1)] as const] : [];
    }),
  );
}

function secretsIn({ input }: CatalogEntry): readonly Field[] {
  return fieldsIn(input).filter(({ schema }) => schema['x-secret'] === true);
}

function requireRenewable(entry: CatalogEntry, files: ReadonlyMap<string, string>, print: boolean, { identity }: Connection): void {
  if (print) throw usageError('--renew and --print exclude each other: what is printed is not kept');
  const secrets = secretsIn(entry).map(({ path }) => path);
  // The files of a certificate are read again as well.
  if (secrets.length > 0 || identity === undefined) requireFiles({ files }, secrets);
}

async function bodyOf(entry: CatalogEntry, command: Command, io: Io): Promise<Document> {
  const body: Document = {};
  for (const field of fieldsIn(entry.input)) {
    const variable = `KEYSTORED_${field.path.replaceAll('-', '_').toUpperCase()}`;
    const isSecret = field.schema['x-secret'] === true;
    const held = isSecret ? io.environment[variable] || undefined : undefined;
    const typed = command.opts<Record<string, readonly string[]>>()[fieldOption(field).attributeName()];
    // The text of a variable is the credential itself, whatever it begins with.
    if (typed === undefined && held !== undefined) body[field.path] = held.trim();
    else if (typed !== undefined) body[field.path] = await fieldValue(field, typed, io, false);
    else if (field.required)
      throw usageError(`--${field.path} is required${isSecret ? `: as @FILE, or ${variable} in the environment` : ''}`);
  }
  return body;
}

function showTheWay({ 'login-url': url = '', 'user-code': code = '' }: Asked, browser: boolean, io: Io): void {
  io.stderr.write(`Sign in at\n\n  ${url}\n\nand confirm there that the code is ${code}. Waiting …\n`);
  // The address comes from a trusted appliance; still, only web addresses are passed to the desktop.
  if (browser && url.startsWith('https://'))
    spawn('xdg-open', [url], { stdio: 'ignore', detached: true })
      .on('error', () => undefined)
      .unref();
}

/** `login token`: keeps the token of the connection options after it was accepted once. */
async function keepToken(words: readonly string[], connection: Connection, io: Io): Promise<void> {
  withConnection(baseCommand('login token [options]', 'Keep an existing token', io)).parse([...words], { from: 'user' });
  if (connection.token === undefined) throw usageError('no token is given: --token-file FILE, --data-dir DIR or KEYSTORED_TOKEN');
  const client = new Client({ ...connection, token: undefined });
  try {
    const info = await tokenInfo(connection, new Catalog(await loadDescription(client, io)));
    await remember(connection, { token: connection.token, fromLogin: false }, io);
    tellLogin(connection, info, io);
  } finally {
    client.close();
  }
}

/** Undefined when the appliance has no such action. Throws Refused for a token that does not work. */
async function tokenInfo(connection: Connection, { entries }: Catalog): Promise<TokenInfo | undefined> {
  const entry = entries.find(({ command, input }) => command.action === 'info' && fieldsOf(input ?? {})['accessor'] !== undefined);
  if (entry === undefined) return undefined;
  const client = new Client(connection);
  try {
    return (await client.json({ method: entry.method, path: entry.path, body: {} })) as TokenInfo;
  } finally {
    client.close();
  }
}

async function remember(
  { url, ca, identity, context }: Connection,
  login: Pick<Profile, 'token' | 'fromLogin' | 'again'>,
  io: Io,
): Promise<void> {
  const shown = { clientCert: identity?.files.cert, clientKey: identity?.files.key };
  await changeContexts(io, { set: [context, { url, ...defined({ ca, ...shown }), ...login }] });
}

/** Prints account, policies and expiry: a wrong account or tenant is noticed now and not at the first refusal. */
function tellLogin({ url }: Connection, info: TokenInfo | undefined, io: Io): void {
  if (info === undefined) return void io.stderr.write(`logged in at ${url}\n`);
  const { user, tenant, policies, expires, 'expires-in': seconds = 0 } = info;
  const until = expires === undefined ? 'no end' : `${expires.replace(/T(\d\d:\d\d).*/, ' $1 UTC')}, in ${formatSpan(seconds)}`;
  io.stderr.write(
    [
      `logged in at ${url} as ${user} of tenant ${tenant}`,
      `  policies: ${policies.length === 0 ? 'none' : policies.join(', ')}`,
      `  until: ${until}`,
      '',
    ].join('\n'),
  );
}

function formatSpan(seconds: number): string {
  const [size, unit] = spans.find(([least]) => seconds >= 2 * least) ?? [1, 'second'];
  const count = Math.round(seconds / size);
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

const spans = [
  [86_400, 'day'],
  [3_600, 'hour'],
  [60, 'minute'],
] as const;

function baseCommand(usage: string, description: string, io: Io): Command {
  return commandFor(io).usage(usage).description(description);
}

function withConnection(command: Command): Command {
  for (const option of connectionOptions()) if (!command.options.some(({ long }) => long === option.long)) command.addOption(option);
  return command;
}
