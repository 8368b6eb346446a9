// A connection of KMIP: one message after another, each answered before the next is read.
import type { Owner } from '../../../core/base/async/shares.ts';
import type { Secured } from '../../../core/http/listener/bare-listener.ts';
import { lengthOf, headerOctets } from '../ttlv/read.ts';
import { MessageRoom } from './message-room.ts';

/** Longest message: a batch of certificates, or an opaque object. */
const mostMessageOctets = 1 << 20;

/** `messageMs`: from the first octet of a message to its last; `answerMs`: for the peer to read an answer; `lastMs`: the last one. */
const limits = { messageMs: 30_000, answerMs: 30_000, lastMs: 2_000 } as const;

/** An answer. `closes`: the connection ends with it. `release`: gives its room back. */
export type Said = { readonly octets: Buffer; readonly closes: boolean; readonly release?: () => void };

export type Conversation = {
  readonly idleMs: number;
  readonly room: MessageRoom;
  /** The owner of the room of a long message; undefined: the peer may send none. */
  ownerOfLong(): Owner | undefined;
  /** Answers a message. `gone`: aborted when the peer has gone. Never rejects. */
  answer(message: Buffer, gone: AbortSignal): Promise<Said>;
  /** the last answer of a connection on which something else than a message came; `problem` follows "The message " */
  refusal(problem: string): Buffer;
};

/** Serves a connection until it is closed. */
export function serve(secured: Secured, conversation: Conversation): void {
  new Served(secured, conversation).begin();
}

class Served {
  readonly #secured: Secured;
  readonly #conversation: Conversation;
  readonly #gone = new AbortController();
  #deadline: NodeJS.Timeout | undefined;
  #header: Buffer | undefined;
  #leaveRoom: (() => void) | undefined;
  #release: (() => void) | undefined;
  #isBusy = false;
  #isOver = false;

  constructor(secured: Secured, conversation: Conversation) {
    this.#secured = secured;
    this.#conversation = conversation;
  }

  begin(): void {
    const { socket } = this.#secured;
    socket.setNoDelay();
    // A peer that disconnects: `close` follows.
    socket.on('error', () => undefined);
    socket.on('readable', () => this.#read());
    socket.on('end', () => this.#end());
    socket.on('close', () => this.#leave());
    this.#wait();
    this.#read();
  }

  /** Between two messages. */
  #wait(): void {
    this.#secured.move('idle');
    this.#closeIn(this.#conversation.idleMs);
  }

  #read(): void {
    const { socket } = this.#secured;
    while (!this.#isBusy && !this.#isOver && socket.readableLength > 0) {
      if (this.#header === undefined) {
        if (this.#secured.connection.stage === 'idle') {
          this.#secured.move('request');
          this.#closeIn(limits.messageMs);
        }
        const header = socket.read(headerOctets) as Buffer | null;
        if (header === null) return;
        if (!this.#takeHeader(header)) return;
      }
      const header = this.#header as Buffer;
      const rest = (lengthOf(header) ?? 0) - headerOctets;
      const body = rest === 0 ? Buffer.alloc(0) : (socket.read(rest) as Buffer | null);
      // Shorter: the peer has ended the connection inside of the message.
      if (body === null || body.length < rest) return;
      this.#answer(Buffer.concat([header, body]));
    }
  }

  /** False: it is not the header of a message that is read. */
  #takeHeader(header: Buffer): boolean {
    const octets = header.length < headerOctets ? undefined : lengthOf(header);
    if (octets === undefined) return this.#refuse('is not TTLV');
    if (octets > mostMessageOctets) return this.#refuse(`has more than ${mostMessageOctets} octets`);
    if (MessageRoom.needs(octets)) {
      const owner = this.#conversation.ownerOfLong();
      if (owner === undefined) return this.#refuse('is too long for a client that is not known');
      this.#leaveRoom = this.#conversation.room.take(owner, octets);
      if (this.#leaveRoom === undefined) return this.#refuse('is one of too many long ones at a time: try again');
    }
    this.#header = header;
    return true;
  }

  #refuse(problem: string): false {
    this.#last(this.#conversation.refusal(problem));
    return false;
  }

  #answer(message: Buffer): void {
    this.#isBusy = true;
    this.#header = undefined;
    clearTimeout(this.#deadline);
    void this.#send(message);
  }

  async #send(message: Buffer): Promise<void> {
    const { octets, closes, release } = await this.#conversation.answer(message, this.#gone.signal);
    this.#leaveRoom?.();
    const { socket } = this.#secured;
    if (socket.destroyed) return release?.();
    this.#release = release;
    if (closes) return this.#last(octets);
    this.#closeIn(limits.answerMs);
    // One answer at a time: a peer that reads nothing holds no more.
    if (socket.write(octets)) this.#goOn();
    else socket.once('drain', () => this.#goOn());
  }

  #goOn(): void {
    this.#release?.();
    this.#isBusy = false;
    const { socket } = this.#secured;
    if (socket.readableEnded) return this.#end();
    this.#wait();
    this.#read();
  }

  /** The peer sends no more; what it has sent is answered first. */
  #end(): void {
    if (!this.#isBusy && !this.#isOver) this.#secured.socket.destroy();
  }

  #last(octets: Buffer): void {
    this.#isOver = true;
    this.#closeIn(limits.lastMs);
    const { socket } = this.#secured;
    socket.end(octets);
    // Octets behind the refused ones are read and dropped: with them unread, the close would discard the answer.
    socket.removeAllListeners('readable').resume();
  }

  #closeIn(ms: number): void {
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(() => this.#secured.socket.destroy(), ms).unref();
  }

  #leave(): void {
    this.#release?.();
    this.#gone.abort();
    clearTimeout(this.#deadline);
    this.#leaveRoom?.();
    this.#isOver = true;
  }
}
