// Losses of power after a lie: one sync that was acknowledged had done nothing, and the system took its pages for written. What was acknowledged
// is there, or the appliance says what is missing, by a refused start, in its audit trail or in its check.
import { readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { defined } from '../../../core/base/defined.ts';
import type { Dice } from '../../fuzz/cases.ts';
import { startDaemon } from '../daemon.ts';
import { Find } from '../kills/connection.ts';
import { onAppliances, type Plan, Quota } from '../kills/plan.ts';
import { copyPrepared } from '../kills/prepared.ts';
import { Storm } from '../kills/storm.ts';
import { findLacking, findUnsound, findUnverified } from '../kills/whole-check.ts';
import { copyDirectory } from '../once.ts';
import { refusalIn } from '../refusals.ts';
import type { Disk, Sync } from './disk.ts';
import { startRecorded } from './recording.ts';

/** Disks that are made of one moment. */
const disksPerMoment = 12;
const longestStormMs = 4_000;

/** Under a storm of every kind of change and use. */
export async function cutPowerAfterLies(plan: Plan): Promise<void> {
  const quota = new Quota(plan.kills);
  await onAppliances(plan, async (number, dice) => {
    for (let round = 0; !quota.isSpent; round++) {
      const name = `lie-${number}-${round}`;
      const scope = plan.path(name);
      const fixtures = await copyPrepared(join(scope, 'data'), plan.program);
      const storm = new Storm({ seed: dice.below(2 ** 32), fixtures, recipient: plan.recipient });
      const { daemon, cut } = await startRecorded(scope, { workers: 1 + dice.below(2), ...defined({ program: plan.program }) });
      if (daemon === undefined) throw new Find('a start was abandoned');
      const raging = storm.rage(daemon);
      await Promise.race([setTimeout(dice.below(longestStormMs)), raging.done]);
      raging.over();
      const disk = await cut();
      await raging.done;
      for (let count = 0; count < disksPerMoment && quota.take(); count++) await proveLie(plan, name, { scope, disk, dice, storm }, quota);
      rmSync(scope, { recursive: true });
      plan.record.add(storm.tally);
    }
  });
}

type Moment = { readonly scope: string; readonly disk: Disk; readonly dice: Dice; readonly storm: Storm };

/** What does not prove itself is kept as it was before it was started. */
async function proveLie({ record, program }: Plan, name: string, { scope, disk, dice, storm }: Moment, quota: Quota): Promise<void> {
  const [left, copy] = [`${scope}.left`, `${scope}.copy`];
  const { lie, isLast } = drawLie(disk, dice);
  disk.survive(dice, left, lie);
  copyDirectory(left, copy);
  const what = `${relative(join(scope, 'data'), lie.path).replaceAll(/[0-9a-f-]{12,}/g, '*')}${isLast ? '' : ', and later ones did not'}`;
  try {
    const canBeUnseen = isLast && (basename(dirname(lie.path)) === 'audit' || basename(lie.path) === 'audit');
    const outcome = await judge(join(copy, 'data'), program, storm.fork(), canBeUnseen);
    record.kill(name, { kind: what, when: outcome });
  } catch (error) {
    quota.end();
    record.find(name, left, `a sync of ${what} lied: ${String(error)}`);
    throw error;
  }
  for (const made of [left, copy]) rmSync(made, { recursive: true });
}

/** Of each sort of file equally often: the last sync of one, or any before. */
function drawLie({ syncs }: Disk, dice: Dice): { readonly lie: Sync; readonly isLast: boolean } {
  const sorts = new Map<string, Sync[]>();
  for (const sync of syncs) {
    const sort = /\/(store|audit|logs|softhsm)\//.exec(sync.path)?.[1] ?? 'others';
    sorts.set(sort, [...(sorts.get(sort) ?? []), sync]);
  }
  const own = dice.pick([...sorts.values()]);
  const any = dice.pick(own);
  const last = own.findLast(({ path }) => path === any.path) ?? any;
  const lie = dice.chance(0.5) ? last : any;
  return { lie, isLast: lie === last };
}

/**
 * Starts it, and throws Find when something acknowledged is missing and nothing says so. `canBeUnseen`: the last write of a chain lied, or that of
 * the name of its first file, of which nothing else knows before its next signed head (security.md, "What is open, and why").
 */
async function judge(directory: string, program: string | undefined, storm: Storm, canBeUnseen: boolean): Promise<string> {
  let daemon;
  try {
    daemon = await startDaemon({ directory, firstStart: true, ...defined({ program }) });
  } catch (error) {
    const reason = refusalIn(String(error));
    if (reason === undefined) throw new Find(`a start does not say why it ended: ${String(error)}`);
    return 'refused';
  }
  const changes: string[] = [];
  await storm.prove(daemon, 'everything').catch((error: unknown) => {
    if (!(error instanceof Find)) throw error;
    changes.push(error.message);
  });
  const code = await daemon.stop();
  if (code !== 0) throw new Find(`the daemon ended with ${code}:\n${daemon.output()}`);
  const trails = [join(directory, 'audit')];
  const records = findLacking(trails, storm.acknowledged);
  const said = [...(await findUnsound(directory)), ...(await findUnverified(trails)), ...tornIn(trails)];
  const missing = [...changes, ...records];
  if (missing.length === 0) return said.length > 0 ? 'whole, with a note' : 'whole';
  if (said.length > 0) return 'said';
  if (changes.length === 0 && canBeUnseen) return 'unseen';
  throw new Find(`nothing says that ${missing.join('; ')}`);
}

/** What a start has cut off a chain and put beside it, with a record about it. */
function tornIn(trails: readonly string[]): readonly string[] {
  return trails.flatMap((trail) => readdirSync(trail)).filter((name) => name.endsWith('.torn'));
}
