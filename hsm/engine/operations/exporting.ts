// Reads key material in clear, for export and backup only, and proves it before it leaves: a wrong octet would be noticed only at the
// restore, as a lost key.
import { HsmError, type KeyType } from '../../api.ts';
import type { KeyIdentity } from '../../protocol/key-encoding.ts';
import { parseMaterial } from '../../pkcs11/key-material.ts';
import { CKR_OK, TokenError } from '../../pkcs11/return-values.ts';
import type { Engine } from '../engine.ts';
import { isProven } from './proving.ts';

/** Exports a key: raw octets or PKCS#8 DER. The caller zeroes them. */
export function exportKey(engine: Engine, identity: KeyIdentity): Buffer {
  const material = engine.readInClear(identity);
  try {
    if (isMaterialOf(engine, identity, material)) return material;
  } catch (error) {
    material.fill(0);
    throw error;
  }
  material.fill(0);
  throw new TokenError(CKR_OK, 'C_GetAttributeValue');
}

function isMaterialOf(engine: Engine, identity: KeyIdentity, material: Buffer): boolean {
  const { type } = engine.reference(identity);
  const known = parsed(type, material);
  return known !== undefined && isProven(engine, type, identity, { publicKey: known.publicKey, material });
}

/** Parses key material; undefined if it is not a key of the type. */
function parsed(type: KeyType, material: Buffer): { readonly publicKey?: Buffer } | undefined {
  try {
    const found = parseMaterial(type, material);
    found.wipe();
    const { publicKey } = found;
    return publicKey === undefined ? {} : { publicKey };
  } catch (error) {
    if (error instanceof HsmError && error.kind === 'invalid-key-data') return undefined;
    throw error;
  }
}
