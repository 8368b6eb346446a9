// Builds SubjectPublicKeyInfo from the attributes of a token's public key object.
import { createPublicKey, type KeyObject } from 'node:crypto';
import type { KeyType } from '../api.ts';
import { readElements } from './der.ts';
import { keyRows, type KeyFamily, type KeyRow } from './mechanisms.ts';
import type { ObjectHandle, PkcsModule, SessionHandle } from './module.ts';
import { CKR_OK, TokenError } from './return-values.ts';
import type { AttributeName } from './template.ts';

type PublicFamily = Exclude<KeyFamily, 'aes' | 'secret' | 'cmac'>;

/** Reads a public key object and returns its SubjectPublicKeyInfo (DER). TokenError if its attributes are not such a key. */
export function readPublicKey(module: PkcsModule, session: SessionHandle, object: ObjectHandle, type: KeyType): Buffer {
  const row = keyRows[type];
  try {
    const key = toKeyObject[row.family as PublicFamily](row, (name) => module.attribute(session, object, name));
    return key.export({ format: 'der', type: 'spki' });
  } catch (cause) {
    throw cause instanceof TokenError ? cause : new TokenError(CKR_OK, 'C_GetAttributeValue');
  }
}

type Read = (name: AttributeName) => Buffer;

/** By family: builds the key object from attributes. */
const toKeyObject: Readonly<Record<PublicFamily, (row: KeyRow, read: Read) => KeyObject>> = {
  rsa: (_row, read) => {
    const key = { kty: 'RSA', n: read('modulus').toString('base64url'), e: read('publicExponent').toString('base64url') };
    return createPublicKey({ key, format: 'jwk' });
  },
  ec: ({ bytes, nodeName }, read) => {
    const key = barePoint(read('ecPoint'), 1 + 2 * bytes);
    return createPublicKey({ key, format: 'raw-public', asymmetricKeyType: 'ec', namedCurve: nodeName });
  },
  edwards: ({ bytes }, read) =>
    createPublicKey({ key: barePoint(read('ecPoint'), bytes), format: 'raw-public', asymmetricKeyType: 'ed25519' }),
  montgomery: ({ bytes }, read) =>
    createPublicKey({ key: barePoint(read('ecPoint'), bytes), format: 'raw-public', asymmetricKeyType: 'x25519' }),
  'ml-dsa': ({ nodeName }, read) =>
    createPublicKey({ key: read('value'), format: 'raw-public', asymmetricKeyType: nodeName as 'ml-dsa-65' }),
  'ml-kem': ({ nodeName }, read) =>
    createPublicKey({ key: read('value'), format: 'raw-public', asymmetricKeyType: nodeName as 'ml-kem-768' }),
};

/** Unwraps CKA_EC_POINT, a DER OCTET STRING around the point; some tokens return the bare point. */
function barePoint(value: Buffer, pointBytes: number): Buffer {
  if (value.length === pointBytes) return value;
  const inner = readElements(value)[0]?.contents;
  if (inner?.length !== pointBytes) throw new RangeError('EC point of the wrong length');
  return inner;
}
