// Rules of approvals and KMIP: each operation under a rule for every act. A message cannot carry an approval, so an act is refused and not done.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { acts } from '../../../core/approvals/acts.ts';
import { enumerationNameOf, enumerations } from '../../../plugins/kmip/ttlv/enumerations.ts';
import { boolean, date, enumerated, enumeration, integer, type Item, octets, structure, text } from '../../../plugins/kmip/ttlv/item.ts';
import {
  type Answer,
  type Asked,
  attribute,
  keyAttributes,
  type KmipClient,
  nameAttribute,
  type Operation,
  uid,
} from '../../harness/kmip/client.ts';
import { type KmipAppliance, startKmipAppliance } from './kmip-appliance.ts';

let appliance: KmipAppliance;
/** 1.4, and 2.0, which alone has SetAttribute */
let client: KmipClient;
let newer: KmipClient;
let approver = '';
const ids: Record<string, string> = {};
const data = octets('Data', Buffer.from('a page of a database'));
const aKey = enumeration('ObjectType', 'SymmetricKey');
const approles = 'keystore/authentication/approles';

beforeAll(async () => {
  appliance = await startKmipAppliance();
  await appliance.makeSpace('ruled');
  const identity = await appliance.makeClient('array', 'ruled');
  client = await appliance.connect(identity, '1.4');
  newer = await appliance.connect(identity, '2.0');
  for (const [name, cipher] of Object.entries({ pages: 'aes256-gcm96', macs: 'aes256-cmac', pairs: 'ed25519' })) {
    await appliance.must('POST', '/v1/config/keystore/transit-keys', { name, cipher, exportable: true });
    const made = await appliance.must('POST', '/v1/state/keystore/kmip-spaces/ruled/tie', { 'transit-key': name });
    const [first = '', second = ''] = (made as { ids: string[] }).ids;
    Object.assign(ids, { [name]: first, [`public ${name}`]: second });
  }
  for (const name of ['fresh', 'named', 'active', 'renewed', 'wrapping', 'kept', 'noted'])
    ids[name] = (await client.done('Create', aKey, aesKey(name))).required('UniqueIdentifier', 'text');
  const secret = structure('TemplateAttribute', ...aesKeyParts('secret'), flag('Sensitive', true), flag('Extractable', false));
  ids['secret'] = (await client.done('Create', aKey, secret)).required('UniqueIdentifier', 'text');
  for (const name of ['active', 'renewed', 'wrapping', 'kept', 'secret']) await client.done('Activate', uid(of(name)));
  await client.done('AddAttribute', uid(of('noted')), label('A0'));
  await appliance.must('POST', `/v1/config/${approles}`, { name: 'anna', 'token-policies': ['root'] });
  const { 'role-id': role } = (await appliance.must('GET', `/v1/state/${approles}/anna`)) as Record<string, string>;
  const { 'secret-id': secretId } = (await appliance.must('POST', `/v1/state/${approles}/anna/generate-secret-id`, {})) as Record<
    string,
    string
  >;
  const login = await appliance.request('POST', '/v1/approle-login', { 'role-id': role, 'secret-id': secretId }, { token: undefined });
  approver = String(login.body.token);
  for (const act of acts) await makeRule(act);
});
afterAll(() => expect(appliance.logged.filter(({ level }) => level === 'error')).toEqual([]));

const rules = '/v1/config/approval/rules';
/** A rule of each act has its name, so that a refusal tells which act it is. */
async function makeRule(act: string): Promise<void> {
  const rule = { name: act, acts: [act], needed: 1, approvers: { approles: ['anna'] }, force: true };
  if ((await appliance.request('POST', rules, rule)).status !== 201) await approved('POST', rules, rule);
}

/** Sends a request to /v1 that the approver has approved. */
async function approved(method: string, path: string, body: object): Promise<unknown> {
  const headers = { 'approval-reason': 'as%20agreed' };
  const { body: asked } = await appliance.request(method, path, body, { headers });
  const at = `/v1/state/approvals/${String(asked.id)}/approve`;
  expect((await appliance.request('POST', at, { digest: asked.digest }, { token: approver })).status).toBe(200);
  const done = await appliance.request(method, path, body, { headers: { approval: String(asked.id) } });
  expect(done).toMatchObject({ status: expect.toBeOneOf([200, 201, 204]) });
  return done.body;
}

const of = (name: string): string => ids[name] ?? '';
/** Attributes of an AES key that may also wrap others. */
const aesKeyParts = (name: string): readonly Item[] => [
  attribute('Cryptographic Algorithm', (tag) => enumerated(tag, enumerations.CryptographicAlgorithm.AES)),
  attribute('Cryptographic Length', (tag) => integer(tag, 256)),
  attribute('Cryptographic Usage Mask', (tag) => integer(tag, 0x1c)),
  nameAttribute(name),
];
const aesKey = (name: string): Item => structure('TemplateAttribute', ...aesKeyParts(name));
const why = structure('RevocationReason', enumeration('RevocationReasonCode', 'CessationOfOperation'));
const compromised = structure('RevocationReason', enumeration('RevocationReasonCode', 'KeyCompromise'));
const dated = (name: string, seconds: number): Item => attribute(name, (tag) => date(tag, seconds));
const soon = (): number => Math.floor(appliance.clock.now().epochMilliseconds / 1_000) + 2;
const label = (value: string): Item => attribute('x-Shelf', (tag) => text(tag, value));

/** `done`; the acts of the rules that refuse it; or another reason. */
async function verdictOf(answering: Promise<readonly Answer[]>): Promise<string> {
  const [answer] = await answering;
  if (answer?.status === 'Success') return 'done';
  const names = acts.filter((act) => answer?.message?.includes(`"${act}"`));
  if (names.length === 0) return `${String(answer?.reason)}: ${answer?.message}`;
  expect(answer).toMatchObject({ reason: 'PermissionDenied', message: expect.stringContaining('over kmip cannot carry an approval') });
  return names.join(', ');
}
/** Messages of a connection go one after another. */
type Asking = () => Promise<string>;
const ask =
  (...asked: Asked): Asking =>
  () =>
    verdictOf(client.ask([asked]));

/** The AES key of a Register. */
const rawKey = structure(
  'SymmetricKey',
  structure(
    'KeyBlock',
    enumeration('KeyFormatType', 'Raw'),
    structure('KeyValue', octets('KeyMaterial', Buffer.alloc(32, 7))),
    enumeration('CryptographicAlgorithm', 'AES'),
    integer('CryptographicLength', 256),
  ),
);
const pair = structure(
  'CommonTemplateAttribute',
  attribute('Cryptographic Algorithm', (tag) => enumerated(tag, enumerations.CryptographicAlgorithm.RSA)),
  attribute('Cryptographic Length', (tag) => integer(tag, 2_048)),
);
const masked = (tag: 'PrivateKeyTemplateAttribute' | 'PublicKeyTemplateAttribute', bits: number): Item =>
  structure(
    tag,
    attribute('Cryptographic Usage Mask', (value) => integer(value, bits)),
  );
const sealedBy = async (): Promise<readonly Item[]> => {
  const made = await client.done('Encrypt', uid(of('pages')), data);
  return (['Data', 'IVCounterNonce', 'AuthenticatedEncryptionTag'] as const).map((tag) => octets(tag, made.required(tag, 'octets')));
};
const readOnly = expect.stringContaining('PermissionDenied: ') as unknown as string;

/** What each operation does under a rule for every act. Those that the rules of /v1 are not about were approved with the entry of the client. */
const wanted: Readonly<Partial<Record<Operation, () => Promise<Readonly<Record<string, readonly [ask: Asking, wanted: string]>>>>>> = {
  Create: async () => ({ 'a key': [ask('Create', aKey, aesKey('another')), 'done'] }),
  CreateKeyPair: async () => ({
    'a pair': [ask('CreateKeyPair', pair, masked('PrivateKeyTemplateAttribute', 1), masked('PublicKeyTemplateAttribute', 2)), 'done'],
  }),
  Register: async () => ({ 'a key': [ask('Register', aKey, keyAttributes('registered'), rawKey), 'done'] }),
  ReKey: async () => ({ 'a key': [ask('ReKey', uid(of('renewed'))), 'done'], 'a transit key': [ask('ReKey', uid(of('pages'))), readOnly] }),
  Locate: async () => ({ 'every object': [ask('Locate'), 'done'] }),
  Check: async () => ({ 'a use': [ask('Check', uid(of('kept')), integer('CryptographicUsageMask', 4)), 'done'] }),
  Get: async () => ({
    'an object of the space': [ask('Get', uid(of('kept'))), 'done'],
    'one under another': [ask('Get', uid(of('kept')), underWrapping()), 'done'],
    'a transit key': [ask('Get', uid(of('pages'))), 'take-keys-out'],
    'a transit key under another': [ask('Get', uid(of('pages')), underWrapping()), 'take-keys-out'],
    'a private transit key': [ask('Get', uid(of('pairs'))), 'take-keys-out'],
    'a public one': [ask('Get', uid(of('public pairs'))), 'done'],
  }),
  GetAttributes: async () => ({ 'of a key': [ask('GetAttributes', uid(of('kept'))), 'done'] }),
  GetAttributeList: async () => ({ 'of a key': [ask('GetAttributeList', uid(of('kept'))), 'done'] }),
  AddAttribute: async () => ({
    'a note': [ask('AddAttribute', uid(of('kept')), label('A1')), 'done'],
    'an end of an Active key': [ask('AddAttribute', uid(of('kept')), dated('Deactivation Date', soon())), readOnly],
    'an end of its protection': [ask('AddAttribute', uid(of('kept')), dated('Protect Stop Date', soon())), readOnly],
    'that it is destroyed': [ask('AddAttribute', uid(of('kept')), dated('Destroy Date', soon())), readOnly],
    'that it is compromised': [ask('AddAttribute', uid(of('kept')), dated('Compromise Date', soon())), readOnly],
  }),
  ModifyAttribute: async () => ({
    'a note': [ask('ModifyAttribute', uid(of('noted')), label('A2')), 'done'],
    ...Object.fromEntries(
      [dated('Deactivation Date', soon()), flag('Sensitive', false), flag('Extractable', true), usageMask(0xff)].map((one, at) => [
        `what is fixed, ${at}`,
        [ask('ModifyAttribute', uid(of('secret')), one), readOnly] as const,
      ]),
    ),
  }),
  SetAttribute: async () => ({
    'a note': [askNewer('SetAttribute', uid(of('kept')), structure('NewAttribute', text('Comment', 'of the array'))), 'done'],
    'an end': [askNewer('SetAttribute', uid(of('kept')), structure('NewAttribute', date('DeactivationDate', soon()))), readOnly],
    'that it leaves in clear': [
      askNewer('SetAttribute', uid(of('secret')), structure('NewAttribute', boolean('Sensitive', false))),
      readOnly,
    ],
  }),
  DeleteAttribute: async () => ({
    'a note': [ask('DeleteAttribute', uid(of('noted')), text('AttributeName', 'x-Shelf')), 'done'],
    'that it stays': [ask('DeleteAttribute', uid(of('secret')), text('AttributeName', 'Sensitive')), readOnly],
  }),
  Activate: async () => ({ 'a key': [ask('Activate', uid(of('fresh'))), 'done'] }),
  Revoke: async () => ({
    'an Active key': [ask('Revoke', uid(of('active')), why), 'destroy'],
    'for a compromise': [ask('Revoke', uid(of('active')), compromised), 'destroy'],
    'a transit key': [ask('Revoke', uid(of('pages')), why), 'destroy'],
  }),
  Destroy: async () => ({ 'a key': [ask('Destroy', uid(of('named'))), 'destroy'] }),
  Encrypt: async () => ({ 'by a transit key': [ask('Encrypt', uid(of('pages')), data), 'done'] }),
  Decrypt: async () => ({ 'by a transit key': [ask('Decrypt', uid(of('pages')), ...(await sealedBy())), 'done'] }),
  Sign: async () => ({ 'by a transit key': [ask('Sign', uid(of('pairs')), data), 'done'] }),
  SignatureVerify: async () => ({
    'by a transit key': [ask('SignatureVerify', uid(of('public pairs')), data, octets('SignatureData', await signatureOf())), 'done'],
  }),
  MAC: async () => ({ 'by a transit key': [ask('MAC', uid(of('macs')), data), 'done'] }),
  MACVerify: async () => ({ 'by a transit key': [ask('MACVerify', uid(of('macs')), data, octets('MACData', Buffer.alloc(16))), 'done'] }),
  Query: async () => ({ 'what is offered': [ask('Query', enumeration('QueryFunction', 'QueryOperations')), 'done'] }),
  DiscoverVersions: async () => ({ 'every version': [ask('DiscoverVersions'), 'done'] }),
};

const askNewer =
  (...asked: Asked): Asking =>
  () =>
    verdictOf(newer.ask([asked]));
const flag = (name: string, value: boolean): Item => attribute(name, (tag) => boolean(tag, value));
const usageMask = (bits: number): Item => attribute('Cryptographic Usage Mask', (tag) => integer(tag, bits));
const underWrapping = (): Item =>
  structure(
    'KeyWrappingSpecification',
    enumeration('WrappingMethod', 'Encrypt'),
    structure('EncryptionKeyInformation', uid(of('wrapping'))),
    enumeration('EncodingOption', 'NoEncoding'),
  );
const signatureOf = async (): Promise<Uint8Array> =>
  (await client.done('Sign', uid(of('pairs')), data)).required('SignatureData', 'octets');

test('each operation that is offered is here', async () => {
  const operations = (await newer.done('Query', enumeration('QueryFunction', 'QueryOperations'))).values('Operation', 'enumeration');
  const names = operations.map((one) => String(enumerationNameOf('Operation', one)));
  expect(Object.keys(wanted).toSorted()).toEqual(names.toSorted());
});

test.each(Object.entries(wanted))('%s', async (_, asking) => {
  const asked = Object.entries(await asking());
  const seen: Record<string, string> = {};
  for (const [what, [answered]] of asked) seen[what] = await answered();
  expect(seen).toEqual(Object.fromEntries(asked.map(([what, [, verdict]]) => [what, verdict])));
});

const stateOf = async (name: string): Promise<unknown> =>
  ((await appliance.must('GET', `/v1/state/keystore/kmip-spaces/ruled/objects/${of(name)}`)) as { state: string }).state;

test('what was refused was not done', async () => {
  expect(await Promise.all(['active', 'pages', 'named', 'kept'].map(stateOf))).toEqual(['active', 'active', 'pre-active', 'active']);
  const tied = (await appliance.must('GET', `/v1/state/keystore/kmip-spaces/ruled/objects/${of('pages')}`)) as object;
  expect(tied).not.toHaveProperty('left-time');
});

test.each(['Stop', 'Continue', 'Undo'] as const)('an act in a batch is refused by itself, with %s', async (way) => {
  const after: Asked = ['AddAttribute', uid(of('kept')), label(`after ${way}`)];
  const answers = await client.ask(
    [['AddAttribute', uid(of('kept')), label(`before ${way}`)], ['Revoke', uid(of('active')), why], ...(way === 'Undo' ? [] : [after])],
    [enumeration('BatchErrorContinuationOption', way)],
  );
  const first = way === 'Undo' ? 'OperationUndone' : 'Success';
  expect(answers.map(({ status }) => status)).toEqual([first, 'OperationFailed', ...(way === 'Continue' ? ['Success'] : [])]);
  expect(await stateOf('active')).toBe('active');
});

test('a new key cannot be taken back under the rule: it stays, and is answered as made', async () => {
  const answers = await client.ask(
    [
      ['Create', aKey, aesKey('left')],
      ['Revoke', uid(of('active')), why],
    ],
    [enumeration('BatchErrorContinuationOption', 'Undo')],
  );
  expect(answers.map(({ status }) => status)).toEqual(['Success', 'OperationFailed']);
  expect((await client.done('Locate', nameAttribute('left'))).values('UniqueIdentifier', 'text')).toHaveLength(1);
});

test('an administrator destroys it over /v1, when others have approved', async () => {
  const at = `/v1/state/keystore/kmip-spaces/ruled/objects/${of('named')}/destroy`;
  expect((await appliance.request('POST', at, {})).body.code).toBe('approval-needed');
  await approved('POST', at, {});
  expect(await stateOf('named')).toBe('destroyed');
});
