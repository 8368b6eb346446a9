// login and logout: a token from a role, from a sign-in in the browser, or from a file, kept in the profile.
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command, Option } from 'commander';
import { fieldsOf } from '../../core/http/description/document.ts';
import { Catalog, type CatalogEntry } from './catalog.ts';
import { Client, Refused } from './client.ts';
import { outputOf } from './command-output.ts';
import { connectionOptions, resolveConnection, type Connection, type ConnectionOptions } from './connection.ts';
import { loadDescription } from './description.ts';
import type { Document } from './documents.ts';
import { CommandFailed, exitCodes, usageError } from './failure.ts';
import { fieldOption, fieldValue, fieldsIn } from './fields.ts';
import { type Io } from './io.ts';
import { readProfile, writeProfile } from './profile.ts';

/** What a login answers; `poll-token` and its company come first when a person has to do something. */
type LoginAnswer = {
  readonly token?: string;
  readonly 'expires-in'?: number;
  readonly 'login-url'?: string;
  readonly 'user-code'?: string;
  readonly 'poll-token'?: string;
  readonly interval?: number;
};

/** `login METHOD …`: the methods are those of the appliance, and `token` for a token that is there already. */
export async function login(words: readonly string[], before: ConnectionOptions, io: Io): Promise<void> {
  const [method, ...rest] = words;
  const scanner = withConnection(new Command().allowUnknownOption().allowExcessArguments().helpOption(false));
  scanner.parseOptions([...rest]);
  const connection = await resolveConnection({ ...before, ...scanner.opts<ConnectionOptions>() }, io);
  const client = new Client({ ...connection, token: undefined });
  try {
    if (method === 'token') return await keepToken(rest, connection, io);
    const catalog = new Catalog(await loadDescription(client, io));
    const entry = catalog.entries.find(({ command }) => command.verb === 'login' && command.resource === method);
    const methods = [...catalog.resources('login'), 'token'].join(', ');
    if (entry === undefined) {
      if (!words.includes('--help') && !words.includes('-h')) throw usageError(`login how? keystorectl login METHOD, one of: ${methods}`);
      io.stdout.write(`keystorectl login METHOD [options]\n\nMethods: ${methods}\n\nkeystorectl login METHOD --help tells more.\n`);
      return;
    }
    const command = loginCommand(entry, io);
    command.parse([...rest], { from: 'user' });
    const answer = (await client.json({ method: 'POST', path: entry.path, body: await bodyOf(entry, command, io) })) as LoginAnswer;
    const { browser = false } = command.opts<{ browser?: boolean }>();
    const final = entry.command.poll === undefined ? answer : await waitForPerson(client, entry.command.poll, answer, browser, io);
    remember(connection, final, true, io);
  } finally {
    client.close();
  }
}

/** Forgets the token, and ends it if a login made it: a root token that was only kept would be gone for ever. */
export async function logout(words: readonly string[], before: ConnectionOptions, io: Io): Promise<void> {
  const command = withConnection(baseCommand('logout [options]', 'End the token of the last login and forget it', io));
  command.parse([...words], { from: 'user' });
  const { token, fromLogin = false, ...profile } = readProfile(io);
  if (token === undefined) throw usageError('nobody is logged in');
  if (fromLogin) await endToken(await resolveConnection({ ...before, ...command.opts<ConnectionOptions>() }, io), token, io);
  writeProfile(profile, io);
}

async function endToken(connection: Connection, token: string, io: Io): Promise<void> {
  const client = new Client({ ...connection, token });
  try {
    const entry = new Catalog(await loadDescription(client, io)).entries.find(({ command: { verb } }) => verb === 'logout');
    if (entry !== undefined) await client.exchange({ method: entry.method, path: entry.path });
  } catch (error) {
    // A token that has ended by itself needs no end.
    if (!(error instanceof Refused) || error.exitCode !== exitCodes.denied) throw error;
  } finally {
    client.close();
  }
}

function loginCommand(entry: CatalogEntry, io: Io): Command {
  const { command, operation } = entry;
  const built = baseCommand(`login ${command.resource} [options]`, operation.summary, io);
  for (const field of fieldsIn(entry.input)) built.addOption(fieldOption(field));
  if (command.poll !== undefined) built.addOption(new Option('--browser', 'open the address in a browser'));
  return withConnection(built);
}

async function bodyOf(entry: CatalogEntry, command: Command, io: Io): Promise<Document> {
  const body: Document = {};
  for (const field of fieldsIn(entry.input)) {
    const typed = command.opts<Record<string, readonly string[]>>()[fieldOption(field).attributeName()];
    if (typed !== undefined) body[field.path] = await fieldValue(field, typed, io, false);
    else if (field.required) throw usageError(`--${field.path} is required`);
  }
  return body;
}

/** RFC 8628 in spirit: the person confirms the code in the browser while we ask every few seconds. */
async function waitForPerson(client: Client, path: string, asked: LoginAnswer, browser: boolean, io: Io): Promise<LoginAnswer> {
  const { 'login-url': url = '', 'user-code': code = '', 'poll-token': pollToken, interval = 2, 'expires-in': expiresIn = 600 } = asked;
  io.stderr.write(`Sign in at\n\n  ${url}\n\nand confirm there that the code is ${code}. Waiting …\n`);
  // The address comes from the appliance we trust; still only web addresses are handed to the desktop.
  if (browser && url.startsWith('https://'))
    spawn('xdg-open', [url], { stdio: 'ignore', detached: true })
      .on('error', () => undefined)
      .unref();
  const deadline = performance.now() + expiresIn * 1000;
  for (let pauseSeconds = interval; performance.now() < deadline;) {
    await sleep(pauseSeconds * 1000);
    try {
      return (await client.json({ method: 'POST', path, body: { 'poll-token': pollToken } })) as LoginAnswer;
    } catch (error) {
      if (!(error instanceof Refused) || error.answer.status >= 500) throw error;
      if (error.code === 'slow-down') pauseSeconds += interval;
      // The protocol answers 400 to all that is left: denied, too late, delivered already.
      else if (error.code !== 'authorization-pending') throw new CommandFailed(exitCodes.denied, error.message);
    }
  }
  throw new CommandFailed(exitCodes.denied, 'nobody confirmed the sign-in in time');
}

/** `login token`: the token of the connection options, tried before it is kept. */
async function keepToken(words: readonly string[], connection: Connection, io: Io): Promise<void> {
  withConnection(baseCommand('login token [options]', 'Keep a token that is there already', io)).parse([...words], { from: 'user' });
  if (connection.token === undefined) throw usageError('no token is given: --token-file FILE, --data-dir DIR or KEYSTORED_TOKEN');
  const client = new Client(connection);
  try {
    const catalog = new Catalog(await loadDescription(client, io));
    const info = catalog.entries.find(({ command, input }) => command.action === 'info' && fieldsOf(input ?? {})['accessor'] !== undefined);
    if (info !== undefined) await client.exchange({ method: info.method, path: info.path, body: {} });
  } finally {
    client.close();
  }
  remember(connection, { token: connection.token }, false, io);
}

function remember({ url, ca }: Connection, { token, 'expires-in': expiresIn }: LoginAnswer, fromLogin: boolean, io: Io): void {
  if (token === undefined) throw new CommandFailed(exitCodes.fault, 'the login was answered without a token');
  writeProfile({ url, ...(ca === undefined ? {} : { ca }), token, fromLogin }, io);
  io.stderr.write(`logged in at ${url}${expiresIn === undefined ? '' : `, for ${Math.round(expiresIn / 60)} minutes`}\n`);
}

function baseCommand(usage: string, description: string, io: Io): Command {
  return new Command().name('keystorectl').usage(usage).description(description).exitOverride().configureOutput(outputOf(io));
}

function withConnection(command: Command): Command {
  for (const option of connectionOptions()) if (!command.options.some(({ long }) => long === option.long)) command.addOption(option);
  return command;
}
