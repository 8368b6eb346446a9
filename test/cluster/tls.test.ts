// npm test -- cluster: etcd with certificates. A client without ours gets nothing, and a server without its own gets nothing of us.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EtcdClient } from '../../core/etcd/client.ts';
import { put, read } from '../../core/etcd/messages.ts';
import { requireFitServers } from '../../core/etcd/version.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { securedIn } from './certificates.ts';
import { type EtcdCluster, startEtcd } from './etcd.ts';

const temporary = temporaryDirectory();
const nowMs = (): number => performance.now();
const secure = securedIn(temporary);
let etcd: EtcdCluster;

const clientWith = (authority: string, identity: string): EtcdClient => secure.clientWith(authority, identity, etcd.urls);

beforeAll(async () => {
  secure.makeAuthority('others');
  secure.issue('intruder', 'others');
  secure.issue('elsewhere', 'ours', '127.0.0.2');
  etcd = await startEtcd(1, { secure });
});

afterAll(() => etcd.stop());

test('an appliance with a certificate of the cluster reads and writes', async () => {
  const client = clientWith('ours', 'appliance');
  await requireFitServers(client);
  const key = Buffer.from('key');
  const { responses } = await client.txn({ compare: [], success: [put(key, Buffer.from('value')), read({ key })], failure: [] });
  expect(responses[1]?.response_range?.kvs[0]?.value.toString()).toBe('value');
  client.close();
});

test('a certificate of another authority is let in nowhere', async () => {
  const client = clientWith('ours', 'intruder');
  await expect(client.range({ key: Buffer.from('key') }, 3_000)).rejects.toThrow('etcd: ');
  await expect(requireFitServers(client)).rejects.toThrow(etcd.urls[0] ?? '');
  client.close();
});

test('a server whose authority we do not know gets nothing of us', async () => {
  const client = clientWith('others', 'appliance');
  await expect(client.range({ key: Buffer.from('key') }, 3_000)).rejects.toThrow('etcd: ');
  client.close();
});

test('a server with our certificate for another address gets nothing of us', async () => {
  const read = (name: string): Buffer => readFileSync(temporary(name));
  const server = createServer({ cert: read('elsewhere.pem'), key: read('elsewhere-key.pem'), ALPNProtocols: ['h2'] });
  let octets = 0;
  server.on('secureConnection', (socket) => socket.on('data', ({ length }) => (octets += length)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { readonly port: number };
  const client = secure.clientWith('ours', 'appliance', [`https://127.0.0.1:${port}`]);
  await expect(client.range({ key: Buffer.from('key') }, 3_000)).rejects.toThrow('does not match');
  client.close();
  server.close();
  expect(octets).toBe(0);
});

test('a renewed certificate is used for all calls that follow, and by a watch that is opened again', async () => {
  secure.issue('renewed', 'ours');
  const pair = (identity: string): NonNullable<ConstructorParameters<typeof EtcdClient>[0]['tls']> => ({
    ca: readFileSync(temporary('ours.pem')),
    certificate: readFileSync(temporary(`${identity}.pem`)),
    key: readFileSync(temporary(`${identity}-key.pem`)),
  });
  const client = clientWith('ours', 'intruder');
  await expect(client.range({ key: Buffer.from('key') }, 3_000)).rejects.toThrow('etcd: ');
  client.renew(pair('renewed'));
  await client.range({ key: Buffer.from('key') }, 3_000);
  const ended = new Promise<Error>((resolve) =>
    client.watch({ range: { key: Buffer.from('key') }, startRevision: 1, onAnswer: () => undefined, onEnd: resolve }),
  );
  expect(() => client.renew({ ...pair('renewed'), key: pair('appliance').key })).toThrow('key values mismatch');
  await client.range({ key: Buffer.from('key') }, 3_000);
  client.renew(pair('intruder'));
  expect(await ended).toMatchObject({ code: 1 });
  await expect(client.range({ key: Buffer.from('key') }, 3_000)).rejects.toThrow('etcd: ');
  client.close();
});

test('without a certificate https is not tried at all', () => {
  expect(() => new EtcdClient({ endpoints: etcd.urls, nowMs })).toThrow('needs a certificate');
});
