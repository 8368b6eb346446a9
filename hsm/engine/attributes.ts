// Reads attributes of objects as tokens return them.
import type { ObjectHandle, PkcsModule, SessionHandle } from '../pkcs11/module.ts';
import { TokenError } from '../pkcs11/return-values.ts';
import type { AttributeName } from '../pkcs11/template.ts';

/**
 * CKR_ATTRIBUTE_SENSITIVE, ATTRIBUTE_TYPE_INVALID: the token does not return the attribute. Some tokens answer ATTRIBUTE_READ_ONLY,
 * ATTRIBUTE_VALUE_INVALID or TEMPLATE_INCONSISTENT.
 */
const notGiven: ReadonlySet<number> = new Set([0x10, 0x11, 0x12, 0x13, 0xd1]);

/** An attribute of an object; undefined if the token does not return it. */
export function findAttribute(
  { module, owner }: { readonly module: PkcsModule; readonly owner: SessionHandle },
  object: ObjectHandle,
  name: AttributeName,
): Buffer | undefined {
  try {
    const value = module.attribute(owner, object, name);
    return value.length === 0 ? undefined : value;
  } catch (error) {
    if (error instanceof TokenError && notGiven.has(error.rv)) return undefined;
    throw error;
  }
}

/** The value of a boolean attribute. */
export function flag(value: Buffer): boolean {
  return value[0] === 1;
}
