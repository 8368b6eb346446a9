// What all drills of kills share: how many, from which seed, on how many appliances at a time, and the record of every kill.
import { appendFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { Dice } from '../../fuzz/cases.ts';
import { copyDirectory } from '../once.ts';
import { Life, type LifeOptions } from './life.ts';
import type { Tally } from './things/thing.ts';

export type Plan = {
  readonly kills: number;
  readonly seed: number;
  /** at a time */
  readonly appliances: number;
  /** kills from one whole check to the next */
  readonly checkEvery: number;
  readonly record: KillRecord;
  /** a path below a directory for everything that is written */
  path(name: string): string;
  /** what is started; by default as startDaemon() says */
  readonly program?: string | undefined;
  /** age recipient of the backups in a storm, and the file with its identity */
  readonly recipient: string;
  readonly identityFile: string;
};

/** A plan with an identity of its own for backups, and a record in the file. */
export async function makePlan(
  options: Omit<Plan, 'record' | 'recipient' | 'identityFile'> & { readonly recordFile: string },
): Promise<Plan> {
  const { recordFile, ...given } = options;
  const identity = await generateX25519Identity();
  const identityFile = given.path('identity');
  writeFileSync(identityFile, `${identity}\n`, { mode: 0o600 });
  return { ...given, identityFile, recipient: await identityToRecipient(identity), record: new KillRecord(recordFile, given.seed) };
}

/** After so many whole checks another appliance begins, so that checks do not take longer and longer. */
const checksPerLife = 5;

/** The kills of one drill, shared by its appliances. */
export class Quota {
  #left: number;

  constructor(kills: number) {
    this.#left = kills;
  }

  get isSpent(): boolean {
    return this.#left <= 0;
  }

  /** Takes one, if there is one. */
  take(): boolean {
    if (this.isSpent) return false;
    this.#left--;
    return true;
  }

  /** Gives one back that was not used. */
  giveBack(): void {
    this.#left++;
  }

  /** Ends the drill. */
  end(): void {
    this.#left = 0;
  }
}

/** Runs the work for each of the appliances that are there at a time; the first find ends all. `dice` are those of the appliance. */
export async function onAppliances({ appliances, seed }: Plan, work: (number: number, dice: Dice) => Promise<void>): Promise<void> {
  const seeds = new Dice(seed);
  await Promise.all(Array.from({ length: appliances }, (_, number) => work(number, new Dice(seeds.below(2 ** 32)))));
}

/**
 * Kills until the quota is spent, with a whole check after every so many. `killOne` kills something of the appliance and says what, or
 * undefined when there was nothing to kill.
 */
export async function killOverLives(
  plan: Plan,
  options: Pick<LifeOptions, 'configuration' | 'settled' | 'pauseMs'> & {
    readonly name: string;
    readonly workersOf: (round: number) => number;
  },
  killOne: (life: Life, dice: Dice) => Promise<Kill | undefined>,
): Promise<void> {
  const { name, workersOf, ...lifeOptions } = options;
  const { kills, checkEvery, record, recipient, program } = plan;
  const quota = new Quota(kills);
  const endure = async (life: Life, where: string, dice: Dice): Promise<void> => {
    for (let checks = 0; checks < checksPerLife && !quota.isSpent; checks++) {
      for (let count = 0; count < checkEvery && quota.take();) {
        const kill = await killOne(life, dice);
        if (kill === undefined) quota.giveBack();
        else {
          record.kill(where, kill);
          count++;
        }
      }
      await life.requireWhole();
      record.checked(where, life.storm.things);
    }
    await life.end();
  };
  await onAppliances(plan, async (number, dice) => {
    for (let round = 0; !quota.isSpent; round++) {
      const where = `${name}-${number}-${round}`;
      const directory = plan.path(where);
      const workers = workersOf(round);
      const life = await Life.begin({ ...lifeOptions, workers, directory, recipient, program, seed: dice.below(2 ** 32) });
      try {
        await endure(life, where, dice);
      } catch (error) {
        quota.end();
        record.find(where, directory, `${String(error)}\n${life.output}`);
        throw error;
      } finally {
        record.add(life.storm.tally);
      }
    }
  });
}

/** `when`: what it interrupted, as far as that is known. */
export type Kill = { readonly kind: string; readonly when?: string };

/** Counts kills and writes a line for each, which stays as the proof of the run. */
class KillRecord {
  readonly #file: string;
  readonly #began = Date.now();
  readonly #kills: Record<string, number> = {};
  readonly #changes: Record<string, number> = {};
  readonly #sums = { uses: 0, cut: 0, done: 0, checks: 0 };

  constructor(file: string, seed: number) {
    this.#file = file;
    mkdirSync(dirname(file), { recursive: true });
    this.#write({ seed, began: new Date(this.#began).toISOString() });
  }

  kill(appliance: string, { kind, when }: Kill): void {
    const name = when === undefined ? kind : `${kind} ${when}`;
    this.#kills[name] = (this.#kills[name] ?? 0) + 1;
    this.#write({ seconds: this.#seconds, appliance, killed: kind, ...(when === undefined ? {} : { when }) });
  }

  checked(appliance: string, things: number): void {
    this.#sums.checks++;
    this.#write({ seconds: this.#seconds, appliance, check: 'everything holds', things });
  }

  /** Keeps the data directory beside the record. */
  find(appliance: string, directory: string, find: string): void {
    const kept = `${this.#file}.${appliance.replaceAll(' ', '-')}`;
    rmSync(kept, { recursive: true, force: true });
    if (existsSync(directory)) copyDirectory(directory, kept);
    this.#write({ seconds: this.#seconds, appliance, find, kept });
  }

  add({ changes, uses, cut, done }: Tally): void {
    for (const [kind, count] of Object.entries(changes)) this.#changes[kind] = (this.#changes[kind] ?? 0) + count;
    this.#sums.uses += uses;
    this.#sums.cut += cut;
    this.#sums.done += done;
  }

  /** `cut`: changes whose answer a kill cut off; `done`: those of them that had happened. */
  get summary() {
    const total = Object.values(this.#kills).reduce((sum, count) => sum + count, 0);
    const perMinute = Math.round((total * 60) / Math.max(1, this.#seconds));
    const changes = Object.values(this.#changes).reduce((sum, count) => sum + count, 0);
    return { kills: total, byKind: this.#kills, perMinute, seconds: this.#seconds, changes, byChange: this.#changes, ...this.#sums };
  }

  /** The last line. */
  close(find?: string): void {
    this.#write({ ...this.summary, ...(find === undefined ? {} : { find }) });
  }

  get #seconds(): number {
    return Math.round((Date.now() - this.#began) / 1_000);
  }

  #write(line: object): void {
    appendFileSync(this.#file, `${JSON.stringify(line)}\n`);
  }
}
