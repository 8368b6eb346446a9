// Processes that tests start: none outlives its test file, even if the test that was to end it never ran.
import type { ChildProcess } from 'node:child_process';

const running = new Map<number, ChildProcess>();
process.once('exit', endChildren);

/** Registers a child that leads a process group (`detached`). */
export function endWithTests(child: ChildProcess): void {
  const { pid } = child;
  if (pid === undefined) return;
  running.set(pid, child);
  child.once('exit', () => running.delete(pid));
}

/** Kills what runs, with the processes it started. */
export function endChildren(): void {
  for (const pid of running.keys()) {
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // It has just ended.
    }
  }
  running.clear();
}
