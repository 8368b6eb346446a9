// npm test -- cluster: the quota of etcd. What it keeps of former revisions is forgotten in time, and a full quota is made usable again.
import { afterEach, expect, test } from 'vitest';
import { watchServers } from '../../appliance/cluster/replication/own-servers.ts';
import { EtcdClient } from '../../core/etcd/client.ts';
import { put } from '../../core/etcd/messages.ts';
import { EtcdError } from '../../core/etcd/outcome.ts';
import { spaceWanted } from '../../core/etcd/space.ts';
import { silentLog } from '../harness/log.ts';
import { type EtcdCluster, startEtcd } from './etcd.ts';

const quota = 64 << 20;
const value = Buffer.alloc(1 << 20, 'x');

let etcd: EtcdCluster;
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) end();
  await etcd.stop();
});

async function start(): Promise<EtcdClient> {
  etcd = await startEtcd(3, { flags: [`--quota-backend-bytes=${quota}`] });
  return connect();
}

function connect(): EtcdClient {
  const client = new EtcdClient({ endpoints: etcd.urls, nowMs: () => performance.now() });
  ends.push(() => client.close());
  return client;
}

/** As the followers of three appliances do. */
function watch(): void {
  for (const { name } of etcd.members) ends.push(watchServers(connect(), name, silentLog, () => undefined));
}

/** The same key again and again: what is stored stays small. Answers the status of what was refused, if anything was. */
async function write(client: EtcdClient, megabytes: number): Promise<number | undefined> {
  for (let n = 0; n < megabytes; n++) {
    try {
      await client.txn({ compare: [], success: [put(Buffer.from('key'), value)], failure: [] }, 10_000);
    } catch (error) {
      if (!(error instanceof EtcdError)) throw error;
      return error.code;
    }
  }
  return undefined;
}

const resourceExhausted = 8;

test('a full quota refuses every change, until the appliance whose etcd leads has made room', async () => {
  const client = await start();
  expect(await write(client, 200)).toBe(resourceExhausted);
  expect(await write(client, 1)).toBe(resourceExhausted);
  const wanted = await Promise.all(etcd.urls.map(async (url) => spaceWanted(await client.status(url))));
  expect(wanted).toEqual(['room', 'room', 'room']);
  watch();
  await expect.poll(() => write(client, 1), { timeout: 60_000, interval: 200 }).toBeUndefined();
  const states = await Promise.all(etcd.urls.map((url) => client.status(url)));
  expect(states.map(spaceWanted)).toEqual(['nothing', 'nothing', 'nothing']);
  expect(states.every(({ dbSize }) => Number(dbSize) < quota / 4)).toBe(true);
});

test('with half of it in use, former revisions are forgotten, and it does not fill', async () => {
  const client = await start();
  expect(await write(client, 40)).toBeUndefined();
  expect(spaceWanted(await client.status(etcd.urls[0] ?? ''))).toBe('compaction');
  watch();
  // Etcd counts what was freed at its next commit; heartbeats are written all the time.
  const inUse = async (): Promise<number> => {
    await client.txn({ compare: [], success: [put(Buffer.from('sign'), Buffer.from('of life'))], failure: [] }, 10_000);
    return Number((await client.status(etcd.urls[0] ?? '')).dbSizeInUse);
  };
  await expect.poll(inUse, { timeout: 60_000, interval: 200 }).toBeLessThan(quota / 4);
  expect(await write(client, 20)).toBeUndefined();
});
