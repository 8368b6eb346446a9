// The start of a member: an etcd that answers and then does not is waited for, as one that does not answer at all.
import { expect, test } from 'vitest';
import { ClusterMember, type MemberOptions } from '../../../core/cluster/member.ts';
import type { EtcdClient } from '../../../core/etcd/client.ts';
import { EtcdError } from '../../../core/etcd/outcome.ts';
import { status } from '../../../core/etcd/status.ts';
import { silentLog } from '../../harness/log.ts';
import { ModelEtcd } from '../../harness/model-etcd.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();

/** An etcd without a store, whose ranges fail with these codes first. */
function etcdFailing(codes: number[]): EtcdClient {
  const model = new ModelEtcd();
  const client: Partial<EtcdClient> = {
    endpoints: ['https://etcd.example:2379'],
    status: async () => ({ version: '3.6.14' }) as Awaited<ReturnType<EtcdClient['status']>>,
    readTxnAt: async (_, request) => model.txn(request),
    readTxn: async (request) => model.txn(request),
    range: async (request) => {
      const code = codes.shift();
      if (code !== undefined) throw new EtcdError(code, 'the drill');
      return { header: model.txn({ compare: [], success: [], failure: [] }).header, kvs: model.keys(request), more: false };
    },
  };
  return client as EtcdClient;
}

function optionsOf(client: EtcdClient): MemberOptions {
  return {
    ...{ client, directory: path('data'), id: 'a', self: { name: 'a' } as MemberOptions['self'], log: silentLog },
    ...{
      limits: { operations: 1, bytes: 1_000 },
      moment: () => ({ monotonicMs: performance.now() }) as ReturnType<MemberOptions['moment']>,
    },
    ...{ onChange: () => undefined, onEnded: () => undefined, onForeignWrite: () => undefined },
  };
}

test('a deadline that one call does not keep, or a leader that is elected, ends no start', async () => {
  const codes: number[] = [status.DEADLINE_EXCEEDED, status.UNAVAILABLE];
  const member = await ClusterMember.connect(optionsOf(etcdFailing(codes)));
  expect([codes, member.epoch]).toEqual([[], undefined]);
  await member.stop();
});

test('what etcd refuses ends it at once', async () => {
  await expect(ClusterMember.connect(optionsOf(etcdFailing([status.PERMISSION_DENIED])))).rejects.toThrow('the drill');
});
