// Registration authorities, as the service of the plugin `ca` gives them to enrolment protocols: that of a CA, and those elsewhere. Types.
import type { HashName, OaepHash } from '../../../hsm/api.ts';

/** An RSA key in the token with a certificate of the CA, which decrypts requests and signs answers in its place (RFC 8894 section 2.1.2). */
export type RegistrationAuthority = {
  /** certificate (DER) for digital signatures and key encipherment */
  readonly certificate: Uint8Array;
  /** this one, and those before it for which requests may still be encrypted, newest first */
  readonly certificates: readonly Uint8Array[];
  /**
   * Decrypts a content key of `bytes` octets that was encrypted for one of `certificates`. What does not decrypt to so many octets gives as
   * many pseudo-random ones: nobody learns which it was. The caller zeroes the key. Rejects with HsmError when the token is away.
   */
  openKey(certificate: Uint8Array, transport: KeyTransport, encryptedKey: Uint8Array, bytes: number): Promise<Uint8Array>;
  /** Signs with RSASSA-PKCS1-v1_5 and the key of `certificate`. Rejects with HsmError. */
  sign(hash: HashName, octets: Uint8Array): Promise<Uint8Array>;
};

/** A key in the token with a certificate of the CA for digital signatures. */
export type AnswerSigner = {
  readonly certificate: Uint8Array;
  /** certificates (DER) of its issuers, nearest first, up to the root */
  readonly issuers: readonly Uint8Array[];
  /** DER AlgorithmIdentifier of its signatures */
  readonly algorithm: Uint8Array;
  /** Returns the signature as X.509 carries it. Rejects with HsmError. */
  sign(octets: Uint8Array): Promise<Uint8Array>;
};

/** Encryption of a content key: RSAES-PKCS1-v1_5, or RSAES-OAEP with one hash for label and mask and an empty label. */
export type KeyTransport = { readonly padding: 'pkcs1v15' } | { readonly padding: 'oaep'; readonly hash: OaepHash };

/** A registration authority elsewhere that speaks for devices. `problem`: it does not now. */
export type TrustedRegistration = { readonly serial: string; readonly problem: 'revoked' | 'not-valid-now' | undefined };
