// The keys that a restore drill uses: those that open count by type, and a secret of zeros is a finding.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { proveKeys } from '../../../appliance/drill/prove-keys.ts';
import type { Hsm, KeyReference, KeyType } from '../../../hsm/api.ts';
import { openHsm } from '../../../hsm/client/open.ts';
import { bindingOf, freshMaterial, makeKey } from '../../harness/keys.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { makeSoftToken, testHsmConfig } from '../../harness/token/softhsm.ts';

const path = temporaryDirectory();
let hsm: Hsm;

beforeAll(async () => {
  hsm = await openHsm(testHsmConfig(await makeSoftToken(path())));
});

afterAll(() => hsm.close());

test('what opens, and what consists of zeros', async () => {
  const types = ['aes-128', 'aes-192', 'aes-256', 'secret-256'] as const;
  const made = await Promise.all(['ed25519' as const, ...types].map((type) => makeKey(hsm, type, `made-${type}`)));
  const imported = await Promise.all(types.map((type) => importKey(type, `imported-${type}`, freshMaterial(type))));
  const zeros = await Promise.all(types.map((type) => importKey(type, `zeros-${type}`, Buffer.alloc(freshMaterial(type).length))));
  const { byType, findings } = await proveKeys(hsm, [...made.map(({ key }) => key), ...imported, ...zeros]);
  expect(byType).toEqual({ ed25519: 1, 'aes-128': 3, 'aes-192': 3, 'aes-256': 3, 'secret-256': 3 });
  expect(findings.map(({ where }) => where).toSorted()).toEqual(types.map((type) => `key tenant/zeros-${type}/1 test`));
  expect(findings.every(({ problem }) => problem.startsWith('consists of zeros'))).toBe(true);
});

async function importKey(type: KeyType, keyId: string, material: Buffer): Promise<KeyReference> {
  const binding = bindingOf(keyId);
  const { stored } = await hsm.importKey(type, material, binding);
  return { stored, binding };
}
