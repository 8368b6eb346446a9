// Names of a token's own keys: a label for each kind, and a CKA_ID with the number and, for a key that was carried into the token, the carrying.
import { HsmError, type OwnKeyName } from '../../api.ts';
import * as ck from '../../pkcs11/constants.ts';
import type { ObjectHandle } from '../../pkcs11/module.ts';
import { CKR_OK, TokenError } from '../../pkcs11/return-values.ts';
import { findAttribute } from '../attributes.ts';
import { isHalfMade } from './half-made.ts';
import type { Sessions } from '../sessions.ts';

/** Label of every wrapping key. */
export const wrappingKeyLabel = 'keystored-wrapping-key';
/** Label of every key that binds blobs to their records. */
export const bindingKeyLabel = 'keystored-binding-key';

/** An own key as an object of the token. */
export type NamedKey = OwnKeyName & { readonly object: ObjectHandle };

const idPattern = /^keystored ([1-9]\d{0,8})(?: carried ([0-9a-f]{16}))?$/;

/** CKA_ID of an own key. The first key that a token generates has none, as before keys had numbers. */
export function ownKeyId({ number, carrying }: OwnKeyName): { readonly id?: Buffer } {
  if (carrying !== undefined) return { id: Buffer.from(`keystored ${number} carried ${carrying}`) };
  return number === 1 ? {} : { id: Buffer.from(`keystored ${number}`) };
}

/** Parses the name in a CKA_ID; undefined for one that only begins like ours. */
function nameIn(id: string): OwnKeyName | undefined {
  if (!id.startsWith('keystored ')) return { number: 1 };
  const [, number, carrying] = idPattern.exec(id) ?? [];
  return number === undefined ? undefined : { number: Number(number), carrying };
}

type Token = Pick<Sessions, 'module' | 'owner' | 'work' | 'slot'>;

/**
 * Finds every own key of a kind, by its number, unordered. A key with another CKA_ID is ignored, and one that is half made. Two searches must agree: with a number
 * that was read wrongly, new keys would be lost after a restart; with one that was missed, a second key would get its number. Throws
 * `configuration` if two keys have the same number.
 */
export function findNamedKeys(sessions: Token, label: string): Map<number, NamedKey> {
  const found = searchNamedKeys(sessions, label);
  const again = searchNamedKeys(sessions, label);
  const isSame = ({ number, carrying }: NamedKey): boolean => again.has(number) && again.get(number)?.carrying === carrying;
  if (found.size !== again.size || ![...found.values()].every(isSame)) throw new TokenError(CKR_OK, 'C_FindObjects');
  return found;
}

function searchNamedKeys(sessions: Token, label: string): Map<number, NamedKey> {
  const found = new Map<number, NamedKey>();
  for (const key of listNamedKeys(sessions, label)) {
    if (isLeftover(sessions, key)) continue;
    if (found.has(key.number))
      throw new HsmError('configuration', `the token has several keys labelled ${label}: remove those that keystored did not make`);
    found.set(key.number, key);
  }
  return found;
}

/** Destroys the own keys of a kind whose making was interrupted. For callers that hold the start lock. */
export function removeHalfMade(sessions: Pick<Sessions, 'destroyPersistent'> & Token, label: string): void {
  for (const key of listNamedKeys(sessions, label)) if (isLeftover(sessions, key)) sessions.destroyPersistent(key.object, { label });
}

/** A key that was carried is proved by the carrying itself. */
function isLeftover(sessions: Token, { carrying, object }: NamedKey): boolean {
  return carrying === undefined && isHalfMade(sessions, object);
}

function listNamedKeys({ module, owner, work }: Token, label: string): NamedKey[] {
  return module.findObjects(work, { class: ck.CKO_SECRET_KEY, token: true, label }).flatMap((object) => {
    const name = nameIn(findAttribute({ module, owner }, object, 'id')?.toString('latin1') ?? '');
    return name === undefined ? [] : [{ ...name, object }];
  });
}
