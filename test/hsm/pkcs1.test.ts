// RSAES-PKCS1-v1_5 in the token with implicit rejection (RFC 8017 section 7.2): compared with node:crypto and Wycheproof's vectors, by tokens with
// and without RSA that has no padding.
import { constants, createPublicKey, type KeyObject, publicEncrypt, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Hsm, HsmError } from '../../hsm/api.ts';
import { openHsm } from '../../hsm/client/open.ts';
import { Engine } from '../../hsm/engine/engine.ts';
import { generateKey } from '../../hsm/engine/operations/making.ts';
import { decodePkcs1, decryptPkcs1 } from '../../hsm/engine/operations/pkcs1.ts';
import * as ck from '../../hsm/pkcs11/constants.ts';
import { TokenError } from '../../hsm/pkcs11/return-values.ts';
import { keyIdentity } from '../../hsm/protocol/key-encoding.ts';
import { bindingOf, makeKey } from '../harness/keys.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { makeFaultyToken } from '../harness/token/faulty-module.ts';
import { findModules } from '../harness/token/modules.ts';
import { makeSoftTokenForThisProcess, testHsmConfig } from '../harness/token/softhsm.ts';
import { loadWycheproof } from '../vectors/wycheproof.ts';

const directory = temporaryDirectory();
const keyOf = (spki: Uint8Array | undefined): KeyObject =>
  createPublicKey({ key: Buffer.from(spki as Uint8Array), format: 'der', type: 'spki' });
const seal = (key: KeyObject, message: Buffer): Buffer => publicEncrypt({ key, padding: constants.RSA_PKCS1_PADDING }, message);
/** A block of 256 octets encrypted as it is. */
const sealBlock = (key: KeyObject, block: Buffer): Buffer => publicEncrypt({ key, padding: constants.RSA_NO_PADDING }, block);

const outcome = (opened: Promise<unknown>): Promise<string> =>
  opened.then(
    () => 'opened',
    (error: unknown) => (error instanceof HsmError ? error.kind : String(error)),
  );

/** 0x00 ‖ 0x02 ‖ padding ‖ 0x00 ‖ message, with what `change` does to it. */
function blockOf(message: Buffer, change: (block: Buffer) => void = () => undefined): Buffer {
  const padding = randomBytes(253 - message.length).map((octet) => octet || 1);
  const block = Buffer.concat([Buffer.of(0, 2), padding, Buffer.of(0), message]);
  change(block);
  return block;
}

/** Ciphertexts that do not decrypt to 16 octets, by what is wrong with them. */
function wrongOnes(key: KeyObject): Readonly<Record<string, Buffer>> {
  const message = randomBytes(16);
  const block = (change: (block: Buffer) => void): Buffer => sealBlock(key, blockOf(message, change));
  return {
    'another block type': block((octets) => (octets[1] = 1)),
    'a first octet that is not zero': block((octets) => (octets[0] = 1)),
    'a zero in the first octet of the padding': block((octets) => (octets[2] = 0)),
    'a zero in the last octet of the padding': block((octets) => (octets[238] = 0)),
    'no zero behind the padding': block((octets) => (octets[239] = 7)),
    'a message of 15 octets': seal(key, message.subarray(1)),
    'a message of 17 octets': seal(key, Buffer.concat([message, Buffer.of(1)])),
    'a message of 0 octets': seal(key, Buffer.alloc(0)),
    'the padding of OAEP': publicEncrypt({ key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' }, message),
    'the number 0': Buffer.alloc(256),
    'the number 1': Buffer.concat([Buffer.alloc(255), Buffer.of(1)]),
    'a number above the modulus': Buffer.alloc(256, 0xff),
    'one octet too few': seal(key, message).subarray(1),
    'one octet too many': Buffer.concat([Buffer.of(0), seal(key, message)]),
    nothing: Buffer.alloc(0),
  };
}

describe.each(await findModules())('$name', (module) => {
  let hsm: Hsm;
  let again: Hsm;

  beforeAll(async () => {
    const token = await module.make(directory());
    hsm = await openHsm(testHsmConfig(token));
    again = await openHsm(testHsmConfig(token));
  });
  afterAll(() => Promise.all([hsm.close(), again.close()]));

  test('opens what node:crypto sealed, of every length', async () => {
    const { key, publicKey } = await makeKey(hsm, 'rsa-2048', 'pkcs1-lengths');
    for (const length of [0, 1, 8, 16, 24, 32, 64, 65, 245]) {
      const message = randomBytes(length);
      expect(Buffer.from(await hsm.decryptPkcs1(key, length, seal(keyOf(publicKey), message)))).toEqual(message);
    }
    expect(await outcome(hsm.decryptPkcs1(key, 246, Buffer.alloc(256, 1)))).toBe('refused');
  });

  test('answers every other input with as many octets, the same each time and in every process, and others for others', async () => {
    const { key, publicKey } = await makeKey(hsm, 'rsa-2048', 'pkcs1-rejected');
    const seen = new Set<string>();
    const wrong = wrongOnes(keyOf(publicKey));
    for (const [title, sealed] of Object.entries(wrong)) {
      const answers = [];
      for (const one of [hsm, hsm, again]) answers.push(Buffer.from(await one.decryptPkcs1(key, 16, sealed)).toString('hex'));
      expect([title, answers[0]?.length, new Set(answers).size]).toEqual([title, 32, 1]);
      seen.add(answers[0] as string);
    }
    expect(seen.size).toBe(Object.keys(wrong).length);
    // Another length of the key gives other octets, of which the first are not these.
    const sealed = wrong['another block type'] as Buffer;
    const [short, long] = await Promise.all([hsm.decryptPkcs1(key, 16, sealed), hsm.decryptPkcs1(key, 32, sealed)]);
    expect(Buffer.from(long).subarray(0, 16).equals(Buffer.from(short))).toBe(false);
  });

  test('a key of another type, and one with another binding, are refused', async () => {
    const { key } = await makeKey(hsm, 'ecdsa-p256', 'pkcs1-ec');
    expect(await outcome(hsm.decryptPkcs1(key, 16, Buffer.alloc(256)))).toBe('refused');
    const { stored } = await makeKey(hsm, 'rsa-2048', 'pkcs1-bound');
    expect(await outcome(hsm.decryptPkcs1({ stored, binding: bindingOf('elsewhere') }, 16, Buffer.alloc(256)))).toBe('key-not-usable');
  });

  const file = loadWycheproof('rsa_pkcs1_2048');
  test(`Wycheproof: ${file.summary}`, { timeout: 120_000 }, async () => {
    const wrong: unknown[] = [];
    for (const [at, group] of file.groups.entries()) {
      const binding = bindingOf(`wycheproof-${at}`);
      const material = Buffer.from((group as { readonly privateKeyPkcs8?: string }).privateKeyPkcs8 as string, 'hex');
      const { stored } = await hsm.importKey('rsa-2048', material, binding, { custody: 'wrapped' });
      for (const { tcId, comment, msg, ct, result } of group.tests) {
        const message = Buffer.from(msg, 'hex');
        const opened = Buffer.from(await hsm.decryptPkcs1({ stored, binding }, message.length, Buffer.from(ct, 'hex')));
        if (opened.equals(message) !== (result === 'valid') || opened.length !== message.length) wrong.push({ tcId, comment, result });
      }
    }
    expect(wrong).toEqual([]);
  });
});

test('decoding: a block opens, and not with any single octet of its frame changed', () => {
  const message = randomBytes(24);
  const rejected = randomBytes(24);
  expect(decodePkcs1(blockOf(message), rejected)).toEqual(message);
  for (let at = 0; at < 232; at += 1) {
    const change = (block: Buffer): void => {
      block[at] = at < 2 || at === 231 ? (block[at] as number) ^ 0x10 : 0;
    };
    expect([at, decodePkcs1(blockOf(message, change), rejected).equals(rejected)]).toEqual([at, true]);
  }
});

describe('SoftHSM2 in this process', () => {
  let engine: Engine;
  let identity: string;
  let key: KeyObject;

  beforeAll(async () => {
    const token = await makeSoftTokenForThisProcess(directory());
    engine = new Engine({ token, cacheKeys: 100, pin: token.pin });
    const binding = bindingOf('pkcs1-here');
    const { blob, mac, publicKey } = generateKey(engine, 'rsa-2048', { binding, custody: 'wrapped', extractable: true, under: 1 });
    identity = keyIdentity({ stored: { type: 'rsa-2048', custody: 'wrapped', token: '', blob, mac }, binding });
    key = keyOf(publicKey);
  });
  afterAll(() => engine.close());

  /** The calls of the module that one decryption makes, by mechanism. */
  const callsOf = (sealed: Buffer): readonly number[] => {
    const spy = vi.spyOn(engine.sessions.module, 'decrypt');
    decryptPkcs1(engine, identity, 16, sealed);
    const calls = spy.mock.calls.map(([, { mechanism }]) => mechanism);
    spy.mockRestore();
    return calls;
  };
  const good = (): Buffer => seal(key, randomBytes(16));
  /** Wrong ones that the token gets to see. */
  const decrypted = (): readonly Buffer[] => Object.values(wrongOnes(key)).slice(0, 9);

  test('asks the token for good and wrong padding the same', () => {
    callsOf(good());
    for (const sealed of [good(), ...decrypted()]) expect(callsOf(sealed)).toEqual([ck.CKM_RSA_X_509]);
  });

  // SoftHSM2 reports what OpenSSL does, which hides wrong padding itself in newer versions: the other one reports every one.
  test.each([
    ['whatever it answers', false],
    ['of a module that reports bad padding', true],
  ])('without RSA that has no padding, asks the token to open it, the same for good and wrong padding, %s', (_title, reportsAll) => {
    const { module } = engine.sessions;
    const original = module.decrypt.bind(module);
    const reported: Buffer[] = [];
    const spy = vi.spyOn(module, 'decrypt').mockImplementation((session, mechanism, handle, sealed, output) => {
      if (mechanism.mechanism === ck.CKM_RSA_X_509) throw new TokenError(0x70, 'C_DecryptInit');
      if (reportsAll && mechanism.mechanism === ck.CKM_RSA_PKCS) {
        const block = original(session, { ...mechanism, mechanism: ck.CKM_RSA_X_509 }, handle, sealed, Buffer.alloc(256));
        if (block[0] !== 0 || block[1] !== 2 || block.indexOf(0, 2) < 10) {
          reported.push(sealed);
          throw new TokenError(0x40, 'C_Decrypt');
        }
      }
      return original(session, mechanism, handle, sealed, output);
    });
    const message = randomBytes(16);
    expect(decryptPkcs1(engine, identity, 16, seal(key, message))).toEqual(message);
    const mechanisms = (sealed: Buffer): readonly number[] => {
      spy.mockClear();
      decryptPkcs1(engine, identity, 16, sealed);
      return spy.mock.calls.map(([, { mechanism }]) => mechanism);
    };
    const canary = ck.CKM_AES_GCM;
    const wrong = decrypted();
    for (const sealed of [good(), ...wrong]) {
      expect(mechanisms(sealed)).toEqual([ck.CKM_RSA_PKCS, canary, ck.CKM_RSA_PKCS, canary]);
      const answers = [0, 1].map(() => decryptPkcs1(engine, identity, 16, sealed).toString('hex'));
      expect([answers[0]?.length, new Set(answers).size]).toEqual([32, 1]);
    }
    // Another block type, another first octet, a zero at the beginning of the padding, none behind it, and the padding of OAEP.
    expect(wrong.filter((sealed) => reported.includes(sealed)).length).toBeGreaterThanOrEqual(reportsAll ? 4 : 0);
    spy.mockRestore();
  });
});

test('a module that reports every wrong padding, and one that fails once, are heard by nobody', async () => {
  const { token, table } = await makeFaultyToken(directory());
  const hsm = await openHsm(testHsmConfig(token));
  try {
    const { key, publicKey } = await makeKey(hsm, 'rsa-2048', 'pkcs1-faults');
    const message = randomBytes(32);
    const sealed = seal(keyOf(publicKey), message);
    table.arm({ name: 'C_Decrypt', kind: 'refuse', argument: 0x40 });
    expect(Buffer.from(await hsm.decryptPkcs1(key, 32, sealed))).toEqual(message);
    expect(table.struck).toBe(1);
    table.arm({ name: 'C_Decrypt', kind: 'refuse-as', argument: 0x40, times: 1_000_000 });
    const wrong = Object.values(wrongOnes(keyOf(publicKey)));
    expect(await Promise.all(wrong.map((one) => outcome(hsm.decryptPkcs1(key, 16, one))))).toEqual(wrong.map(() => 'opened'));
  } finally {
    table.disarm();
    await hsm.close();
  }
});
