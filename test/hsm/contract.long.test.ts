// What every PKCS#11 module must do, compared with node:crypto.
import { Secret } from '../../hsm/api.ts';
import { createHmac, createPublicKey, diffieHellman, pbkdf2Sync, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defined } from '../../core/base/defined.ts';
import {
  HsmError,
  keyUses,
  throwAwayPair,
  type Derivation,
  type Hsm,
  type KeyReference,
  type KeyType,
  type TokenConfig,
} from '../../hsm/api.ts';
import { openHsm } from '../../hsm/client/open.ts';
import { cmacOutside } from '../../hsm/engine/operations/cmac.ts';
import { changePin, findKeptAsSeeds } from '../../hsm/setup/setup.ts';
import { keyRows } from '../../hsm/pkcs11/mechanisms.ts';
import { bindingOf, freshMaterial, makeKey, openOutside, publicKeyOf, sealOutside, signatures } from '../harness/keys.ts';
import { findModules } from '../harness/token/modules.ts';
import { testHsmConfig } from '../harness/token/softhsm.ts';

const modules = await findModules({ builds: true });
const message = Buffer.from('The quick brown fox jumps over the lazy dog.');
const aesTypes = ['aes-128', 'aes-192', 'aes-256'] as const;

describe.each(modules)('$name', (module) => {
  const directory = mkdtempSync(join(tmpdir(), 'keystored-contract-'));
  let token: TokenConfig;
  let hsm: Hsm;
  let types: readonly KeyType[];

  beforeAll(async () => {
    token = await module.make(directory);
    hsm = await openHsm(testHsmConfig(token));
    types = hsm.status()[0]?.keyTypes ?? [];
  });

  afterAll(async () => {
    await hsm.close();
    rmSync(directory, { recursive: true, force: true });
  });

  test('the token offers at least AES, secrets, and one signature', () => {
    expect(types).toEqual(expect.arrayContaining([...aesTypes, 'secret-256']));
    expect(types.some((type) => /^(rsa|ecdsa|ed25519|ml-dsa)/.test(type))).toBe(true);
    for (const type of types) expect(hsm.status()[0]?.mechanisms).toContain(hsm.mechanismFor(type));
  });

  describe.each(['wrapped', 'token'] as const)('%s custody', (custody) => {
    test('generated keys sign what node:crypto verifies', async () => {
      const wrong: string[] = [];
      for (const type of types.filter((name) => !/^(aes|secret|cmac)/.test(name))) {
        const { key, publicKey } = await makeKey(hsm, type, `sign-${type}`, { custody });
        wrong.push(...(await wrongSignatures(hsm, key, publicKey as Uint8Array)));
        await hsm.destroy(key);
      }
      expect(wrong).toEqual([]);
    });

    test('imported keys work as before, and are exported unchanged', async () => {
      const wrong: string[] = [];
      for (const type of types) {
        const material = freshMaterial(type);
        const binding = bindingOf(`import-${type}`);
        const given = Buffer.from(material);
        const made = await hsm.importKey(type, given, binding, { custody });
        const key = { stored: made.stored, binding };
        if (given.some((octet) => octet !== 0)) wrong.push(`${type}: the caller's buffer is not zeroed`);
        const outside = publicKeyOf(type, material);
        if (!sameOctets(made.publicKey, outside)) wrong.push(`${type}: public key`);
        if (outside !== undefined) wrong.push(...(await wrongSignatures(hsm, key, outside)));
        const exported = await exportIfPossible(key);
        if (exported !== undefined && !sameOctets(exported, material)) wrong.push(`${type}: export`);
        await hsm.destroy(key);
      }
      expect(wrong).toEqual([]);
    });

    /** Ed25519 objects cannot leave a SoftHSM 2.6.1 token, ML-DSA objects no kryoptic; see their capability tables. */
    async function exportIfPossible(key: KeyReference): Promise<Uint8Array | undefined> {
      try {
        return await hsm.readKeyMaterialInClear(key);
      } catch (error) {
        const said = `this token cannot wrap a key of type ${key.stored.type}`;
        const isSeed = keyRows[key.stored.type].seed !== undefined;
        const isSaid = error instanceof HsmError && error.kind === 'unsupported' && error.message.startsWith(said);
        if (custody === 'token' && isSeed && isSaid) return undefined;
        throw error;
      }
    }

    test('AES-GCM is the AES-GCM of node:crypto, with and without associated data', async () => {
      for (const type of aesTypes) {
        const { key } = await makeKey(hsm, type, `gcm-${type}`, { custody });
        const octets = await hsm.readKeyMaterialInClear(key);
        for (const associatedData of [undefined, Buffer.alloc(0), Buffer.from('header')]) {
          const options = defined({ associatedData });
          const sealed = await hsm.encrypt(key, message, options);
          expect(openOutside(octets, sealed, associatedData)).toEqual(message);
          expect(Buffer.from(await hsm.decrypt(key, sealOutside(octets, message, associatedData), options))).toEqual(message);
        }
      }
    });

    test('HMAC is the HMAC of node:crypto for every hash, also of an empty input', async () => {
      const { key } = await makeKey(hsm, 'secret-256', 'hmac', { custody });
      const secret = await hsm.readKeyMaterialInClear(key);
      for (const hash of ['sha256', 'sha384', 'sha512'] as const) {
        for (const data of [message, Buffer.alloc(0), Buffer.alloc(100_000, 7)]) {
          expect(Buffer.from(await hsm.hmac(key, hash, data))).toEqual(createHmac(hash, secret).update(data).digest());
        }
      }
    });

    test('CMAC is that of RFC 4493, which every type that is offered was proven to compute', async () => {
      for (const type of types.filter((name) => name.startsWith('cmac'))) {
        const { key } = await makeKey(hsm, type, `${type}-${custody}`, { custody });
        const octets = Buffer.from(await hsm.readKeyMaterialInClear(key));
        for (const data of [Buffer.alloc(0), message, message.subarray(0, 16), Buffer.alloc(100_000, 7)])
          expect(Buffer.from(await hsm.sign(key, { scheme: 'cmac', message: data }))).toEqual(cmacOutside(octets, data));
        await expect(hsm.encrypt(key, message)).rejects.toMatchObject({ kind: 'refused' });
      }
    });

    test('keys agree with others on what node:crypto computes, and on nothing with what is no point', async () => {
      for (const type of types.filter((name) => keyUses[name].use === 'agree')) {
        const { key, publicKey } = await makeKey(hsm, type, `${type}-${custody}`, { custody });
        const imported = await hsm.importKey(type, freshMaterial(type), bindingOf(`${type}-${custody}-imported`), { custody });
        const pairs = [
          { key, publicKey },
          { key: { stored: imported.stored, binding: bindingOf(`${type}-${custody}-imported`) }, publicKey: imported.publicKey },
        ];
        for (const { key: own, publicKey: spki } of pairs) {
          const { privateKey, point } = throwAwayPair(type);
          const shown = createPublicKey({ key: Buffer.from(spki as Uint8Array), format: 'der', type: 'spki' });
          expect(Buffer.from(await hsm.agree(own, point)), type).toEqual(diffieHellman({ privateKey, publicKey: shown }));
          for (const wrong of pointsThatAreNone(type, point)) {
            await expect(hsm.agree(own, wrong), `${type} ${Buffer.from(wrong).toString('hex')}`).rejects.toMatchObject({
              kind: 'decryption-failed',
            });
          }
          await expect(hsm.sign(own, { scheme: 'ecdsa', digest: Buffer.alloc(32, 1) }), type).rejects.toMatchObject({ kind: 'refused' });
        }
      }
      const { key: signing } = await makeKey(hsm, 'aes-256', `agrees-not-${custody}`, { custody });
      await expect(hsm.agree(signing, Buffer.alloc(32, 9))).rejects.toMatchObject({ kind: 'refused' });
    });

    test('signatures on secp256k1 have the lower of the two values of s', async ({ skip }) => {
      skip(!types.includes('ecdsa-secp256k1'), 'the token does not have the curve');
      const { key } = await makeKey(hsm, 'ecdsa-secp256k1', `low-${custody}`, { custody });
      const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
      // Without the rule one of two would be high.
      for (let at = 0; at < 24; at += 1) {
        const signature = await hsm.sign(key, { scheme: 'ecdsa', digest: randomBytes(32) });
        expect(BigInt(`0x${Buffer.from(signature.subarray(32)).toString('hex')}`) <= order / 2n).toBe(true);
      }
    });

    test('a destroyed key is gone or unloaded, other keys are not', async () => {
      const one = await makeKey(hsm, 'aes-256', 'destroy-1', { custody });
      const other = await makeKey(hsm, 'aes-256', 'destroy-2', { custody });
      const sealed = await hsm.encrypt(other.key, message);
      await hsm.destroy(one.key);
      const use = hsm.encrypt(one.key, message).then(
        () => 'usable',
        (error: HsmError) => error.kind,
      );
      // A wrapped key is destroyed with its record: the blob itself still unwraps.
      expect(await use).toBe(custody === 'token' ? 'key-missing' : 'usable');
      expect(Buffer.from(await hsm.decrypt(other.key, sealed))).toEqual(message);
    });
  });

  test('every encryption has another nonce, and a given nonce is used', async () => {
    const { key } = await makeKey(hsm, 'aes-256', 'nonces');
    const sealed = await Promise.all(Array.from({ length: 1_000 }, () => hsm.encrypt(key, message)));
    expect(new Set(sealed.map((octets) => Buffer.from(octets.subarray(0, 12)).toString('hex'))).size).toBe(1_000);
    const nonce = randomBytes(12);
    const [one, two] = [await hsm.encrypt(key, message, { nonce }), await hsm.encrypt(key, message, { nonce })];
    expect(Buffer.from(one.subarray(0, 12))).toEqual(nonce);
    expect(Buffer.from(one)).toEqual(Buffer.from(two));
  });

  test('plaintexts of every size up to 4 MiB come back', async () => {
    const { key } = await makeKey(hsm, 'aes-256', 'sizes');
    for (const bytes of [0, 1, 15, 16, 17, 65_535, 65_536, 1_048_576, 4 * 1_048_576]) {
      const plaintext = randomBytes(bytes);
      const sealed = await hsm.encrypt(key, plaintext);
      expect(sealed.length).toBe(bytes + 28);
      expect(Buffer.from(await hsm.decrypt(key, sealed)).equals(plaintext)).toBe(true);
    }
  });

  test('a flipped bit, a missing octet, other associated data or another key give the same error', async () => {
    const { key } = await makeKey(hsm, 'aes-256', 'tamper');
    const other = await makeKey(hsm, 'aes-256', 'tamper-other');
    const associatedData = Buffer.from('header');
    const sealed = await hsm.encrypt(key, message, { associatedData });
    const flipped = (index: number): Uint8Array => sealed.map((octet, at) => (at === index ? octet ^ 1 : octet));
    const wrong: Promise<unknown>[] = [
      ...[0, 11, 12, 30, sealed.length - 16, sealed.length - 1].map((index) => hsm.decrypt(key, flipped(index), { associatedData })),
      ...[0, 1, 12, 27, 28, sealed.length - 1].map((length) => hsm.decrypt(key, sealed.subarray(0, length), { associatedData })),
      hsm.decrypt(key, sealed, { associatedData: Buffer.from('Header') }),
      hsm.decrypt(key, sealed),
      hsm.decrypt(other.key, sealed, { associatedData }),
    ];
    const errors = await Promise.all(
      wrong.map((attempt) =>
        attempt.then(
          () => 'opened',
          (error: Error & { kind: string }) => `${error.kind}: ${error.message}`,
        ),
      ),
    );
    expect(new Set(errors)).toEqual(new Set(['decryption-failed: the ciphertext does not open with this key']));
    expect(Buffer.from(await hsm.decrypt(key, sealed, { associatedData }))).toEqual(message);
  });

  test('a derived key follows the documented format (design hsm 9)', async () => {
    const { key: secret } = await makeKey(hsm, 'secret-256', 'derive');
    const octets = await hsm.readKeyMaterialInClear(secret);
    for (const type of aesTypes) {
      const derivation: Derivation = { secret, contextHash: randomBytes(32), salt: randomBytes(16), iterations: 1_000, type };
      const input = framed('keystored/derive/1', String(secret.binding.version), Buffer.from(derivation.contextHash));
      const u = createHmac('sha256', octets).update(input).digest();
      const derived = pbkdf2Sync(u, derivation.salt, 1_000, { 'aes-128': 16, 'aes-192': 24, 'aes-256': 32 }[type], 'sha256');
      const sealed = await hsm.encrypt({ derivation }, message);
      expect(openOutside(derived, sealed)).toEqual(message);
      expect(Buffer.from(await hsm.decrypt({ derivation }, sealed))).toEqual(message);
      const other = { ...derivation, contextHash: randomBytes(32) };
      await expect(hsm.decrypt({ derivation: other }, sealed)).rejects.toMatchObject({ kind: 'decryption-failed' });
    }
  });

  test('a key that is expanded is that of HKDF (RFC 5869)', async () => {
    const { key: secret } = await makeKey(hsm, 'secret-256', 'expand');
    const octets = await hsm.readKeyMaterialInClear(secret);
    for (const type of aesTypes)
      for (const info of [Buffer.from('a'), randomBytes(4_096)]) {
        const derivation: Derivation = { secret, info, type };
        const whole = createHmac('sha256', octets).update(info).update(Buffer.of(1)).digest();
        const sealed = await hsm.encrypt({ derivation }, message);
        expect(openOutside(whole.subarray(0, { 'aes-128': 16, 'aes-192': 24, 'aes-256': 32 }[type]), sealed)).toEqual(message);
        expect(Buffer.from(await hsm.decrypt({ derivation }, sealed))).toEqual(message);
        const other = { ...derivation, info: randomBytes(info.length) };
        await expect(hsm.decrypt({ derivation: other }, sealed)).rejects.toMatchObject({ kind: 'decryption-failed' });
      }
    const tooLong = { secret, info: randomBytes(4_097), type: 'aes-256' } as const;
    await expect(hsm.encrypt({ derivation: tooLong }, message)).rejects.toMatchObject({ kind: 'refused' });
  });

  test('many concurrent first uses of one derived key derive it correctly', async () => {
    const { key: secret } = await makeKey(hsm, 'secret-256', 'derive-together');
    const derivation: Derivation = { secret, contextHash: randomBytes(32), salt: randomBytes(16), iterations: 50_000, type: 'aes-256' };
    const sealed = await Promise.all(Array.from({ length: 50 }, () => hsm.encrypt({ derivation }, message)));
    for (const one of sealed) expect(Buffer.from(await hsm.decrypt({ derivation }, one))).toEqual(message);
  });

  test('keys work after the process that made them has ended', async () => {
    const kept = await Promise.all(
      (['wrapped', 'token'] as const).map(async (custody) => {
        const { key } = await makeKey(hsm, 'aes-256', `kept-${custody}`, { custody });
        return { key, sealed: await hsm.encrypt(key, message) };
      }),
    );
    const later = await openHsm(testHsmConfig(token));
    try {
      for (const { key, sealed } of kept) expect(Buffer.from(await later.decrypt(key, sealed))).toEqual(message);
    } finally {
      await later.close();
    }
  });

  test('random returns every allowed number of octets, never the same twice', async () => {
    for (const bytes of [1, 12, 32, 4_096, 131_072]) expect((await hsm.random(bytes)).length).toBe(bytes);
    const drawn = await Promise.all(Array.from({ length: 200 }, () => hsm.random(16)));
    expect(new Set(drawn.map((octets) => Buffer.from(octets).toString('hex'))).size).toBe(200);
    for (const bytes of [0, -1, 1.5, 131_073]) await expect(hsm.random(bytes)).rejects.toMatchObject({ kind: 'refused' });
  });

  test('a key object that must not be extractable is not', async () => {
    const { key } = await makeKey(hsm, 'ecdsa-p256', 'locked', { custody: 'token', extractable: false });
    await expect(hsm.readKeyMaterialInClear(key)).rejects.toMatchObject({ kind: 'refused' });
    await hsm.destroy(key);
  });

  test('a key is kept as its seed if the token cannot wrap its type, and such types are named', async () => {
    const named = await findKeptAsSeeds(token);
    for (const type of types.filter((one) => keyRows[one].seed !== undefined)) {
      const { wrappingKey } = await hsm.evidence((await makeKey(hsm, type, `kept-${type}`)).key);
      expect(wrappingKey?.content, type).toBe(named.includes(type) ? 'seed' : 'key');
    }
  });

  test('the self-test passes and the latencies are counted', async () => {
    await hsm.selfTest();
    expect(hsm.status()[0]).toMatchObject({ state: 'up', latencies: { selfTest: { count: 1 } } });
  });

  test(
    'keys rewrapped under another wrapping key are the same keys, also for a process that knows only that one',
    { timeout: 120_000 },
    async () => {
      const name = token.name;
      const made: {
        readonly type: KeyType;
        readonly key: KeyReference;
        readonly material: Uint8Array;
        readonly publicKey: Uint8Array | undefined;
      }[] = [];
      for (const type of types) {
        const { key, publicKey } = await makeKey(hsm, type, `rotate-${type}`);
        made.push({ type, key, publicKey, material: await hsm.readKeyMaterialInClear(key) });
      }
      const before = (await hsm.wrappingKeys.list(name)).at(-1) as number;
      expect(await hsm.wrappingKeys.makeNext(name, before)).toBe(before + 1);
      const fresh = await Promise.all(
        made.map(async (one) => ({ ...one, key: { ...one.key, stored: await hsm.wrappingKeys.rewrap(one.key) } })),
      );
      await hsm.wrappingKeys.destroy(name, before);
      const other = await openHsm(testHsmConfig(token));
      const wrong: string[] = [];
      for (const { type, key, material, publicKey } of fresh) {
        if (other.wrappingKeys.numberOf(key.stored) !== before + 1) wrong.push(`${type}: number`);
        if (!sameOctets(await other.readKeyMaterialInClear(key), material)) wrong.push(`${type}: material`);
        if (publicKey !== undefined) wrong.push(...(await wrongSignatures(other, key, publicKey)));
      }
      expect(await other.wrappingKeys.list(name)).toEqual([before + 1]);
      await other.close();
      expect(wrong).toEqual([]);
    },
  );

  test('the user PIN is changed; a process that is logged in stays logged in', async ({ skip }) => {
    const { pin } = token;
    // The PIN of a foreign token stays as it is.
    if (!('file' in pin)) {
      skip('the PIN of this token comes from elsewhere');
      return;
    }
    await changePin({ ...token, user: 'user', newPin: { given: new Secret('the-next-pin') } });
    await hsm.selfTest();
    await expect(openHsm(testHsmConfig(token))).rejects.toMatchObject({ kind: 'pin-refused' });
    writeFileSync(pin.file, 'the-next-pin');
    const again = await openHsm(testHsmConfig(token));
    await again.close();
  });
});

/** Octets that no key of the type may agree with: of another length or form, off the curve, infinity, of low order. */
function pointsThatAreNone(type: KeyType, point: Uint8Array): Uint8Array[] {
  const changed = (at: number, octet: number): Uint8Array => point.map((one, index) => (index === at ? octet : one));
  const shared = [Buffer.alloc(0), Buffer.of(0), point.subarray(1), Buffer.concat([point, Buffer.of(0)]), Buffer.alloc(point.length)];
  if (type === 'x25519') return [...shared, ...lowOrder.map((hex) => Buffer.from(hex, 'hex'))];
  const half = (point.length - 1) / 2;
  return [...shared, changed(point.length - 1, (point.at(-1) as number) ^ 1), changed(0, 6), changed(0, 2).subarray(0, 1 + half)];
}

/** The points of low order of Curve25519 and of its twist, and their other encodings (Wycheproof; https://cr.yp.to/ecdh.html). */
const lowOrder = [
  '0100000000000000000000000000000000000000000000000000000000000000',
  'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800',
  '5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
];

async function wrongSignatures(hsm: Hsm, key: KeyReference, publicKey: Uint8Array): Promise<string[]> {
  const wrong: string[] = [];
  for (const { scheme, check } of signatures(key.stored.type, message, publicKey)) {
    if (!check(await hsm.sign(key, scheme))) wrong.push(`${key.stored.type}: ${scheme.scheme}`);
  }
  return wrong;
}

function sameOctets(one: Uint8Array | undefined, other: Uint8Array | undefined): boolean {
  return one === other || (one !== undefined && other !== undefined && Buffer.compare(one, other) === 0);
}

function framed(...parts: readonly (string | Buffer)[]): Buffer {
  return Buffer.concat(parts.flatMap((part) => [uint32(Buffer.byteLength(part)), Buffer.from(part)]));
}

function uint32(value: number): Buffer {
  const octets = Buffer.alloc(4);
  octets.writeUInt32BE(value);
  return octets;
}
