// Objects that are tied to transit keys: used in the token by Encrypt, Decrypt, Sign, SignatureVerify and MAC, and read where the key may be exported.
import { constants, createDecipheriv, createPublicKey, type SigningOptions, verify as nodeVerify } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { Fields } from '../../../plugins/kmip/messages/fields.ts';
import { enumerated, enumeration, integer, type Item, octets, structure } from '../../../plugins/kmip/ttlv/item.ts';
import { keyAttributes, type KmipClient, nameAttribute, uid } from '../../harness/kmip/client.ts';
import { type KmipAppliance, type KmipIdentity, startKmipAppliance } from './kmip-appliance.ts';

let appliance: KmipAppliance;
let identity: KmipIdentity;
let client: KmipClient;
beforeAll(async () => {
  appliance = await startKmipAppliance();
  await appliance.makeSpace('ties');
  identity = await appliance.makeClient('user', 'ties');
  client = await appliance.connect(identity);
});

const keys = '/v1/config/keystore/transit-keys';
const tiePath = '/v1/state/keystore/kmip-spaces/ties/tie';
const data = Buffer.from('a page of a database');

/** Makes an exportable transit key, and the objects of its version. */
async function tied(name: string, fields: object, more: object = {}): Promise<readonly string[]> {
  await appliance.must('POST', keys, { name, exportable: true, ...fields });
  const { ids } = (await appliance.must('POST', tiePath, { 'transit-key': name, names: [`object of ${name}`], ...more })) as {
    ids: readonly string[];
  };
  return ids;
}

const refusalOf = async (path: string, body: object) => {
  const answer = await appliance.request('POST', path, body);
  return [answer.status, (answer.body as { code?: string }).code];
};

function materialIn(payload: Fields, tag: 'SymmetricKey' | 'PublicKey' | 'PrivateKey'): Uint8Array {
  return payload.requiredStructure(tag).requiredStructure('KeyBlock').requiredStructure('KeyValue').required('KeyMaterial', 'octets');
}

test('a tied AES key encrypts and decrypts in the token; what it has made opens with the key that Get gives', async () => {
  const [id = ''] = await tied('pages', { cipher: 'aes256-gcm96' });
  expect((await client.done('Locate', nameAttribute('object of pages'))).values('UniqueIdentifier', 'text')).toEqual([id]);
  const bound = octets('AuthenticatedEncryptionAdditionalData', Buffer.from('page 7'));
  const made = await client.done('Encrypt', uid(id), octets('Data', data), bound);
  const [sealed, nonce, tag] = (['Data', 'IVCounterNonce', 'AuthenticatedEncryptionTag'] as const).map((one) =>
    made.required(one, 'octets'),
  );
  if (sealed === undefined || nonce === undefined || tag === undefined) throw new Error('a part of the answer is missing');
  expect([sealed.length, nonce.length, tag.length]).toEqual([data.length, 12, 16]);
  const parts = [octets('Data', sealed), octets('IVCounterNonce', nonce), octets('AuthenticatedEncryptionTag', tag)];
  const opened = await client.done('Decrypt', uid(id), ...parts, bound);
  expect(Buffer.from(opened.required('Data', 'octets'))).toEqual(data);
  // Other associated data.
  expect(await client.refused('Decrypt', uid(id), ...parts)).toBe('CryptographicFailure');

  const seen = async () => (await appliance.must('GET', `/v1/state/keystore/kmip-spaces/ties/objects/${id}`)) as Record<string, unknown>;
  expect(await seen()).toMatchObject({ 'transit-key': 'pages', 'key-version': 1, state: 'active' });
  expect(Object.keys(await seen())).not.toContain('left-time');
  const key = materialIn(await client.done('Get', uid(id)), 'SymmetricKey');
  const decipher = createDecipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from('page 7')).setAuthTag(Buffer.from(tag));
  expect(Buffer.concat([decipher.update(sealed), decipher.final()])).toEqual(data);
  expect(await seen()).toMatchObject({ 'left-time': expect.any(String) as string });
  // It is an export of the transit key.
  const directory = join(appliance.directory, 'audit');
  const trail = readdirSync(directory)
    .map((file) => readFileSync(join(directory, file), 'utf8'))
    .join('');
  const path = '/v1/state/keystore/transit-keys/pages/export';
  expect(trail.split('\n').filter((line) => line.includes(path) && line.includes('"via":"kmip"'))).toHaveLength(1);
});

test('AES-GCM is refused where its tag has no place, with nonces of the client, in other modes and in parts', async () => {
  const [id = ''] = await tied('strict', { cipher: 'aes128-gcm96' });
  const old = await appliance.connect(identity, '1.3');
  expect(await old.refused('Encrypt', uid(id), octets('Data', data))).toBe('FeatureNotSupported');
  const mode = structure('CryptographicParameters', enumeration('BlockCipherMode', 'CBC'));
  const short = structure('CryptographicParameters', enumeration('BlockCipherMode', 'GCM'), integer('TagLength', 12));
  for (const more of [octets('IVCounterNonce', Buffer.alloc(12)), octets('CorrelationValue', Buffer.of(1)), mode, short])
    expect(await client.refused('Encrypt', uid(id), octets('Data', data), more)).toBe('FeatureNotSupported');
  expect(await client.refused('Sign', uid(id), octets('Data', data))).toBe('PermissionDenied');
  // Not one that is not tied.
  const payload = await client.done('Create', enumeration('ObjectType', 'SymmetricKey'), keyAttributes());
  const own = payload.required('UniqueIdentifier', 'text');
  await client.done('Activate', uid(own));
  expect(await client.refused('Encrypt', uid(own), octets('Data', data))).toBe('FeatureNotSupported');
});

type Padding = { readonly DigitalSignatureAlgorithm?: 'RSASSA_PSS'; readonly PaddingMethod?: 'PKCS1V1_5' };

test.each<readonly [cipher: string, ways: readonly (readonly [Padding, SigningOptions])[]]>([
  [
    'rsa-2048',
    [
      [{ DigitalSignatureAlgorithm: 'RSASSA_PSS' }, { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 }],
      [{ PaddingMethod: 'PKCS1V1_5' }, {}],
    ],
  ],
  ['ecdsa-p256', [[{}, {}]]],
])('the pair of a tied %s key signs and verifies, and its public key is that of the signature', async (cipher, ways) => {
  const [privateId = '', publicId = ''] = await tied(`signs-${cipher}`, { cipher });
  const der = materialIn(await client.done('Get', uid(publicId)), 'PublicKey');
  const key = createPublicKey({ key: Buffer.from(der), format: 'der', type: 'spki' });
  for (const [{ DigitalSignatureAlgorithm, PaddingMethod }, options] of ways) {
    const parameters = structure(
      'CryptographicParameters',
      PaddingMethod === undefined ? undefined : enumeration('PaddingMethod', PaddingMethod),
      enumeration('HashingAlgorithm', 'SHA_256'),
      DigitalSignatureAlgorithm === undefined ? undefined : enumeration('DigitalSignatureAlgorithm', DigitalSignatureAlgorithm),
    );
    const signed = await client.done('Sign', uid(privateId), parameters, octets('Data', data));
    const signature = signed.required('SignatureData', 'octets');
    expect(nodeVerify('sha256', data, { key, ...options }, signature)).toBe(true);
    const verdict = async (what: Buffer) =>
      (await client.done('SignatureVerify', uid(publicId), parameters, octets('Data', what), octets('SignatureData', signature))).word(
        'ValidityIndicator',
      );
    expect([await verdict(data), await verdict(Buffer.from('another page'))]).toEqual(['Valid', 'Invalid']);
  }
  const bare = structure('CryptographicParameters', enumeration('HashingAlgorithm', 'MD5'));
  expect(await client.refused('Sign', uid(privateId), bare, octets('Data', data))).toBe('FeatureNotSupported');
  expect(await client.refused('Sign', uid(publicId), octets('Data', data))).toBe('PermissionDenied');
});

test('parameters of a use that transit keys do not have are refused, and not left aside', async () => {
  const [privateId = '', publicId = ''] = await tied('exact', { cipher: 'rsa-2048' });
  const [pss, sha256] = [enumeration('PaddingMethod', 'PSS'), enumeration('HashingAlgorithm', 'SHA_256')];
  const mask = (hash: number) => enumerated('MaskGeneratorHashingAlgorithm', hash);
  const outcomeOf = async (operation: 'Sign' | 'SignatureVerify', id: string, parts: readonly Item[], ...rest: readonly Item[]) => {
    const [answer] = await client.ask([[operation, uid(id), structure('CryptographicParameters', ...parts), ...rest]]);
    return answer?.reason ?? answer?.status;
  };
  const cases: readonly (readonly [string, readonly Item[]])[] = [
    ['Success', [pss, sha256, integer('SaltLength', 32), enumeration('MaskGenerator', 'MGF1'), mask(6), integer('TrailerField', 1)]],
    ['Success', [enumeration('CryptographicAlgorithm', 'RSA')]],
    ['FeatureNotSupported', [pss, integer('SaltLength', 7)]],
    ['FeatureNotSupported', [pss, sha256, mask(4)]],
    ['FeatureNotSupported', [pss, integer('TrailerField', 9)]],
    ['FeatureNotSupported', [enumeration('BlockCipherMode', 'GCM')]],
    ['InvalidField', [integer('SaltLength', 32)]],
    ['InvalidField', [enumeration('DigitalSignatureAlgorithm', 'ECDSAWithSHA256')]],
    ['InvalidField', [enumeration('CryptographicAlgorithm', 'AES')]],
  ];
  for (const [outcome, parts] of cases) {
    expect(await outcomeOf('Sign', privateId, parts, octets('Data', data))).toBe(outcome);
    const signature = octets('SignatureData', new Uint8Array(256));
    expect(await outcomeOf('SignatureVerify', publicId, parts, octets('Data', data), signature)).toBe(outcome);
  }
  const [aes = ''] = await tied('exact-aes', { cipher: 'aes256-gcm96' });
  for (const part of [enumeration('PaddingMethod', 'PKCS5'), sha256, integer('CounterLength', 4), enumeration('KeyRoleType', 'KEK')])
    expect(await client.refused('Encrypt', uid(aes), structure('CryptographicParameters', part), octets('Data', data))).toBe(
      'FeatureNotSupported',
    );
});

test('the pair of a tied RSA key for encryption opens what its public half has sealed', async () => {
  const [privateId = '', publicId = ''] = await tied('opens', { cipher: 'rsa-2048', use: 'encrypt' });
  const parameters = structure('CryptographicParameters', enumeration('PaddingMethod', 'OAEP'), enumeration('HashingAlgorithm', 'SHA_1'));
  const sealed = (await client.done('Encrypt', uid(publicId), parameters, octets('Data', data))).required('Data', 'octets');
  const opened = await client.done('Decrypt', uid(privateId), parameters, octets('Data', sealed));
  expect(Buffer.from(opened.required('Data', 'octets'))).toEqual(data);
});

test('a tied key for MACs makes AES-CMAC, and checks it', async () => {
  const [id = ''] = await tied('macs', { cipher: 'aes128-cmac' });
  const macData = (await client.done('MAC', uid(id), octets('Data', data))).required('MACData', 'octets');
  expect(macData).toHaveLength(16);
  const check = async (what: Buffer) =>
    (await client.done('MACVerify', uid(id), octets('Data', what), octets('MACData', macData))).word('ValidityIndicator');
  expect([await check(data), await check(Buffer.from('other'))]).toEqual(['Valid', 'Invalid']);
});

test('policies judge each use at the transit key, too, and rules of that key hold', async () => {
  const [id = ''] = await tied('judged', { cipher: 'aes256-gcm96' });
  const rules = [
    { path: '/v1/state/keystore/kmip-spaces/ties/**', operations: { execute: 'allow' } },
    { path: '/v1/state/keystore/transit-keys/judged/encrypt', operations: { execute: 'allow' } },
  ];
  await appliance.must('POST', '/v1/config/policy/policies', { name: 'encrypts', 'rest-api': { rules } });
  const limited = await appliance.connect(await appliance.makeClient('limited', 'ties', { 'token-policies': ['encrypts'] }));
  expect((await limited.done('Encrypt', uid(id), octets('Data', data))).required('IVCounterNonce', 'octets')).toHaveLength(12);
  expect(await limited.refused('Get', uid(id))).toBe('PermissionDenied');
  // A refused Get has not left.
  const seen = (await appliance.must('GET', `/v1/state/keystore/kmip-spaces/ties/objects/${id}`)) as object;
  expect(Object.keys(seen)).not.toContain('left-time');

  await appliance.must('PATCH', `${keys}/judged`, { disabled: true });
  expect(await client.refused('Encrypt', uid(id), octets('Data', data))).toBe('PermissionDenied');
  await appliance.must('PATCH', `${keys}/judged`, { disabled: false, 'deletion-allowed': true });
  expect(await client.refused('ReKey', uid(id))).toBe('PermissionDenied');
  // A later key of the name is another one.
  await appliance.must('DELETE', `${keys}/judged`);
  await appliance.must('POST', keys, { name: 'judged', exportable: true });
  for (const operation of ['Encrypt', 'Get'] as const)
    expect(await client.refused(operation, uid(id), octets('Data', data))).toBe('ItemNotFound');
});

test('a tie outlasts a restore of the transit key from its own backup, and ends with one of another key', async () => {
  const backupable = { 'allow-plaintext-backup': true, 'deletion-allowed': true };
  const [id = ''] = await tied('restored', backupable);
  const at = '/v1/state/keystore/transit-keys';
  const backupOf = async (name: string) => (await appliance.must('POST', `${at}/${name}/backup`, {})) as { readonly key: string };
  const sealed = await client.done('Encrypt', uid(id), octets('Data', data));
  const parts = (['Data', 'IVCounterNonce', 'AuthenticatedEncryptionTag'] as const).map((tag) =>
    octets(tag, sealed.required(tag, 'octets')),
  );
  for (const _again of [1, 2]) {
    await appliance.must('POST', `${at}/restored/restore`, { key: (await backupOf('restored')).key });
    expect(Buffer.from((await client.done('Decrypt', uid(id), ...parts)).required('Data', 'octets'))).toEqual(data);
  }
  await appliance.must('POST', keys, { name: 'another', exportable: true, ...backupable });
  await appliance.must('POST', `${at}/restored/restore`, { key: (await backupOf('another')).key });
  expect(await client.refused('Encrypt', uid(id), octets('Data', data))).toBe('ItemNotFound');
});

test('what a policy hides of an answer is no answer: no verdict, and no fault of the appliance', async () => {
  const [aes = ''] = await tied('hides-aes', { cipher: 'aes256-gcm96' });
  const [privateId = '', publicId = ''] = await tied('hides-pair', { cipher: 'ecdsa-p256' });
  const signature = (await client.done('Sign', uid(privateId), octets('Data', data))).required('SignatureData', 'octets');
  const operations = { execute: 'allow' };
  const rules = [
    { path: '/v1/state/keystore/kmip-spaces/ties/**', operations },
    { path: '/v1/state/keystore/transit-keys/*/*', operations, 'hide-fields': ['valid', 'keys', 'ciphertext', 'signature'] },
  ];
  await appliance.must('POST', '/v1/config/policy/policies', { name: 'hides', 'rest-api': { rules } });
  const limited = await appliance.connect(await appliance.makeClient('hides', 'ties', { 'token-policies': ['hides'] }));
  const given = octets('Data', data);
  expect(await limited.refused('SignatureVerify', uid(publicId), given, octets('SignatureData', signature))).toBe('PermissionDenied');
  expect(await limited.refused('Sign', uid(privateId), given)).toBe('PermissionDenied');
  expect(await limited.refused('Encrypt', uid(aes), given)).toBe('PermissionDenied');
  expect(await limited.refused('Get', uid(aes))).toBe('PermissionDenied');
});

test('the end of an object is not the end of its transit key', async () => {
  const [id = ''] = await tied('outlives', { cipher: 'aes256-gcm96' });
  await client.done('Revoke', uid(id), structure('RevocationReason', enumeration('RevocationReasonCode', 'Superseded')));
  expect(await client.refused('Encrypt', uid(id), octets('Data', data))).toBe('PermissionDenied');
  await client.done('Destroy', uid(id));
  expect(await client.refused('Get', uid(id))).toBe('ItemNotFound');
  await appliance.must('POST', '/v1/state/keystore/transit-keys/outlives/encrypt', { plaintext: data.toString('base64') });
});

test('only versions of exportable keys that KMIP has a name for are tied, by who may export them', async () => {
  const cases = [
    ['kept', {}],
    ['derives', { exportable: true, derived: true }],
    ['agrees', { exportable: true, cipher: 'ecdsa-p256', use: 'agree' }],
    ['agrees-too', { exportable: true, cipher: 'x25519' }],
  ] as const;
  for (const [name, fields] of cases) {
    await appliance.must('POST', keys, { name, ...fields });
    expect(await refusalOf(tiePath, { 'transit-key': name })).toEqual([409, 'kmip-tie-refused']);
  }
  expect(await refusalOf(tiePath, { 'transit-key': 'nobody' })).toEqual([400, 'invalid-value']);
  expect(await refusalOf(tiePath, { 'transit-key': 'pages', version: 9 })).toEqual([400, 'invalid-value']);
  expect(await refusalOf(tiePath, { 'transit-key': 'pages', names: ['x'.repeat(1_025)] })).toEqual([400, 'invalid-value']);
});

test('a tie that names no version is of the one in use, not of one that waits to become active', async () => {
  await appliance.must('POST', keys, {
    name: 'waiting',
    exportable: true,
    'auto-rotate': { 'rotate-after': '30d', 'activate-after': '1d' },
  });
  await appliance.must('POST', `${keys.replace('config', 'state')}/waiting/rotate`);
  const { ids } = (await appliance.must('POST', tiePath, { 'transit-key': 'waiting' })) as { ids: readonly string[] };
  const seen = await appliance.must('GET', `/v1/state/keystore/kmip-spaces/ties/objects/${ids[0]}`);
  expect(seen).toMatchObject({ 'transit-key': 'waiting', 'key-version': 1 });
});
