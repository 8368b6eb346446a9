// Takes in the body of a request: within the limit of its endpoint, large ones for callers with a token and within bounded memory.
import type { IncomingMessage } from 'node:http';
import type { Caller } from '../access/caller.ts';
import { JsonReader } from '../wire/json-reader.ts';
import { toKebab } from '../wire/schema.ts';
import type { ApiRequest } from './context/api-request.ts';
import type { AnyEndpoint } from './endpoint.ts';
import { readBody, untrustedBytes, type Admit } from './request/body.ts';
import type { BodyRoom } from './request/body-room.ts';
import { isLongReading } from './request/input.ts';

/** Octets a request to an endpoint may have: 4 MiB with a token, less without, unless it says otherwise (api 73). */
export function bodyLimitOf({ bodyLimit, access }: AnyEndpoint): number {
  return bodyLimit ?? (access === 'public' ? untrustedBytes : 4 * 1024 * 1024);
}

/** The bodies of one pipeline. */
export class BodyIntake {
  readonly #reader = new JsonReader();
  readonly #room: BodyRoom;
  readonly #callerOf: (request: IncomingMessage) => Caller | undefined;

  /** `callerOf` answers who sends a large body, before its turn; undefined for unauthenticated callers. */
  constructor(room: BodyRoom, callerOf: (request: IncomingMessage) => Caller | undefined) {
    this.#room = room;
    this.#callerOf = callerOf;
  }

  /** Calls `done` once the body is whole, or it is known that there will be none. Never for a client that disconnects before. */
  receive(context: ApiRequest, done: (context: ApiRequest) => void): void {
    const { endpoint } = context.route;
    readBody(context.request, bodyLimitOf(endpoint), this.#admitTo(context), (body) => {
      context.isRunning = true;
      context.body = body;
      if (body instanceof Uint8Array && isLongReading(endpoint, body)) void this.#readAhead(context, body, done);
      else done(context);
    });
  }

  /** The room is left when the answer is out, or when the client disconnects before the body is whole. */
  #admitTo(context: ApiRequest): Admit {
    return (octets, decide) => {
      const { endpoint } = context.route;
      const caller = endpoint.access === 'public' ? undefined : this.#callerOf(context.request);
      if (endpoint.access !== 'public' && caller === undefined) return decide('untrusted');
      context.leaveRoom = this.#room.enter(caller?.tenantId ?? '', octets * memoryPerOctet(endpoint), (isAdmitted) =>
        decide(isAdmitted ? undefined : 'no-room'),
      );
      context.response.once('close', () => !context.isRunning && context.leaveRoom());
    };
  }

  /** Large JSON is read by a thread. Its refusal is kept, to be given in its place among the checks. */
  async #readAhead(context: ApiRequest, body: Uint8Array, done: (context: ApiRequest) => void): Promise<void> {
    // Read first: the memory of the body goes to the thread.
    const { length } = body;
    const { largeField } = context.route.endpoint;
    const [json] = await Promise.allSettled([this.#reader.read(body, largeField === undefined ? undefined : toKebab(largeField))]);
    context.body = { length, json };
    done(context);
  }
}

/** A body as text, as a value, and the payloads in it: the most that batches took. A large field is not copied. */
function memoryPerOctet({ largeField }: AnyEndpoint): number {
  return largeField === undefined ? 4 : 1;
}
