// The exchanges of programs that fetch keys by KMIP, in their order and versions, as their sources have them.
import { beforeAll, expect, test } from 'vitest';
import { Fields } from '../../../plugins/kmip/messages/fields.ts';
import { enumerations } from '../../../plugins/kmip/ttlv/enumerations.ts';
import { date, enumeration, integer, type Item, octets, structure, text } from '../../../plugins/kmip/ttlv/item.ts';
import { attribute, keyAttributes, type KmipClient, nameAttribute, uid } from '../../harness/kmip/client.ts';
import { type KmipAppliance, type KmipIdentity, startKmipAppliance } from './kmip-appliance.ts';

let appliance: KmipAppliance;
beforeAll(async () => {
  appliance = await startKmipAppliance();
});

const aKey = enumeration('ObjectType', 'SymmetricKey');
const material = Buffer.alloc(32, 0x5a);
const idOf = (payload: Fields): string => payload.required('UniqueIdentifier', 'text');
const idsOf = (payload: Fields): readonly string[] => payload.values('UniqueIdentifier', 'text');

/** A client entry in a space of its own. */
async function identityOf(name: string): Promise<KmipIdentity> {
  await appliance.makeSpace(name);
  return appliance.makeClient(name, name);
}

/** The octets of a key that Get has answered. */
function keyIn(payload: Fields): Uint8Array {
  return payload
    .requiredStructure('SymmetricKey')
    .requiredStructure('KeyBlock')
    .requiredStructure('KeyValue')
    .required('KeyMaterial', 'octets');
}

function rawKey(value: Buffer): Item {
  return structure(
    'SymmetricKey',
    structure(
      'KeyBlock',
      enumeration('KeyFormatType', 'Raw'),
      structure('KeyValue', octets('KeyMaterial', value)),
      enumeration('CryptographicAlgorithm', 'AES'),
      integer('CryptographicLength', value.length * 8),
    ),
  );
}

/** Connects, does one thing, and disconnects. */
async function once<T>(identity: KmipIdentity, version: string, act: (client: KmipClient) => Promise<T>): Promise<T> {
  const client = await appliance.connect(identity, version);
  const done = await act(client);
  client.close();
  return done;
}

test('Ceph makes a key with a name, finds it by that, and reads it; the header has a time and a size', async () => {
  const client = await appliance.connect(await identityOf('ceph'), '1.0');
  const header = [integer('MaximumResponseSize', 8_192), date('TimeStamp', 1_700_000_000)];
  const [made] = await client.ask([['Create', aKey, keyAttributes('rgw/bucket one')]], header);
  const [found] = await client.ask([['Locate', nameAttribute('rgw/bucket one')]], header);
  expect(idsOf(found?.payload ?? new Fields([]))).toEqual([made?.payload.value('UniqueIdentifier', 'text')]);
  const [got] = await client.ask([['Get', uid(idOf(made?.payload ?? new Fields([])))]], header);
  expect(keyIn(got?.payload ?? new Fields([]))).toHaveLength(32);
});

test('pg_tde registers with 1.4, finds and reads with 1.0, each time over a new connection; it must find one of a name, or none', async () => {
  const identity = await identityOf('pg-tde');
  const locate = (name: string) => once(identity, '1.0', async (client) => idsOf(await client.done('Locate', nameAttribute(name))));
  expect(await locate('tde-principal-key')).toEqual([]);
  const id = await once(identity, '1.4', async (client) =>
    idOf(await client.done('Register', aKey, keyAttributes('tde-principal-key'), rawKey(material))),
  );
  expect(await locate('tde-principal-key')).toEqual([id]);
  expect(Buffer.from(await once(identity, '1.0', async (client) => keyIn(await client.done('Get', uid(id)))))).toEqual(material);
});

test('Percona Server for MySQL mixes 1.4 and 1.0 on a connection, and finds its keys and secrets by group', async () => {
  const client = await appliance.connect(await identityOf('percona-mysql'), '1.4');
  const group = attribute('Object Group', (tag) => text(tag, 'mysql'));
  const key = idOf(await client.done('Register', aKey, keyAttributes('INNODBKey-1', group), rawKey(material)));
  const secretData = structure(
    'SecretData',
    enumeration('SecretDataType', 'Password'),
    structure('KeyBlock', enumeration('KeyFormatType', 'Opaque'), structure('KeyValue', octets('KeyMaterial', Buffer.from('secret')))),
  );
  const mask = attribute('Cryptographic Usage Mask', (tag) => integer(tag, 0));
  const attributes = structure('TemplateAttribute', mask, nameAttribute('secret-1'), group);
  const secret = idOf(await client.done('Register', enumeration('ObjectType', 'SecretData'), attributes, secretData));
  client.version = '1.0';
  for (const id of [key, secret]) await client.done('Activate', uid(id));
  expect(new Set(idsOf(await client.done('Locate', group)))).toEqual(new Set([key, secret]));
  expect(new Set(idsOf(await client.done('Locate')))).toEqual(new Set([key, secret]));
  const [name] = (await client.done('GetAttributes', uid(key), text('AttributeName', 'Name'))).values('Attribute', 'structure');
  expect(new Fields(name ?? []).requiredStructure('AttributeValue').value('NameValue', 'text')).toBe('INNODBKey-1');
  expect(Buffer.from(keyIn(await client.done('Get', uid(key))))).toEqual(material);
  await client.done('Revoke', uid(key), structure('RevocationReason', enumeration('RevocationReasonCode', 'Unspecified')));
  await client.done('Destroy', uid(key));
  expect(idsOf(await client.done('Locate', group))).toEqual([secret]);
});

test('Percona Server for MongoDB asks for the state again and again, and tells a key that is not there from other failures', async () => {
  const client = await appliance.connect(await identityOf('percona-mongodb'), '1.0');
  const id = idOf(await client.done('Register', aKey, keyAttributes(), rawKey(material)));
  const stateOf = async (): Promise<unknown> => {
    const [state] = (await client.done('GetAttributes', uid(id), text('AttributeName', 'State'))).values('Attribute', 'structure');
    return new Fields(state ?? []).value('AttributeValue', 'enumeration');
  };
  expect(await stateOf()).toBe(enumerations.State.PreActive);
  await client.done('Activate', uid(id));
  const got = await client.done('Get', uid(id));
  expect([idOf(got), Buffer.from(keyIn(got))]).toEqual([id, material]);
  for (let count = 0; count < 3; count++) expect(await stateOf()).toBe(enumerations.State.Active);
  expect(await client.refused('Get', uid('no such key'))).toBe('ItemNotFound');
});

test('a client in Go asks for versions first with a header of 1.1, and makes and activates a key in one batch', async () => {
  const client = await appliance.connect(await identityOf('go'), '1.1');
  const known = [4, 3, 2, 1, 0].map((minor) =>
    structure('ProtocolVersion', integer('ProtocolVersionMajor', 1), integer('ProtocolVersionMinor', minor)),
  );
  const [first] = (await client.done('DiscoverVersions', ...known)).values('ProtocolVersion', 'structure');
  client.version = `1.${new Fields(first ?? []).value('ProtocolVersionMinor', 'integer')}`;
  expect(client.version).toBe('1.4');
  const answers = await client.ask([['Create', aKey, keyAttributes('go')], ['Activate']]);
  expect(answers.map(({ operation, status }) => [operation, status])).toEqual([
    ['Create', 'Success'],
    ['Activate', 'Success'],
  ]);
});

test('a tape library changes what it has noted of a key, and checks its use', async () => {
  const client = await appliance.connect(await identityOf('tape'), '1.2');
  const id = idOf(await client.done('Create', aKey, keyAttributes('LTO-1')));
  const label = (value: string) => attribute('x-Barcode', (tag) => text(tag, value));
  await client.done('AddAttribute', uid(id), label('AAA001'));
  await client.done('ModifyAttribute', uid(id), label('AAA002'));
  await client.done('Activate', uid(id));
  const [read] = (await client.done('GetAttributes', uid(id), text('AttributeName', 'x-Barcode'))).values('Attribute', 'structure');
  expect(new Fields(read ?? []).value('AttributeValue', 'text')).toBe('AAA002');
  await client.done('DeleteAttribute', uid(id), text('AttributeName', 'x-Barcode'));
  const allowed = await client.done('Check', uid(id), integer('CryptographicUsageMask', 4));
  expect(allowed.value('CryptographicUsageMask', 'integer')).toBeUndefined();
  expect(await client.refused('Destroy', uid(id))).toBe('PermissionDenied');
});
