// RSAES-OAEP in the token, for keys that callers wrapped (RFC 8017 section 7.1.2).
import { hash as hashOnce } from 'node:crypto';
import { HsmError, type HashName, type KeyType } from '../../api.ts';
import { decryptionFailed, judged, judgeDecryption, twice } from './cipher.ts';
import * as ck from '../../pkcs11/constants.ts';
import type { Engine, LoadedKey } from '../engine.ts';
import type { KeyIdentity } from '../../protocol/key-encoding.ts';
import { hashRows, keyRows, oaepMechanism, plainMechanism } from '../../pkcs11/mechanisms.ts';
import { CKR_OK, TokenError } from '../../pkcs11/return-values.ts';

/** CKR_ARGUMENTS_BAD, CKR_MECHANISM_INVALID, CKR_MECHANISM_PARAM_INVALID: the token has no OAEP with this hash. */
const notOffered: readonly number[] = [0x07, 0x70, 0x71];

// SoftHSM 2.6.1 has OAEP with SHA-1 only. Remembered per engine.
const withoutOaep = new WeakMap<Engine, Set<HashName>>();

/** Decrypts `sealed`. The private-key operation always runs in the token. `decryption-failed` for everything that does not decrypt, twice. */
export function decryptOaep(engine: Engine, identity: KeyIdentity, hash: HashName, sealed: Buffer): Buffer {
  return twice(() => decryptOnce(engine, identity, hash, sealed));
}

function decryptOnce(engine: Engine, identity: KeyIdentity, hash: HashName, sealed: Buffer): Buffer {
  const key = engine.keyVariant(identity, 'open', (type, blob) => engine.custody.unwrap(requireRsa(type), blob, 'open'));
  // Public, and distinguished by some tokens from a decryption error (RFC 8017 section 7.1.2, steps 1b and 5.1.2).
  if (sealed.length !== modulusBytes(key.type) || sealed.compare(modulusOf(engine, key)) >= 0) throw decryptionFailed();
  const refused = withoutOaep.get(engine) ?? new Set<HashName>();
  if (!refused.has(hash)) {
    try {
      const { module, work } = engine.sessions;
      return module.decrypt(work, oaepMechanism(hash), key.handle, sealed, Buffer.alloc(sealed.length));
    } catch (error) {
      if (!(error instanceof TokenError && error.fn === 'C_DecryptInit' && notOffered.includes(error.rv)))
        throw judgeDecryption(engine, error);
      engine.sessions.renewWork();
      withoutOaep.set(engine, refused.add(hash));
    }
  }
  return decodeOaep(hash, decryptBlock(engine, key, sealed));
}

// Read once of each loaded key.
const moduli = new WeakMap<LoadedKey, Buffer>();

/** Reads the modulus, as long as the key; twice, because a wrong one would refuse valid ciphertexts. */
function modulusOf({ sessions: { module, owner } }: Engine, key: LoadedKey): Buffer {
  const known = moduli.get(key);
  if (known !== undefined) return known;
  const read = (): Buffer => withoutZeros(module.attribute(owner, key.handle, 'modulus'));
  const modulus = read();
  if (modulus.length !== modulusBytes(key.type) || !modulus.equals(read())) throw new TokenError(CKR_OK, 'C_GetAttributeValue');
  moduli.set(key, modulus);
  return modulus;
}

/** Runs RSADP (RFC 8017 section 5.1.2) in the token; the block has the length of the modulus. */
function decryptBlock(engine: Engine, key: LoadedKey, sealed: Buffer): Buffer {
  const { module, work } = engine.sessions;
  const mechanism = plainMechanism(ck.CKM_RSA_X_509);
  const number = judged(engine, () => module.decrypt(work, mechanism, key.handle, sealed, Buffer.alloc(sealed.length)));
  const block = Buffer.alloc(sealed.length);
  number.copy(block, sealed.length - number.length);
  return block;
}

/**
 * Decodes EME-OAEP: block = 0x00 ‖ maskedSeed ‖ maskedDB, DB = lHash ‖ 0x00 … ‖ 0x01 ‖ message. Reads every octet in any
 * case and fails in one place: Manger's attack needs to know which check failed (RFC 8017 section 7.1.2, note).
 */
export function decodeOaep(hash: HashName, block: Buffer): Buffer {
  const { bytes } = hashRows[hash];
  const masked = block.subarray(1 + bytes);
  const seed = xor(block.subarray(1, 1 + bytes), mgf1(hash, masked, bytes));
  const data = xor(masked, mgf1(hash, seed, masked.length));
  let wrong = block[0] as number;
  hashOnce(hash, Buffer.alloc(0), 'buffer').forEach((octet, at) => (wrong |= octet ^ (data[at] as number)));
  let looking = 1;
  let start = 0;
  for (let at = bytes; at < data.length; at += 1) {
    const octet = data[at] as number;
    const isOne = ((octet ^ 1) - 1) >>> 31;
    const isZero = (octet - 1) >>> 31;
    start |= (at + 1) & -(looking & isOne);
    wrong |= looking & (isOne ^ 1) & (isZero ^ 1);
    looking &= isOne ^ 1;
  }
  if ((wrong | looking) !== 0) throw decryptionFailed();
  return Buffer.from(data.subarray(start));
}

/** MGF1 (RFC 8017 appendix B.2.1). */
function mgf1(hash: HashName, seed: Buffer, octets: number): Buffer {
  const parts: Buffer[] = [];
  for (let counter = 0; counter * hashRows[hash].bytes < octets; counter += 1) {
    parts.push(hashOnce(hash, Buffer.concat([seed, Buffer.of(counter >>> 24, counter >>> 16, counter >>> 8, counter)]), 'buffer'));
  }
  return Buffer.concat(parts).subarray(0, octets);
}

function withoutZeros(octets: Buffer): Buffer {
  return octets.subarray(octets.findIndex((octet) => octet !== 0));
}

function xor(left: Buffer, right: Buffer): Buffer {
  return Buffer.from(left.map((octet, at) => octet ^ (right[at] as number)));
}

function requireRsa(type: KeyType): KeyType {
  if (keyRows[type].family !== 'rsa') throw new HsmError('refused', `keys of type ${type} do not open OAEP`);
  return type;
}

function modulusBytes(type: KeyType): number {
  return Number(type.slice('rsa-'.length)) / 8;
}
