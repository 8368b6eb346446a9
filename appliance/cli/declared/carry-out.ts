// Carries out a plan: changes and then deletions, one after the other, and reports the completed and the remaining steps.
import { Refused, type Client } from '../client.ts';
import type { Document } from '../field-path.ts';
import { CommandFailed, exitCodeOf, exitCodes, OutputFailed, undelivered } from '../terminal/failure.ts';
import { writeAll } from '../terminal/files.ts';
import type { Io } from '../terminal/io.ts';
import { AskedForApproval } from './approving.ts';
import { mayFollow, pathFor } from './kinds.ts';
import { atPlace, change, type Rule, type Step } from './plan.ts';
import { isGone, refusalOf, remove, type Deletion } from './prune.ts';
import { titleOf } from './show-plan.ts';

type Task = {
  readonly titles: readonly string[];
  /** Tells of each title when it is done, with a line to be printed. */
  run(tell: Tell): Promise<void>;
};
type Tell = (title: string, line: string) => Promise<void>;

/** More creations of one resource in a row than this are made in batches, where the appliance takes them. */
const mostAlone = 16;
/** Creations in one batch. */
const batchItems = 100;

/**
 * Stops at the first change that is refused, and goes on behind one that now waits for the approval of others; of creations in a batch, behind the batch. A deletion that is refused, because its entry is
 * used or was changed meanwhile, leaves the entry and goes on; the command fails in the end. Ctrl-C lets the request that is under way end,
 * and stops behind it.
 */
export async function carryOut(steps: readonly Step[], deletions: readonly Deletion[], rule: Rule, client: Client, io: Io): Promise<void> {
  const left: string[] = [];
  const removals = deletions.map((one) => taskOf(titleOf(one), () => removeOrLeave(one, left, client)));
  await inTurn([...changesOf(steps, rule, client), ...removals], io);
  if (left.length > 0) throw new CommandFailed(exitCodes.conflict, ['not everything was deleted', ...left].join('\n  '));
}

function taskOf(title: string, run: () => Promise<string>): Task {
  return { titles: [title], run: async (tell) => tell(title, await run()) };
}

function changesOf(steps: readonly Step[], rule: Rule, client: Client): readonly Task[] {
  const tasks: Task[] = [];
  for (let at = 0; at < steps.length; at += tasks.at(-1)?.titles.length ?? 1) {
    const step = steps[at] as Step;
    const batch = batchFrom(steps, at);
    tasks.push(
      batch.length <= mostAlone
        ? taskOf(titleOf(step), () => make(step, rule, client))
        : { titles: batch.map(titleOf), run: (tell) => createTogether(batch, rule, client, tell) },
    );
  }
  return tasks;
}

/** The creations of one resource that follow each other from a place on, and need nothing of each other. */
function batchFrom(steps: readonly Step[], start: number): readonly Step[] {
  const kind = steps[start]?.kind;
  const fits = (step: Step): boolean => step.does === 'create' && step.kind === kind && !mayFollow(step);
  if (kind?.createBatch === undefined) return [];
  const some = steps.slice(start, start + batchItems);
  const end = some.findIndex((step) => !fits(step));
  return end < 0 ? some : some.slice(0, end);
}

async function inTurn(tasks: readonly Task[], io: Io): Promise<void> {
  const titles = tasks.flatMap((task) => task.titles);
  const done = new Set<string>();
  const asked: string[] = [];
  const tell: Tell = async (title, line) => {
    done.add(title);
    await writeAll(io, `${line}\n`);
  };
  let isStopped = false;
  const stop = (): void => void (isStopped = true);
  process.once('SIGINT', stop);
  try {
    for (const task of tasks) {
      if (isStopped) throw new CommandFailed(exitCodes.no, ['stopped by Ctrl-C', ...remaining(titles, done)].join('\n  '));
      await task.run(tell).catch((error: unknown) => {
        if (!(error instanceof CommandFailed)) throw error;
        if (error instanceof AskedForApproval) return void asked.push(`${task.titles.join(', ')} ${error.message}`);
        if (error instanceof OutputFailed) throw undelivered(error, remaining(titles, done).join('\n  '));
        throw new CommandFailed(error.exitCode, [error.message, ...asked, ...remaining(titles, done)].join('\n  '));
      });
    }
  } finally {
    process.removeListener('SIGINT', stop);
  }
  if (asked.length > 0) throw new CommandFailed(exitCodes.denied, [waitingText, ...asked].join('\n  '));
}

const waitingText = 'other people must approve the rest: give them these ids, and repeat the command when they have';

async function make(step: Step, rule: Rule, client: Client): Promise<string> {
  const { kind, declared, body, tag } = step;
  try {
    if (tag !== undefined) await change(step, rule, body, tag, client, false);
    else await client.exchange({ method: 'POST', path: pathFor(kind.create, declared.names), body });
  } catch (error) {
    refuse(error, step);
  }
  return `${step.does === 'create' ? 'created' : 'changed'} ${titleOf(step)}`;
}

type Result = Document & { readonly status?: number; readonly code?: string; readonly 'error-message'?: string };

/** Throws the first refusal, after it has told of all that were created. A batch that is refused as a whole is made one by one. */
async function createTogether(steps: readonly Step[], rule: Rule, client: Client, tell: Tell): Promise<void> {
  const results = await createBatch(steps, client);
  if (results === undefined) {
    for (const step of steps) await tell(titleOf(step), await make(step, rule, client));
    return;
  }
  const refused: (readonly [Step, Result])[] = [];
  for (const [at, step] of steps.entries()) {
    const result = results[at] as Result;
    if (result.code === undefined) await tell(titleOf(step), `created ${titleOf(step)}`);
    else refused.push([step, result]);
  }
  const [worst] = refused;
  if (worst === undefined) return;
  const [step, { status = 500, code, 'error-message': said = '' }] = worst;
  const others = refused.length === 1 ? [] : [`of its batch, ${refused.length - 1} more refused`];
  refuse(new CommandFailed(exitCodeOf(status), [`${status} ${code}: ${said}`, ...others].join('\n  ')), step);
}

/** Undefined when the batch was refused, as where a policy does not allow a value in it, and nothing was created. */
async function createBatch(steps: readonly Step[], client: Client): Promise<readonly Result[] | undefined> {
  const [first] = steps as readonly [Step];
  const request = { method: 'POST', path: first.kind.createBatch?.path ?? '', body: { 'batch-input': steps.map(({ body }) => body) } };
  try {
    const { 'batch-results': results } = (await client.json(request)) as { 'batch-results'?: readonly Result[] };
    if (results?.length === steps.length) return results;
  } catch (error) {
    if (error instanceof Refused && error.answer.status < 500) return undefined;
    if (error instanceof AskedForApproval) throw error;
    atPlace(error, first);
  }
  throw new CommandFailed(exitCodes.fault, 'the answer does not fit the batch that was sent');
}

function refuse(error: unknown, step: Step): never {
  if (error instanceof AskedForApproval) throw error;
  if (!(error instanceof CommandFailed) || error.exitCode !== exitCodes.conflict) atPlace(error, step);
  const conflict = `${error.message}\n  if somebody else changed it since the plan was shown, nothing of that was overwritten: look at the new plan`;
  atPlace(new CommandFailed(error.exitCode, conflict), step);
}

async function removeOrLeave(deletion: Deletion, left: string[], client: Client): Promise<string> {
  const title = titleOf(deletion);
  try {
    await remove(deletion, deletion.tag, client, false);
    return `deleted ${title}`;
  } catch (error) {
    if (error instanceof AskedForApproval) throw error;
    if (isGone(error)) return `deleted ${title}: it was gone already`;
    const why = refusalOf(error) ?? atPlace(error, deletion);
    left.push(`${title}: ${why}`);
    return `left ${title}: ${why}`;
  }
}

function remaining(titles: readonly string[], done: ReadonlySet<string>): readonly string[] {
  const names = (some: readonly string[]): string => (some.length === 0 ? 'nothing' : some.join(', '));
  return [`done before: ${names([...done])}`, `not done: ${names(titles.filter((title) => !done.has(title)))}`];
}
