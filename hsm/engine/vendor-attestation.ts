// Extension point for a vendor's attestation: a device's statement about a key under its own signature.
import type { TokenIdentity } from '../key-evidence.ts';
import type { ObjectHandle } from '../pkcs11/module.ts';
import type { Sessions } from './sessions.ts';

/** Obtains the attestation of one vendor. hsm/README.md, "Vendor attestation", says what each vendor offers. */
export interface VendorAttestor {
  /** Name of the evidence in statements, for example `yubihsm2-attestation-certificate`. Never changed once published. */
  readonly format: string;
  /** Tells whether tokens like this one attest their keys. */
  serves(token: TokenIdentity): boolean;
  /**
   * The evidence about a persistent object, in the order that a verifier needs; undefined for one that the device does not attest. Throws
   * TokenError or HsmError: then no statement is made, because one without the evidence would look as if the device gave none.
   */
  attest(sessions: Sessions, object: ObjectHandle): readonly Uint8Array[] | undefined;
}

/** The attestors in use: none yet, because SoftHSM2 and NSS softoken attest nothing. */
export const vendorAttestors: readonly VendorAttestor[] = [];
