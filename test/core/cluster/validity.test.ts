// An appliance may answer for a while from the sending of its last committed sign, and the others wait for longer than that.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeSign, encodeSign, isValid, Members, type MemberSign, validMs, waitMs } from '../../../core/cluster/validity.ts';

const sign = (applied: number, state: MemberSign['state'] = 'in'): MemberSign => ({
  ...{ name: 'b', version: '1', levels: { oldest: 1, newest: 1 }, validMs, run: 'r', state, applied },
});

describe('the validity', () => {
  const sent = { monotonicMs: 1_000, wallMs: 50_000 };
  const after = (ms: number, wall = ms): Parameters<typeof isValid>[1] => ({ monotonicMs: 1_000 + ms, wallMs: 50_000 + wall });

  test('ends when it is over, and there is none before the first sign', () => {
    expect(isValid(sent, after(validMs - 1))).toBe(true);
    expect(isValid(sent, after(validMs))).toBe(false);
    expect(isValid(undefined, after(0))).toBe(false);
  });

  test('a wall clock that is set back does not prolong it', () => {
    expect(isValid(sent, after(validMs, -3_600_000))).toBe(false);
  });

  test('a machine that was suspended, whose monotonic clock stood still, sees it on the wall clock', () => {
    expect(isValid(sent, after(10, 3_600_000))).toBe(false);
  });

  test('the others wait longer than it lasts, also on a clock that runs a tenth faster', () => {
    fc.assert(
      fc.property(fc.double({ min: 0.9, max: 1, noNaN: true }), fc.integer({ min: 0, max: 50 }), (rate, seenAfterMs) => {
        // The member's clock is slower by `rate`; the waiter sees the sign when it is committed or later.
        const [atMember, atWaiter] = [validMs / rate, seenAfterMs + waitMs];
        return atWaiter > atMember - 1e-6;
      }),
    );
  });
});

describe('members', () => {
  test('those that may answer and have not applied a revision hold it up, never the own appliance', () => {
    const members = new Members('a');
    members.see('a', { ...sign(1), name: 'a' }, 11, 0);
    members.see('b', sign(20), 21, 0);
    members.see('c', sign(19), 22, 0);
    members.see('d', sign(1, 'out'), 23, 0);
    members.see('e', sign(19, 'expelled'), 24, 0);
    expect(members.behind(20).map(([id]) => id)).toEqual(['c', 'e']);
  });

  test('settled is what everybody has who may answer, and no more than the own appliance has', () => {
    const members = new Members('a');
    expect(members.settled(30)).toBe(30);
    members.see('a', { ...sign(1), name: 'a' }, 11, 0);
    members.see('b', sign(20), 21, 0);
    members.see('c', sign(25), 22, 0);
    members.see('d', sign(1, 'out'), 23, 0);
    expect(members.settled(30)).toBe(20);
    expect(members.settled(15)).toBe(15);
    members.see('c', sign(19, 'expelled'), 24, 0);
    expect(members.settled(30)).toBe(19);
  });

  test('what is older than what was seen is left out, so that a replayed sign does not bring a member back', () => {
    const members = new Members('a');
    members.see('b', sign(5, 'out'), 30, 0);
    members.see('b', sign(5), 29, 0);
    members.see('b', undefined, 28, 0);
    expect(members.all.get('b')).toMatchObject({ state: 'out', revision: 30 });
  });

  test('a member is overdue by its silence, counted from when its last sign was seen here', () => {
    const members = new Members('a');
    members.see('b', sign(5), 6, 1_000);
    expect(members.overdue(9, 1_000 + waitMs)).toEqual([]);
    expect(members.overdue(9, 1_001 + waitMs).map(([id]) => id)).toEqual(['b']);
    members.see('b', sign(6), 7, 1_001 + waitMs);
    expect(members.overdue(9, 1_002 + waitMs)).toEqual([]);
  });

  test('a removed member holds up nothing', () => {
    const members = new Members('a');
    members.see('b', sign(5), 6, 0);
    members.see('b', undefined, 7, 0);
    expect(members.behind(9)).toEqual([]);
  });

  test('one that is being removed is waited for until it can answer no more, a removed one never', () => {
    const members = new Members('a');
    members.see('b', sign(5, 'removing'), 6, 1_000);
    members.see('c', sign(5, 'removed'), 7, 1_000);
    expect(members.behind(9).map(([id]) => id)).toEqual(['b']);
    expect(members.overdue(9, 1_000 + waitMs)).toEqual([]);
    expect(members.overdue(9, 1_001 + waitMs).map(([id]) => id)).toEqual(['b']);
  });

  test('a sign that cannot be read is an error, not an absence', () => {
    expect(decodeSign(encodeSign(sign(7)))).toEqual(sign(7));
    for (const text of [
      '',
      'out',
      '{}',
      ...[{ state: 'gone' }, { applied: 0.5 }, { run: undefined }].map((wrong) => JSON.stringify({ ...sign(7), ...wrong })),
    ])
      expect(() => decodeSign(Buffer.from(text))).toThrow(Error);
  });
});
