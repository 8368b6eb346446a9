// The six actions on a transit key that take one item or many: the form of an item on the wire, and the meaning of its result.
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
  /** padding of RSA signatures, default pkcs1v15; or ed25519ph of an Ed25519 key */
  readonly signatureAlgorithm?: 'pkcs1v15' | 'pss' | 'ed25519ph' | undefined;
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
  /** field of an item that is given as a bare text or octets; absent for verification, which needs two fields */
  readonly bare?: 'ciphertext' | 'data' | 'plaintext';
  /** Throws TypeError for an item that lacks a field that the action needs. */
  toWire(item: Item): Record<string, unknown>;
  /** Throws TypeError for an answer without the result. */
  read(result: WireResult): Result;
};

export const encrypt: Action<EncryptItem, string> = {
  path: 'encrypt',
  bare: 'plaintext',
  toWire: ({ plaintext, ...options }) => ({ plaintext: octetsOf({ plaintext }), ...wireOptions(options) }),
  read: ({ ciphertext }) => requireText(ciphertext),
};

export const decrypt: Action<DecryptItem, Uint8Array> = {
  path: 'decrypt',
  bare: 'ciphertext',
  toWire: ({ ciphertext, ...options }) => ({ ciphertext: textOf({ ciphertext }), ...wireOptions(options) }),
  read: ({ plaintext }) => decodeBase64(requireText(plaintext)),
};

export const rewrap: Action<RewrapItem, string> = {
  path: 'rewrap',
  bare: 'ciphertext',
  toWire: ({ ciphertext, ...options }) => ({ ciphertext: textOf({ ciphertext }), ...wireOptions(options) }),
  read: ({ ciphertext }) => requireText(ciphertext),
};

export const sign: Action<SignItem, string> = {
  path: 'sign',
  bare: 'data',
  toWire: ({ data, ...options }) => ({ text: octetsOf({ data }), ...wireOptions(options) }),
  read: ({ signature }) => requireText(signature),
};

export const verify: Action<VerifyItem, boolean> = {
  path: 'verify',
  toWire: ({ data, signature, ...options }) => ({ text: octetsOf({ data }), signature: textOf({ signature }), ...wireOptions(options) }),
  read: ({ valid }) => {
    if (typeof valid !== 'boolean') throw new TypeError('the answer says neither valid nor not valid');
    return valid;
  },
};

export const hmac: Action<HmacItem, string> = {
  path: 'hmac',
  bare: 'data',
  toWire: ({ data, ...options }) => ({ plaintext: octetsOf({ data }), ...wireOptions(options) }),
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
    'associated-data': associatedData === undefined ? undefined : octetsOf({ associatedData }),
  };
}

/** Returns an item as an object; most actions need only a bare text or octets. Throws TypeError for an invalid item. */
export function itemOf<Item extends object>({ path, bare }: Action<Item, unknown>, given: Item | Octets): Item {
  if (typeof given !== 'string' && !isOctets(given)) {
    if (typeof given === 'object' && given !== null) return given;
    throw new TypeError(`${path}: an item is ${bare === undefined ? '' : 'a text, octets or '}an object, not ${kindOf(given)}`);
  }
  if (bare === undefined) throw new TypeError(`${path}: an item is an object, not ${kindOf(given)}`);
  return { [bare]: given } as Item;
}

/** The one field of an object, as base64. */
function octetsOf(field: Readonly<Record<string, unknown>>): string {
  const [[name, value] = []] = Object.entries(field);
  if (typeof value === 'string' || isOctets(value)) return encodeBase64(value);
  throw new TypeError(`${name}: a text or octets (Uint8Array), not ${kindOf(value)}`);
}

/** The one field of an object. */
function textOf(field: Readonly<Record<string, unknown>>): string {
  const [[name, value] = []] = Object.entries(field);
  if (typeof value === 'string') return value;
  throw new TypeError(`${name}: a text, not ${kindOf(value)}`);
}

/** Also of another realm, as in tests and frames of a browser. */
function isOctets(value: unknown): value is Uint8Array {
  return Object.prototype.toString.call(value) === '[object Uint8Array]';
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return isOctets(value) ? 'octets' : `a value of type ${typeof value}`;
}

function requireText(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('the answer does not have the result');
  return value;
}
