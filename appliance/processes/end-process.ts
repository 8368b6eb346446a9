// Ends a process beside the workers: it is asked to, and killed when it takes too long.
import type { ChildProcess } from 'node:child_process';

/** Resolves when the process has ended; at once when none was started. `ask` sends the request to stop; its failure is not waited for. */
export async function endProcess(child: ChildProcess | undefined, ask: () => Promise<unknown> | undefined, graceMs: number): Promise<void> {
  if (child?.pid === undefined) return;
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  ask()?.catch(() => undefined);
  const late = setTimeout(() => child.kill('SIGKILL'), graceMs);
  await gone;
  clearTimeout(late);
}
