// export-config: the entries of an appliance as documents for apply. Secrets are not in them, because they are never answered.
import { Option } from 'commander';
import { Client } from '../client.ts';
import { connectionOptions, type ConnectionOptions } from '../connection-options.ts';
import { resolveConnection } from '../connection.ts';
import type { Catalog } from '../catalog.ts';
import { openCatalog } from '../commands/verbs.ts';
import { commandFor } from '../terminal/command-output.ts';
import { CommandFailed, exitCodes, usageError } from '../terminal/failure.ts';
import { writeAll } from '../terminal/files.ts';
import type { Io } from '../terminal/io.ts';
import { entriesBelow, everyEntry, type Entry } from './entries.ts';
import { kindsOf, type Kind } from './kinds.ts';
import { readEntry } from './plan.ts';

type Options = ConnectionOptions & { output?: 'yaml' | 'json' };

/** `export-config [RESOURCE [NAMES…]]`: everything the token may see, in the order in which apply makes it. */
export async function runExport(words: readonly string[], before: ConnectionOptions, io: Io): Promise<void> {
  const command = commandFor(io)
    .usage('export-config [RESOURCE [NAMES…]] [options]')
    .description('Print entries as documents for "apply". Built-in entries are left out, and secrets are never answered.')
    .argument('[words...]')
    .addOption(new Option('-o, --output <FORMAT>', 'default: yaml').choices(['yaml', 'json']));
  for (const option of connectionOptions()) command.addOption(option);
  command.parse([...words], { from: 'user' });
  const options = { ...before, ...command.opts<Options>() };
  const [resource, ...names] = command.args;
  const catalog = await openCatalog([], options, io, false);
  const client = new Client(await resolveConnection(options, io));
  try {
    const entries = await entriesOf(catalog, resource, names, client, io);
    await writeAll(io, await textOf(entries, options.output ?? 'yaml'));
  } finally {
    client.close();
  }
}

/** Every entry that the token may see, as YAML. */
export async function exportAll(catalog: Catalog, client: Client, io: Io): Promise<string> {
  return textOf(await entriesOf(catalog, undefined, [], client, io), 'yaml');
}

async function entriesOf(
  catalog: Catalog,
  resource: string | undefined,
  names: readonly string[],
  client: Client,
  io: Io,
): Promise<readonly Entry[]> {
  const kinds = kindsOf(catalog);
  const source = { kinds, catalog, client };
  if (resource === undefined) {
    const all: Entry[] = [];
    for (const kind of kinds) all.push(...(await everyEntry(kind, source).catch((error: unknown) => leftOut(error, kind, io))));
    return all;
  }
  const kind = kinds.find((one) => one.resource === resource);
  if (kind === undefined) throw usageError(`there is no resource "${resource}"; there are: ${kinds.map((one) => one.resource).join(', ')}`);
  if (names.length === 0) return everyEntry(kind, source);
  if (names.length === kind.list.names.length) return entriesBelow(kind, names, source);
  const found = names.length === kind.show.names.length ? await readEntry(kind, names, client) : undefined;
  if (found === undefined) throw new CommandFailed(exitCodes.notFound, `there is no ${resource} ${names.join(' ')}`);
  return [{ kind, names, config: found.document }];
}

/** A token that may not see a kind gets the others. */
function leftOut(error: unknown, { resource }: Kind, io: Io): readonly Entry[] {
  const mayNot = error instanceof CommandFailed && (error.exitCode === exitCodes.denied || error.exitCode === exitCodes.notFound);
  if (!mayNot) throw error;
  io.stderr.write(`keystorectl: ${resource} are left out: this token may not list them\n`);
  return [];
}

async function textOf(entries: readonly Entry[], output: 'yaml' | 'json'): Promise<string> {
  const documents = entries.map(({ kind: { resource }, names, config: { name, ...config } }) => ({
    resource,
    name,
    ...(names.length > 1 ? { parents: names.slice(0, -1) } : {}),
    config,
  }));
  if (output === 'json') return `${JSON.stringify(documents, undefined, 2)}\n`;
  const { stringify } = await import('yaml');
  return documents.map((document) => stringify(document, { lineWidth: 0, blockQuote: 'literal' })).join('---\n');
}
