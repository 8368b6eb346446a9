// Objects in a token have one use. Read from the token itself, for persistent and session objects.
import { afterAll, describe, expect, test } from 'vitest';
import { givesSecrets, type KeyType, keyUses, type TokenConfig } from '../../hsm/api.ts';
import * as ck from '../../hsm/pkcs11/constants.ts';
import { keyAttributes } from '../../hsm/engine/custody.ts';
import { Engine } from '../../hsm/engine/engine.ts';
import { keyIdentity } from '../../hsm/protocol/key-encoding.ts';
import { generateKey, importKey } from '../../hsm/engine/operations/making.ts';
import { decryptOaep } from '../../hsm/engine/operations/oaep.ts';
import { openHsm } from '../../hsm/client/open.ts';
import type { ObjectHandle } from '../../hsm/pkcs11/module.ts';
import { keyTypes, plainMechanism } from '../../hsm/pkcs11/mechanisms.ts';
import { makeWrappingKey } from '../../hsm/engine/rotation.ts';
import { TokenError } from '../../hsm/pkcs11/return-values.ts';
import type { AttributeName } from '../../hsm/pkcs11/template.ts';
import { bindingOf, freshMaterial } from '../harness/keys.ts';
import { findModules } from '../harness/token/modules.ts';
import { makeSoftTokenForThisProcess, testHsmConfig } from '../harness/token/softhsm.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

const path = temporaryDirectory();
const slow: ReadonlySet<KeyType> = new Set<KeyType>(['rsa-3072', 'rsa-4096']);
const uses: readonly AttributeName[] = [
  ...(['encrypt', 'decrypt', 'sign', 'signRecover', 'verify', 'verifyRecover', 'wrap', 'unwrap', 'derive'] as const),
];

/** The uses of an object according to the token: `encrypt decrypt`. */
function usesOf({ sessions: { module, owner } }: Engine, object: ObjectHandle): string {
  const allowed = uses.filter((use) => {
    try {
      return module.attribute(owner, object, use)[0] === 1;
    } catch (error) {
      if (error instanceof TokenError) return false;
      throw error;
    }
  });
  return allowed.join(' ');
}

/** The label of a key says which of the jobs of its family it has. */
const purposeOf = (type: KeyType): string => {
  if (type.startsWith('cmac')) return 'cmac';
  const { use } = keyUses[type];
  return givesSecrets(use) ? use : 'test';
};

test.for(await findModules())('$name: every key in the token does one job', { timeout: 120_000 }, async (module) => {
  const one = await module.make(path(module.name.replaceAll(' ', '-')));
  const hsm = await openHsm(testHsmConfig(one));
  try {
    for (const type of keyTypes.filter((each) => hsm.offers(each) && !slow.has(each)))
      for (const custody of ['wrapped', 'token'] as const) {
        await hsm.generate(type, bindingOf(`made-${type}`, purposeOf(type)), { custody });
        await hsm.importKey(type, freshMaterial(type), bindingOf(`imported-${type}`, purposeOf(type)), { custody });
      }
    await hsm.wrappingKeys.makeNext(one.name, 1);
    expect(await hsm.widerObjects(one.name)).toEqual([]);
    // NSS softoken looks neither at CKA_DERIVE nor at CKA_DECAPSULATE.
    const ofNss = [
      'a key of type ecdsa-p256 that was not made to derive may derive',
      'a key of type ml-kem-768 that was not made to decapsulate may decapsulate',
    ];
    const allowed = module.name === 'NSS softoken' ? ofNss : [];
    expect(await hsm.forbiddenUses(one.name)).toEqual(allowed);
  } finally {
    await hsm.close();
  }
});

describe('SoftHSM2 in this process', () => {
  let engine: Engine | undefined;
  let token: TokenConfig;

  const open = async (): Promise<Engine> => {
    if (engine !== undefined) return engine;
    token = await makeSoftTokenForThisProcess(path('here'));
    return (engine = new Engine({ token, cacheKeys: 100, pin: token.pin }));
  };
  afterAll(() => engine?.close());

  test('every object has one use, however it was made', { timeout: 120_000 }, async () => {
    const one = await open();
    const types = one.keyTypes.filter((type) => !slow.has(type));
    for (const type of types) {
      for (const custody of ['wrapped', 'token'] as const) {
        const binding = bindingOf(`${type}-${custody}`, purposeOf(type));
        const making = { binding, custody, extractable: true, under: 1 };
        const made = [generateKey(one, type, making), importKey(one, type, making, freshMaterial(type))];
        for (const { blob, mac } of made) one.key(keyIdentity({ stored: { type, custody, token: '', blob, mac }, binding }));
      }
    }
    const opens = bindingOf('opens');
    const { blob, mac } = generateKey(one, 'rsa-2048', { binding: opens, custody: 'wrapped', extractable: true, under: 1 });
    const identity = keyIdentity({ stored: { type: 'rsa-2048', custody: 'wrapped', token: '', blob, mac }, binding: opens });
    expect(() => decryptOaep(one, identity, 'sha256', Buffer.alloc(256, 1))).toThrow('does not open');
    makeWrappingKey(one, 1);
    const { module: library, owner } = one.sessions;
    const found = new Set(
      [ck.CKO_SECRET_KEY, ck.CKO_PRIVATE_KEY, ck.CKO_PUBLIC_KEY].flatMap((keyClass) =>
        library.allObjects(owner, { class: keyClass }).map((object) => usesOf(one, object)),
      ),
    );
    // The one without a use is there to be wrapped: by it a handle of a wrapping key is known again.
    expect([...found].sort()).toEqual(['', 'decrypt', 'derive', 'encrypt decrypt', 'sign', 'wrap unwrap']);
  });

  test('the inspection of hsm test and check names an object with more uses', async () => {
    const one = await open();
    const { module: library, owner } = one.sessions;
    const { class: _class, ...attributes } = keyAttributes('secret-256', 'use');
    const wide = { ...attributes, token: true, derive: true, valueLength: 32, label: 'keystored tenant key v1 hmac' };
    const object = library.generateKey(owner, plainMechanism(ck.CKM_GENERIC_SECRET_KEY_GEN), wide);
    const hsm = await openHsm(testHsmConfig(token));
    try {
      expect(await hsm.widerObjects(token.name)).toEqual(['keystored tenant key v1 hmac may also derive']);
      library.destroyObject(owner, object);
      expect(await hsm.widerObjects(token.name)).toEqual([]);
    } finally {
      await hsm.close();
    }
  });

  test('a loaded key does its job with the mechanisms of that job alone', async () => {
    const one = await open();
    const { module: library } = one.sessions;
    const load = (type: KeyType, purpose: string): ObjectHandle => {
      const binding = bindingOf(`limited-${type}-${purpose}`, purpose);
      const { blob, mac } = generateKey(one, type, { binding, custody: 'wrapped', extractable: true, under: 1 });
      return one.key(keyIdentity({ stored: { type, custody: 'wrapped', token: '', blob, mac }, binding })).handle;
    };
    const refusal = (call: () => unknown): unknown => {
      try {
        return call();
      } catch (error) {
        one.sessions.renewWork();
        return (error as TokenError).rv;
      }
    };
    const sign = (key: ObjectHandle, mechanism: number, bytes: number): unknown =>
      refusal(() => library.sign(one.sessions.work, plainMechanism(mechanism), key, Buffer.alloc(bytes, 1), bytes));
    const CKM_SHA256_RSA_PKCS = 0x40;
    expect(sign(load('rsa-2048', 'sign'), ck.CKM_RSA_PKCS, 256 - 11)).not.toBe(0x70);
    expect(sign(load('rsa-2048', 'sign'), ck.CKM_RSA_X_509, 256)).toBe(0x70);
    expect(sign(load('rsa-2048', 'sign'), CKM_SHA256_RSA_PKCS, 256)).toBe(0x70);
    expect(sign(load('cmac-128', 'cmac'), ck.CKM_AES_CMAC, 16)).toHaveLength(16);
    const CKM_AES_ECB = 0x1081;
    const seal = (): unknown =>
      library.encrypt(one.sessions.work, plainMechanism(CKM_AES_ECB), load('aes-256', 'encrypt'), Buffer.alloc(16), Buffer.alloc(16));
    expect(refusal(seal)).toBe(0x70);
  });

  test('a key in the token cannot get other uses later', async () => {
    const one = await open();
    const { module: library, owner } = one.sessions;
    const binding = bindingOf('fixed');
    const { blob } = generateKey(one, 'ecdsa-p256', { binding, custody: 'token', extractable: true, under: 1 });
    const [object] = library.findObjects(owner, { id: blob, token: true });
    expect(library.attribute(owner, object as ObjectHandle, 'modifiable')[0]).toBe(0);
  });
});
