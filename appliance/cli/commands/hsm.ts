// hsm: commands for HSM administrators. All but `status` and `rotate-wrapping-key` work without a running appliance.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, Option } from 'commander';
import { defined } from '../../../core/base/defined.ts';
import { HsmError, type TokenConfig } from '../../../hsm/api.ts';
import { byHolder, prepareHolder } from '../../../hsm/setup/carry-group.ts';
import { describeModule, findKeptAsSeeds, initialiseSoftToken, ownNeeds } from '../../../hsm/setup/setup.ts';
import { Client } from '../client.ts';
import { commandFor } from '../terminal/command-output.ts';
import { connectionOptions, type ConnectionOptions } from '../connection-options.ts';
import { resolveConnection } from '../connection.ts';
import type { CatalogEntry } from '../catalog.ts';
import { confirm } from '../terminal/confirm.ts';
import { CommandFailed, exitCodes, usageError } from '../terminal/failure.ts';
import { writeAll } from '../terminal/files.ts';
import { chooseModules, chooseTokens, tokenOptions, type TokenOptions } from './hsm-tokens.ts';
import { changePinOptions, runChangePin, type ChangeOptions } from './hsm-pins.ts';
import { rotateWrappingKey, type RotationOptions } from './hsm-rotation.ts';
import { tryToken, type Trial } from './hsm-trial.ts';
import type { Io } from '../terminal/io.ts';
import { formatBare } from '../terminal/plain.ts';
import { formats, printValue, type Format } from '../terminal/output.ts';
import { openCatalog } from './verbs.ts';
import type { WrappingState } from '../../wrapping-keys/record.ts';

type Shown = { output?: Format; value?: string };

/** The fields of a token of a running appliance that are used here. */
type ShownToken = Readonly<Record<'name' | 'state' | 'label' | 'serial' | 'module', string>> & {
  readonly group?: { readonly 'opens-keys': boolean };
  readonly 'key-types': readonly string[];
  readonly 'wrapping-key': WrappingState;
};

/** `hsm status | modules | describe | initialise | prepare | change-pin | rotate-wrapping-key | test`. */
export async function runHsm(words: readonly string[], before: ConnectionOptions, io: Io): Promise<void> {
  const hsm = commandFor(io, 'keystorectl hsm').description('Look at PKCS#11 modules, set up tokens, and try them.');
  const add = (name: string, description: string, options: readonly Option[]): Command => {
    const command = hsm.command(name).description(description).exitOverride();
    for (const option of [...options, ...outputOptions()]) command.addOption(option);
    return command;
  };
  add('status', 'the tokens of a running appliance', connectionOptions()).action((options: ConnectionOptions & Shown) =>
    status(options, before, io),
  );
  add('modules', 'PKCS#11 modules found on this machine', []).action((options: Shown) => show(findModules(), options, io));
  add('describe', 'slots, tokens and mechanisms of a module, and which of those that plugins need are missing', tokenOptions()).action(
    (options: TokenOptions & Shown) => describe(options, io),
  );
  add('initialise', 'initialise a token on a free slot: label, SO PIN, user PIN', [
    ...tokenOptions(),
    new Option('--so-pin-file <FILE>', 'file with the SO PIN; without it the token must have an empty one').helpGroup('Token:'),
  ]).action((options: TokenOptions & { soPinFile?: string }) => initialise(options, io));
  add('prepare', "make the appliance's own keys in a token, as its first start does", tokenOptions()).action((options: TokenOptions) =>
    prepare(options, io),
  );
  add('change-pin', 'change the user PIN or the SO PIN of a token', changePinOptions()).action((options: ChangeOptions) =>
    runChangePin(options, io),
  );
  add('rotate-wrapping-key', 'make a new wrapping key in a running appliance, rewrap every key under it, and wait until done', [
    ...connectionOptions(),
    new Option('--name <TOKEN>', 'name of the token, where there are several'),
    new Option('--no-wait', 'do not wait for the end; hsm status shows the progress'),
    new Option('--yes', 'do not ask on a terminal before it begins'),
  ]).action((options: RotationOptions & Shown) => rotate(options, before, io));
  add('test', 'test every operation on a prepared token', tokenOptions()).action((options: TokenOptions & Shown) => trial(options, io));
  try {
    await hsm.parseAsync([...words], { from: 'user' });
  } catch (error) {
    if (error instanceof HsmError)
      throw new CommandFailed(error.kind === 'unavailable' ? exitCodes.unavailable : exitCodes.usage, error.message);
    throw error;
  }
}

async function status(options: ConnectionOptions & Shown, before: ConnectionOptions, io: Io): Promise<void> {
  const all = { ...before, ...options };
  const { path } = await entryOf('show', 'hsm', all, io);
  const client = new Client(await resolveConnection(all, io));
  try {
    const { tokens } = (await client.json({ method: 'GET', path })) as { tokens: readonly ShownToken[] };
    const offered = new Set(tokens.flatMap((token) => token['key-types']));
    await show({ tokens: options.output === 'table' ? tokens.map(tokenRow) : tokens, plugins: await pluginNeeds(offered) }, options, io);
  } finally {
    client.close();
  }
}

/** One row of a table, the state first. */
function tokenRow({ name, state, group, label, serial, module, 'wrapping-key': { number, ...rotation }, 'key-types': types }: ShownToken) {
  const progress = rotation.state === 'rewrapping' ? ` ${rotation.done} of ${rotation.total}` : '';
  const isOutside = state === 'up' && group?.['opens-keys'] === false;
  return {
    name,
    state: isOutside ? 'up, without the keys of its group' : state,
    label,
    serial,
    'wrapping-key': `${number} ${rotation.state}${progress}`,
    module,
    'key-types': types,
  };
}

/** A resource to show, or an action to run. */
async function entryOf(verb: 'show' | 'do', name: string, options: ConnectionOptions, io: Io): Promise<CatalogEntry> {
  const { entries } = await openCatalog([], options, io, false);
  const entry = entries.find(({ command }) => command.verb === verb && (verb === 'do' ? command.action : command.resource) === name);
  if (entry === undefined) throw new CommandFailed(exitCodes.fault, `this appliance does not know ${verb} ${name}`);
  return entry;
}

async function rotate(options: RotationOptions & Shown, before: ConnectionOptions, io: Io): Promise<void> {
  const all = { ...before, ...options };
  const begin = await entryOf('do', 'rotate-wrapping-key', all, io);
  const paths = { begin: begin.path, watch: (await entryOf('show', 'hsm', all, io)).path };
  const client = new Client(await resolveConnection(all, io));
  try {
    if (options.yes !== true && begin.command.ends !== undefined)
      await confirm(`At ${client.connection.url}: this ${begin.command.ends}. Go on?`, io);
    await show(await rotateWrappingKey(client, paths, options, io), options, io);
  } finally {
    client.close();
  }
}

async function describe(options: TokenOptions & Shown, io: Io): Promise<void> {
  const modules = [];
  for (const choice of await chooseModules(options)) {
    const { module, environment, libraryParameters } = choice;
    const hostEnvironment = {
      ...defined({ environment, libraryParameters }),
    };
    const described = await describeModule(module, hostEnvironment);
    modules.push({
      module: described.path,
      library: described.library,
      version: described.version,
      slots: described.slots.map(({ initialised, userPinSet, keyTypes, mechanisms, lacks, ...slot }) => ({
        ...slot,
        initialised,
        'user-pin-set': userPinSet,
        'key-types': keyTypes,
        lacks,
        mechanisms,
      })),
    });
  }
  const offered = new Set(modules.flatMap(({ slots }) => slots.flatMap((slot) => slot['key-types'] as readonly string[])));
  const plugins = [applianceNeeds(modules.flatMap(({ slots }) => slots)), ...(await pluginNeeds(offered))];
  const slots = modules.flatMap(({ module, slots: own }) =>
    own.map(({ description, label, serial, ...slot }) => ({ label, serial, ...slot, description, module })),
  );
  await show(options.output === 'table' ? { slots, plugins } : { modules, plugins }, options, io);
}

async function initialise(options: TokenOptions & { soPinFile?: string }, io: Io): Promise<void> {
  const [token] = await chooseTokens(options, true);
  if (token?.label === undefined) throw usageError('a token is initialised by its label: give --label TEXT');
  const soPin = options.soPinFile === undefined ? {} : { soPin: { file: options.soPinFile } };
  const came = await initialiseSoftToken({ ...token, label: token.label, ...soPin });
  io.stderr.write(
    came === 'made' ? `initialised token ${token.label}\n` : `finished token ${token.label}, which a run before had initialised in part\n`,
  );
}

async function prepare(options: TokenOptions, io: Io): Promise<void> {
  for (const [name, tokens] of byHolder(await chooseTokens(options, true))) {
    io.stderr.write(`${name}: making missing keys …\n`);
    const made = await prepareHolder(tokens);
    io.stderr.write(`${name}: ${made.length === 0 ? 'has its keys already' : `made ${made.join(' and ')} in token ${tokens[0].name}`}\n`);
    if (tokens.length === 1) await sayKeptAsSeeds(tokens[0], io);
    for (const token of tokens.slice(1))
      io.stderr.write(`${token.name}: has the keys of group ${name}, or gets them when the appliance runs\n`);
  }
}

/** Not of a group: those of its tokens that get their keys later cannot be asked yet. */
async function sayKeptAsSeeds(token: TokenConfig, io: Io): Promise<void> {
  const types = await findKeptAsSeeds(token);
  if (types.length === 0) return;
  const consequence =
    'the seed is in the memory of its process for a moment at each load, and with custody token such a key cannot be exported';
  io.stderr.write(`${token.name}: cannot wrap keys of type ${types.join(', ')} and keeps their seed: ${consequence}\n`);
}

async function trial(options: TokenOptions & Shown, io: Io): Promise<void> {
  const trials: Trial[] = [];
  for (const token of await chooseTokens(options, true)) {
    await tryToken(token, (one) => {
      trials.push(one);
      io.stderr.write(`${one.operation}: ${one.result}\n`);
    });
  }
  await show(trials, options, io);
  const failed = trials.filter(({ result }) => result === 'failed').length;
  if (failed > 0) throw new CommandFailed(exitCodes.no, `${failed} operations failed`);
}

/** Requirements of the appliance itself on one token; `missing` is the lack of the token that comes nearest. */
function applianceNeeds(slots: readonly { readonly lacks: readonly string[]; readonly mechanisms: readonly string[] }[]) {
  const needs = ownNeeds.map((need) => need.join(' or '));
  const known = slots.filter(({ mechanisms }) => mechanisms.length > 0).map(({ lacks }) => lacks);
  const [missing = needs] = known.toSorted((one, other) => one.length - other.length);
  return { plugin: 'the appliance itself', needs, missing };
}

/** Requirements of each plugin, and whether a token fulfils them. */
async function pluginNeeds(
  offered: ReadonlySet<string>,
): Promise<readonly { plugin: string; needs: readonly string[]; missing: readonly string[] }[]> {
  const { plugins } = await import('../../plugins.ts');
  return plugins.map(({ name, needs = [] }) => ({ plugin: name, needs, missing: needs.filter((type) => !offered.has(type)) }));
}

/** The usual paths of distributions and vendors, and modules registered with p11-kit. */
function findModules(): readonly string[] {
  const triplets = ['x86_64-linux-gnu', 'aarch64-linux-gnu'];
  const folders = [
    '/usr/lib/pkcs11',
    '/usr/lib64/pkcs11',
    '/usr/lib/softhsm',
    '/usr/local/lib/softhsm',
    ...triplets.flatMap((triplet) => [`/usr/lib/${triplet}/pkcs11`, `/usr/lib/${triplet}/softhsm`]),
  ];
  const named = [
    '/usr/lib/libsofthsm2.so',
    ...triplets.flatMap((triplet) => [`/usr/lib/${triplet}/opensc-pkcs11.so`, `/usr/lib/${triplet}/nss/libsoftokn3.so`]),
  ];
  const inFolders = folders.flatMap((folder) =>
    namesIn(folder)
      .filter((name) => name.endsWith('.so'))
      .map((name) => join(folder, name)),
  );
  const registered = namesIn('/usr/share/p11-kit/modules').flatMap((name) => {
    const [, path] = /^module:\s*(\/\S+)/m.exec(readFileSync(join('/usr/share/p11-kit/modules', name), 'utf8')) ?? [];
    return path === undefined ? [] : [path];
  });
  return [...new Set([...inFolders, ...named, ...registered])].filter((path) => existsSync(path)).sort();
}

function namesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

function outputOptions(): readonly Option[] {
  return [
    new Option('-o, --output <FORMAT>', 'default: yaml on a terminal, else json').choices(formats),
    new Option('--value <a/b>', 'print the bare value of this field; of a list, a line for each').conflicts('output'),
  ];
}

async function show(value: unknown, { output, value: field }: Shown, io: Io): Promise<void> {
  if (field !== undefined) return writeAll(io, formatBare(value, field.split('/'), io.stdout.isTTY === true));
  await printValue(value, output, io);
}
