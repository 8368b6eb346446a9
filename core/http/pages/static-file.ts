// A file that is the same for every caller until the next start. h3 chooses the coding and compares the client's copy; its input and
// answer do not depend on the path, which is resolved by then.
import { createHash } from 'node:crypto';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { H3Event, serveStatic } from 'h3';
import { once } from '../../base/async/once.ts';
import { defined } from '../../base/defined.ts';
import { Reply, type PublicCall } from '../endpoint.ts';

/** Brotli of the highest quality takes two seconds for a megabyte, and the one below them a tenth of that. */
const largeBytes = 256 * 1024;

/** Codings that a client may ask for, by their names in Accept-Encoding, the smaller one first. */
const codings = {
  br: (octets: Uint8Array) =>
    brotliCompressSync(octets, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: octets.length > largeBytes ? 9 : constants.BROTLI_MAX_QUALITY,
        [constants.BROTLI_PARAM_SIZE_HINT]: octets.length,
      },
    }),
  gzip: (octets: Uint8Array) => gzipSync(octets, { level: 9 }),
} as const;
export type Coding = keyof typeof codings;

/** Octets of a text that is to be published, compressed when first asked for, with their entity tag. */
export class StaticFile {
  readonly #copies: ReadonlyMap<string, () => Uint8Array>;
  readonly #offered: Readonly<Record<string, string>>;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #tag: string;

  /** `headers` with `content-type` and `cache-control`; `made` has copies that were compressed before. */
  constructor(
    octets: Uint8Array,
    headers: Readonly<Record<string, string>>,
    offered: readonly Coding[],
    made: Readonly<Partial<Record<Coding, Uint8Array>>> = {},
  ) {
    this.#headers = headers;
    this.#copies = new Map<string, () => Uint8Array>([
      [place, () => octets],
      ...offered.map((coding) => [`${place}.${coding}`, once(() => made[coding] ?? codings[coding](octets))] as const),
    ]);
    this.#offered = Object.fromEntries(offered.map((coding) => [coding, `.${coding}`]));
    // Weak: one tag for all codings, in which a copy is the same text (RFC 9110 section 8.8.1).
    this.#tag = `W/"${createHash('sha256').update(octets).digest('base64url').slice(0, 22)}"`;
  }

  /** 200 with the coding that the client prefers, or 304 for a copy that is still the present one. */
  async answer({ headers }: Pick<PublicCall, 'headers'>): Promise<Reply> {
    const asked = defined({ 'accept-encoding': this.#inOurOrder(headers['accept-encoding']), 'if-none-match': headers['if-none-match'] });
    const event = new H3Event(new Request(`http://file${place}`, { headers: asked }));
    let body: Uint8Array | undefined;
    await serveStatic(event, {
      headers: { ...this.#headers },
      encodings: { ...this.#offered },
      indexNames: [],
      getMeta: (id) => this.#metaOf(id),
      getContents: (id) => {
        body = this.#copies.get(id)?.();
        return null;
      },
    });
    // h3 asks for no content where the client has it.
    return new Reply(body === undefined ? 304 : 200, body, Object.fromEntries(event.res.headers));
  }

  /** The same wishes, our smallest coding first: of equal ones h3 takes the first, which browsers have as gzip. */
  #inOurOrder(acceptEncoding: string | undefined): string | undefined {
    const ours = Object.keys(this.#offered);
    const rank = (wish: string): number => {
      const at = ours.indexOf(wish.split(';')[0]?.trim().toLowerCase() ?? '');
      return at === -1 ? ours.length : at;
    };
    return acceptEncoding
      ?.split(',')
      .toSorted((left, right) => rank(left) - rank(right))
      .join(',');
  }

  #metaOf(id: string): { readonly etag: string; readonly encoding?: string } | undefined {
    if (!this.#copies.has(id)) return undefined;
    const coding = id.slice(place.length + 1);
    return { etag: this.#tag, ...(coding === '' ? {} : { encoding: coding }) };
  }
}

const place = '/file';
