// Checks that the token's own keys cannot be read out, and makes session copies, which are faster to use.
import { HsmError } from '../../api.ts';
import type { ObjectHandle } from '../../pkcs11/module.ts';
import { CKR_OK, TokenError } from '../../pkcs11/return-values.ts';
import { findAttribute, flag } from '../attributes.ts';
import type { Sessions } from '../sessions.ts';

/** An own key. `handle`: the object to use; `isCopy`: it is a session copy of `object`, the key itself. */
export type OwnKey = { readonly handle: ObjectHandle; readonly isCopy: boolean; readonly object: ObjectHandle };

const CKR_GENERAL_ERROR = 0x5;
const CKR_OBJECT_HANDLE_INVALID = 0x82;

/**
 * Tells whether the key itself is still in the token, not only its copy. SoftHSM keeps objects in memory, but checks the object's file when an
 * attribute is read.
 */
export function isThere({ module, owner }: Sessions, { object }: OwnKey): boolean {
  try {
    module.attribute(owner, object, 'label');
    return true;
  } catch (error) {
    if (error instanceof TokenError && (error.rv === CKR_OBJECT_HANDLE_INVALID || error.rv === CKR_GENERAL_ERROR)) return false;
    throw error;
  }
}

/** Returns the handle to use for an own key. `configuration` if two reads show that the key can be read out of the token. */
export function ownKeyHandle(sessions: Sessions, object: ObjectHandle, label: string): OwnKey {
  const { module, owner } = sessions;
  const has = (name: 'extractable' | 'sensitive'): boolean => flag(module.attribute(owner, object, name));
  const canBeRead = (): boolean => has('extractable') || !has('sensitive');
  if (module.attribute(owner, object, 'label').toString() !== label) throw new TokenError(CKR_OK, 'C_FindObjects');
  if (canBeRead() && canBeRead())
    throw new HsmError('configuration', `the key labelled ${label} can be read out of the token: it was not made by this service`);
  return sessionCopy(sessions, object);
}

/** Copies a key into the session: copies are faster than persistent objects. If the token refuses, the object itself is used. */
function sessionCopy(sessions: Sessions, object: ObjectHandle): OwnKey {
  const { module, owner } = sessions;
  try {
    const handle = module.copyObject(owner, object, { token: false });
    if (isCopyOf(sessions, handle, object)) return { handle, isCopy: true, object };
  } catch (error) {
    if (!(error instanceof TokenError)) throw error;
  }
  return { handle: object, isCopy: false, object };
}

/**
 * Compares label and CKA_ID, which distinguish the own keys. Keys bound or wrapped with the handle of another one would be unusable after a
 * restart.
 */
function isCopyOf({ module, owner }: Sessions, copy: ObjectHandle, object: ObjectHandle): boolean {
  const read = (of: ObjectHandle, name: 'label' | 'id'): string | undefined =>
    findAttribute({ module, owner }, of, name)?.toString('latin1');
  return (['label', 'id'] as const).every((name) => read(copy, name) === read(object, name));
}
