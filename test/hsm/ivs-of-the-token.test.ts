// Tokens that make the IVs of AES-GCM themselves, as HSMs in FIPS mode do: what is sealed in one opens there, outside, and in a token that takes own IVs.
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Derivation, type Hsm, HsmError, type TokenConfig } from '../../hsm/api.ts';
import { openHsm } from '../../hsm/client/open.ts';
import { bindingOf, freshMaterial, makeKey, openOutside, sealOutside } from '../harness/keys.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { ivModes, withIvsOf } from '../harness/token/iv-module.ts';
import { makeSoftToken, testHsmConfig } from '../harness/token/softhsm.ts';

const path = temporaryDirectory();
const message = Buffer.from('The quick brown fox jumps over the lazy dog.');
const associatedData = Buffer.from('header');

describe.each(ivModes)('%s', (mode) => {
  const ivBytes = mode === 'appended-16' ? 16 : 12;
  let plain: TokenConfig;
  let hsm: Hsm;

  beforeAll(async () => {
    mkdirSync(path(mode));
    plain = await makeSoftToken(path(mode));
    hsm = await openHsm(testHsmConfig(await withIvsOf(plain, mode)));
  });
  afterAll(() => hsm.close());

  test('is found out, and every type of keys is offered as before', () => {
    const [status] = hsm.status();
    expect(status).toMatchObject({ state: 'up', ivSource: mode.replace(/-\d+$/, '') });
    expect(hsm.takesNonces()).toBe(false);
    expect(status?.keyTypes).toEqual(expect.arrayContaining(['aes-128', 'aes-192', 'aes-256', 'x25519']));
  });

  test.each(['wrapped', 'token'] as const)(
    'a key in %s custody opens what it has sealed, under an IV of its own each time',
    async (custody) => {
      for (const type of ['aes-128', 'aes-256'] as const) {
        const { key } = await makeKey(hsm, type, `${type}-${custody}`, { custody });
        const sealed = await Promise.all(Array.from({ length: 50 }, () => hsm.encrypt(key, message, { associatedData })));
        expect(new Set(sealed.map((octets) => Buffer.from(octets.subarray(0, ivBytes)).toString('hex'))).size).toBe(50);
        for (const one of sealed) {
          expect(one.length).toBe(message.length + ivBytes + 16);
          expect(Buffer.from(await hsm.decrypt(key, one, { associatedData }))).toEqual(message);
        }
        const [one] = sealed as [Uint8Array];
        await expect(hsm.decrypt(key, one)).rejects.toMatchObject({ kind: 'decryption-failed' });
        const flipped = one.map((octet, at) => (at === 20 ? octet ^ 1 : octet));
        await expect(hsm.decrypt(key, flipped, { associatedData })).rejects.toMatchObject({ kind: 'decryption-failed' });
        for (const length of [0, 12, 27, 28, 31])
          await expect(hsm.decrypt(key, one.subarray(0, length))).rejects.toMatchObject({ kind: 'decryption-failed' });
      }
    },
  );

  test('imported keys and derived ones work, and open what was sealed elsewhere', async () => {
    const material = freshMaterial('aes-256');
    const binding = bindingOf('imported');
    const { stored } = await hsm.importKey('aes-256', Buffer.from(material), binding);
    const outside = sealOutside(material, message, associatedData);
    expect(Buffer.from(await hsm.decrypt({ stored, binding }, outside, { associatedData }))).toEqual(message);
    const { key: secret } = await makeKey(hsm, 'secret-256', 'derives');
    const derivation: Derivation = { secret, contextHash: randomBytes(32), salt: randomBytes(16), iterations: 1_000, type: 'aes-256' };
    expect(Buffer.from(await hsm.decrypt({ derivation }, await hsm.encrypt({ derivation }, message)))).toEqual(message);
  });

  test('a given nonce is refused with the reason', async () => {
    const { key } = await makeKey(hsm, 'aes-256', 'convergent');
    const error = await hsm.encrypt(key, message, { nonce: randomBytes(12) }).catch((refusal: unknown) => refusal);
    expect(error).toBeInstanceOf(HsmError);
    expect(error).toMatchObject({ kind: 'unsupported', message: expect.stringContaining('makes the IVs') as unknown });
  });

  test('the same keys in the token without that open it all, and the other way round', async () => {
    const { key } = await makeKey(hsm, 'aes-256', 'moved');
    const sealed = await hsm.encrypt(key, message, { associatedData });
    const other = await openHsm(testHsmConfig(plain));
    try {
      expect(other.status()[0]?.ivSource).toBe('own');
      expect(Buffer.from(await other.decrypt(key, sealed, { associatedData }))).toEqual(message);
      const octets = await other.readKeyMaterialInClear(key);
      const own = await other.encrypt(key, message, { associatedData });
      expect(openOutside(octets, own, associatedData)).toEqual(message);
      expect(Buffer.from(await hsm.decrypt(key, own, { associatedData }))).toEqual(message);
    } finally {
      await other.close();
    }
  });

  test('a list of many is sealed and opened together', async () => {
    const { key } = await makeKey(hsm, 'aes-256', 'listed');
    const sealed = await hsm.useAll(
      Array.from({ length: 150 }, (_, at) => ({ use: 'encrypt' as const, key, octets: Buffer.alloc(at, at) })),
    );
    const opened = await hsm.useAll(sealed.map((octets) => ({ use: 'decrypt' as const, key, octets: Buffer.from(octets as Uint8Array) })));
    expect(opened.map((octets) => Buffer.from(octets as Uint8Array))).toEqual(Array.from({ length: 150 }, (_, at) => Buffer.alloc(at, at)));
  });
});
