// One directory for all that a run writes, gone when the run ends, whatever a test left behind, and with it the processes that work in it.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onceVariable } from './once.ts';

/** Vitest's global set-up: the processes of the tests inherit the environment. Short, because sockets below it have short names. */
export default function scratch(): () => void {
  const directory = mkdtempSync(join(tmpdir(), 'ks-'));
  process.env['TMPDIR'] = directory;
  process.env[onceVariable] = join(directory, 'once');
  mkdirSync(join(directory, 'once'));
  return () => {
    endProcessesIn(directory);
    rmSync(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  };
}

/**
 * Kills the processes that were started with something in the directory as an argument: daemons of a file whose last hook threw, or whose process was
 * killed. Those that run the tests have it in their environment alone.
 */
export function endProcessesIn(directory: string): void {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (!readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`${directory}/`)) continue;
      process.kill(Number(pid), 'SIGKILL');
    } catch {
      // It has just ended, or is somebody else's.
    }
  }
}
