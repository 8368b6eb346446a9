// When backups are due, when one is missing, and which files of a directory go.
import { expect, test } from 'vitest';
import { isOverdue, nextDue } from '../../../appliance/backup/run/schedule.ts';
import { expendable } from '../../../appliance/backup/targets/retention.ts';

const at = (text: string): number => Temporal.Instant.from(`2026-03-${text}Z`).epochMilliseconds / 1_000;
const stamp = (text: string): string => `2026-03-${text}.000000Z`;
const daily = { minuteOfDay: 150 };
const every6h = { everySeconds: 21_600 };
const good = (text: string) => ({ begunAt: stamp(text), endedAt: stamp(text), lastSuccessAt: stamp(text), failures: 0, failuresInARow: 0 });
const failed = (text: string, times: number) => ({ ...good(text), lastFailureAt: stamp(text), failures: times, failuresInARow: times });

test.each([
  ['the first one: at once', every6h, { failures: 0, failuresInARow: 0 }, '02T10:00:00', '02T10:00:00'],
  ['an interval counts from the start of the last one', every6h, good('02T06:00:00'), '02T10:00:00', '02T12:00:00'],
  ['one that was missed is due', every6h, good('01T06:00:00'), '02T10:00:00', '01T12:00:00'],
  ['a time of day, later today', daily, good('02T01:00:00'), '02T01:10:00', '02T02:30:00'],
  ['a time of day, tomorrow', daily, good('02T02:30:01'), '02T03:00:00', '03T02:30:00'],
  ['a time of day that was missed while stopped', daily, good('01T02:30:00'), '03T12:00:00', '02T02:30:00'],
  ['after a failure: in a minute', daily, failed('02T02:30:00', 1), '02T02:30:10', '02T02:31:00'],
  ['after three: in four minutes', daily, failed('02T02:30:00', 3), '02T02:30:10', '02T02:34:00'],
  ['after many: in an hour', daily, failed('02T02:30:00', 30), '02T02:30:10', '02T03:30:00'],
  ['never later than by the schedule', { everySeconds: 120 }, failed('02T02:30:00', 30), '02T02:30:10', '02T02:32:00'],
  [
    'one that was cut by a kill: in a minute',
    daily,
    { ...good('01T02:30:00'), begunAt: stamp('02T02:30:00') },
    '02T02:30:10',
    '02T02:31:00',
  ],
  ['a clock that was ahead is not waited for', every6h, good('28T00:00:00'), '02T10:00:00', '02T10:00:00'],
])('%s', (_title, schedule, history, now, due) => {
  expect(nextDue(schedule, history, at(now))).toBe(at(due));
});

test('overdue is what is older than one and a half periods, from the first sight of the schedule on', () => {
  expect(isOverdue(every6h, good('02T00:00:00'), at('02T09:00:00'))).toBe(false);
  expect(isOverdue(every6h, good('02T00:00:00'), at('02T09:11:00'))).toBe(true);
  const never = { failures: 0, failuresInARow: 0 };
  expect(isOverdue(every6h, never, at('02T09:00:00'))).toBe(false);
  expect(isOverdue(every6h, { ...never, since: stamp('01T00:00:00') }, at('02T09:00:00'))).toBe(true);
});

test('kept are the newest and the first of each month; names of others are left alone', () => {
  const prefix = 'keystored-a-';
  // Earlier versions gave whole seconds.
  const name = (date: string): string => `${prefix}${date}T023000${date < '20260203' ? '' : '.417'}Z.tar.age`;
  const own = ['20260101', '20260115', '20260202', '20260210', '20260301', '20260302', '20260303'].map(name);
  const others = [
    'keystored-b-20200101T000000Z.tar.age',
    'keystored-a-b-20200101T000000Z.tar.age',
    'notes.txt',
    `${prefix}x.tar.age`,
    `.${name('20200101')}.partial`,
  ];
  const removed = (keep: number, keepMonthly: number) => expendable([...others, ...own.toReversed()], prefix, { keep, keepMonthly });
  expect(removed(0, 0)).toEqual([]);
  expect(removed(0, 2)).toEqual([]);
  expect(removed(2, 0)).toEqual(own.slice(0, -2));
  expect(removed(2, 2)).toEqual(['20260101', '20260115', '20260210'].map(name));
  expect(removed(100, 0)).toEqual([]);
});
