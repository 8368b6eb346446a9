// The semaphore: never more tasks than permits, first come first served, and a failed task returns its permit.
import { expect, test } from 'vitest';
import { Semaphore } from '../../../../core/base/async/semaphore.ts';

/** Work that ends when told, and records when it starts. */
function work(begun: string[], name: string): { run: () => Promise<string>; end: (error?: Error) => void } {
  const ended = Promise.withResolvers<string>();
  const run = (): Promise<string> => {
    begun.push(name);
    return ended.promise;
  };
  return { run, end: (error) => (error === undefined ? ended.resolve(name) : ended.reject(error)) };
}

test('two permits for four tasks: the third starts when a permit is free, in the order of arrival', async () => {
  const places = new Semaphore(2);
  const begun: string[] = [];
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => work(begun, name)) as [
    ReturnType<typeof work>,
    ReturnType<typeof work>,
    ReturnType<typeof work>,
    ReturnType<typeof work>,
  ];
  const [first, second, third, fourth] = [a, b, c, d].map(({ run }) => places.run(run));
  expect(begun).toEqual(['a', 'b']);
  b.end();
  expect(await second).toBe('b');
  await Promise.resolve();
  expect(begun).toEqual(['a', 'b', 'c']);
  a.end();
  expect(await first).toBe('a');
  await Promise.resolve();
  expect(begun).toEqual(['a', 'b', 'c', 'd']);
  c.end();
  d.end();
  expect([await third, await fourth]).toEqual(['c', 'd']);
});

test('work that fails, at once or later, returns its permit', async () => {
  const places = new Semaphore(1);
  await expect(
    places.run(() => {
      throw new Error('at once');
    }),
  ).rejects.toThrow('at once');
  const begun: string[] = [];
  const [failing, next] = [work(begun, 'failing'), work(begun, 'next')];
  const [failed, followed] = [places.run(failing.run), places.run(next.run)];
  expect(begun).toEqual(['failing']);
  failing.end(new Error('later'));
  await expect(failed).rejects.toThrow('later');
  next.end();
  expect(await followed).toBe('next');
});

test('tenants take turns at permits, and in a tenant its tokens, in whatever order they have asked', async () => {
  const places = new Semaphore(1);
  const begun: string[] = [];
  const asked = ['a1', 'a1', 'a1', 'a2', 'a1', 'b1', 'b1', 'a2'].map((name) =>
    places.run(async () => void begun.push(name), { tenant: name[0] ?? '', origin: name }),
  );
  await Promise.all(asked);
  expect(begun).toEqual(['a1', 'a1', 'b1', 'a2', 'b1', 'a1', 'a2', 'a1']);
});
