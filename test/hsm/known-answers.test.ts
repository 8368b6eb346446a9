// What a token offers after its start: types of keys whose answers were right, twice. A module between says what is wrong.
import { expect, test } from 'vitest';
import type { KeyType } from '../../hsm/api.ts';
import { openHsm } from '../../hsm/client/open.ts';
import { keyTypes } from '../../hsm/pkcs11/mechanisms.ts';
import { makeKey } from '../harness/keys.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { processesBelow } from '../harness/processes.ts';
import { type Fault, makeFaultyToken } from '../harness/token/faulty-module.ts';
import { testHsmConfig } from '../harness/token/softhsm.ts';

const path = temporaryDirectory();
const always = 1_000_000;
const ofSoftHsm = keyTypes.filter((type) => !type.startsWith('ml-'));
const agreeing: readonly KeyType[] = ['ecdh-p256', 'ecdh-p384', 'ecdh-p521', 'x25519'];
const onCurves: readonly KeyType[] = ['ecdsa-p256', 'ecdsa-p384', 'ecdsa-p521', 'ecdsa-secp256k1', 'ed25519', ...agreeing];

async function offeredWith(fault: Fault | undefined): Promise<readonly KeyType[]> {
  const { token, table } = await makeFaultyToken(path(`${fault?.name ?? 'none'}-${fault?.kind ?? ''}-${fault?.times ?? 0}`));
  if (fault !== undefined) table.arm(fault);
  const hsm = await openHsm(testHsmConfig(token));
  try {
    return hsm.status()[0]?.keyTypes ?? [];
  } finally {
    await hsm.close();
  }
}

test('a right module offers what SoftHSM2 has', async () => {
  expect(await offeredWith(undefined)).toEqual(ofSoftHsm);
});

test('a derivation that is refused, or gives another key, takes away the types that agree', async () => {
  for (const kind of ['refuse', 'bad-handle'] as const) {
    const argument = kind === 'refuse' ? 0x70 : 0;
    expect(await offeredWith({ name: 'C_DeriveKey', kind, argument, times: always })).toEqual(
      ofSoftHsm.filter((type) => !agreeing.includes(type)),
    );
  }
});

test('pairs that cannot be made take away the types that are made by them, and no other', async () => {
  const offered = await offeredWith({ name: 'C_GenerateKeyPair', kind: 'refuse', argument: 0x130, times: always });
  expect(offered).toEqual(ofSoftHsm.filter((type) => !onCurves.includes(type)));
});

test('a token that takes no known keys keeps its types: each key is proven when it is made', async () => {
  expect(await offeredWith({ name: 'C_CreateObject', kind: 'refuse', argument: 0x13, times: always })).toEqual(ofSoftHsm);
});

test('one wrong answer takes nothing away', async () => {
  expect(await offeredWith({ name: 'C_DeriveKey', kind: 'refuse', argument: 0x05, times: 1 })).toEqual(ofSoftHsm);
});

test('a host that opens the token in the middle of a fault takes away no type that was proven before', async () => {
  const { token, table } = await makeFaultyToken(path('reopened'));
  // Files before this one may have left some that are ending.
  const others = processesBelow(process.pid, 'host.');
  const hsm = await openHsm(testHsmConfig(token));
  try {
    const first = processesBelow(process.pid, 'host.').find((pid) => !others.includes(pid));
    table.arm({ name: 'C_GenerateKeyPair', kind: 'refuse', argument: 0x130, times: always });
    process.kill(Number(first), 'SIGKILL');
    const isReopened = (): boolean => table.struck > 0 && hsm.status()[0]?.state === 'up';
    await expect.poll(isReopened, { timeout: 30_000 }).toBe(true);
    expect(hsm.status()[0]?.keyTypes).toEqual(ofSoftHsm);
    expect(hsm.offers('ecdsa-p256')).toBe(true);
  } finally {
    await hsm.close();
  }
});

test('parameters that SoftHSM2 takes and ignores are not offered, and no signature is made without them', async () => {
  const { token } = await makeFaultyToken(path('variants'));
  const hsm = await openHsm(testHsmConfig(token));
  try {
    expect(hsm.status()[0]?.signatureVariants).toEqual([]);
    const { key } = await makeKey(hsm, 'ed25519', 'plain');
    const message = Buffer.from('abc');
    for (const options of [{ prehash: true }, { context: Buffer.from('foo') }])
      await expect(hsm.sign(key, { scheme: 'ed25519', message, options })).rejects.toMatchObject({ kind: 'unsupported' });
    expect(await hsm.sign(key, { scheme: 'ed25519', message, options: { context: Buffer.alloc(0) } })).toHaveLength(64);
  } finally {
    await hsm.close();
  }
});
