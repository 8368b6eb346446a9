// Break-glass: who has the PIN takes the approval rules of a tenant away, on record, and nobody else does.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { markFile, rulesOf, type Wanted, writeMark } from '../../../appliance/break-glass/mark.ts';
import { openTenants } from '../../../core/access/tenants.ts';
import { formatTimestamp } from '../../../core/base/time.ts';
import { rule, rulePath } from '../../core/approvals/people.ts';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
let appliance: TestAppliance;
let exporting: () => Promise<number>;
let made = 0;

beforeAll(async () => {
  appliance = await startTestAppliance({ directory: path() });
  await appliance.request('POST', '/v1/config/keystore/authentication/approles', { name: 'gone' });
  await appliance.request('POST', '/v1/config/keystore/transit-keys', { name: 'box', exportable: true });
  exporting = async () => (await appliance.request('POST', '/v1/state/keystore/transit-keys/box/export', {})).status;
});
afterAll(() => appliance.close());

const lock = async (name = 'all'): Promise<void> => {
  const { status, body } = await appliance.request('POST', rulePath, rule(name, { approvers: { approles: ['gone'] }, force: true }));
  expect([status, body.code]).toEqual([201, undefined]);
};
const wanted = (fields: Partial<Wanted> = {}): Wanted => {
  const { store, clock } = appliance;
  const tenantId = openTenants(store).findByName('system')?.uuid ?? '';
  const id = `00000000-0000-4000-8000-${String(++made).padStart(12, '0')}`;
  const reason = 'everybody has left the company';
  return { id, tenantId, rules: rulesOf(store, tenantId), reason, madeAt: formatTimestamp(clock.now()), ...fields };
};
const mark = (fields?: Partial<Wanted>): void => writeMark(appliance.directory, appliance.store, wanted(fields));
const apply = async (): Promise<void> => appliance.jobs.find(({ name }) => name === 'break-glass')?.run(new AbortController().signal);
const lines = (): string[] => {
  const directory = join(appliance.directory, 'audit');
  return readdirSync(directory).flatMap((name) => readFileSync(join(directory, name), 'utf8').split('\n'));
};
const health = async (): Promise<Record<string, { state: string } | undefined>> =>
  (await appliance.request('GET', '/v1/state/system/health')).body as never;

test('a mark that was made without the key of the store, changed, late or for other rules takes nothing away', async () => {
  await lock();
  expect(await exporting()).toBe(403);
  const file = markFile(appliance.directory);
  const bad: readonly (() => void)[] = [
    () => writeFileSync(file, JSON.stringify({ ...wanted(), proof: 'none' })),
    () => writeFileSync(file, 'not a mark'),
    () => {
      mark({ rules: [] });
      writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), rules: wanted().rules }));
    },
    () => mark({ rules: [] }),
    () => mark({ madeAt: formatTimestamp(appliance.clock.now().subtract({ hours: 25 })) }),
    () => mark({ tenantId: '00000000-0000-4000-8000-000000000000' }),
  ];
  for (const make of bad) {
    make();
    await apply();
    expect(existsSync(file)).toBe(false);
    expect(await exporting()).toBe(403);
  }
  expect(lines().filter((line) => line.includes('"code":"break-glass-refused"'))).toHaveLength(bad.length);
});

test('a mark takes the rules away once, on record with its reason, and health shows it for 30 days, also when it was answered', async () => {
  mark();
  const again = readFileSync(markFile(appliance.directory));
  await apply();
  expect(await exporting()).toBe(200);
  const [record] = lines().filter((line) => line.includes('"code":"break-glass"'));
  expect(record).toContain('everybody has left the company');
  await lock();
  writeFileSync(markFile(appliance.directory), again);
  await apply();
  expect(await exporting()).toBe(403);
  expect((await health())['break-glass']?.state).toBe('unanswered');
  expect((await appliance.request('POST', '/v1/state/system/findings/break-glass/answer', {})).status).toBe(200);
  expect((await health())['break-glass']?.state).toBe('answered');
  appliance.clock.advance(30 * 86_400);
  expect((await health())['break-glass']).toBeUndefined();
});

test('a mark whose change the store does not take, without the majority of a cluster or with a full disk, is on record once', async () => {
  const records = (): number => lines().filter((line) => line.includes('"code":"break-glass"')).length;
  const before = records();
  mark();
  const writing = vi.spyOn(appliance.store, 'write');
  for (const _ of [1, 2, 3]) {
    writing.mockRejectedValueOnce(new Error('no majority'));
    await expect(apply()).rejects.toThrow('no majority');
    expect([await exporting(), records()]).toEqual([403, before + 1]);
  }
  await apply();
  writing.mockRestore();
  expect([await exporting(), records()]).toEqual([200, before + 1]);
});
