// Finds the token's own keys, checks that they cannot be read out, and makes session copies, which are faster to use.
import { HsmError } from '../api.ts';
import * as ck from '../pkcs11/constants.ts';
import type { ObjectHandle } from '../pkcs11/module.ts';
import { TokenError } from '../pkcs11/return-values.ts';
import type { Sessions } from './sessions.ts';

/** The one own key with this label. `configuration` when there is none, several, or one that can be read. */
export function findOwnKey(sessions: Sessions, label: string): OwnKey {
  const { module, owner } = sessions;
  const [object, ...more] = module.findObjects(owner, { class: ck.CKO_SECRET_KEY, token: true, label });
  if (object === undefined)
    throw new HsmError('configuration', `the token has no key labelled ${label}: it was not prepared for this service`);
  if (more.length > 0)
    throw new HsmError('configuration', `the token has several keys labelled ${label}: remove those that keystored did not make`);
  return ownKeyHandle(sessions, object, label);
}

/** An own key. `handle`: the object to use; `isCopy`: it is a session copy of `object`, the key itself. */
export type OwnKey = { readonly handle: ObjectHandle; readonly isCopy: boolean; readonly object: ObjectHandle };

const CKR_GENERAL_ERROR = 0x5;
const CKR_OBJECT_HANDLE_INVALID = 0x82;

/**
 * Whether the key itself is still in the token, not only its copy. SoftHSM keeps objects in memory, but checks the object's file when an
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

/** The handle to use for an own key. `configuration` when the key can be read out of the token. */
export function ownKeyHandle(sessions: Sessions, object: ObjectHandle, label: string): OwnKey {
  const { module, owner } = sessions;
  if (flag(module.attribute(owner, object, 'extractable')) || !flag(module.attribute(owner, object, 'sensitive'))) {
    throw new HsmError('configuration', `the key labelled ${label} can be read out of the token: it was not made by this service`);
  }
  return sessionCopy(sessions, object);
}

/** The value of a boolean attribute. */
export function flag(value: Buffer): boolean {
  return value[0] === 1;
}

/** Session copies are faster than persistent objects (reference A1.4). On tokens that refuse to copy, the object itself is used. */
function sessionCopy({ module, owner }: Sessions, object: ObjectHandle): OwnKey {
  try {
    return { handle: module.copyObject(owner, object, { token: false }), isCopy: true, object };
  } catch (error) {
    if (error instanceof TokenError) return { handle: object, isCopy: false, object };
    throw error;
  }
}
