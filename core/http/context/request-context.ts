// One request and its one answer, the same for the API, EST and a sealed process: id, refusal, audit record, sending, and what happens
// when any of these fails.
import { randomUUID } from 'node:crypto';
import type { AuditRecord } from '../../audit/record.ts';
import type { Clock, Log } from '../../base/context.ts';
import { fail, type ServiceError } from '../../base/errors.ts';
import { clusterUnavailable } from '../../cluster/unavailable.ts';
import { inCourseOf } from '../../base/async/last-resort.ts';
import { describeFault, isKeyAway, type Problems } from '../response/problem.ts';
import type { Exchange } from './exchange.ts';

/**
 * What an appliance that its cluster waits for no more answers from the last state: uses of keys, where the administrator allows that they go on
 * meanwhile; and the view of one that is cut off.
 */
export type GoesOn = 'use' | 'view';

/** What answers depend on where the store is the replica of one that others change, too. */
export type Replica = {
  /** Whether what is in the store may be answered at this moment, with `goesOn` also by an appliance that its cluster waits for no more. */
  mayAnswer(goesOn?: GoesOn): boolean;
  /** What an answer waits for, so that no other appliance can answer from an earlier state after it; undefined: nothing. May reject. */
  untilSettled(): Promise<void> | undefined;
};

/** What all requests of a server share. */
export type RequestServer = {
  readonly clock: Clock;
  /** absent in a process that keeps no log */
  readonly log?: Log | undefined;
  readonly problems: Problems;
  /** whether the appliance waits for the PIN */
  sealed(): boolean;
  /** absent: the store is its own */
  readonly replica?: Replica | undefined;
  /** Counts a request of a tenant; throws `quota-exceeded` when that has used up a quota. Absent: there are none. */
  readonly admit?: ((tenantId: string) => void) | undefined;
  /** Called with every answer, for metrics. */
  readonly onAnswered?: ((answered: Answered) => void) | undefined;
};

/** One answered request. `route` is the path template, undefined for unknown paths, so that callers cannot make up new series. */
export type Answered = { readonly method: string; readonly route: string | undefined; readonly status: number; readonly seconds: number };

/** What the protocols know of a request for its audit record. */
export type RecordParts = Pick<AuditRecord, 'kind' | 'occurredAt'> & {
  /** the caller, or the tenant alone */
  readonly owner: Pick<AuditRecord, 'tenant' | 'tenantId' | 'user' | 'userKind' | 'userSource' | 'accessor' | 'via'>;
  readonly path: string;
  readonly status: number;
  readonly code: string | undefined;
};

/**
 * A request from its arrival to its answer. Subclasses say how a protocol writes answers and what it records; what happens in which
 * order is decided here. No method throws: they are called by listeners.
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

  /** Answers with the refusal that an error stands for. A request that has its answer keeps it. */
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

  /** The series of metrics it counts for. */
  protected abstract get series(): Pick<Answered, 'method' | 'route'>;
  /** Where a fault happened, for the log. */
  protected abstract get place(): string;
  /** The answer of what the work returned. */
  protected abstract formatAnswer(value: unknown): Answer;
  /** The answer of a refusal. */
  protected abstract answerOf(error: ServiceError): Answer;
  /** Writes the audit record of an answer; rejects when it cannot be written. Undefined where an answer leaves no record. */
  protected abstract record(status: number, error: ServiceError | undefined): Promise<void> | undefined;
  /** Whether an answer may go out although its record could not be written: it changed nothing and revealed nothing. */
  protected abstract mayGoUnrecorded(status: number): boolean;
  /** Sends an answer; a promise is one that goes on. */
  protected abstract send(answer: Answer): Promise<void> | undefined;
  /** Whether the answer depends on the store, which others of a cluster may have changed. */
  protected get restsOnStore(): boolean {
    return true;
  }
  /** Why it is answered by an appliance that is cut off; undefined: it is not. */
  protected get goesOn(): GoesOn | undefined {
    return undefined;
  }
  /** Called once, when the answer is decided. */
  protected onConcluded(): void {}
  /** What an error means in this protocol, where that differs from the API. */
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
    // A seal takes the keys away from requests that run: their errors are no faults.
    return error.status >= 500 && this.#server.sealed() ? fail('sealed') : error;
  }

  /** Missing keys and tokens are logged although they are refusals: only the administrator of the HSM can repair that. */
  #logFault(error: ServiceError): void {
    const { code, status, details } = error;
    if (!isKeyAway(error) && (status < 500 || (code !== 'internal-error' && details.cause === undefined))) return;
    this.#server.log?.error(`${code} in ${this.place}`, { requestId: this.requestId, ...describeFault(details.cause ?? error) });
  }

  /** Nothing is answered before its record is durable; what cannot be recorded is refused, unless it may go unrecorded. */
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

  /** From 500 up nothing of the store is answered. */
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
      // The record of what was done is there; this one says that the caller was not told.
      (this.record(refusal.status, late) ?? Promise.resolve()).then(send, send);
    } catch (fault) {
      this.#giveUp(fault);
    }
  }

  #mayAnswer(): boolean {
    const { replica } = this.#server;
    return replica === undefined || !this.restsOnStore || replica.mayAnswer(this.goesOn);
  }

  /** Whether it is answered from the last state that an appliance had before it was cut off. */
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
      this.#server.onAnswered?.({ ...this.series, status: answer.status, seconds: this.#elapsedMs() / 1_000 });
      sending?.catch((fault: unknown) => this.#giveUp(fault));
    } catch (fault) {
      this.#giveUp(fault);
    }
  }

  /** The last resort, for faults while answering: a 500 where nothing has been sent yet, else the connection ends. */
  #giveUp(fault: unknown): void {
    this.#isConcluded = true;
    this.#server.log?.error('a request could not be answered', { requestId: this.requestId, ...describeFault(fault) });
    try {
      this.onConcluded();
      if (this.exchange.isAnswering) this.exchange.break();
      else this.send(this.answerOf(fail('internal-error')))?.catch(() => this.exchange.break());
    } catch {
      this.exchange.break();
    }
  }

  #elapsedMs(): number {
    return this.#server.clock.monotonicMs() - this.#startedMs;
  }
}

const noCode = {} as const;
const isolated = { isolated: true } as const;
