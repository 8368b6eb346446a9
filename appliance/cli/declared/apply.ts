// apply and diff: the entries of an appliance as documents state them.
import { Command, CommanderError, Option } from 'commander';
import { changing, showDifferences, summaryOf, titleOf } from './show-plan.ts';
import { atPlace, change, planAll, type Rule, type Step } from './plan.ts';
import { pathFor } from './kinds.ts';
import { readDeclared } from './load.ts';
import { Client } from '../client.ts';
import { connectionOptions, type ConnectionOptions } from '../connection-options.ts';
import { resolveConnection } from '../connection.ts';
import { outputOf } from '../terminal/command-output.ts';
import { canAsk, confirm } from '../terminal/confirm.ts';
import { CommandFailed, exitCodes, usageError } from '../terminal/failure.ts';
import { writeAll } from '../terminal/files.ts';
import type { Io } from '../terminal/io.ts';
import { openCatalog } from '../commands/verbs.ts';

type Options = ConnectionOptions & { file: readonly string[]; replace?: true; dryRun?: true; yes?: true };

/** `apply -f FILE…`: shows the differences, asks, and makes the changes in order. Stops at the first refusal and says what was done. */
export async function runApply(words: readonly string[], before: ConnectionOptions, io: Io): Promise<void> {
  const command = documentCommand('apply', 'Make entries as documents state them: create what is not there, change what differs.', io)
    .addOption(new Option('--dry-run', 'show the differences and change nothing'))
    .addOption(new Option('--yes', 'do not ask; needed where there is no terminal to ask at'));
  command.parse([...words], { from: 'user' });
  const options = { ...before, ...command.opts<Options>() };
  await withPlan(options, io, async (steps, client) => {
    const todo = changing(steps);
    if (todo.length === 0) return writeAll(io, `nothing to change: ${summaryOf(steps)}\n`);
    await showDifferences(steps, io);
    await writeAll(io, `${summaryOf(steps)}\n`);
    if (options.dryRun === true) return;
    await ask(options, client.connection.url, io);
    await carryOut(todo, ruleOf(options), client, io);
  });
}

/** `diff -f FILE…`: exit code 0 when everything is so already, 1 when something differs, above 1 for an error. */
export async function runDiff(words: readonly string[], before: ConnectionOptions, io: Io): Promise<void> {
  const command = documentCommand('diff', 'Show how entries differ from what documents state; changes nothing.', io).addHelpText(
    'after',
    '\nExit codes: 0 no difference · 1 differences · above 1 an error, 2 also for a wrong command line or file.',
  );
  try {
    command.parse([...words], { from: 'user' });
    await withPlan({ ...before, ...command.opts<Options>() }, io, async (steps) => {
      await showDifferences(steps, io);
      if (changing(steps).length > 0) throw new Differs();
    });
  } catch (error) {
    if (error instanceof Differs) throw new CommandFailed(exitCodes.usage, '');
    if (error instanceof CommanderError && error.exitCode !== 0) throw new CommandFailed(exitCodes.refused, '');
    if (error instanceof CommandFailed && error.exitCode === exitCodes.usage) throw new CommandFailed(exitCodes.refused, error.message);
    throw error;
  }
}

/** The plan has changes. */
class Differs extends Error {}

function documentCommand(name: string, description: string, io: Io): Command {
  const command = new Command()
    .name('keystorectl')
    .usage(`${name} -f FILE [options]`)
    .description(`${description}\n\nA document has "resource", "name", "parents" for a child, and "config" with the fields:\n\n${example}`)
    .addOption(
      new Option(
        '-f, --file <FILE...>',
        'YAML or JSON, many documents; a folder for all files in it, - for standard input',
      ).makeOptionMandatory(),
    )
    .addOption(new Option('--replace', 'reset fields that a document does not have; without it they are left as they are'))
    .exitOverride()
    .configureOutput(outputOf(io));
  for (const option of connectionOptions()) command.addOption(option);
  return command;
}

const example = `  resource: transit-keys
  name: orders
  config:
    auto-rotate: { rotate-after: 90d }`;

async function withPlan(options: Options, io: Io, use: (steps: readonly Step[], client: Client) => Promise<void>): Promise<void> {
  const declared = await readDeclared(options.file, io);
  const catalog = await openCatalog([], options, io, false);
  const client = new Client(await resolveConnection(options, io));
  try {
    await use(await planAll(declared, ruleOf(options), catalog, client), client);
  } finally {
    client.close();
  }
}

function ruleOf({ replace }: Options): Rule {
  return replace === true ? 'replace' : 'merge';
}

async function ask({ yes, file }: Options, url: string, io: Io): Promise<void> {
  if (yes === true) return;
  if (!canAsk(io) || file.includes('-')) throw usageError('nothing was done: give --yes where nobody can be asked');
  await confirm(`Make these changes at ${url}?`, io);
}

/** Ctrl-C lets the request that is under way end, and stops behind it. */
async function carryOut(steps: readonly Step[], rule: Rule, client: Client, io: Io): Promise<void> {
  let isStopped = false;
  const stop = (): void => void (isStopped = true);
  process.once('SIGINT', stop);
  try {
    for (const [index, step] of steps.entries()) {
      if (isStopped) throw new CommandFailed(exitCodes.no, ['stopped by Ctrl-C', ...remaining(steps, index)].join('\n  '));
      await make(step, rule, client).catch((error: unknown) => {
        if (!(error instanceof CommandFailed)) throw error;
        throw new CommandFailed(error.exitCode, [error.message, ...remaining(steps, index)].join('\n  '));
      });
      await writeAll(io, `${step.does === 'create' ? 'created' : 'changed'} ${titleOf(step)}\n`);
    }
  } finally {
    process.removeListener('SIGINT', stop);
  }
}

async function make(step: Step, rule: Rule, client: Client): Promise<void> {
  const { kind, declared, body, tag } = step;
  try {
    if (tag !== undefined) await change(step, rule, body, tag, client, false);
    else await client.exchange({ method: 'POST', path: pathFor(kind.create, declared.names), body });
  } catch (error) {
    if (!(error instanceof CommandFailed) || error.exitCode !== exitCodes.conflict) atPlace(error, step);
    const conflict = `${error.message}\n  if somebody else changed it since the plan was shown, nothing of that was overwritten: look at the new plan`;
    atPlace(new CommandFailed(error.exitCode, conflict), step);
  }
}

function remaining(steps: readonly Step[], done: number): readonly string[] {
  const names = (some: readonly Step[]): string => (some.length === 0 ? 'nothing' : some.map(titleOf).join(', '));
  return [`done before: ${names(steps.slice(0, done))}`, `not done: ${names(steps.slice(done))}`];
}
