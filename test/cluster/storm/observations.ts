// What callers saw of objects of the cluster, for Porcupine, which says whether one order explains it (porcupine/main.go).
import { spawnSync } from 'node:child_process';
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What an answer says of an object: of the state, a whole number, that it was made in, and of the one it leaves. All begin with 0. */
export type Observation = {
  readonly object: string;
  /** the request, for a person */
  readonly text: string;
  /** microseconds of one monotonic clock; without an end nobody knows when it was over */
  readonly call: number;
  readonly return?: number;
  /** the state was this one, was not, was above */
  readonly from?: number;
  readonly not?: number;
  readonly above?: number;
  /** it became this one, or more by so many; default: it stayed */
  readonly to?: number;
  readonly by?: number;
  /** perhaps it never happened */
  readonly maybe?: true;
};

export type Verdict = {
  readonly objects: number;
  readonly observations: number;
  readonly illegal: readonly { readonly object: string; readonly ordered: number; readonly all: readonly string[] }[];
  /** objects whose search took too long */
  readonly undecided: readonly string[];
};

export function microseconds(): number {
  return Math.round(performance.now() * 1_000);
}

/** Kept in a file: two hours of them. */
export class Observations {
  readonly #file: string;
  #count = 0;

  constructor(file: string) {
    this.#file = file;
    appendFileSync(file, '');
  }

  get count(): number {
    return this.#count;
  }

  add(seen: Observation): void {
    this.#count++;
    appendFileSync(this.#file, `${JSON.stringify(seen)}\n`);
  }

  /** Builds the checker with its pinned Go, once, and asks it. */
  judge(): Verdict {
    const cwd = join(import.meta.dirname, 'porcupine');
    const toolchain = /^toolchain (\S+)$/m.exec(readFileSync(join(cwd, 'go.mod'), 'utf8'))?.[1];
    const env = { ...process.env, CGO_ENABLED: '0', GOTOOLCHAIN: toolchain, GOFLAGS: '-mod=readonly -modcacherw -buildvcs=false' };
    const input = readFileSync(this.#file);
    const { status, stdout, stderr, error } = spawnSync('go', ['run', '.'], { cwd, env, input, encoding: 'utf8', maxBuffer: 1 << 30 });
    if (status !== 0) throw new Error(`porcupine: ${error?.message ?? stderr}`);
    return JSON.parse(stdout) as Verdict;
  }
}
