// Recovery inside a host without replacing it: lost sessions, logins and objects. The token runs in this process, so that
// the test can cause what a failing network or another application would.
import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pkcs11js from 'pkcs11js';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { TokenConfig } from '../../hsm/api.ts';
import { decrypt, encrypt } from '../../hsm/engine/operations/cipher.ts';
import { Engine, LoginNeeded, ModuleBroken } from '../../hsm/engine/engine.ts';
import { keyIdentity, type KeyIdentity } from '../../hsm/protocol/key-encoding.ts';
import { generateKey } from '../../hsm/engine/operations/making.ts';
import { hmac } from '../../hsm/engine/operations/signing.ts';
import { TokenError } from '../../hsm/pkcs11/return-values.ts';
import { wrappingKeyLabel } from '../../hsm/engine/own-keys/names.ts';
import { bindingOf } from '../harness/keys.ts';
import { makeSoftTokenForThisProcess } from '../harness/token/softhsm.ts';

const message = Buffer.from('message');
const directory = mkdtempSync(join(tmpdir(), 'keystored-healing-'));
let token: TokenConfig;
let engine: Engine;
/** the same module, called as by another part of the process */
let other: pkcs11js.PKCS11;

beforeAll(async () => {
  token = await makeSoftTokenForThisProcess(directory);
  engine = new Engine({ token, cacheKeys: 10, pin: token.pin });
  other = new pkcs11js.PKCS11();
  other.load(token.module);
});

afterAll(() => {
  engine.close();
  rmSync(directory, { recursive: true, force: true });
});

describe.each(['wrapped', 'token'] as const)('a key in %s custody works again after', (custody) => {
  let key: KeyIdentity;
  let sealed: Buffer;

  beforeAll(() => {
    const binding = bindingOf(`healing-${custody}`);
    const { blob, mac } = generateKey(engine, 'aes-256', { binding, custody, extractable: true, under: 1 });
    key = keyIdentity({ stored: { type: 'aes-256', custody, token: token.name, blob, mac }, binding });
    sealed = engine.run(() => encrypt(engine, engine.key(key), message));
  });

  test('a logout', () => {
    other.C_Logout(engine.sessions.owner);
    expectWorking();
  });

  test('the loss of all sessions', () => {
    other.C_CloseAllSessions(engine.sessions.slot);
    expectWorking();
  });

  test('the loss of the work session', () => {
    other.C_CloseSession(engine.sessions.work);
    expectWorking();
  });

  test('the loss of the session that owns all objects', () => {
    other.C_CloseSession(engine.sessions.owner);
    expectWorking();
  });

  test('an operation left active in the work session', () => {
    other.C_DigestInit(engine.sessions.work, { mechanism: pkcs11js.CKM_SHA256 });
    expectWorking();
  });

  test('the loss of every session object', () => {
    const owner = other.C_OpenSession(engine.sessions.slot, pkcs11js.CKF_SERIAL_SESSION | pkcs11js.CKF_RW_SESSION);
    other.C_FindObjectsInit(owner, [{ type: pkcs11js.CKA_TOKEN, value: false }]);
    const objects = other.C_FindObjects(owner, 1_000);
    other.C_FindObjectsFinal(owner);
    for (const object of objects) other.C_DestroyObject(owner, object);
    other.C_CloseSession(owner);
    expect(objects.length).toBeGreaterThan(0);
    expectWorking();
  });

  test('a full token: half of the loaded keys are evicted', () => {
    let full = true;
    const result = engine.run(() => {
      if (full) {
        full = false;
        throw new TokenError(0x31, 'C_UnwrapKey');
      }
      return 'done';
    });
    expect(result).toBe('done');
    expectWorking();
  });

  function expectWorking(): void {
    const opened = engine.run(() => decrypt(engine, engine.key(key), sealed));
    expect(opened).toEqual(message);
    const again = engine.run(() => encrypt(engine, engine.key(key), message));
    expect(engine.run(() => decrypt(engine, engine.key(key), again))).toEqual(message);
  }
});

test('after a wrong tag the same session continues', () => {
  const binding = bindingOf('tags');
  const { blob, mac } = engine.run(() => generateKey(engine, 'aes-256', { binding, custody: 'wrapped', extractable: true, under: 1 }));
  const key = keyIdentity({ stored: { type: 'aes-256', custody: 'wrapped', token: token.name, blob, mac }, binding });
  const sealed = engine.run(() => encrypt(engine, engine.key(key), message));
  const broken = Buffer.from(sealed);
  broken[20] = (broken[20] as number) ^ 1;
  const { work } = engine.sessions;
  for (let round = 0; round < 50; round++) {
    expect(() => engine.run(() => decrypt(engine, engine.key(key), broken))).toThrow('does not open');
    expect(engine.run(() => decrypt(engine, engine.key(key), sealed))).toEqual(message);
  }
  expect(engine.sessions.work).toBe(work);
});

test('a forgotten key leaves no object behind, in whatever forms it was loaded; others stay loaded', () => {
  const [key, kept] = ['forgotten', 'kept'].map((name) => {
    const binding = bindingOf(name);
    const { blob, mac } = engine.run(() => generateKey(engine, 'secret-256', { binding, custody: 'wrapped', extractable: true, under: 1 }));
    return keyIdentity({ stored: { type: 'secret-256', custody: 'wrapped', token: token.name, blob, mac }, binding });
  }) as [KeyIdentity, KeyIdentity];
  const { module, owner } = engine.sessions;
  const objects = (): number => module.allObjects(owner, { token: false }).length;
  const before = { loaded: engine.loadedKeys, objects: objects() };
  // SoftHSM computes HMAC with SHA-384 and SHA-512 only with secrets that are padded to their length.
  for (const hash of ['sha256', 'sha384', 'sha512'] as const) engine.run(() => hmac(engine, key, hash, message));
  expect(engine.loadedKeys).toBe(before.loaded + 2);
  engine.forgetKey(key);
  expect(engine.loadedKeys).toBe(before.loaded - 1);
  expect(objects()).toBe(before.objects - 1);
  engine.forgetKey(kept);
  expect(engine.loadedKeys).toBe(before.loaded - 2);
});

test('a binding is checked once for the same octets, for any others and after a restore again', () => {
  const binding = bindingOf('checked');
  const { blob, mac } = engine.run(() => generateKey(engine, 'aes-256', { binding, custody: 'wrapped', extractable: true, under: 1 }));
  const stored = { type: 'aes-256', custody: 'wrapped', token: token.name, blob, mac } as const;
  const key = keyIdentity({ stored, binding });
  const check = vi.spyOn(engine.custody, 'checkBinding');
  try {
    for (let round = 0; round < 3; round++) {
      engine.forgetKey(key);
      engine.run(() => encrypt(engine, engine.key(key), message));
    }
    expect(check).toHaveBeenCalledTimes(1);
    const moved = keyIdentity({ stored: { ...stored }, binding: bindingOf('elsewhere') });
    for (let round = 0; round < 2; round++) expect(() => engine.key(moved)).toThrow('does not belong to its record');
    expect(check).toHaveBeenCalledTimes(3);
    engine.restore();
    engine.run(() => encrypt(engine, engine.key(key), message));
    expect(check).toHaveBeenCalledTimes(4);
  } finally {
    check.mockRestore();
  }
});

test('an error that occurs again after its remedy is reported, not retried for ever', () => {
  let tries = 0;
  const attempt = (): void =>
    engine.run(() => {
      tries++;
      throw new TokenError(0xb3, 'C_Sign');
    });
  expect(attempt).toThrow(TokenError);
  expect(tries).toBe(3);
});

test('a missing wrapping key is searched at every use, and no copies of the others stay in the sessions', () => {
  const { module, owner } = engine.sessions;
  const copies = (): number => module.findObjects(owner, { token: false, label: wrappingKeyLabel }).length;
  expect(copies()).toBe(1);
  for (let n = 0; n < 3; n++) expect(() => engine.custody.wrappingKeys.find(99)).toThrow('no wrapping key 99');
  expect(copies()).toBe(1);
  expect(engine.custody.wrappingKeys.newest().number).toBe(1);
});

test('a thread without a PIN asks for a login instead', () => {
  const lane = new Engine({ token, cacheKeys: 10 });
  other.C_Logout(engine.sessions.owner);
  expect(() => lane.restore()).toThrow(LoginNeeded);
  engine.ensureLogin();
  lane.restore();
  expect(lane.canaryWorks()).toBe(true);
  lane.sessions.close();
});

test('a finalised module has no remedy here: the host has to be replaced', () => {
  expect(() => engine.run(notInitialised)).toThrow(ModuleBroken);
});

test('a general error is the request’s fault as long as the token encrypts, decrypts and answers', () => {
  expect(() => engine.run(generalError)).toThrow(TokenError);
  const tokens = join(directory, 'main-tokens');
  renameSync(tokens, `${tokens}-away`);
  expect(() => engine.run(generalError)).toThrow('loaded keys continue to work');
  renameSync(`${tokens}-away`, tokens);
  expect(() => engine.run(generalError)).toThrow('no longer finds its token');
});

function notInitialised(): never {
  throw new TokenError(0x190, 'C_Sign');
}

function generalError(): never {
  throw new TokenError(0x5, 'C_GenerateKey');
}
