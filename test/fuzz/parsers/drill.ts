// The long drill of parsers: each in a process of little memory that is watched, so that an input which takes for ever, or all memory, is found
// and kept.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { endWithTests } from '../../harness/children.ts';

export type ParserDrill = {
  readonly name: string;
  readonly seed: number;
  readonly cases: number;
  /** empty, or not there */
  readonly directory: string;
  /** draws by what inputs reach, or only counts that; without it, as fast as it goes */
  readonly way?: 'guided' | 'blind';
  /** where the input of a find is kept */
  readonly keptInput: string;
};

/** `characters`: of the sources that have run; `kept`: inputs that reached something new. Both with a `way` only. */
export type ParserOutcome = {
  readonly read: number;
  readonly refused: number;
  readonly peakBytes: number;
  readonly characters?: number;
  readonly kept?: number;
};

/** Of the heap; and of the whole process, with V8, OpenSSL and all parsers loaded. */
const heapMegabytes = 128;
const mostBytes = 400 * 2 ** 20;
/** Against a hang: the slowest input takes a thousandth of it. */
const longestInputMs = 60_000;

/** Rejects with the find, and keeps its input. */
export async function drillParser({ name, seed, cases, directory, keptInput, way }: ParserDrill): Promise<ParserOutcome> {
  mkdirSync(directory, { recursive: true });
  const program = join(import.meta.dirname, 'child.ts');
  const args = [
    `--max-old-space-size=${heapMegabytes}`,
    program,
    name,
    String(seed),
    String(cases),
    directory,
    ...(way === undefined ? [] : [way]),
  ];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  endWithTests(child);
  const input = join(directory, 'input');
  let isLate = false;
  const watch = setInterval(() => {
    const began = statSync(input, { throwIfNoEntry: false })?.mtimeMs;
    isLate = began !== undefined && Date.now() - began > longestInputMs;
    if (isLate) child.kill('SIGKILL');
  }, 1_000);
  const ended = once(child, 'exit');
  const [printed, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code, signal] = (await ended) as [number | null, string | null];
  clearInterval(watch);
  const outcome = code === 0 ? (JSON.parse(printed) as ParserOutcome) : undefined;
  if (outcome !== undefined && outcome.peakBytes <= mostBytes) return outcome;
  if (existsSync(input)) {
    mkdirSync(dirname(keptInput), { recursive: true });
    copyFileSync(input, keptInput);
  }
  const what = isLate
    ? `takes longer than ${longestInputMs / 1_000} s`
    : outcome === undefined
      ? `ended with ${signal ?? code}`
      : `took ${outcome.peakBytes} octets`;
  throw new Error(`the parser of ${name}, seed ${seed}, ${what}; the input is ${keptInput}:\n${errors}`);
}
