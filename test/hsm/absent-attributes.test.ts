// Attributes that an object does not have, which some modules answer with CKR_ATTRIBUTE_TYPE_INVALID and others with no octets (kryoptic and
// SoftHSM2): a token opens and works all the same, and what cannot be done without one says which it was.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Hsm } from '../../hsm/api.ts';
import { openHsm } from '../../hsm/client/open.ts';
import { Engine } from '../../hsm/engine/engine.ts';
import { attributeName } from '../../hsm/pkcs11/template.ts';
import { makeKey } from '../harness/keys.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { makeFaultyToken } from '../harness/token/faulty-module.ts';
import { makeSoftTokenForThisProcess, testHsmConfig } from '../harness/token/softhsm.ts';

const CKR_ATTRIBUTE_TYPE_INVALID = 0x12;
const path = temporaryDirectory();
let hsm: Hsm;
let name: string;
let struck: () => number;

beforeAll(async () => {
  const { token, table } = await makeFaultyToken(path());
  table.arm({ name: 'C_GetAttributeValue', kind: 'absent', argument: CKR_ATTRIBUTE_TYPE_INVALID });
  hsm = await openHsm(testHsmConfig(token));
  ({ name } = token);
  struck = () => table.struck;
});

afterAll(() => hsm.close());

test('own keys without CKA_ID are the first ones, and are used, described and rotated', async () => {
  expect(struck()).toBeGreaterThan(0);
  const { key } = await makeKey(hsm, 'aes-256', 'absent');
  expect(await hsm.decrypt(key, await hsm.encrypt(key, Buffer.from('text')))).toHaveLength(4);
  expect(await hsm.wrappingKeys.list(name)).toEqual([1]);
  expect((await hsm.ownObjects(name, 10)).map(({ label }) => label).toSorted()).toEqual([
    'keystored-binding-key',
    'keystored-wrapping-key',
  ]);
  expect(await hsm.widerObjects(name)).toEqual([]);
  expect(await hsm.wrappingKeys.makeNext(name, 1)).toBe(2);
  const { key: next } = await makeKey(hsm, 'aes-256', 'absent-next');
  expect(await hsm.decrypt(next, await hsm.encrypt(next, Buffer.from('text')))).toHaveLength(4);
});

test('the message names function, attribute and object', async () => {
  const token = await makeSoftTokenForThisProcess(path());
  const engine = new Engine({ token, cacheKeys: 10, pin: token.pin });
  const { module, owner } = engine.sessions;
  const [object] = module.findObjects(owner, { token: true, label: 'keystored-wrapping-key' });
  if (object === undefined) throw new Error('the token has no wrapping key');
  expect(() => module.attribute(owner, object, 'modulus')).toThrow(
    'C_GetAttributeValue (CKA_MODULUS of "keystored-wrapping-key") returned CKR_ATTRIBUTE_TYPE_INVALID',
  );
  engine.close();
});

test('attributes are named as PKCS#11 does', () => {
  const names = (['id', 'keyType', 'valueLength', 'prime1', 'keyGenMechanism', 'nssPublicPoint'] as const).map(attributeName);
  expect(names).toEqual(['CKA_ID', 'CKA_KEY_TYPE', 'CKA_VALUE_LEN', 'CKA_PRIME_1', 'CKA_KEY_GEN_MECHANISM', 'CKA_NSS_DB']);
});
