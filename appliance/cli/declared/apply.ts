// apply and diff: the entries of an appliance as documents state them, and with --prune nothing else of the same labels.
import { type Command, Option } from 'commander';
import type { Selector } from '../../../core/wire/labels.ts';
import { ApprovingClient } from './approving.ts';
import { carryOut } from './carry-out.ts';
import { kindsOf } from './kinds.ts';
import { readDeclared } from './load.ts';
import { planAll, type Rule, type Step } from './plan.ts';
import { noPruning, planPruning, selectorOf } from './prune.ts';
import { changing, isDone, showDifferences, summaryOf, titleOf, type Plan } from './show-plan.ts';
import { Client } from '../client.ts';
import { connectionOptions, type ConnectionOptions } from '../connection-options.ts';
import { resolveConnection } from '../connection.ts';
import { commandFor, helpEnd } from '../terminal/command-output.ts';
import { canAsk, confirm } from '../terminal/confirm.ts';
import { CommandFailed, exitCodes, usageError } from '../terminal/failure.ts';
import { writeAll } from '../terminal/files.ts';
import type { Io } from '../terminal/io.ts';
import { openCatalog } from '../commands/verbs.ts';

type Options = ConnectionOptions & {
  file: readonly string[];
  replace?: true;
  prune?: true;
  selector?: string;
  dryRun?: true;
  yes?: true;
  askApproval?: string;
};

/** `apply -f FILE…`: shows the differences, asks, and makes the changes in order. Stops at the first refusal and lists the changes made. */
export async function runApply(words: readonly string[], before: ConnectionOptions, io: Io): Promise<void> {
  const command = documentCommand('apply', 'Make entries as documents state them: create what is not there, change what differs.', io)
    .addOption(new Option('--dry-run', 'show the differences and change nothing'))
    .addOption(new Option('--yes', 'do not ask; needed where there is no terminal to ask at'))
    .addOption(
      new Option(
        '--ask-approval <REASON>',
        'send what other people have approved, and ask them for what they must approve; repeat the command when they have',
      ),
    );
  command.parse([...words], { from: 'user' });
  const options = { ...before, ...command.opts<Options>() };
  await withPlan(options, io, async (plan, client) => {
    await showDifferences(plan, io);
    await writeAll(io, `${isDone(plan) ? 'nothing to change: ' : ''}${summaryOf(plan)}\n`);
    if (isDone(plan) || options.dryRun === true) return;
    await ask(options, plan, client.connection.url, io);
    await carryOut(changing(plan.steps), plan.pruning.deletions, ruleOf(options), client, io);
  });
}

/**
 * `diff -f FILE…`: exit code 0 when everything is so already, 7 when something differs; errors have the codes that they have in `apply`.
 */
export async function runDiff(words: readonly string[], before: ConnectionOptions, io: Io): Promise<void> {
  const command = documentCommand('diff', 'Show how entries differ from what documents state; changes nothing.', io).addHelpText(
    'after',
    helpEnd('\nExit codes: 0 no difference · 7 differences · others as of every command.', io),
  );
  command.parse([...words], { from: 'user' });
  await withPlan({ ...before, ...command.opts<Options>() }, io, async (plan) => {
    await showDifferences(plan, io);
    if (!isDone(plan)) throw new CommandFailed(exitCodes.no, '');
  });
}

function documentCommand(name: string, description: string, io: Io): Command {
  const command = commandFor(io)
    .usage(`${name} -f FILE [options]`)
    .description(`${description}\n\nA document has "resource", "name", "parents" for a child, and "config" with the fields:\n\n${example}`)
    .addOption(
      new Option(
        '-f, --file <FILE...>',
        'YAML or JSON, many documents; a folder for all files in it, - for standard input',
      ).makeOptionMandatory(),
    )
    .addOption(new Option('--replace', 'reset fields that a document does not have; without it they are left as they are'))
    .addOption(
      new Option(
        '--prune',
        'delete what has the labels of --selector, is of a resource that a document is of, and is in no document itself',
      ),
    )
    .addOption(new Option('--selector <LABELS>', 'with --prune: labels that an entry must all have, such as team=a,env=prod'));
  for (const option of connectionOptions()) command.addOption(option);
  return command;
}

const example = `  resource: transit-keys
  name: orders
  config:
    auto-rotate: { rotate-after: 90d }`;

async function withPlan(options: Options, io: Io, use: (plan: Plan, client: Client) => Promise<void>): Promise<void> {
  const selector = selectorOf(options);
  const declared = await readDeclared(options.file, io);
  const catalog = await openCatalog([], options, io, false);
  const connection = await resolveConnection(options, io);
  const client = options.askApproval === undefined ? new Client(connection) : new ApprovingClient(connection, options.askApproval);
  try {
    const steps = await planAll(declared, ruleOf(options), catalog, client);
    if (selector !== undefined) warnOfUnlabelled(selector, steps, io);
    const pruning = selector === undefined ? noPruning : await planPruning(selector, steps, { kinds: kindsOf(catalog), catalog, client });
    await use({ steps, pruning }, client);
  } finally {
    client.close();
  }
}

/** Warns of entries made without the labels: they are not found when their document is gone. */
function warnOfUnlabelled(selector: Selector, steps: readonly Step[], io: Io): void {
  for (const step of steps.filter(({ after }) => !selector.matches(after['labels'])))
    io.stderr.write(
      `keystorectl: ${step.declared.where}: ${titleOf(step)} has not the labels ${selector.toString()}: --prune will never delete it\n`,
    );
}

function ruleOf({ replace }: Options): Rule {
  return replace === true ? 'replace' : 'merge';
}

async function ask({ yes, file }: Options, { pruning: { deletions } }: Plan, url: string, io: Io): Promise<void> {
  if (yes === true) return;
  if (!canAsk(io) || file.includes('-')) throw usageError('nothing was done: give --yes where nobody can be asked');
  const what = deletions.length === 0 ? 'Make these changes' : `Make these changes and delete ${deletions.length} for good,`;
  await confirm(`${what} at ${url}?`, io);
}
