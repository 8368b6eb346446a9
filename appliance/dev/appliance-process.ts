// The appliance as a child of `npm run dev`: started from its sources, and started again when they change.
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** Outcome of a start: the URL of the management API, or that the appliance ended, in which case its message is on the terminal. */
export type Started = { readonly url: string } | 'ended';

const program = fileURLToPath(new URL('../keystored.ts', import.meta.url));

/** One appliance at a time, because the data directory belongs to one process. */
export class ApplianceProcess {
  readonly #args: readonly string[];
  #child: ChildProcess | undefined;
  #started: Promise<Started> = Promise.resolve('ended');

  /** `args`: options of the daemon, as for `npm start`. */
  constructor(args: readonly string[]) {
    this.#args = args;
  }

  /** Resolves with the outcome of the latest start; while the appliance restarts, with the outcome of that. */
  async settled(): Promise<Started> {
    for (let seen: Promise<Started> | undefined; seen !== this.#started;) {
      seen = this.#started;
      await seen;
    }
    return this.#started;
  }

  /** Starts it, after the end of the one that runs. */
  start(): Promise<Started> {
    const before = this.#started;
    const ending = this.stop();
    // Once more, because the start before may have been waiting for its turn.
    this.#started = Promise.all([before, ending])
      .then(() => this.stop())
      .then(() => this.#spawn());
    return this.#started;
  }

  /** Resolves when it has ended, as an appliance after a signal to stop: running requests are finished first. */
  async stop(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    const ended = new Promise<void>((resolve) => void child.once('exit', () => resolve()));
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await ended;
  }

  #spawn(): Promise<Started> {
    // The daemon ends with this process, even when it is killed.
    const env = { KEYSTORED_WORKERS: '1', ...process.env, KEYSTORED_LAUNCHER: String(process.pid) };
    const child = spawn(process.execPath, [program, ...this.#args], { stdio: ['inherit', 'pipe', 'inherit'], env });
    this.#child = child;
    return new Promise((resolve) => {
      createInterface({ input: child.stdout }).on('line', (line) => {
        const [, url] = /^ready (https:\S+)$/.exec(line) ?? [];
        if (url === undefined) console.log(line);
        else resolve({ url });
      });
      child.once('error', () => resolve('ended'));
      child.once('exit', () => resolve('ended'));
    });
  }
}
