// Each system call that requests make on the data directory fails once in turn: refused or done, recovered, and nothing lost.
import { expect, test } from 'vitest';
import { drillDisk } from '../../harness/disk-faults/drill.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();

test('every call fails once with every errno of a disk: a success or a clear refusal, recovery by itself, no loss', async () => {
  const mostOfAKind = Number(process.env['DISK_CALLS'] ?? 6);
  const report = await drillDisk({ directory: path(), mostOfAKind });
  console.log(JSON.stringify(report));
  expect(report.faults).toBeGreaterThan(50);
  expect(Object.keys(report.answers)).toContain('503 storage-unavailable');
});
