// Signatures and MACs in the token: maps scheme and digest to the mechanism and the octets that the token signs.
import { HsmError, type HashName, type KeyType, type SchemeOptions, type SignScheme, variantsOf } from '../../api.ts';
import * as ck from '../../pkcs11/constants.ts';
import { keyAttributes } from '../custody.ts';
import type { Engine, LoadedKey } from '../engine.ts';
import type { KeyIdentity } from '../../protocol/key-encoding.ts';
import type { UnpackedScheme } from '../../protocol/operations.ts';
import {
  eddsaMechanism,
  hashRows,
  keyRows,
  mlDsaMechanism,
  plainMechanism,
  pssMechanism,
  type KeyFamily,
  type Mechanism,
} from '../../pkcs11/mechanisms.ts';
import type { ObjectHandle } from '../../pkcs11/module.ts';
import { CKR_OK, TokenError } from '../../pkcs11/return-values.ts';

const familyOf: Readonly<Record<SignScheme['scheme'], KeyFamily>> = {
  'rsa-pkcs1v15': 'rsa',
  'rsa-pss': 'rsa',
  ecdsa: 'ec',
  ed25519: 'edwards',
  'ml-dsa': 'ml-dsa',
  cmac: 'cmac',
};

const CKR_KEY_SIZE_RANGE = 0x62;

/** Signs, or computes a CMAC, with one C_Sign. Returns the raw signature of the token. */
export function sign(engine: Engine, identity: KeyIdentity, how: UnpackedScheme, data: Buffer): Buffer {
  const { scheme } = how;
  const key = engine.key(identity);
  const { family, signatureBytes } = keyRows[key.type];
  if (key.opens === true) throw new HsmError('refused', 'the key was made to decrypt: it signs nothing');
  if (family !== familyOf[scheme] || signatureBytes === undefined)
    throw new HsmError('refused', `keys of type ${key.type} do not sign ${scheme}`);
  const missing = variantsOf(how).find((variant) => !engine.signatureVariants.has(variant));
  if (missing !== undefined) throw new HsmError('unsupported', `the token does not sign by ${missing}`);
  const compute = (): Buffer => rawSignature(engine, key.type, key.handle, how, data);
  const signature = compute();
  // Nobody outside can check a MAC.
  if (family === 'cmac' && engine.checksAnswers && !signature.equals(compute())) throw new TokenError(CKR_OK, 'C_Sign');
  return signature;
}

/** Signs, or computes a CMAC, with a loaded object of a type that does so by this scheme. */
export function rawSignature(
  { sessions: { module, work } }: Engine,
  type: KeyType,
  key: ObjectHandle,
  { scheme, hash, options }: UnpackedScheme,
  data: Buffer,
): Buffer {
  const { mechanism, input } = prepare[scheme](data, type, hash, options);
  // The exact length: NSS softoken refuses a longer buffer for Ed25519.
  const signature = module.sign(work, mechanism, key, input, keyRows[type].signatureBytes ?? 0);
  return type === 'ecdsa-secp256k1' ? withLowS(signature) : signature;
}

/** Order of the group of secp256k1 (SEC 2 section 2.4.1). */
const orderOfSecp256k1 = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/**
 * The signature r‖s with the lower of the two values of s that verify. Verifiers of secp256k1 refuse the other one (BIP 146, EIP-2), and tokens give
 * either.
 */
function withLowS(signature: Buffer): Buffer {
  const s = BigInt(`0x${signature.toString('hex', 32)}`);
  if (s <= orderOfSecp256k1 / 2n) return signature;
  return Buffer.concat([signature.subarray(0, 32), Buffer.from((orderOfSecp256k1 - s).toString(16).padStart(64, '0'), 'hex')]);
}

/** HMAC under a `secret-256` key. */
export function hmac(engine: Engine, identity: KeyIdentity, hash: HashName, data: Buffer): Buffer {
  const row = hashRows[hash];
  const run = (key: LoadedKey): Buffer => {
    if (keyRows[key.type].family !== 'secret') throw new HsmError('refused', `keys of type ${key.type} do not compute HMAC`);
    const { module, work } = engine.sessions;
    const compute = (): Buffer => module.sign(work, plainMechanism(row.hmac), key.handle, data, row.bytes);
    const mac = compute();
    if (engine.checksAnswers && !mac.equals(compute())) throw new TokenError(CKR_OK, 'C_Sign');
    return mac;
  };
  if (engine.paddedHashes.has(hash)) return run(paddedSecret(engine, identity, row.bytes));
  try {
    return run(engine.key(identity));
  } catch (error) {
    if (!(error instanceof TokenError) || error.rv !== CKR_KEY_SIZE_RANGE) throw error;
    engine.sessions.renewWork();
    engine.paddedHashes.add(hash);
    return run(paddedSecret(engine, identity, row.bytes));
  }
}

/**
 * Some tokens refuse HMAC keys shorter than the hash. HMAC itself pads keys with zeros up to the block size (RFC 2104 section 2), so
 * the secret followed by zeros gives the same MAC. It is in this process for about 100 µs while it is loaded.
 */
function paddedSecret(engine: Engine, identity: KeyIdentity, bytes: number): LoadedKey {
  return engine.keyVariant(identity, `padded ${bytes}`, (type, blob) => {
    const { module, owner } = engine.sessions;
    const value = engine.custody.takeValue(engine.custody.unwrap(type, blob, 'clear'));
    const padded = Buffer.alloc(bytes);
    value.copy(padded);
    try {
      return module.createObject(owner, { ...keyAttributes(type, 'use'), value: padded });
    } finally {
      value.fill(0);
      padded.fill(0);
    }
  });
}

type Prepared = { readonly mechanism: Mechanism; readonly input: Buffer };

/** Mechanism and signed octets, by scheme. */
const prepare: Readonly<
  Record<SignScheme['scheme'], (data: Buffer, type: KeyType, hash: HashName | undefined, options: SchemeOptions | undefined) => Prepared>
> = {
  'rsa-pkcs1v15': (data, _type, hash) => {
    const { digestInfo } = hashRows[requireDigest(hash, data)];
    return { mechanism: plainMechanism(ck.CKM_RSA_PKCS), input: Buffer.concat([digestInfo, data]) };
  },
  'rsa-pss': (data, _type, hash) => ({ mechanism: pssMechanism(requireDigest(hash, data)), input: data }),
  ecdsa: (data, type) => {
    if (data.length < 20 || data.length > 64) throw new HsmError('refused', 'an ECDSA digest has 20 to 64 octets');
    // ECDSA uses the leftmost bits (FIPS 186-5 section 6.4.1); tokens differ in how they treat longer input.
    return { mechanism: plainMechanism(ck.CKM_ECDSA), input: data.subarray(0, keyRows[type].bytes) };
  },
  ed25519: (data, _type, _hash, options) => ({ mechanism: eddsaMechanism(options), input: data }),
  'ml-dsa': (data, _type, _hash, options) => ({ mechanism: mlDsaMechanism(options), input: data }),
  cmac: (data) => ({ mechanism: plainMechanism(ck.CKM_AES_CMAC), input: data }),
};

function requireDigest(hash: HashName | undefined, digest: Buffer): HashName {
  if (hash === undefined || digest.length !== hashRows[hash].bytes) {
    throw new HsmError('refused', `the digest does not have the length of ${hash ?? 'a known hash'}`);
  }
  return hash;
}
