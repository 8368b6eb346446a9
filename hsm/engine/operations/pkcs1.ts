// RSAES-PKCS1-v1_5 in the token, for content keys that protocols send (RFC 8017 section 7.2.2), with implicit rejection: wrong padding gives a
// key that looks like any other. An answer that told it apart would be Bleichenbacher's oracle, and would decrypt for everybody.
import { createHmac } from 'node:crypto';
import { HsmError } from '../../api.ts';
import * as ck from '../../pkcs11/constants.ts';
import { plainMechanism } from '../../pkcs11/mechanisms.ts';
import { CKR_OK, kindOf, remedyOf, TokenError } from '../../pkcs11/return-values.ts';
import type { KeyIdentity } from '../../protocol/key-encoding.ts';
import { ModuleBroken, type Engine, type LoadedKey } from '../engine.ts';
import { isDecryptionFailed, twice } from './cipher.ts';
import { decryptBlock, isRepresentative, lacksMechanism, openingKey } from './rsa-opening.ts';

/** Octets of a block besides the message: 0x00 ‖ 0x02 ‖ eight of padding at least ‖ 0x00. */
const overhead = 11;

// Engines whose token has no RSA without padding. Detected at the first decryption.
const withoutRaw = new WeakSet<Engine>();

/**
 * Decrypts a message of `bytes` octets, in the token. For every other input, whatever is wrong with it, returns as many pseudo-random octets,
 * the same each time. `refused` for a key of another type, or one too short for the message.
 */
export function decryptPkcs1(engine: Engine, identity: KeyIdentity, bytes: number, sealed: Buffer): Buffer {
  const key = openingKey(engine, identity);
  const rejected = rejection(engine, identity, key, bytes, sealed);
  // Public: its sender knows it.
  if (!isRepresentative(engine, key, sealed)) return rejected;
  if (sealed.length < bytes + overhead) throw new HsmError('refused', `a key of type ${key.type} carries no ${bytes} octets`);
  if (!withoutRaw.has(engine)) {
    try {
      const block = rawBlock(engine, key, sealed);
      return block === undefined ? rejected : decodePkcs1(block, rejected);
    } catch (error) {
      if (!lacksMechanism(engine, error)) throw error;
      withoutRaw.add(engine);
    }
  }
  return paddedByToken(engine, key, sealed, rejected);
}

/** The block under the padding; undefined if the token refuses the number, which is decrypted like any other. */
function rawBlock(engine: Engine, key: LoadedKey, sealed: Buffer): Buffer | undefined {
  try {
    const block = twice(() => decryptBlock(engine, key, sealed));
    // A wrong block would be taken for wrong padding, and nobody would hear that the token is at fault.
    if (engine.checksAnswers && !decryptBlock(engine, key, sealed).equals(block)) throw new TokenError(CKR_OK, 'C_Decrypt');
    return block;
  } catch (error) {
    if (isDecryptionFailed(error)) return undefined;
    throw error;
  }
}

/**
 * Decodes EME-PKCS1-v1_5 for a message as long as `rejected`, which is the result for any other block: 0x00 ‖ 0x02 ‖ padding without zeros ‖
 * 0x00 ‖ message. The one expected length makes it simple: every octet is read once, in any case, without a branch. Zeroes the block.
 */
export function decodePkcs1(block: Buffer, rejected: Buffer): Buffer {
  const start = block.length - rejected.length;
  let wrong = (block[0] as number) | ((block[1] as number) ^ 2) | (block[start - 1] as number);
  for (let at = 2; at < start - 1; at += 1) wrong |= (((block[at] as number) - 1) >>> 31) & 1;
  // All ones if anything is wrong, else zero.
  const mask = -((wrong | -wrong) >>> 31);
  const result = Buffer.alloc(rejected.length);
  for (let at = 0; at < result.length; at += 1) result[at] = ((block[start + at] as number) & ~mask) | ((rejected[at] as number) & mask);
  block.fill(0);
  return result;
}

/**
 * Decryption by a token that only decrypts with padding. It does the same for good and wrong padding: two decryptions and two canaries. What the token's
 * own time reveals stays.
 */
function paddedByToken(engine: Engine, key: LoadedKey, sealed: Buffer, rejected: Buffer): Buffer {
  const results = [0, 1].map(() => {
    const result = attempt(engine, key, sealed);
    if (!engine.canaryWorks()) {
      engine.sessions.renewWork();
      if (!engine.canaryWorks()) throw new ModuleBroken('the token no longer decrypts what it encrypts');
    }
    return result;
  });
  const fitting = results.find((result) => result.length === rejected.length);
  return Buffer.from(fitting ?? rejected);
}

/** The result of one C_Decrypt; of a refusal that may be about the padding, nothing. */
function attempt({ sessions: { module, work } }: Engine, key: LoadedKey, sealed: Buffer): Buffer {
  try {
    return module.decrypt(work, plainMechanism(ck.CKM_RSA_PKCS), key.handle, sealed, Buffer.alloc(sealed.length));
  } catch (error) {
    if (!(error instanceof TokenError) || error.fn !== 'C_Decrypt') throw error;
    const remedy = remedyOf(error);
    if (kindOf(error) !== 'decryption-failed' && remedy !== 'none' && remedy !== 'doubt') throw error;
    return Buffer.alloc(0);
  }
}

// Secrets of implicit rejection, computed once of each loaded key.
const secrets = new WeakMap<LoadedKey, Buffer>();

/** Pseudo-random octets from the ciphertext and a secret of the key: the same in every process, so that a repetition shows nothing. */
function rejection(engine: Engine, identity: KeyIdentity, key: LoadedKey, bytes: number, sealed: Buffer): Buffer {
  const secret = secrets.get(key) ?? engine.custody.rejectionSecret(engine.reference(identity));
  secrets.set(key, secret);
  const blocks: Buffer[] = [];
  for (let counter = 0; counter * 64 < Math.max(bytes, 1); counter += 1) {
    blocks.push(
      createHmac('sha512', secret)
        .update(Buffer.of(counter, bytes >>> 8, bytes & 0xff))
        .update(sealed)
        .digest(),
    );
  }
  return Buffer.concat(blocks).subarray(0, bytes);
}
