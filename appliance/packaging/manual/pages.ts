// The manual pages of keystorectl: one for each command and one for all of them, made from the same source as --help.
import type { Option } from 'commander';
import manifest from '../../../package.json' with { type: 'json' };
import { Catalog, type CatalogEntry } from '../../cli/catalog.ts';
import { connectionOptions } from '../../cli/connection-options.ts';
import { exitCodeHelp } from '../../cli/main.ts';
import { buildCommand } from '../../cli/operations/operation-command.ts';
import { programCommands, type ProgramCommand } from '../../cli/program.ts';
import { verbs } from '../../cli/verbs.ts';
import { describeAppliance } from '../../composition/describe.ts';
import { HelpReader } from './help-reader.ts';
import { ManualPage, type PageFile } from './roff.ts';

/** Every page for section 1 of the manual, for an appliance of this version. `date` is `2026-11-22`. */
export async function keystorectlPages(date: string): Promise<readonly PageFile[]> {
  const description = await describeAppliance();
  const maker = { catalog: new Catalog(description), help: await HelpReader.open(description), date };
  try {
    const pages = [indexPage(date)];
    for (const command of programCommands) pages.push(await commandPage(command, maker));
    return pages;
  } finally {
    maker.help.close();
  }
}

type Maker = { readonly catalog: Catalog; readonly help: HelpReader; readonly date: string };

function begin(name: string, summary: string, date: string): ManualPage {
  return new ManualPage({ name, section: 1, source: `keystorectl ${manifest.version}`, date }).name(summary);
}

function indexPage(date: string): PageFile {
  const page = begin('keystorectl', 'work with a keystored appliance', date)
    .section('Synopsis')
    .synopsis('keystorectl [connection options] COMMAND [words...]')
    .section('Description')
    .text('Does what the API of an appliance describes, and looks after the HSM behind it.')
    .text('Resources, actions and fields are those that the appliance describes. These pages show an appliance of the same version.')
    .text('A value @FILE is read from a file, @- from standard input.');
  page.section('Commands');
  for (const { name, summary } of programCommands) page.item(name, summary);
  page.section('Options');
  addOptions(page, connectionOptions());
  page.section('Environment');
  for (const { long, description } of connectionOptions()) {
    const variable = /\[(KEYSTORED_\w+)\]/.exec(description)?.[1];
    if (variable !== undefined) page.item(variable, `As ${long}.`);
  }
  for (const [name, text] of environment) page.item(name, text);
  page.section('Exit status').literal(exitCodeHelp.trim());
  return page.seeAlso([...programCommands.map(({ name }) => [`keystorectl-${name}`, 1] as const), ['keystored', 8]]).file();
}

const environment: readonly (readonly [name: string, text: string])[] = [
  [
    'KEYSTORED_PROFILE',
    'The file with what the last login has kept, in place of keystored/profile.yaml below XDG_CONFIG_HOME or ~/.config.',
  ],
  ['KEYSTORED_NO_CACHE', 'If set, no copy of the description of the appliance is kept or used.'],
  ['XDG_CACHE_HOME', 'Where the copy and compiled code are kept, in place of ~/.cache.'],
];

async function commandPage(command: ProgramCommand, { catalog, help, date }: Maker): Promise<PageFile> {
  const { name, summary } = command;
  const [what = '', usage = `${name} [options]`] = summary.split(/: (?=[a-z]+ )/);
  const page = begin(`keystorectl-${name}`, what, date).section('Synopsis').synopsis(`keystorectl ${usage}`);
  if (name in verbs)
    addOperations(
      page,
      catalog.entries.filter((entry) => entry.command.verb === name),
      catalog,
      help,
    );
  else {
    page.section('Description').text(`${what[0]?.toUpperCase()}${what.slice(1)}.`);
    for (const { title, text } of await help.of(name)) page.section(title).literal(text);
  }
  return page.seeAlso([['keystorectl', 1]]).file();
}

/** Each operation with its arguments and options; those of the connection are in keystorectl(1). */
function addOperations(page: ManualPage, entries: readonly CatalogEntry[], catalog: Catalog, { io }: HelpReader): void {
  const general = new Set(connectionOptions().map(({ long }) => long));
  page.section('Description').text('Connection options and exit codes are in keystorectl(1). The operations:');
  for (const entry of entries) {
    const { command } = buildCommand(entry, catalog, io);
    page.subsection(command.usage().replace(' [options]', '')).text(command.description());
    for (const one of command.registeredArguments) if (one.description !== '') page.item(`<${one.name()}>`, one.description);
    addOptions(
      page,
      command.options.filter(({ long }) => !general.has(long)),
    );
  }
}

function addOptions(page: ManualPage, options: readonly Option[]): void {
  for (const { flags, description } of options) page.item(flags, description);
}
