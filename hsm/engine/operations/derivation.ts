// Keys derived for a context. The derivation is an on-disk format: a change makes ciphertexts unreadable.
//
// U  = HMAC-SHA-256(derivation secret, frame("keystored/derive/1") ‖ frame(version) ‖ frame(SHA-256(context)))
// DK = PBKDF2-HMAC-SHA-256(password U, salt of the key, iterations of the key, as many octets as the AES key has)
// frame(x) = length(4, big endian) ‖ x; text is UTF-8, the version decimal. The HMAC runs in the token.
// Keys that came with values made by HKDF (RFC 5869, SHA-256, no salt, info = context) keep that: their secret is the pseudorandom key, and
// DK = the first octets of HMAC-SHA-256(secret, context ‖ 01), which is HKDF-Expand for keys of up to 32 octets.
// Tenant and key id are not part of it: a restored backup gets new ones and must open its ciphertexts. Secret and salt are random
// per version and key, so nothing is lost; the binding of the secret ties it to its record.
import { hash, pbkdf2, pbkdf2Sync } from 'node:crypto';
import { promisify } from 'node:util';
import { HsmError, type KeyType } from '../../api.ts';
import { keyAttributes } from '../custody.ts';
import type { Engine, LoadedKey } from '../engine.ts';
import { decodeKeyReference, frames, readFrames, type KeyIdentity } from '../../protocol/key-encoding.ts';
import { keyRows } from '../../pkcs11/mechanisms.ts';
import { CKR_OK, TokenError } from '../../pkcs11/return-values.ts';
import { isAesKey } from './cipher.ts';
import { hmac } from './signing.ts';

/** The inputs of a derivation besides the secret, from `parameters` as packed by operations.ts. Without `password` it is HKDF-Expand. */
type Plan = {
  readonly type: KeyType;
  readonly hmacInput: Buffer;
  readonly password?: { readonly iterations: number; readonly salt: Buffer };
};

const longestInfo = 4_096;

/** Returns the derived key as a sensitive session object, from the cache or derived now. Its octets are in this process for microseconds. */
export function derivedKey(engine: Engine, secret: KeyIdentity, parameters: Buffer): LoadedKey {
  return engine.derivedKey(identityOf(secret, parameters), () => {
    const { type, password, hmacInput } = plan(secret, parameters);
    const { bytes } = keyRows[type];
    const u = underSecret(engine, secret, hmacInput);
    const dk = password === undefined ? u.subarray(0, bytes) : pbkdf2Sync(u, password.salt, password.iterations, bytes, 'sha256');
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
  const { type, password, hmacInput } = plan(secret, parameters);
  // Nothing of HKDF blocks: the job itself derives.
  if (password === undefined) return;
  const { iterations, salt } = password;
  const u = engine.run(() => underSecret(engine, secret, hmacInput));
  const dk = await promisify(pbkdf2)(u, salt, iterations, keyRows[type].bytes, 'sha256');
  try {
    engine.derivedKey(identityOf(secret, parameters), () => engine.run(() => takeIn(engine, type, dk)));
  } finally {
    u.fill(0);
    dk.fill(0);
  }
}

/** Most octets of parameters that an identity has as they are, enough for PBKDF2. Contexts are longer, and the cache keeps many. */
const mostShown = 160;

/** Identity of a derived key; it starts with the identity of the secret. */
export function identityOf(secret: KeyIdentity, parameters: Buffer): string {
  const { length } = parameters;
  const shown = length <= mostShown ? parameters.toString('latin1') : `${length}:${hash('sha256', parameters, 'latin1')}`;
  return `${secret}|${shown}`;
}

function plan(secret: KeyIdentity, parameters: Buffer): Plan {
  const [typeName, ...inputs] = readFrames(parameters) as [Buffer, ...Buffer[]];
  const type = typeName.toString() as KeyType;
  if (keyRows[type]?.family !== 'aes') throw new HsmError('refused', 'only AES keys are derived');
  if (inputs.length === 1) {
    const [info] = inputs as [Buffer];
    if (info.length > longestInfo) throw new HsmError('refused', `an expansion takes ${longestInfo} octets of context at most`);
    return { type, hmacInput: Buffer.concat([info, Buffer.of(1)]) };
  }
  const { binding } = decodeKeyReference(Buffer.from(secret, 'latin1'));
  const [count, contextHash, salt] = inputs as [Buffer, Buffer, Buffer];
  const iterations = Number(count.toString());
  if (!Number.isInteger(iterations) || iterations < 1 || iterations > 10_000_000) throw new HsmError('refused', 'iterations out of range');
  if (contextHash.length !== 32 || salt.length < 16)
    throw new HsmError('refused', 'a derivation takes a SHA-256 hash and 16 octets of salt');
  const hmacInput = frames('keystored/derive/1', String(binding.version), contextHash);
  return { type, hmacInput, password: { iterations, salt: Buffer.from(salt) } };
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
