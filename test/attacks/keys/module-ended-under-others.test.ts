// Eviden: C_Finalize by one part gave CKR_DEVICE_REMOVED in the sessions of others; loading a module again and again crashed the process.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Hsm, KeyReference } from '../../../hsm/api.ts';
import { openHsm } from '../../../hsm/client/open.ts';
import { describeModule } from '../../../hsm/setup/setup.ts';
import { makeSoftToken, softhsmModule, testHsmConfig } from '../../harness/token/softhsm.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const at = temporaryDirectory();
let token: Awaited<ReturnType<typeof makeSoftToken>>;
let hsm: Hsm;
let key: KeyReference;

beforeAll(async () => {
  token = await makeSoftToken(at());
  hsm = await openHsm(testHsmConfig(token));
  const binding = { tenant: 'system', keyId: 'long-lived', version: 1, purpose: 'transit' };
  key = { stored: (await hsm.generate('ecdsa-p256', binding)).stored, binding };
});
afterAll(() => hsm.close());

const sign = (by: Hsm): Promise<Uint8Array> => by.sign(key, { scheme: 'ecdsa', digest: createHash('sha256').digest() });

test('others that open, use and end the same module, in this process and with tasks of an administrator, disturb nobody', async () => {
  const over = new AbortController();
  let signed = 0;
  const signing = (async () => {
    while (!over.signal.aborted) {
      expect(await sign(hsm)).toHaveLength(64);
      signed++;
    }
  })();
  for (let round = 0; round < 4; round++) {
    const other = await openHsm(testHsmConfig(token));
    expect(await sign(other)).toHaveLength(64);
    const underWay = Promise.allSettled(Array.from({ length: 20 }, () => sign(other)));
    await other.close();
    await underWay;
    await describeModule(softhsmModule, token.environment);
  }
  over.abort();
  await signing;
  expect(signed).toBeGreaterThan(4);
  expect(hsm.status().map(({ state }) => state)).toEqual(['up']);
});
