// The mapping from thrown errors to problem documents (RFC 9457). From 500 up they have only fixed texts and an id.
import { defined } from '../../base/defined.ts';
import { HsmError, type HsmErrorKind, isOwnKeyMissing } from '../../../hsm/api.ts';
import type { Answer } from './answer.ts';
import { ServiceError, coreErrors, type ErrorDetails, type ErrorRow, type ErrorTable } from '../../base/errors.ts';

export const problemMediaType = 'application/problem+json';

/** Every code the service can answer with: the platform's rows and those of the plugins. */
export type Problems = {
  /** The refusal for a thrown value. Unknown ones are `internal-error`. */
  serviceError(thrown: unknown): ServiceError;
};

/** The mapping for a table; throws at start when two tables define one code differently. */
export function createProblems(tables: readonly ErrorTable[]): Problems {
  const rows = new Map<string, ErrorRow>(Object.entries(coreErrors));
  for (const [code, row] of tables.flatMap((table) => Object.entries(table))) {
    const known = rows.get(code);
    if (known !== undefined && known.status !== row.status)
      throw new Error(`the error code ${code} is defined twice with different statuses`);
    rows.set(code, row);
  }
  const make = (code: string, details: ErrorDetails): ServiceError => {
    const row = rows.get(code);
    return row === undefined
      ? new ServiceError('internal-error', coreErrors['internal-error'], details)
      : new ServiceError(code, row, details);
  };
  return {
    serviceError(thrown) {
      if (thrown instanceof ServiceError) return thrown;
      if (thrown instanceof HsmError) return make(codeOf(thrown), { cause: thrown });
      return make('internal-error', { cause: thrown });
    },
  };
}

/** The code of each kind of HSM error. A blob that does not load is our fault, not the caller's. */
const hsmCodes: Readonly<Record<HsmErrorKind, string>> = {
  unsupported: 'operation-not-supported',
  unavailable: 'hsm-unavailable',
  'pin-refused': 'hsm-unavailable',
  'decryption-failed': 'decryption-failed',
  'key-not-usable': 'internal-error',
  'key-missing': 'key-object-missing',
  'token-not-configured': 'token-not-configured',
  'invalid-key-data': 'invalid-key-data',
  refused: 'internal-error',
  timeout: 'hsm-unavailable',
  configuration: 'hsm-unavailable',
};

/**
 * Codes of errors with a CK_RV: the token is at fault, or its firmware or policy; neither the request nor this service. A blob reaches the token
 * only after its binding was checked: when it cannot be unwrapped, the wrapping key is another one.
 */
const tokenCodes: Readonly<Partial<Record<HsmErrorKind, string>>> = { refused: 'hsm-unavailable', 'key-not-usable': 'key-object-missing' };

function codeOf({ kind, rv }: HsmError): string {
  return (rv === undefined ? undefined : tokenCodes[kind]) ?? hsmCodes[kind];
}

function isRefusedByToken({ kind, rv }: HsmError): boolean {
  return kind === 'refused' && rv !== undefined;
}

/** Details of an HSM error, with the token's name in the configuration. */
function hsmDetail(error: HsmError): ErrorDetails {
  const { kind, message } = error;
  if (kind !== 'token-not-configured' && !isOwnKeyMissing(error)) return {};
  return { detail: `${message.charAt(0).toUpperCase()}${message.slice(1)}.` };
}

/** Details beyond the code: of the error itself, or of the token behind it. */
function detailsOf({ details }: ServiceError): ErrorDetails {
  return details.cause instanceof HsmError ? { ...details, ...hsmDetail(details.cause) } : details;
}

/** Text of an error below 500, as in the item of a batch or for another API. */
export function sentenceOf(error: ServiceError): string {
  return detailsOf(error).detail ?? error.message;
}

/** Remedy for a failing token, if its state says more than the code. */
const hsmAdvice: Readonly<Partial<Record<HsmErrorKind, string>>> = {
  'pin-refused': 'A token refused the configured PIN, which is not tried again: correct the PIN, then start keystored again.',
  timeout: 'The token did not answer in time: try again; /v1/state/system/health says whether it works at all.',
  configuration: 'A token or its configuration is not as it has to be: system:logs says what; mend that or hsm/tokens, then try again.',
};

/** Advice of an error from 500 up: a fixed text, never one of the occurrence. */
function adviceOf({ advice, details: { cause } }: ServiceError): string {
  if (!(cause instanceof HsmError)) return advice;
  return (isRefusedByToken(cause) ? refusedAdvice : hsmAdvice[cause.kind]) ?? advice;
}

const refusedAdvice =
  'A token refused what keystored asked of it: system:logs has the call and its return value under the request id. See that the token, its firmware and its policy allow it.';

/** The body of an error answer. From 500 up there is no detail, and the item of `errors` names the fix. */
export function formatProblem(error: ServiceError, requestId: string): Record<string, unknown> {
  const { detail, items = [] } = error.status < 500 ? detailsOf(error) : {};
  const findings = items.length > 0 ? items : [{ message: detail ?? adviceOf(error) }];
  return {
    type: `urn:keystore:error:${error.code}`,
    title: error.title,
    status: error.status,
    ...defined({ detail }),
    code: error.code,
    'request-id': requestId,
    errors: findings.map(formatItem),
  };
}

function formatItem(item: { readonly message: string; readonly info?: string }): Record<string, string> {
  return { 'error-message': item.message, ...defined({ 'error-info': item.info }) };
}

/** Tells whether the HSM lacks the key, or the configuration its token: the caller cannot repair that. */
export function isKeyAway({ code }: ServiceError): boolean {
  return code === 'key-object-missing' || code === 'token-not-configured';
}

/** An error as an answer with a problem document. */
export function problemAnswer(error: ServiceError, requestId: string): Answer {
  return {
    status: error.status,
    mediaType: problemMediaType,
    body: JSON.stringify(formatProblem(error, requestId)),
    headers: problemHeaders(error),
  };
}

/** Headers that belong to an error: Allow, Retry-After, WWW-Authenticate. */
export function problemHeaders(error: ServiceError): Record<string, string> {
  const { allow, retryAfterSeconds, mayBeDone = false } = error.details;
  const retryAfter = mayBeDone ? undefined : (retryAfterSeconds ?? (error.status === 503 ? 5 : undefined));
  return {
    ...defined({ allow: allow?.join(', ') }),
    ...(retryAfter === undefined ? {} : { 'retry-after': String(Math.max(1, Math.ceil(retryAfter))) }),
    // RFC 9110 section 15.5.2: a 401 names the scheme.
    ...(error.status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
  };
}

/**
 * A fault for system:logs: class, code and stack. The message only of errors that the engine throws itself, because others
 * quote their input.
 */
export function describeFault(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { thrown: typeof error };
  const quotes = !(
    error instanceof TypeError ||
    error instanceof RangeError ||
    error instanceof ReferenceError ||
    error instanceof HsmError
  );
  const { code, forLog } = error as { code?: unknown; forLog?: unknown };
  return {
    error: error.name,
    ...(typeof code === 'string' ? { code } : {}),
    ...(error instanceof HsmError ? { kind: error.kind, rv: error.rv, fn: error.fn } : {}),
    ...(quotes ? {} : { message: error.message.slice(0, 300) }),
    // The error's own text for the log, without input.
    ...(typeof forLog === 'string' ? { message: forLog.slice(0, 1_000) } : {}),
    at: frames(error),
    ...(error.cause === undefined ? {} : { cause: describeFault(error.cause) }),
  };
}

function frames(error: Error): readonly string[] {
  const lines = (error.stack ?? '').split('\n').map((line) => line.trim());
  return lines.filter((line) => line.startsWith('at ')).slice(0, 8);
}
