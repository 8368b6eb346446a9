// A token that does not offer what the appliance itself needs: its description says so, and no key is made in it.
import { expect, test } from 'vitest';
import { describeModule, prepareToken } from '../../hsm/setup/setup.ts';
import { openHsm } from '../../hsm/client/open.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { behindFaults } from '../harness/token/faulty-module.ts';
import { makeEmptySoftToken, softhsmModule, testHsmConfig } from '../harness/token/softhsm.ts';

const path = temporaryDirectory();
const always = 1_000_000;

test('it is refused with what it lacks, before anything is made; described, it says the same', async () => {
  const directory = path();
  const whole = await makeEmptySoftToken(directory);
  const { token, table } = await behindFaults(whole, directory);
  const environment = token.environment ?? {};
  const { slots } = await describeModule(softhsmModule, { environment });
  const offered = slots.find(({ label }) => label === token.label)?.mechanisms ?? [];
  expect(slots.map(({ lacks }) => lacks)).toEqual(slots.map(() => []));
  // The module says that it has the first mechanism alone.
  table.arm({ name: 'C_GetMechanismList', kind: 'short', argument: offered.length - 2, times: always });
  const lacks = [
    'CKM_AES_KEY_GEN',
    'CKM_AES_KEY_WRAP_PAD or CKM_AES_KEY_WRAP_KWP',
    'CKM_AES_GCM',
    'CKM_GENERIC_SECRET_KEY_GEN',
    'CKM_SHA256_HMAC',
  ];
  const described = await describeModule(token.module, { environment });
  expect(described.slots.find(({ label }) => label === token.label)?.lacks).toEqual(lacks);
  await expect(prepareToken(token)).rejects.toMatchObject({
    kind: 'configuration',
    message: `token ${token.name} cannot hold the keys of the appliance, and nothing was made in it: it lacks ${lacks.join(', ')}`,
  });
  await expect(openHsm(testHsmConfig(whole))).rejects.toMatchObject({
    message: expect.stringContaining('it was not prepared for this service'),
  });
  table.disarm();
  expect(await prepareToken(token)).toEqual(['keystored-wrapping-key', 'keystored-binding-key']);
});

test('a slot that does not say what it is hides neither its token nor another slot', async () => {
  const directory = path('silent');
  const { token, table } = await behindFaults(await makeEmptySoftToken(directory), directory);
  const environment = token.environment ?? {};
  const { slots } = await describeModule(token.module, { environment });
  expect(slots.map(({ description }) => description)).not.toContain('');
  table.arm({ name: 'C_GetSlotInfo', kind: 'refuse', argument: 5 }); // CKR_GENERAL_ERROR
  expect((await describeModule(token.module, { environment })).slots).toEqual(
    slots.map((slot, index) => (index === 0 ? { ...slot, description: '' } : slot)),
  );
});
