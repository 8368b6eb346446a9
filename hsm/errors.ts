// Errors of the HSM by kind, and the questions that callers ask about them; other floors import them from api.ts.

/**
 * The kinds of errors that callers distinguish:
 * `unsupported` no token offers the key type or mechanism · `unavailable` the token cannot be reached now (retry later) ·
 * `pin-refused` never retried · `decryption-failed` · `key-not-usable` blob of another record, or damaged ·
 * `key-missing` the token works, but the object of the key, or its wrapping key, is not in it ·
 * `token-not-configured` the stored key names a token that the configuration does not name ·
 * `invalid-key-data` the token or validation refused imported material · `refused` the token refused this request ·
 * `timeout` a job exceeded its deadline (the host was replaced) · `configuration` module, slot, label or PIN source is wrong.
 */
export type HsmErrorKind =
  | 'unsupported'
  | 'unavailable'
  | 'pin-refused'
  | 'decryption-failed'
  | 'key-not-usable'
  | 'key-missing'
  | 'token-not-configured'
  | 'invalid-key-data'
  | 'refused'
  | 'timeout'
  | 'configuration';

export class HsmError extends Error {
  override readonly name = 'HsmError';
  readonly kind: HsmErrorKind;
  /** CK_RV and name of the PKCS#11 call that failed, if one did */
  readonly rv: number | undefined;
  readonly fn: string | undefined;

  constructor(kind: HsmErrorKind, message: string, options: { rv?: number; fn?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.kind = kind;
    this.rv = options.rv;
    this.fn = options.fn;
  }
}

const withStore = 'restore the token from the backup that goes with the store';

/** Message about a token, or a group, that does not belong to the store. */
export function lacksWrappingKey(token: string, number: number): string {
  return `${token} has no wrapping key ${number}: ${withStore}`;
}

/** Tells whether a wrapping key is missing, and not just one key: the message then says what helps. */
export function isOwnKeyMissing(error: HsmError): boolean {
  return error.kind === 'key-missing' && error.message.endsWith(withStore);
}

/** Ends the message about a token without own keys. */
export const unprepared = 'it was not prepared for this service';

/** Tells whether a token is down because it has no keys yet: in a group it gets them. */
export function isUnprepared(reason: string | undefined): boolean {
  return reason?.endsWith(unprepared) === true;
}

const lostKinds: ReadonlySet<HsmErrorKind> = new Set(['key-missing', 'key-not-usable', 'token-not-configured']);

/** Tells whether a stored key is permanently unusable: its token does not have it or is not configured, or the blob is not the key's. */
export function isKeyLost(error: unknown): error is HsmError {
  return error instanceof HsmError && lostKinds.has(error.kind);
}

const makingKinds: ReadonlySet<HsmErrorKind> = new Set(['unavailable', 'key-missing']);

/** Tells whether another attempt to make a key may succeed: SoftHSM #485, #573 (a file read while it is written), or a replaced host. */
export function isMakingRepeatable(error: unknown): error is HsmError {
  return error instanceof HsmError && makingKinds.has(error.kind);
}
