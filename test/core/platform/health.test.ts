// Alarms: one warning when a part stops being well, one line when it is well again, nothing in between.
import { expect, test, vi } from 'vitest';
import { watchHealth } from '../../../appliance/operations/health.ts';
import { describeWrapping } from '../../../appliance/wrapping-keys/record.ts';
import type { Log } from '../../../core/base/context.ts';
import type { Hsm } from '../../../hsm/api.ts';

test('an alarm is a warning once, and its end one line', () => {
  vi.useFakeTimers();
  const lines: string[] = [];
  const log = { warn: (text: string) => lines.push(`warn ${text}`), info: (text: string) => lines.push(`info ${text}`) } as unknown as Log;
  let writable = true;
  let doubt: string | undefined;
  const audit = {
    get writable() {
      return writable;
    },
    write: () => Promise.resolve(),
  };
  const clock = {
    now: () => Temporal.Instant.from('2026-01-01T00:00:00Z'),
    monotonicMs: () => 0,
    get doubt() {
      return doubt;
    },
  };
  const wrapping = () => describeWrapping(undefined);
  const stop = watchHealth({ hsm: { status: () => [] } as unknown as Hsm, audit, clock, wrapping }, log);
  vi.advanceTimersByTime(10_000);
  expect(lines).toEqual([]);
  [writable, doubt] = [false, 'the clock says 2026-01-01T00:00:00Z'];
  vi.advanceTimersByTime(4_000);
  doubt = 'the clock says 2026-01-01T00:00:04Z';
  vi.advanceTimersByTime(10_000);
  expect(lines).toEqual([expect.stringMatching(/^warn alarm: audit: /), 'warn alarm: clock: the clock says 2026-01-01T00:00:00Z']);
  [writable, doubt] = [true, undefined];
  vi.advanceTimersByTime(10_000);
  expect(lines.slice(2)).toEqual(['info well again: audit', 'info well again: clock']);
  stop();
  vi.useRealTimers();
});
