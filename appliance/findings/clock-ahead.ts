// Puts on record that the clock went ahead at once: it is used, because the time may have passed, and whatever ends by it has ended.
import type { Log } from '../../core/base/context.ts';
import { formatTimestamp } from '../../core/base/time.ts';
import { describeFault } from '../../core/http/response/problem.ts';
import type { Store } from '../../core/store/store.ts';
import type { ClockWatch, StepAhead } from '../machine/clock-watch.ts';
import { findFinding, recordFinding } from './findings.ts';

/** From now on, and for steps that the watch has seen before. For one process. */
export function noteStepsAhead(store: Store, clockWatch: ClockWatch, log: Log): void {
  const note = async (step: StepAhead): Promise<void> => {
    const restored = findFinding(store, 'restored');
    // The time seen last is that of the backup.
    if (step.wasOff && restored !== undefined && restored.answered === undefined) return;
    const message = describe(step);
    log.warn(message);
    await recordFinding(store, clockWatch.clock, { name: 'clock-ahead', message, isEvent: true });
    // A process that begins now measures from here.
    await clockWatch.record();
  };
  clockWatch.onStepAhead((step) => {
    note(step).catch((error: unknown) => log.warn('a step of the clock could not be recorded', describeFault(error)));
  });
}

function describe({ from, to, wasOff }: StepAhead): string {
  const days = Math.floor(to.since(from).total('days'));
  return wasOff
    ? `the clock says ${formatTimestamp(to)} after a restart of the machine, ${days} days after ${formatTimestamp(from)}, which was seen last`
    : `the clock went ahead at once, from ${formatTimestamp(from)} to ${formatTimestamp(to)}, by ${days} ${days === 1 ? 'day' : 'days'}`;
}
