// Carries the next wrapping and binding key from one token to several, including itself, so that a key wrapped by one opens in all.
//
// 1. openTransport, in each receiving token: an RSA-3072 key pair whose private half can only unwrap, and never leaves the token.
// 2. giveOwnKeys, in one token: makes both keys as session objects, wraps them for each public key by RSAES-OAEP (RFC 8017 section 7.1),
// destroys them. 3. takeOwnKeys, in each receiving token: unwraps them into persistent keys that cannot be exported, proves them, removes
// the transport key.
//
// Nothing is in clear outside a token. After an interruption at any line, some tokens have keys that wrap nothing; the next carrying takes a
// higher number than any token has, and a name of its own, so that no two different keys are taken for one.
import { createPublicKey, randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { HsmError, type OaepHash, type OwnKeyName, type TokenConfig } from '../api.ts';
import { commonWrapping } from '../engine/custody.ts';
import { bindingKeyAttributes } from '../engine/own-keys/binding-keys.ts';
import { flag } from '../engine/attributes.ts';
import { bindingKeyLabel, findNamedKeys, wrappingKeyLabel } from '../engine/own-keys/names.ts';
import { wrappingKeyAttributes } from '../engine/own-keys/wrapping-keys.ts';
import { findSlot, login, Sessions } from '../engine/sessions.ts';
import { onlyFor } from '../engine/usages.ts';
import { copyTokenObjects, findTokenDirectory, restoreTokenObjects, syncTokenDirectory } from '../files/softhsm.ts';
import { withStartLock } from '../files/start-lock.ts';
import { keyTypesOf } from '../pkcs11/token-key-types.ts';
import * as ck from '../pkcs11/constants.ts';
import { type Mechanism, oaepMechanism, plainMechanism } from '../pkcs11/mechanisms.ts';
import { type ObjectHandle, PkcsModule } from '../pkcs11/module.ts';
import { readPublicKey } from '../pkcs11/public-key.ts';
import { accepts, TokenError } from '../pkcs11/return-values.ts';
import type { Attributes } from '../pkcs11/template.ts';

/** Answer of a receiving token. A caller who passes it on must know that it comes from that token: its owner gets the keys. */
export type Transport = {
  /** hexadecimal CKA_ID of the transport key */
  readonly id: string;
  /** SubjectPublicKeyInfo, DER in base64 */
  readonly publicKey: string;
  /** hashes that its OAEP takes, the best first */
  readonly hashes: readonly OaepHash[];
  /** key types that the token has */
  readonly types: readonly string[];
  /** the wrapping keys that the token has, ascending */
  readonly present: readonly OwnKeyName[];
};

/** Both keys under the transport key of one token, in base64. */
export type WrappedKeys = { readonly hash: OaepHash; readonly wrapping: string; readonly binding: string };

/** Output of each of the keys for a fixed input, in hexadecimal: it differs in a token that has another key, or wraps in another way. */
export type Marks = { readonly wrapping: string; readonly binding: string };

/** Wrapped keys for each of the tokens that were named, in their order: `parcels`, as stored records of clusters call them. */
export type WrappedForAll = OwnKeyName & { readonly carrying: string; readonly parcels: readonly WrappedKeys[]; readonly marks: Marks };

const transportKeyLabel = 'keystored-transport-key';
const hashes: readonly OaepHash[] = ['sha256', 'sha1'];
const publicExponent = Buffer.from('010001', 'hex');
/** A constant, wrapped to compare keys. */
const probe = Buffer.from('keystored: a carried key, probed');
const text = Buffer.from('keystored: a carried key, probed by its MAC');

/** Makes the transport key, in place of a leftover one. `unsupported` if the token does not offer RSA-OAEP. */
export function openTransportHere(token: TokenConfig): Transport {
  return inToken(token, (sessions) => {
    const { module, owner, slot } = sessions;
    removeTransportKeys(sessions);
    const id = randomBytes(16);
    const pair = module.generateKeyPair(
      owner,
      plainMechanism(ck.CKM_RSA_PKCS_KEY_PAIR_GEN),
      { ...{ token: false, modulusBits: 3072, publicExponent }, ...onlyFor('public', ['wrap']) },
      {
        ...{ token: true, private: true, sensitive: true, extractable: false, label: transportKeyLabel, id },
        ...onlyFor('private', ['unwrap']),
      },
    );
    const taken = hashes.filter((hash) => carriesByItself(sessions, pair, hash));
    if (taken.length === 0) {
      removeTransportKeys(sessions);
      throw new HsmError('unsupported', `token ${token.name} does not wrap and unwrap keys by CKM_RSA_PKCS_OAEP`);
    }
    const publicKey = readPublicKey(module, owner, pair.publicKey, 'rsa-3072').toString('base64');
    const types = keyTypesOf(module, slot, new Set(module.mechanisms(slot)));
    return { id: id.toString('hex'), publicKey, hashes: taken, types, present: presentKeys(sessions) };
  });
}

/**
 * Makes the wrapping and the binding key with this number and wraps both for each public key. The token keeps neither: it is a receiver
 * like the others. `configuration` if the number is taken in any of them.
 */
export function giveOwnKeysHere({
  token,
  number,
  to,
}: {
  readonly token: TokenConfig;
  readonly number: number;
  readonly to: readonly Transport[];
}): WrappedForAll {
  return inToken(token, (sessions) => {
    const { module, owner } = sessions;
    const taken = [...presentKeys(sessions), ...to.flatMap(({ present }) => present)].find((key) => key.number >= number);
    if (taken !== undefined)
      throw new HsmError('configuration', `wrapping key ${taken.number} is in a token already: ${number} is not the next`);
    const passing = { token: false, private: true, sensitive: true, extractable: true, valueLength: 32 };
    const wrapping = module.generateKey(owner, plainMechanism(ck.CKM_AES_KEY_GEN), { ...passing, ...onlyFor('secret', ['wrap']) });
    const binding = module.generateKey(owner, plainMechanism(ck.CKM_GENERIC_SECRET_KEY_GEN), {
      ...passing,
      ...onlyFor('secret', ['sign']),
    });
    const parcels = to.map((receiver) => pack(sessions, receiver, { wrapping, binding }));
    return { number, carrying: randomBytes(8).toString('hex'), parcels, marks: marksOf(sessions, { wrapping, binding }) };
  });
}

/**
 * Takes the keys into the token, durably, and removes its transport key. Idempotent. `key-not-usable` if they are not the keys of the
 * marks: the token then keeps nothing of them. `key-missing` if the transport key no longer exists.
 */
export function takeOwnKeysHere({
  token,
  transport,
  keys: { number, carrying, marks },
  wrapped: { hash, ...wrapped },
}: {
  readonly token: TokenConfig;
  readonly transport: Pick<Transport, 'id'>;
  readonly keys: Pick<WrappedForAll, 'number' | 'carrying' | 'marks'>;
  readonly wrapped: WrappedKeys;
}): void {
  const name = { number, carrying };
  inToken(token, (sessions) => {
    // The binding key first: a token that has the wrapping key has what binds under it.
    const rows = [
      { label: bindingKeyLabel, keyType: ck.CKK_GENERIC_SECRET, attributes: bindingKeyAttributes(name), octets: wrapped.binding },
      { label: wrappingKeyLabel, keyType: ck.CKK_AES, attributes: wrappingKeyAttributes(name), octets: wrapped.wrapping },
    ] as const;
    const isGiven = ([binding, wrapping]: readonly (ObjectHandle | undefined)[]): boolean =>
      binding !== undefined && wrapping !== undefined && isDeepStrictEqual(marksOf(sessions, { wrapping, binding }), marks);
    const present = rows.map(({ label }) => findNamedKeys(sessions, label).get(number));
    if (present.some((key) => key !== undefined && key.carrying !== carrying))
      throw new HsmError('configuration', `token ${token.name} has other own keys with the number ${number}`);
    // SoftHSM makes an object before it sets its value: every use of a key that a kill left without one is an error.
    if (!accepts(() => isGiven(present.map((key) => key?.object)))) {
      const privateKey = findTransportKey(sessions, transport);
      const remove = (): void => rows.forEach(({ label }) => removeKey(sessions, label, name));
      // A leftover of an interrupted carrying.
      remove();
      try {
        const made = rows.map(({ keyType, attributes, octets }) =>
          unwrapOwnKey(sessions, privateKey, oaepMechanism(hash), Buffer.from(octets, 'base64'), { ...attributes, keyType }),
        );
        if (!isGiven(made))
          throw new HsmError(
            'key-not-usable',
            `token ${token.name} received other keys, or wraps differently from the token that gave them: nothing was kept`,
          );
      } catch (error) {
        remove();
        throw error;
      }
    }
    removeTransportKeys(sessions);
  });
}

/** Removes the leftovers of an interrupted carrying. */
export function closeTransportHere(token: TokenConfig): void {
  inToken(token, removeTransportKeys);
}

/** The wrapping keys of a token, prepared or not, ascending. */
export function presentKeysHere(token: TokenConfig): readonly OwnKeyName[] {
  return inToken(token, presentKeys);
}

/** Runs a task in a token opened for it, and makes its changes durable. */
function inToken<T>(token: TokenConfig, task: (sessions: Sessions) => T): T {
  return withStartLock(token, () => {
    const directory = findTokenDirectory(token);
    restoreTokenObjects(directory);
    const module = PkcsModule.load(token.module, token.libraryParameters);
    const slot = findSlot(module, token);
    const sessions = new Sessions(module, slot, (owner) => login(module, slot, owner, token));
    try {
      return task(sessions);
    } finally {
      sessions.close();
      if (directory !== undefined) {
        copyTokenObjects(directory);
        syncTokenDirectory(directory);
      }
    }
  });
}

function presentKeys(sessions: Sessions): OwnKeyName[] {
  const keys = [...findNamedKeys(sessions, wrappingKeyLabel).values()].sort((a, b) => a.number - b.number);
  return keys.map(({ number, carrying }) => ({ number, carrying }));
}

function removeTransportKeys(sessions: Sessions): void {
  const { module, work } = sessions;
  for (const object of module.findObjects(work, { class: ck.CKO_PRIVATE_KEY, token: true, label: transportKeyLabel })) {
    sessions.destroyPersistent(object, { label: transportKeyLabel });
  }
}

function removeKey(sessions: Sessions, label: string, { number, carrying }: OwnKeyName): void {
  const found = findNamedKeys(sessions, label).get(number);
  if (found?.carrying === carrying && found !== undefined) sessions.destroyPersistent(found.object, { label });
}

/** Tells whether this token unwraps what it wraps for the pair. */
function carriesByItself(
  { module, owner }: Sessions,
  { publicKey, privateKey }: { readonly publicKey: ObjectHandle; readonly privateKey: ObjectHandle },
  hash: OaepHash,
): boolean {
  const passing = { token: false, private: true, sensitive: true };
  return accepts(() => {
    const key = module.generateKey(owner, plainMechanism(ck.CKM_AES_KEY_GEN), { ...passing, extractable: true, valueLength: 32 });
    const wrapped = module.wrapKey(owner, oaepMechanism(hash), publicKey, key);
    module.unwrapKey(owner, oaepMechanism(hash), privateKey, wrapped, {
      ...{ ...passing, class: ck.CKO_SECRET_KEY, keyType: ck.CKK_AES, extractable: false },
    });
    return true;
  });
}

/** Wraps both keys for a receiver, by the best hash that both tokens take. */
function pack(
  { module, owner }: Sessions,
  { publicKey, hashes: taken }: Transport,
  { wrapping, binding }: { readonly wrapping: ObjectHandle; readonly binding: ObjectHandle },
): WrappedKeys {
  const { n = '', e = '' } = createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' }).export({
    format: 'jwk',
  });
  const modulus = Buffer.from(n, 'base64url');
  if (modulus.length !== 384) throw new HsmError('refused', 'a transport key is an RSA key of 3072 bits');
  const imported = module.createObject(owner, {
    ...{ class: ck.CKO_PUBLIC_KEY, keyType: ck.CKK_RSA, token: false, modulus, publicExponent: Buffer.from(e, 'base64url') },
    ...onlyFor('public', ['wrap']),
  });
  const wrap = (hash: OaepHash, key: ObjectHandle): string => module.wrapKey(owner, oaepMechanism(hash), imported, key).toString('base64');
  for (const hash of taken) {
    try {
      return { hash, wrapping: wrap(hash, wrapping), binding: wrap(hash, binding) };
    } catch (error) {
      if (!(error instanceof TokenError) || hash === taken.at(-1)) throw error;
    }
  }
  throw new HsmError('unsupported', 'the tokens have no hash of RSA-OAEP in common');
}

function findTransportKey({ module, work }: Sessions, { id }: Pick<Transport, 'id'>): ObjectHandle {
  const wanted = { class: ck.CKO_PRIVATE_KEY, token: true, label: transportKeyLabel, id: Buffer.from(id, 'hex') };
  const [found] = module.findForSure(work, wanted);
  if (found === undefined) throw new HsmError('key-missing', 'the transport key is gone: the carrying begins again');
  return found;
}

/** Unwraps a key into a persistent object. `configuration` if the token makes a readable object. */
function unwrapOwnKey(
  { module, owner }: Sessions,
  transport: ObjectHandle,
  mechanism: Mechanism,
  wrapped: Buffer,
  attributes: Attributes,
): ObjectHandle {
  const key = module.unwrapKey(owner, mechanism, transport, wrapped, { class: ck.CKO_SECRET_KEY, ...attributes });
  const has = (name: 'extractable' | 'sensitive'): boolean => flag(module.attribute(owner, key, name));
  if (has('extractable') || !has('sensitive')) throw new HsmError('configuration', 'the token makes unwrapped keys readable');
  return key;
}

function marksOf(
  { module, owner, slot }: Sessions,
  { wrapping, binding }: { readonly wrapping: ObjectHandle; readonly binding: ObjectHandle },
): Marks {
  const known = module.createObject(owner, {
    ...{
      class: ck.CKO_SECRET_KEY,
      keyType: ck.CKK_GENERIC_SECRET,
      token: false,
      private: true,
      sensitive: true,
      extractable: true,
      value: probe,
    },
    ...onlyFor('secret', []),
  });
  const mechanism = plainMechanism(commonWrapping(new Set(module.mechanisms(slot))));
  return {
    wrapping: module.wrapKey(owner, mechanism, wrapping, known).toString('hex'),
    binding: module.sign(owner, plainMechanism(ck.CKM_SHA256_HMAC), binding, text, 32).toString('hex'),
  };
}
