// watch: a read that is repeated, printed when it changes, until a condition holds or Ctrl-C; topics are followed.
import { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { Option } from 'commander';
import type { ConnectionOptions } from '../connection-options.ts';
import { fieldAt } from '../field-path.ts';
import { runOperation, type Context } from '../operations/operation.ts';
import type { CatalogEntry } from '../catalog.ts';
import { commandFor } from '../terminal/command-output.ts';
import { CommandFailed, exitCodes, usageError } from '../terminal/failure.ts';
import type { Io } from '../terminal/io.ts';
import { formats, printValue, type Format } from '../terminal/output.ts';
import { bareText } from '../terminal/plain.ts';
import { milliseconds } from '../terminal/times.ts';
import { chooseRead } from './verbs.ts';

type Options = { until?: readonly string[]; interval: string; timeout?: string; output?: Format };
type Condition = { readonly path: readonly string[]; readonly wanted: string | undefined; readonly isNot: boolean };

/** `watch RESOURCE [NAMES…]`, with the options of show and list. */
export async function runWatch(words: readonly string[], before: ConnectionOptions, io: Io): Promise<void> {
  const command = commandFor(io)
    .usage('watch RESOURCE [NAMES…] [options of show]')
    .description(
      'Show something whenever it changes, until every condition holds or Ctrl-C. Of a list, one entry must meet them. A restart of the ' +
        'appliance does not end it. Topics are followed.',
    )
    .addOption(
      new Option(
        '--until <FIELD=VALUE>',
        'end when the field has the value; FIELD!=VALUE when it has another, FIELD when it is set; may be given again',
      ).argParser((text: string, before: readonly string[] | undefined) => [...(before ?? []), text]),
    )
    .addOption(new Option('--interval <TIME>', 'pause between two reads').default('2s'))
    .addOption(new Option('--timeout <TIME>', 'end after so long with exit code 7'))
    .addOption(new Option('-o, --output <FORMAT>', 'default: yaml on a terminal, else json').choices(formats))
    .helpOption('-h, --help', 'show this')
    .allowUnknownOption();
  const { operands, unknown } = command.parseOptions([...words]);
  const wantsHelp = unknown.includes('--help') || unknown.includes('-h');
  if (operands.length === 0 || wantsHelp) command.help({ error: !wantsHelp });
  const options = command.opts<Options>();
  const read = [...operands, ...unknown];
  const { entry, rest, catalog } = await chooseRead(read, before, io);
  if (entry.operation.parameters.some(({ name }) => name === 'follow'))
    return runOperation(entry, [...rest, '--follow'], { io, catalog, before });
  await repeat(entry, rest, { io, catalog, before }, options);
}

async function repeat(entry: CatalogEntry, words: readonly string[], context: Context, options: Options): Promise<void> {
  const { io } = context;
  const conditions = (options.until ?? []).map(conditionOf);
  const pauseMs = milliseconds(options.interval, 'interval');
  const endMs = options.timeout === undefined ? Infinity : performance.now() + milliseconds(options.timeout, 'timeout');
  let shown: string | undefined;
  let isLost = false;
  for (;;) {
    const text = await readOnce(entry, words, context).catch((error: unknown) => {
      if (!(error instanceof CommandFailed) || error.exitCode !== exitCodes.unavailable) throw error;
      if (!isLost) io.stderr.write(`keystorectl: ${error.message}\nasking again …\n`);
      isLost = true;
      return undefined;
    });
    if (text !== undefined) {
      isLost = false;
      const value: unknown = JSON.parse(text);
      if (text !== shown) await print(value, shown === undefined, options, io);
      shown = text;
      if (conditions.length > 0 && isMet(value, conditions)) return;
    }
    if (performance.now() + pauseMs > endMs)
      throw new CommandFailed(exitCodes.no, `after ${options.timeout} it is not so: ${options.until?.join(', ') ?? 'the time is over'}`);
    await sleep(pauseMs);
  }
}

/** The answer as JSON, also one that is a refusal, as that of health which is down. Throws CommandFailed. */
async function readOnce(entry: CatalogEntry, words: readonly string[], context: Context): Promise<string> {
  const chunks: Buffer[] = [];
  const stdout = new Writable({
    write(chunk: Buffer, _, done) {
      chunks.push(chunk);
      done();
    },
  });
  const collected = (): string => Buffer.concat(chunks).toString();
  try {
    await runOperation(entry, [...words, '--output', 'json'], { ...context, io: { ...context.io, stdout } });
  } catch (error) {
    if (!(error instanceof CommandFailed) || error.message !== '' || collected() === '') throw error;
  }
  return collected();
}

/** On a terminal in the place of the last one; elsewhere one after the other. */
async function print(value: unknown, isFirst: boolean, { output }: Options, io: Io): Promise<void> {
  if (io.stdout.isTTY === true) io.stdout.write('\u001b[H\u001b[2J');
  else if (!isFirst && output === 'yaml') io.stdout.write('---\n');
  await printValue(value, output, io);
}

function isMet(value: unknown, conditions: readonly Condition[]): boolean {
  if (Array.isArray(value)) return value.some((one) => isMet(one, conditions));
  return conditions.every(({ path, wanted, isNot }) => {
    const found = fieldAt(value, path);
    if (wanted === undefined) return found !== undefined && found !== null && found !== false;
    return bareText(found) === wanted ? !isNot : isNot;
  });
}

function conditionOf(text: string): Condition {
  const [, path = '', not = '', wanted] = /^([^=!]+)(?:(!?)=(.*))?$/s.exec(text) ?? [];
  if (path === '') throw usageError(`"${text}" is not a condition: give FIELD=VALUE, FIELD!=VALUE or FIELD`);
  return { path: path.split('/'), wanted, isNot: not === '!' };
}
