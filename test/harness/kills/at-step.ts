// Loaded before the program into each process of a daemon (--import): counts what its start does to files, over all processes, and kills
// all of them before a given step. Reads KILLS_STEPS (a file that grows by an octet for each step) and KILLS_AT_STEP.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/** Calls after which a file or a name is another one, or on the disk: those that wait, those with a callback, and those with a promise. */
const steps = ['fsyncSync', 'renameSync', 'rmSync', 'unlinkSync', 'rmdirSync', 'mkdirSync', 'fdatasync', 'ftruncate'] as const;
const promised = ['rename', 'rm', 'unlink', 'mkdir', 'writeFile'] as const;

const { KILLS_STEPS: stepsFile, KILLS_AT_STEP: atStep } = process.env;
/** The first process leads the group; the others inherit its id. */
const group = Number((process.env['KILLS_GROUP'] ??= String(process.pid)));

if (stepsFile !== undefined) {
  const { appendFileSync, statSync } = fs;
  const present = (): void => {
    appendFileSync(stepsFile, '.');
    if (statSync(stepsFile).size !== Number(atStep)) return;
    process.kill(-group, 'SIGKILL');
    // A task of the token is a group of its own.
    process.kill(process.pid, 'SIGKILL');
  };
  const watch = <N extends string>(functions: Record<N, unknown>, names: readonly N[]): void => {
    for (const name of names) {
      const original = functions[name] as (...args: unknown[]) => unknown;
      const watched = (...args: unknown[]): unknown => {
        present();
        return original.apply(functions, args);
      };
      Object.assign(functions, { [name]: watched });
    }
  };
  watch(fs, steps);
  watch(fs.promises, promised);
  syncBuiltinESMExports();
}
