// One appliance whose clock is wrong is outvoted by those that agree; where nobody can tell who is right, nothing is said.
import { describe, expect, test } from 'vitest';
import { clockToleranceMs, OtherClocks } from '../../../core/cluster/clocks.ts';
import { decodeSign } from '../../../core/cluster/validity.ts';

const [now, monotonicMs, minute] = [1_700_000_000_000, 5_000, 60_000];
let uptimeMs = 0;

/** The clocks of others when they show so much more than now; `self` has 0. */
function clocksOf(...ahead: readonly number[]): OtherClocks {
  uptimeMs = 90_000;
  const clocks = new OtherClocks('self', () => uptimeMs);
  clocks.see('self', { state: 'in', wallMs: now + 99 * minute });
  ahead.forEach((ms, index) => clocks.see(`other-${index}`, { state: 'in', wallMs: now + ms }));
  return clocks;
}
const shownBy = (clocks: OtherClocks): number | undefined => {
  const start = clocks.agreedStartMs(monotonicMs);
  return start === undefined ? undefined : start + monotonicMs - now;
};

describe('the clocks of the others', () => {
  test.each([
    ['both of two', [20 * minute, 20 * minute + 50], 20 * minute],
    ['one other, which may be wrong itself', [20 * minute], undefined],
    ['two that differ', [0, 20 * minute], undefined],
    ['three of four', [7, 20 * minute, 8, 9], 8],
    ['two of three, which with this one are as many as the rest', [0, 0, 20 * minute], undefined],
    ['none', [], undefined],
  ])('agree or not: %s', (_, ahead, agreed) => expect(shownBy(clocksOf(...ahead))).toBe(agreed));

  test('differ by the tolerance, and are two', () => {
    expect(shownBy(clocksOf(0, clockToleranceMs - 1))).toBe(0);
    expect(shownBy(clocksOf(0, clockToleranceMs))).toBeUndefined();
  });

  test('are forgotten ten seconds after the last sign, and go on until then', () => {
    const clocks = clocksOf(0, 0);
    uptimeMs += 9_999;
    expect(clocks.agreedStartMs(monotonicMs + 9_999)).toBe(now - monotonicMs);
    uptimeMs += 1;
    expect(clocks.agreedStartMs(monotonicMs + 10_000)).toBeUndefined();
  });

  test.each([{ state: 'out', wallMs: now }, { state: 'in' }, undefined] as const)(
    'are not those of a member that is out, says nothing, or was removed',
    (sign) => {
      const clocks = clocksOf(0, 0);
      clocks.see('other-1', sign);
      expect(shownBy(clocks)).toBeUndefined();
    },
  );

  test('a sign of a program that does not say its time can be read', () => {
    const sign = { name: 'b', version: '1', run: 'r', state: 'in', applied: 7 };
    expect(decodeSign(Buffer.from(JSON.stringify(sign))).wallMs).toBeUndefined();
  });
});
