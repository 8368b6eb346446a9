// A private key that a transit key has is registered for that use alone (NIST SP 800-57 part 1, section 5.2), as it is imported.
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { enumerated, enumeration, integer, octets, structure } from '../../../plugins/kmip/ttlv/item.ts';
import { type Answer, attribute, type KmipClient, uid } from '../../harness/kmip/client.ts';
import { type KmipAppliance, startKmipAppliance } from './kmip-appliance.ts';

const keys = '/v1/config/keystore/transit-keys';
const actions = '/v1/state/keystore/transit-keys';
/** Bits of Cryptographic Usage Mask. */
const [sign, verify, encrypt, decrypt, unwrap, agree] = [1, 2, 4, 8, 0x20, 0x800];
let appliance: KmipAppliance;
let client: KmipClient;
beforeAll(async () => {
  appliance = await startKmipAppliance();
  await appliance.makeSpace('one');
  client = await appliance.connect(await appliance.makeClient('user', 'one'));
});

const rsa = (): KeyObject => generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey;
const p256 = (): KeyObject => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

async function imported(on: KmipAppliance, name: string, fields: object, key: KeyObject): Promise<void> {
  await on.must('POST', keys, { name, 'deletion-allowed': true, ...fields });
  await on.must('POST', `${actions}/${name}/import`, { data: key.export({ type: 'pkcs8', format: 'pem' }) });
}

const formats = { PKCS_1: 'pkcs1', PKCS_8: 'pkcs8', ECPrivateKey: 'sec1' } as const;

async function register(
  by: KmipClient,
  key: KeyObject,
  mask: number,
  format: keyof typeof formats = 'PKCS_8',
): Promise<Answer | undefined> {
  const der = key.export({ type: formats[format] as 'pkcs8', format: 'der' });
  const [answer] = await by.ask([
    [
      'Register',
      enumeration('ObjectType', 'PrivateKey'),
      structure(
        'TemplateAttribute',
        attribute('Cryptographic Usage Mask', (tag) => integer(tag, mask)),
      ),
      structure(
        'PrivateKey',
        structure(
          'KeyBlock',
          enumeration('KeyFormatType', format),
          structure('KeyValue', octets('KeyMaterial', der)),
          enumerated('CryptographicAlgorithm', key.asymmetricKeyType === 'rsa' ? 4 : 6),
          integer('CryptographicLength', key.asymmetricKeyType === 'rsa' ? 2_048 : 256),
        ),
      ),
    ],
  ]);
  return answer;
}

/** `Success`, or the Result Reason. */
async function registered(...asked: Parameters<typeof register>): Promise<unknown> {
  const answer = await register(...asked);
  return answer?.reason ?? answer?.status;
}

const idOf = (answer: Answer | undefined): string => answer?.payload.required('UniqueIdentifier', 'text') ?? '';

describe('for another use than that of the transit key it is refused', () => {
  test.each([
    ['rsa-2048', 'sign', rsa, ['PKCS_1', 'PKCS_8'], [sign], [decrypt, unwrap, encrypt | decrypt, sign | decrypt]],
    ['rsa-2048', 'encrypt', rsa, ['PKCS_1', 'PKCS_8'], [decrypt, decrypt | unwrap], [sign, sign | decrypt]],
    ['ecdsa-p256', 'sign', p256, ['ECPrivateKey', 'PKCS_8'], [sign, sign | verify], [agree, sign | agree]],
    ['ecdsa-p256', 'agree', p256, ['ECPrivateKey', 'PKCS_8'], [agree], [sign]],
  ] as const)('%s for %s', async (cipher, use, generate, encodings, fitting, others) => {
    const key = generate();
    const name = `${cipher}-${use}`;
    await imported(appliance, name, { cipher, use }, key);
    for (const format of encodings) {
      for (const mask of others)
        expect([format, mask, await registered(client, key, mask, format)]).toEqual([format, mask, 'PermissionDenied']);
      for (const mask of fitting) expect([format, mask, await registered(client, key, mask, format)]).toEqual([format, mask, 'Success']);
    }
    expect(await registered(client, generate(), others[0])).toBe('Success');
    // Gone with the key that had it.
    await appliance.must('DELETE', `${keys}/${name}`);
    expect(await registered(client, key, others[0])).toBe('Success');
  });

  test('what is registered is used by nothing here, so an import does not ask for it', async () => {
    const key = rsa();
    const id = idOf(await register(client, key, sign | decrypt));
    await client.done('Activate', uid(id));
    for (const operation of ['Sign', 'Decrypt'] as const)
      expect(await client.refused(operation, uid(id), octets('Data', Buffer.from('text')))).toBe('FeatureNotSupported');
    await imported(appliance, 'later', { cipher: 'rsa-2048', use: 'encrypt' }, key);
    expect(await registered(client, key, sign)).toBe('PermissionDenied');
  });
});

test('allow-dual-use lets the tenants that it names have both', async () => {
  const dual = await startKmipAppliance([], { others: { transit: { allowDualUse: ['system'] } } });
  await dual.makeSpace('two');
  const other = await dual.connect(await dual.makeClient('user', 'two'));
  const key = rsa();
  await imported(dual, 'signs', { cipher: 'rsa-2048', use: 'sign' }, key);
  for (const mask of [decrypt, sign | decrypt]) expect(await registered(other, key, mask)).toBe('Success');
});
