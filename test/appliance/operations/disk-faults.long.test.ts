// Calls of the operating system on the data directory that fail, wait or do half of their work; npm run soak -- disk-faults does it to each.
import { expect, test, vi } from 'vitest';
import { Dice } from '../../fuzz/cases.ts';
import { drillRequests, drillStarts, startOnHalfReads, startUnopened } from '../../harness/disk-faults/drill.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
vi.setConfig({ testTimeout: 900_000 });

test('a request under a fault is done or refused with the reason, the next one is done, and nothing is lost', async () => {
  const { faults, answers } = await drillRequests({ directory: path('requests'), mostOfAKind: 1 });
  expect(faults).toBeGreaterThan(20);
  expect(Object.keys(answers)).toContain('503 storage-unavailable');
});

test('a start under a fault succeeds or says why it ends, and the next one succeeds', async () => {
  const { ready, refused } = await drillStarts({ directory: path('starts'), faults: 3, dice: new Dice(3) });
  expect(ready + Object.values(refused).reduce((sum, count) => sum + count, 0)).toBe(3);
});

test.for(['/store/data.mdb', '/store-key.json', '/token.object'])(
  'a disk that does not open %s is named, and the file is not taken for damaged, empty or absent',
  async (part) => {
    const said = await startUnopened(path(part.replaceAll('/', '-')), part);
    expect(said).toContain('EIO');
    expect(said).toContain('examine the disk');
  },
);

test('reads that answer less than was asked for cut no record off', async () => {
  expect(await startOnHalfReads(path('halves'))).toBeGreaterThan(0);
});
