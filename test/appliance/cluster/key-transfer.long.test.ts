// A cluster with a token in each appliance: replicas over the model of etcd, each with its own SoftHSM2 token, and the jobs that each one runs.
import { mkdirSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { rewrapClusterKeys, wrapClusterKeys } from '../../../appliance/cluster/keys/cluster-keys.ts';
import type { ClusterState, ClusterWay } from '../../../appliance/cluster/cluster-way.ts';
import { provideStoreKey } from '../../../appliance/data-directory/store-key.ts';
import { carryInCluster, type CarryingParts, withdrawalJob } from '../../../appliance/cluster/keys/key-transfer.ts';
import { type Carrying, carryingTable, joiningTable, partTable } from '../../../appliance/cluster/keys/transfer-records.ts';
import { carryingPartJob } from '../../../appliance/cluster/keys/transfer-part.ts';
import { OwnTokens } from '../../../appliance/cluster/keys/own-tokens.ts';
import { type Invited, WrappingRotation } from '../../../appliance/wrapping-keys/rotation.ts';
import { type WrappingRecord, wrappingTable } from '../../../appliance/wrapping-keys/record.ts';
import { systemClock } from '../../../core/base/time.ts';
import type { Job } from '../../../core/base/context.ts';
import type { Hsm } from '../../../hsm/api.ts';
import { openHsm } from '../../../hsm/client/open.ts';
import { closeTransport, type WrappedForAll, openTransport, prepareToken, takeOwnKeys, type Transport } from '../../../hsm/setup/setup.ts';
import { silentLog } from '../../harness/log.ts';
import { type ModelAppliance, ModelCluster } from '../../harness/model-cluster.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { numbersIn } from '../../harness/token/carrying.ts';
import { makeEmptySoftToken, testHsmConfig } from '../../harness/token/softhsm.ts';

const path = temporaryDirectory();
const group = 'default';
const { signal } = new AbortController();
const model = new ModelCluster();
/** for a transport key that is gone */
const nothingGiven: WrappedForAll = {
  ...{ number: 9, carrying: '0'.repeat(16), marks: { wrapping: '', binding: '' } },
  parcels: [{ hash: 'sha1', wrapping: '', binding: '' }],
};
const hsms = new Map<string, Hsm>();
const parts = new Map<string, CarryingParts>();
const states = new Map<string, ClusterState['members'][number]['state']>();
/** what etcd has */
let keys: Uint8Array;

const partsOf = (name: string): CarryingParts => parts.get(name) as CarryingParts;
const clusterOf = (name: string, appliance: ModelAppliance): ClusterWay =>
  Object.assign(appliance, {
    wrappedKeys: async () => keys,
    state: async () => ({
      ...{ id: name, position: 1, isValid: true },
      members: Array.from(states, ([id, state]) => ({
        ...{ id, name: id, version: '1', levels: { oldest: 1, newest: 1 }, state, applied: 1, silentMs: 1 },
      })),
    }),
  }) as unknown as ClusterWay;
const rotationOf = (name: string): WrappingRotation => {
  const { store, clock } = partsOf(name);
  const carry = (_group: string, inUse: { number: number }, invited?: Invited) => carryInCluster(partsOf(name), inUse, invited);
  return new WrappingRotation({ store, hsm: hsms.get(name) as Hsm, clock, carry });
};

const makeToken = async (name: string) => ({ ...(await makeEmptySoftToken(path('tokens'), name)), group });
const enter = async (name: string, token: CarryingParts['token']): Promise<void> => {
  const appliance = await model.join(name, path(`store-${name}`));
  hsms.set(name, await openHsm(testHsmConfig(token)));
  parts.set(name, { store: appliance.store, cluster: clusterOf(name, appliance), clock: systemClock, log: silentLog, token });
  states.set(name, 'in');
  mkdirSync(path(name), { recursive: true });
};

/** The jobs of these appliances, until `done`. */
async function withJobs<T>(names: readonly string[], done: Promise<T>): Promise<T> {
  const over = new AbortController();
  const runs = names.map(async (name) => {
    const job: Job = carryingPartJob(partsOf(name));
    while (!over.signal.aborted) {
      await job.run(signal);
      await setImmediate();
    }
  });
  try {
    return await done;
  } finally {
    over.abort();
    await Promise.all(runs);
  }
}

async function seenCarrying(store: CarryingParts['store']): Promise<Carrying> {
  for (;;) {
    store.refresh();
    const found = carryingTable(store).get([group]);
    if (found !== undefined) return found;
    await setImmediate();
  }
}

beforeAll(async () => {
  const token = await makeToken('one');
  await prepareToken(token);
  await enter('one', token);
  const hsm = hsms.get('one') as Hsm;
  await provideStoreKey(hsm, path('one'), path('no-store'));
  keys = await wrapClusterKeys(hsm, path('one'));
});
afterAll(async () => {
  for (const hsm of hsms.values()) await hsm.close();
  await model.close();
});

test('the token of one that was invited gets the next keys before anything is under them, and opens what is then wrapped', async () => {
  const token = await makeToken('two');
  const transport = await openTransport(token);
  const rotation = rotationOf('one');
  const ownTokens = new OwnTokens({ ...partsOf('one'), hsm: hsms.get('one') as Hsm, rotation, keys: () => [] });
  await expect(ownTokens.requireReady('two')).rejects.toMatchObject({ code: 'operation-refused' });
  const invited = { appliance: 'two', name: 'two', transport };
  expect(await withJobs(['one'], ownTokens.prepare(invited))).toMatchObject({ state: 'rewrapping' });
  expect(rotation.state(group)).toMatchObject({ number: 2 });
  await expect(ownTokens.requireReady('two')).rejects.toMatchObject({ code: 'operation-refused' });

  const hsm = hsms.get('one') as Hsm;
  keys = await rewrapClusterKeys(hsm, keys);
  const state = await ownTokens.prepare(invited);
  expect(state).toMatchObject({ state: 'ready', keys: { number: 2 } });
  const { parcel: wrapped, ...given } = state.keys as NonNullable<typeof state.keys>;
  await takeOwnKeys(token, transport, { ...given, parcels: [wrapped] }, 0);
  await ownTokens.requireReady('two');
  await enter('two', token);
  rotationOf('two');
  const made = await hsm.generate('aes-256', { tenant: 't', keyId: 'k', version: 1, purpose: 'encrypt' });
  const key = { stored: made.stored, binding: { tenant: 't', keyId: 'k', version: 1, purpose: 'encrypt' } };
  const sealed = await hsm.encrypt(key, Buffer.from('text'));
  const other = hsms.get('two') as Hsm;
  expect(Buffer.from(await other.decrypt(key, sealed)).toString()).toBe('text');
  await expect(other.evidence(key)).resolves.toMatchObject({});
});

test('while one that was invited is about to join, no other wrapping key is made; it may ask again', async () => {
  states.delete('two');
  await expect(rotationOf('one').begin(group)).rejects.toMatchObject({ code: 'conflict' });
  const token = partsOf('two').token;
  const again = new OwnTokens({ ...partsOf('one'), hsm: hsms.get('one') as Hsm, rotation: rotationOf('one'), keys: () => [] });
  await partsOf('one').store.write((transaction) =>
    transaction.put(wrappingTable(partsOf('one').store), [group], {
      ...(wrappingTable(partsOf('one').store).get([group]) as WrappingRecord),
      phase: 'done',
    }),
  );
  // Cut off after it took the keys, it has another transport key, and needs no other wrapping key.
  const state = await again.prepare({ appliance: 'two', name: 'two', transport: await openTransport(token) });
  expect(state).toEqual({ state: 'ready', done: 0, total: 0 });
  await closeTransport(token);
  states.set('two', 'in');
  const own = await openTransport(token);
  await again.prepare({ appliance: 'two-again', name: 'two', transport: own });
  await closeTransport(token);
  // One whose token has not got the key in use was removed before; nothing is rotated for it again.
  expect(await again.rotateAfterRemoval('three')).toBe('rotated');
  expect(wrappingTable(partsOf('one').store).get([group])?.holders).toEqual(['one', 'two', 'two-again']);
  await partsOf('one').store.write((transaction) => transaction.delete(joiningTable(partsOf('one').store), ['two-again']));
});

test('a rotation is refused while one is away, and when one does not do its part, and nothing that is used has changed', async () => {
  const rotation = rotationOf('one');
  states.set('two', 'out');
  await expect(rotation.begin(group)).rejects.toMatchObject({
    code: 'operation-refused',
    message: expect.stringContaining('"two" is away'),
  });
  states.set('two', 'in');
  const { store } = partsOf('one');
  // As a sealed one, it does not begin; as one whose token is gone, it says so.
  const begun = withJobs(['one'], rotation.begin(group));
  const carrying = await seenCarrying(store);
  await store.write((transaction) => transaction.put(partTable(store), [carrying.id, 'two'], { problem: 'the token is gone.' }));
  await expect(begun).rejects.toMatchObject({
    code: 'operation-refused',
    message: '"two" made no transport key in its token: the token is gone. Nothing was changed that is used.',
  });
  expect(rotation.state(group).number).toBe(2);
  store.refresh();
  expect([...carryingTable(store).keys([]), ...partTable(store).keys([])]).toEqual([]);
});

test('an appliance that is killed after it took the keys takes them again, and all have the same', async () => {
  const rotation = rotationOf('two');
  const begun = withJobs(['one'], rotation.begin(group));
  const { store, token } = partsOf('two');
  const part = carryingPartJob(partsOf('two'));
  const given = () => {
    store.refresh();
    return carryingTable(store).get([group])?.gift;
  };
  while (given() === undefined) {
    await part.run(signal);
    await setImmediate();
  }
  // What it does first of all with the wrapped keys; its note of that is lost with it.
  const carrying = carryingTable(store).get([group]) as Carrying;
  const { transport } = partTable(store).get([carrying.id, 'two']) as { transport: Transport };
  const place = carrying.receivers.findIndex(({ id }) => id === 'two');
  await takeOwnKeys(token, transport, carrying.gift as WrappedForAll, place);
  await carryingPartJob(partsOf('two')).run(signal);
  await expect(begun).resolves.toMatchObject({ number: 3, state: 'rewrapping' });
  expect(await numbersIn(partsOf('one').token)).toContain(3);
  expect(await numbersIn(token)).toContain(3);
  expect([...joiningTable(store).keys([])]).toEqual([]);
});

test('a carrying whose appliance was killed is withdrawn, its transport keys go, and the next takes a higher number', async () => {
  const { store, token } = partsOf('one');
  await store.write((transaction) => {
    transaction.put(wrappingTable(store), [group], { ...(wrappingTable(store).get([group]) as WrappingRecord), phase: 'done' });
    transaction.put(carryingTable(store), [group], {
      id: 'cut off',
      receivers: [
        { id: 'one', name: 'one' },
        { id: 'two', name: 'two' },
      ],
    });
  });
  const part = carryingPartJob(partsOf('one'));
  await part.run(signal);
  await expect(rotationOf('two').begin(group)).rejects.toMatchObject({ code: 'conflict' });
  const job = withdrawalJob(partsOf('two'));
  await job.run(signal);
  const later = performance.now() + 61_000;
  const clock = vi.spyOn(performance, 'now').mockReturnValue(later);
  await job.run(signal);
  clock.mockRestore();
  store.refresh();
  expect([...carryingTable(store).keys([]), ...partTable(store).keys([])]).toEqual([]);
  await part.run(signal);
  const { id } = await openTransport(token);
  await closeTransport(token);
  await expect(takeOwnKeys(token, { id }, nothingGiven, 0)).rejects.toMatchObject({ kind: 'key-missing' });
  await expect(withJobs(['one', 'two'], rotationOf('two').begin(group))).resolves.toMatchObject({ number: 4 });
});

test('one that has lost its token takes its former place: its former self is away, and not waited for', async () => {
  const { store } = partsOf('one');
  const done = (): Promise<unknown> =>
    store.write((transaction) =>
      transaction.put(wrappingTable(store), [group], { ...(wrappingTable(store).get([group]) as WrappingRecord), phase: 'done' }),
    );
  await done();
  states.set('two', 'out');
  for (const [time, appliance] of ['two-again', 'two-once-more'].entries()) {
    const invited = { appliance, name: 'two', transport: await openTransport(await makeToken(appliance)) };
    await expect(withJobs(['one'], rotationOf('one').begin(group, invited))).resolves.toMatchObject({ number: 5 + time });
    await done();
  }
});
