// Token buckets: a burst up to the capacity, then the rate, and the time to wait is exact.
import { expect, test } from 'vitest';
import { TokenBucket } from '../../../core/base/token-bucket.ts';

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
