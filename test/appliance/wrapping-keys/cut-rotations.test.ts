// A rotation in a cluster that was cut off at its beginning goes on, no matter which one leads the jobs.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cutRotationJob, rewrappingJob, type RewrappingParts } from '../../../appliance/wrapping-keys/rewrapping.ts';
import { type WrappingRecord, wrappingTable } from '../../../appliance/wrapping-keys/record.ts';
import { WrappingRotation } from '../../../appliance/wrapping-keys/rotation.ts';
import type { Audit } from '../../../core/audit/record.ts';
import { systemClock } from '../../../core/base/time.ts';
import type { OpenStore } from '../../../core/store/open.ts';
import type { Hsm } from '../../../hsm/api.ts';
import { openHsm } from '../../../hsm/client/open.ts';
import { silentLog } from '../../harness/log.ts';
import { ModelCluster } from '../../harness/model-cluster.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { makeSoftToken, testHsmConfig } from '../../harness/token/softhsm.ts';

const path = temporaryDirectory();
const { signal } = new AbortController();
const model = new ModelCluster();
let leading: OpenStore;
let asked: OpenStore;
/** by all reached */
let common: Hsm;
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
});
afterAll(async () => {
  await model.close();
  await common.close();
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
