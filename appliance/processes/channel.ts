// Typed requests and answers between two processes. Either side asks, the other serves; messages.ts has the tables.
import { Socket } from 'node:net';
import { z } from 'zod';
import { defined } from '../../core/base/defined.ts';
import { coreErrors, fail, ServiceError } from '../../core/base/errors.ts';
import { HsmError, type HsmErrorKind } from '../../hsm/api.ts';

/** By name of the request: its argument and its answer. Codecs turn secrets into text on the way out and back on the way in. */
export type RequestTable = Readonly<Record<string, { readonly argument: z.ZodType; readonly answer: z.ZodType }>>;

type ArgumentOf<T extends RequestTable, Name extends keyof T> = z.output<T[Name]['argument']>;
type AnswerOf<T extends RequestTable, Name extends keyof T> = z.output<T[Name]['answer']>;

/**
 * Serves the requests of a table, with the connection that came with one. A thrown ServiceError reaches the other side with code, detail
 * and seconds to wait.
 */
export type Handlers<T extends RequestTable> = {
  readonly [Name in keyof T]: (argument: ArgumentOf<T, Name>, connection?: Socket) => AnswerOf<T, Name> | Promise<AnswerOf<T, Name>>;
};

export type Channel<Asked extends RequestTable> = {
  /**
   * Rejects with the ServiceError that the other side threw (`internal-error` for anything else), and with Unanswered when that process
   * ends first or `withinMs` pass. A connection that is given goes to the other process and is no longer open in this one.
   */
  request<Name extends keyof Asked & string>(
    name: Name,
    argument: ArgumentOf<Asked, Name>,
    withinMs?: number,
    connection?: Socket,
  ): Promise<AnswerOf<Asked, Name>>;
};

/** No answer came. The message continues a sentence that begins with the name of the other side. */
export class Unanswered extends Error {
  override readonly name = 'Unanswered';
  /** the other process has ended, or was never there */
  readonly isEnd: boolean;

  constructor(message: string, isEnd = false) {
    super(message);
    this.isEnd = isEnd;
  }
}

/** The other process, as Node.js offers it: node:cluster's Worker, or `process` in a worker. */
export type Port = {
  isOpen(): boolean;
  send(message: Message, connection?: Socket): void;
  onMessage(hear: (message: unknown, connection?: unknown) => void): void;
  onEnd(ended: () => void): void;
};

export type ChannelParts<Asked extends RequestTable, Served extends RequestTable> = {
  readonly port: Port;
  readonly asks: Asked;
  readonly serves: Served;
  readonly handlers: Handlers<Served>;
  /** Called with one line about an ignored or failed message; never with the contents of a message. */
  readonly report: (line: string) => void;
};

/** A ServiceError in a message. `hsm` is the kind of the HsmError behind it, which chooses the advice to callers. */
const refusal = z.object({
  code: z.enum(Object.keys(coreErrors) as [keyof typeof coreErrors]),
  detail: z.string().optional(),
  retryAfterSeconds: z.int().min(0).optional(),
  hsm: z.custom<HsmErrorKind>((value) => typeof value === 'string').optional(),
});

const message = z.discriminatedUnion('type', [
  z.object({ type: z.literal('request'), id: z.int(), name: z.string(), argument: z.unknown().optional() }),
  z.object({ type: z.literal('answer'), id: z.int(), answer: z.unknown().optional() }),
  z.object({ type: z.literal('refusal'), id: z.int(), refusal }),
]);
export type Message = z.output<typeof message>;
type MessageOf<Type extends Message['type']> = Extract<Message, { readonly type: Type }>;

type Pending = { answered(answer: unknown): void; failed(error: Error): void };

/** Opens this side. A malformed message is reported and ignored, and so is an answer without a pending request. */
export function openChannel<Asked extends RequestTable, Served extends RequestTable>(parts: ChannelParts<Asked, Served>): Channel<Asked> {
  const { port, asks, serves, handlers, report } = parts;
  const pending = new Map<number, Pending>();
  let latestId = 0;

  const send = (sent: Message, connection?: Socket): void => {
    if (port.isOpen()) port.send(sent, connection);
  };

  const serve = async ({ id, name, argument }: MessageOf<'request'>, connection: Socket | undefined): Promise<void> => {
    try {
      const row = Object.hasOwn(serves, name) ? serves[name] : undefined;
      const handler = handlers[name];
      if (row === undefined || handler === undefined) throw new Error('it is not known here');
      const decoded = decode(row.argument, argument) as ArgumentOf<Served, string>;
      send({ type: 'answer', id, answer: z.encode(row.answer, await handler(decoded, connection)) });
    } catch (error) {
      if (!(error instanceof ServiceError)) report(`the request ${JSON.stringify(name.slice(0, 32))} failed: ${(error as Error).message}`);
      send({ type: 'refusal', id, refusal: encodeRefusal(error) });
    }
  };

  const settle = (id: number): Pending | undefined => {
    const found = pending.get(id);
    pending.delete(id);
    return found;
  };

  const receive: { readonly [Type in Message['type']]: (received: MessageOf<Type>, connection: Socket | undefined) => void } = {
    request: (received, connection) => void serve(received, connection),
    // A late answer no longer has a pending request.
    answer: ({ id, answer }) => settle(id)?.answered(answer),
    refusal: ({ id, refusal: refused }) => settle(id)?.failed(decodeRefusal(refused)),
  };

  port.onMessage((received, sent) => {
    const parsed = message.safeParse(received);
    if (!parsed.success) return report('a message of another process was ignored: it is neither a request nor an answer');
    const { data } = parsed;
    const connection = sent instanceof Socket ? sent : undefined;
    (receive[data.type] as (received: Message, connection: Socket | undefined) => void)(data, connection);
  });
  port.onEnd(() => {
    for (const id of [...pending.keys()]) settle(id)?.failed(new Unanswered('has just ended', true));
  });

  return {
    request(name, argument, withinMs, connection) {
      if (!port.isOpen()) return Promise.reject(new Unanswered('is not running', true));
      const row = asks[name] as RequestTable[string];
      const id = ++latestId;
      const { promise, resolve, reject } = Promise.withResolvers<AnswerOf<Asked, typeof name>>();
      const late = withinMs === undefined ? undefined : setTimeout(() => settle(id)?.failed(new Unanswered('does not answer')), withinMs);
      pending.set(id, {
        answered(answer) {
          clearTimeout(late);
          try {
            resolve(decode(row.answer, answer) as AnswerOf<Asked, typeof name>);
          } catch (error) {
            report(`the answer to the request ${name} was ignored: ${(error as Error).message}`);
            reject(fail('internal-error'));
          }
        },
        failed(error) {
          clearTimeout(late);
          reject(error);
        },
      });
      send({ type: 'request', id, name, argument: z.encode(row.argument, argument) }, connection);
      return promise;
    },
  };
}

/** Throws an Error that names the rule which was broken, and no value. */
function decode(schema: z.ZodType, value: unknown): unknown {
  const parsed = z.safeDecode(schema, value);
  if (parsed.success) return parsed.data;
  throw new Error(`it is malformed at ${parsed.error.issues.map(({ path, code }) => `"${path.join('/')}" (${code})`).join(', ')}`);
}

function encodeRefusal(error: unknown): z.output<typeof refusal> {
  const { code, details } = error instanceof ServiceError ? error : fail('internal-error');
  const parsed = refusal.shape.code.safeParse(code);
  return {
    code: parsed.success ? parsed.data : 'internal-error',
    detail: details.detail,
    retryAfterSeconds: details.retryAfterSeconds,
    hsm: details.cause instanceof HsmError ? details.cause.kind : undefined,
  };
}

function decodeRefusal({ code, detail, retryAfterSeconds, hsm }: z.output<typeof refusal>): ServiceError {
  return fail(code, {
    ...defined({ detail, retryAfterSeconds }),
    ...(hsm === undefined ? {} : { cause: new HsmError(hsm, hsm) }),
  });
}
