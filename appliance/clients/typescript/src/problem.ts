// Errors with which a call rejects: a refusal of the appliance, no answer from any address, or no time left.

/** One thing that was wrong with a request. */
export type ProblemItem = { readonly 'error-message': string; readonly 'error-info'?: string };

export type ProblemParts = {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly requestId?: string | undefined;
  readonly items?: readonly ProblemItem[];
  readonly retryAfterSeconds?: number | undefined;
  readonly document?: unknown;
};

/**
 * The appliance refused, or failed (RFC 9457). `code` is the contract: it never changes its meaning. `unexpected-answer` is the one code of
 * this library: the answer came from something else than an appliance, for example a proxy.
 */
export class Problem extends Error {
  override readonly name = 'Problem';
  /** the HTTP status */
  readonly status: number;
  readonly code: string;
  /** for people: the fault, and its remedy */
  readonly detail: string;
  /** finds the request in the logs and the audit trail of the appliance */
  readonly requestId: string | undefined;
  /** one item for each thing that is wrong */
  readonly items: readonly ProblemItem[];
  readonly retryAfterSeconds: number | undefined;
  /** the answer as it was: JSON, or the first characters of a text */
  readonly document: unknown;

  constructor({ status, code, detail, requestId, items = [], retryAfterSeconds, document }: ProblemParts) {
    super(`${status} ${code}: ${detail}${requestId === undefined ? '' : ` (request-id ${requestId})`}`);
    this.status = status;
    this.code = code;
    this.detail = detail;
    this.requestId = requestId;
    this.items = items;
    this.retryAfterSeconds = retryAfterSeconds;
    this.document = document;
  }
}

/**
 * Other people were asked to approve the request, which was not done. When they have, send it once more by `client.withApproval(id)`.
 */
export class AskedForApproval extends Problem {
  /** names the request for approval */
  readonly id: string;
  /** number of people who must approve */
  readonly needed: number;
  /** end of the time for their approval */
  readonly expires: string;
  /** six words for the whole request, which approvers compare */
  readonly words: string;

  constructor(document: { readonly id: string; readonly needed: number; readonly expires: string; readonly 'digest-words': string }) {
    const { id, needed, expires, 'digest-words': words } = document;
    super({ status: 202, code: 'approval-asked', detail: `waits for ${needed} approvals until ${expires}: ${id} (${words})`, document });
    this.id = id;
    this.needed = needed;
    this.expires = expires;
    this.words = words;
  }
}

/**
 * No address gave an answer. `failures` has the reason for each attempt. With `mayHaveRun` the request may have reached the appliance:
 * check the state before sending it again.
 */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  readonly failures: readonly ConnectionFailure[];
  readonly mayHaveRun: boolean;

  constructor(failures: readonly ConnectionFailure[], mayHaveRun: boolean) {
    const reasons = [...new Set(failures.map(({ address, error }) => `${address}: ${reasonOf(error)}`))];
    super(reasons.join('; '), { cause: failures.at(-1)?.error });
    this.failures = failures;
    this.mayHaveRun = mayHaveRun;
  }
}

export type ConnectionFailure = { readonly address: string; readonly error: unknown };

/** The time for the call is over. `cause` is the last refusal or failure, if there was one. */
export class TimeLimitError extends Error {
  override readonly name = 'TimeLimitError';

  constructor(timeoutMs: number, cause?: unknown) {
    super(`no answer within ${timeoutMs} ms`, cause === undefined ? undefined : { cause });
  }
}

/** `fetch` hides the reason in the cause, and an address with several numbers has several. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.map(reasonOf).join(', ');
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? reasonOf(error.cause) : error.message || errorCode(error) || error.name;
}

/** `ECONNREFUSED` */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
