// Delays the frames of one machine, both ways: late-line.c between its port and the bridge, for as long as anything delays them.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { endWithTests } from '../../../harness/children.ts';
import { madeOnce } from '../../../harness/once.ts';

/** How frames go, each way: later, by a time that is drawn for each, in their order. */
export type Delay = {
  readonly leastMs: number;
  readonly mostMs: number;
  /** shares; default: none */
  readonly lost?: number;
  readonly doubled?: number;
};

type Parts = {
  /** of the machine, out of the bridge while there is a delay */
  readonly port: string;
  /** the interface in its place */
  readonly tap: string;
  /** words before a command that runs beside the bridge */
  readonly within: readonly string[];
  /** Puts an interface into the bridge, or takes it out. */
  readonly enter: (name: string) => void;
  readonly leave: (name: string) => void;
};

export class LateLine {
  readonly #parts: Parts;
  readonly #delays = new Set<Delay>();
  #running: ChildProcess | undefined;
  #changed = Promise.resolve();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Beside those that are there: their times and shares add up. Resolves with how to end it, when it delays. */
  async delay(delay: Delay): Promise<() => Promise<void>> {
    this.#delays.add(delay);
    await this.#change();
    return () => {
      this.#delays.delete(delay);
      return this.#change();
    };
  }

  /** At once, also where the name spaces are gone. */
  end(): void {
    this.#running?.kill('SIGKILL');
  }

  /** One after another. */
  #change(): Promise<void> {
    return (this.#changed = this.#changed.then(() => this.#apply()));
  }

  async #apply(): Promise<void> {
    const { port, tap, enter, leave } = this.#parts;
    if (this.#delays.size === 0) {
      const running = this.#running;
      if (running === undefined) return;
      this.#running = undefined;
      enter(port);
      const gone = once(running, 'exit');
      running.stdin?.end();
      await gone;
      return;
    }
    const sum = (of: (delay: Delay) => number | undefined): number =>
      Math.round(1_000 * [...this.#delays].reduce((total, one) => total + (of(one) ?? 0), 0));
    const line = `${sum((one) => one.leastMs)} ${sum((one) => one.mostMs)} ${1_000 * sum((one) => one.lost)} ${1_000 * sum((one) => one.doubled)}\n`;
    const begins = this.#running === undefined;
    this.#running ??= await this.#begin();
    this.#running.stdin?.write(line);
    if (!begins) return;
    leave(port);
    enter(tap);
  }

  async #begin(): Promise<ChildProcess> {
    const { port, tap, within } = this.#parts;
    const [command, ...words] = [...within, await compiled(), tap, port];
    const child = spawn(command, words, { stdio: ['pipe', 'pipe', 'inherit'], detached: true });
    endWithTests(child);
    child.stdin.on('error', () => undefined);
    const isReady = await Promise.race([once(child.stdout, 'data').then(() => true), once(child, 'exit').then(() => false)]);
    if (!isReady) throw new Error(`no line for ${port}: the reason is above`);
    return child;
  }
}

/** Once in a run. */
async function compiled(): Promise<string> {
  const directory = await madeOnce('late-line', async (at) => {
    const source = join(import.meta.dirname, 'late-line.c');
    execFileSync('cc', ['-O2', '-Wall', '-Wextra', '-Werror', '-o', join(at, 'late-line'), source]);
  });
  return join(directory, 'late-line');
}
