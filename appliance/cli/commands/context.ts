// context: the appliances and tenants of this user, each with its address, CA and token, in one profile.
import { X509Certificate } from 'node:crypto';
import { type Command, Option } from 'commander';
import { defined } from '../../../core/base/defined.ts';
import { connectionOptions, defaultUrl, type ConnectionOptions } from '../connection-options.ts';
import { originsOf, resolveConnection } from '../connection.ts';
import { changeContexts, chosenContext, readContexts, requireContextName, type Contexts, type Profile } from '../profile.ts';
import { commandFor } from '../terminal/command-output.ts';
import { usageError } from '../terminal/failure.ts';
import type { Io } from '../terminal/io.ts';
import { formats, printValue, type Format } from '../terminal/output.ts';

type Shown = { output?: Format };

/** `context list | show | use | set | delete`. Tokens are never shown. */
export async function runContext(words: readonly string[], before: ConnectionOptions, io: Io): Promise<void> {
  const context = commandFor(io, 'keystorectl context').description(
    'Several appliances or tenants: each context has an address, a CA and a token of its own.',
  );
  const add = (usage: string, description: string, options: readonly Option[] = []): Command => {
    const command = context.command(usage).description(description).exitOverride();
    for (const option of options) command.addOption(option);
    return command;
  };
  const output = new Option('-o, --output <FORMAT>', 'default: yaml on a terminal, else json').choices(formats);
  const connection = connectionOptions().filter(({ long }) => long !== '--context');
  add('list', 'every context, and which one is current', [output]).action((options: Shown) => list(options, io));
  add('show [NAME]', 'one context, unless named the current one', [output]).action((name: string | undefined, options: Shown) =>
    show(name, options, before, io),
  );
  add('use <NAME>', 'make a context the current one').action((name: string) => use(name, io));
  add('set <NAME>', 'make or change a context; "login --context NAME" gives it a token', connection).action(
    (name: string, options: ConnectionOptions) => set(name, { ...before, ...options }, io),
  );
  add('delete <NAME>', 'forget a context; its token is not ended, logout does that').action((name: string) => remove(name, io));
  await context.parseAsync([...words], { from: 'user' });
}

async function list({ output }: Shown, io: Io): Promise<void> {
  const contexts = await readContexts(io);
  const rows = [...contexts.named].map(([name]) => shownOf(contexts, name));
  await printValue(rows, output ?? (io.stdout.isTTY === true ? 'table' : undefined), io);
}

async function show(name: string | undefined, { output }: Shown, before: ConnectionOptions, io: Io): Promise<void> {
  const contexts = await readContexts(io);
  const chosen = name ?? chosenContext(before.context, io) ?? contexts.current;
  requireKnown(contexts, chosen);
  await printValue(shownOf(contexts, chosen), output, io);
}

async function use(name: string, io: Io): Promise<void> {
  requireKnown(await readContexts(io), name);
  await changeContexts(io, { current: name });
  io.stderr.write(`keystorectl: "${name}" is the current context\n`);
}

/** Keeps only those parts of the connection that options give: a token of the environment may belong to another appliance. */
async function set(name: string, options: ConnectionOptions, io: Io): Promise<void> {
  requireContextName(name);
  const { named } = await readContexts(io);
  const before = named.get(name) ?? {};
  const given = await resolveConnection({ ...options, context: name, ...defined({ url: options.url ?? before.url }) }, io, 'new');
  // A token works at the address that it was made at, and is shown to no other.
  const kept = before.url !== undefined && originsOf(before.url) === given.url ? before : {};
  const isNewToken = given.token !== undefined && given.token !== kept.token;
  const fromLogin = kept.fromLogin !== undefined && !isNewToken ? kept.fromLogin : undefined;
  const profile: Profile = defined({ url: given.url, ca: given.ca, token: given.token, fromLogin });
  await changeContexts(io, { set: [name, profile] });
  io.stderr.write(`keystorectl: the context "${name}" is ${given.url}${profile.token === undefined ? ', without a token' : ''}\n`);
}

async function remove(name: string, io: Io): Promise<void> {
  const contexts = await readContexts(io);
  requireKnown(contexts, name);
  const next = contexts.current === name ? [...contexts.named.keys()].find((one) => one !== name) : undefined;
  await changeContexts(io, { remove: name, ...defined({ current: next }) });
  if (next !== undefined) io.stderr.write(`keystorectl: "${next}" is the current context now\n`);
  if (contexts.named.get(name)?.fromLogin === true)
    io.stderr.write('keystorectl: the token of its login goes on until it expires; "logout" before would have ended it\n');
}

function requireKnown({ named }: Contexts, name: string): void {
  if (named.has(name)) return;
  throw usageError(`there is no context "${name}"; there are: ${[...named.keys()].join(', ') || 'none'}`);
}

function shownOf({ current, named }: Contexts, name: string) {
  const { url = defaultUrl, ca, token, fromLogin } = named.get(name) ?? {};
  const login = token === undefined ? 'none' : fromLogin === true ? 'by login' : 'a token that was there';
  return { name, current: name === current, url, login, ca: ca === undefined ? 'those the system trusts' : fingerprintOf(ca) };
}

/** Of the first certificate, as openssl shows it. */
function fingerprintOf(pem: string): string {
  try {
    return `SHA-256 ${new X509Certificate(pem).fingerprint256}`;
  } catch {
    return 'not a certificate';
  }
}
