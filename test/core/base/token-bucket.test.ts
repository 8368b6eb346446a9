// Token buckets: a burst up to the capacity, then the rate, and the time to wait is exact.
import { expect, test } from 'vitest';
import { Allowance, TokenBucket } from '../../../core/base/token-bucket.ts';

test('a full bucket allows its capacity at once, then one action per interval, and says how long to wait', () => {
  const bucket = new TokenBucket(3, 60, 1_000);
  expect([1, 2, 3].map(() => bucket.take(1_000))).toEqual([0, 0, 0]);
  expect(bucket.take(1_000)).toBe(1);
  expect(bucket.take(1_250)).toBe(0.75);
  expect(bucket.take(2_000)).toBe(0);
  expect(bucket.take(2_000)).toBe(1);
});

test('a bucket never holds more than its capacity', () => {
  const bucket = new TokenBucket(2, 60, 0);
  expect([1, 2, 3].map(() => bucket.take(3_600_000))).toEqual([0, 0, 1]);
});

test('without a refill the wait is endless; an infinite capacity is never used up', () => {
  const spent = new TokenBucket(1, 0, 0);
  expect([spent.take(0), spent.take(1e9)]).toEqual([0, Infinity]);
  const endless = new TokenBucket(Infinity, 100, 0);
  expect(Array.from({ length: 100 }, () => endless.take(5))).toEqual(Array.from({ length: 100 }, () => 0));
});

test('a flood that empties the common bucket leaves the others their reserve', () => {
  const rates = { ofAll: { atOnce: 10, perMinute: 0 }, ofAddress: { atOnce: 10, perMinute: 0 }, reserve: { atOnce: 3, perMinute: 60 } };
  const [without, allowance] = [new Allowance({ ofAll: rates.ofAll, ofAddress: rates.ofAddress }, 0), new Allowance(rates, 0)];
  for (let time = 0; time < 20; time++) for (const one of [without, allowance]) one.take('192.0.2.1', 0);
  const others = Array.from({ length: 200 }, (_, index) => `198.51.100.${index}`);
  expect(others.filter((address) => without.take(address, 0) === 0)).toEqual([]);
  // A few share a part of the reserve.
  expect(others.filter((address) => allowance.take(address, 0) === 0).length).toBeGreaterThan(150);
  expect(allowance.take('192.0.2.1', 0)).toBe(Infinity);
});
