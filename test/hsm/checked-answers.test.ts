// check-answers: signatures that do not verify, ciphertexts that do not open and MACs that differ are made again, and never given out.
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { Hsm, HsmError, KeyReference, KeyType } from '../../hsm/api.ts';
import { openHsm } from '../../hsm/client/open.ts';
import type { HsmEvent } from '../../hsm/client/options.ts';
import { makeKey, signatures } from '../harness/keys.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { type Fault, type FaultTable, makeFaultyToken } from '../harness/token/faulty-module.ts';
import { testHsmConfig } from '../harness/token/softhsm.ts';

const path = temporaryDirectory();
const text = Buffer.from('what is asked for');
const always = 1_000_000;
let hsm: Hsm;
let table: FaultTable;
let events: HsmEvent[] = [];

beforeAll(async () => {
  const faulty = await makeFaultyToken(path());
  table = faulty.table;
  hsm = await openHsm({ ...testHsmConfig(faulty.token), checkAnswers: true }, { onEvent: (event) => events.push(event) });
});

beforeEach(() => {
  table.disarm();
  events = [];
});

afterAll(() => hsm.close());

test('a signature with a wrong bit is made again; when all are wrong, none is given out', async () => {
  const types: readonly KeyType[] = ['rsa-2048', 'ecdsa-p256', 'ed25519'];
  const keys = await Promise.all(types.map((type) => makeKey(hsm, type, `checked-${type}`)));
  const flip: Fault = { name: 'C_Sign', kind: 'flip', argument: 40 };
  for (const { key, stored, publicKey } of keys) {
    const [{ scheme, check }] = signatures(stored.type, text, publicKey as Uint8Array) as [ReturnType<typeof signatures>[number]];
    // Loads the key, so that the next signature is the only one.
    await hsm.sign(key, scheme, check);
    events = [];
    table.arm(flip);
    expect(check(await hsm.sign(key, scheme, check))).toBe(true);
    const message = expect.stringContaining(`checked-${stored.type}, version 1`);
    expect(events).toMatchObject([{ kind: 'wrong-answer', token: 'main', message }]);
    table.arm(flip);
    const outcomes = await hsm.useAll(Array.from({ length: 5 }, () => ({ use: 'sign', key, scheme, check }) as const));
    expect(outcomes.map((outcome) => outcome instanceof Uint8Array && check(outcome))).toEqual([true, true, true, true, true]);
    expect(table.struck).toBe(1);
    table.arm({ ...flip, times: always });
    await expect(hsm.sign(key, scheme, check)).rejects.toMatchObject({ kind: 'unavailable', fn: 'C_Sign' });
    table.disarm();
  }
});

test('a signature without a check is given out as the token made it', async () => {
  const { key, publicKey } = await makeKey(hsm, 'ed25519', 'unchecked');
  const [{ scheme, check }] = signatures('ed25519', text, publicKey as Uint8Array) as [ReturnType<typeof signatures>[number]];
  await hsm.sign(key, scheme);
  table.arm({ name: 'C_Sign', kind: 'flip', argument: 40 });
  expect(check(await hsm.sign(key, scheme))).toBe(false);
});

test('a ciphertext, a plaintext and a MAC with a wrong bit are made again', async () => {
  const { key: aes } = await makeKey(hsm, 'aes-256', 'aes');
  const { key: secret } = await makeKey(hsm, 'secret-256', 'secret');
  const sealed = await hsm.encrypt(aes, text);
  const mac = await hsm.hmac(secret, 'sha256', text);
  const flipping = async (name: Fault['name'], use: () => Promise<Uint8Array>): Promise<Uint8Array> => {
    table.arm({ name, kind: 'flip', argument: 11 });
    const answer = await use();
    expect(table.struck).toBe(1);
    table.disarm();
    return answer;
  };
  expect(Buffer.from(await hsm.decrypt(aes, await flipping('C_Encrypt', () => hsm.encrypt(aes, text))))).toEqual(text);
  expect(Buffer.from(await flipping('C_Decrypt', () => hsm.decrypt(aes, sealed)))).toEqual(text);
  expect(await flipping('C_Sign', () => hsm.hmac(secret, 'sha256', text))).toEqual(mac);
});

test('ciphertexts that never open are refused; when they do again, the service goes on by itself', async () => {
  const { key } = await makeKey(hsm, 'aes-256', 'refused');
  await hsm.encrypt(key, text);
  table.arm({ name: 'C_Encrypt', kind: 'flip', argument: 11, times: always });
  expect(await kindOf(hsm, key)).toBe('unavailable');
  table.disarm();
  await vi.waitFor(async () => expect(await kindOf(hsm, key)).toBe('done'), { timeout: 60_000, interval: 50 });
});

function kindOf(from: Hsm, key: KeyReference): Promise<string> {
  return from.encrypt(key, text).then(
    () => 'done',
    (error: HsmError) => error.kind,
  );
}
