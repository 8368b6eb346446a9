// Work that never ends is bounded; what ends before is as it was.
import { expect, test } from 'vitest';
import { inTime } from '../../../../core/base/async/in-time.ts';

const never = new Promise<string>(() => undefined);
const mostMs = 600_000;

test('the outcome of work that ends is its own, also a failure', async () => {
  await expect(inTime(Promise.resolve('done'), mostMs, () => 'late')).resolves.toBe('done');
  await expect(inTime(Promise.reject(new Error('failed')), mostMs, () => 'late')).rejects.toThrow('failed');
});

test('work that does not end is answered by what is done then, also by a failure', async () => {
  await expect(inTime(never, 1, () => 'late')).resolves.toBe('late');
  const fails = (): never => {
    throw new Error('late');
  };
  await expect(inTime(never, 1, fails)).rejects.toThrow('late');
});

test('a failure of the work after that is no fault of anybody', async () => {
  const work = Promise.withResolvers<string>();
  await expect(inTime(work.promise, 1, () => 'late')).resolves.toBe('late');
  work.reject(new Error('after all'));
  await new Promise((done) => setImmediate(done));
});
