// Reads a request body, up to a limit that holds for chunked bodies and for a wrong Content-Length too.
import type { IncomingMessage } from 'node:http';
import type { Comer, NoRoom, Place } from './body-room.ts';

/** Reason for a missing body: over the limit, refused before it was read, chunks too small, no memory in time, or too slow. */
export type NoBody = 'too-large' | 'refused' | 'in-crumbs' | NoRoom;

/** A body, or the reason for its absence. */
export type Body = Uint8Array | NoBody;

/** Octets that a body of a caller without a valid token may have. */
export const untrustedBytes = 64 * 1024;

/** Octets of a body that are kept without asking: above, those of unauthenticated callers too share the room of large bodies. */
const unaskedBytes = 16 * 1024;

/** Admits a body that is or may become larger than that; called once. Returns its place; undefined: refused. */
export type Admit = (body: Pick<Comer, 'octets' | 'proceed' | 'refuse'>) => Place | undefined;

/** Admits bodies of any size: for listeners with a small limit. */
export const admitAny: Admit = ({ proceed }) => {
  proceed();
  return { arrived: () => true, whole: () => undefined, leave: () => undefined };
};

/**
 * Chunks of fewer octets on average, and so many, are not read any further: each costs as much as a large one, six octets of the peer for a
 * microsecond here.
 */
const crumbs = { octets: 16, many: 1_024 } as const;
/** for the peer to read why, before the connection is closed with what is left of the body */
const lastAnswerMs = 1_000;

/** Small chunks are kept together in pieces of this size. */
const pieceBytes = 16 * 1024;

const empty = new Uint8Array(0);

/**
 * Calls `done` once with the whole body, or as soon as it is known to be missing; never for a client that disconnects
 * before. `admit` is called before more than 16 KiB are kept, and reading waits until the place lets it continue. The rest
 * of a refused body is read and dropped, so that clients that send everything before they read get the answer; the listener's
 * request timeout limits that.
 */
export function readBody(request: IncomingMessage, limitBytes: number, admit: Admit, done: (body: Body) => void): void {
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
  if (length === undefined && coding === undefined) return done(empty);
  // Without a listener, a client that disconnects would end the process.
  request.on('error', () => undefined);
  const declared = Number(length ?? 0);
  if (declared > limitBytes) return done('too-large');
  new BodyReader(request, limitBytes, declared, admit, done).begin();
}

class BodyReader {
  readonly #request: IncomingMessage;
  readonly #limit: number;
  /** declared length; 0 if unknown */
  readonly #declared: number;
  readonly #admit: Admit;
  readonly #done: (body: Body) => void;
  #place: Place | undefined;
  /** buffer of a large body of known length: joining it at its end would block the event loop */
  #whole: Buffer | undefined;
  #chunks: Buffer[] = [];
  /** last piece while it has room: a separate object for each octet would take a hundred times the counted memory */
  #piece: Buffer | undefined;
  #used = 0;
  #bytes = 0;
  #count = 0;
  #isOver = false;

  constructor(request: IncomingMessage, limit: number, declared: number, admit: Admit, done: (body: Body) => void) {
    this.#request = request;
    this.#limit = limit;
    this.#declared = declared;
    this.#admit = admit;
    this.#done = done;
  }

  begin(): void {
    if (this.#declared <= unaskedBytes) this.#listen();
    else this.#ask(this.#declared, () => this.#listen());
  }

  #listen(): void {
    this.#whole ??= this.#declared > unaskedBytes ? Buffer.allocUnsafeSlow(this.#declared) : undefined;
    this.#request.on('data', (chunk: Buffer) => this.#take(chunk));
    this.#request.on('end', () => this.#end());
  }

  #take(chunk: Buffer): void {
    // Chunks of a refused body cost as much, although they are dropped.
    if (++this.#count > crumbs.many && this.#bytes < crumbs.octets * (this.#count - 1)) return this.#refuse('in-crumbs');
    if (this.#isOver) return void (this.#bytes += chunk.length);
    if (this.#bytes + chunk.length > this.#limit) return this.#refuse('too-large');
    if (this.#whole === undefined) this.#keep(chunk);
    else this.#whole.set(chunk, this.#bytes);
    this.#bytes += chunk.length;
    if (this.#place !== undefined) {
      if (!this.#place.arrived(this.#bytes)) this.#request.pause();
    } else if (this.#bytes > unaskedBytes) {
      // It may become as large as the limit.
      this.#request.pause();
      this.#ask(this.#limit, () => undefined);
    }
  }

  #keep(chunk: Buffer): void {
    // Most bodies come in one chunk.
    if (this.#bytes === 0 || chunk.length >= pieceBytes / 4) {
      this.#closePiece();
      this.#chunks.push(chunk);
      return;
    }
    if (this.#piece === undefined || this.#used + chunk.length > pieceBytes) {
      this.#closePiece();
      this.#piece = Buffer.allocUnsafeSlow(pieceBytes);
    }
    this.#piece.set(chunk, this.#used);
    this.#used += chunk.length;
  }

  #closePiece(): void {
    if (this.#piece !== undefined) this.#chunks.push(this.#piece.subarray(0, this.#used));
    this.#piece = undefined;
    this.#used = 0;
  }

  #ask(octets: number, begin: () => void): void {
    let hasBegun = false;
    const proceed = (): void => {
      if (hasBegun) return void this.#request.resume();
      hasBegun = true;
      begin();
      this.#request.resume();
    };
    this.#place = this.#admit({ octets, proceed, refuse: (reason) => this.#refuse(reason) });
    if (this.#place === undefined) this.#refuse('refused');
  }

  #refuse(reason: NoBody): void {
    if (reason === 'in-crumbs') this.#stop();
    if (this.#isOver) return;
    this.#isOver = true;
    this.#chunks = [];
    this.#piece = undefined;
    this.#whole = undefined;
    this.#place?.leave();
    this.#done(reason);
    if (reason !== 'in-crumbs') this.#request.resume();
  }

  #stop(): void {
    this.#request.removeAllListeners('data').pause();
    setTimeout(() => this.#request.socket.destroy(), lastAnswerMs).unref();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#place?.whole(this.#bytes);
    this.#closePiece();
    const [first] = this.#chunks;
    this.#done(this.#whole ?? (this.#chunks.length === 1 && first !== undefined ? first : Buffer.concat(this.#chunks)));
    this.#whole = undefined;
  }
}
