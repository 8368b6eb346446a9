// Rotation of the token's wrapping key: blobs name the key that unwraps them; rewrapped keys neither change nor leave the token.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Hsm, HsmError, KeyReference, KeyType, StoredKey, TokenConfig } from '../../hsm/api.ts';
import { openHsm } from '../../hsm/client/open.ts';
import { prepareToken } from '../../hsm/setup/setup.ts';
import { formatBlob, parseBlob } from '../../hsm/protocol/blob-format.ts';
import { freshMaterial, makeKey, signatures } from '../harness/keys.ts';
import { makeSoftToken, testHsmConfig } from '../harness/token/softhsm.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

const path = temporaryDirectory();
const run = promisify(execFile);
const message = Buffer.from('message');
let token: TokenConfig;
let hsm: Hsm;
let other: Hsm;

beforeAll(async () => {
  token = await makeSoftToken(path());
  [hsm, other] = [await openHsm(testHsmConfig(token)), await openHsm(testHsmConfig(token))];
});

afterAll(() => Promise.all([hsm.close(), other.close()]));

const types: readonly KeyType[] = ['aes-128', 'aes-256', 'secret-256', 'rsa-2048', 'ecdsa-p256', 'ecdsa-p384', 'ecdsa-p521', 'ed25519'];

/** Whether a reference is the key that made the proof. */
type Proof = (from: Hsm, key: KeyReference) => Promise<boolean>;

async function proofOf(type: KeyType, key: KeyReference, publicKey: Uint8Array | undefined): Promise<Proof> {
  if (type.startsWith('aes')) {
    const sealed = await hsm.encrypt(key, message);
    return async (from, now) => message.equals(await from.decrypt(now, sealed));
  }
  if (type === 'secret-256') {
    const mac = await hsm.hmac(key, 'sha256', message);
    return async (from, now) => Buffer.compare(await from.hmac(now, 'sha256', message), mac) === 0;
  }
  const made = signatures(type, message, publicKey ?? new Uint8Array());
  return async (from, now) => {
    const checked = await Promise.all(made.map(async ({ scheme, check }) => check(await from.sign(now, scheme))));
    return checked.every(Boolean);
  };
}

test('blobs under the first wrapping key have the old form; later ones carry the number', () => {
  const wrapped = randomBytes(40);
  const first = { mechanism: 0x210a, content: 'seed', number: 1, wrapped } as const;
  expect(formatBlob(first)).toEqual(Buffer.concat([Buffer.of(2), wrapped]));
  const later = { mechanism: 0x210b, content: 'key', number: 70_000, wrapped } as const;
  expect(formatBlob(later)).toEqual(Buffer.concat([Buffer.from([7, 0, 1, 0x11, 0x70]), wrapped]));
  for (const blob of [first, later]) expect(parseBlob(formatBlob(blob))).toEqual(blob);
  for (const octets of [[], [1], [0, 1], [5, 0, 0, 0, 2], [9, 0, 0, 0, 2, 1]])
    expect(() => parseBlob(Buffer.from(octets))).toThrow(/unknown form/);
});

test('foreign keys of the same label without a valid number are ignored', async () => {
  const soft = await makeSoftToken(path(), 'foreign');
  const pin = readFileSync((soft.pin as { file: string }).file, 'utf8');
  const tool = ['--module', soft.module, '--token-label', soft.label ?? '', '--login', '--pin', pin];
  for (const number of ['', 'x', '2.5', '-3', '1e3', '02', '4294967296']) {
    const id = Buffer.from(`keystored ${number}`).toString('hex');
    const key = ['--keygen', '--key-type', 'AES:32', '--sensitive', '--label', 'keystored-wrapping-key', '--id', id];
    await run('pkcs11-tool', [...tool, ...key], { env: { ...process.env, ...soft.environment } });
  }
  const beside = await openHsm(testHsmConfig(soft));
  const { stored } = (await makeKey(beside, 'aes-256', 'beside-foreign-ones')).key;
  expect([beside.wrappingKeys.numberOf(stored), await beside.wrappingKeys.list(soft.name)]).toEqual([1, [1]]);
  expect(await beside.wrappingKeys.makeNext(soft.name, 1)).toBe(2);
  await beside.close();
});

describe('after a rotation', () => {
  const old: { type: KeyType; key: KeyReference; proof: Proof }[] = [];
  const fresh: { key: KeyReference; proof: Proof }[] = [];

  beforeAll(async () => {
    for (const type of types) {
      const { key, publicKey } = await makeKey(hsm, type, `rotated-${type}`);
      old.push({ type, key, proof: await proofOf(type, key, publicKey) });
    }
    expect(await Promise.all([hsm.wrappingKeys.makeNext('main', 1), other.wrappingKeys.makeNext('main', 1)])).toEqual([2, 2]);
    for (const one of [hsm, other]) one.wrappingKeys.follow(() => 2);
    for (const { key, proof } of old) fresh.push({ key: { ...key, stored: await hsm.wrappingKeys.rewrap(key) }, proof });
  });

  test('concurrent and repeated calls make one new key', async () => {
    expect(await hsm.wrappingKeys.makeNext('main', 1)).toBe(2);
    expect(await other.wrappingKeys.list('main')).toEqual([1, 2]);
    expect(await prepareToken(token)).toEqual([]);
  });

  test('keys wrapped before and rewrapped keys work, in every process', async () => {
    for (const { key, proof } of [...old, ...fresh]) for (const from of [hsm, other]) expect(await proof(from, key)).toBe(true);
  });

  test('blobs name their wrapping key', () => {
    expect(old.map(({ key }) => hsm.wrappingKeys.numberOf(key.stored))).toEqual(types.map(() => 1));
    expect(fresh.map(({ key }) => hsm.wrappingKeys.numberOf(key.stored))).toEqual(types.map(() => 2));
  });

  test.each([['generated', undefined] as const, ['imported', freshMaterial('ed25519')] as const])(
    'keys %s by a process that has not seen the new key are under it all the same',
    async (_how, material) => {
      const third = await openHsm(testHsmConfig(token));
      const binding = { tenant: 't', keyId: `late-${_how}`, version: 1, purpose: 'p' };
      third.wrappingKeys.follow(() => 3);
      const next = await hsm.wrappingKeys.makeNext('main', 2);
      const { stored } =
        material === undefined ? await third.generate('rsa-2048', binding) : await third.importKey('ed25519', material, binding);
      expect([next, third.wrappingKeys.numberOf(stored)]).toEqual([3, 3]);
      await third.close();
    },
  );

  test('a changed or foreign blob is not rewrapped, nor is a token key', async () => {
    const { stored, binding } = (old[0] as (typeof old)[number]).key;
    const blob = stored.blob.map((octet, index) => (index === 7 ? octet ^ 1 : octet));
    expect(await kindOf(hsm.wrappingKeys.rewrap({ stored: { ...stored, blob }, binding }))).toBe('key-not-usable');
    expect(await kindOf(hsm.wrappingKeys.rewrap({ stored, binding: { ...binding, keyId: 'x' } }))).toBe('key-not-usable');
    const { key } = await makeKey(hsm, 'aes-256', 'in-token', { custody: 'token' });
    expect(await kindOf(hsm.wrappingKeys.rewrap(key))).toBe('refused');
    expect(hsm.wrappingKeys.numberOf(key.stored)).toBeUndefined();
    await hsm.destroy(key);
  });

  test('the newest is never destroyed; after an old one is, its blobs name it and the others work', async () => {
    expect(await kindOf(hsm.wrappingKeys.destroy('main', 3))).toBe('refused');
    await hsm.wrappingKeys.destroy('main', 1);
    await other.wrappingKeys.destroy('main', 1);
    expect(await other.wrappingKeys.list('main')).toEqual([2, 3]);
    const restarted = await openHsm(testHsmConfig(token));
    await expect(restarted.encrypt(old[0]?.key as KeyReference, message)).rejects.toMatchObject({
      kind: 'key-missing',
      message: expect.stringContaining('no wrapping key 1'),
    });
    for (const { key, proof } of fresh) expect(await proof(restarted, key)).toBe(true);
    expect(hsm.wrappingKeys.numberOf((await makeKey(restarted, 'aes-256', 'newest')).key.stored)).toBe(3);
    await restarted.close();
  });
});

function kindOf(attempt: Promise<StoredKey | void>): Promise<string> {
  return attempt.then(
    () => 'done',
    (error: HsmError) => error.kind,
  );
}
