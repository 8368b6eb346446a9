// The six actions on a transit key that take one item or many: what an item is on the wire, and what its result means.
import { decodeBase64, encodeBase64 } from '../base64.ts';

/** A text stands for its UTF-8. */
export type Octets = Uint8Array | string;

type Bound = {
  /** of derived keys: the same text again to decrypt */
  readonly context?: string | undefined;
  /** authenticated with the ciphertext, not part of it: the same again to decrypt */
  readonly associatedData?: Octets | undefined;
};
type Versioned = {
  /** default: the version in use */
  readonly keyVersion?: number | undefined;
};
type Signed = {
  /** default sha256 */
  readonly hashAlgorithm?: 'sha256' | 'sha384' | 'sha512' | undefined;
  /** The data is the finished hash. */
  readonly prehashed?: boolean | undefined;
  /** padding of RSA signatures; default pkcs1v15 */
  readonly signatureAlgorithm?: 'pkcs1v15' | 'pss' | undefined;
  /** default asn1 */
  readonly marshaling?: 'asn1' | 'jws' | undefined;
};

export type EncryptOptions = Bound & Versioned;
export type DecryptOptions = Bound;
export type RewrapOptions = Bound & Versioned;
export type SignOptions = Signed & Versioned;
export type VerifyOptions = Signed;
export type HmacOptions = Pick<Signed, 'hashAlgorithm'> & Versioned;

/** Of an item of a batch: comes back with its result. */
type Referenced = { readonly reference?: string | undefined };

export type EncryptItem = EncryptOptions & Referenced & { readonly plaintext: Octets };
export type DecryptItem = DecryptOptions & Referenced & { readonly ciphertext: string };
export type RewrapItem = RewrapOptions & Referenced & { readonly ciphertext: string };
export type SignItem = SignOptions & Referenced & { readonly data: Octets };
export type VerifyItem = VerifyOptions & Referenced & { readonly data: Octets; readonly signature: string };
export type HmacItem = HmacOptions & Referenced & { readonly data: Octets };

/** The answer to a single action, or one result of a batch. */
export type WireResult = Readonly<Record<string, unknown>>;

export type Action<Item, Result> = {
  /** last part of the path */
  readonly path: string;
  toWire(item: Item): Record<string, unknown>;
  /** Throws TypeError for an answer without the result. */
  read(result: WireResult): Result;
};

export const encrypt: Action<EncryptItem, string> = {
  path: 'encrypt',
  toWire: ({ plaintext, ...options }) => ({ plaintext: encodeBase64(plaintext), ...wireOptions(options) }),
  read: ({ ciphertext }) => requireText(ciphertext),
};

export const decrypt: Action<DecryptItem, Uint8Array> = {
  path: 'decrypt',
  toWire: ({ ciphertext, ...options }) => ({ ciphertext, ...wireOptions(options) }),
  read: ({ plaintext }) => decodeBase64(requireText(plaintext)),
};

export const rewrap: Action<RewrapItem, string> = {
  path: 'rewrap',
  toWire: ({ ciphertext, ...options }) => ({ ciphertext, ...wireOptions(options) }),
  read: ({ ciphertext }) => requireText(ciphertext),
};

export const sign: Action<SignItem, string> = {
  path: 'sign',
  toWire: ({ data, ...options }) => ({ text: encodeBase64(data), ...wireOptions(options) }),
  read: ({ signature }) => requireText(signature),
};

export const verify: Action<VerifyItem, boolean> = {
  path: 'verify',
  toWire: ({ data, signature, ...options }) => ({ text: encodeBase64(data), signature, ...wireOptions(options) }),
  read: ({ valid }) => {
    if (typeof valid !== 'boolean') throw new TypeError('the answer says neither valid nor not valid');
    return valid;
  },
};

export const hmac: Action<HmacItem, string> = {
  path: 'hmac',
  toWire: ({ data, ...options }) => ({ plaintext: encodeBase64(data), ...wireOptions(options) }),
  read: ({ hmac }) => requireText(hmac),
};

/** Options in the names of the wire. */
export function wireOptions({ associatedData, ...options }: Bound & Versioned & Signed & Referenced): Record<string, unknown> {
  const { context, prehashed, marshaling, reference, keyVersion, hashAlgorithm, signatureAlgorithm } = options;
  return {
    ...{ context, prehashed, marshaling, reference },
    'key-version': keyVersion,
    'hash-algorithm': hashAlgorithm,
    'signature-algorithm': signatureAlgorithm,
    'associated-data': associatedData === undefined ? undefined : encodeBase64(associatedData),
  };
}

function requireText(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('the answer does not have the result');
  return value;
}
