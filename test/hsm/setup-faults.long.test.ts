// Administration while the module goes wrong: whichever call of a PIN change or of a preparation fails, the token opens afterwards.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Secret, type TokenConfig } from '../../hsm/api.ts';
import { openHsm } from '../../hsm/client/open.ts';
import { changePin, describeModule, initialiseSoftToken, prepareToken } from '../../hsm/setup/setup.ts';
import { makeKey } from '../harness/keys.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { behindFaults, type Fault, makeFaultyToken } from '../harness/token/faulty-module.ts';
import { makeEmptySoftToken, planSoftToken, testHsmConfig } from '../harness/token/softhsm.ts';

const path = temporaryDirectory();
let number = 0;

const refusals = (name: string, numbers: readonly number[]): Fault[] =>
  numbers.flatMap((argument) => [
    { name, kind: 'refuse', argument },
    { name, kind: 'refuse-after', argument },
  ]);

/** CKR_GENERAL_ERROR, CKR_DEVICE_ERROR, CKR_PIN_INCORRECT, CKR_PIN_INVALID, CKR_PIN_LEN_RANGE, CKR_PIN_LOCKED, CKR_SESSION_HANDLE_INVALID. */
const numbers = [0x5, 0x30, 0xa0, 0xa1, 0xa2, 0xa4, 0xb3];

test.each([
  ...refusals('C_SetPIN', numbers),
  ...refusals('C_Login', [0x5, 0x30]),
  ...refusals('C_CloseSession', [0x5]),
  ...refusals('C_GetTokenInfo', [0x5]),
  { name: 'C_SetPIN', kind: 'crash' },
  { name: 'C_GetTokenInfo', kind: 'flip', argument: 8 * 100 },
] satisfies Fault[])('a PIN change, $kind $name $argument: the files have the PIN that the token has', async (fault) => {
  const directory = path(`pin-${++number}`);
  const { token, table } = await makeFaultyToken(directory);
  const own = { ...token, pin: { file: join(directory, 'main-pin'), next: join(directory, 'main-pin.new') } };
  table.arm(fault);
  await changePin({ ...own, user: 'user', newPin: { given: new Secret('another-pin') } }).catch(() => undefined);
  expect(table.struck).toBeGreaterThan(0);
  table.disarm();
  await expectWorking(own);
  await changePin({ ...own, user: 'user', newPin: { given: new Secret('a-third-pin') } });
  await expectWorking(own);
});

test.each([
  ...refusals('C_GenerateKey', [0x5, 0x30, 0xe2]),
  ...refusals('C_FindObjects', [0x5]),
  { name: 'C_FindObjects', kind: 'short' },
  { name: 'C_FindObjects', kind: 'short', before: 1 },
  { name: 'C_GenerateKey', kind: 'crash', before: 1 },
  { name: 'C_GenerateKey', kind: 'bad-handle' },
] satisfies Fault[])('a preparation, $kind $name $argument: the token has one key of each, also after the next', async (fault) => {
  const directory = path(`prepared-${++number}`);
  const { token, table } = await behindFaults(await makeEmptySoftToken(directory), directory);
  table.arm(fault);
  await prepareToken(token).catch(() => undefined);
  table.arm(fault);
  await prepareToken(token).catch(() => undefined);
  table.disarm();
  await prepareToken(token);
  await expectWorking(token);
});

const atInitialising: readonly Fault[] = [
  ...refusals('C_InitToken', [0x5, 0x30]),
  ...refusals('C_InitPIN', [0x5, 0x30]),
  ...refusals('C_Login', [0x5]),
  ...refusals('C_Logout', [0x5]),
  ...refusals('C_OpenSession', [0x5]),
  ...refusals('C_CloseSession', [0x5]),
  ...(['C_InitToken', 'C_OpenSession', 'C_Login', 'C_InitPIN', 'C_Logout', 'C_CloseSession'] as const).map((name): Fault => ({
    name,
    kind: 'crash',
  })),
];

test.each(atInitialising)('an initialisation, $kind $name $argument: run again, it goes on, and there is one token', async (fault) => {
  const directory = path(`initialised-${++number}`);
  const { label, soPin, ...planned } = planSoftToken(directory);
  const { token, table } = await behindFaults({ ...planned, label }, directory);
  table.arm(fault);
  await initialiseSoftToken({ ...token, label, soPin }).catch(() => undefined);
  expect(table.struck).toBeGreaterThan(0);
  table.disarm();
  // What has been completed is refused with a word that it has.
  const came = await initialiseSoftToken({ ...token, label, soPin }).catch(({ message }: Error) => message);
  expect(came).toMatch(/^(made|finished|.* it is complete: prepare the token)$/);
  const { slots } = await describeModule(token.module, { environment: token.environment ?? {} });
  expect(slots.filter(({ initialised }) => initialised)).toMatchObject([{ label, userPinSet: true }]);
  await prepareToken(token);
  await expectWorking(token);
});

async function expectWorking(token: TokenConfig): Promise<void> {
  const hsm = await openHsm(testHsmConfig(token));
  try {
    const { key } = await makeKey(hsm, 'aes-256', 'works');
    expect(await hsm.decrypt(key, await hsm.encrypt(key, Buffer.from('text')))).toHaveLength(4);
    const labels = (await hsm.ownObjects(token.name, 100)).map(({ label }) => label);
    expect(labels.toSorted()).toEqual(['keystored-binding-key', 'keystored-wrapping-key']);
  } finally {
    await hsm.close();
  }
}
