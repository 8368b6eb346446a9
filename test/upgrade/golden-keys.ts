// Keys and values of a released version: written once per format by make-transit-golden.ts, checked by transit-golden.long.test.ts.

/** What the file holds of one key: its backup, and requests with the answers that all later versions must give. */
export type GoldenKey = {
  readonly cipher: string;
  readonly backup: string;
  /** of the newest version, where there is one: verification needs no token that offers the cipher */
  readonly publicKey?: string;
  readonly values: readonly GoldenValue[];
};

export type GoldenValue = {
  readonly action: 'decrypt' | 'encrypt' | 'verify' | 'hmac';
  readonly request: Readonly<Record<string, unknown>>;
  readonly answer: Readonly<Record<string, unknown>>;
};

/** The text that every golden value is of. */
export const goldenText = Buffer.from('golden since the first release').toString('base64');

/** Keys by name: every cipher, plain, derived and convergent. */
export const goldenKeys: Readonly<Record<string, { cipher: string; derived?: true; 'convergent-encryption'?: true }>> = {
  ...Object.fromEntries(
    ['aes128-gcm96', 'aes192-gcm96', 'aes256-gcm96'].flatMap((cipher) => [
      [cipher, { cipher }],
      [`${cipher}-derived`, { cipher, derived: true as const }],
      [`${cipher}-convergent`, { cipher, derived: true as const, 'convergent-encryption': true as const }],
    ]),
  ),
  ...Object.fromEntries(
    [
      ...['rsa-2048', 'rsa-3072', 'rsa-4096', 'ed25519', 'ecdsa-p256', 'ecdsa-p384', 'ecdsa-p521'],
      ...['ml-dsa-44', 'ml-dsa-65', 'ml-dsa-87'],
    ].map((cipher) => [cipher, { cipher }]),
  ),
};

/** The options with which a cipher signs. */
export function goldenSignatureOptions(cipher: string): readonly Readonly<Record<string, string>>[] {
  const hashes = ['sha256', 'sha384', 'sha512'].map((hash) => ({ 'hash-algorithm': hash }));
  if (cipher.startsWith('rsa')) return [...hashes, ...hashes.map((hash) => ({ ...hash, 'signature-algorithm': 'pss' }))];
  if (cipher.startsWith('ecdsa')) return [...hashes, { marshaling: 'jws' }];
  return [{}];
}
