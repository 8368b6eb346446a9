// The command of one operation: usage, arguments and options, all from its entry in the catalog.
import { type Command, Option } from 'commander';
import { fieldsOf, successesOf, type Parameter } from '../../../core/http/description/document.ts';
import { takesBatches } from './bulk.ts';
import type { Catalog, CatalogEntry } from '../catalog.ts';
import { commandFor } from '../terminal/command-output.ts';
import { connectionOptions } from '../connection-options.ts';
import { fieldOption, fieldsIn, type Field } from './fields.ts';
import type { Io } from '../terminal/io.ts';
import { formats } from '../terminal/output.ts';

/** The typed options, by commander's names; of fields every value that was given. */
export type Typed = Readonly<Record<string, string | true | readonly string[] | undefined>>;

export type OperationCommand = {
  readonly command: Command;
  readonly fields: readonly Field[];
  /** path of a field to the name commander gives its option */
  readonly attributes: ReadonlyMap<string, string>;
  /** fields given as words after the names of the path */
  readonly positional: readonly string[];
  /** fields that answers of actions on the same resource have, and that this one does not take: an answer may be its document */
  readonly answered: readonly string[];
};

/** A field of the body takes precedence: an option of keystorectl with the same name is left out. */
export function buildCommand(entry: CatalogEntry, catalog: Catalog, io: Io): OperationCommand {
  const { operation, command: facts, names } = entry;
  const { summary, description } = operation;
  const fields = fieldsIn(entry.input);
  const nameField = facts.verb === 'create' ? catalog.nameFieldOf(facts.resource ?? '') : undefined;
  const positional = nameField === undefined ? (facts.positional ?? []) : [nameField];
  const command = commandFor(io)
    .usage(usageOf(entry, positional))
    .description(description === undefined ? summary : `${summary}\n\n${description}`)
    .helpOption('-h, --help', 'show this')
    .showHelpAfterError('(--help behind it tells more)');
  for (const name of names) command.argument(`<${name}>`, operation.parameters.find((parameter) => parameter.name === name)?.description);
  for (const path of positional) command.argument(`[${path}]`, fields.find((field) => field.path === path)?.schema.description);

  const attributes = new Map<string, string>();
  for (const field of fields) {
    if (field.path === nameField) continue;
    const option = fieldOption(field);
    attributes.set(field.path, option.attributeName());
    command.addOption(option);
  }
  const taken = new Set(command.options.map(({ long }) => long));
  const own = [...parameterOptions(entry), ...questionOptions(entry), ...approvalOptions(entry), ...fileOptions(entry)];
  for (const option of [...own, ...connectionOptions()]) {
    if (!taken.has(option.long)) command.addOption(option);
    taken.add(option.long);
  }
  return { command, fields, attributes, positional, answered: answeredAlone(entry, catalog) };
}

function answeredAlone({ command, input }: CatalogEntry, { entries }: Catalog): readonly string[] {
  if (command.verb !== 'do') return [];
  const siblings = entries.filter((one) => one.command.verb === 'do' && one.command.resource === command.resource);
  const taken = new Set(Object.keys(fieldsOf(input ?? {})));
  return siblings.flatMap(({ output }) => Object.keys(fieldsOf(output ?? {}))).filter((name) => !taken.has(name));
}

/** The name commander gives the option of a parameter. */
export function attributeOf({ name }: Parameter): string {
  return new Option(`--${name.toLowerCase()} <text>`).attributeName();
}

/** Tells whether a parameter is true or false. */
export function isFlag({ schema }: Parameter): boolean {
  return schema.type === 'boolean';
}

function usageOf({ command, names }: CatalogEntry, positional: readonly string[]): string {
  const { verb, resource = '', action } = command;
  const words = positional.map((path) => (verb === 'create' ? `<${path}>` : `[${path}]`));
  return [verb, resource, ...names.map((name) => `<${name}>`), ...(action === undefined ? [] : [action]), ...words, '[options]'].join(' ');
}

function parameterOptions({ operation }: CatalogEntry): Option[] {
  return operation.parameters
    .filter((parameter) => parameter.in !== 'path')
    .map((parameter) => {
      const name = parameter.name.toLowerCase();
      return new Option(isFlag(parameter) ? `--${name} [true|false]` : `--${name} <text>`, parameter.description).helpGroup('Request:');
    });
}

function questionOptions({ command: { ends } }: CatalogEntry): Option[] {
  if (ends === undefined) return [];
  return [new Option('--yes', `do not ask on a terminal before it ${ends}`).helpGroup('Request:')];
}

/** For operations that rules may let other people approve. */
function approvalOptions({ operation }: CatalogEntry): Option[] {
  if (!operation['x-codes'].includes('approval-needed')) return [];
  return [
    new Option('--ask-approval <REASON>', 'where a rule needs it, ask other people to approve this; the answer has the id'),
    new Option('--approval <ID>', 'run what other people have approved').conflicts('askApproval'),
  ].map((option) => option.helpGroup('Request:'));
}

function fileOptions(entry: CatalogEntry): Option[] {
  const { command, input, operation, output } = entry;
  const body = command.in ?? (operation.requestBody !== undefined && input === undefined ? 'the body' : undefined);
  const options: Option[] = [];
  if (input !== undefined) options.push(new Option('--file <FILE>', 'fields in YAML or JSON, - for standard input'));
  if (body !== undefined) options.push(new Option('--in <FILE>', `${body} from a file as it is, - for standard input`));
  if (command.out !== undefined) options.push(new Option('--out <FILE>', `${command.out} to a file, - for standard output`));
  else if (producesFile(entry)) options.push(new Option('--out <FILE>', 'the answer to a file'));
  if (command.action === 'backup') options.push(new Option('--force', 'replace the file of --out if there is one'));
  if (takesBatches(entry)) {
    options.push(new Option('--lines', 'each line of --in is one value; they go in batches, and results come line by line'));
    options.push(new Option('--keep-going', 'with --lines: write what worked; failed lines come out empty'));
  }
  if (output !== undefined) {
    options.push(new Option('-o, --output <FORMAT>', 'default: yaml on a terminal, else json').choices([...formats, 'raw']));
    options.push(new Option('--fields <a,b/c>', 'print these fields alone'));
    options.push(new Option('--value <a/b>', 'print the bare value of this field; of a list, a line for each'));
  }
  return options.map((option) => option.helpGroup('Input and output:'));
}

function producesFile({ operation, output }: CatalogEntry): boolean {
  return output === undefined && successesOf(operation).some(([, { content }]) => content !== undefined);
}
