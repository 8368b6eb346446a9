// An appliance of a cluster as far as its store goes: it follows etcd, writes through it, and says until when it may answer.
import { randomUUID } from 'node:crypto';
import { Secret } from '../../core/base/secret.ts';
import { ClusterMember, type MemberOptions } from '../../core/cluster/member.ts';
import { batchLimits } from '../../core/cluster/transaction.ts';
import { isValid, machineMoment } from '../../core/cluster/validity.ts';
import { EtcdClient } from '../../core/etcd/client.ts';
import type { SharedStore } from '../../core/store/intent.ts';
import { type Levels, ownLevels } from '../../core/store/records/level.ts';
import { type OpenStore, openStore } from '../../core/store/open.ts';
import type { Table } from '../../core/store/store.ts';
import { silentLog } from '../harness/log.ts';
import { maxOperations } from './etcd.ts';

const dataKey = new Secret(new Uint8Array(32).fill(1));

export type TestAppliance = {
  readonly name: string;
  readonly member: ClusterMember;
  readonly store: OpenStore;
  readonly table: Table<number>;
  /** Whether it may answer at this moment. */
  readonly isValid: boolean;
  /** Adds one to a record, the way a use counter is counted. */
  add(this: void, key: string): Promise<number>;
  stop(): Promise<void>;
};

export type Identity = {
  readonly id?: string;
  readonly version?: string;
  readonly levels?: Levels;
  readonly run?: string;
  readonly onEnded?: MemberOptions['onEnded'];
};

/** `directory` of the store; the first of a cluster makes it. `urls`: the own member of etcd first. `identity`: its name and a new run by default. */
export async function startAppliance(
  name: string,
  directory: string,
  urls: readonly string[],
  { id = name, version = '1', levels = ownLevels, run = randomUUID(), onEnded = () => undefined }: Identity = {},
): Promise<TestAppliance> {
  const client = new EtcdClient({ endpoints: urls, nowMs: () => performance.now() });
  let joined: ClusterMember | undefined;
  const shared: SharedStore = {
    ...{ appliance: id, batch: batchLimits },
    async commit(intent) {
      if (joined === undefined) throw new Error('it is no member yet');
      return joined.commit(1, randomUUID(), intent);
    },
    get settled() {
      return joined?.settled ?? 0;
    },
    async untilSettled(revision) {
      await joined?.untilSettled(revision);
    },
  };
  // Follower and store are two processes in an appliance. In this one, the store is opened before there is a writer: opening waits for a writer
  // that waits for its turn in this thread.
  const store = await openStore({ directory, dataKey, shared });
  const stop = async (): Promise<void> => {
    await store.close();
    await joined?.stop();
    client.close();
  };
  try {
    joined = await ClusterMember.connect({
      ...{ client, directory, id, self: { name, version, levels, run }, limits: { operations: maxOperations, bytes: 1_400_000 } },
      ...{ log: silentLog, moment: machineMoment, onChange: () => undefined, onForeignWrite: () => undefined, onEnded },
    });
    if ((await joined.wrappedKeys()) === undefined) await joined.bootstrap(Buffer.from('keys'));
    await joined.enter();
  } catch (error) {
    await stop();
    throw error;
  }
  const member = joined;
  const table = store.table<number>('things');
  return {
    ...{ name, member, store, table },
    get isValid() {
      return isValid(member.sent, machineMoment());
    },
    add: (key) =>
      store.write((transaction) => {
        const next = (transaction.get(table, [key]) ?? 0) + 1;
        transaction.put(table, [key], next);
        return next;
      }),
    stop,
  };
}
