// Own keys carried from one token to another: never readable, the same key in both, and whatever is cut off, no key is lost.
import { randomBytes } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Hsm, KeyReference, TokenConfig } from '../../hsm/api.ts';
import { openHsm } from '../../hsm/client/open.ts';
import { findTokenDirectory } from '../../hsm/files/softhsm.ts';
import { giveOwnKeys, type WrappedForAll, listOwnKeys, openTransport, takeOwnKeys } from '../../hsm/setup/setup.ts';
import { makeKey } from '../harness/keys.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { carryToAll, numbersIn } from '../harness/token/carrying.ts';
import { makeEmptySoftToken, makeSoftToken, testHsmConfig } from '../harness/token/softhsm.ts';

const path = temporaryDirectory();
const message = Buffer.from('message');
let giver: TokenConfig;
let taker: TokenConfig;

/** Both under one name: what one wraps is stored under it, and the other opens it. */
const named = (token: TokenConfig): TokenConfig => ({ ...token, name: 'main' });

/** Opens a token whose newest wrapping key in use has this number. */
async function open(token: TokenConfig, inUse: number): Promise<Hsm> {
  const hsm = await openHsm(testHsmConfig(token));
  hsm.wrappingKeys.follow(() => inUse);
  return hsm;
}

/** Labels and kinds of all objects in a token. */
function objectsIn(token: TokenConfig): string {
  const pin = readFileSync((token.pin as { file: string }).file, 'utf8');
  const tool = ['--module', token.module, '--token-label', token.label ?? '', '--login', '--pin', pin, '--list-objects'];
  return execFileSync('pkcs11-tool', tool, {
    env: { ...process.env, ...token.environment },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}

/** The files of the objects of a SoftHSM token. Of each there is one to lock it, without which it is not destroyed. */
function objectFilesOf(token: TokenConfig): ReadonlyMap<string, Buffer> {
  const directory = findTokenDirectory(token) as string;
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) => /\.(object|lock)$/.test(name));
  return new Map(names.map((name) => [join(directory, name), readFileSync(join(directory, name))]));
}

/** An attribute in these files: its type, the kind of its value, the value (eight octets each). */
const attribute = (type: number, kind: number, value: number): Buffer =>
  Buffer.concat([type, kind, value].map((number) => Buffer.from(number.toString(16).padStart(16, '0'), 'hex')));
const CKK_GENERIC_SECRET = attribute(0x100, 2, 0x10);
const CKK_AES = attribute(0x100, 2, 0x1f);

/** SoftHSM makes an object with an empty CKA_VALUE, and sets that afterwards. */
function withoutValue(octets: Buffer): Buffer {
  const head = attribute(0x11, 3, 0).subarray(0, 16);
  const at = octets.indexOf(head) + head.length;
  const length = Number(octets.readBigUInt64BE(at));
  return Buffer.concat([octets.subarray(0, at), Buffer.alloc(8), octets.subarray(at + 8 + length)]);
}

beforeAll(async () => {
  giver = named(await makeSoftToken(path(), 'giver'));
  taker = named(await makeEmptySoftToken(path(), 'taker'));
});

describe('what is cut off leaves nothing that is used, and the next carrying is another one', () => {
  test('a token that was only asked has nothing but a transport key, which the next asking replaces', async () => {
    const first = await openTransport(taker);
    expect(first).toMatchObject({ hashes: ['sha1'], present: [] });
    expect(objectsIn(taker).match(/keystored-transport-key/g)).toHaveLength(1);
    const second = await openTransport(taker);
    expect(objectsIn(taker).match(/keystored-transport-key/g)).toHaveLength(1);
    const given = await giveOwnKeys(giver, 2, [first]);
    // The wrapped keys are for a transport key that is gone.
    await expect(takeOwnKeys(taker, first, given, 0)).rejects.toMatchObject({ kind: 'key-missing' });
    expect(second.id).not.toBe(first.id);
    expect([await numbersIn(giver), await numbersIn(taker)]).toEqual([[1], []]);
  });

  test('keys that only one token has taken wrap nothing, and their number is not given again', async () => {
    const transports = [await openTransport(giver), await openTransport(taker)] as const;
    const given = await giveOwnKeys(giver, 2, transports);
    await takeOwnKeys(giver, transports[0], given, 0);
    const hsm = await open(giver, 1);
    expect(hsm.wrappingKeys.numberOf((await makeKey(hsm, 'aes-256', 'meanwhile')).stored)).toBe(1);
    await hsm.close();
    await expect(giveOwnKeys(giver, 2, [await openTransport(taker)])).rejects.toThrow(/not the next/);
  });

  test('keys that were taken are taken again without harm', async () => {
    const transport = await openTransport(taker);
    const given = await giveOwnKeys(giver, 3, [transport]);
    for (const _again of [1, 2]) {
      await takeOwnKeys(taker, transport, given, 0);
      expect(await listOwnKeys(taker)).toEqual([{ number: 3, carrying: given.carrying }]);
      expect(objectsIn(taker)).not.toContain('keystored-transport-key');
    }
  });

  test.each(['wrapping', 'binding'] as const)('of wrapped keys with a wrong %s key nothing stays', async (wrong) => {
    const transport = await openTransport(taker);
    const [given, other] = [await giveOwnKeys(giver, 4, [transport]), await giveOwnKeys(giver, 4, [transport])];
    const [wrapped] = given.parcels;
    const mixed = { ...given, parcels: [{ ...wrapped, [wrong]: other.parcels[0]?.[wrong] }] } as WrappedForAll;
    await expect(takeOwnKeys(taker, transport, mixed, 0)).rejects.toMatchObject({ kind: 'key-not-usable' });
    const damaged = { ...given, parcels: [{ ...wrapped, [wrong]: randomBytes(384).toString('base64') }] } as WrappedForAll;
    await expect(takeOwnKeys(taker, transport, damaged, 0)).rejects.toThrow(/C_UnwrapKey/);
    expect(await numbersIn(taker)).not.toContain(4);
    expect(objectsIn(taker).match(/Secret Key Object/g)).toHaveLength(2);
  });

  test.each(['wrapping', 'binding'] as const)('a %s key that a kill has left without its value is made again', async (which) => {
    const transport = await openTransport(taker);
    const number = Math.max(...(await numbersIn(taker))) + 1;
    const given = await giveOwnKeys(giver, number, [transport]);
    const before = objectFilesOf(taker);
    await takeOwnKeys(taker, transport, given, 0);
    // As the kill left it: the transport key is there still, and of the key all but its value.
    for (const [file, octets] of before) if (!existsSync(file)) writeFileSync(file, octets);
    const keyType = which === 'wrapping' ? CKK_AES : CKK_GENERIC_SECRET;
    for (const [file, octets] of objectFilesOf(taker))
      if (!before.has(file) && octets.includes(keyType)) writeFileSync(file, withoutValue(octets));
    await takeOwnKeys(taker, transport, given, 0);
    expect(objectsIn(taker)).not.toContain('keystored-transport-key');
    const hsm = await open(taker, number);
    const { key } = await makeKey(hsm, 'aes-256', `under-${number}`);
    expect(Buffer.from(await hsm.decrypt(key, await hsm.encrypt(key, message)))).toEqual(message);
    await hsm.close();
  });
});

describe('two tokens with carried keys', () => {
  let given: WrappedForAll;
  let one: Hsm;
  let two: Hsm;
  let before: KeyReference;
  let inToken: KeyReference;

  beforeAll(async () => {
    const alone = await open(giver, 1);
    before = (await makeKey(alone, 'aes-256', 'before')).key;
    inToken = (await makeKey(alone, 'aes-256', 'in-token', { custody: 'token' })).key;
    given = await carryToAll([giver, taker]);
    [one, two] = [await open(giver, given.number), await open(taker, given.number)];
    // It was opened before it knew of the carrying.
    alone.wrappingKeys.follow(() => given.number);
    expect(alone.wrappingKeys.numberOf((await makeKey(alone, 'aes-256', 'known')).stored)).toBe(given.number);
    await alone.close();
  });

  afterAll(() => Promise.all([one.close(), two.close()]));

  test('a key that one makes the other uses, and both wrap it alike', async () => {
    for (const [maker, user] of [
      [one, two],
      [two, one],
    ] as const) {
      const { key } = await makeKey(maker, 'aes-256', 'shared');
      expect(Buffer.from(await user.decrypt(key, await maker.encrypt(key, message)))).toEqual(message);
      expect(await user.wrappingKeys.rewrap(key)).toEqual(await maker.wrappingKeys.rewrap(key));
    }
  });

  test('a key from before is opened by the first token alone; wrapped again, by both; one in the token stays there', async () => {
    await expect(two.encrypt(before, message)).rejects.toMatchObject({ kind: 'key-missing' });
    const again = { ...before, stored: await one.wrappingKeys.rewrap(before) };
    expect(Buffer.from(await two.decrypt(again, await one.encrypt(before, message)))).toEqual(message);
    await expect(one.encrypt(inToken, message)).resolves.toBeDefined();
    await expect(two.encrypt(inToken, message)).rejects.toMatchObject({ kind: 'key-missing' });
  });

  test('the token says that the key was carried and cannot be read, and the evidence says so too', async () => {
    const { key } = await makeKey(two, 'aes-256', 'evidence');
    for (const hsm of [one, two]) {
      const { wrappingKey } = await hsm.evidence(key);
      expect(wrappingKey).toMatchObject({
        ...{ number: given.number, carried: true, mechanism: 'CKM_AES_KEY_WRAP_PAD' },
        object: { local: false, sensitive: true, extractable: false, neverExtractable: false, uses: ['wrap', 'unwrap'] },
      });
    }
    for (const token of [giver, taker]) {
      expect((await listOwnKeys(token)).at(-1)).toEqual({ number: given.number, carrying: given.carrying });
      expect(objectsIn(token)).not.toContain('keystored-transport-key');
    }
    expect(await two.widerObjects('main')).toEqual([]);
  });

  test('after the old wrapping keys are destroyed each token has what its keys need, after a restart too', async () => {
    const wrapped = (await makeKey(one, 'secret-256', 'kept')).key;
    const mac = await one.hmac(wrapped, 'sha256', message);
    for (const [hsm, token] of [
      [one, giver],
      [two, taker],
    ] as const)
      for (const number of (await numbersIn(token)).filter((old) => old < given.number)) await hsm.wrappingKeys.destroy('main', number);
    expect([await numbersIn(giver), await numbersIn(taker)]).toEqual([[given.number], [given.number]]);
    const again = [await open(giver, given.number), await open(taker, given.number)] as const;
    for (const hsm of again) expect(await hsm.hmac(wrapped, 'sha256', message)).toEqual(mac);
    await expect(again[0].encrypt(inToken, message)).resolves.toBeDefined();
    await Promise.all(again.map((hsm) => hsm.close()));
  });
});

test('what a carrying that was cut off has left is no rotation that a token out of a group has begun, and the next one passes over it', async () => {
  // As the embedded one of an appliance that was in a cluster and stands alone.
  const token = named(await makeSoftToken(path(), 'alone'));
  const { number } = await carryToAll([token]);
  const { number: left } = await carryToAll([token]);
  expect(await numbersIn(token)).toEqual([1, number, left]);
  const alone = await open(token, number);
  expect(await alone.wrappingKeys.list('main')).toEqual([1, number]);
  const next = await alone.wrappingKeys.makeNext('main', number);
  expect(next).toBe(left + 1);
  expect(await alone.wrappingKeys.makeNext('main', number)).toBe(next);
  alone.wrappingKeys.follow(() => next);
  expect(alone.wrappingKeys.numberOf((await makeKey(alone, 'aes-256', 'next')).stored)).toBe(next);
  for (const old of (await alone.wrappingKeys.list('main')).filter((one) => one < next)) await alone.wrappingKeys.destroy('main', old);
  expect(await numbersIn(token)).toEqual([next]);
  await alone.close();
});
