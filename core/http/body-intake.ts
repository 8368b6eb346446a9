// Takes in the body of a request, within the limit of its endpoint; a large one only if no check that needs no body refuses the request, and
// within bounded memory.
import { JsonReader } from '../wire/json-reader.ts';
import { toKebab } from '../wire/schema.ts';
import type { ApiRequest } from './context/api-request.ts';
import type { AnyEndpoint } from './endpoint.ts';
import { untrustedBytes, type Admit } from './request/body.ts';
import type { BodyRoom } from './request/body-room.ts';
import { isLongReading } from './request/input.ts';

/** Limit of the body for an endpoint in octets: 4 MiB with a token, less without, unless it says otherwise. */
export function bodyLimitOf({ bodyLimit, access }: AnyEndpoint): number {
  return bodyLimit ?? (access === 'public' ? untrustedBytes : 4 * 1024 * 1024);
}

/** The bodies of one pipeline. */
export class BodyIntake {
  readonly #reader = new JsonReader();
  readonly #room: BodyRoom;
  readonly #judge: (context: ApiRequest) => void;

  /** `judge` throws the refusal of a request that does not depend on its body, before its turn. */
  constructor(room: BodyRoom, judge: (context: ApiRequest) => void) {
    this.#room = room;
    this.#judge = judge;
  }

  /** Calls `done` once the body is complete, or known to be missing; never for a client that disconnects before. */
  receive(context: ApiRequest, done: (context: ApiRequest) => void): void {
    const { endpoint } = context.route;
    context.exchange.readBody(bodyLimitOf(endpoint), this.#admitTo(context), (body) => {
      context.isRunning = true;
      context.body = body;
      if (body instanceof Uint8Array && isLongReading(endpoint, body)) void this.#readAhead(context, body, done);
      else done(context);
    });
  }

  /** Admits a body to the room, which it leaves when the answer is sent, or when the client disconnects before the body is complete. */
  #admitTo(context: ApiRequest): Admit {
    return (body) => {
      try {
        this.#judge(context);
      } catch (error) {
        const refusal = refusalDespite(context, error);
        if (refusal !== undefined) {
          context.earlyRefusal = refusal;
          return undefined;
        }
      }
      const { caller } = context;
      const owner = { origin: caller?.origin ?? '', tenant: caller?.tenantId ?? '' };
      const place = this.#room.enter({ ...body, owner, memoryPerOctet: memoryPerOctet(context) });
      context.leaveRoom = () => place.leave();
      context.exchange.onceClosed(() => !context.isRunning && context.leaveRoom());
      return place;
    };
  }

  /** Parses large JSON in a thread. Its refusal is kept for its place among the checks. */
  async #readAhead(context: ApiRequest, body: Uint8Array, done: (context: ApiRequest) => void): Promise<void> {
    // Read first: the memory of the body goes to the thread.
    const { length } = body;
    const largeField = largeFieldOf(context);
    const [json] = await Promise.allSettled([this.#reader.read(body, largeField === undefined ? undefined : toKebab(largeField))]);
    context.body = { length, json };
    if (json.status === 'fulfilled') context.exchange.noteDocument?.(json.value.value);
    done(context);
  }
}

/** Refusal for which a body is not read: the given one, or the fault of who was asked about it; undefined: it is read all the same. */
function refusalDespite({ exchange }: ApiRequest, refusal: unknown): unknown {
  try {
    return exchange.readsDespite?.(refusal) === true ? undefined : refusal;
  } catch (fault) {
    return fault;
  }
}

/** Memory per octet of a body: as text, as a value, and the payloads in it; the highest value measured for batches. A large field is not copied. */
function memoryPerOctet(context: ApiRequest): number {
  return largeFieldOf(context) === undefined ? 4 : 1;
}

/** Large field of the endpoint; undefined for a foreign document, which has other names. */
function largeFieldOf({ exchange, route }: ApiRequest): string | undefined {
  return exchange.inputOf === undefined ? route.endpoint.largeField : undefined;
}
