// The judgement of the soak of two hours: what counts as growth.
import { expect, test } from 'vitest';
import { Dice } from '../../fuzz/cases.ts';
import { type Sample, slopeOf } from '../../harness/steady/slope.ts';

const dice = new Dice(7);

/** Two hours of samples, one every ten seconds, with noise of so much to both sides. */
function samplesOf(value: (hours: number) => number, noise: number): readonly Sample[] {
  return Array.from({ length: 720 }, (_, index) => ({ hours: index / 360, value: value(index / 360) + noise * (2 * dice.next() - 1) }));
}

test('a slope is found with its confidence, in noise too', () => {
  const exact = slopeOf(samplesOf((hours) => 100 + 3 * hours, 0));
  expect(exact.perHour).toBeCloseTo(3, 6);
  expect(exact.low).toBeCloseTo(3, 6);
  const noisy = Array.from({ length: 400 }, () => slopeOf(samplesOf((hours) => 100 + 3 * hours, 5)));
  const right = noisy.filter(({ low, high }) => low < 3 && high > 3).length;
  expect(right).toBeGreaterThan(400 * 0.92);
  expect(right).toBeLessThan(400 * 0.98);
});

test('what lasts for minutes is not taken for many samples', () => {
  const growth = Array.from({ length: 400 }, () => {
    const levels = Array.from({ length: 13 }, () => 40 * (2 * dice.next() - 1));
    return slopeOf(samplesOf((hours) => 100 + (levels[Math.floor(hours * 6)] ?? 0), 5));
  });
  expect(growth.filter(({ low }) => low > 0).length).toBeLessThan(400 * 0.05);
});

test('noise alone is no growth', () => {
  const { low, high } = slopeOf(samplesOf(() => 100, 20));
  expect(low).toBeLessThan(0.5);
  expect(high).toBeGreaterThan(-0.5);
});

test('too few samples are no answer', () => {
  expect(() => slopeOf(samplesOf(() => 1, 0).slice(0, 19))).toThrow('too few');
});
