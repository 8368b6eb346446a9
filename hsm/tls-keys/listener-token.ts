// The token that OpenSSL's engine sees: the keys of the listeners, which sign the hash of a handshake with ECDSA.
import type { KeyReference } from '../api.ts';
import type { ShownObject, TokenProvider } from '../p11-kit/remote-token.ts';
import { refuse, rv } from '../p11-kit/refused.ts';
import * as ck from '../pkcs11/constants.ts';

/** Signs a digest: r‖s; rejects when the token cannot. */
export type SignDigest = (reference: KeyReference, digest: Uint8Array) => Promise<Uint8Array>;

const signatureOctets = 64;
/** CKF_HW and CKF_SIGN; CKF_EC_F_P and CKF_EC_UNCOMPRESS. */
const mechanismFlags = 0x0000_0001 | 0x0000_0800 | 0x0010_0000 | 0x0100_0000;

/** Objects added to the list later are visible. */
export function listenerToken(objects: readonly ShownObject<KeyReference>[], sign: SignDigest): TokenProvider<KeyReference> {
  return {
    texts: { label: 'keystored', model: 'listeners', library: 'keys of the listeners', slot: 'keys of the listeners' },
    mechanisms: new Map([[ck.CKM_ECDSA, { leastBits: 256, mostBits: 256, flags: mechanismFlags }]]),
    objects: () => objects,
    begin(reference, { parameters }) {
      if (parameters !== undefined) refuse(rv.mechanismParameterInvalid);
      return { signatureOctets, sign: async (digest = Buffer.alloc(0)) => sign(reference, digest) };
    },
  };
}
