// RSA decryption in the token, without padding: shared by the decodings of RSAES-OAEP and RSAES-PKCS1-v1_5.
import { HsmError, type KeyType } from '../../api.ts';
import * as ck from '../../pkcs11/constants.ts';
import { keyRows, plainMechanism } from '../../pkcs11/mechanisms.ts';
import { CKR_OK, TokenError } from '../../pkcs11/return-values.ts';
import type { KeyIdentity } from '../../protocol/key-encoding.ts';
import type { Engine, LoadedKey } from '../engine.ts';
import { isOpening } from '../custody.ts';
import { judged } from './cipher.ts';

/** CKR_ARGUMENTS_BAD, CKR_MECHANISM_INVALID, CKR_MECHANISM_PARAM_INVALID from C_DecryptInit: the token does not have the mechanism. */
const notOffered: readonly number[] = [0x07, 0x70, 0x71];

/**
 * The RSA key as an object that only decrypts. `refused` for another type, and for a key that was made to sign: a wrapped key carries no uses,
 * so its purpose is what keeps it to one.
 */
export function openingKey(engine: Engine, identity: KeyIdentity): LoadedKey {
  const { type: stored, binding } = engine.reference(identity);
  if (binding.purpose === 'sign') throw new HsmError('refused', 'the key was made to sign: it decrypts nothing');
  if (isOpening(binding)) {
    requireRsa(stored);
    return engine.key(identity);
  }
  return engine.keyVariant(identity, 'open', (type, blob) => engine.custody.unwrap(requireRsa(type), blob, 'open'));
}

/**
 * Tells whether octets can be an RSA ciphertext of the key: as long as the modulus, and below it. Public, and told apart by some tokens from
 * a decryption error (RFC 8017 section 7.1.2, steps 1b and 5.1.2).
 */
export function isRepresentative(engine: Engine, key: LoadedKey, sealed: Buffer): boolean {
  return sealed.length === modulusBytes(key.type) && sealed.compare(modulusOf(engine, key)) < 0;
}

/** Tells whether an error says that the token does not have the mechanism. The session is then ready for another one. */
export function lacksMechanism(engine: Engine, error: unknown): boolean {
  if (!(error instanceof TokenError && error.fn === 'C_DecryptInit' && notOffered.includes(error.rv))) return false;
  engine.sessions.renewWork();
  return true;
}

/** Runs RSADP (RFC 8017 section 5.1.2) in the token; the block has the length of the modulus. */
export function decryptBlock(engine: Engine, key: LoadedKey, sealed: Buffer): Buffer {
  const { module, work } = engine.sessions;
  const mechanism = plainMechanism(ck.CKM_RSA_X_509);
  const number = judged(engine, () => module.decrypt(work, mechanism, key.handle, sealed, Buffer.alloc(sealed.length)));
  const block = Buffer.alloc(sealed.length);
  number.copy(block, sealed.length - number.length);
  return block;
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

function withoutZeros(octets: Buffer): Buffer {
  return octets.subarray(octets.findIndex((octet) => octet !== 0));
}

function requireRsa(type: KeyType): KeyType {
  if (keyRows[type].family !== 'rsa') throw new HsmError('refused', `keys of type ${type} decrypt nothing: RSA keys do`);
  return type;
}

function modulusBytes(type: KeyType): number {
  return Number(type.slice('rsa-'.length)) / 8;
}
