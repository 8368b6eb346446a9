// RSAES-OAEP in the token (RFC 8017 section 7.1), compared with node:crypto; and the decoding of its padding alone.
import { constants, createPublicKey, generateKeyPairSync, privateDecrypt, publicEncrypt, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HsmError, type Hsm } from '../../hsm/api.ts';
import { decodeOaep } from '../../hsm/engine/operations/oaep.ts';
import { openHsm } from '../../hsm/client/open.ts';
import { bindingOf, makeKey } from '../harness/keys.ts';
import { findModules } from '../harness/token/modules.ts';
import { testHsmConfig } from '../harness/token/softhsm.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

const hashes = ['sha1', 'sha256', 'sha384', 'sha512'] as const;
const directory = temporaryDirectory();

/** The kind of the error, or `opened`. */
const outcome = (opened: Promise<unknown>): Promise<string> =>
  opened.then(
    () => 'opened',
    (error: unknown) => (error instanceof HsmError ? error.kind : String(error)),
  );

describe.each(await findModules())('$name', (module) => {
  let hsm: Hsm;

  beforeAll(async () => {
    hsm = await openHsm(testHsmConfig(await module.make(directory())));
  });
  afterAll(() => hsm.close());

  test.each(hashes)('opens what node:crypto sealed with %s, of every length', async (oaepHash) => {
    const { key, publicKey } = await makeKey(hsm, 'rsa-2048', `oaep-${oaepHash}`);
    const rsa = createPublicKey({ key: Buffer.from(publicKey as Uint8Array), format: 'der', type: 'spki' });
    const longest = { sha1: 214, sha256: 190, sha384: 158, sha512: 126 }[oaepHash];
    for (const length of [0, 1, 16, 32, longest]) {
      const message = randomBytes(length);
      const sealed = publicEncrypt({ key: rsa, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash }, message);
      expect(Buffer.from(await hsm.decryptOaep(key, oaepHash, sealed))).toEqual(message);
    }
  });

  test('every other input is decryption-failed, and the key still works', async () => {
    const { key, publicKey } = await makeKey(hsm, 'rsa-2048', 'oaep-refusals');
    const rsa = createPublicKey({ key: Buffer.from(publicKey as Uint8Array), format: 'der', type: 'spki' });
    const message = randomBytes(32);
    const sealed = publicEncrypt({ key: rsa, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' }, message);
    const flipped = Buffer.from(sealed);
    flipped[100] = (flipped[100] as number) ^ 1;
    const pkcs1 = publicEncrypt({ key: rsa, padding: constants.RSA_PKCS1_PADDING }, message);
    const wrong = [
      flipped,
      pkcs1,
      Buffer.alloc(256),
      Buffer.alloc(256, 0xff),
      sealed.subarray(1),
      Buffer.alloc(0),
      Buffer.concat([sealed, sealed]),
    ];
    const outcomes: string[] = [];
    for (const one of wrong) outcomes.push(await outcome(hsm.decryptOaep(key, 'sha256', one)));
    outcomes.push(await outcome(hsm.decryptOaep(key, 'sha512', sealed)));
    expect(new Set(outcomes)).toEqual(new Set(['decryption-failed']));
    expect(Buffer.from(await hsm.decryptOaep(key, 'sha256', sealed))).toEqual(message);
  });

  test('a key of another type, and one with another binding, are refused', async () => {
    const { key } = await makeKey(hsm, 'ecdsa-p256', 'oaep-ec');
    expect(await outcome(hsm.decryptOaep(key, 'sha256', Buffer.alloc(256)))).toBe('refused');
    const { stored } = await makeKey(hsm, 'rsa-2048', 'oaep-bound');
    const elsewhere = { stored, binding: bindingOf('oaep-elsewhere') };
    expect(await outcome(hsm.decryptOaep(elsewhere, 'sha256', Buffer.alloc(256)))).toBe('key-not-usable');
  });
});

test.each(hashes)('decoding with %s: a block opens, but not with any single octet changed', (oaepHash) => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const sealed = publicEncrypt({ key: publicKey, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash }, Buffer.from('message'));
  const block = privateDecrypt({ key: privateKey, padding: constants.RSA_NO_PADDING }, sealed);
  expect(decodeOaep(oaepHash, block).toString()).toBe('message');
  for (let at = 0; at < block.length; at += 1) {
    const other = Buffer.from(block);
    other[at] = (other[at] as number) ^ 0x01;
    expect(() => decodeOaep(oaepHash, other)).toThrow('does not open');
  }
});
