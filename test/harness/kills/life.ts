// One appliance in a storm, over many starts: the storm goes on across kills, and a whole check looks at everything in between.
import { rmSync, writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { defined } from '../../../core/base/defined.ts';
import { type Daemon, startDaemon } from '../daemon.ts';
import { Find } from './connection.ts';
import { copyPrepared, keyObjectCount } from './prepared.ts';
import { type Raging, Storm } from './storm.ts';
import { requireWhole } from './whole-check.ts';

export type LifeOptions = {
  readonly directory: string;
  readonly seed: number;
  readonly workers: number;
  /** age recipient of the backups that the storm takes */
  readonly recipient: string;
  readonly program?: string | undefined;
  /** configuration file, YAML */
  readonly configuration?: string;
  /** see StormOptions */
  readonly pauseMs?: number;
  /** at the end of a whole check, with everything proven: throws Find for what else must be so */
  settled?(daemon: Daemon): Promise<void>;
};

/** Orphans are cleared about a second after a start. */
const orphanLooks = 80;
const orphanLookMs = 250;

export class Life {
  readonly storm: Storm;
  /** from the last start to its ready line */
  startMs = 0;
  readonly #options: LifeOptions;
  #daemon: Daemon | undefined;
  /** the one before, which was killed */
  #last: Daemon | undefined;
  #raging: Raging | undefined;

  private constructor(options: LifeOptions, storm: Storm) {
    this.#options = options;
    this.storm = storm;
  }

  /** A copy of the prepared appliance, which does not run yet. */
  static async begin(options: LifeOptions): Promise<Life> {
    const { directory, seed, recipient, pauseMs, configuration } = options;
    const fixtures = await copyPrepared(directory, options.program);
    if (configuration !== undefined) writeFileSync(`${directory}.yaml`, configuration);
    return new Life(options, new Storm({ seed, fixtures, recipient, ...defined({ pauseMs }) }));
  }

  /** Has the appliance run and the storm rage. After a start, what was cut off is found out first, and what was changed is proven. Throws Find. */
  async run(): Promise<Daemon> {
    const daemon = this.#daemon ?? (await this.#start());
    if (this.#raging === undefined) {
      await this.storm.prove(daemon, 'changed');
      this.#raging = this.storm.rage(daemon);
    }
    return daemon;
  }

  /** Waits while the storm rages. Throws the find that it makes meanwhile. */
  async wait(milliseconds: number): Promise<void> {
    await Promise.race([setTimeout(milliseconds), ...(this.#raging === undefined ? [] : [this.#raging.done])]);
  }

  /** Ends the storm; what was done meanwhile is proven, and the appliance goes on running. Throws Find. */
  async calm(): Promise<void> {
    if (this.#daemon === undefined) return;
    this.#raging?.over();
    await this.#calm();
    await this.storm.prove(this.#daemon, 'changed');
  }

  /** Kills every process, or the supervisor alone: then the workers end themselves, while the next start begins. */
  async killDaemon(what: 'every process' | 'the supervisor'): Promise<void> {
    const daemon = this.#daemon;
    if (daemon === undefined) return;
    this.#raging?.over();
    if (what === 'every process') await daemon.kill();
    else process.kill(daemon.pid, 'SIGKILL');
    this.#last = daemon;
    this.#daemon = undefined;
    await this.#calm();
  }

  /** The end of what the appliance has printed. */
  get output(): string {
    return (this.#daemon ?? this.#last)?.output().slice(-4_000) ?? '';
  }

  /**
   * Everything is as acknowledged, the check finds nothing, the trail has every request, and no key object is left over: of the killed
   * appliance, or of the running one after an orderly stop. It runs in the end. Throws Find.
   */
  async requireWhole(): Promise<void> {
    await this.#stop();
    await requireWhole(this.#options.directory, this.storm.acknowledged);
    const daemon = await this.#start();
    await this.storm.prove(daemon, 'everything');
    await this.#requireNoOrphans();
    await this.#options.settled?.(daemon);
  }

  /** Stops the appliance and removes its directory. */
  async end(): Promise<void> {
    await this.#stop();
    rmSync(this.#options.directory, { recursive: true, force: true });
  }

  async #start(): Promise<Daemon> {
    const { directory, workers, program, configuration } = this.#options;
    const args = configuration === undefined ? [] : ['--config', `${directory}.yaml`];
    const began = performance.now();
    const starting = startDaemon({ directory, workers, firstStart: true, args, ...defined({ program }) });
    this.#daemon = await starting.catch((error: unknown) => {
      throw new Find(`a start was refused: ${String(error)}`);
    });
    this.startMs = performance.now() - began;
    return this.#daemon;
  }

  /** In order, once everything open is found out. */
  async #stop(): Promise<void> {
    await this.calm();
    const daemon = this.#daemon;
    if (daemon === undefined) return;
    const code = await daemon.stop();
    this.#daemon = undefined;
    if (code !== 0) throw new Find(`the daemon ended with ${code}:\n${daemon.output()}`);
  }

  async #calm(): Promise<void> {
    const raging = this.#raging;
    this.#raging = undefined;
    await raging?.done;
  }

  async #requireNoOrphans(): Promise<void> {
    const wanted = this.storm.objects;
    for (let look = 0; ; look++) {
      const found = await keyObjectCount(this.#options.directory);
      if (found === wanted) return;
      if (found < wanted || look === orphanLooks) throw new Find(`the token has ${found} key objects for ${wanted} key versions`);
      await setTimeout(orphanLookMs);
    }
  }
}
