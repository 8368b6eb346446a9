// Which parts of the sources have run, by the block coverage of V8 in this process: what an input reached that none before it did.
import { type Profiler, Session } from 'node:inspector/promises';

/** Of each script by its URL, one octet for each character: 1 where something ran. */
type Reached = ReadonlyMap<string, Uint8Array>;

/** What keystored and its libraries are made of; not Node.js itself, nor what draws the inputs. */
function isOfInterest(url: string): boolean {
  return url.startsWith('file:') && !url.includes('/test/');
}

export class Coverage {
  readonly #session = new Session();
  readonly #reached = new Map<string, Uint8Array>();
  #characters = 0;

  private constructor() {
    this.#session.connect();
  }

  static async start(): Promise<Coverage> {
    const coverage = new Coverage();
    await coverage.#session.post('Profiler.enable');
    await coverage.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
    return coverage;
  }

  /** Characters of the sources that have run so far. */
  get characters(): number {
    return this.#characters;
  }

  /** What has run since it was asked last. */
  async take(): Promise<Reached> {
    const { result } = await this.#session.post('Profiler.takePreciseCoverage');
    return new Map(result.filter(({ url }) => isOfInterest(url)).map((script) => [script.url, paint(script)]));
  }

  /** Adds what has run; answers how many characters of it are new. */
  add(taken: Reached): number {
    const before = this.#characters;
    for (const [url, now] of taken) {
      const known = this.#reached.get(url);
      // A function that was compiled later may make the script longer than what was seen of it.
      const all = known === undefined || known.length < now.length ? new Uint8Array(now.length) : known;
      if (known !== undefined && all !== known) all.set(known);
      now.forEach((ran, at) => {
        if (ran === 0 || all[at] === 1) return;
        all[at] = 1;
        this.#characters++;
      });
      this.#reached.set(url, all);
    }
    return this.#characters - before;
  }

  /** Whether something has run that is not added yet. */
  isNew(taken: Reached): boolean {
    return [...taken].some(([url, now]) => {
      const known = this.#reached.get(url);
      return now.some((ran, at) => ran === 1 && known?.[at] !== 1);
    });
  }
}

/** Functions come before those inside of them, and ranges before those inside of them: the innermost counts. */
function paint({ functions }: Profiler.ScriptCoverage): Uint8Array {
  const ranges = functions.flatMap((one) => one.ranges);
  const painted = new Uint8Array(Math.max(0, ...ranges.map(({ endOffset }) => endOffset)));
  for (const { startOffset, endOffset, count } of ranges) painted.fill(count > 0 ? 1 : 0, startOffset, endOffset);
  return painted;
}
