// A key pair for the member of etcd, in a file because etcd needs one, and the PKCS#10 request for its certificate.
import { createPrivateKey, createPublicKey, generateKeyPairSync, hash, type KeyObject, sign } from 'node:crypto';
import { bitString, encode, integer, objectIdentifier, sequence, setOf, tag, utf8String } from '../../../core/der/der.ts';
import { requestAttribute } from '../../../core/der/oids.ts';

export type KeyRequest = {
  /** PEM */
  readonly key: string;
  /** DER */
  readonly request: Uint8Array;
};

/** ecdsa-with-SHA256 (RFC 5758 section 3.2) */
const algorithm = sequence(objectIdentifier('1.2.840.10045.4.3.2'));

/** An EC key on P-256. The request has an empty subject: the issuer decides the content of the certificate. */
export function makeKeyRequest(): KeyRequest {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { key: privateKey.export({ format: 'pem', type: 'pkcs8' }), request: requestOf(privateKey) };
}

/** A request for an existing key, PEM. `challenge`: text that the signature covers beside the key. */
export function requestFor(key: string, challenge?: string): Uint8Array {
  return requestOf(createPrivateKey(key), challenge);
}

/**
 * Text that an appliance signs with the key of its request when it asks for the own keys of the others: that they are for this transport
 * key, by this invitation. A recorded request is useless with another one.
 */
export function challengeOf({ secret, appliance, transportKey }: Asked): string {
  return hash('sha256', JSON.stringify(['keystored-admit-token-1', secret, appliance, transportKey]), 'hex');
}

export type Asked = { readonly secret: string; readonly appliance: string; readonly transportKey: string };

/** RFC 2986 section 4; the attribute of RFC 2985 section 5.4.1. */
function requestOf(privateKey: KeyObject, challenge?: string): Uint8Array {
  const attributes =
    challenge === undefined ? [] : [sequence(objectIdentifier(requestAttribute.challengePassword), setOf(utf8String(challenge)))];
  const publicKey = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  const info = sequence(integer(0), sequence(), publicKey, encode(tag.constructed(0), ...attributes));
  return sequence(info, algorithm, bitString(sign('sha256', info, privateKey)));
}
