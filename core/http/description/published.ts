// A text that is the same for every caller until the next start: compressed if the client accepts that, 304 if the client has it already.
import { fail } from '../../base/errors.ts';
import { Allowance } from '../../base/token-bucket.ts';
import type { PublicCall, Reply } from '../endpoint.ts';
import { StaticFile } from '../pages/static-file.ts';

/** Length from which a text counts as large: megabytes take TLS ten milliseconds and more, compressed ones less than one. */
const largeCharacters = 256 * 1024;
const uncompressed = { ofAll: { atOnce: 200, perMinute: 600 }, ofAddress: { atOnce: 100, perMinute: 120 } } as const;

/**
 * The answers of a public GET with entity tag, compressed (RFC 9110 sections 8.8.3 and 8.4.1.3). `no-cache` lets a client keep its copy, and
 * makes it revalidate the copy each time: an update of the appliance changes the text.
 */
export class Published {
  readonly #allowance = new Allowance(uncompressed, performance.now());
  readonly #isLarge: boolean;
  readonly #file: StaticFile;

  /** `headers` with `content-type`. */
  constructor(text: string, headers: Readonly<Record<string, string>>) {
    this.#isLarge = text.length > largeCharacters;
    this.#file = new StaticFile(Buffer.from(text), { ...headers, 'cache-control': 'no-cache' }, ['br', 'gzip']);
  }

  /** Answers a request. Rejects with `rate-limited` if the text is large and requested too often without compression. */
  async answer({ headers, clientIp }: Pick<PublicCall, 'headers' | 'clientIp'>): Promise<Reply> {
    const reply = await this.#file.answer({ headers });
    const isCostly = this.#isLarge && reply.status === 200 && reply.headers['content-encoding'] === undefined;
    const waitSeconds = isCostly ? this.#allowance.take(clientIp, performance.now()) : 0;
    if (waitSeconds === 0) return reply;
    throw fail('rate-limited', {
      detail: 'This is large, and was sent without compression often: send "Accept-Encoding: gzip", or keep the copy and ask by its ETag.',
      retryAfterSeconds: Math.ceil(waitSeconds),
    });
  }
}

const tagSchema = { type: 'string', examples: ['"q1W8mZ0bq1c"'] };

/** Answers that a client may keep, for the API description. */
export const documentedCopies = {
  headers: { ETag: { description: 'Entity tag of the content, for If-None-Match.', schema: tagSchema } },
  requestHeaders: {
    'If-None-Match': { description: 'Entity tag of a kept copy: 304 when it is still the present one.', schema: tagSchema },
  },
  otherStatuses: { 304: 'The copy that `If-None-Match` names is still the present one' },
} as const;
