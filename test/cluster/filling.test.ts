// npm test -- cluster: a server of etcd that begins to be filled and never comes does not keep others out.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addServer } from '../../appliance/cluster/membership/filling.ts';
import { EtcdClient } from '../../core/etcd/client.ts';
import { silentLog } from '../harness/log.ts';
import { type EtcdCluster, freePorts, startEtcd } from './etcd.ts';

let etcd: EtcdCluster;
let client: EtcdClient;

beforeAll(async () => {
  etcd = await startEtcd(1);
  client = new EtcdClient({ endpoints: etcd.urls, nowMs: () => performance.now() });
});

afterAll(async () => {
  client.close();
  await etcd.stop();
});

test('one that does not listen gives its place up, and one at the own address is replaced', async () => {
  const [lost = 0, own = 0] = await freePorts(2);
  await client.addLearner(`http://127.0.0.1:${lost}`);
  const servers = await addServer(client, 'own', `http://127.0.0.1:${own}`, silentLog, 500);
  expect([...servers.keys()]).toEqual(expect.arrayContaining(['m0', 'own']));
  expect(servers.size).toBe(2);
  const before = (await client.listMembers()).find(({ isLearner }) => isLearner);
  await addServer(client, 'own', `http://127.0.0.1:${own}`, silentLog, 500);
  const after = (await client.listMembers()).filter(({ isLearner }) => isLearner);
  expect(after.map(({ peerURLs }) => peerURLs)).toEqual([[`http://127.0.0.1:${own}`]]);
  expect(after[0]?.ID).not.toBe(before?.ID);
});
