// Sends a request until an answer comes that another attempt would not better: over several addresses, and again after a pause.
import { ConnectionError, errorCode, Problem, type ConnectionFailure } from '../problem.ts';
import { NotSentError, type Transport, type TransportAnswer } from '../transport/transport.ts';
import { readAsked, readProblem } from './answers.ts';
import type { Deadline } from './deadline.ts';

export type Attempt = {
  readonly method: string;
  /** with its query */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | undefined;
  readonly isIdempotent: boolean;
};

export type AttemptsOptions = {
  /** base URLs without a slash at the end; the first one is tried first */
  readonly addresses: readonly string[];
  readonly transport: Transport;
  /** rounds over all addresses after the first */
  readonly retries: number;
  /** A longer Retry-After is not waited for. */
  readonly mostRetryAfterMs: number;
};

type Read<T> = (answer: TransportAnswer) => T | Promise<T>;

type Failure = { readonly error: Problem | ConnectionError; readonly mayRepeat: boolean };

/** The status of a request that now waits for other people; nothing was done. */
const asksForApproval = 202;

const firstPauseMs = 200;
const longestPauseMs = 5_000;

export class Attempts {
  readonly #options: AttemptsOptions;
  /** the address that answered last */
  #preferred = 0;

  constructor(options: AttemptsOptions) {
    this.#options = options;
  }

  /**
   * Resolves with the result of `read` for the first answer with a status below 300. Rejects with Problem, ConnectionError, TimeLimitError
   * or the caller's reason.
   *
   * A request is sent again when it is known that nothing was done (the appliance answers 429, or 503 with Retry-After; no connection),
   * and, if it is idempotent, also when nothing is known of it.
   */
  async send<T>(attempt: Attempt, deadline: Deadline, read: Read<T>): Promise<T> {
    for (let round = 0; ; round += 1) {
      const outcome = await this.#tryAddresses(attempt, deadline, read);
      if ('value' in outcome) return outcome.value;
      const { error, mayRepeat } = outcome;
      deadline.note(error);
      const pauseMs = this.#pauseAfter(error, round);
      if (!mayRepeat || round >= this.#options.retries || pauseMs === undefined) throw error;
      // Waiting longer than there is time would only hide the reason.
      if (pauseMs >= deadline.remainingMs) throw error;
      await deadline.pause(pauseMs);
    }
  }

  /** One attempt at each address that may be tried. */
  async #tryAddresses<T>(attempt: Attempt, deadline: Deadline, read: Read<T>): Promise<{ readonly value: T } | Failure> {
    const { addresses } = this.#options;
    const failures: ConnectionFailure[] = [];
    let problem: Problem | undefined;
    let mayHaveRun = false;
    const first = this.#preferred;
    for (let step = 0; step < addresses.length; step += 1) {
      const index = (first + step) % addresses.length;
      const address = addresses[index] ?? '';
      const outcome = await this.#tryAddress(address, attempt, deadline, read);
      if ('value' in outcome) {
        this.#preferred = index;
        return outcome;
      }
      if (outcome.error instanceof Problem) {
        problem = outcome.error;
        if (!mayRepeatAfter(problem, attempt)) {
          this.#preferred = index;
          return { error: problem, mayRepeat: false };
        }
        // Every address would count the same caller.
        if (problem.status === 429) break;
        continue;
      }
      failures.push({ address, error: outcome.error });
      // A wrong identity of the server is a matter for a person: another address would hide it.
      if (isDistrusted(outcome.error)) return { error: new ConnectionError(failures, mayHaveRun), mayRepeat: false };
      if (wasNotSent(outcome.error)) continue;
      mayHaveRun = true;
      if (!attempt.isIdempotent) return { error: new ConnectionError(failures, true), mayRepeat: false };
    }
    if (problem !== undefined) return { error: problem, mayRepeat: true };
    return { error: new ConnectionError(failures, mayHaveRun), mayRepeat: true };
  }

  async #tryAddress<T>(
    address: string,
    { method, path, headers, body }: Attempt,
    { signal }: Deadline,
    read: Read<T>,
  ): Promise<{ readonly value: T } | { readonly error: unknown }> {
    signal.throwIfAborted();
    try {
      const answer = await this.#options.transport.send({ method, url: address + path, headers, body, signal });
      if (answer.status === asksForApproval) return { error: await readAsked(answer) };
      return answer.status < 300 ? { value: await read(answer) } : { error: await readProblem(answer) };
    } catch (error) {
      // The end of the call, not a failure of the address.
      signal.throwIfAborted();
      return { error };
    }
  }

  /** With jitter, so that callers that failed together do not come together again. Undefined when the server asks for too long a pause. */
  #pauseAfter(error: Problem | ConnectionError, round: number): number | undefined {
    const askedMs = error instanceof Problem && error.retryAfterSeconds !== undefined ? error.retryAfterSeconds * 1_000 : 0;
    if (askedMs > this.#options.mostRetryAfterMs) return undefined;
    const ownMs = Math.min(longestPauseMs, firstPauseMs * 2 ** round);
    return Math.max(askedMs * (1 + Math.random() / 10), ownMs * (0.5 + Math.random() / 2));
  }
}

/**
 * Tells whether the appliance says that it did nothing, or whether repeating does no harm. An answer of another server, such as a proxy,
 * does not tell.
 */
function mayRepeatAfter({ status, code, retryAfterSeconds }: Problem, { isIdempotent }: Attempt): boolean {
  if (code !== 'unexpected-answer' && (status === 429 || (status === 503 && retryAfterSeconds !== undefined))) return true;
  return isIdempotent && (status === 429 || status === 502 || status === 503 || status === 504);
}

/** Tells whether it is known that nothing of the request was sent: if a name has several addresses, to none of them. */
function wasNotSent(error: unknown): boolean {
  if (error instanceof NotSentError) return true;
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(wasNotSent);
  if (!(error instanceof Error)) return false;
  const { code, syscall } = error as Error & { readonly code?: string; readonly syscall?: string };
  // The same code from `read` or `write` is the end of a connection on which the request may have arrived.
  if (syscall !== undefined && beforeSending.has(syscall)) return true;
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || isDistrusted(error)) return true;
  return error.cause !== undefined && wasNotSent(error.cause);
}

/** System calls before there is a connection. */
const beforeSending: ReadonlySet<string> = new Set(['connect', 'bind', 'getaddrinfo', 'queryA', 'queryAaaa']);

/**
 * Tells whether the certificate is not that of a server that this client trusts. An alert of the server does not count: it comes after the
 * request.
 */
function isDistrusted(error: unknown): boolean {
  return causesOf(error).some((cause) =>
    /^(?:CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_CA|PATH_LENGTH_|ERR_TLS_CERT_)/.test(
      errorCode(cause) ?? '',
    ),
  );
}

function causesOf(error: unknown): readonly unknown[] {
  if (error instanceof AggregateError) return [error, ...error.errors.flatMap(causesOf)];
  return error instanceof Error && error.cause !== undefined ? [error, ...causesOf(error.cause)] : [error];
}
