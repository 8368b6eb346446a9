// A client for commands that live as long as the program that they serve: it takes a new connection after a lost one, reads a renewed token or
// CA again, and gives up each request in time.
import { isDeepStrictEqual } from 'node:util';
import { type Answer, Client, Refused, type Request } from '../client.ts';
import type { ConnectionOptions } from '../connection-options.ts';
import { resolveConnection } from '../connection.ts';
import { CommandFailed, exitCodes, usageError } from '../terminal/failure.ts';
import type { Io } from '../terminal/io.ts';

export type LastingOptions = {
  readonly connection: ConnectionOptions;
  readonly io: Io;
  readonly userAgent: string;
  /** the longest time of a request, with all that is tried again */
  readonly timeoutMs: number;
  /** connections at the same time; further requests wait for one */
  readonly atOnce: number;
};

export class LastingClient {
  readonly #options: LastingOptions;
  #current: Client | undefined;
  /** addresses, with the one that answered last first */
  #order: readonly string[] = [];
  readonly #left = new Set<Client>();

  constructor(options: LastingOptions) {
    if (options.connection.tokenFile === '-')
      throw usageError('standard input is used by this command: give --token-file a file, which may change while the command runs');
    this.#options = options;
  }

  /**
   * The answer. Sends the request once more, with what is configured now, when no answer came or the token was refused,
   * so only for requests that may be repeated. Throws CommandFailed.
   */
  async ask(request: Request): Promise<Answer> {
    const { timeoutMs } = this.#options;
    const signal = AbortSignal.timeout(timeoutMs);
    const timely = { ...request, isIdempotent: true, answerMs: timeoutMs, signal };
    const client = this.#current ?? (await this.#open());
    try {
      return await client.exchange(timely);
    } catch (error) {
      if (!isOfConnection(error)) throw error;
      this.#leave(client);
      if (signal.aborted) throw tooLate(client, timeoutMs, error);
      const renewed = await this.#open(error instanceof Refused ? client.connection.token : undefined);
      if (error instanceof Refused && renewed.connection.token === client.connection.token) throw error;
      return await renewed.exchange(timely).catch((again: unknown) => {
        if (isOfConnection(again)) this.#leave(renewed);
        throw signal.aborted ? tooLate(renewed, timeoutMs, again) : again;
      });
    }
  }

  /** Ends every connection, and the requests on them. */
  close(): void {
    for (const client of [this.#current, ...this.#left]) client?.close();
    this.#current = undefined;
    this.#left.clear();
  }

  async #open(refused?: string): Promise<Client> {
    const { connection, io, userAgent, atOnce } = this.#options;
    const resolved = await resolveConnection(connection, io, 'existing', refused);
    // Another request may have opened one meanwhile, with the same files.
    if (isDeepStrictEqual(this.#current?.connection, resolved)) return this.#current as Client;
    if (this.#current !== undefined) this.#leave(this.#current);
    const addresses = resolved.url.split(',');
    const isSame = addresses.length === this.#order.length && addresses.every((one) => this.#order.includes(one));
    this.#current = new Client(resolved, { userAgent, atOnce, order: isSame ? this.#order : addresses });
    return this.#current;
  }

  /** Takes no further requests; those on their way have the time that each has. */
  #leave(client: Client): void {
    if (this.#current === client) this.#current = undefined;
    this.#order = client.addresses;
    this.#left.add(client);
    setTimeout(() => {
      this.#left.delete(client);
      client.close();
    }, this.#options.timeoutMs).unref();
  }
}

/** Tells whether another connection, token or CA may help: nobody answered, the certificate is not trusted, or the token is not known. */
function isOfConnection(error: unknown): boolean {
  if (error instanceof Refused) return error.answer.status === 401;
  return error instanceof CommandFailed;
}

function tooLate({ connection: { url } }: Client, timeoutMs: number, error: unknown): unknown {
  if (error instanceof Refused) return error;
  return new CommandFailed(exitCodes.unavailable, `${url} did not answer within ${timeoutMs / 1000} s: is keystored running there?`);
}
