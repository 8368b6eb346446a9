// A login that the token forgot while a lane imported a key: the lane asks for it and imports again, what it was given and nothing else.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Hsm } from '../../hsm/api.ts';
import { openHsm } from '../../hsm/client/open.ts';
import { bindingOf, freshMaterial } from '../harness/keys.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { type FaultTable, makeFaultyToken } from '../harness/token/faulty-module.ts';
import { testHsmConfig } from '../harness/token/softhsm.ts';

const path = temporaryDirectory();
let hsm: Hsm;
let table: FaultTable;

beforeAll(async () => {
  const faulty = await makeFaultyToken(path());
  table = faulty.table;
  hsm = await openHsm(testHsmConfig(faulty.token));
});

afterAll(() => hsm.close());

test.each(['aes-256', 'secret-256', 'ecdsa-p256'] as const)('a key of type %s', async (type) => {
  const material = freshMaterial(type);
  const binding = bindingOf(`again-${type}`);
  table.arm({ name: 'C_CreateObject', kind: 'lose-sessions' });
  // In token custody, which lanes import into.
  const { stored } = await hsm.importKey(type, Buffer.from(material), binding, { custody: 'token' });
  expect(table.struck).toBe(1);
  expect(Buffer.from(await hsm.readKeyMaterialInClear({ stored, binding }))).toEqual(material);
});
