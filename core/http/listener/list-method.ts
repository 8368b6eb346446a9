// The method LIST, which clients of Vault's API send and Node's parser refuses before any handler runs. At the first octet of a request it becomes
// LINK, which the parser knows and no endpoint serves; the exchange translates it back.
import type { Server } from 'node:https';
import type { TLSSocket } from 'node:tls';

/** The method as the parser sees it. */
export const listMethodOfParser = 'LINK';

const list = Buffer.from('LIST ');
const link = Buffer.from(`${listMethodOfParser} `);
const endOfHead = Buffer.from('\r\n\r\n');

/** Accepts LIST on the connections of a server whose heads have at most `headBytes`. */
export function takeListMethod(server: Server, headBytes: number): void {
  server.on('secureConnection', (socket: TLSSocket) => {
    const requests = new RequestStarts(headBytes);
    const push = socket.push.bind(socket);
    // Each piece of plaintext goes through push; null ends the stream.
    socket.push = (piece: Buffer | null, encoding?: BufferEncoding) => {
      if (piece === null) {
        const rest = requests.end();
        if (rest.length > 0) push(rest, encoding);
        return push(null);
      }
      const ready = requests.take(piece);
      return ready.length === 0 || push(ready, encoding);
    };
    // With a listener for data, the parser no longer reads from below this stream.
    socket.on('data', ignore);
  });
}

const ignore = (): void => undefined;

/**
 * Follows the starts of requests on one connection, by their heads and Content-Length, and exchanges the two methods there. If a start cannot be
 * determined (chunked bodies, pipelined requests), it stops: the parser then refuses LIST, as without this class.
 */
export class RequestStarts {
  /** octets of the head so far; undefined in a body */
  #head: Buffer | undefined = Buffer.alloc(0);
  /** remaining octets of the body */
  #body = 0;
  #isLost = false;
  readonly #headBytes: number;

  constructor(headBytes: number) {
    this.#headBytes = headBytes;
  }

  /** Returns octets for the parser; fewer while it is unclear whether a request begins with LIST. */
  take(piece: Buffer): Buffer {
    if (this.#isLost) return piece;
    if (this.#head === undefined) return this.#takeBody(piece);
    const head = Buffer.concat([this.#head, piece]);
    if (this.#head.length === 0 || this.#isHeldBack(this.#head)) {
      if (head.length < list.length && isStartOf(head, list, link)) {
        this.#head = head;
        return Buffer.alloc(0);
      }
      const exchanged = exchange(head);
      this.#head = exchanged;
      this.#takeHead(exchanged);
      return exchanged;
    }
    this.#head = head;
    this.#takeHead(head);
    return piece;
  }

  /** Returns the octets held back, at the end of the stream. */
  end(): Buffer {
    return this.#head !== undefined && this.#isHeldBack(this.#head) ? this.#head : Buffer.alloc(0);
  }

  #isHeldBack(head: Buffer): boolean {
    return head.length > 0 && head.length < list.length && isStartOf(head, list, link);
  }

  #takeHead(head: Buffer): void {
    const end = head.indexOf(endOfHead);
    if (end === -1) {
      this.#isLost = head.length > this.#headBytes;
      return;
    }
    const fields = head.subarray(0, end + 2).toString('latin1');
    const body = head.length - end - endOfHead.length;
    const [stated = '0', ...more] = [...fields.matchAll(/\r\ncontent-length[ \t]*:([^\r\n]*)/gi)].map(([, value = '']) => value.trim());
    const isLength = /^\d{1,15}$/.test(stated);
    const length = isLength ? Number(stated) : 0;
    if (more.length > 0 || !isLength || body > length || /\r\n(?:transfer-encoding|upgrade)[ \t]*:/i.test(fields)) this.#isLost = true;
    this.#body = length - body;
    this.#head = this.#body === 0 ? Buffer.alloc(0) : undefined;
  }

  #takeBody(piece: Buffer): Buffer {
    this.#body -= piece.length;
    if (this.#body < 0) this.#isLost = true;
    if (this.#body === 0) this.#head = Buffer.alloc(0);
    return piece;
  }
}

/**
 * Exchanges both methods: LINK itself becomes LIST, which the parser refuses. After another request, where nothing is exchanged, LINK is
 * read as LIST.
 */
function exchange(head: Buffer): Buffer {
  const other = startsWith(head, list) ? link : startsWith(head, link) ? list : undefined;
  return other === undefined ? head : Buffer.concat([other, head.subarray(other.length)]);
}

const startsWith = (octets: Buffer, start: Buffer): boolean => octets.subarray(0, start.length).equals(start);
const isStartOf = (octets: Buffer, ...words: readonly Buffer[]): boolean =>
  words.some((word) => word.subarray(0, octets.length).equals(octets));
