// Alarms, one warning when a part stops being well and one line when it is well again; and health of several workers as one.
import { expect, test, vi } from 'vitest';
import { auditPart } from '../../../appliance/audit/plugin.ts';
import { clockPart, diskPart } from '../../../appliance/machine/health.ts';
import { formatHealth, watchHealth } from '../../../appliance/monitoring/health.ts';
import { mergeHealth, type WorkerReport } from '../../../appliance/monitoring/health-of-workers.ts';
import type { HealthPart, Log } from '../../../core/base/context.ts';

test('an alarm is a warning once, and its end one line', async () => {
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
  const stop = watchHealth(() => [auditPart(audit), clockPart(clock)], log);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(lines).toEqual([]);
  [writable, doubt] = [false, 'the clock says 2026-01-01T00:00:00Z'];
  await vi.advanceTimersByTimeAsync(4_000);
  doubt = 'the clock says 2026-01-01T00:00:04Z';
  await vi.advanceTimersByTimeAsync(10_000);
  expect(lines).toEqual([expect.stringMatching(/^warn alarm: audit: /), 'warn alarm: clock: the clock says 2026-01-01T00:00:00Z']);
  [writable, doubt] = [true, undefined];
  await vi.advanceTimersByTimeAsync(10_000);
  expect(lines.slice(2)).toEqual(['info well again: audit', 'info well again: clock']);
  stop();
  vi.useRealTimers();
});

test('a look that is under way at the end of the watch says nothing: a stop closes parts on purpose', async () => {
  vi.useFakeTimers();
  const lines: string[] = [];
  const log = { warn: (text: string) => lines.push(text), info: (text: string) => lines.push(text) } as unknown as Log;
  const answer = Promise.withResolvers<readonly HealthPart[]>();
  const stop = watchHealth(() => answer.promise, log);
  // One that waits for the first.
  await vi.advanceTimersByTimeAsync(2_000);
  stop();
  answer.resolve([{ name: 'audit', state: 'down', reason: 'the trail is closed' }]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(lines).toEqual([]);
  vi.useRealTimers();
});

test('a disk that keeps a commit waiting is a reason to ask another appliance, without a look at the disk', () => {
  const examine = (isStalled: boolean) => formatHealth([diskPart({ store: { isStalled }, directory: '/does/not/exist' })]);
  expect(examine(true)).toMatchObject({
    healthy: false,
    report: { disk: { state: 'stalled', reason: expect.stringContaining('changes wait') } },
  });
  expect(examine(false)).toMatchObject({ healthy: false, report: { disk: { state: 'down' } } });
});

const up = [
  { name: 'token main', state: 'up' },
  { name: 'audit', state: 'up' },
];
const sick = [{ name: 'token main', state: 'down', reason: 'it does not answer', hinders: true as const }, up[1] as (typeof up)[0]];

test.each<[string, readonly WorkerReport[], object]>([
  [
    'all are well',
    [
      { worker: 1, parts: up },
      { worker: 2, parts: up },
    ],
    { status: 'ok', workers: { state: 'up' } },
  ],
  [
    'one of two has lost its token',
    [
      { worker: 1, parts: up },
      { worker: 2, parts: sick },
    ],
    { status: 'down', hsm: { tokens: [{ name: 'main', state: 'down', reason: 'it does not answer (in worker 2 of 2)' }] } },
  ],
  [
    'all have lost their token',
    [
      { worker: 1, parts: sick },
      { worker: 2, parts: sick },
    ],
    { status: 'down', hsm: { tokens: [{ name: 'main', state: 'down', reason: 'it does not answer' }] } },
  ],
  ['one has not served yet', [{ worker: 1, parts: up }, { worker: 2 }], { status: 'ok', workers: { state: 'up' } }],
  [
    'one has ended',
    [
      { worker: 1, parts: up },
      { worker: 2, fault: 'is being started again' },
    ],
    { status: 'degraded', workers: { state: 'incomplete', reason: 'worker 2 is being started again' } },
  ],
  [
    'one hangs',
    [
      { worker: 1, fault: 'did not answer in time', hangs: true },
      { worker: 2, parts: up },
    ],
    { status: 'down', workers: { state: 'incomplete', reason: 'worker 1 did not answer in time' } },
  ],
])('health of all workers: %s', (_, reports, report) => expect(formatHealth(mergeHealth(reports)).report).toMatchObject(report));

test('while no worker has looked at anything, as right after an unseal, health is what the asked one sees', () => {
  const own = [{ name: 'token main', state: 'down', reason: 'the token does not work', hinders: true as const }];
  const merged = mergeHealth(
    [
      { worker: 1, parts: [] },
      { worker: 2, parts: undefined },
    ],
    () => own,
  );
  expect(formatHealth(merged)).toMatchObject({
    healthy: false,
    report: { status: 'down', hsm: { tokens: [{ name: 'main', state: 'down' }] } },
  });
});
