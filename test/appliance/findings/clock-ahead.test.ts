// A clock that goes ahead is used at once, and a person hears of it: while a process runs, between two processes, and after the machine was off.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { noteStepsAhead } from '../../../appliance/findings/clock-ahead.ts';
import { answerFinding, findFinding, recordFinding } from '../../../appliance/findings/findings.ts';
import { type BootTime, type ClockWatch, watchClock } from '../../../appliance/machine/clock-watch.ts';
import type { Log } from '../../../core/base/context.ts';
import { TestClock } from '../../harness/clock.ts';
import type { Store } from '../../../core/store/store.ts';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const [day, earliest] = [86_400, Temporal.Instant.from('2026-01-01T00:00:00Z')];
const warnings: string[] = [];
const log = { warn: (text: string) => void warnings.push(text) } as unknown as Log;
let appliance: TestAppliance;
beforeAll(async () => {
  appliance = await startTestAppliance({ directory: path() });
});
afterAll(() => appliance.close());

/** A process of an appliance, on a machine that has been up for `upSeconds` since its start number `boot`. */
function begin(store: Store, machine: TestClock, boot = '1', upSeconds = 0): ClockWatch {
  const sinceBoot = (): BootTime => ({ boot, ms: upSeconds * 1_000 + machine.monotonicMs() });
  const watch = watchClock(store, machine, { earliest, sinceBoot });
  noteStepsAhead(store, watch, log);
  return watch;
}
const found = (store: Store): string | undefined => {
  store.refresh();
  const { message, answered } = findFinding(store, 'clock-ahead') ?? {};
  return answered === undefined ? message : undefined;
};
const soon = (store: Store) => expect.poll(() => found(store), { timeout: 30_000 });

test('more than a day at once is a finding while a process runs, and the time is used; less, and time that passes, is none', async () => {
  const store = appliance.store.prefixed('running');
  const machine = new TestClock('2026-03-01T00:00:00Z');
  const watch = begin(store, machine);
  machine.advance(40 * day);
  expect(watch.clock.now()).toEqual(machine.now());
  machine.step(day - 60);
  expect(watch.clock.now()).toEqual(machine.now());
  machine.step(800 * day);
  expect([watch.clock.now(), watch.clock.doubt]).toEqual([machine.now(), undefined]);
  await soon(store).toBe('the clock went ahead at once, from 2026-04-10T23:59:00.000000Z to 2028-06-18T23:59:00.000000Z, by 800 days');
  expect(warnings).toEqual([found(store)]);
  await answerFinding(store, watch.clock, 'clock-ahead', 'admin');
  expect(found(store)).toBeUndefined();
  // The next process goes on from there.
  await watch.record();
  watch.stop();
  begin(store, machine).stop();
  expect(found(store)).toBeUndefined();
});

test('between two processes it is told by what has passed on the machine; after a restart of that, from 30 days on', async () => {
  const store = appliance.store.prefixed('starts');
  const machine = new TestClock('2026-03-01T00:00:00Z');
  const first = begin(store, machine);
  await first.record();
  first.stop();
  machine.advance(3 * day);
  begin(store, machine).stop();
  expect(found(store)).toBeUndefined();
  machine.step(2 * day);
  const second = begin(store, machine);
  await soon(store).toMatch(/^the clock went ahead at once, from 2026-03-04T00:00:00\S+ to 2026-03-06T00:00:00\S+, by 2 days$/);
  await answerFinding(store, second.clock, 'clock-ahead', 'admin');
  await second.record();
  second.stop();
  machine.advance(29 * day);
  const third = begin(store, machine, '2');
  expect(found(store)).toBeUndefined();
  await third.record();
  third.stop();
  machine.step(31 * day);
  begin(store, machine, '3').stop();
  await soon(store).toMatch(
    /^the clock says 2026-05-05T00:00:00\S+ after a restart of the machine, 31 days after 2026-04-04T00:00:00\S+, which was seen last$/,
  );
});

test('an old backup that was restored is no step of the clock', async () => {
  const store = appliance.store.prefixed('restored');
  const machine = new TestClock('2026-03-01T00:00:00Z');
  const first = begin(store, machine);
  await first.record();
  first.stop();
  await recordFinding(store, first.clock, { name: 'restored', message: 'from a backup' });
  machine.step(90 * day);
  begin(store, machine, '2').stop();
  await store.write(() => undefined);
  expect(found(store)).toBeUndefined();
});
