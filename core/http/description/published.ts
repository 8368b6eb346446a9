// A text that is the same for every caller until the next start: compressed where the client takes it, 304 where the client has it already.
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { fail } from '../../base/errors.ts';
import { Allowance } from '../../base/token-bucket.ts';
import { Reply, type PublicCall } from '../endpoint.ts';
import { takesCoding } from '../request/accept.ts';
import { hasPresentCopy } from '../response/entity-tag.ts';

/** Megabytes take TLS ten milliseconds and more, compressed ones less than one. */
const largeCharacters = 256 * 1024;
const uncompressed = { ofAll: { atOnce: 200, perMinute: 600 }, ofAddress: { atOnce: 100, perMinute: 120 } } as const;

/**
 * The answers of a public GET with entity tag and gzip (RFC 9110 sections 8.8.3 and 8.4.1.3). `no-cache` lets a client keep its copy, and
 * has it ask each time whether the copy is still the present one: an update of the appliance changes the text.
 */
export class Published {
  readonly #allowance = new Allowance(uncompressed, performance.now());
  readonly #isLarge: boolean;
  readonly #tags: readonly string[];
  readonly #plain: Reply;
  readonly #compressed: Reply;

  /** `headers` with `content-type`. */
  constructor(text: string, headers: Readonly<Record<string, string>>) {
    this.#isLarge = text.length > largeCharacters;
    const digest = createHash('sha256').update(text).digest('base64url').slice(0, 22);
    const shared = { ...headers, 'cache-control': 'no-cache', vary: 'accept-encoding' };
    // A strong tag names octets: each encoding has its own.
    const tags = { plain: `"${digest}"`, compressed: `"${digest}-gzip"` };
    this.#tags = Object.values(tags);
    this.#plain = new Reply(200, Buffer.from(text), { ...shared, etag: tags.plain });
    this.#compressed = new Reply(200, gzipSync(text, { level: 9 }), { ...shared, etag: tags.compressed, 'content-encoding': 'gzip' });
  }

  /** Throws `rate-limited` where the text is large, and is asked for without compression too often. */
  answer({ headers, clientIp }: Pick<PublicCall, 'headers' | 'clientIp'>): Reply {
    const reply = takesCoding('gzip', headers['accept-encoding']) ? this.#compressed : this.#plain;
    // The tag of either encoding will do, because the text is the same.
    if (hasPresentCopy(headers['if-none-match'], ...this.#tags)) return new Reply(304, undefined, validatorsOf(reply));
    const waitSeconds = this.#isLarge && reply === this.#plain ? this.#allowance.take(clientIp, performance.now()) : 0;
    if (waitSeconds === 0) return reply;
    throw fail('rate-limited', {
      detail: 'This is large, and was sent without compression often: send "Accept-Encoding: gzip", or keep the copy and ask by its ETag.',
      retryAfterSeconds: Math.ceil(waitSeconds),
    });
  }
}

/** The headers that a 304 repeats (section 15.4.5). */
function validatorsOf({ headers }: Reply): Reply['headers'] {
  return Object.fromEntries(['cache-control', 'vary', 'etag'].map((name) => [name, headers[name] ?? '']));
}

const tagSchema = { type: 'string', examples: ['"q1W8mZ0bq1c"'] };

/** Headers of answers that a client may keep, for the API description. */
export const copyHeaders = {
  answer: { ETag: { description: 'Entity tag of the content, for If-None-Match.', schema: tagSchema } },
  request: { 'If-None-Match': { description: 'Entity tag of a kept copy: 304 when it is still the present one.', schema: tagSchema } },
} as const;
