// A rotation in a cluster that was cut off at its beginning goes on, no matter which one leads the jobs; one that has ended does not begin again.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cutRotationJob, rewrappingJob, type RewrappingParts } from '../../../appliance/wrapping-keys/rewrapping.ts';
import { type WrappingRecord, wrappingTable } from '../../../appliance/wrapping-keys/record.ts';
import { WrappingRotation } from '../../../appliance/wrapping-keys/rotation.ts';
import type { Audit } from '../../../core/audit/record.ts';
import { systemClock } from '../../../core/base/time.ts';
import type { OpenStore } from '../../../core/store/open.ts';
import type { Hsm, TokenConfig } from '../../../hsm/api.ts';
import { openHsm } from '../../../hsm/client/open.ts';
import { silentLog } from '../../harness/log.ts';
import { ModelCluster } from '../../harness/model-cluster.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { carryToAll } from '../../harness/token/carrying.ts';
import { makeSoftToken, testHsmConfig } from '../../harness/token/softhsm.ts';

const path = temporaryDirectory();
const { signal } = new AbortController();
const model = new ModelCluster();
const group = 'default';
let leading: OpenStore;
let asked: OpenStore;
/** by all reached, and of one appliance alone */
let common: Hsm;
let own: Hsm;
let ownToken: TokenConfig;
let ends = 0;

const partsOf = (store: OpenStore, hsm: Hsm): RewrappingParts => ({
  ...{ store, hsm, clock: systemClock, log: silentLog, directory: path(), settleMs: 0 },
  audit: { write: async () => void ends++ } as unknown as Audit,
  isStoreKeyShared: async () => true,
  wrappedKeys: () => [],
});
const recordIn = (store: OpenStore, token: string): WrappingRecord | undefined => {
  store.refresh();
  return wrappingTable(store).get([token]);
};

beforeAll(async () => {
  [leading, asked] = [(await model.join('one', path('store-one'))).store, (await model.join('two', path('store-two'))).store];
  common = await openHsm(testHsmConfig(await makeSoftToken(path('common'))));
  ownToken = { ...(await makeSoftToken(path('own'))), group };
  own = await openHsm(testHsmConfig(ownToken));
});
afterAll(async () => {
  for (const hsm of [common, own]) await hsm.close();
  await model.close();
});

test('with one HSM, the appliance that was asked and killed when it had made the wrapping key goes on at its next start', async () => {
  const rotation = new WrappingRotation({ store: leading, hsm: common, clock: systemClock });
  const job = rewrappingJob(partsOf(leading, common));
  await job.run(signal);
  // All that it came to; the one that leads the jobs has looked before.
  expect(await common.wrappingKeys.makeNext('main', 1)).toBe(2);
  await job.run(signal);
  expect(rotation.state('main').number).toBe(1);
  await cutRotationJob({ store: asked, hsm: common, clock: systemClock }).run(signal);
  leading.refresh();
  expect(rotation.state('main')).toMatchObject({ number: 2, state: 'rewrapping' });
  await job.run(signal);
  expect(recordIn(leading, 'main')).toMatchObject({ number: 2, phase: 'done' });
  expect([ends, await common.wrappingKeys.list('main')]).toEqual([1, [2]]);
});

test('with a token in each, a rotation that has ended does not begin again where the old wrapping key was not destroyed yet', async () => {
  ends = 0;
  const { number, carrying } = await carryToAll([ownToken]);
  const done = {
    number,
    carrying,
    phase: 'done',
    startedAt: '2026-07-01T12:00:00.000000Z',
    done: 1,
    total: 1,
    failed: 0,
    latecomers: 0,
  } as const;
  const put = (record: WrappingRecord) => leading.write((transaction) => transaction.put(wrappingTable(leading), [group], record));
  await put(done);
  const rotation = new WrappingRotation({ store: leading, hsm: own, clock: systemClock });
  expect(rotation.state(group)).toMatchObject({ number, state: 'in-use' });
  expect(await own.wrappingKeys.list(group)).toEqual([1, 2]);
  await rewrappingJob(partsOf(leading, own)).run(signal);
  await cutRotationJob(partsOf(leading, own)).run(signal);
  expect([recordIn(leading, group), ends]).toEqual([done, 0]);
  // An incomplete one does, as every start tries it again.
  await put({ ...done, failed: 1 });
  await rewrappingJob(partsOf(leading, own)).run(signal);
  expect([recordIn(leading, group), ends]).toEqual([expect.objectContaining({ number, phase: 'done', failed: 0 }), 1]);
});
