// Every CK_RV of PKCS#11 3.2: its name, its remedy, and the kind of HsmError it becomes. Errors are distinguished by number, never by text.
import type { HsmErrorKind } from '../api.ts';

/**
 * Remedy after a failed call:
 * `session` replace the work session · `object` load the key again · `restore` open new sessions, log in, load all keys again ·
 * `room` evict loaded keys · `module` replace the host process · `doubt` find out whether the request or the token is at fault ·
 * `latch` nothing: a person must act · `none` nothing, the request was wrong.
 */
export type Remedy = 'none' | 'session' | 'object' | 'restore' | 'room' | 'module' | 'doubt' | 'latch';

/** One row of the table. */
export type ReturnValue = { readonly name: string; readonly remedy: Remedy; readonly kind: HsmErrorKind };

/** The call succeeded, but its answer cannot be right: another length than requested, another answer to the same question. */
export const CKR_OK = 0x0;
export const CKR_FUNCTION_FAILED = 0x06;
export const CKR_SESSION_COUNT = 0xb1;

const rows: readonly (readonly [number, string, Remedy, HsmErrorKind])[] = [
  [CKR_OK, 'CKR_OK and a wrong answer', 'object', 'unavailable'],
  [0x1, 'CKR_CANCEL', 'none', 'refused'],
  [0x2, 'CKR_HOST_MEMORY', 'room', 'unavailable'],
  [0x3, 'CKR_SLOT_ID_INVALID', 'module', 'unavailable'],
  [0x5, 'CKR_GENERAL_ERROR', 'doubt', 'unavailable'],
  [0x6, 'CKR_FUNCTION_FAILED', 'doubt', 'unavailable'],
  [0x7, 'CKR_ARGUMENTS_BAD', 'none', 'refused'],
  [0x8, 'CKR_NO_EVENT', 'none', 'refused'],
  [0x9, 'CKR_NEED_TO_CREATE_THREADS', 'none', 'configuration'],
  [0xa, 'CKR_CANT_LOCK', 'none', 'configuration'],
  [0x10, 'CKR_ATTRIBUTE_READ_ONLY', 'none', 'refused'],
  [0x11, 'CKR_ATTRIBUTE_SENSITIVE', 'none', 'refused'],
  [0x12, 'CKR_ATTRIBUTE_TYPE_INVALID', 'none', 'refused'],
  [0x13, 'CKR_ATTRIBUTE_VALUE_INVALID', 'none', 'refused'],
  [0x1b, 'CKR_ACTION_PROHIBITED', 'none', 'refused'],
  [0x20, 'CKR_DATA_INVALID', 'none', 'refused'],
  [0x21, 'CKR_DATA_LEN_RANGE', 'none', 'refused'],
  [0x30, 'CKR_DEVICE_ERROR', 'module', 'unavailable'],
  [0x31, 'CKR_DEVICE_MEMORY', 'room', 'unavailable'],
  [0x32, 'CKR_DEVICE_REMOVED', 'module', 'unavailable'],
  [0x40, 'CKR_ENCRYPTED_DATA_INVALID', 'none', 'decryption-failed'],
  [0x41, 'CKR_ENCRYPTED_DATA_LEN_RANGE', 'none', 'decryption-failed'],
  [0x42, 'CKR_AEAD_DECRYPT_FAILED', 'none', 'decryption-failed'],
  [0x50, 'CKR_FUNCTION_CANCELED', 'session', 'unavailable'],
  [0x51, 'CKR_FUNCTION_NOT_PARALLEL', 'none', 'refused'],
  [0x54, 'CKR_FUNCTION_NOT_SUPPORTED', 'none', 'unsupported'],
  [0x60, 'CKR_KEY_HANDLE_INVALID', 'object', 'key-not-usable'],
  [0x62, 'CKR_KEY_SIZE_RANGE', 'none', 'refused'],
  [0x63, 'CKR_KEY_TYPE_INCONSISTENT', 'none', 'refused'],
  [0x64, 'CKR_KEY_NOT_NEEDED', 'none', 'refused'],
  [0x65, 'CKR_KEY_CHANGED', 'session', 'unavailable'],
  [0x66, 'CKR_KEY_NEEDED', 'none', 'refused'],
  [0x67, 'CKR_KEY_INDIGESTIBLE', 'none', 'refused'],
  [0x68, 'CKR_KEY_FUNCTION_NOT_PERMITTED', 'none', 'refused'],
  [0x69, 'CKR_KEY_NOT_WRAPPABLE', 'none', 'unsupported'],
  [0x6a, 'CKR_KEY_UNEXTRACTABLE', 'none', 'refused'],
  [0x70, 'CKR_MECHANISM_INVALID', 'none', 'unsupported'],
  [0x71, 'CKR_MECHANISM_PARAM_INVALID', 'none', 'refused'],
  [0x82, 'CKR_OBJECT_HANDLE_INVALID', 'object', 'key-not-usable'],
  [0x90, 'CKR_OPERATION_ACTIVE', 'session', 'unavailable'],
  [0x91, 'CKR_OPERATION_NOT_INITIALIZED', 'session', 'unavailable'],
  [0xa0, 'CKR_PIN_INCORRECT', 'latch', 'pin-refused'],
  [0xa1, 'CKR_PIN_INVALID', 'latch', 'pin-refused'],
  [0xa2, 'CKR_PIN_LEN_RANGE', 'latch', 'pin-refused'],
  [0xa3, 'CKR_PIN_EXPIRED', 'latch', 'pin-refused'],
  [0xa4, 'CKR_PIN_LOCKED', 'latch', 'pin-refused'],
  [0xb0, 'CKR_SESSION_CLOSED', 'restore', 'unavailable'],
  [0xb1, 'CKR_SESSION_COUNT', 'module', 'unavailable'],
  [0xb3, 'CKR_SESSION_HANDLE_INVALID', 'restore', 'unavailable'],
  [0xb4, 'CKR_SESSION_PARALLEL_NOT_SUPPORTED', 'none', 'configuration'],
  [0xb5, 'CKR_SESSION_READ_ONLY', 'none', 'refused'],
  [0xb6, 'CKR_SESSION_EXISTS', 'none', 'refused'],
  [0xb7, 'CKR_SESSION_READ_ONLY_EXISTS', 'none', 'refused'],
  [0xb8, 'CKR_SESSION_READ_WRITE_SO_EXISTS', 'none', 'refused'],
  [0xc0, 'CKR_SIGNATURE_INVALID', 'none', 'refused'],
  [0xc1, 'CKR_SIGNATURE_LEN_RANGE', 'none', 'refused'],
  [0xd0, 'CKR_TEMPLATE_INCOMPLETE', 'none', 'refused'],
  [0xd1, 'CKR_TEMPLATE_INCONSISTENT', 'none', 'refused'],
  [0xe0, 'CKR_TOKEN_NOT_PRESENT', 'module', 'unavailable'],
  [0xe1, 'CKR_TOKEN_NOT_RECOGNIZED', 'module', 'unavailable'],
  [0xe2, 'CKR_TOKEN_WRITE_PROTECTED', 'none', 'refused'],
  [0xf0, 'CKR_UNWRAPPING_KEY_HANDLE_INVALID', 'restore', 'unavailable'],
  [0xf1, 'CKR_UNWRAPPING_KEY_SIZE_RANGE', 'session', 'key-not-usable'],
  [0xf2, 'CKR_UNWRAPPING_KEY_TYPE_INCONSISTENT', 'session', 'key-not-usable'],
  [0x100, 'CKR_USER_ALREADY_LOGGED_IN', 'none', 'refused'],
  [0x101, 'CKR_USER_NOT_LOGGED_IN', 'restore', 'unavailable'],
  [0x102, 'CKR_USER_PIN_NOT_INITIALIZED', 'none', 'configuration'],
  [0x103, 'CKR_USER_TYPE_INVALID', 'none', 'configuration'],
  [0x104, 'CKR_USER_ANOTHER_ALREADY_LOGGED_IN', 'none', 'unavailable'],
  [0x105, 'CKR_USER_TOO_MANY_TYPES', 'none', 'unavailable'],
  [0x110, 'CKR_WRAPPED_KEY_INVALID', 'session', 'key-not-usable'],
  [0x112, 'CKR_WRAPPED_KEY_LEN_RANGE', 'session', 'key-not-usable'],
  [0x113, 'CKR_WRAPPING_KEY_HANDLE_INVALID', 'restore', 'unavailable'],
  [0x114, 'CKR_WRAPPING_KEY_SIZE_RANGE', 'none', 'refused'],
  [0x115, 'CKR_WRAPPING_KEY_TYPE_INCONSISTENT', 'none', 'refused'],
  [0x120, 'CKR_RANDOM_SEED_NOT_SUPPORTED', 'none', 'refused'],
  [0x121, 'CKR_RANDOM_NO_RNG', 'none', 'unsupported'],
  [0x130, 'CKR_DOMAIN_PARAMS_INVALID', 'none', 'refused'],
  [0x140, 'CKR_CURVE_NOT_SUPPORTED', 'none', 'unsupported'],
  [0x150, 'CKR_BUFFER_TOO_SMALL', 'none', 'refused'],
  [0x160, 'CKR_SAVED_STATE_INVALID', 'none', 'refused'],
  [0x170, 'CKR_INFORMATION_SENSITIVE', 'none', 'refused'],
  [0x180, 'CKR_STATE_UNSAVEABLE', 'none', 'refused'],
  [0x190, 'CKR_CRYPTOKI_NOT_INITIALIZED', 'module', 'unavailable'],
  [0x191, 'CKR_CRYPTOKI_ALREADY_INITIALIZED', 'none', 'refused'],
  [0x1a0, 'CKR_MUTEX_BAD', 'module', 'unavailable'],
  [0x1a1, 'CKR_MUTEX_NOT_LOCKED', 'module', 'unavailable'],
  [0x1b0, 'CKR_NEW_PIN_MODE', 'latch', 'pin-refused'],
  [0x1b1, 'CKR_NEXT_OTP', 'latch', 'pin-refused'],
  [0x1b5, 'CKR_EXCEEDED_MAX_ITERATIONS', 'none', 'refused'],
  [0x1b6, 'CKR_FIPS_SELF_TEST_FAILED', 'module', 'unavailable'],
  [0x1b7, 'CKR_LIBRARY_LOAD_FAILED', 'module', 'unavailable'],
  [0x1b8, 'CKR_PIN_TOO_WEAK', 'latch', 'pin-refused'],
  [0x1b9, 'CKR_PUBLIC_KEY_INVALID', 'none', 'unavailable'],
  [0x200, 'CKR_FUNCTION_REJECTED', 'none', 'refused'],
  [0x201, 'CKR_TOKEN_RESOURCE_EXCEEDED', 'room', 'unavailable'],
  [0x202, 'CKR_OPERATION_CANCEL_FAILED', 'session', 'unavailable'],
  [0x203, 'CKR_KEY_EXHAUSTED', 'session', 'unavailable'],
  [0x204, 'CKR_PENDING', 'session', 'unavailable'],
  [0x205, 'CKR_SESSION_ASYNC_NOT_SUPPORTED', 'none', 'unsupported'],
  [0x206, 'CKR_SEED_RANDOM_REQUIRED', 'none', 'unavailable'],
  [0x207, 'CKR_OPERATION_NOT_VALIDATED', 'none', 'refused'],
  [0x208, 'CKR_TOKEN_NOT_INITIALIZED', 'none', 'configuration'],
  [0x209, 'CKR_PARAMETER_SET_NOT_SUPPORTED', 'none', 'unsupported'],
];

/** The table, by CK_RV. */
export const returnValues: ReadonlyMap<number, ReturnValue> = new Map(rows.map(([rv, name, remedy, kind]) => [rv, { name, remedy, kind }]));

/** The row of a CK_RV; vendor-defined and unknown numbers get a row without remedy, with the number in hexadecimal. */
export function findReturnValue(rv: number): ReturnValue {
  return returnValues.get(rv) ?? { name: `CKR 0x${rv.toString(16)}`, remedy: 'none', kind: 'refused' };
}

/** A PKCS#11 call that did not return CKR_OK, or returned it with a wrong answer. Internal to this floor; other floors see HsmError. */
export class TokenError extends Error {
  override readonly name = 'TokenError';
  readonly rv: number;
  readonly fn: string;

  /** `about`: the requested item, for functions that return many kinds */
  constructor(rv: number, fn: string, about?: string) {
    super(`${fn}${about === undefined ? '' : ` (${about})`} returned ${findReturnValue(rv).name}`);
    this.rv = rv;
    this.fn = fn;
  }
}

/** Returns the answer of `ask`; false also if the token refuses the call. */
export function accepts(ask: () => boolean): boolean {
  try {
    return ask();
  } catch (error) {
    if (error instanceof TokenError) return false;
    throw error;
  }
}

/**
 * Kinds that only some functions can report. From any other function such a number is a fault of the token: a signature that "does not
 * decrypt" says nothing about what the caller sent, and one with a "wrong PIN" must not stop the service until a person has come.
 */
const speakers: Readonly<Partial<Record<HsmErrorKind, readonly string[]>>> = {
  'pin-refused': ['C_Login', 'C_SetPIN', 'C_InitPIN', 'C_InitToken'],
  'decryption-failed': ['C_Decrypt'],
  'key-not-usable': ['C_UnwrapKey'],
};

export const CKR_DEVICE_ERROR = 0x30;
/**
 * Functions that judge a caller's input. Some modules report a device error for all input that they do not accept (kryoptic: ciphertexts,
 * points, wrapped keys): without the canary test, one caller could have the host replaced at will.
 */
const judges: ReadonlySet<string> = new Set(['C_Decrypt', 'C_UnwrapKey', 'C_DeriveKey', 'C_DecapsulateKey', 'C_Verify', 'C_CreateObject']);

/** Returns the remedy after a failed call. */
export function remedyOf({ rv, fn }: TokenError): Remedy {
  return rv === CKR_DEVICE_ERROR && judges.has(fn) ? 'doubt' : findReturnValue(rv).remedy;
}

/** The kind of HsmError that a failed call becomes. */
export function kindOf({ rv, fn }: TokenError): HsmErrorKind {
  const { kind } = findReturnValue(rv);
  return speakers[kind]?.includes(fn) === false ? 'unavailable' : kind;
}

/**
 * Turns an error of the binding into a TokenError. C_CreateObject, C_CopyObject and C_FindObjects throw a plain Error with the number only
 * in its text. An error without a number is a bug and is returned unchanged.
 */
export function asTokenError(fn: string, thrown: unknown, about?: string): unknown {
  if (typeof thrown !== 'object' || thrown === null) return thrown;
  const { code, message } = thrown as { code?: unknown; message?: unknown };
  if (typeof code === 'number' && code !== 0) return new TokenError(code, fn, about);
  const found = typeof message === 'string' ? /CKR_\w+:(\d+)/.exec(message) : null;
  return found === null ? thrown : new TokenError(Number(found[1]), fn, about);
}
