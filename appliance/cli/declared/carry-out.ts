// Carries out a plan: changes and then deletions, one after the other, and says what was done and what was not.
import type { Client } from '../client.ts';
import { CommandFailed, exitCodes } from '../terminal/failure.ts';
import { writeAll } from '../terminal/files.ts';
import type { Io } from '../terminal/io.ts';
import { pathFor } from './kinds.ts';
import { atPlace, change, type Rule, type Step } from './plan.ts';
import { isGone, refusalOf, remove, type Deletion } from './prune.ts';
import { titleOf } from './show-plan.ts';

type Task = {
  readonly title: string;
  /** Answers what was done, to be printed. */
  run(): Promise<string>;
};

/**
 * Stops at the first change that is refused. A deletion that is refused, because its entry is used or was changed meanwhile, leaves the
 * entry and goes on; the command fails in the end. Ctrl-C lets the request that is under way end, and stops behind it.
 */
export async function carryOut(steps: readonly Step[], deletions: readonly Deletion[], rule: Rule, client: Client, io: Io): Promise<void> {
  const left: string[] = [];
  const changes = steps.map((step): Task => ({ title: titleOf(step), run: () => make(step, rule, client) }));
  const removals = deletions.map((one): Task => ({ title: titleOf(one), run: () => removeOrLeave(one, left, client) }));
  await inTurn([...changes, ...removals], io);
  if (left.length > 0) throw new CommandFailed(exitCodes.conflict, ['not everything was deleted', ...left].join('\n  '));
}

async function inTurn(tasks: readonly Task[], io: Io): Promise<void> {
  let isStopped = false;
  const stop = (): void => void (isStopped = true);
  process.once('SIGINT', stop);
  try {
    for (const [index, task] of tasks.entries()) {
      if (isStopped) throw new CommandFailed(exitCodes.no, ['stopped by Ctrl-C', ...remaining(tasks, index)].join('\n  '));
      const done = await task.run().catch((error: unknown) => {
        if (!(error instanceof CommandFailed)) throw error;
        throw new CommandFailed(error.exitCode, [error.message, ...remaining(tasks, index)].join('\n  '));
      });
      await writeAll(io, `${done}\n`);
    }
  } finally {
    process.removeListener('SIGINT', stop);
  }
}

async function make(step: Step, rule: Rule, client: Client): Promise<string> {
  const { kind, declared, body, tag } = step;
  try {
    if (tag !== undefined) await change(step, rule, body, tag, client, false);
    else await client.exchange({ method: 'POST', path: pathFor(kind.create, declared.names), body });
  } catch (error) {
    if (!(error instanceof CommandFailed) || error.exitCode !== exitCodes.conflict) atPlace(error, step);
    const conflict = `${error.message}\n  if somebody else changed it since the plan was shown, nothing of that was overwritten: look at the new plan`;
    atPlace(new CommandFailed(error.exitCode, conflict), step);
  }
  return `${step.does === 'create' ? 'created' : 'changed'} ${titleOf(step)}`;
}

async function removeOrLeave(deletion: Deletion, left: string[], client: Client): Promise<string> {
  const title = titleOf(deletion);
  try {
    await remove(deletion, deletion.tag, client, false);
    return `deleted ${title}`;
  } catch (error) {
    if (isGone(error)) return `deleted ${title}: it was gone already`;
    const why = refusalOf(error) ?? atPlace(error, deletion);
    left.push(`${title}: ${why}`);
    return `left ${title}: ${why}`;
  }
}

function remaining(tasks: readonly Task[], done: number): readonly string[] {
  const names = (some: readonly Task[]): string => (some.length === 0 ? 'nothing' : some.map(({ title }) => title).join(', '));
  return [`done before: ${names(tasks.slice(0, done))}`, `not done: ${names(tasks.slice(done))}`];
}
