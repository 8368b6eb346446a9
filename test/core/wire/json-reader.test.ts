// The thread that parses large bodies: every caller gets the result for its own body, whatever happens to the thread.
import { once } from 'node:events';
import { markAsUntransferable, type Worker } from 'node:worker_threads';
import { afterEach, expect, test, vi } from 'vitest';
import { JsonReader } from '../../../core/wire/json-reader.ts';

const bytes = (value: unknown): Uint8Array => new Uint8Array(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)));

afterEach(() => {
  vi.useRealTimers();
});

test('concurrent bodies each get their own value or refusal', async () => {
  const reader = new JsonReader();
  const asked = Array.from({ length: 20 }, (_, n) => (n % 3 === 2 ? reader.read(bytes('{')) : reader.read(bytes({ n }))));
  const outcomes = asked.map((answer) => answer.catch((error: { code?: string }) => error.code));
  expect(await Promise.all(outcomes)).toEqual(asked.map((_, n) => (n % 3 === 2 ? 'invalid-json' : { value: { n } })));
});

test('the memory of a body is transferred, unless it is shared', async () => {
  const reader = new JsonReader();
  const own = bytes({ own: true });
  await reader.read(own);
  expect(own.length).toBe(0);
  const pool = bytes('before{"own":false}after');
  expect(await reader.read(pool.subarray(6, 19))).toEqual({ value: { own: false } });
  expect(Buffer.from(pool).toString()).toBe('before{"own":false}after');
});

test('a body that cannot be transferred is refused to its caller only', async () => {
  const reader = new JsonReader();
  const kept = bytes({ n: 1 });
  markAsUntransferable(kept.buffer);
  await expect(reader.read(kept)).rejects.toMatchObject({ name: 'DataCloneError' });
  expect(await reader.read(bytes({ n: 2 }))).toEqual({ value: { n: 2 } });
});

test('a name like __proto__ stays a name', async () => {
  const { value } = await new JsonReader().read(bytes('{"__proto__":{"polluted":true}}'));
  expect(Object.keys(value)).toEqual(['__proto__']);
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
});

test('the bodies of a thread that ended fail, and the next body is parsed by a new thread', async () => {
  const reader = new JsonReader();
  const started = once(process, 'worker');
  const lost = reader.read(bytes({ n: 1 }));
  const [thread] = (await started) as [Worker];
  void thread.terminate();
  await expect(lost).rejects.toThrow('the thread that reads JSON ended');
  expect(await reader.read(bytes({ n: 2 }))).toEqual({ value: { n: 2 } });
});

test('an idle thread ends after ten seconds, without effect on later bodies', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const reader = new JsonReader();
  const started = once(process, 'worker');
  await reader.read(bytes({ n: 1 }));
  const [thread] = (await started) as [Worker];
  const ended = once(thread, 'exit');
  vi.advanceTimersByTime(9_999);
  expect(await reader.read(bytes({ n: 2 }))).toEqual({ value: { n: 2 } });
  vi.advanceTimersByTime(10_000);
  const later = reader.read(bytes({ n: 3 }));
  await ended;
  expect(await later).toEqual({ value: { n: 3 } });
});
