// What wrap-in-token.ts takes and prints.

export type WrapInToken = {
  readonly module: string;
  readonly libraryParameters?: string;
  readonly label: string;
  readonly pin: string;
  readonly kind: 'aes' | 'rsa' | 'ec' | 'ed25519';
  /** PEM */
  readonly wrappingKey: string;
};

export type WrappedInToken = {
  /** of OAEP and its mask function: sha1 where the token has no other */
  readonly hash: 'sha256' | 'sha1';
  /** by CKM_RSA_AES_KEY_WRAP */
  readonly isOneStep: boolean;
  /** base64 */
  readonly ciphertext: string;
  /** base64: a signature of the text "moving" (ECDSA with SHA-256, r ‖ s), or the key where it is a secret one */
  readonly told: string;
};
