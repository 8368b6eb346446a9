// A module that calls what a caller sent a device error (CKR_DEVICE_ERROR, 0x30): the canary is asked before the host is replaced, so that
// nobody takes the token from the others with a ciphertext, a point or a key that is wrong.
import { constants, createPublicKey, publicEncrypt, randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Hsm, HsmError, type KeyReference, throwAwayPair } from '../../hsm/api.ts';
import { openHsm } from '../../hsm/client/open.ts';
import type { HsmEvent } from '../../hsm/client/options.ts';
import { remedyOf, TokenError } from '../../hsm/pkcs11/return-values.ts';
import { bindingOf, freshMaterial, makeKey } from '../harness/keys.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { type FaultTable, makeFaultyToken } from '../harness/token/faulty-module.ts';
import { testHsmConfig } from '../harness/token/softhsm.ts';

const CKR_DEVICE_ERROR = 0x30;
const always = 1_000_000;
const message = Buffer.from('message');
const path = temporaryDirectory();
const events: HsmEvent[] = [];
let hsm: Hsm;
let table: FaultTable;
let aes: KeyReference;
let rsa: KeyReference;
let oaep: (text: Buffer) => Buffer;

beforeAll(async () => {
  const faulty = await makeFaultyToken(path());
  table = faulty.table;
  hsm = await openHsm(testHsmConfig(faulty.token), { onEvent: (event) => events.push(event) });
  aes = (await makeKey(hsm, 'aes-256', 'blamed-aes')).key;
  const made = await makeKey(hsm, 'rsa-2048', 'blamed-rsa');
  rsa = made.key;
  const key = createPublicKey({ key: Buffer.from(made.publicKey as Uint8Array), format: 'der', type: 'spki' });
  oaep = (text) => publicEncrypt({ key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' }, text);
});

afterEach(async () => {
  table.disarm();
  // The host that opened the token still serves.
  expect(Buffer.from(await hsm.decrypt(aes, await hsm.encrypt(aes, message)))).toEqual(message);
  expect(events.map(({ kind }) => kind)).toEqual(['token-up']);
});

afterAll(() => hsm.close());

describe('the module answers a device error to', () => {
  test('every ciphertext that does not open: decryption-failed, and all others are served meanwhile', async () => {
    table.arm({ name: 'C_Decrypt', kind: 'refuse-as', argument: CKR_DEVICE_ERROR, times: always });
    const sealed = await hsm.encrypt(aes, message);
    const outcomes = await Promise.all(
      Array.from({ length: 100 }, (_, at) => kindOf(at % 2 === 0 ? hsm.decrypt(aes, sealed) : hsm.decrypt(aes, randomBytes(64)))),
    );
    expect(outcomes.filter((one) => one === 'decryption-failed')).toHaveLength(50);
    expect(outcomes.filter((one) => one === 'done')).toHaveLength(50);
  });

  test('an RSA-OAEP ciphertext, once: it is decrypted again, and opens', async () => {
    table.arm({ name: 'C_Decrypt', kind: 'refuse', argument: CKR_DEVICE_ERROR });
    expect(Buffer.from(await hsm.decryptOaep(rsa, 'sha256', oaep(message)))).toEqual(message);
    expect(table.struck).toBe(1);
  });

  test('key material that it does not take: invalid-key-data', async () => {
    const material = freshMaterial('ecdsa-p256');
    table.arm({ name: 'C_CreateObject', kind: 'refuse', argument: CKR_DEVICE_ERROR, times: always });
    expect(await kindOf(hsm.importKey('ecdsa-p256', material, bindingOf('blamed-material')))).toBe('invalid-key-data');
  });

  test('the first signature under imported material: invalid-key-data', async () => {
    const material = freshMaterial('ecdsa-p256');
    // Before it come the two MACs that bind the key to its record.
    table.arm({ name: 'C_Sign', kind: 'refuse', argument: CKR_DEVICE_ERROR, before: 2, times: always });
    expect(await kindOf(hsm.importKey('ecdsa-p256', material, bindingOf('blamed-signature')))).toBe('invalid-key-data');
  });

  test('a stored key that does not unwrap: that use fails alone', async () => {
    const { key } = await makeKey(hsm, 'aes-256', 'blamed-blob');
    table.arm({ name: 'C_UnwrapKey', kind: 'refuse', argument: CKR_DEVICE_ERROR, times: always });
    expect(await kindOf(hsm.readKeyMaterialInClear(key))).toBe('unavailable');
  });
});

test('a number as long as the modulus that is not below it never reaches the token', async () => {
  table.arm({ name: 'C_DecryptInit', kind: 'crash', times: always });
  expect(await kindOf(hsm.decryptOaep(rsa, 'sha256', Buffer.alloc(256, 0xff)))).toBe('decryption-failed');
});

test.each(['ecdh-p256', 'x25519'] as const)('%s: what is no point never reaches the token', async (type) => {
  const { key } = await makeKey(hsm, type, `blamed-${type}`);
  const { point } = throwAwayPair(type);
  table.arm({ name: 'C_DeriveKey', kind: 'crash', times: always });
  const wrong = Array.from({ length: 50 }, (_, at) => (at % 2 === 0 ? new Uint8Array(point.length) : randomBytes(point.length + 1 + at)));
  const outcomes = await Promise.all(wrong.map((one) => kindOf(hsm.agree(key, one))));
  expect(new Set(outcomes)).toEqual(new Set(['decryption-failed']));
});

test('a device error to a point is answered once the canary has worked, and nobody else waits for another host', async () => {
  const { key } = await makeKey(hsm, 'ecdh-p256', 'blamed-point');
  table.arm({ name: 'C_DeriveKey', kind: 'refuse', argument: CKR_DEVICE_ERROR, times: always });
  expect(await kindOf(hsm.agree(key, throwAwayPair('ecdh-p256').point))).toBe('unavailable');
});

test('a device error is the fault of what was sent only where a function judges that', () => {
  for (const fn of ['C_Decrypt', 'C_UnwrapKey', 'C_DeriveKey', 'C_DecapsulateKey', 'C_Verify', 'C_CreateObject'])
    expect(remedyOf(new TokenError(CKR_DEVICE_ERROR, fn))).toBe('doubt');
  for (const fn of ['C_Sign', 'C_Encrypt', 'C_GenerateRandom', 'C_OpenSession'])
    expect(remedyOf(new TokenError(CKR_DEVICE_ERROR, fn))).toBe('module');
  expect(remedyOf(new TokenError(0x32, 'C_Decrypt'))).toBe('module');
});

function kindOf(attempt: Promise<unknown>): Promise<string> {
  return attempt.then(
    () => 'done',
    (error: unknown) => (error instanceof HsmError ? error.kind : String(error)),
  );
}
