// Keys derived for a context. The derivation is an on-disk format (design hsm 9): a change makes ciphertexts unreadable.
//
// U  = HMAC-SHA-256(derivation secret, frame("keystored/derive/1") ‖ frame(version) ‖ frame(SHA-256(context)))
// DK = PBKDF2-HMAC-SHA-256(password U, salt of the key, iterations of the key, as many octets as the AES key has)
// frame(x) = length(4, big endian) ‖ x; text is UTF-8, the version decimal. The HMAC runs in the token.
// Tenant and key id are not part of it: a restored backup gets new ones and must open its ciphertexts (api 42). Secret and salt are random
// per version and key, so nothing is lost; the binding of the secret ties it to its record.
import { pbkdf2, pbkdf2Sync } from 'node:crypto';
import { promisify } from 'node:util';
import { HsmError, type KeyType } from '../../api.ts';
import { keyAttributes } from '../custody.ts';
import type { Engine, LoadedKey } from '../engine.ts';
import { decodeKeyReference, frames, readFrames, type KeyIdentity } from '../../protocol/key-encoding.ts';
import { keyRows } from '../../pkcs11/mechanisms.ts';
import { CKR_OK, TokenError } from '../../pkcs11/return-values.ts';
import { isAesKey } from './cipher.ts';
import { hmac } from './signing.ts';

/** The inputs of a derivation besides the secret, from `parameters` as packed by operations.ts. */
type Plan = { readonly type: KeyType; readonly iterations: number; readonly salt: Buffer; readonly hmacInput: Buffer };

/** Returns the derived key as a sensitive session object, from the cache or derived now. Its octets are in this process for microseconds. */
export function derivedKey(engine: Engine, secret: KeyIdentity, parameters: Buffer): LoadedKey {
  return engine.derivedKey(identityOf(secret, parameters), () => {
    const { type, iterations, salt, hmacInput } = plan(secret, parameters);
    const u = underSecret(engine, secret, hmacInput);
    const dk = pbkdf2Sync(u, salt, iterations, keyRows[type].bytes, 'sha256');
    try {
      return takeIn(engine, type, dk);
    } finally {
      u.fill(0);
      dk.fill(0);
    }
  });
}

/** Derives the key without blocking the thread for the iterations; `derivedKey` finds it in the cache afterwards. */
export async function prepareDerivedKey(engine: Engine, secret: KeyIdentity, parameters: Buffer): Promise<void> {
  const { type, iterations, salt, hmacInput } = plan(secret, parameters);
  const u = engine.run(() => underSecret(engine, secret, hmacInput));
  const dk = await promisify(pbkdf2)(u, salt, iterations, keyRows[type].bytes, 'sha256');
  try {
    engine.derivedKey(identityOf(secret, parameters), () => engine.run(() => takeIn(engine, type, dk)));
  } finally {
    u.fill(0);
    dk.fill(0);
  }
}

/** Identity of a derived key; it starts with the identity of the secret. */
export function identityOf(secret: KeyIdentity, parameters: Buffer): string {
  return `${secret}|${parameters.toString('latin1')}`;
}

function plan(secret: KeyIdentity, parameters: Buffer): Plan {
  const { binding } = decodeKeyReference(Buffer.from(secret, 'latin1'));
  const [typeName, count, contextHash, salt] = readFrames(parameters) as [Buffer, Buffer, Buffer, Buffer];
  const type = typeName.toString() as KeyType;
  const iterations = Number(count.toString());
  if (keyRows[type]?.family !== 'aes') throw new HsmError('refused', 'only AES keys are derived');
  if (!Number.isInteger(iterations) || iterations < 1 || iterations > 10_000_000) throw new HsmError('refused', 'iterations out of range');
  if (contextHash.length !== 32 || salt.length < 16)
    throw new HsmError('refused', 'a derivation takes a SHA-256 hash and 16 octets of salt');
  const hmacInput = frames('keystored/derive/1', String(binding.version), contextHash);
  return { type, iterations, salt: Buffer.from(salt), hmacInput };
}

/** Computes U twice: data sealed under a key derived from a wrong U could never be opened. */
function underSecret(engine: Engine, secret: KeyIdentity, input: Buffer): Buffer {
  const u = hmac(engine, secret, 'sha256', input);
  if (!u.equals(hmac(engine, secret, 'sha256', input))) throw new TokenError(CKR_OK, 'C_Sign');
  return u;
}

function takeIn(engine: Engine, type: KeyType, value: Buffer): LoadedKey {
  const { module, owner } = engine.sessions;
  const handle = module.createObject(owner, { ...keyAttributes(type, 'use'), value });
  // The handle may lead to another key, so the object is not destroyed.
  if (!isAesKey(engine, handle, value)) throw new TokenError(CKR_OK, 'C_CreateObject');
  return { handle, type, transient: true };
}
