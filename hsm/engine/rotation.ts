// Rotation of the token's wrapping key in one host: makes a new key, wraps blobs again under it, destroys old keys.
import { HsmError, type OwnKeyName } from '../api.ts';
import * as ck from '../pkcs11/constants.ts';
import type { Engine } from './engine.ts';
import type { KeyIdentity } from '../protocol/key-encoding.ts';
import type { Made } from './operations/making.ts';
import { plainMechanism } from '../pkcs11/mechanisms.ts';
import { copyTokenObjects, syncTokenDirectory } from '../files/softhsm.ts';
import { bindingKeyLabel, findNamedKeys, type NamedKey, removeHalfMade, wrappingKeyLabel } from './own-keys/names.ts';
import { wrappingKeyAttributes } from './own-keys/wrapping-keys.ts';

/** The token's wrapping keys, ascending. */
export function listWrappingKeys(engine: Engine): OwnKeyName[] {
  const found = engine.changeToken(() => [...findNamedKeys(engine.sessions, wrappingKeyLabel).values()]);
  return found.map(({ number, carrying }) => ({ number, carrying })).sort((a, b) => a.number - b.number);
}

/**
 * Makes the wrapping key after `after`, durably, unless one was made. Returns the newest number. A leftover of an interrupted carrying is
 * passed over: it may lack a value.
 */
export function makeWrappingKey(engine: Engine, after: number): number {
  const { module, owner } = engine.sessions;
  const newest = engine.changeToken(() => {
    removeHalfMade(engine.sessions, wrappingKeyLabel);
    const present = [...findNamedKeys(engine.sessions, wrappingKeyLabel).values()];
    const made = present.filter(({ number, carrying }) => number > after && carrying === undefined).map(({ number }) => number);
    const next = Math.max(after, ...present.map(({ number }) => number)) + 1;
    const attributes = { ...wrappingKeyAttributes({ number: next }), valueLength: 32 };
    if (made.length === 0) module.generateKey(owner, plainMechanism(ck.CKM_AES_KEY_GEN), attributes);
    // No key may be wrapped under a wrapping key that a power cut could remove.
    makeDurable(engine);
    return made.length === 0 ? next : Math.max(...made);
  });
  engine.custody.wrappingKeys.newest(newest);
  return newest;
}

/** Destroys an old wrapping key, and the binding keys needed only for it. Idempotent. `refused` for the newest one. */
export function destroyWrappingKey(engine: Engine, number: number): void {
  engine.requireKept();
  engine.changeToken(() => {
    const present = findNamedKeys(engine.sessions, wrappingKeyLabel);
    if (number >= Math.max(...present.keys())) throw new HsmError('refused', 'the newest wrapping key is in use');
    const old = present.get(number);
    if (old !== undefined) engine.sessions.destroyPersistent(old.object, { label: wrappingKeyLabel });
    present.delete(number);
    for (const { object } of needlessBindingKeys(engine, [...present.keys()]))
      engine.sessions.destroyPersistent(object, { label: bindingKeyLabel });
    makeDurable(engine);
    engine.custody.wrappingKeys.refresh();
  });
}

/** Unneeded binding keys: all but the first, which binds persistent objects, and those that bind blobs under one of these wrapping keys. */
function needlessBindingKeys({ sessions }: Engine, wrappingKeys: readonly number[]): NamedKey[] {
  const ascending = [...findNamedKeys(sessions, bindingKeyLabel).values()].sort((a, b) => a.number - b.number);
  const needed = new Set(wrappingKeys.map((number) => ascending.findLast((key) => key.number <= number)));
  return ascending.slice(1).filter((key) => !needed.has(key));
}

/** Wraps a key under the newest wrapping key, `under` or later. `refused` in token custody. */
export function rewrapKey(engine: Engine, identity: KeyIdentity, under: number): Pick<Made, 'blob' | 'mac'> {
  const { type, custody, binding, blob } = engine.reference(identity);
  if (custody !== 'wrapped') throw new HsmError('refused', 'the key is an object in the token and not wrapped');
  engine.custody.wrappingKeys.newest(under);
  const fresh = engine.custody.rewrap(type, blob);
  const mac = engine.custody.bind(type, custody, binding, fresh);
  engine.requireMadeWell();
  return { blob: fresh, mac };
}

function makeDurable({ directory }: Engine): void {
  if (directory === undefined) return;
  copyTokenObjects(directory);
  syncTokenDirectory(directory);
}
