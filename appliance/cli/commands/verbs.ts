// From the words of a command line to the one operation that is meant: verb, resource, names, action.
import { Command } from 'commander';
import { defined } from '../../../core/base/defined.ts';
import type { Command as CommandFacts } from '../../../core/http/description/command.ts';
import { Catalog, type CatalogEntry } from '../catalog.ts';
import { Client, Refused } from '../client.ts';
import { connectionOptions, type ConnectionOptions } from '../connection-options.ts';
import { resolveConnection } from '../connection.ts';
import { loadDescription } from '../description.ts';
import { helpEnd } from '../terminal/command-output.ts';
import { usageError } from '../terminal/failure.ts';
import type { Io } from '../terminal/io.ts';
import { runOperation } from '../operations/operation.ts';
import { verbs } from '../verbs.ts';

type Verb = CommandFacts['verb'];

/** Runs a verb with the words after it. */
export async function runVerb(verb: keyof typeof verbs, words: readonly string[], before: ConnectionOptions, io: Io): Promise<void> {
  const wantsHelp = words.includes('--help') || words.includes('-h');
  const catalog = await openCatalog(words, before, io, wantsHelp).catch((error: unknown) => sealedCatalog(error, verb, words));
  const leading = words.slice(0, firstOption(words));
  if (leading.length === 0 && wantsHelp) {
    io.stdout.write(helpEnd(overview(verb, catalog), io));
    return;
  }
  const entry = meantEntry(verb, leading, words, catalog);
  if (entry === undefined) {
    if (!wantsHelp) throw usageError(actionsMissing(leading, catalog));
    io.stdout.write(helpEnd(actionsOf(leading[0] ?? '', catalog), io));
    return;
  }
  await runOperation(entry, restOf(words, entry), { io, catalog, before });
}

/** The read that is meant by a resource and names, and the words for it. Throws a usage error for something that is not there to show. */
export async function chooseRead(words: readonly string[], before: ConnectionOptions, io: Io) {
  const catalog = await openCatalog(words, before, io, false);
  const entry = meantEntry('show', words.slice(0, firstOption(words)), words, catalog);
  if (entry === undefined) throw usageError('show what?');
  return { entry, rest: restOf(words, entry), catalog };
}

/** The words after the resource, without those that chose the operation. */
function restOf(words: readonly string[], entry: CatalogEntry): readonly string[] {
  const rest = words.slice(1).filter((word) => word !== '--config');
  const { action } = entry.command;
  if (action !== undefined) rest.splice(rest[entry.names.length] === action ? entry.names.length : rest.indexOf(action), 1);
  return rest;
}

/** The catalog of the appliance that words and environment select. */
export async function openCatalog(words: readonly string[], before: ConnectionOptions, io: Io, mayBeOld: boolean): Promise<Catalog> {
  const { url, ca, dataDir, context } = { ...before, ...connectionIn(words) };
  // The description is public: no token is sent.
  const connection = await resolveConnection(defined({ url, ca, dataDir, context }), io);
  const client = new Client({ ...connection, token: undefined });
  try {
    return new Catalog(await loadDescription(client, io, mayBeOld));
  } finally {
    client.close();
  }
}

/** The connection options among words whose other options are not known yet. */
export function connectionIn(words: readonly string[]): ConnectionOptions {
  const scanner = new Command().allowUnknownOption().allowExcessArguments().helpOption(false);
  for (const option of connectionOptions()) scanner.addOption(option);
  scanner.parseOptions([...words]);
  return scanner.opts<ConnectionOptions>();
}

/**
 * The catalog of a sealed appliance without a stored copy, if the error is `sealed` and the catalog has the operation: unseal must work.
 */
async function sealedCatalog(error: unknown, verb: Verb, words: readonly string[]): Promise<Catalog> {
  if (!(error instanceof Refused) || error.code !== 'sealed') throw error;
  const { describeSealed } = await import('../../seal/sealed-description.ts');
  const catalog = new Catalog(describeSealed());
  const isMeant = ({ command: { verb: does, resource, action } }: CatalogEntry): boolean =>
    does === verb && resource === words[0] && (action === undefined || words.includes(action));
  if (!catalog.entries.some(isMeant)) throw error;
  return catalog;
}

/** Undefined when an action is meant and none is named. */
function meantEntry(verb: Verb, leading: readonly string[], words: readonly string[], catalog: Catalog): CatalogEntry | undefined {
  const [resource, ...names] = leading;
  if (verb === 'do') {
    const candidates = catalog.require(verb, resource);
    return candidates.find(({ names: wanted, command }) => names[wanted.length] === command.action) ?? onlyFor(words, candidates, names);
  }
  if (verb !== 'show' && verb !== 'list') return catalog.require(verb, resource)[0];
  const tree = words.includes('--config') ? 'config' : 'state';
  const reads = [...entriesOf(catalog, 'show', resource), ...entriesOf(catalog, 'list', resource)];
  if (reads.length === 0) catalog.require(verb, resource);
  const inTree = reads.filter((entry) => entry.command.tree === tree);
  const fitting = inTree.length > 0 ? inTree : reads;
  // `show` without a name lists, and `list` with one shows.
  return fitting.find((entry) => entry.names.length === names.length) ?? fitting.find((entry) => entry.command.verb === verb) ?? fitting[0];
}

/** For help on an action no names need to be given: `do transit-keys encrypt --help`. */
function onlyFor(words: readonly string[], candidates: readonly CatalogEntry[], names: readonly string[]): CatalogEntry | undefined {
  return words.includes('--help') || words.includes('-h') ? candidates.find(({ command }) => names.at(-1) === command.action) : undefined;
}

function entriesOf(catalog: Catalog, verb: Verb, resource: string | undefined): CatalogEntry[] {
  return catalog.entries.filter(({ command }) => command.verb === verb && command.resource === resource);
}

function firstOption(words: readonly string[]): number {
  const index = words.findIndex((word) => word.startsWith('-'));
  return index < 0 ? words.length : index;
}

function overview(verb: keyof typeof verbs, catalog: Catalog): string {
  const resources = catalog.resources(verb).map((resource) => `  ${resource}`);
  return [
    `keystorectl ${verb}: ${verbs[verb]}`,
    '',
    'Resources:',
    ...resources,
    '',
    `keystorectl ${verb} RESOURCE --help shows the options.`,
    '',
  ].join('\n');
}

function actionsOf(resource: string, catalog: Catalog): string {
  const actions = catalog.require('do', resource);
  const width = Math.max(...actions.map(({ command }) => (command.action ?? '').length));
  const lines = actions.map(({ command, operation }) => `  ${(command.action ?? '').padEnd(width)}  ${operation.summary}`);
  const names = actions[0]?.names.map((name) => `<${name}> `).join('') ?? '';
  return [
    `keystorectl do ${resource} ${names}ACTION`,
    '',
    'Actions:',
    ...lines,
    '',
    `keystorectl do ${resource} ${names}ACTION --help shows the options.`,
    '',
  ].join('\n');
}

function actionsMissing([resource = '', ...names]: readonly string[], catalog: Catalog): string {
  const actions = catalog.require('do', resource);
  const wanted = actions[0]?.names ?? [];
  const usage = `keystorectl do ${resource} ${wanted.map((name) => `<${name}> `).join('')}ACTION`;
  const named = names[wanted.length];
  const known = actions.map(({ command }) => command.action).join(', ');
  return `${named === undefined ? 'no action is named' : `"${named}" is not an action of ${resource}`}: ${usage}\n  actions: ${known}`;
}
