// A rotation of the wrapping key in a cluster: the old one is not needed by any appliance before it may be destroyed.
import { mkdirSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { takeClusterKeys, wrapClusterKeys, wrappingNumberOf } from '../../../appliance/cluster/keys/cluster-keys.ts';
import type { ClusterState, ClusterWay } from '../../../appliance/cluster/cluster-way.ts';
import { provideStoreKey, readStoreKey } from '../../../appliance/data-directory/store-key.ts';
import { WrappingRotation } from '../../../appliance/wrapping-keys/rotation.ts';
import { isStoreKeyShared, storeKeyCopyJob } from '../../../appliance/cluster/keys/shared-store-key.ts';
import { revealSecret } from '../../../core/base/secret.ts';
import { systemClock } from '../../../core/base/time.ts';
import type { Hsm, TokenConfig } from '../../../hsm/api.ts';
import { openHsm } from '../../../hsm/client/open.ts';
import { type ModelAppliance, ModelCluster } from '../../harness/model-cluster.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { makeSoftToken, testHsmConfig } from '../../harness/token/softhsm.ts';

const path = temporaryDirectory();
const names = ['one', 'two', 'gone'] as const;
const { signal } = new AbortController();
const model = new ModelCluster();
const appliances = new Map<string, ModelAppliance>();
let token: TokenConfig;
let hsm: Hsm;
/** what etcd has */
let keys: Uint8Array;
let storeKey: Buffer;

const member = { version: '1', levels: { oldest: 1, newest: 1 }, applied: 1, silentMs: 1 };
const members: ClusterState['members'] = names.map((name) => ({ ...member, id: name, name, state: name === 'gone' ? 'out' : 'in' }));
const cluster = {
  wrappedKeys: async () => keys,
  replaceWrappedKeys: async (from: Uint8Array, to: Uint8Array) => {
    if (from !== keys) return false;
    keys = to;
    return true;
  },
  state: async () => ({ id: 'one', position: 1, isValid: true, members }),
} as unknown as ClusterWay;

const dataOf = (name: string): string => path(`data-${name}`);
const storeOf = (name: string) => (appliances.get(name) as ModelAppliance).store;
const partsOf = (name: string) => ({ store: storeOf(name), hsm, cluster });
const numberKeptBy = (name: string): number | undefined => hsm.wrappingKeys.numberOf(readStoreKey(dataOf(name)).stored);
const opened = async (name: string, by = hsm): Promise<Buffer> =>
  Buffer.from(revealSecret(await provideStoreKey(by, dataOf(name), path('no-store'))));

beforeAll(async () => {
  token = await makeSoftToken(path('token'));
  hsm = await openHsm(testHsmConfig(token));
  for (const name of names) {
    mkdirSync(dataOf(name), { recursive: true });
    appliances.set(name, await model.join(name, path(`store-${name}`)));
  }
  storeKey = await opened('one');
  keys = await wrapClusterKeys(hsm, dataOf('one'));
  for (const name of ['two', 'gone']) await takeClusterKeys(hsm, dataOf(name), keys);
});
afterAll(async () => {
  await hsm.close();
  await model.close();
});

test('what is shared is rewrapped once, and counts as kept when every appliance that may answer has said so', async () => {
  const rotation = new WrappingRotation({ store: storeOf('one'), hsm, clock: systemClock });
  const { number } = await rotation.begin('main');
  expect(number).toBe(2);
  const isShared = () => isStoreKeyShared(partsOf('one'), number);
  expect(wrappingNumberOf(hsm, keys)).toBe(1);
  expect(await isShared()).toBe(false);
  expect(wrappingNumberOf(hsm, keys)).toBe(2);
  expect(await isShared()).toBe(false);
  await storeKeyCopyJob(partsOf('one'), dataOf('one')).run(signal);
  expect(await isShared()).toBe(false);
  await storeKeyCopyJob(partsOf('two'), dataOf('two')).run(signal);
  expect(await isShared()).toBe(true);
  expect(names.map(numberKeptBy)).toEqual([2, 2, 1]);
  await hsm.wrappingKeys.destroy('main', 1);
});

test('then starts open it, and one that was out takes it when it comes in', async () => {
  // Another token process: what the first one has loaded needs no wrapping key any more.
  const fresh = await openHsm(testHsmConfig(token));
  try {
    for (const name of ['one', 'two']) expect((await opened(name, fresh)).equals(storeKey)).toBe(true);
    await expect(opened('gone', fresh)).rejects.toThrow('does not open');
    await takeClusterKeys(fresh, dataOf('gone'), keys);
    expect((await opened('gone', fresh)).equals(storeKey)).toBe(true);
  } finally {
    await fresh.close();
  }
});

test('a copy that is as new as the wrapping key is left alone, and said once', async () => {
  const two = appliances.get('two') as ModelAppliance;
  const job = storeKeyCopyJob(partsOf('two'), dataOf('two'));
  const before = two.commits;
  await job.run(signal);
  await job.run(signal);
  expect(two.commits).toBe(before);
});
