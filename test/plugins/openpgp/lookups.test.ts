// The index of published keys, which anybody has made by asking: it leaves the event loop to others.
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Lookups } from '../../../plugins/openpgp/published/lookups.ts';
import type { OpenpgpKeys } from '../../../plugins/openpgp/records.ts';

/** A source with this many published keys of each tenant, and no version of any. */
function keysOf(count: number, reads: string[]): OpenpgpKeys {
  const source: Pick<OpenpgpKeys, 'publishedNames' | 'find' | 'referringTo'> = {
    publishedNames: () => Array.from({ length: count }, (_, at) => `key-${at}`),
    find(tenantId, name) {
      reads.push(tenantId);
      return { tenantId, name, fields: { openpgpPublished: true }, versions: [] } as never;
    },
    referringTo: () => [],
  };
  return source as OpenpgpKeys;
}

const now = Temporal.Instant.from('2026-01-01T00:00:00Z');

test('many keys are read with other work in between, once for all who ask', async () => {
  const reads: string[] = [];
  const lookups = new Lookups(keysOf(1_000, reads));
  const asked = [1, 2, 3].map(() => lookups.byAddress('a', 'ada@example.org', now));
  const all = Promise.all(asked);
  for (let looks = 0; looks < 15; looks += 1) await setImmediate();
  expect(reads.length).toBeLessThan(1_000);
  expect(await all).toEqual([[], [], []]);
  expect(reads).toHaveLength(1_000);
});

test('indexes of several tenants are made one after another', async () => {
  const reads: string[] = [];
  const lookups = new Lookups(keysOf(200, reads));
  await Promise.all(['a', 'b', 'c'].map((tenant) => lookups.byAddress(tenant, 'ada@example.org', now)));
  expect(reads.filter((tenant, at) => at > 0 && tenant !== reads[at - 1])).toEqual(['b', 'c']);
});
