// The tables and encodings of the HSM floor, compared with the binding, the standard’s numbers and random input.
import { writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import pkcs11js from 'pkcs11js';
import { describe, expect, test, vi } from 'vitest';
import { HsmError, isKeyLost, type KeyBinding, revealSecret, type StoredKey } from '../../hsm/api.ts';
import { findKeyTypes } from '../../hsm/pkcs11/capabilities.ts';
import * as constants from '../../hsm/pkcs11/constants.ts';
import { decodeError, encodeError } from '../../hsm/protocol/error-coding.ts';
import { KeyCache } from '../../hsm/engine/key-cache.ts';
import { decodeKeyReference, encodeKeyReference, frames, readFrames } from '../../hsm/protocol/key-encoding.ts';
import { Latencies } from '../../hsm/client/latencies.ts';
import { gcmMechanism, hashRows, keyRows, keyTypes, plainMechanism, pssMechanism } from '../../hsm/pkcs11/mechanisms.ts';
import { mechanismName } from '../../hsm/pkcs11/module.ts';
import { operationNamed, operations } from '../../hsm/protocol/operations.ts';
import { readPin } from '../../hsm/files/pin.ts';
import { asTokenError, CKR_OK, findReturnValue, kindOf, returnValues, TokenError } from '../../hsm/pkcs11/return-values.ts';
import { template, type Attributes } from '../../hsm/pkcs11/template.ts';
import { encodeMessages, MessageReader, type Message, type ReceivedMessage } from '../../hsm/protocol/wire.ts';

const binding = pkcs11js as unknown as Record<string, unknown>;

test('a token that says how large its RSA keys are has no types beyond; one that says nothing, or counts octets, has all', () => {
  const all = new Set(Object.values(keyRows).flatMap(({ generate, use }) => [generate, use]));
  const rsa = (most: number | undefined) =>
    findKeyTypes(all, { mostBits: () => most, decapsulates: () => true }).filter((type) => type.startsWith('rsa'));
  expect(rsa(3072)).toEqual(['rsa-2048', 'rsa-3072']);
  for (const most of [undefined, 0, 512, 4096, 16_384]) expect(rsa(most)).toEqual(['rsa-2048', 'rsa-3072', 'rsa-4096']);
  expect(findKeyTypes(all, { mostBits: () => 1024, decapsulates: () => true })).toEqual(keyTypes.filter((type) => !type.startsWith('rsa')));
});

describe('numbers', () => {
  test('constants are those of the binding, where it knows them', () => {
    const known = Object.entries(constants).filter(([name, value]) => typeof value === 'number' && binding[name] !== undefined);
    expect(known.length).toBeGreaterThan(30);
    expect(Object.fromEntries(known)).toEqual(Object.fromEntries(known.map(([name]) => [name, binding[name]])));
  });

  test('every CKR of the binding has a row under its name', () => {
    const names = Object.entries(binding).filter(([name, value]) => name.startsWith('CKR_') && typeof value === 'number');
    const missing = names.filter(
      ([name, rv]) => !['CKR_OK', 'CKR_VENDOR_DEFINED'].includes(name) && returnValues.get(rv as number)?.name !== name,
    );
    expect(missing).toEqual([]);
    expect(returnValues.size).toBeGreaterThanOrEqual(names.length - 2);
  });

  test('no two rows share a name, and an unknown number has no remedy and is shown', () => {
    expect(new Set([...returnValues.values()].map(({ name }) => name)).size).toBe(returnValues.size);
    expect(findReturnValue(0x80001234)).toEqual({ name: 'CKR 0x80001234', remedy: 'none', kind: 'refused' });
  });

  test('no number makes a key count as lost before the token was asked again', () => {
    const condemning = [...returnValues.values()].filter(({ kind }) => isKeyLost(new HsmError(kind, '')));
    expect(condemning.length).toBeGreaterThan(3);
    expect(condemning.filter(({ remedy }) => remedy !== 'session' && remedy !== 'object')).toEqual([]);
  });

  test('a number becomes what its function can know, and a wrong answer has a row of its own', () => {
    expect(kindOf(new TokenError(0xa0, 'C_Login'))).toBe('pin-refused');
    expect(kindOf(new TokenError(0xa0, 'C_Sign'))).toBe('unavailable');
    expect(kindOf(new TokenError(0x40, 'C_Decrypt'))).toBe('decryption-failed');
    expect(kindOf(new TokenError(0x40, 'C_UnwrapKey'))).toBe('unavailable');
    expect(kindOf(new TokenError(0x110, 'C_UnwrapKey'))).toBe('key-not-usable');
    expect(kindOf(new TokenError(0x82, 'C_Sign'))).toBe('unavailable');
    expect(new TokenError(CKR_OK, 'C_Encrypt').message).toBe('C_Encrypt returned CKR_OK and a wrong answer');
  });

  test('errors of the binding are recognised by number in every shape (reference A3)', () => {
    expect(asTokenError('C_Sign', Object.assign(new Error('x'), { code: 0x30 }))).toMatchObject({ rv: 0x30, fn: 'C_Sign' });
    expect(asTokenError('C_CreateObject', new Error('CKR_TEMPLATE_INCOMPLETE:208'))).toMatchObject({ rv: 0xd0 });
    const fault = new TypeError('no such thing');
    expect(asTokenError('C_Sign', fault)).toBe(fault);
  });

  test('mechanisms are shown by name, unknown ones in hexadecimal', () => {
    expect([0x1087, 0x1d, 0x1057, 0x210a, 0x0].map(mechanismName)).toEqual([
      'CKM_AES_GCM',
      'CKM_ML_DSA',
      'CKM_EDDSA',
      'CKM_AES_KEY_WRAP_PAD',
      'CKM_RSA_PKCS_KEY_PAIR_GEN',
    ]);
    expect(mechanismName(0x8000abcd)).toBe('0x8000abcd');
    for (const type of keyTypes) expect(mechanismName(keyRows[type].use)).toBe(keyRows[type].useName);
    for (const row of Object.values(hashRows)) expect(mechanismName(row.hmac)).toBe(row.hmacName);
  });

  test('parameters carry the tags the binding knows', () => {
    expect(gcmMechanism(Buffer.alloc(12), Buffer.from('ad'))).toMatchObject({
      parameter: { type: pkcs11js.CK_PARAMS_AES_GCM_v240, ivBits: 96, tagBits: 128 },
    });
    expect(pssMechanism('sha384')).toMatchObject({
      parameter: { type: pkcs11js.CK_PARAMS_RSA_PSS, hashAlg: 0x260, mgf: 0x3, saltLen: 48 },
    });
  });

  test('operation codes are all different and lead back to their names', () => {
    for (const [name, { code }] of Object.entries(operations)) expect(operationNamed(code)).toBe(name);
    expect(() => operationNamed(255)).toThrow('unknown operation 255');
  });
});

describe('values that would crash the binding are refused', () => {
  test.each<[string, Attributes]>([
    ['text for a number', { keyType: '1' as unknown as number }],
    ['a fraction', { keyType: 1.5 }],
    ['a number over 32 bits', { keyType: 2 ** 32 }],
    ['a bigint', { valueLength: 1n as unknown as number }],
    ['a number for a boolean', { token: 1 as unknown as boolean }],
    ['an array for octets', { value: [1, 2] as unknown as Uint8Array }],
    ['no octets', { value: new Uint8Array(0) }],
    ['text with a NUL', { label: 'a\0b' }],
  ])('an attribute with %s', (_name, attributes) => {
    expect(() => template(attributes)).toThrow('must be');
  });

  test('a nonce of another length, a mechanism that is no number', () => {
    expect(() => gcmMechanism(Buffer.alloc(0), undefined)).toThrow('12 octets');
    expect(() => plainMechanism(-1)).toThrow('out of range');
    expect(() => plainMechanism(Number.NaN)).toThrow('out of range');
  });
});

describe('encodings', () => {
  const octets = fc.uint8Array({ maxLength: 300 });
  const message = fc.record({
    id: fc.nat(0xffffffff),
    code: fc.nat(255),
    flags: fc.nat(255),
    micros: fc.nat(1_000_000),
    parts: fc.array(fc.option(octets, { nil: undefined }), { maxLength: 5 }),
  });

  test('messages survive every split into chunks', () => {
    fc.assert(
      fc.property(
        fc.array(message, { minLength: 1, maxLength: 8 }),
        fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1 }),
        (sent, cuts) => {
          const stream = encodeMessages(sent);
          const reader = new MessageReader();
          const received: ReceivedMessage[] = [];
          for (let offset = 0, turn = 0; offset < stream.length; turn++) {
            const length = cuts[turn % cuts.length] as number;
            received.push(...reader.push(Buffer.from(stream.subarray(offset, offset + length))));
            offset += length;
          }
          expect(received.map(plain)).toEqual(sent.map((one) => ({ ...one, parts: one.parts.map((part) => part && Buffer.from(part)) })));
          expect(encodeMessages(received).equals(stream)).toBe(true);
        },
      ),
    );
  });

  test('an absent part differs from an empty one, and a part after the last throws', () => {
    const [received] = new MessageReader().push(
      encodeMessages([{ id: 1, code: 0, flags: 0, micros: 0, parts: [undefined, new Uint8Array(0)] }]),
    );
    expect(received?.find(0)).toBeUndefined();
    expect(received?.part(1)).toHaveLength(0);
    expect(() => received?.part(0)).toThrow('missing');
    expect(() => received?.part(2)).toThrow('no part 2');
  });

  test('frames are read back as they were written', () => {
    fc.assert(
      fc.property(fc.array(octets), (parts) => {
        expect(readFrames(frames(...parts)).map((part) => [...part])).toEqual(parts.map((part) => [...part]));
      }),
    );
  });

  test('a key reference is read back as it was written', () => {
    const stored: fc.Arbitrary<StoredKey> = fc.record({
      type: fc.constantFrom(...keyTypes),
      custody: fc.constantFrom('wrapped' as const, 'token' as const),
      token: fc.constant('main'),
      blob: octets,
      mac: octets,
    });
    const words: fc.Arbitrary<KeyBinding> = fc.record({
      tenant: fc.string(),
      keyId: fc.string({ unit: 'binary' }),
      version: fc.nat(),
      purpose: fc.string(),
    });
    fc.assert(
      fc.property(stored, words, (key, bound) => {
        const { token: _, ...rest } = key;
        const decoded = decodeKeyReference(encodeKeyReference({ stored: key, binding: bound }));
        expect(decoded).toEqual({ ...rest, blob: Buffer.from(key.blob), mac: Buffer.from(key.mac), binding: bound });
      }),
    );
  });

  test('the cached encoding of a stored key is not used for another binding', () => {
    const stored: StoredKey = { type: 'aes-256', custody: 'wrapped', token: 'main', blob: Buffer.alloc(40), mac: Buffer.alloc(32) };
    const one = { tenant: 't', keyId: 'k', version: 1, purpose: 'p' };
    expect(encodeKeyReference({ stored, binding: one })).toEqual(encodeKeyReference({ stored, binding: { ...one } }));
    for (const change of [{ tenant: 'x' }, { keyId: 'x' }, { version: 2 }, { purpose: 'x' }]) {
      expect(encodeKeyReference({ stored, binding: { ...one, ...change } })).not.toEqual(encodeKeyReference({ stored, binding: one }));
    }
  });

  test('an error crosses with kind, message, number and function', () => {
    const crossed = decodeError(encodeError(new TokenError(0x6a, 'C_WrapKey')));
    expect(crossed).toMatchObject({
      name: 'HsmError',
      kind: 'refused',
      rv: 0x6a,
      fn: 'C_WrapKey',
      message: 'C_WrapKey returned CKR_KEY_UNEXTRACTABLE',
    });
  });
});

describe('the cache of loaded keys', () => {
  test('stays within its capacity, releases evicted keys, and spares used ones', () => {
    const released: string[] = [];
    const cache = new KeyCache<string>(3, (value) => released.push(value));
    for (const name of ['a', 'b', 'c']) cache.add(name, name);
    cache.find('a');
    cache.add('d', 'd');
    expect(released).toEqual(['b']);
    expect(['a', 'c', 'd'].map((name) => cache.find(name))).toEqual(['a', 'c', 'd']);
    cache.add('e', 'e');
    expect(cache.size).toBe(3);
    expect(released).toHaveLength(2);
  });

  test('releases each value exactly once under any use', () => {
    const step = fc.tuple(fc.constantFrom('add', 'find', 'remove', 'half', 'forget'), fc.nat(20));
    fc.assert(
      fc.property(fc.array(step), fc.integer({ min: 1, max: 8 }), (steps, capacity) => {
        const live = new Set<number>();
        const cache = new KeyCache<number>(capacity, (value) => expect(live.delete(value)).toBe(true));
        let made = 0;
        for (const [act, name] of steps) {
          if (act === 'add') {
            live.add(++made);
            cache.add(String(name), made);
          } else if (act === 'find') cache.find(String(name));
          else if (act === 'remove') cache.remove(String(name));
          else if (act === 'half') cache.evictHalf();
          else {
            live.clear();
            cache.forgetAll();
          }
          expect(cache.size).toBe(live.size);
          expect(cache.size).toBeLessThanOrEqual(capacity);
        }
      }),
    );
  });
});

test('latencies keep the recent calls and count them all', () => {
  const latencies = new Latencies();
  for (let micros = 1; micros <= 1_000; micros++) latencies.add('sign', micros);
  latencies.add('sign', 20_000_000);
  expect(latencies.summary()).toEqual({
    sign: {
      count: 1_001,
      p50: 746,
      p99: 996,
      sumMicros: 20_500_500,
      perBound: [50, 50, 150, 250, 500, ...Array.from({ length: 11 }, () => 0)],
    },
  });
});

test('a PIN is read without its line break, and an empty source is refused', () => {
  const directory = mkdtempSync(join(tmpdir(), 'keystored-pin-'));
  const file = join(directory, 'pin');
  writeFileSync(file, 'secret words \n');
  expect(revealSecret(readPin({ file }))).toBe('secret words ');
  writeFileSync(file, '\n');
  expect(() => readPin({ file })).toThrow('is empty');
  vi.stubEnv('CREDENTIALS_DIRECTORY', directory);
  writeFileSync(file, 'from-systemd');
  expect(revealSecret(readPin({ credential: 'pin' }))).toBe('from-systemd');
  rmSync(directory, { recursive: true });
});

function plain(message: ReceivedMessage): Message {
  const { id, code, flags, micros } = message;
  return { id, code, flags, micros, parts: Array.from({ length: message.count }, (_, index) => message.find(index)) };
}
