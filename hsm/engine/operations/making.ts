// Generates and imports keys. A key counts as made only after it was stored, loaded again and tested.
import { HsmError, type KeyBinding, type KeyType } from '../../api.ts';
import { handlingFor, keyAttributes, tokenKeyLabel } from '../custody.ts';
import type { Engine } from '../engine.ts';
import { keyIdentity } from '../../protocol/key-encoding.ts';
import { parseMaterial, type Material } from '../../pkcs11/key-material.ts';
import { curveOf, isSymmetric, keyRows, plainMechanism } from '../../pkcs11/mechanisms.ts';
import type { ObjectHandle } from '../../pkcs11/module.ts';
import type { Making } from '../../protocol/operations.ts';
import { isProven, mayBeInput } from './proving.ts';
import { readPublicKey } from '../../pkcs11/public-key.ts';
import { TokenError } from '../../pkcs11/return-values.ts';
import { syncTokenDirectory } from '../../files/softhsm.ts';
import type { Attributes } from '../../pkcs11/template.ts';
import { makeFixed, onlyFor } from '../usages.ts';

/** A new key: blob and MAC of the stored key, and the public key of an asymmetric one. */
export type Made = { readonly blob: Buffer; readonly mac: Buffer; readonly publicKey: Buffer | undefined };

const publicExponent = Buffer.from('010001', 'hex');
/** Time within which changed files may belong to the new key; generous, because generation takes seconds. */
const recentMilliseconds = 60_000;

/** Reserves CKA_ID and MAC of a persistent key before it is made. */
export function reserveKey(engine: Engine, type: KeyType, binding: KeyBinding): Pick<Made, 'blob' | 'mac'> {
  const blob = randomId(engine);
  return { blob, mac: engine.custody.bind(type, 'token', binding, blob) };
}

/** Generates a key in the token. */
export function generateKey(engine: Engine, type: KeyType, making: Making): Made {
  engine.custody.wrappingKeys.newest(making.under);
  if (making.custody === 'token') {
    const id = idFor(engine, making);
    const { publicKey } = makePersistent(engine, type, tokenAttributes(type, making, id), (attributes) =>
      generateObject(engine, type, attributes),
    );
    return finish(engine, type, making, id, publicKey);
  }
  if (isKeptAsSeed(engine, type)) return generateSeedWrapped(engine, type, making);
  const { key, publicKey } = generateObject(engine, type, keyAttributes(type, 'wrap'));
  let blob: Buffer;
  try {
    blob = engine.custody.wrap(key);
  } catch (error) {
    if (keyRows[type].seed === undefined || !isUnwrappable(error)) throw error;
    engine.keptAsSeeds.add(type);
    return generateSeedWrapped(engine, type, making);
  } finally {
    engine.destroyObject(key);
  }
  return finish(engine, type, making, blob, publicKey);
}

/** Imports key material. `invalid-key-data` if it is not a key of the type or the token cannot use it. The caller zeroes the material. */
export function importKey(engine: Engine, type: KeyType, making: Making, octets: Buffer): Made {
  engine.custody.wrappingKeys.newest(making.under);
  const material = parseMaterial(type, octets);
  try {
    const blob = storeMaterial(engine, type, making, material);
    return finish(engine, type, making, blob, material.publicKey, octets);
  } finally {
    material.wipe();
  }
}

/** Tells whether a key is kept as its seed. Under carried keys an Ed25519 or X25519 key always is, for tokens that can unwrap only the seed. */
function isKeptAsSeed({ keptAsSeeds, custody }: Engine, type: KeyType): boolean {
  return keptAsSeeds.has(type) || ((type === 'ed25519' || type === 'x25519') && custody.wrapsForOthers);
}

/** CKR_KEY_NOT_WRAPPABLE (SoftHSM2 2.6 for Ed25519 keys) and CKR_FUNCTION_NOT_SUPPORTED (kryoptic for ML-DSA and ML-KEM keys). */
const unwrappable: readonly number[] = [0x69, 0x54];

function isUnwrappable(error: unknown): boolean {
  return error instanceof TokenError && unwrappable.includes(error.rv);
}

function storeMaterial(engine: Engine, type: KeyType, making: Making, material: Material): Buffer {
  const { module, owner } = engine.sessions;
  if (making.custody === 'token') {
    const id = idFor(engine, making);
    const attributes = { ...material.values, ...tokenAttributes(type, making, id) };
    refusing(() => makePersistent(engine, type, attributes, (fixed) => module.createObject(owner, fixed)));
    return id;
  }
  const { seed: name } = keyRows[type];
  const seed = name === undefined ? undefined : material.values[name];
  if (isKeptAsSeed(engine, type) && seed !== undefined) return wrapSeed(engine, seed);
  const key = refusing(
    () => module.createObject(owner, { ...keyAttributes(type, 'wrap'), ...material.values }),
    (error) => isFaultOfMaterial(engine, error),
  );
  try {
    return engine.custody.wrap(key);
  } catch (error) {
    if (seed === undefined || !isUnwrappable(error)) throw error;
    engine.keptAsSeeds.add(type);
    return wrapSeed(engine, seed);
  } finally {
    engine.sessions.destroy(key);
  }
}

/**
 * Runs C_CreateObject with imported material: errors about attributes are faults of the material, and so are others for which `isFault` is
 * true. For a persistent object the cause is unknown: its file may not have been written.
 */
function refusing<T>(create: () => T, isFault: (error: TokenError) => boolean = () => false): T {
  try {
    return create();
  } catch (error) {
    if (error instanceof TokenError && (materialFaults.has(error.rv) || isFault(error))) {
      throw new HsmError('invalid-key-data', 'the token refused the key material', { rv: error.rv, fn: error.fn, cause: error });
    }
    throw error;
  }
}

/** CKR_ATTRIBUTE_VALUE_INVALID, KEY_SIZE_RANGE, TEMPLATE_INCOMPLETE, TEMPLATE_INCONSISTENT, DOMAIN_PARAMS_INVALID, CURVE_NOT_SUPPORTED, PUBLIC_KEY_INVALID. */
const materialFaults: ReadonlySet<number> = new Set([0x13, 0x62, 0xd0, 0xd1, 0x130, 0x140, 0x1b9]);

/** Generates the object of a key with these attributes, and reads its public key. */
export function generateObject(
  engine: Engine,
  type: KeyType,
  attributes: Attributes,
): { key: ObjectHandle; publicKey: Buffer | undefined } {
  const { module, owner } = engine.sessions;
  const row = keyRows[type];
  const mechanism = plainMechanism(row.generate);
  if (isSymmetric(row.family)) {
    const { class: _, ...rest } = attributes;
    return { key: module.generateKey(owner, mechanism, { ...rest, valueLength: row.bytes }), publicKey: undefined };
  }
  const { class: _, ...rest } = attributes;
  const pair = module.generateKeyPair(owner, mechanism, publicAttributes(type), rest);
  try {
    return { key: pair.privateKey, publicKey: readPublicKey(module, owner, pair.publicKey, type) };
  } finally {
    engine.sessions.destroy(pair.publicKey);
  }
}

function publicAttributes(type: KeyType): Attributes {
  const row = keyRows[type];
  const { family } = row;
  const use = family === 'montgomery' ? 'derive' : family === 'ml-kem' ? 'encapsulate' : 'verify';
  const common = { token: false, ...onlyFor('public', [use], family) };
  if (family === 'rsa') return { ...common, modulusBits: row.bytes * 8, publicExponent };
  if (row.parameterSet !== undefined) return { ...common, parameterSet: row.parameterSet };
  return { ...common, ecParams: curveOf(type) };
}

/** Makes a key that the token cannot wrap: generates a readable one, wraps its seed as a generic secret, and zeroes it. */
function generateSeedWrapped(engine: Engine, type: KeyType, making: Making): Made {
  const { key, publicKey } = generateObject(engine, type, keyAttributes(type, 'clear'));
  const seed = engine.custody.takeValue(key, keyRows[type].seed);
  try {
    return finish(engine, type, making, wrapSeed(engine, seed), publicKey);
  } finally {
    seed.fill(0);
  }
}

function wrapSeed(engine: Engine, seed: Uint8Array): Buffer {
  const { module, owner } = engine.sessions;
  const secret = module.createObject(owner, { ...keyAttributes('secret-256', 'wrap'), value: seed });
  try {
    return engine.custody.wrap(secret, 'seed');
  } finally {
    engine.sessions.destroy(secret);
  }
}

function tokenAttributes(type: KeyType, { binding, extractable }: Making, id: Buffer): PersistentAttributes {
  return { ...keyAttributes(type, handlingFor(binding)), token: true, extractable, id, label: tokenKeyLabel(binding) };
}

/**
 * Makes a persistent object. A call that fails may still have made one: it is removed at once, or before the next try, because
 * two objects with one CKA_ID would be indistinguishable.
 */
function makePersistent<T>(engine: Engine, type: KeyType, attributes: PersistentAttributes, make: (attributes: Attributes) => T): T {
  try {
    return engine.changeToken(() =>
      makeFixed(attributes, (fixed) => {
        removeLeftOver(engine, attributes);
        return make(fixed);
      }),
    );
  } catch (error) {
    removeQuietly(engine, type, attributes.id, attributes.label);
    throw error;
  }
}

function removeLeftOver({ sessions }: Engine, { class: objectClass, id, label }: PersistentAttributes): void {
  const left = sessions.module.findObjects(sessions.work, { class: objectClass, token: true, id, label });
  for (const object of left) sessions.destroyPersistent(object, { id, label });
}

/** Attributes of a persistent key. */
type PersistentAttributes = Attributes & { readonly id: Buffer; readonly label: string };

function idFor(engine: Engine, { id }: Making): Buffer {
  return id === undefined ? randomId(engine) : Buffer.from(id, 'hex');
}

function randomId(engine: Engine): Buffer {
  return engine.random.octets(16);
}

/**
 * Binds the blob, loads the key as every later use does, and tests it. A token object that fails is removed, also if the token's own keys
 * are gone. For wrapped keys the caller checks the own keys (Engine.requireMadeWell), once for all keys that it makes together, before it answers.
 */
function finish(engine: Engine, type: KeyType, making: Making, blob: Buffer, publicKey?: Buffer, material?: Buffer): Made {
  const { binding, custody } = making;
  try {
    if (custody === 'token' && engine.directory !== undefined) syncTokenDirectory(engine.directory, Date.now() - recentMilliseconds);
    const mac = engine.custody.bind(type, custody, binding, blob);
    const identity = keyIdentity({ stored: { type, custody, token: '', blob, mac }, binding });
    engine.loadBound(identity, { type, custody, blob, binding });
    if (!isProven(engine, type, identity, { publicKey, material })) {
      const what = `the new ${type} key does not work correctly in the token`;
      throw new HsmError(material === undefined ? 'unavailable' : 'invalid-key-data', what);
    }
    if (custody === 'token') engine.requireMadeWell();
    return { blob, mac, publicKey };
  } catch (error) {
    if (custody === 'token') removeQuietly(engine, type, blob, tokenKeyLabel(binding));
    // SoftHSM accepts any number as a key and fails at its first use.
    if (material !== undefined && isFaultOfMaterial(engine, error))
      throw new HsmError('invalid-key-data', `the token cannot use the ${type} key`, { cause: error });
    throw error;
  }
}

/** Tells whether a call failed because of the imported key: the token itself works. */
function isFaultOfMaterial(engine: Engine, error: unknown): boolean {
  if (!mayBeInput(error)) return false;
  engine.sessions.renewWork();
  return engine.canaryWorks();
}

/** Removes a key and ignores errors: the earlier error, which made the key useless, is reported. */
function removeQuietly(engine: Engine, type: KeyType, id: Buffer, label: string): void {
  try {
    engine.removeTokenKey(type, id, label);
  } catch (error) {
    if (!(error instanceof TokenError) && !(error instanceof HsmError)) throw error;
  }
}
