// Losses of power: a daemon is recorded and ended at a random moment, and from what had been written by then several disks are made as the loss
// may leave them. Each must start, with everything that was acknowledged.
import { mkdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { defined } from '../../../core/base/defined.ts';
import type { Dice } from '../../fuzz/cases.ts';
import { type Daemon, startDaemon } from '../daemon.ts';
import { copyDirectory } from '../once.ts';
import { type Beginning, makeBeginnings } from '../kills/beginnings.ts';
import { Find } from '../kills/connection.ts';
import { onAppliances, type Plan, Quota } from '../kills/plan.ts';
import { copyPrepared } from '../kills/prepared.ts';
import { finish } from '../kills/starts.ts';
import { Storm } from '../kills/storm.ts';
import { requireTrails, requireWhole } from '../kills/whole-check.ts';
import type { Disk } from './disk.ts';
import { type Recorded, startRecorded } from './recording.ts';

/** Disks that are made of one moment. */
const disksPerMoment = 8;
/** of moments in a start, not in a storm */
const shareOfStarts = 0.25;
const longestStartMs = 6_000;
const longestStormMs = 4_000;
/** After so many moments another appliance begins, so that proofs do not take longer and longer. */
const momentsPerLife = 6;

/** Under a storm of every kind of change and use, and in the starts between. */
export async function cutPower(plan: Plan): Promise<void> {
  const quota = new Quota(plan.kills);
  await onAppliances(plan, async (number, dice) => {
    for (let round = 0; !quota.isSpent; round++) await liveAmongCuts(plan, `power-${number}-${round}`, dice, quota);
  });
}

async function liveAmongCuts(plan: Plan, name: string, dice: Dice, quota: Quota): Promise<void> {
  const scope = plan.path(name);
  const { program, recipient, record } = plan;
  const fixtures = await copyPrepared(join(scope, 'data'), program);
  const storm = new Storm({ seed: dice.below(2 ** 32), fixtures, recipient });
  for (let moment = 0; moment < momentsPerLife && !quota.isSpent; moment++) {
    const abandonAfterMs = dice.chance(shareOfStarts) ? 1 + dice.below(longestStartMs) : undefined;
    const { daemon, cut } = await startRecorded(scope, { workers: 1 + dice.below(2), ...defined({ program, abandonAfterMs }) });
    const disk = daemon === undefined ? await cut() : await rage(storm, daemon, dice.below(longestStormMs), cut);
    await proveDisks(plan, quota, { name, scope, disk, dice, kind: daemon === undefined ? 'in a start' : 'in a storm' }, (copy, number) =>
      proveCopy(plan, copy, storm.fork(), number === 0),
    );
    rmSync(scope, { recursive: true });
    disk.survive(dice, scope);
  }
  rmSync(scope, { recursive: true });
  record.add(storm.tally);
}

/** Throws Find. */
async function rage(storm: Storm, daemon: Daemon, milliseconds: number, cut: Recorded['cut']): Promise<Disk> {
  await storm.prove(daemon, 'changed');
  const raging = storm.rage(daemon);
  await Promise.race([setTimeout(milliseconds), raging.done]);
  raging.over();
  const disk = await cut();
  await raging.done;
  return disk;
}

/** In first starts, restores, and first starts of this version on the data of an earlier one. */
export async function cutPowerInStarts(plan: Plan): Promise<void> {
  const beginnings = await makeBeginnings(plan);
  const quota = new Quota(plan.kills);
  let turn = 0;
  await onAppliances(plan, async (_number, dice) => {
    while (!quota.isSpent) {
      const beginning = beginnings[turn % beginnings.length] as Beginning;
      const { args, rootToken, name: kind } = beginning;
      const name = `power-start-${turn++}`;
      const scope = plan.path(name);
      mkdirSync(scope);
      beginning.make(join(scope, 'data'));
      const abandonAfterMs = 1 + dice.below(longestStartMs);
      const { cut } = await startRecorded(scope, { args, abandonAfterMs, ...defined({ program: plan.program, rootToken }) });
      const disk = await cut();
      await proveDisks(plan, quota, { name, scope, disk, dice, kind }, (copy) => finish(plan, beginning, join(copy, 'data')));
      rmSync(scope, { recursive: true });
    }
  });
}

type Moment = { readonly name: string; readonly scope: string; readonly disk: Disk; readonly dice: Dice; readonly kind: string };

/** Makes disks of a moment and proves each. What does not prove itself is kept as it was before it was started. */
async function proveDisks(
  { record }: Plan,
  quota: Quota,
  { name, scope, disk, dice, kind }: Moment,
  prove: (copy: string, number: number) => Promise<void>,
): Promise<void> {
  for (let number = 0; number < disksPerMoment && quota.take(); number++) {
    const [left, copy] = [`${scope}.left`, `${scope}.copy`];
    disk.survive(dice, left);
    copyDirectory(left, copy);
    record.kill(name, { kind });
    await prove(copy, number).catch((error: unknown) => {
      quota.end();
      record.find(name, left, String(error));
      throw error;
    });
    for (const made of [left, copy]) rmSync(made, { recursive: true });
  }
}

/** Starts it, and throws Find unless everything is as acknowledged; with `isWhole` what was not changed lately, too. */
async function proveCopy({ program, record }: Plan, scope: string, storm: Storm, isWhole: boolean): Promise<void> {
  const directory = join(scope, 'data');
  const daemon = await startDaemon({ directory, firstStart: true, ...defined({ program }) }).catch((error: unknown) => {
    throw new Find(`a start was refused: ${String(error)}`);
  });
  await storm.prove(daemon, isWhole ? 'everything' : 'changed');
  const code = await daemon.stop();
  if (code !== 0) throw new Find(`the daemon ended with ${code}:\n${daemon.output()}`);
  if (isWhole) await requireWhole(directory, storm.acknowledged);
  else await requireTrails([directory], storm.acknowledged);
  record.checked(basename(scope), storm.things);
}
