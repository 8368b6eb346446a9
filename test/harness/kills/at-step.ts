// Loaded before the program into each process of a daemon (--import): counts what its start does to files, over all processes, and kills
// all of them before a given step. Reads KILLS_STEPS (a file that grows by an octet for each step) and KILLS_AT_STEP.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/** Calls after which a file or a name is another one, or on the disk. */
const steps = ['fsyncSync', 'renameSync', 'rmSync', 'unlinkSync', 'rmdirSync', 'mkdirSync'] as const;

const { KILLS_STEPS: stepsFile, KILLS_AT_STEP: atStep } = process.env;
/** The first process leads the group; the others inherit its id. */
const group = Number((process.env['KILLS_GROUP'] ??= String(process.pid)));

if (stepsFile !== undefined) {
  const { appendFileSync, statSync } = fs;
  const present = (): void => {
    appendFileSync(stepsFile, '.');
    if (statSync(stepsFile).size !== Number(atStep)) return;
    process.kill(-group, 'SIGKILL');
    // The signal has been sent; no step follows.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  };
  for (const name of steps) {
    const original = fs[name] as unknown as (...args: unknown[]) => unknown;
    Object.assign(fs, {
      [name](...args: unknown[]): unknown {
        present();
        return original.apply(fs, args);
      },
    });
  }
  syncBuiltinESMExports();
}
