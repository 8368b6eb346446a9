// Tests of messages of KMIP at the listener: versions, batches, failures, sizes, and who is answered.
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { enumerations } from '../../../plugins/kmip/ttlv/enumerations.ts';
import { boolean, date, enumerated, enumeration, integer, type Item, octets, structure, text } from '../../../plugins/kmip/ttlv/item.ts';
import { writeItem } from '../../../plugins/kmip/ttlv/write.ts';
import { Fields } from '../../../plugins/kmip/messages/fields.ts';
import { readItem } from '../../../plugins/kmip/ttlv/read.ts';
import { answersIn, attribute, keyAttributes, type KmipClient, nameAttribute, uid } from '../../harness/kmip/client.ts';
import { selfSignedIdentity } from '../../harness/tls.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { clients, type KmipAppliance, type KmipIdentity, startKmipAppliance } from './kmip-appliance.ts';

const at = temporaryDirectory();
let appliance: KmipAppliance;
let identity: KmipIdentity;
let client: KmipClient;
beforeAll(async () => {
  appliance = await startKmipAppliance();
  await appliance.makeSpace('main');
  identity = await appliance.makeClient('main', 'main');
  client = await appliance.connect(identity);
});

const aKey = enumeration('ObjectType', 'SymmetricKey');
const idOf = (payload: Fields): string => payload.required('UniqueIdentifier', 'text');
const create = async (name?: string): Promise<string> => idOf(await client.done('Create', aKey, keyAttributes(name)));

describe('who is answered', () => {
  test('a client without a certificate gets no answer', async () => {
    const bare = await appliance.connect(undefined);
    await expect(bare.ask([['Query', enumeration('QueryFunction', 'QueryOperations')]])).rejects.toThrow('without an answer');
  });

  test('a certificate of nobody is refused for every item, recorded, and its connection ends', async () => {
    const unknown = await appliance.connect(selfSignedIdentity(at()));
    const asked = await unknown.ask([
      ['Query', enumeration('QueryFunction', 'QueryOperations')],
      ['Locate', integer('MaximumItems', 1)],
    ]);
    expect(asked.map(({ reason }) => reason)).toEqual(['AuthenticationNotSuccessful', 'AuthenticationNotSuccessful']);
    await expect(unknown.receive()).rejects.toThrow('ended');
    expect(recordsOf('kmip-client-unknown')).toEqual([
      expect.objectContaining({
        via: 'kmip',
        status: 401,
        'request-parameters': { fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/) as string },
      }),
    ]);
  });

  test('a client that is disabled is refused at the next request of its open connection', async () => {
    const own = await appliance.connect(await appliance.makeClient('leaver', 'main'));
    await own.done('Locate', integer('MaximumItems', 1));
    await appliance.must('PATCH', `${clients}/leaver`, { enabled: false });
    expect(await own.refused('Locate', integer('MaximumItems', 1))).toBe('AuthenticationNotSuccessful');
    await expect(own.receive()).rejects.toThrow('ended');
  });

  test('clients of other spaces do not see an object, nor that it is there', async () => {
    await appliance.makeSpace('other');
    const other = await appliance.connect(await appliance.makeClient('other', 'other'));
    const id = await create('secret of main');
    expect(await other.refused('Get', uid(id))).toBe('ItemNotFound');
    expect(await other.refused('Destroy', uid(id))).toBe('ItemNotFound');
    expect((await other.done('Locate', nameAttribute('secret of main'))).all('UniqueIdentifier')).toEqual([]);
  });

  test('username and password are ignored beside a certificate, empty ones, too', async () => {
    const credential = structure(
      'Authentication',
      structure(
        'Credential',
        enumeration('CredentialType', 'UsernameAndPassword'),
        structure('CredentialValue', text('Username', ''), text('Password', '')),
      ),
    );
    const [answer] = await client.ask([['Locate', integer('MaximumItems', 1)]], [credential]);
    expect(answer?.status).toBe('Success');
  });

  test('nothing is done while the appliance is sealed', async () => {
    const own = await appliance.connect(identity);
    appliance.setSealed(true);
    try {
      expect(await own.refused('Create', aKey, keyAttributes())).toBe('GeneralFailure');
    } finally {
      appliance.setSealed(false);
    }
  });
});

describe('versions', () => {
  test.each(['1.0', '1.1', '1.2', '1.3', '1.4', '2.0', '2.1'])('a key is made, found, read and destroyed in %s', async (version) => {
    const own = await appliance.connect(identity, version);
    const isTyped = version.startsWith('2');
    const name = `key of ${version}`;
    const named = structure('Name', text('NameValue', name), enumeration('NameType', 'UninterpretedTextString'));
    const attributes = isTyped
      ? structure(
          'Attributes',
          enumeration('CryptographicAlgorithm', 'AES'),
          integer('CryptographicLength', 256),
          integer('CryptographicUsageMask', 12),
          named,
        )
      : keyAttributes(name);
    const id = idOf(await own.done('Create', aKey, attributes));
    const found = await own.done('Locate', isTyped ? structure('Attributes', named) : nameAttribute(name));
    expect(found.values('UniqueIdentifier', 'text')).toEqual([id]);
    const got = await own.done('Get', uid(id));
    const block = got.requiredStructure('SymmetricKey').requiredStructure('KeyBlock');
    expect(block.requiredStructure('KeyValue').required('KeyMaterial', 'octets')).toHaveLength(32);
    expect(block.value('CryptographicLength', 'integer')).toBe(256);
    await own.done('Destroy', uid(id));
    expect((await own.done('Locate', isTyped ? structure('Attributes', named) : nameAttribute(name))).all('UniqueIdentifier')).toEqual([]);
  });

  test('DiscoverVersions says those of the client that are spoken, newest first', async () => {
    const own = await appliance.connect(identity, '1.1');
    const version = (major: number, minor: number) =>
      structure('ProtocolVersion', integer('ProtocolVersionMajor', major), integer('ProtocolVersionMinor', minor));
    const said = await own.done('DiscoverVersions', version(1, 2), version(1, 4), version(3, 0));
    const minors = said.values('ProtocolVersion', 'structure').map((one) => new Fields(one).value('ProtocolVersionMinor', 'integer'));
    expect(minors).toEqual([4, 2]);
    expect((await own.done('DiscoverVersions')).all('ProtocolVersion')).toHaveLength(7);
  });

  test('a version that is not spoken is answered in one that any client reads', async () => {
    const own = await appliance.connect(identity, '3.7');
    const answer = await own.exchange(own.message([['Locate']]));
    expect(answersIn(answer)).toEqual([expect.objectContaining({ status: 'OperationFailed', reason: 'InvalidMessage' })]);
    const again = await appliance.connect(identity, '1.0');
    await again.done('Locate', integer('MaximumItems', 1));
  });

  test('an operation that a version does not have, or nobody offers, is not supported', async () => {
    const own = await appliance.connect(identity, '1.0');
    expect(await own.refused('DiscoverVersions')).toBe('OperationNotSupported');
    expect(await client.refused('DeriveKey')).toBe('OperationNotSupported');
  });

  test('Query names the operations of the version, and the objects that are kept', async () => {
    const own = await appliance.connect(identity, '1.0');
    const said = await own.done('Query', enumeration('QueryFunction', 'QueryOperations'), enumeration('QueryFunction', 'QueryObjects'));
    const operations = said.values('Operation', 'enumeration');
    expect(operations).toContain(enumerations.Operation.Locate);
    expect(operations).not.toContain(enumerations.Operation.DiscoverVersions);
    expect(said.values('ObjectType', 'enumeration')).toEqual([1, 2, 3, 4, 6, 7, 8]);
  });
});

describe('batches', () => {
  test('an operation without an identifier is about the object of the one before it', async () => {
    const answers = await client.ask([['Create', aKey, keyAttributes()], ['Activate'], ['Get']]);
    expect(answers.map(({ status }) => status)).toEqual(['Success', 'Success', 'Success']);
    expect(new Set(answers.map(({ payload }) => idOf(payload))).size).toBe(1);
  });

  test('a search that finds none or several, and a failure, leave no object to the operation behind them', async () => {
    const id = await create();
    for (const between of [
      ['Locate', nameAttribute('of nobody')],
      ['Locate', integer('MaximumItems', 2)],
      ['Activate', uid('00000000-0000-7000-8000-000000000000')],
      ['DeriveKey'],
    ] as const) {
      const answers = await client.ask(
        [['GetAttributeList', uid(id)], between, ['Destroy']],
        [enumeration('BatchErrorContinuationOption', 'Continue')],
      );
      expect([between[0], answers[2]?.reason]).toEqual([between[0], 'MissingData']);
    }
    const kept = await client.ask([['Get', uid(id)], ['Query', enumeration('QueryFunction', 'QueryObjects')], ['Destroy']]);
    expect(kept.map(({ status }) => status)).toEqual(['Success', 'Success', 'Success']);
  });

  test('identifiers of items are given back, in their order', async () => {
    const message = client.message([
      ['Locate', integer('MaximumItems', 1)],
      ['Locate', integer('MaximumItems', 1)],
    ]);
    const answer = await client.exchange(message);
    const items = answer.type === 'structure' ? new Fields(answer.value).values('BatchItem', 'structure') : [];
    expect(items.map((item) => new Fields(item).value('UniqueBatchItemID', 'octets'))).toEqual([Buffer.of(0), Buffer.of(1)]);
  });

  test('Stop, which is usual, ends a batch with the first failure', async () => {
    const answers = await client.ask([
      ['Create', aKey, keyAttributes()],
      ['Get', uid('nothing')],
      ['Create', aKey, keyAttributes()],
    ]);
    expect(answers.map(({ status }) => status)).toEqual(['Success', 'OperationFailed']);
  });

  test('Continue goes on behind it', async () => {
    const answers = await client.ask(
      [
        ['Get', uid('nothing')],
        ['Create', aKey, keyAttributes()],
      ],
      [enumeration('BatchErrorContinuationOption', 'Continue')],
    );
    expect(answers.map(({ status }) => status)).toEqual(['OperationFailed', 'Success']);
  });

  test('Undo takes back what was done before it', async () => {
    const kept = await create();
    const color = (value: string) => attribute('x-color', (tag) => text(tag, value));
    await client.done('AddAttribute', uid(kept), color('red'));
    const answers = await client.ask(
      [
        ['Create', aKey, keyAttributes('undone')],
        ['ModifyAttribute', uid(kept), color('blue')],
        ['AddAttribute', uid(kept), attribute('x-more', (tag) => integer(tag, 1))],
        ['Get', uid('nothing')],
      ],
      [enumeration('BatchErrorContinuationOption', 'Undo')],
    );
    expect(answers.map(({ status }) => status)).toEqual(['OperationUndone', 'OperationUndone', 'OperationUndone', 'OperationFailed']);
    expect((await client.done('Locate', nameAttribute('undone'))).all('UniqueIdentifier')).toEqual([]);
    const left = await client.done('GetAttributes', uid(kept), text('AttributeName', 'x-color'), text('AttributeName', 'x-more'));
    expect(left.values('Attribute', 'structure').map((one) => new Fields(one).value('AttributeValue', 'text'))).toEqual(['red']);
  });

  test('what cannot be undone may only come last in a batch with Undo, and nothing of it is done otherwise', async () => {
    const id = await create();
    const answers = await client.ask(
      [
        ['Activate', uid(id)],
        ['Get', uid(id)],
      ],
      [enumeration('BatchErrorContinuationOption', 'Undo')],
    );
    expect(answers.map(({ reason }) => reason)).toEqual(['FeatureNotSupported']);
    const state = await client.done('GetAttributes', uid(id), text('AttributeName', 'State'));
    const [found] = state.values('Attribute', 'structure').map((one) => new Fields(one).value('AttributeValue', 'enumeration'));
    expect(found).toBe(enumerations.State.PreActive);
  });

  test('an attribute that nobody can take away again cannot be undone', async () => {
    const id = await create();
    const later = attribute('Deactivation Date', (tag) => date(tag, 4_000_000_000));
    const answers = await client.ask(
      [
        ['AddAttribute', uid(id), later],
        ['Get', uid('nothing')],
      ],
      [enumeration('BatchErrorContinuationOption', 'Undo')],
    );
    expect(answers.map(({ reason }) => reason)).toEqual(['FeatureNotSupported']);
  });

  test('a Batch Count that is not that of the items is refused', async () => {
    const message = client.message([['Locate', integer('MaximumItems', 1)]]);
    const items = message.type === 'structure' ? message.value : [];
    const answer = await client.exchange(structure('RequestMessage', ...[items[0], items[1], items[1]].filter((one) => one !== undefined)));
    expect(answersIn(answer)[0]?.reason).toBe('InvalidMessage');
  });

  test('more than 128 items are refused as a whole', async () => {
    const answers = await client.ask(Array.from({ length: 129 }, () => ['Locate', integer('MaximumItems', 1)] as const));
    expect(answers.map(({ reason }) => reason)).toEqual(['InvalidMessage']);
  });
});

describe('sizes and forms', () => {
  test('an answer above Maximum Response Size is refused with its reason', async () => {
    const [answer] = await client.ask([['Query', enumeration('QueryFunction', 'QueryOperations')]], [integer('MaximumResponseSize', 256)]);
    expect(answer).toMatchObject({ status: 'OperationFailed', reason: 'ResponseTooLarge' });
  });

  test('an operation whose answer is too long was not done, and a batch ends with it', async () => {
    const size = (octets: number) => integer('MaximumResponseSize', octets);
    const id = await create();
    const answers = await client.ask(
      [
        ['GetAttributes', uid(id)],
        ['Destroy', uid(id)],
      ],
      [size(700)],
    );
    expect(answers.map(({ reason }) => reason)).toEqual(['ResponseTooLarge']);
    await client.done('Get', uid(id));
    const [made] = await client.ask([['Create', aKey, keyAttributes('too small')]], [size(300)]);
    expect(made?.reason).toBe('ResponseTooLarge');
    expect((await client.done('Locate', nameAttribute('too small'))).all('UniqueIdentifier')).toEqual([]);
    const long = attribute('x-long', (tag) => text(tag, 'a'.repeat(500)));
    const [added] = await client.ask([['AddAttribute', uid(id), long]], [size(700)]);
    expect(added?.reason).toBe('ResponseTooLarge');
    const left = await client.done('GetAttributes', uid(id), text('AttributeName', 'x-long'));
    expect(left.values('Attribute', 'structure')).toEqual([]);
  });

  test('a message extension that is critical is refused, any other passed over', async () => {
    const withExtension = async (isCritical: boolean) => {
      const message = client.message([['Locate', integer('MaximumItems', 1)]]);
      const [header, item] = message.type === 'structure' ? message.value : [];
      const extension = structure(
        'MessageExtension',
        text('VendorIdentification', 'acme'),
        boolean('CriticalityIndicator', isCritical),
        structure('VendorExtension'),
      );
      const batch = structure('BatchItem', ...(item?.type === 'structure' ? item.value : []), extension);
      return answersIn(await client.exchange(structure('RequestMessage', header, batch)))[0];
    };
    expect((await withExtension(false))?.status).toBe('Success');
    expect((await withExtension(true))?.reason).toBe('FeatureNotSupported');
  });

  test('messages in pieces and several in one piece are answered one after another', async () => {
    const own = await appliance.connect(identity);
    const message = writeItem(own.message([['Locate', integer('MaximumItems', 1)]]));
    for (const octet of message) own.socket.write(Buffer.of(octet));
    expect(answersIn(readItem(await own.receive()))[0]?.status).toBe('Success');
    own.socket.write(Buffer.concat([message, message, message]));
    for (let count = 0; count < 3; count++) expect(answersIn(readItem(await own.receive()))[0]?.status).toBe('Success');
  });

  test.each([
    ['octets that are not TTLV', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
    ['a length above a mebibyte', Buffer.from('4200780100100008', 'hex')],
    ['a message that breaks off inside', Buffer.from('4200780100000008420077010000ffff', 'hex')],
  ])('%s end the connection with the reason', async (_what, sent) => {
    const own = await appliance.connect(identity);
    const [answer] = answersIn(readItem(await own.exchangeOctets(sent)));
    expect(answer).toMatchObject({ reason: 'InvalidMessage', message: expect.stringMatching(/^The message /) });
    await expect(own.receive()).rejects.toThrow('ended');
  });

  test('an index that a client chooses leaves room for the ones behind it', async () => {
    const group = (value: string, index?: number) => attribute('Object Group', (tag) => text(tag, value), index);
    const id = await create();
    await client.done('AddAttribute', uid(id), group('first', 0x7fff_ffff));
    await client.done('AddAttribute', uid(id), group('second'));
    const said = await client.done('GetAttributes', uid(id), text('AttributeName', 'Object Group'));
    const indexes = said.values('Attribute', 'structure').map((one) => new Fields(one).value('AttributeIndex', 'integer'));
    expect(indexes).toEqual([0, 1]);
  });

  test('a field of another type, an unknown value and a missing one each have their reason', async () => {
    expect(await client.refused('Create', aKey, integer('TemplateAttribute', 1))).toBe('InvalidField');
    expect(await client.refused('Create', enumerated('ObjectType', 77))).toBe('InvalidField');
    expect(await client.refused('Register', aKey)).toBe('MissingData');
    expect(await client.refused('Get')).toBe('MissingData');
    const wrong = structure(
      'TemplateAttribute',
      attribute('Cryptographic Length', (tag) => text(tag, '256')),
    );
    expect(await client.refused('Create', aKey, wrong)).toBe('InvalidField');
  });
});

describe('objects', () => {
  const block = (material: Buffer, format: 'Raw' | 'Opaque' | 'TransparentSymmetricKey' = 'Raw') =>
    structure(
      'KeyBlock',
      enumeration('KeyFormatType', format),
      structure(
        'KeyValue',
        format === 'TransparentSymmetricKey' ? structure('KeyMaterial', octets('Key', material)) : octets('KeyMaterial', material),
      ),
      enumeration('CryptographicAlgorithm', 'AES'),
      integer('CryptographicLength', material.length * 8),
    );
  const mask = structure(
    'TemplateAttribute',
    attribute('Cryptographic Usage Mask', (tag) => integer(tag, 12)),
  );

  test('a key that is registered in either form is read in either', async () => {
    const material = Buffer.alloc(32, 0xa5);
    for (const format of ['Raw', 'TransparentSymmetricKey'] as const) {
      const id = idOf(await client.done('Register', aKey, mask, structure('SymmetricKey', block(material, format))));
      const raw = (await client.done('Get', uid(id))).requiredStructure('SymmetricKey').requiredStructure('KeyBlock');
      expect(raw.requiredStructure('KeyValue').required('KeyMaterial', 'octets')).toEqual(material);
      const asked = await client.done('Get', uid(id), enumeration('KeyFormatType', 'TransparentSymmetricKey'));
      const transparent = asked.requiredStructure('SymmetricKey').requiredStructure('KeyBlock').requiredStructure('KeyValue');
      expect(transparent.requiredStructure('KeyMaterial').required('Key', 'octets')).toEqual(material);
    }
  });

  test('secret data and opaque objects are read as they were registered', async () => {
    const secret = structure('SecretData', enumeration('SecretDataType', 'Password'), block(Buffer.from('s3cret'), 'Opaque'));
    const plain = structure(
      'SecretData',
      enumeration('SecretDataType', 'Password'),
      structure('KeyBlock', enumeration('KeyFormatType', 'Opaque'), structure('KeyValue', octets('KeyMaterial', Buffer.from('s3cret')))),
    );
    expect(secret.type).toBe('structure');
    const id = idOf(await client.done('Register', enumeration('ObjectType', 'SecretData'), mask, plain));
    const got = (await client.done('Get', uid(id))).requiredStructure('SecretData');
    expect(got.word('SecretDataType')).toBe('Password');
    expect(got.requiredStructure('KeyBlock').requiredStructure('KeyValue').required('KeyMaterial', 'octets')).toEqual(
      Buffer.from('s3cret'),
    );
    const opaque = structure('OpaqueObject', enumerated('OpaqueDataType', 0x8000_0001), octets('OpaqueDataValue', Buffer.from('anything')));
    const other = idOf(await client.done('Register', enumeration('ObjectType', 'OpaqueObject'), structure('TemplateAttribute'), opaque));
    const back = (await client.done('Get', uid(other))).requiredStructure('OpaqueObject');
    expect(back.required('OpaqueDataValue', 'octets')).toEqual(Buffer.from('anything'));
    expect(back.required('OpaqueDataType', 'enumeration')).toBe(0x8000_0001);
  });

  test('what a key block says otherwise than the attributes is refused', async () => {
    const other = structure(
      'TemplateAttribute',
      attribute('Cryptographic Length', (tag) => integer(tag, 128)),
    );
    expect(await client.refused('Register', aKey, other, structure('SymmetricKey', block(Buffer.alloc(32))))).toBe('InvalidField');
  });

  test('an attribute of a client keeps its type and its structure', async () => {
    const id = await create();
    const nested = attribute('x-place', (tag) => structure(tag, text('Description', 'Berlin'), integer('SerialNumber', 7)));
    await client.done('AddAttribute', uid(id), nested);
    const [read] = (await client.done('GetAttributes', uid(id), text('AttributeName', 'x-place'))).values('Attribute', 'structure');
    const value = new Fields(read ?? []).requiredStructure('AttributeValue');
    expect([value.value('Description', 'text'), value.value('SerialNumber', 'integer')]).toEqual(['Berlin', 7]);
    const two = await appliance.connect(identity, '2.0');
    const reference = structure('AttributeReference', text('VendorIdentification', 'x'), text('AttributeName', 'place'));
    const typed = (await two.done('GetAttributes', uid(id), reference)).requiredStructure('Attributes').requiredStructure('Attribute');
    expect(typed.requiredStructure('AttributeValue').value('Description', 'text')).toBe('Berlin');
  });
});

function recordsOf(code: string): readonly unknown[] {
  const directory = join(appliance.directory, 'audit');
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files
    .flatMap((file) => readFileSync(join(file.parentPath, file.name), 'utf8').split('\n'))
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as { readonly code?: string })
    .filter((record) => record.code === code);
}

describe('username and password', () => {
  const credential = (username: string, password: string) =>
    structure(
      'Authentication',
      structure(
        'Credential',
        enumeration('CredentialType', 'UsernameAndPassword'),
        structure('CredentialValue', text('Username', username), text('Password', password)),
      ),
    );

  test('are demanded where the entry has them; others are refused, recorded, and end the connection', async () => {
    const demanding = await appliance.makeClient('demanding', 'main', { username: 'array', password: 'correct horse' });
    const asked = [['Locate', integer('MaximumItems', 1)]] as const;
    for (const header of [[], [credential('array', 'battery')], [credential('other', 'correct horse')], [credential('', '')]]) {
      const refused = await appliance.connect(demanding);
      expect((await refused.ask(asked, header)).map(({ reason }) => reason)).toEqual(['AuthenticationNotSuccessful']);
      await expect(refused.receive()).rejects.toThrow('ended');
    }
    const right = await appliance.connect(demanding);
    expect((await right.ask(asked, [credential('array', 'correct horse')]))[0]?.status).toBe('Success');
    const whose = { tenant: expect.any(String), 'tenant-id': expect.any(String) };
    const refusal = expect.objectContaining({ ...whose, 'request-parameters': expect.objectContaining({ client: 'demanding' }) });
    expect(recordsOf('kmip-credentials-wrong')).toEqual([refusal, refusal, refusal, refusal]);
    const shown = (await appliance.must('GET', `${clients.replace('config', 'state')}/demanding`)) as object;
    expect(shown).toMatchObject({ username: 'array', 'password-set': true });
    expect(JSON.stringify(shown)).not.toContain('correct horse');
    const change = (fields: object) => appliance.request('PATCH', `${clients}/demanding`, fields);
    expect((await change({ username: null, password: 'another one' })).body).toMatchObject({ code: 'invalid-value' });
    expect((await change({ username: 'disk' })).status).toBe(204);
    expect((await (await appliance.connect(demanding)).ask(asked, [credential('disk', 'correct horse')]))[0]?.status).toBe('Success');
    expect((await change({ username: null, password: null })).status).toBe(204);
    const freed = (await appliance.must('GET', `${clients.replace('config', 'state')}/demanding`)) as Record<string, unknown>;
    expect([freed['username'], freed['password-set']]).toEqual([undefined, false]);
    expect((await (await appliance.connect(demanding)).ask(asked))[0]?.status).toBe('Success');
  });
});

describe('what left', () => {
  const leftTime = async (id: string): Promise<unknown> =>
    ((await appliance.must('GET', `/v1/state/keystore/kmip-spaces/main/objects/${id}`)) as Record<string, unknown>)['left-time'];

  test('is what was answered: a Get that is refused on its way has not left', async () => {
    const id = await create();
    // The wrapping key takes blocks of eight octets only; an answer may be too long.
    const odd = await client.done(
      'Register',
      enumeration('ObjectType', 'SecretData'),
      structure('TemplateAttribute'),
      structure(
        'SecretData',
        enumeration('SecretDataType', 'Password'),
        structure('KeyBlock', enumeration('KeyFormatType', 'Opaque'), structure('KeyValue', octets('KeyMaterial', Buffer.alloc(1_500, 1)))),
      ),
    );
    const secret = idOf(odd);
    const under = idOf(
      await client.done(
        'Create',
        aKey,
        structure(
          'TemplateAttribute',
          attribute('Cryptographic Algorithm', (tag) => enumerated(tag, enumerations.CryptographicAlgorithm.AES)),
          attribute('Cryptographic Length', (tag) => integer(tag, 256)),
          attribute('Cryptographic Usage Mask', (tag) => integer(tag, 0x30)),
          attribute('Activation Date', (tag) => date(tag, 1)),
        ),
      ),
    );
    const wrapping = structure(
      'KeyWrappingSpecification',
      enumeration('WrappingMethod', 'Encrypt'),
      structure('EncryptionKeyInformation', uid(under)),
      enumeration('EncodingOption', 'NoEncoding'),
    );
    expect(await client.refused('Get', uid(secret), wrapping)).toBe('InvalidField');
    const [long] = await client.ask([['Get', uid(secret)]], [integer('MaximumResponseSize', 1_024)]);
    expect([long?.reason, await leftTime(secret), await leftTime(id)]).toEqual(['ResponseTooLarge', undefined, undefined]);
    await client.done('Get', uid(id), wrapping);
    await client.done('Get', uid(secret));
    expect([typeof (await leftTime(id)), typeof (await leftTime(secret))]).toEqual(['string', 'string']);
  });
});

describe('objects that other objects are made of', () => {
  test('a pair of keys is made in the token, with a Link from each half to the other', async () => {
    const made = await client.done(
      'CreateKeyPair',
      structure(
        'CommonTemplateAttribute',
        attribute('Cryptographic Algorithm', (tag) => enumerated(tag, enumerations.CryptographicAlgorithm.EC)),
        attribute('Cryptographic Domain Parameters', (tag) => structure(tag, enumeration('RecommendedCurve', 'P_256'))),
      ),
      structure(
        'PrivateKeyTemplateAttribute',
        attribute('Cryptographic Usage Mask', (tag) => integer(tag, 1)),
        nameAttribute('half'),
      ),
      structure(
        'PublicKeyTemplateAttribute',
        attribute('Cryptographic Usage Mask', (tag) => integer(tag, 2)),
      ),
    );
    const [privateId, publicId] = (['PrivateKeyUniqueIdentifier', 'PublicKeyUniqueIdentifier'] as const).map((tag) =>
      made.required(tag, 'text'),
    ) as [string, string];
    const material = async (id: string, tag: 'PrivateKey' | 'PublicKey') =>
      Buffer.from(
        (await client.done('Get', uid(id)))
          .requiredStructure(tag)
          .requiredStructure('KeyBlock')
          .requiredStructure('KeyValue')
          .required('KeyMaterial', 'octets'),
      );
    const privateKey = createPrivateKey({ key: await material(privateId, 'PrivateKey'), format: 'der', type: 'pkcs8' });
    const publicKey = createPublicKey({ key: await material(publicId, 'PublicKey'), format: 'der', type: 'spki' });
    expect(createPublicKey(privateKey).equals(publicKey)).toBe(true);
    const links = (await client.done('GetAttributes', uid(publicId), text('AttributeName', 'Link'))).values('Attribute', 'structure');
    expect(JSON.stringify(links)).toContain(privateId);
    const twisted = attribute('Cryptographic Algorithm', (tag) => enumerated(tag, enumerations.CryptographicAlgorithm.DSA));
    expect(await client.refused('CreateKeyPair', structure('CommonTemplateAttribute', twisted))).toBe('InvalidField');
  });

  test('a template gives its attributes by its name, but for those that the request states, and exists up to 1.4 only', async () => {
    const register = [
      'Register',
      enumeration('ObjectType', 'Template'),
      structure('TemplateAttribute'),
      structure(
        'Template',
        nameAttribute('for disks'),
        attribute('Object Group', (tag) => text(tag, 'disks')),
        attribute('Cryptographic Usage Mask', (tag) => integer(tag, 4)),
      ),
    ] as const;
    await client.done(...register);
    const from = (name: string) =>
      structure(
        'TemplateAttribute',
        structure('Name', text('NameValue', name), enumeration('NameType', 'UninterpretedTextString')),
        ...(keyAttributes('disk 1').value as readonly Item[]),
      );
    const id = idOf(await client.done('Create', aKey, from('for disks')));
    const named = [text('AttributeName', 'Object Group'), text('AttributeName', 'Cryptographic Usage Mask'), text('AttributeName', 'Name')];
    const seen = (await client.done('GetAttributes', uid(id), ...named)).values('Attribute', 'structure');
    const values = seen.map((items) => new Fields(items).item('AttributeValue')?.value);
    expect(values).toEqual([12, expect.anything(), 'disks']);
    expect(await client.refused('Create', aKey, from('for nobody'))).toBe('ItemNotFound');
    const newer = await appliance.connect(identity, '2.0');
    expect(await newer.refused(...register)).toBe('InvalidField');
  });

  test('a key that is registered wrapped leaves as it came, and wraps nothing', async () => {
    const wrappingData = structure(
      'KeyWrappingData',
      enumeration('WrappingMethod', 'Encrypt'),
      structure('EncryptionKeyInformation', uid('42'), structure('CryptographicParameters', enumeration('BlockCipherMode', 'NISTKeyWrap'))),
    );
    const wrapped = Buffer.alloc(40, 7);
    const block = structure(
      'KeyBlock',
      enumeration('KeyFormatType', 'Raw'),
      octets('KeyValue', wrapped),
      enumeration('CryptographicAlgorithm', 'AES'),
      integer('CryptographicLength', 256),
      wrappingData,
    );
    const mask = structure(
      'TemplateAttribute',
      attribute('Cryptographic Usage Mask', (tag) => integer(tag, 0x30)),
      attribute('Activation Date', (tag) => date(tag, 1)),
    );
    const id = idOf(await client.done('Register', aKey, mask, structure('SymmetricKey', block)));
    const got = (await client.done('Get', uid(id))).requiredStructure('SymmetricKey').structure('KeyBlock');
    expect(got?.item('KeyWrappingData')).toEqual(wrappingData);
    expect(Buffer.from(got?.required('KeyValue', 'octets') ?? [])).toEqual(wrapped);
    const under = structure(
      'KeyWrappingSpecification',
      enumeration('WrappingMethod', 'Encrypt'),
      structure('EncryptionKeyInformation', uid(id)),
    );
    expect(await client.refused('Get', uid(await create()), under)).toBe('PermissionDenied');
  });
});
