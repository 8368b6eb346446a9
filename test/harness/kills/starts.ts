// Kills of starts that make or change much: a first start, a restore, and the first start of this version on the data of an earlier one. The
// next start must finish what was cut off, with nothing lost and nothing half.
import { existsSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { defined } from '../../../core/base/defined.ts';
import { Dice } from '../../fuzz/cases.ts';
import { type Daemon, type DaemonOptions, startUnlessAbandoned } from '../daemon.ts';
import { patienceMs } from '../patience.ts';
import type { Beginning } from './beginnings.ts';
import { Find } from './connection.ts';
import { onAppliances, type Plan, Quota } from './plan.ts';
import { requireWhole } from './whole-check.ts';

const mostInARow = 4;

/** Kills starts of each kind in turn at random moments, some several times in a row. */
export async function killStarts(plan: Plan, beginnings: readonly Beginning[]): Promise<void> {
  const quota = new Quota(plan.kills);
  let turn = 0;
  await onAppliances(plan, async (_number, dice) => {
    while (!quota.isSpent) {
      const beginning = beginnings[turn % beginnings.length] as Beginning;
      const name = `start-${turn++}`;
      const directory = plan.path(name);
      beginning.make(directory);
      const work = async (): Promise<void> => {
        for (let left = 1 + dice.below(mostInARow); left > 0 && quota.take(); left--) {
          await cut(plan, beginning, directory, { abandonAfterMs: 1 + dice.below(beginning.takesMs * 1.1) });
        }
        await finish(plan, beginning, directory);
      };
      await work().catch((error: unknown) => {
        quota.end();
        plan.record.find(name, directory, String(error));
        throw error;
      });
    }
  });
}

/**
 * Kills starts of each kind before their steps, each once or `most` of each kind: every change that such a start makes to a file, as far as
 * it is made by JavaScript. A module of PKCS#11 and LMDB write files by themselves, which random moments hit.
 */
export async function killStartSteps(plan: Plan, beginnings: readonly Beginning[], most: number): Promise<void> {
  const waiting: (() => Promise<void>)[] = [];
  for (const beginning of beginnings) {
    const dice = new Dice(plan.seed);
    const steps = Array.from({ length: await countSteps(plan, beginning) }, (_, index) => index + 1);
    while (steps.length > most) steps.splice(dice.below(steps.length), 1);
    waiting.push(...steps.map((step) => () => killAtStep(plan, beginning, step)));
  }
  await onAppliances(plan, async () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      await next().catch((error: unknown) => {
        waiting.length = 0;
        throw error;
      });
    }
  });
}

/** The steps of a start until it is ready. */
async function countSteps(plan: Plan, beginning: Beginning): Promise<number> {
  const directory = plan.path(`steps-${fileName(beginning)}`);
  beginning.make(directory);
  const daemon = await start(plan, beginning, directory, { environment: countingIn(`${directory}.steps`) });
  const count = statSync(`${directory}.steps`).size;
  await daemon?.kill();
  rmSync(directory, { recursive: true, force: true });
  return count;
}

async function killAtStep(plan: Plan, beginning: Beginning, step: number): Promise<void> {
  const directory = plan.path(`${fileName(beginning)}-${step}`);
  beginning.make(directory);
  const environment = { ...countingIn(`${directory}.steps`), KILLS_AT_STEP: String(step) };
  try {
    await cut(plan, beginning, directory, { environment, abandonAfterMs: patienceMs }, 'before a step');
    await finish(plan, beginning, directory);
  } catch (error) {
    plan.record.find(basename(directory), directory, String(error));
    throw error;
  }
}

function fileName({ name }: Beginning): string {
  return name.replaceAll(' ', '-');
}

/** See at-step.ts. */
export function countingIn(file: string): Readonly<Record<string, string>> {
  return { KILLS_STEPS: file, NODE_OPTIONS: `--import=${new URL('./at-step.ts', import.meta.url).href}` };
}

type Cut = Pick<DaemonOptions, 'abandonAfterMs' | 'environment'>;

/** A start that is killed in its course. One that is ready first is killed then: processes do their steps at the same time. */
async function cut(plan: Plan, beginning: Beginning, directory: string, how: Cut, when?: string): Promise<void> {
  const daemon = await start(plan, beginning, directory, how);
  await daemon?.kill();
  plan.record.kill(basename(directory), { kind: beginning.name, ...defined({ when }) });
}

/** The next start is ready, everything is there, and the stopped appliance is sound. Throws Find. */
export async function finish(plan: Plan, beginning: Beginning, directory: string): Promise<void> {
  const began = performance.now();
  const daemon = await start(plan, beginning, directory, {});
  if (daemon === undefined) throw new Find(`${beginning.name}: the start after the kills was killed`);
  beginning.takesMs = (beginning.takesMs + performance.now() - began) / 2;
  await beginning.prove(daemon);
  const code = await daemon.stop();
  if (code !== 0) throw new Find(`${beginning.name}: the daemon ended with ${code}:\n${daemon.output()}`);
  await requireWhole(directory);
  plan.record.checked(basename(directory), 1);
  rmSync(directory, { recursive: true, force: true });
}

/** Undefined when it was killed. Throws Find when it is refused. */
async function start(plan: Plan, beginning: Beginning, directory: string, how: Cut): Promise<Daemon | undefined> {
  // What a restore has filled starts without it, as the refusal says.
  const isFilled = ['restored', 'store', 'softhsm'].some((name) => existsSync(join(directory, name)));
  const { args, rootToken, name } = beginning;
  const known = defined({ rootToken, program: plan.program });
  try {
    return await startUnlessAbandoned({ directory, firstStart: true, args: isFilled ? [] : args, ...known, ...how });
  } catch (error) {
    throw new Find(`${name}: a start was refused: ${String(error)}`);
  }
}
