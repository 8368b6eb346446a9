// Records that somebody wrote to the shared store past every appliance: told until they are on record, in health and in the trail.
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { ForeignReports } from '../../../appliance/cluster/replication/foreign-reports.ts';
import type { ForeignReport } from '../../../appliance/cluster/cluster-way.ts';
import { recordForeignWrites } from '../../../appliance/cluster/foreign-writes.ts';
import { findingParts } from '../../../appliance/findings/findings.ts';
import type { AuditRecord } from '../../../core/audit/record.ts';
import { systemClock } from '../../../core/base/time.ts';
import { type OpenStore, openStore } from '../../../core/store/open.ts';
import { Secret } from '../../../core/base/secret.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
let store: OpenStore;
beforeAll(async () => {
  store = await openStore({ directory: path('store'), dataKey: new Secret(new Uint8Array(32).fill(1)) });
});
afterAll(() => store.close());

test('a report that was not recorded is told again, with what came meanwhile, and no more often than given', async () => {
  const told: ForeignReport[] = [];
  const answers = [new Error('no process serves'), false, true];
  const reports = new ForeignReports(async (report) => {
    told.push(report);
    const answer = answers.shift() ?? true;
    if (answer instanceof Error) throw answer;
    return answer;
  }, 20);
  reports.add({ revision: 7, records: ['tokens\0tenant\0a\0'] });
  reports.add({ revision: 9, records: Array.from({ length: 6 }, (_, n) => `tokens\0tenant\0b${n}\0`) });
  await vi.waitUntil(() => answers.length === 0);
  expect(told[0]).toEqual({ first: 7, last: 7, records: 1, named: ['tokens ["tenant","a"]'] });
  expect(told[1]).toMatchObject({ first: 7, last: 9, records: 7 });
  expect(told[2]).toEqual(told[1]);
  expect(new Set(told[1]?.named)).toEqual(new Set(['tokens ["tenant","a"]', ...[0, 1, 2, 3].map((n) => `tokens ["tenant","b${n}"]`)]));
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(told).toHaveLength(3);
  reports.add({ revision: 12, records: ['tokens\0tenant\0c\0'] });
  await vi.waitUntil(() => told.length === 4);
  expect(told[3]).toMatchObject({ first: 12, records: 1 });
  reports.stop();
});

test('it is a part of health that names no record, and a record of the trail that does', async () => {
  const written: AuditRecord[] = [];
  const audit = { write: async (record: AuditRecord) => void written.push(record), writable: true };
  const parts = { store, clock: systemClock, audit };
  await recordForeignWrites(parts, { first: 7, last: 7, records: 1, named: ['tokens ["tenant","a"]'] });
  await recordForeignWrites(parts, { first: 9, last: 12, records: 3, named: ['tokens ["tenant","b"]'] });
  expect(findingParts(store, systemClock)).toEqual([
    {
      name: 'foreign-writes',
      state: 'unanswered',
      reason: expect.stringMatching(
        /^3 records of the shared store were changed by no appliance, between the revisions 9 and 12; a record of .* at revision 7: /,
      ),
    },
  ]);
  expect(JSON.stringify(findingParts(store, systemClock))).not.toContain('tenant"');
  expect(written).toMatchObject([
    {
      kind: 'system',
      tenant: 'system',
      code: 'foreign-writes',
      requestParameters: { 'first-revision': 7, named: ['tokens ["tenant","a"]'] },
    },
    { requestParameters: { 'first-revision': 9, 'last-revision': 12, records: 3 } },
  ]);
});
