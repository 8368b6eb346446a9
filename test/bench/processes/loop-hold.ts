// Loaded into the appliance's processes by the benchmark of large requests: writes down, four times a second, how long the event loop was held at most.
import { appendFileSync } from 'node:fs';
import { programOf } from '../measure/processes.ts';

/** The longest hold in one window of one process, in milliseconds of its processor time: what other processes take does not count. */
export type Hold = { readonly role: string; readonly at: number; readonly ms: number };

const windowMs = 250;
const file = process.env['BENCH_LOOP_HOLDS'];
const role = programOf(process.argv[1] ?? '');

if (file !== undefined && (role === 'worker' || role === 'host')) {
  let before = spentMs();
  let longest = 0;
  // Whatever runs between two ticks held the loop, but for a millisecond: the timer is not late before.
  setInterval(() => {
    const now = spentMs();
    longest = Math.max(longest, now - before - 1);
    before = now;
  }, 1).unref();
  setInterval(() => {
    const hold: Hold = { role, at: Date.now(), ms: longest };
    appendFileSync(file, `${JSON.stringify(hold)}\n`);
    longest = 0;
  }, windowMs).unref();
}

function spentMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
