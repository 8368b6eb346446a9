// Answers a message: its items one after another, each a request of its own to the services, and what a batch says about failures.
import type { Log } from '../../../core/base/context.ts';
import { reasonOf, ServiceError } from '../../../core/base/errors.ts';
import type { KmipCall, KmipClient, ObjectService } from '../objects/object-service.ts';
import type { Done, Operation } from './operation.ts';
import { operationOf } from './table.ts';
import { resultReasonOf } from '../errors.ts';
import { enumerations } from '../ttlv/enumerations.ts';
import { KmipMalformed } from '../ttlv/malformed.ts';
import { enumerated, text } from '../ttlv/item.ts';
import { readItem } from '../ttlv/read.ts';
import { writeItem } from '../ttlv/write.ts';
import { KmipFailure, type Reason } from '../messages/failure.ts';
import { operationText, readRequest, type Request, type RequestItem, RequestRefused } from '../messages/request.ts';
import { type Outcome, responseItem, writeResponse } from '../messages/response.ts';
import { leastVersion, type Version, versionText } from '../messages/versions.ts';

export type Answering = {
  readonly objects: ObjectService;
  readonly log: Log;
  readonly now: () => Temporal.Instant;
};

/** The sender of a message. */
export type Sender = Pick<KmipCall, 'certificate' | 'clientIp' | 'signal'> & {
  /** reserves memory for an answer that is so long; false: there is too little */
  readonly takeRoom?: (octets: number, client: KmipClient) => boolean;
};

/**
 * `closes`: the connection ends with it. `refused`: nobody has the certificate, or the entry of it, `client`, demands another username and
 * password.
 */
export type Answered = {
  readonly octets: Buffer;
  readonly closes: boolean;
  readonly refused?: 'kmip-client-unknown' | 'kmip-credentials-wrong' | 'rate-limited';
  readonly client?: KmipClient;
};

/** Most octets of an answer, whatever the client takes. */
const mostOctets = 16 << 20;
/** Octets of the header of an answer, but for the Client Correlation Value that it gives back. */
const headOctets = 256;

/** Answers one message. Never throws. */
export async function answer(answering: Answering, octets: Uint8Array, sender: Sender): Promise<Answered> {
  try {
    const request = readRequest(readItem(octets));
    const client = answering.objects.clientOf(sender.certificate);
    if (client === undefined) return refusedAll(answering, request, unknownClient, 'kmip-client-unknown');
    const problem = await answering.objects.judgeCredentials(client, request.header.password, sender.clientIp);
    if (problem !== undefined)
      return { ...refusedAll(answering, request, problem === 'rate-limited' ? tooManyGuesses : wrongCredentials, problem), client };
    return await new Batch(answering, request, callOf(request, client, sender), sender.takeRoom).answer();
  } catch (error) {
    const { version, failure } = refusalOf(error, answering.log);
    return { octets: refusedWhole(version, failure, answering.now()), closes: !(error instanceof RequestRefused) };
  }
}

/** The answer to what is not a message. `problem` follows "The message ". */
export function malformed(problem: string, now: Temporal.Instant, reason: Reason = 'InvalidMessage'): Buffer {
  return refusedWhole(leastVersion, new KmipFailure(reason, `The message ${problem}.`), now);
}

function refusedWhole(version: Version, failure: KmipFailure, now: Temporal.Instant): Buffer {
  return writeResponse({ version, now }, [refused(undefined, failed(failure))]);
}

const unknownClient = new KmipFailure(
  'AuthenticationNotSuccessful',
  'No KMIP client has this certificate: it is not on record, or it is disabled, expired or revoked.',
);

const tooManyGuesses = new KmipFailure(
  'AuthenticationNotSuccessful',
  'Too many wrong passwords have come from this address in the last minute.',
);

const wrongCredentials = new KmipFailure(
  'AuthenticationNotSuccessful',
  'The client must give its username and password in Authentication, beside its certificate.',
);

function refusalOf(error: unknown, log: Log): { readonly version: Version; readonly failure: KmipFailure } {
  if (error instanceof RequestRefused) return { version: error.version ?? leastVersion, failure: error.failure };
  if (error instanceof KmipMalformed)
    return { version: leastVersion, failure: new KmipFailure('InvalidMessage', `The message ${error.message}.`) };
  log.error('a KMIP message was not answered', { error: reasonOf(error) });
  return { version: leastVersion, failure: new KmipFailure('GeneralFailure', 'The request failed in the appliance: see its log.') };
}

function callOf({ header }: Request, client: KmipClient, { takeRoom: _takeRoom, ...sender }: Sender): KmipCall {
  return { client, ...sender, userAgent: `KMIP ${versionText(header.version)}` };
}

function refusedAll(
  { now }: Answering,
  { header, items }: Request,
  failure: KmipFailure,
  code: NonNullable<Answered['refused']>,
): Answered {
  const answers = items.map((item) => refused(item, failed(failure)));
  return { octets: writeResponse({ ...header, now: now() }, answers), closes: true, refused: code };
}

type Failure = Extract<Outcome, { readonly status: 'OperationFailed' }>;

function failed({ reason, message }: KmipFailure): Failure {
  return { status: 'OperationFailed', reason: enumerations.ResultReason[reason], message };
}

/** An item that is done, until the batch is. */
type Finished = { readonly asked: RequestItem; readonly done: Done; readonly at: number };

class Batch {
  readonly #answering: Answering;
  readonly #request: Request;
  readonly #call: KmipCall;
  readonly #takeRoom: Sender['takeRoom'];
  readonly #items: Uint8Array[] = [];
  readonly #finished: Finished[] = [];
  #placeholder: string | undefined;
  #octets: number;

  constructor(answering: Answering, request: Request, call: KmipCall, takeRoom: Sender['takeRoom']) {
    this.#takeRoom = takeRoom;
    this.#answering = answering;
    this.#request = request;
    this.#call = call;
    this.#octets = headOctets + Buffer.byteLength(request.header.clientCorrelation ?? '');
  }

  async answer(): Promise<Answered> {
    const { header, items } = this.#request;
    const refusal = this.#refusalOfAll();
    for (const asked of items) {
      // Nobody reads the rest.
      if (this.#call.signal?.aborted === true) {
        if (header.onError === 'Undo') await this.#undo();
        break;
      }
      const { item, isDone } = refusal === undefined ? await this.#run(asked) : { item: refused(asked, failed(refusal)), isDone: false };
      this.#octets += item.length;
      this.#items.push(item);
      if (isDone || header.onError === 'Continue') continue;
      if (header.onError === 'Undo') await this.#undo();
      break;
    }
    return { octets: writeResponse({ ...header, now: this.#answering.now() }, this.#items), closes: false };
  }

  /** The reason for which nothing of the batch is done. */
  #refusalOfAll(): KmipFailure | undefined {
    const { header, items } = this.#request;
    if (header.onlyAsynchronous)
      return new KmipFailure('FeatureNotSupported', 'Answers are synchronous: Asynchronous Indicator must not be Mandatory.');
    if (header.onError !== 'Undo') return undefined;
    const final = items.slice(0, -1).find((item) => isFinal(item, header.version));
    if (final === undefined) return undefined;
    return new KmipFailure(
      'FeatureNotSupported',
      `${operationText(final)} cannot be undone: with Undo it may only be the last operation of a batch.`,
    );
  }

  /** Runs an operation. One that is answered as failed was not done, or is taken back. */
  async #run(asked: RequestItem): Promise<{ readonly item: Uint8Array; readonly isDone: boolean }> {
    const { objects } = this.#answering;
    const { version } = this.#request.header;
    try {
      this.#requireRoom(writeItem(responseItem(asked, leastDone)).length);
      const operation = this.#operationOf(asked);
      const done = await operation.run({ objects, call: this.#call, version, placeholder: this.#placeholder }, asked.payload);
      const item = await this.#written(asked, done);
      if (operation.keepsPlaceholder !== true) this.#placeholder = done.placeholder;
      this.#finished.push({ asked, done, at: this.#items.length });
      return { item, isDone: true };
    } catch (error) {
      // The operations behind it would be done to another object than the client means.
      this.#placeholder = undefined;
      return { item: refused(asked, this.#failureOf(error, asked)), isDone: false };
    }
  }

  #operationOf(asked: RequestItem): Operation {
    const { version } = this.#request.header;
    if (asked.hasCriticalExtension)
      throw new KmipFailure('FeatureNotSupported', 'The Message Extension is not known, and its Criticality Indicator is true.');
    const operation = operationOf(asked.operation, version);
    if (operation === undefined)
      throw new KmipFailure(
        'OperationNotSupported',
        `The operation ${operationText(asked)} is not offered in ${versionText(version)}: see Query.`,
      );
    return operation;
  }

  #failureOf(error: unknown, asked: RequestItem): Failure {
    if (error instanceof KmipFailure) return failed(error);
    if (error instanceof ServiceError) return { status: 'OperationFailed', reason: resultReasonOf(error), message: error.message };
    if (this.#call.signal?.aborted === true) return failed(new KmipFailure('GeneralFailure', 'The client has gone.'));
    this.#answering.log.error('a KMIP operation failed', { operation: operationText(asked), error: reasonOf(error) });
    return failed(new KmipFailure('GeneralFailure', 'The operation failed in the appliance: see its log.'));
  }

  /** Writes the answer of what is done. Takes it back, and throws, where the answer does not reach the client. */
  async #written(asked: RequestItem, done: Done): Promise<Uint8Array> {
    try {
      const item = writeItem(responseItem(asked, { status: 'Success', payload: done.payload }));
      this.#requireRoom(item.length);
      if (this.#takeRoom?.(this.#octets + item.length, this.#call.client) === false) throw crowded();
      await done.beforeAnswer?.();
      return item;
    } catch (error) {
      await this.#takeBack(asked, done);
      throw error;
    }
  }

  #requireRoom(more: number): void {
    const most = Math.min(mostOctets, this.#request.header.maximumResponseSize ?? mostOctets);
    if (this.#octets + more > most) throw tooLong(this.#octets + more, most);
  }

  /** Takes back what the batch has done, the last first. What cannot be taken back stays answered as done. */
  async #undo(): Promise<void> {
    for (const { asked, done, at } of this.#finished.toReversed())
      if (await this.#takeBack(asked, done)) this.#items[at] = writeItem(responseItem(asked, { status: 'OperationUndone' }));
  }

  async #takeBack(asked: RequestItem, done: Done): Promise<boolean> {
    try {
      await done.undo?.();
      return true;
    } catch (error) {
      const details = { operation: operationText(asked), error: reasonOf(error) };
      this.#answering.log.warn('a KMIP operation of a batch could not be undone', details);
      return false;
    }
  }
}

/** The shortest answer of an operation that changes something: an object, and its type. */
const leastDone: Outcome = {
  status: 'Success',
  payload: [enumerated('ObjectType', 1), text('UniqueIdentifier', '0'.repeat(36))],
};

function isFinal({ operation, payload }: RequestItem, version: Version): boolean {
  const row = operationOf(operation, version);
  return typeof row?.isFinal === 'function' ? row.isFinal(payload, version) : row?.isFinal === true;
}

function refused(asked: RequestItem | undefined, failure: Failure): Uint8Array {
  return writeItem(responseItem(asked, failure));
}

function crowded(): KmipFailure {
  return new KmipFailure('ResponseTooLarge', 'Other long answers are on their way: read those, and ask again, for less at a time.');
}

function tooLong(octets: number, most: number): KmipFailure {
  return new KmipFailure(
    'ResponseTooLarge',
    `The answer has ${octets} octets, and may have ${most}: ask for less, or raise Maximum Response Size, up to ${mostOctets}.`,
  );
}
