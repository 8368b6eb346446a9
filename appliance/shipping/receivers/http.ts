// Records over HTTPS: batches within limits, one at a time, so that they arrive in order. What is in a body is the business of a preset.
import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:https';
import { setTimeout } from 'node:timers/promises';
import type { ShippedRecord } from '../formats/records.ts';
import { type Preset, presets } from './presets.ts';
import { type Connection, quoted, ReceiverError, type ReceiverParts, type Refused } from './receiver.ts';
import { describeTlsError } from './syslog.ts';
import { authorizationOf, tlsOptions } from './tls.ts';

const maxBodyRecords = 500;
const maxBodyBytes = 1 << 20;
const maxAnswerBytes = 4 << 20;
const acknowledgementPollMs = 500;

type Answer = {
  readonly status: number;
  readonly text: string;
  readonly retryAfter: string | undefined;
  readonly location: string | undefined;
};

export class HttpConnection implements Connection {
  readonly #parts: ReceiverParts;
  readonly #preset: Preset;
  /** of Splunk: acknowledgements belong to it */
  readonly #channel = randomUUID();
  #agent: Agent | undefined;
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

  async send(records: readonly ShippedRecord[]): Promise<readonly Refused[]> {
    const refused: Refused[] = [];
    for (let start = 0; start < records.length;) {
      const part = firstWithinLimits(records.slice(start, start + maxBodyRecords));
      for (const { index, reason } of await this.#post(part)) refused.push({ index: start + index, reason });
      start += part.length;
    }
    return refused;
  }

  /** Asks for the acknowledgements of all that was sent; rejects when they do not come in time. */
  async confirm(): Promise<void> {
    const deadline = performance.now() + this.#parts.patienceMs;
    while (this.#waiting.length > 0) {
      const url = new URL('/services/collector/ack', this.#parts.destination.url);
      url.searchParams.set('channel', this.#channel);
      const answer = await this.#exchange(url, JSON.stringify({ acks: this.#waiting }), 'application/json');
      requireTaken(answer);
      const { acks = {} } = parsed(answer.text) as { acks?: Readonly<Record<string, boolean>> };
      this.#waiting = this.#waiting.filter((id) => acks[String(id)] !== true);
      if (this.#waiting.length === 0) return;
      if (performance.now() > deadline) {
        const missing = this.#waiting.length;
        this.#waiting = [];
        throw new ReceiverError(
          `${missing} acknowledgements of the indexers did not come within ${this.#parts.patienceMs / 1_000} seconds`,
        );
      }
      await setTimeout(acknowledgementPollMs);
    }
  }

  close(): void {
    this.#agent?.destroy();
    this.#agent = undefined;
  }

  async #post(records: readonly ShippedRecord[]): Promise<readonly Refused[]> {
    const { destination, host } = this.#parts;
    const url = new URL(destination.url ?? '');
    if (url.pathname === '/') url.pathname = this.#preset.path;
    const answer = await this.#exchange(url, this.#preset.body(records, destination, host), this.#preset.mediaType);
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
    this.#agent ??= new Agent({ keepAlive: true, maxSockets: 1, ...tlsOptions(destination) });
    const headers = {
      'content-type': mediaType,
      'content-length': Buffer.byteLength(body),
      accept: 'application/json',
      'user-agent': 'keystored-shipper',
      ...(authorization === undefined ? {} : { authorization }),
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
          const text = Buffer.concat(chunks).toString('utf8');
          const { 'retry-after': retryAfter, location } = response.headers;
          resolve({ status: response.statusCode ?? 0, text, retryAfter, location });
        });
        response.on('error', (error) => sent.destroy(error));
        response.on('close', () => {
          if (!response.complete) reject(new ReceiverError('the connection was lost in the middle of an answer'));
        });
      });
      // The whole exchange has a limit: an answer of one octet a second would be progress for ever.
      const late = AbortSignal.timeout(2 * patienceMs);
      const giveUp = (): void => void sent.destroy(new ReceiverError(`the receiver does not answer for ${patienceMs / 1_000} seconds`));
      late.addEventListener('abort', giveUp, { once: true });
      sent.on('timeout', giveUp);
      sent.on('close', () => late.removeEventListener('abort', giveUp));
      sent.on('error', (error) => {
        if (error instanceof ReceiverError) return reject(error);
        reject(new ReceiverError(describeTlsError(error, sent.reusedSocket, destination.certificateFile), { cause: error }));
      });
      sent.end(body);
    });
  }
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
  const what = status >= 300 && status < 400 ? `the receiver redirects to ${quoted(location ?? 'nowhere')}: correct url` : remedies[status];
  const seconds = Number(retryAfter ?? Number.NaN);
  throw new ReceiverError(`${what ?? 'the receiver is not ready'} (HTTP ${status}${text === '' ? '' : `: ${quoted(text)}`})`, {
    retryAfterSeconds: Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined,
  });
}

/** At least one. */
function firstWithinLimits(records: readonly ShippedRecord[]): readonly ShippedRecord[] {
  let bytes = 0;
  const end = records.findIndex(({ text }, index) => (bytes += 2 * text.length) > maxBodyBytes && index > 0);
  return end < 0 ? records : records.slice(0, end);
}

/** The answer as an object; an empty one where it is none. */
function parsed(text: string): object {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}
