// npm test -- cluster: objects of KMIP are at every member, tied ones, too, and a client that is ended is refused on its open connections to all of them.
import { hash, X509Certificate } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { enumeration, octets } from '../../plugins/kmip/ttlv/item.ts';
import { freePort } from '../harness/daemon.ts';
import { connectKmip, keyAttributes, type KmipClient, nameAttribute, uid } from '../harness/kmip/client.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { selfSignedIdentity } from '../harness/tls.ts';
import { endMember, type Member, prepareCluster, type Shared, startMember } from './daemons.ts';

const path = temporaryDirectory();
const clients = '/v1/config/keystore/kmip-clients';
let shared: Shared;
let members: readonly Member[] = [];
let connections: readonly KmipClient[] = [];

beforeAll(async () => {
  const ports = [await freePort(), await freePort()];
  const sections = (index: number) => ({ sections: { kmip: { listen: `127.0.0.1:${ports[index]}` } } });
  const prepared = await prepareCluster(path);
  const first = await startMember(prepared, 'a', sections(0));
  members = [first];
  shared = { ...prepared, rootToken: first.rootToken };
  const second = await startMember(shared, 'b', sections(1));
  members = [first, second];
  mkdirSync(path('client'));
  const identity = selfSignedIdentity(path('client'));
  const fingerprints = [hash('sha256', new X509Certificate(identity.cert).raw, 'hex')];
  await first.request('POST', '/v1/config/keystore/kmip-spaces', { name: 'arrays' });
  await first.request('POST', clients, { name: 'array', space: 'arrays', fingerprints, 'token-policies': ['root'] });
  connections = await Promise.all(members.map(({ caPem }, index) => connectKmip({ port: ports[index] ?? 0, ca: caPem, ...identity })));
});
afterAll(async () => {
  for (const connection of connections) connection.close();
  for (const member of members) await endMember(member).catch(() => undefined);
  await shared?.etcd.stop();
});

/** Material of an object, hexadecimal. */
async function materialOf(client: KmipClient, id: string): Promise<string> {
  const got = (await client.done('Get', uid(id))).requiredStructure('SymmetricKey').requiredStructure('KeyBlock');
  return Buffer.from(got.requiredStructure('KeyValue').required('KeyMaterial', 'octets')).toString('hex');
}

test('what one member makes the other finds and reads, and what one destroys is gone at the other', async () => {
  const [one, other] = connections as [KmipClient, KmipClient];
  const made = await one.done('Create', enumeration('ObjectType', 'SymmetricKey'), keyAttributes('disk 1'));
  const id = made.required('UniqueIdentifier', 'text');
  expect((await other.done('Locate', nameAttribute('disk 1'))).values('UniqueIdentifier', 'text')).toEqual([id]);
  expect(await materialOf(other, id)).toBe(await materialOf(one, id));
  await other.done('Destroy', uid(id));
  expect(await one.refused('Get', uid(id))).toBe('ItemNotFound');
});

test('an object that one member has tied to a transit key is used at the other', async () => {
  const [one, other] = connections as [KmipClient, KmipClient];
  const [first, second] = members as [Member, Member];
  await first.request('POST', '/v1/config/keystore/transit-keys', { name: 'pages', exportable: true });
  const tied = await second.request('POST', '/v1/state/keystore/kmip-spaces/arrays/tie', { 'transit-key': 'pages' });
  const [id = ''] = (tied as { readonly ids: readonly string[] }).ids;
  const data = Buffer.from('a page');
  const sealed = await one.done('Encrypt', uid(id), octets('Data', data));
  const parts = (['Data', 'IVCounterNonce', 'AuthenticatedEncryptionTag'] as const).map((tag) =>
    octets(tag, sealed.required(tag, 'octets')),
  );
  expect(Buffer.from((await other.done('Decrypt', uid(id), ...parts)).required('Data', 'octets'))).toEqual(data);
});

test('a client that one member disables is refused at its next request on the open connections to both', async () => {
  const [, second] = members as [Member, Member];
  for (const connection of connections) await connection.done('Locate', nameAttribute('none'));
  await second.request('PATCH', `${clients}/array`, { enabled: false });
  for (const connection of connections) expect(await connection.refused('Locate')).toBe('AuthenticationNotSuccessful');
});
