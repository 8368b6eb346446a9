// Completes a command line: the script of the shell asks for candidates (completion-script.ts).
import { Catalog, type CatalogEntry } from './catalog.ts';
import { Client } from './client.ts';
import { connectionOptions } from './connection-options.ts';
import { resolveConnection } from './connection.ts';
import { keptDescription, loadDescription } from './description.ts';
import { fieldsIn } from './operations/fields.ts';
import { colorChoices } from './terminal/color.ts';
import { completionScripts } from './terminal/completion-scripts.ts';
import type { Io } from './terminal/io.ts';
import { formats } from './terminal/output.ts';
import { readContexts } from './profile.ts';
import { programCommands } from './program.ts';
import { connectionIn } from './commands/verbs.ts';
import type { verbs } from './verbs.ts';

/** Prints candidates for the last word, one a line. Never fails: a shell cannot show our errors. */
export async function complete(words: readonly string[], io: Io): Promise<void> {
  try {
    const before = words.slice(0, -1);
    const begun = words.at(-1) ?? '';
    const candidates = await candidatesFor(before, begun, io);
    io.stdout.write(
      [...new Set(candidates)]
        .filter((one) => one.startsWith(begun))
        .map((one) => `${one}\n`)
        .join(''),
    );
  } catch {
    return;
  }
}

const subcommands: Readonly<Record<string, readonly string[]>> = {
  hsm: ['status', 'modules', 'describe', 'initialise', 'prepare', 'change-pin', 'rotate-wrapping-key', 'test'],
  audit: ['verify'],
  cluster: ['status', 'init', 'invite', 'invitations', 'withdraw', 'join', 'remove', 'set-public-url', 'clear-public-url'],
  custody: ['verify'],
  context: ['list', 'show', 'use', 'set', 'delete'],
  completion: Object.keys(completionScripts),
};

/** Commands whose words are those of a verb. */
const likeVerbs: Readonly<Record<string, keyof typeof verbs>> = { watch: 'show', edit: 'show', 'export-config': 'show' };
/** Flags of commands that are not made from the description, beyond those of the connection. */
const ownFlags: Readonly<Record<string, readonly string[]>> = {
  apply: ['--file', '--dry-run', '--prune', '--replace', '--selector', '--yes'],
  diff: ['--file', '--prune', '--replace', '--selector'],
  watch: ['--until', '--interval', '--timeout', '--output'],
  'export-config': ['--output'],
  'encrypt-file': ['--in', '--out', '--derivation-context', '--associated-data'],
  'decrypt-file': ['--in', '--out', '--derivation-context', '--associated-data'],
  'rewrap-file': ['--derivation-context', '--associated-data'],
  'import-key': ['--in', '--passphrase'],
  'support-bundle': ['--out', '--logs', '--force'],
};

async function candidatesFor(before: readonly string[], begun: string, io: Io): Promise<readonly string[]> {
  const [typed = '', resource, ...words] = before;
  const verb = before.length === 0 ? undefined : (likeVerbs[typed] ?? typed);
  if (before.at(-1) === '--context' || (typed === 'context' && before.length === 2)) return [...(await readContexts(io)).named.keys()];
  if (before.at(-1) === '--color') return colorChoices;
  const own = ownFlags[typed] ?? [];
  if (begun.startsWith('-') && own.length > 0) return [...own, ...connectionFlags()];
  if (typed === 'apply' || typed === 'diff' || typed === 'support-bundle') return [];
  if (verb === undefined) return begun.startsWith('-') ? connectionFlags() : [...programCommands.map(({ name }) => name), 'help'];
  if (subcommands[verb] !== undefined) return resource === undefined ? subcommands[verb] : [];
  const connection = await resolveConnection(connectionIn(before), io);
  const client = new Client(connection);
  try {
    const catalog = new Catalog(keptDescription(connection, io) ?? (await loadDescription(client, io)));
    if (verb === 'login') return resource === undefined ? [...catalog.resources('login'), 'token'] : [];
    if (resource === undefined) return catalog.resources(verb as keyof typeof verbs);
    const entries = catalog.entries.filter(({ command }) => command.verb === verb && command.resource === resource);
    const names = words.filter((word) => !word.startsWith('-'));
    const entry = entries.find(({ names: wanted, command }) => verb !== 'do' || names[wanted.length] === command.action);
    if (begun.startsWith('-')) return entry === undefined ? [] : [...flagsOf(entry), ...connectionFlags()];
    const choices = valuesFor(before.at(-1), entry);
    if (choices !== undefined) return choices;
    const wanted = entries[0]?.names.length ?? 0;
    if (verb === 'do' && names.length === wanted) return entries.flatMap(({ command }) => command.action ?? []);
    return names.length < wanted && verb !== 'create' ? await namesOf(catalog, client, entries[0], names) : [];
  } finally {
    client.close();
  }
}

function flagsOf({ input, operation, command }: CatalogEntry): string[] {
  const parameters = operation.parameters.filter(({ in: place }) => place !== 'path').map(({ name }) => name.toLowerCase());
  const own = [
    'file',
    'output',
    'fields',
    'value',
    ...(command.in === undefined ? [] : ['in']),
    ...(command.out === undefined ? [] : ['out']),
  ];
  return [...fieldsIn(input).map(({ path }) => path), ...parameters, ...own].map((name) => `--${name}`);
}

/** The choices of the preceding option. */
function valuesFor(option: string | undefined, entry: CatalogEntry | undefined): readonly string[] | undefined {
  if (option === '--output') return [...formats, 'raw'];
  const field = fieldsIn(entry?.input).find(({ path }) => `--${path}` === option);
  return field?.schema.enum?.map(String);
}

/** Names of entries, from the list that contains the path. */
async function namesOf(
  catalog: Catalog,
  client: Client,
  entry: CatalogEntry | undefined,
  parents: readonly string[],
): Promise<readonly string[]> {
  const parameter = entry?.names[parents.length];
  const above = entry?.path.slice(0, entry.path.indexOf(`/{${parameter}}`)).replace('/v1/config/', '/v1/state/');
  const list = catalog.entries.find(({ path, command }) => command.verb === 'list' && path === above);
  if (list === undefined) return [];
  const path = list.names.reduce((whole, name, index) => whole.replace(`{${name}}`, encodeURIComponent(parents[index] ?? '')), list.path);
  const names = await client.json({ method: 'GET', path, query: new URLSearchParams({ keys: 'true' }) });
  return Array.isArray(names) ? names.map(String) : [];
}

function connectionFlags(): string[] {
  return connectionOptions().flatMap(({ long }) => long ?? []);
}
