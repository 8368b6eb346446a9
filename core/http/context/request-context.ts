// One request and its one answer, the same for the API, EST and a sealed process: id, refusal, audit record, sending, and the handling
// of failures of any of these.
import { randomUUID } from 'node:crypto';
import type { AuditRecord } from '../../audit/record.ts';
import type { Clock, Log } from '../../base/context.ts';
import { fail, type ServiceError } from '../../base/errors.ts';
import { clusterUnavailable } from '../../base/unavailable.ts';
import { inCourseOf } from '../../base/async/last-resort.ts';
import { describeFault, isKeyAway, type Problems } from '../response/problem.ts';
import type { Exchange } from './exchange.ts';

/**
 * Answers that an isolated appliance, for which its cluster no longer waits, gives from the last state: uses of keys, if the administrator
 * allows them meanwhile; and the view of its own state.
 */
export type GoesOn = 'use' | 'view';

/** Conditions of answers from a store that is the replica of a shared one. */
export type Replica = {
  /** Tells whether answers from the store are allowed at this moment; with `goesOn` also by an isolated appliance. */
  mayAnswer(goesOn?: GoesOn): boolean;
  /** Resolves when every appliance has the state behind this answer; undefined if it has already. May reject. */
  untilSettled(): Promise<void> | undefined;
};

/** Environment shared by all requests of a server. */
export type RequestServer = {
  readonly clock: Clock;
  /** absent in a process without a log */
  readonly log?: Log | undefined;
  readonly problems: Problems;
  /** Tells whether the appliance waits for the PIN. */
  sealed(): boolean;
  /** absent: the store is not shared */
  readonly replica?: Replica | undefined;
  /** counts a request of a tenant; throws `quota-exceeded` if the tenant has used up a quota. Absent: no quotas */
  readonly admit?: ((tenantId: string) => void) | undefined;
  /** called with every answer, for metrics */
  readonly onAnswered?: ((answered: Answered) => void) | undefined;
};

/** One answered request. `route` is the path template, undefined for unknown paths, so that callers cannot make up new series. */
export type Answered = { readonly method: string; readonly route: string | undefined; readonly status: number; readonly seconds: number };

/** Parts of an audit record from the protocol. */
export type RecordParts = Pick<AuditRecord, 'kind' | 'occurredAt'> & {
  /** the caller, or the tenant alone */
  readonly owner: Pick<AuditRecord, 'tenant' | 'tenantId' | 'user' | 'userKind' | 'userSource' | 'identity' | 'accessor' | 'via'>;
  readonly path: string;
  readonly status: number;
  readonly code: string | undefined;
};

/**
 * A request from its arrival to its answer. Subclasses define the answers and records of a protocol; the sequence of steps
 * is defined here. No method throws: they are called by listeners.
 */
export abstract class RequestContext<
  Answer extends { readonly status: number; readonly last?: () => Promise<void> },
  Ends extends Exchange = Exchange,
> {
  readonly exchange: Ends;
  readonly requestId = randomUUID();
  readonly #server: RequestServer;
  readonly #startedMs: number;
  #isConcluded = false;

  constructor(server: RequestServer, exchange: Ends) {
    this.#server = server;
    this.exchange = exchange;
    this.#startedMs = server.clock.monotonicMs();
  }

  /** Address of the client. */
  get clientIp(): string {
    return this.exchange.clientIp;
  }

  /** The User-Agent header, as far as an audit record takes it. */
  get userAgent(): string {
    return (this.exchange.headers['user-agent'] ?? '').slice(0, 256);
  }

  /** Runs the work of the request and answers with its result. An error refuses it, also one thrown by its listeners and timers. */
  serve(work: () => unknown): void {
    if (!this.#mayAnswer()) return this.refuse(clusterUnavailable('cut-off'));
    let result: unknown;
    try {
      result = inCourseOf((error) => this.refuse(error), work);
    } catch (error) {
      return this.refuse(error);
    }
    if (result instanceof Promise) {
      result.then(
        (value: unknown) => this.#succeed(value),
        (error: unknown) => this.refuse(error),
      );
    } else this.#succeed(result);
  }

  /** Answers with the refusal of an error. Does nothing if the request has its answer. */
  refuse(thrown: unknown): void {
    if (this.#isConcluded) return;
    try {
      const refusal = this.#refusalOf(thrown);
      // Another appliance may have made what is missing here: a token, a policy.
      const error = refusal.status < 500 && this.goesOn === 'view' && this.#isIsolated ? clusterUnavailable('cut-off') : refusal;
      this.#logFault(error);
      this.#conclude(this.answerOf(error), error);
    } catch (fault) {
      this.#giveUp(fault);
    }
  }

  /** Series of metrics in which it is counted. */
  protected abstract get series(): Pick<Answered, 'method' | 'route'>;
  /** Place of a fault, for the log. */
  protected abstract get place(): string;
  /** Formats the result of the work as an answer. */
  protected abstract formatAnswer(value: unknown): Answer;
  /** Formats a refusal as an answer. */
  protected abstract answerOf(error: ServiceError): Answer;
  /** Writes the audit record of an answer; rejects if it cannot be written. Undefined if an answer leaves no record. */
  protected abstract record(status: number, error: ServiceError | undefined): Promise<void> | undefined;
  /** Tells whether an answer may be sent without its record: it changed nothing and revealed nothing. */
  protected abstract mayGoUnrecorded(status: number): boolean;
  /** Sends an answer; returns a promise for a stream. */
  protected abstract send(answer: Answer): Promise<void> | undefined;
  /** True if the answer depends on the store, which other appliances may have changed. */
  protected get restsOnStore(): boolean {
    return true;
  }
  /** Reason for which an isolated appliance answers it; undefined: it does not. */
  protected get goesOn(): GoesOn | undefined {
    return undefined;
  }
  /** Called once, when the answer is decided. */
  protected onConcluded(): void {}
  /** Translates an error for this protocol, if it differs from the API. */
  protected translated(error: ServiceError): ServiceError {
    return error;
  }

  /** The audit record of this request. */
  protected recordOf({ kind, occurredAt, owner, path, status, code }: RecordParts): AuditRecord {
    return {
      kind,
      occurredAt,
      requestId: this.requestId,
      ...owner,
      path,
      method: this.exchange.method,
      status,
      ...(code === undefined ? noCode : { code }),
      requestTimeMs: Math.round(this.#elapsedMs() * 1_000) / 1_000,
      clientIp: this.clientIp,
      userAgent: this.userAgent,
      ...(this.#isIsolated ? isolated : undefined),
    };
  }

  #succeed(value: unknown): void {
    if (this.#isConcluded) return;
    let answer: Answer;
    try {
      answer = this.formatAnswer(value);
    } catch (error) {
      return this.refuse(error);
    }
    try {
      this.#conclude(answer, undefined);
    } catch (fault) {
      this.#giveUp(fault);
    }
  }

  #refusalOf(thrown: unknown): ServiceError {
    const error = this.translated(this.#server.problems.serviceError(thrown));
    // A seal removes the keys from running requests: their errors are not faults.
    return error.status >= 500 && this.#server.sealed() ? fail('sealed') : error;
  }

  /** Logs faults; also refusals for missing keys and tokens, which only the administrator of the HSM can repair. */
  #logFault(error: ServiceError): void {
    const { code, status, details } = error;
    if (!isKeyAway(error) && (status < 500 || (code !== 'internal-error' && details.cause === undefined))) return;
    this.#server.log?.error(`${code} in ${this.place}`, { requestId: this.requestId, ...describeFault(details.cause ?? error) });
  }

  /** Answers once the record is durable; refuses if it cannot be recorded, unless it may go unrecorded. */
  #conclude(answer: Answer, error: ServiceError | undefined): void {
    this.#isConcluded = true;
    this.onConcluded();
    const recorded = this.record(answer.status, error);
    if (recorded === undefined) return this.#sendInTime(answer);
    recorded.then(
      () => this.#sendAfterLast(answer),
      () => this.#sendUnrecorded(answer),
    );
  }

  #sendAfterLast(answer: Answer): void {
    if (answer.last === undefined) return this.#sendInTime(answer);
    answer.last().then(
      () => this.#sendInTime(answer),
      (fault: unknown) => this.#giveUp(fault),
    );
  }

  /** Sends an answer when the store allows it; from 500 up it contains nothing of the store. */
  #sendInTime(answer: Answer): void {
    const settled = answer.status >= 500 || !this.restsOnStore || this.#isIsolated ? undefined : this.#server.replica?.untilSettled();
    if (settled === undefined) return this.#sendIfValid(answer);
    settled.then(
      () => this.#sendIfValid(answer),
      () => this.#refuseLate(),
    );
  }

  #sendIfValid(answer: Answer): void {
    if (answer.status >= 500 || this.#mayAnswer()) this.#send(answer);
    else this.#refuseLate();
  }

  #refuseLate(): void {
    try {
      const late = clusterUnavailable('late');
      const refusal = this.answerOf(this.translated(late));
      const send = (): void => this.#send(refusal);
      // The record of the effect exists; this one says that the caller did not get the answer.
      (this.record(refusal.status, late) ?? Promise.resolve()).then(send, send);
    } catch (fault) {
      this.#giveUp(fault);
    }
  }

  #mayAnswer(): boolean {
    const { replica } = this.#server;
    return replica === undefined || !this.restsOnStore || replica.mayAnswer(this.goesOn);
  }

  /** True if it is answered from the last state of an isolated appliance. */
  get #isIsolated(): boolean {
    const { goesOn } = this;
    const { replica } = this.#server;
    return goesOn !== undefined && replica !== undefined && !replica.mayAnswer() && replica.mayAnswer(goesOn);
  }

  #sendUnrecorded(answer: Answer): void {
    const isRefusal = answer.status >= 400 && answer.status < 500;
    let sent: Answer;
    try {
      sent = this.mayGoUnrecorded(answer.status) ? answer : this.answerOf(fail('audit-unavailable', isRefusal ? {} : { mayBeDone: true }));
    } catch (fault) {
      return this.#giveUp(fault);
    }
    this.#sendInTime(sent);
  }

  #send(answer: Answer): void {
    try {
      const sending = this.send(answer);
      this.#count(answer);
      sending?.catch((fault: unknown) => this.#giveUp(fault));
    } catch (fault) {
      this.#giveUp(fault);
    }
  }

  /** Handles a fault while answering: a 500 with a record if nothing has been sent yet, otherwise the end of the connection. */
  #giveUp(fault: unknown): void {
    this.#isConcluded = true;
    this.#server.log?.error('a request could not be answered', { requestId: this.requestId, ...describeFault(fault) });
    try {
      this.onConcluded();
      if (this.exchange.isAnswering) return this.exchange.break();
      const error = fail('internal-error');
      const refusal = this.answerOf(error);
      const send = (): void => this.#sendLast(refusal);
      // An effect has its record already; this one says that the caller did not get the answer.
      this.#recordIfPossible(refusal.status, error).then(send, send);
    } catch {
      this.exchange.break();
    }
  }

  /** Rejects, as `record` does; also if that throws, which may be the fault of which the record is. */
  async #recordIfPossible(status: number, error: ServiceError): Promise<void> {
    await this.record(status, error);
  }

  /** Sends an answer, or ends the connection. */
  #sendLast(answer: Answer): void {
    try {
      const sending = this.send(answer);
      this.#count(answer);
      sending?.catch(() => this.exchange.break());
    } catch {
      this.exchange.break();
    }
  }

  #count({ status }: Answer): void {
    this.#server.onAnswered?.({ ...this.series, status, seconds: this.#elapsedMs() / 1_000 });
  }

  #elapsedMs(): number {
    return this.#server.clock.monotonicMs() - this.#startedMs;
  }
}

const noCode = {} as const;
const isolated = { isolated: true } as const;
