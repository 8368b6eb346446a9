// A key pair for the member of etcd, in a file because etcd needs one, and the PKCS#10 request for its certificate.
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { bitString, encode, integer, objectIdentifier, sequence, tag } from '../../core/der/der.ts';

export type KeyRequest = {
  /** PEM */
  readonly key: string;
  /** DER */
  readonly request: Uint8Array;
};

/** ecdsa-with-SHA256 (RFC 5758 section 3.2) */
const algorithm = sequence(objectIdentifier('1.2.840.10045.4.3.2'));

/** An EC key on P-256. The request has an empty subject: who issues decides what is in the certificate. */
export function makeKeyRequest(): KeyRequest {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { key: privateKey.export({ format: 'pem', type: 'pkcs8' }), request: requestOf(privateKey, publicKey) };
}

/** RFC 2986 section 4. */
function requestOf(privateKey: KeyObject, publicKey: KeyObject): Uint8Array {
  const info = sequence(integer(0), sequence(), publicKey.export({ format: 'der', type: 'spki' }), encode(tag.constructed(0)));
  return sequence(info, algorithm, bitString(sign('sha256', info, privateKey)));
}
