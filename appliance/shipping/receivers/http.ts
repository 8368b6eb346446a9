// Records over HTTPS: batches within limits, one at a time, so that they arrive in order. A preset decides the content of a body.
import { randomUUID } from 'node:crypto';
import type { ClientRequest } from 'node:http';
import { request } from 'node:https';
import { setTimeout } from 'node:timers/promises';
import { TLSSocket } from 'node:tls';
import { GuardedAgent } from '../../../core/outbound/guarded-connection.ts';
import type { ShippedRecord } from '../formats/records.ts';
import { type Preset, presets } from './presets.ts';
import { type Connection, quoted, ReceiverError, type ReceiverParts, type Refused, type Sent } from './receiver.ts';
import { describeTlsError } from './syslog.ts';
import { authorizationOf, tlsOptions } from './tls.ts';

const maxBodyRecords = 500;
const maxBodyBytes = 1 << 20;
const maxAnswerBytes = 4 << 20;
const longestPollMs = 1_000;

type Answer = {
  readonly status: number;
  readonly text: string;
  readonly retryAfter: string | undefined;
  readonly location: string;
};

export class HttpConnection implements Connection {
  readonly #parts: ReceiverParts;
  readonly #preset: Preset;
  /** of Splunk: acknowledgements belong to it */
  readonly #channel = randomUUID();
  #agent: GuardedAgent | undefined;
  #waiting: number[] = [];
  #answer = 'no connection yet';

  constructor(parts: ReceiverParts) {
    this.#parts = parts;
    this.#preset = presets[parts.destination.protocol as keyof typeof presets];
  }

  get confirmsEach(): boolean {
    return !this.#parts.destination.acknowledgements;
  }

  get answer(): string {
    return this.#answer;
  }

  async send(records: readonly ShippedRecord[]): Promise<Sent> {
    const refused: Refused[] = [];
    for (let from = 0; from < records.length;) {
      const { body, count } = this.#bodyOf(records.slice(from, from + maxBodyRecords));
      const found = await this.#post(body, records.slice(from, from + count));
      const [first] = found;
      if (first !== undefined && found.length === count) return { refused, whole: { from, count, reason: first.reason } };
      for (const { index, reason } of found) refused.push({ index: from + index, reason });
      from += count;
    }
    return { refused };
  }

  /** Asks for the acknowledgements of all that was sent; rejects when they do not come in time. */
  async confirm(): Promise<void> {
    const { destination, acknowledgeMs } = this.#parts;
    const deadline = performance.now() + acknowledgeMs;
    const url = new URL(destination.url ?? '');
    // A proxy may have the collector under a path of its own.
    url.pathname = url.pathname.replace(/(?:\/services\/collector.*|\/)?$/, '/services/collector/ack');
    url.search = `channel=${this.#channel}`;
    for (let pollMs = 50; this.#waiting.length > 0; pollMs = Math.min(2 * pollMs, longestPollMs)) {
      const answer = await this.#exchange(url, JSON.stringify({ acks: this.#waiting }), 'application/json');
      requireTaken(answer);
      const { acks = {} } = parsed(answer.text) as { acks?: Readonly<Record<string, boolean>> };
      this.#waiting = this.#waiting.filter((id) => acks[String(id)] !== true);
      if (this.#waiting.length === 0) return;
      if (performance.now() > deadline) {
        const missing = this.#waiting.length;
        this.#waiting = [];
        throw new ReceiverError(`${missing} acknowledgements of the indexers did not come within ${acknowledgeMs / 1_000} seconds`);
      }
      await setTimeout(pollMs);
    }
  }

  close(): void {
    this.#agent?.destroy();
    this.#agent = undefined;
  }

  /** As many of the records as fit into a body, at least one. */
  #bodyOf(records: readonly ShippedRecord[]): { readonly body: string; readonly count: number } {
    const { destination, host } = this.#parts;
    for (let count = records.length; ; count = Math.ceil(count / 2)) {
      const body = this.#preset.body(records.slice(0, count), destination, host);
      if (count === 1 || Buffer.byteLength(body) <= maxBodyBytes) return { body, count };
    }
  }

  async #post(body: string, records: readonly ShippedRecord[]): Promise<readonly Refused[]> {
    const { destination } = this.#parts;
    const url = new URL(destination.url ?? '');
    if (url.pathname === '/') url.pathname = this.#preset.path;
    const answer = await this.#exchange(url, body, this.#preset.mediaType);
    this.#answer = `HTTP ${answer.status}${answer.text === '' ? '' : `: ${quoted(answer.text)}`}`;
    if (unusable.has(answer.status)) return records.map((_, index) => ({ index, reason: this.#answer }));
    requireTaken(answer);
    const value = parsed(answer.text);
    const { ackId } = value as { ackId?: unknown };
    if (destination.acknowledgements) {
      if (typeof ackId !== 'number')
        throw new ReceiverError('the receiver gives no acknowledgements: enable them for the token, or remove acknowledgements');
      this.#waiting.push(ackId);
    }
    return this.#preset.judge?.(value, records) ?? [];
  }

  #exchange(url: URL, body: string, mediaType: string): Promise<Answer> {
    const { destination, patienceMs } = this.#parts;
    const authorization = authorizationOf(destination);
    this.#agent ??= new GuardedAgent({ keepAlive: true, maxSockets: 1, ...tlsOptions(destination) });
    const headers = {
      'content-type': mediaType,
      'content-length': Buffer.byteLength(body),
      accept: 'application/json',
      'user-agent': 'keystored-shipper',
      ...(authorization === undefined ? {} : { authorization: authorization.header }),
      ...this.#preset.headers?.(destination, this.#channel),
    };
    return new Promise((resolve, reject) => {
      const sent = request(url, { method: 'POST', agent: this.#agent, headers, timeout: patienceMs }, (response) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes > maxAnswerBytes) sent.destroy(new ReceiverError('the answer of the receiver is too large'));
          else chunks.push(chunk);
        });
        response.on('end', () => {
          if (!response.complete) return;
          // Some receivers repeat the credentials that they refuse.
          const clean = (text: string): string =>
            (authorization?.secrets ?? []).reduce((left, secret) => left.replaceAll(secret, '***'), text);
          const text = clean(Buffer.concat(chunks).toString('utf8'));
          const { 'retry-after': retryAfter, location = '' } = response.headers;
          resolve({ status: response.statusCode ?? 0, text, retryAfter, location: clean(location) });
        });
        response.on('error', (error) => sent.destroy(error));
        response.on('close', () => {
          if (!response.complete) reject(new ReceiverError('the connection was lost in the middle of an answer'));
        });
      });
      // The whole exchange has a limit: otherwise an answer of one octet a second would make progress without end.
      const late = AbortSignal.timeout(2 * patienceMs);
      const giveUp = (): void => void sent.destroy(new ReceiverError(`the receiver does not answer for ${patienceMs / 1_000} seconds`));
      late.addEventListener('abort', giveUp, { once: true });
      sent.on('timeout', giveUp);
      sent.on('close', () => late.removeEventListener('abort', giveUp));
      sent.on('error', (error) => {
        if (error instanceof ReceiverError) return reject(error);
        reject(new ReceiverError(describeTlsError(error, isOpen(sent), destination.certificateFile), { cause: error }));
      });
      sent.end(body);
    });
  }
}

/** Tells whether the receiver was reached and has proven its identity. */
function isOpen({ socket }: ClientRequest): boolean {
  return socket instanceof TLSSocket && socket.authorized;
}

/** The request itself is what the receiver will not take: malformed, too large, unprocessable. */
const unusable: ReadonlySet<number> = new Set([400, 413, 422]);

const remedies: Readonly<Record<number, string>> = {
  401: 'the receiver refuses the credentials: correct token, or username and password',
  403: 'the receiver does not allow this: correct token, or its permissions',
  404: 'the receiver has nothing at this URL: correct url',
  405: 'the receiver does not take POST at this URL: correct url',
};

function requireTaken({ status, text, retryAfter, location }: Answer): void {
  if (status >= 200 && status < 300) return;
  const what =
    status >= 300 && status < 400
      ? `the receiver redirects to ${location === '' ? 'nowhere' : quoted(location)}: correct url`
      : remedies[status];
  throw new ReceiverError(`${what ?? 'the receiver is not ready'} (HTTP ${status}${text === '' ? '' : `: ${quoted(text)}`})`, {
    retryAfterSeconds: secondsIn(retryAfter),
  });
}

/** Seconds, or the time until a date (RFC 9110 section 10.2.3). */
function secondsIn(retryAfter: string | undefined): number | undefined {
  if (retryAfter === undefined) return undefined;
  const seconds = /^\d+$/.test(retryAfter) ? Number(retryAfter) : (Date.parse(retryAfter) - Date.now()) / 1_000;
  return Number.isFinite(seconds) && seconds > 0 ? seconds : undefined;
}

/** Parses the answer as an object; an empty one for any other text. */
function parsed(text: string): object {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}
