// A token that answers CKR_OK and what is wrong: the answer is asked for again, and no key is made, kept, given out or destroyed by it.
// The token runs in this process, behind a module that goes wrong at the call that a test names.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { KeyBinding, KeyType, TokenAddress } from '../../hsm/api.ts';
import { Engine, ModuleBroken } from '../../hsm/engine/engine.ts';
import { gatherEvidence } from '../../hsm/engine/operations/key-evidence.ts';
import { decrypt, encrypt } from '../../hsm/engine/operations/cipher.ts';
import { exportKey } from '../../hsm/engine/operations/exporting.ts';
import { generateKey, importKey } from '../../hsm/engine/operations/making.ts';
import { listWrappingKeys, makeWrappingKey, rewrapKey } from '../../hsm/engine/rotation.ts';
import { describeObjects } from '../../hsm/engine/usages.ts';
import { performAll } from '../../hsm/host/perform.ts';
import { TokenError } from '../../hsm/pkcs11/return-values.ts';
import { asHsmError } from '../../hsm/protocol/error-coding.ts';
import { decodeKeyReference, keyIdentity, type KeyIdentity } from '../../hsm/protocol/key-encoding.ts';
import { call, type Call, operations } from '../../hsm/protocol/operations.ts';
import { decodeMessage, encodeMessages, resultOk } from '../../hsm/protocol/wire.ts';
import { bindingOf, freshMaterial, isSameMaterial } from '../harness/keys.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { type Fault, type FaultTable, makeFaultyTokenForThisProcess } from '../harness/token/faulty-module.ts';

const path = temporaryDirectory();
const text = Buffer.from('what is to be kept');
const always = 1_000_000;
let engine: Engine;
let table: FaultTable;
let token: TokenAddress;
let ids = 0;

beforeAll(async () => {
  const faulty = await makeFaultyTokenForThisProcess(path());
  table = faulty.table;
  token = faulty.token;
  engine = new Engine({ token: faulty.token, cacheKeys: 20, pin: faulty.token.pin });
});

// Nothing is loaded when a test begins.
beforeEach(() => engine.restore());

afterAll(() => engine.close());

describe('a wrong answer once, and the right one after it', () => {
  test('a ciphertext that is too short is made again; the rest of the buffer is never given out', () => {
    const key = make('aes-256');
    const sealed = under({ name: 'C_Encrypt', kind: 'short', argument: 5 }, () => encrypt(engine, engine.key(key), text));
    expect(open(key, sealed)).toEqual(text);
    const ask = (): Buffer => under({ name: 'C_Encrypt', kind: 'short', times: always }, () => encrypt(engine, engine.key(key), text));
    expect(kindOf(ask)).toBe('unavailable');
  });

  test('octets that are not random are drawn again', () => {
    const key = make('aes-256');
    engine.random.forgetNonces();
    const sealed = under({ name: 'C_GenerateRandom', kind: 'zero' }, () => encrypt(engine, engine.key(key), text));
    expect(sealed.subarray(0, 12)).not.toEqual(Buffer.alloc(12));
    expect(kindOf(() => under({ name: 'C_GenerateRandom', kind: 'zero', times: always }, () => engine.random.octets(16)))).toBe(
      'unavailable',
    );
  });

  test.each([0x40, 0x42, 0x5])(
    'a ciphertext that the token calls damaged (CK_RV %i) is opened; one that is damaged is refused',
    (argument) => {
      const key = make('aes-256');
      const sealed = engine.run(() => encrypt(engine, engine.key(key), text));
      expect(under({ name: 'C_Decrypt', kind: 'refuse-after', argument }, () => decrypt(engine, engine.key(key), sealed))).toEqual(text);
      const damaged = Buffer.from(sealed.with(20, (sealed[20] as number) ^ 1));
      expect(kindOf(() => engine.run(() => decrypt(engine, engine.key(key), damaged)))).toBe('decryption-failed');
    },
  );

  test('a binding that is computed wrongly makes no key unusable: not one that is loaded, not one that is made', () => {
    const flip: Fault = { name: 'C_Sign', kind: 'flip', argument: 9 };
    const key = make('aes-256');
    const sealed = engine.run(() => encrypt(engine, engine.key(key), text));
    engine.restore();
    expect(under(flip, () => decrypt(engine, engine.key(key), sealed))).toEqual(text);
    const another = under(flip, () => generated('aes-256', bindingOf(`made-${++ids}`)));
    engine.restore();
    expect(open(another, sealWith(another))).toEqual(text);
  });

  test.each([0, 1, 2])('a key that is wrapped wrongly once, at call %i of its rewrapping, is lost neither then nor later', (before) => {
    const key = make('aes-256');
    const sealed = sealWith(key);
    const { stored, binding } = reference('aes-256', key);
    for (const kind of ['zero', 'flip'] as const) {
      const fresh = under({ name: 'C_WrapKey', kind, argument: 9, before }, () => rewrapKey(engine, key, 1));
      engine.restore();
      expect(open(keyIdentity({ stored: { ...stored, ...fresh }, binding }), sealed)).toEqual(text);
    }
  });

  test('material counts as bad when it is imported, not when a stored key is loaded from its seed', () => {
    const refused: Fault = { name: 'C_CreateObject', kind: 'refuse-after', argument: 0x1b9 };
    const making = { binding: bindingOf('refused'), custody: 'wrapped', extractable: true, under: 1 } as const;
    const bring = (): unknown => importKey(engine, 'ecdsa-p256', making, freshMaterial('ecdsa-p256'));
    expect(kindOf(() => under(refused, bring))).toBe('invalid-key-data');
    const key = make('ed25519');
    engine.restore();
    expect(kindOf(() => under(refused, () => exportKey(engine, key)))).toBe('unavailable');
    expect(engine.run(() => exportKey(engine, key))).toHaveLength(48);
  });

  test('the handle of another loaded key is not taken for this one', () => {
    const [one, other] = [make('aes-256'), make('aes-256')];
    engine.restore();
    sealWith(one);
    const sealed = under({ name: 'C_UnwrapKey', kind: 'other-handle' }, () => encrypt(engine, engine.key(other), text));
    engine.restore();
    expect(open(other, sealed)).toEqual(text);
  });

  test('a key is derived from the right secret, and used under its own handle', () => {
    const { stored, binding } = reference('secret-256', make('secret-256'));
    const derive = (name: string): Call => {
      const contextHash = Buffer.alloc(32, name);
      const derivation = { secret: { stored, binding }, contextHash, salt: Buffer.alloc(16, 1), iterations: 10, type: 'aes-256' } as const;
      return call.encrypt({ derivation }, text);
    };
    perform(derive('loads the secret'));
    for (const [name, fault] of [
      ['flipped', { name: 'C_Sign', kind: 'flip', argument: 3 }],
      ['mixed up', { name: 'C_CreateObject', kind: 'other-handle' }],
    ] as const satisfies readonly (readonly [string, Fault])[]) {
      const sealed = struck(fault, () => perform(derive(name)));
      engine.restore();
      const opening = derive(name);
      const opened = perform({ ...opening, name: 'decrypt', parts: [opening.parts[0], opening.parts[1], sealed, undefined] });
      expect(opened).toEqual(text);
    }
  });
});

describe('key material in clear', () => {
  test.each<KeyType>(['aes-256', 'secret-256', 'rsa-2048', 'ecdsa-p256', 'ed25519'])(
    'of %s leaves only when it is that of the key',
    (type) => {
      const material = freshMaterial(type);
      const binding = bindingOf(`exported-${type}`);
      const made = importKey(engine, type, { binding, custody: 'wrapped', extractable: true, under: 1 }, Buffer.from(material));
      const key = keyIdentity({ stored: { type, custody: 'wrapped', token: '', ...made }, binding });
      const exported = under({ name: 'C_GetAttributeValue', kind: 'flip', argument: 77 }, () => exportKey(engine, key));
      expect(isSameMaterial(type, exported, material)).toBe(true);
      const zeroed = under({ name: 'C_GetAttributeValue', kind: 'zero' }, () => exportKey(engine, key));
      expect(isSameMaterial(type, zeroed, material)).toBe(true);
      let wrong = material;
      const outcome = kindOf(() => {
        wrong = under({ name: 'C_GetAttributeValue', kind: 'flip', argument: 77, times: always }, () => exportKey(engine, key));
      });
      // Of an Ed25519 key the seed is read twice in a row: the bit is changed back.
      expect([outcome, isSameMaterial(type, wrong, material)]).toEqual([type === 'ed25519' ? 'done' : 'unavailable', true]);
    },
  );
});

test('what a statement says of a key is what the token says twice', () => {
  for (const key of [make('aes-256'), make('ecdsa-p256', 'token')]) {
    const said = engine.run(() => gatherEvidence(engine, key));
    for (let before = 0; before < 12; before += 1) {
      const flip: Fault = { name: 'C_GetAttributeValue', kind: 'flip', before };
      expect(
        under(flip, () => gatherEvidence(engine, key)),
        `after ${before} answers`,
      ).toEqual(said);
    }
    expect(under({ name: 'C_GetTokenInfo', kind: 'flip', argument: 8 * 40 }, () => gatherEvidence(engine, key))).toEqual(said);
  }
});

// As SoftHSM does while another process logs in.
test('a token that does not say what it is for a moment is asked again', () => {
  const key = make('aes-256');
  const silent: Fault = { name: 'C_GetTokenInfo', kind: 'refuse', argument: 0x5 };
  expect(under(silent, () => gatherEvidence(engine, key)).token.label).toBe(token.label);
  expect(kindOf(() => under({ ...silent, times: always }, () => gatherEvidence(engine, key)))).toBe('unavailable');
});

describe('objects in the token', () => {
  test('a key that was made although the call failed is not left beside the next one', () => {
    const binding = bindingOf(`left-over-${++ids}`);
    const key = under({ name: 'C_GenerateKeyPair', kind: 'refuse-after', argument: 0x50 }, () => generated('ecdsa-p256', binding, 'token'));
    expect(labels().filter((label) => label.includes(binding.keyId))).toHaveLength(1);
    engine.run(() => engine.destroyKey(key));
    expect(labels().filter((label) => label.includes(binding.keyId))).toHaveLength(0);
  });

  test('a search that leads to another key uses and destroys neither', () => {
    const [one, other] = [make('aes-256', 'token'), make('aes-256', 'token')];
    engine.restore();
    const sealed = sealWith(one);
    // The first search of a change only makes the module look at its files.
    under({ name: 'C_FindObjects', kind: 'other-handle', before: 1 }, () => engine.destroyKey(other));
    engine.restore();
    expect(open(one, sealed)).toEqual(text);
    expect(kindOf(() => sealWith(other))).toBe('key-missing');
  });

  test('a search that finds nothing once makes no key missing', () => {
    const key = make('aes-256', 'token');
    const sealed = sealWith(key);
    engine.restore();
    expect(under({ name: 'C_FindObjects', kind: 'short' }, () => decrypt(engine, engine.key(key), sealed))).toEqual(text);
  });

  test('no second wrapping key gets a number, and none a wrong one', () => {
    expect(engine.run(() => makeWrappingKey(engine, 1))).toBe(2);
    expect(under({ name: 'C_FindObjects', kind: 'short', before: 1 }, () => makeWrappingKey(engine, 1))).toBe(2);
    expect(
      under({ name: 'C_GetAttributeValue', kind: 'flip', argument: 8 * 10 }, () => listWrappingKeys(engine).map(({ number }) => number)),
    ).toEqual([1, 2]);
    expect(labels().filter((label) => label === 'keystored-wrapping-key')).toHaveLength(2);
  });

  test('a copy of the binding key that is another key is not used', () => {
    const key = make('aes-256');
    const sealed = sealWith(key);
    table.arm({ name: 'C_CopyObject', kind: 'other-handle', before: listWrappingKeys(engine).length });
    engine.restore();
    table.disarm();
    expect(table.struck).toBe(1);
    expect(open(key, sealed)).toEqual(text);
    const made = make('aes-256');
    const sealedByIt = sealWith(made);
    engine.restore();
    expect(open(made, sealedByIt)).toEqual(text);
  });

  test('what proves the own keys is not refused by one wrong answer, and no thread begins with another key in its place', () => {
    for (const argument of [0x6a, 0x5]) under({ name: 'C_WrapKey', kind: 'refuse', argument }, () => engine.requireMadeWell());
    // As in the threads of a host: the first key that it makes has the handle of one that the other has made.
    const begin = (): unknown => new Engine({ token, cacheKeys: 20 });
    expect(() => struck({ name: 'C_GenerateKey', kind: 'other-handle' }, begin)).toThrow(TokenError);
  });
});

function make(type: KeyType, custody: 'wrapped' | 'token' = 'wrapped'): KeyIdentity {
  return engine.run(() => generated(type, bindingOf(`key-${++ids}`), custody));
}

function generated(type: KeyType, binding: KeyBinding, custody: 'wrapped' | 'token' = 'wrapped'): KeyIdentity {
  const { blob, mac } = generateKey(engine, type, { binding, custody, extractable: true, under: 1 });
  return keyIdentity({ stored: { type, custody, token: '', blob, mac }, binding });
}

function reference(type: KeyType, identity: KeyIdentity) {
  const { custody, binding, blob, mac } = decodeKeyReference(Buffer.from(identity, 'latin1'));
  return { stored: { type, custody, token: '', blob, mac }, binding };
}

function sealWith(key: KeyIdentity): Buffer {
  return engine.run(() => encrypt(engine, engine.key(key), text));
}

function open(key: KeyIdentity, sealed: Buffer): Buffer {
  return engine.run(() => decrypt(engine, engine.key(key), sealed));
}

/** Runs work as a host does, while the fault strikes. */
function under<T>(fault: Fault, work: () => T): T {
  return struck(fault, () => engine.run(work));
}

function struck<T>(fault: Fault, work: () => T): T {
  table.arm(fault);
  try {
    return work();
  } finally {
    table.disarm();
    expect(table.struck).toBeGreaterThan(0);
  }
}

function perform({ name, flags, parts }: Call): Buffer {
  const job = decodeMessage(encodeMessages([{ id: 1, code: operations[name].code, flags, micros: 0, parts }]));
  const [result] = performAll(engine, [job]);
  expect(result).toMatchObject({ code: resultOk });
  return Buffer.from(result?.parts[0] as Uint8Array);
}

function kindOf(work: () => unknown): string {
  try {
    work();
    return 'done';
  } catch (error) {
    // The host process is replaced then, and callers are told so.
    return error instanceof ModuleBroken ? 'unavailable' : asHsmError(error).kind;
  }
}

function labels(): string[] {
  return describeObjects(engine.sessions, 1_000).map(({ label }) => label);
}

/** PKCS#8 can be written in several ways. */
