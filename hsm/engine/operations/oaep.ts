// RSAES-OAEP in the token (RFC 8017 section 7.1.2).
import { hash as hashOnce } from 'node:crypto';
import { HsmError, type OaepHash, type OaepOptions } from '../../api.ts';
import { decryptionFailed, judgeDecryption, twice } from './cipher.ts';
import type { Engine, LoadedKey } from '../engine.ts';
import type { KeyIdentity } from '../../protocol/key-encoding.ts';
import { oaepMechanism } from '../../pkcs11/mechanisms.ts';
import { decryptBlock, isRepresentative, lacksMechanism, openingKey } from './rsa-opening.ts';

// SoftHSM 2.6.1 has OAEP with SHA-1 only. Pairs of hashes, remembered per engine.
const withoutOaep = new WeakMap<Engine, Set<string>>();

/** Decrypts `sealed`. The private-key operation always runs in the token. `decryption-failed` for everything that does not decrypt, twice. */
export function decryptOaep(engine: Engine, identity: KeyIdentity, hash: OaepHash, sealed: Buffer, options: OaepOptions = {}): Buffer {
  return twice(() => decryptOnce(engine, identity, hash, sealed, options));
}

function decryptOnce(
  engine: Engine,
  identity: KeyIdentity,
  hash: OaepHash,
  sealed: Buffer,
  { mgf1Hash = hash, label }: OaepOptions,
): Buffer {
  const key = openingKey(engine, identity);
  if (!isRepresentative(engine, key, sealed)) throw decryptionFailed();
  if (label !== undefined && label.length > 0) return decodeOaep(hash, labelledBlock(engine, key, sealed), { mgf1Hash, label });
  const refused = withoutOaep.get(engine) ?? new Set();
  const pair = `${hash} ${mgf1Hash}`;
  if (!refused.has(pair)) {
    try {
      const { module, work } = engine.sessions;
      return module.decrypt(work, oaepMechanism(hash, mgf1Hash), key.handle, sealed, Buffer.alloc(sealed.length));
    } catch (error) {
      if (!lacksMechanism(engine, error)) throw judgeDecryption(engine, error);
      withoutOaep.set(engine, refused.add(pair));
    }
  }
  return decodeOaep(hash, decryptBlock(engine, key, sealed), { mgf1Hash });
}

/** The block of a ciphertext with a label, which is decoded here: SoftHSM2 takes a label and ignores it. */
function labelledBlock(engine: Engine, key: LoadedKey, sealed: Buffer): Buffer {
  try {
    return decryptBlock(engine, key, sealed);
  } catch (error) {
    if (!lacksMechanism(engine, error)) throw error;
    throw new HsmError('unsupported', 'the token has no CKM_RSA_X_509, without which labels of RSA-OAEP are not checked', { cause: error });
  }
}

/**
 * Decodes EME-OAEP: block = 0x00 ‖ maskedSeed ‖ maskedDB, DB = lHash ‖ 0x00 … ‖ 0x01 ‖ message. Reads every octet in any
 * case and fails in one place: Manger's attack needs to know which check failed (RFC 8017 section 7.1.2, note).
 */
export function decodeOaep(hash: OaepHash, block: Buffer, { mgf1Hash = hash, label = new Uint8Array(0) }: OaepOptions = {}): Buffer {
  const labelHash = hashOnce(hash, label, 'buffer');
  const bytes = labelHash.length;
  const masked = block.subarray(1 + bytes);
  const seed = xor(block.subarray(1, 1 + bytes), mgf1(mgf1Hash, masked, bytes));
  const data = xor(masked, mgf1(mgf1Hash, seed, masked.length));
  let wrong = block[0] as number;
  labelHash.forEach((octet, at) => (wrong |= octet ^ (data[at] as number)));
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
function mgf1(hash: OaepHash, seed: Buffer, octets: number): Buffer {
  const parts: Buffer[] = [];
  for (let counter = 0, length = 0; length < octets; counter += 1) {
    const part = hashOnce(hash, Buffer.concat([seed, Buffer.of(counter >>> 24, counter >>> 16, counter >>> 8, counter)]), 'buffer');
    parts.push(part);
    length += part.length;
  }
  return Buffer.concat(parts).subarray(0, octets);
}

function xor(left: Buffer, right: Buffer): Buffer {
  return Buffer.from(left.map((octet, at) => octet ^ (right[at] as number)));
}
