// The gate of a trial boot: waits until the daemon serves, or waits for a person's PIN. Exit code 1 when it does neither in time.
import { setTimeout } from 'node:timers/promises';
import { readDaemonState, type DaemonState } from './daemon-state.ts';

/** Emulated and busy machines take minutes to start the daemon; a good but slow version must not be abandoned. */
const patienceMs = 600_000;
const pauseMs = 2_000;

/** A version is good when it serves requests; degraded parts were so before, and a sealed daemon can do no more without a PIN. */
export function isGood({ status }: DaemonState): boolean {
  return status === 'ok' || status === 'degraded' || status === 'sealed';
}

/** Tells whether the daemon became good before `deadlineMs` of the monotonic clock. */
export async function waitUntilGood(ask: () => Promise<DaemonState>, deadlineMs: number, pause = pauseMs): Promise<boolean> {
  for (;;) {
    if (isGood(await ask())) return true;
    if (performance.now() > deadlineMs) return false;
    await setTimeout(pause);
  }
}

if (import.meta.main && !(await waitUntilGood(() => readDaemonState('/'), performance.now() + patienceMs))) {
  console.error('keystored does not serve with this version of the appliance');
  process.exitCode = 1;
}
