// Random octets drawn many at a time: each part is given out once, and callers that come together share one call.
import { expect, test } from 'vitest';
import { DrawnAhead } from '../../../../core/base/async/drawn-ahead.ts';

/** Counts up, so that a part given out twice shows. */
function countingSource(): { draw: (octets: number) => Promise<Uint8Array>; calls: number } {
  let next = 0;
  const source = {
    calls: 0,
    async draw(octets: number) {
      source.calls++;
      // A Buffer, as the token gives: slices of it share its memory.
      const drawn = Buffer.alloc(octets);
      for (let at = 0; at < octets; at += 4) drawn.writeUInt32BE(next++, at);
      return drawn;
    },
  };
  return source;
}

test('a thousand callers at once get a thousand different parts, from one call for many of them', async () => {
  const source = countingSource();
  const ahead = new DrawnAhead((octets) => source.draw(octets), 4);
  const parts = await Promise.all(Array.from({ length: 1_000 }, () => ahead.next()));
  expect(new Set(parts.map((part) => part.join('.')))).toHaveLength(1_000);
  expect(parts.every((part) => part.length === 4)).toBe(true);
  expect(source.calls).toBe(16);
});

test('when the source fails everyone who waits is told, and the next caller asks it again', async () => {
  const source = countingSource();
  let isAway = true;
  const ahead = new DrawnAhead((octets) => (isAway ? Promise.reject(new Error('away')) : source.draw(octets)), 4);
  const results = await Promise.allSettled([ahead.next(), ahead.next()]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  isAway = false;
  expect(await ahead.next()).toHaveLength(4);
});

test('a source that gives too little is an error, not a shorter part', async () => {
  const ahead = new DrawnAhead(async () => new Uint8Array(16), 16);
  await expect(ahead.next()).rejects.toThrow('another number');
});
