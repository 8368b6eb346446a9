// Runs one operation of the API from the command line: builds the request from the words and delivers the answer.
import { runBulk } from './bulk.ts';
import { defined } from '../../../core/base/defined.ts';
import { fieldsOf, successesOf } from '../../../core/http/description/document.ts';
import type { Catalog, CatalogEntry } from '../catalog.ts';
import { Client, type Request } from '../client.ts';
import { connectionOptions, type ConnectionOptions } from '../connection-options.ts';
import { resolveConnection } from '../connection.ts';
import { beginOutput, deliver, deliverRefusal } from './delivery.ts';
import { setField, type Document } from '../field-path.ts';
import { bringsDocument, readDocument } from './documents.ts';
import { confirm } from '../terminal/confirm.ts';
import { usageError } from '../terminal/failure.ts';
import { fieldValue, flagsAmong, spellFlags, wordBehindFlag } from './fields.ts';
import { isFile } from '../terminal/files.ts';
import { readOctets, type Io } from '../terminal/io.ts';
import { attributeOf, buildCommand, isFlag, type OperationCommand, type Typed } from './operation-command.ts';
import type { Format } from '../terminal/output.ts';

export type Context = {
  readonly io: Io;
  readonly catalog: Catalog;
  /** connection options given before the verb */
  readonly before: ConnectionOptions;
};

/** Parses the words after the resource (and action) and runs the operation. Throws CommandFailed and CommanderError. */
export async function runOperation(entry: CatalogEntry, words: readonly string[], { io, catalog, before }: Context): Promise<void> {
  const built = buildCommand(entry, catalog, io);
  const { parameters } = entry.operation;
  const flags = new Set([...flagsAmong(built.fields), ...parameters.filter(isFlag).map(({ name }) => name)]);
  const unsure = wordBehindFlag(words, flags);
  if (unsure !== undefined)
    built.command.configureOutput({
      outputError: (line, write) => write(`${line.replace(/^error: /, 'keystorectl: ').trimEnd()}${unsure}\n`),
    });
  built.command.parse(spellFlags(words, flags), { from: 'user' });
  const typed = built.command.opts<Typed>();
  const client = new Client(await resolveConnection({ ...before, ...connectionOf(typed, built) }, io));
  try {
    if (typed['lines'] === true) return await runLines(entry, built, typed, client, io);
    const file = text(typed['out']);
    if (entry.command.action === 'backup' && typed['force'] !== true) requireNew(file);
    const request = await requestOf(entry, built, typed, io);
    if (file === undefined) requireReadable(entry, io);
    const output = file === undefined ? undefined : beginOutput(file, entry, io);
    const hasFields = parameters.some(({ name }) => name === 'fields');
    const delivery = {
      command: entry.command,
      output: entry.output,
      rawText: isRawText(typed),
      mayBeRepeated: entry.method === 'GET' || request.isIdempotent === true,
      sent: request.body,
      file: output,
      askFor: (path: string) => client.open({ ...request, path, query: new URLSearchParams() }),
      format: typed['output'] === 'raw' ? undefined : (text(typed['output']) as Format | undefined),
      fields: hasFields ? undefined : text(typed['fields']),
      value: bareField(entry, catalog, typed),
    };
    try {
      await askFirst(entry, built, typed, client, io);
      const response = await client.open(request).catch((error: unknown) => deliverRefusal(error, delivery, io));
      await deliver(response, delivery, io);
    } finally {
      output?.begun.abandon();
    }
  } finally {
    client.close();
  }
}

/**
 * The field whose bare value is printed, if one is. `--output raw` without `--value` means the only field of `--fields`, the result of an
 * action, or the names of a list. Throws a usage error, before anything is sent, for a field that the answer cannot have.
 */
function bareField({ command, output = {} }: CatalogEntry, catalog: Catalog, typed: Typed): string | undefined {
  const named = text(typed['value']);
  if (named === undefined && typed['output'] !== 'raw') return undefined;
  if (named !== undefined && typed['output'] !== undefined && typed['output'] !== 'raw')
    throw usageError('--value prints a bare value: leave --output out');
  const names = text(typed['fields'])?.split(',') ?? [];
  const usual = command.verb === 'list' ? catalog.nameFieldOf(command.resource ?? '') : command.out?.replaceAll('.', '/');
  const field = named ?? (names.length > 0 ? (names.length === 1 ? names[0] : undefined) : usual);
  const known = Object.keys(fieldsOf(output));
  const [first = ''] = field?.split('/').filter((part) => !/^\d+$/.test(part)) ?? [];
  if (field === undefined || field === '')
    throw usageError(`one value is printed bare: name its field with --value, one of ${known.join(', ')}`);
  if (known.length === 0 || first === '' || known.includes(first)) return field;
  throw usageError(`the answer has no field "${first}"; there are: ${known.join(', ')}`);
}

/** Asks before something is ended permanently, and names the operation and its target. */
async function askFirst({ command, names }: CatalogEntry, built: OperationCommand, typed: Typed, client: Client, io: Io): Promise<void> {
  if (command.ends === undefined || typed['yes'] === true || typed['validate'] !== undefined) return;
  const { verb, resource = '', action } = command;
  const what = [verb, resource, ...built.command.args.slice(0, names.length), ...(action === undefined ? [] : [action])].join(' ');
  await confirm(`${what}, at ${client.connection.url}: this ${command.ends}. Go on?`, io);
}

/** A new backup under the name of the last one would replace it. */
function requireNew(file: string | undefined): void {
  if (file !== undefined && isFile(file)) throw usageError(`${file} exists: give another name, or --force to replace it`);
}

/** Octets are not written to a terminal. */
function requireReadable({ operation }: CatalogEntry, { stdout }: Io): void {
  const isBinary = successesOf(operation).some(([, { content }]) => content?.['application/octet-stream'] !== undefined);
  if (isBinary && stdout.isTTY === true) throw usageError('the answer is binary: give --out FILE, or a pipe');
}

async function runLines(entry: CatalogEntry, built: OperationCommand, typed: Typed, client: Client, io: Io): Promise<void> {
  const { [entry.command.in ?? '']: _, ...fields } = await documentOf(entry, built, { ...typed, in: undefined }, io);
  const files = { input: text(typed['in']) ?? '-', output: text(typed['out']) ?? '-', keepGoing: typed['keepGoing'] === true };
  await runBulk({ entry, path: pathOf(entry, built), fields, ...files }, client, io);
}

async function requestOf(entry: CatalogEntry, built: OperationCommand, typed: Typed, io: Io): Promise<Request> {
  const { method, operation, input } = entry;
  const query = new URLSearchParams();
  const headers: Record<string, string> = {};
  for (const parameter of operation.parameters) {
    const value = text(typed[attributeOf(parameter)]);
    if (value === undefined) continue;
    if (parameter.in === 'query') query.set(parameter.name, value);
    if (parameter.in === 'header') headers[parameter.name] = value;
  }
  Object.assign(headers, approvalHeaders(built, typed));
  const request = { method, path: pathOf(entry, built), query, headers, ...defined({ isIdempotent: mayBeSentTwice(entry, headers) }) };
  if (input !== undefined) return { ...request, body: await documentOf(entry, built, typed, io) };
  if (operation.requestBody === undefined) return request;
  const [mediaType = ''] = Object.keys(operation.requestBody.content);
  const file = text(typed['in']);
  if (file === undefined) throw usageError(`give the body with --in FILE (${mediaType})`);
  return { ...request, headers: { ...headers, 'content-type': mediaType }, body: await readOctets(file, io) };
}

/** A field of the body with one of these names takes precedence. */
function approvalHeaders({ attributes }: OperationCommand, typed: Typed): Record<string, string> {
  const ofFields = new Set(attributes.values());
  const [reason, id] = ['askApproval', 'approval'].map((name) => (ofFields.has(name) ? undefined : text(typed[name])));
  return { ...(reason === undefined ? {} : { 'approval-reason': encodeURIComponent(reason) }), ...defined({ approval: id }) };
}

/** Absent: as usual for the method. A deletion that has arrived would be answered 404 the second time, and a conditional request 412. */
function mayBeSentTwice({ method, operation }: CatalogEntry, headers: Readonly<Record<string, string>>): true | undefined {
  const isRepeatable = operation['x-idempotent'] === true && method !== 'DELETE' && Object.keys(headers).length === 0;
  return isRepeatable ? true : undefined;
}

/** The body: the document, then fields given as words, then flags, then the content of `--in`. */
async function documentOf(entry: CatalogEntry, built: OperationCommand, typed: Typed, io: Io): Promise<Document> {
  const { command, names } = entry;
  const words = built.command.args.slice(names.length);
  const file = text(typed['file']) ?? (hasDocument(entry, built, typed, io) ? '-' : undefined);
  const document: Document = file === undefined ? {} : ((await readDocument(file, io)) ?? {});
  for (const name of built.answered) delete document[name];
  const set = async (path: string, values: readonly string[]): Promise<void> => {
    const field = built.fields.find((one) => one.path === path);
    if (field !== undefined) setField(document, path, await fieldValue(field, values, io, isRawText(typed)));
  };
  for (const [index, word] of words.entries()) await set(built.positional[index] ?? '', [word]);
  for (const [path, attribute] of built.attributes) {
    const values = typed[attribute];
    if (Array.isArray(values)) await set(path, values as readonly string[]);
  }
  const source = text(typed['in']);
  if (source !== undefined && command.in !== undefined) await set(command.in, [`@${source}`]);
  return document;
}

/**
 * Tells whether to read a document from standard input without `--file -`: for a command with nothing else to send. Changes take documents;
 * of actions, those that require a body.
 */
function hasDocument(
  { command, operation, names }: CatalogEntry,
  { command: parsed, attributes }: OperationCommand,
  typed: Typed,
  io: Io,
): boolean {
  const words = parsed.args.length - names.length;
  const isNamed = command.verb === 'create' && words === 1;
  const isBare = (words === 0 || isNamed) && [...attributes.values(), 'in'].every((name) => typed[name] === undefined);
  const isRequired = operation.requestBody?.required === true;
  const takesDocument = command.verb === 'do' ? isRequired : attributes.size > 0;
  return isBare && takesDocument && bringsDocument(io, command.verb === 'merge' || (isRequired && !isNamed));
}

function pathOf({ names, path }: CatalogEntry, { command }: OperationCommand): string {
  return names.reduce((whole, name, index) => whole.replace(`{${name}}`, encodeURIComponent(command.args[index] ?? '')), path);
}

/** When a field has the name of a connection option, the typed value belongs to the field. */
function connectionOf(typed: Typed, { attributes }: OperationCommand): ConnectionOptions {
  const ofFields = new Set(attributes.values());
  const names = connectionOptions().map((option) => option.attributeName());
  return Object.fromEntries(names.filter((name) => !ofFields.has(name) && typed[name] !== undefined).map((name) => [name, typed[name]]));
}

function isRawText(typed: Typed): boolean {
  const values = typed['base64Encoded'];
  return Array.isArray(values) && values.at(-1) === 'false';
}

function text(value: Typed[string]): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
