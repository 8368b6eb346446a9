// Keys that OpenSSL sees through p11-kit's client: for each a private and a public key object, with the attributes that its engine reads.
import { createHash, createPublicKey } from 'node:crypto';
import type { KeyReference } from '../api.ts';
import * as ck from '../pkcs11/constants.ts';
import { flag, number } from '../p11-kit/attributes.ts';
import type { ShownObject } from '../p11-kit/remote-token.ts';

/** A key that signs handshakes: ECDSA over P-256, as the certificates of the listeners have it. `publicKey`: DER SubjectPublicKeyInfo. */
export type TlsKey = { readonly reference: KeyReference; readonly publicKey: Uint8Array };

/** The CKA_ID of a key, by which its URI names it. */
export function tlsKeyId(publicKey: Uint8Array): Buffer {
  return createHash('sha256').update(publicKey).digest().subarray(0, 16);
}

/** The URI (RFC 7512) by which OpenSSL's engine finds the private key. */
export function tlsKeyUri(publicKey: Uint8Array): string {
  const id = Array.from(tlsKeyId(publicKey), (one) => `%${one.toString(16).padStart(2, '0')}`).join('');
  return `pkcs11:id=${id};type=private`;
}

const tagOctetString = 0x04;
/** Octets of the uncompressed point. */
const pointOctets = 65;
const p256 = Buffer.from('06082a8648ce3d030107', 'hex');

/** Private and public key object. */
export function shownObjects({ reference, publicKey }: TlsKey): readonly [ShownObject<KeyReference>, ShownObject<KeyReference>] {
  const id = tlsKeyId(publicKey);
  const der = createPublicKey({ key: Buffer.from(publicKey), format: 'der', type: 'spki' }).export({ format: 'der', type: 'spki' });
  const point = Buffer.concat([Buffer.of(tagOctetString, pointOctets), der.subarray(-pointOctets)]);
  const common = [
    [0x1, flag(true)],
    [0x3, Buffer.from('keystored listener')],
    [0x100, number(ck.CKK_EC)],
    [0x102, id],
    [0x163, flag(true)],
    [0x180, p256],
    [0x181, point],
  ] as const;
  const shown = (isPrivate: boolean, own: readonly (readonly [number, Buffer])[]): ShownObject<KeyReference> => ({
    ...{ key: reference, isPrivate },
    attributes: new Map([[0x0, number(isPrivate ? ck.CKO_PRIVATE_KEY : ck.CKO_PUBLIC_KEY)], [0x2, flag(isPrivate)], ...common, ...own]),
  });
  return [
    shown(true, [
      [0x103, flag(true)],
      [0x108, flag(true)],
      [0x162, flag(false)],
      [0x202, flag(false)],
    ]),
    shown(false, [[0x10a, flag(true)]]),
  ];
}
