// Persistent keys made by several processes at the same time: each sees those of the others.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Hsm, KeyReference } from '../../hsm/api.ts';
import { openHsm } from '../../hsm/client/open.ts';
import { makeSoftToken, testHsmConfig } from '../harness/token/softhsm.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

const path = temporaryDirectory();
let processes: readonly Hsm[];

beforeAll(async () => {
  const token = await makeSoftToken(path());
  processes = [await openHsm(testHsmConfig(token)), await openHsm(testHsmConfig(token))];
});

afterAll(() => Promise.all(processes.map((hsm) => hsm.close())));

test('a key made by one process works in the other, also while that one makes keys', async () => {
  for (let round = 0; round < 10; round++) {
    const keys = await Promise.all(processes.flatMap((hsm, maker) => [1, 2].map((version) => make(hsm, `${round}-${maker}`, version))));
    for (const key of keys) for (const hsm of processes) expect(await sign(hsm, key)).toHaveLength(64);
    await Promise.all(keys.map((key, index) => (processes[index % 2] as Hsm).destroy(key)));
  }
});

async function make(hsm: Hsm, keyId: string, version: number): Promise<KeyReference> {
  const binding = { tenant: 'system', keyId, version, purpose: 'ca' };
  const { stored } = await hsm.generate('ecdsa-p256', binding, { custody: 'token', extractable: false });
  return { stored, binding };
}

function sign(hsm: Hsm, key: KeyReference): Promise<Uint8Array> {
  return hsm.sign(key, { scheme: 'ecdsa', digest: createHash('sha256').digest() });
}
