// Identifiers of algorithms of CMS messages (RFC 5754, RFC 3565, RFC 3560).

export const hashIds = {
  sha256: '2.16.840.1.101.3.4.2.1',
  sha384: '2.16.840.1.101.3.4.2.2',
  sha512: '2.16.840.1.101.3.4.2.3',
} as const;

/** The hashes by identifier. */
export const hashNames: ReadonlyMap<string, keyof typeof hashIds> = new Map(
  (Object.keys(hashIds) as (keyof typeof hashIds)[]).map((name) => [hashIds[name], name]),
);

export const cipherIds = {
  'aes-128-cbc': '2.16.840.1.101.3.4.1.2',
  'aes-192-cbc': '2.16.840.1.101.3.4.1.22',
  'aes-256-cbc': '2.16.840.1.101.3.4.1.42',
} as const;

export const rsaEncryption = '1.2.840.113549.1.1.1';
export const rsaesOaep = '1.2.840.113549.1.1.7';
export const mgf1 = '1.2.840.113549.1.1.8';
