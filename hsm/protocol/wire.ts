// The framing between the service and an HSM host: jobs one way, results the other, packed into one buffer per batch.
//
// message: length(4) ‖ id(4) ‖ code(1) ‖ flags(1) ‖ count(2) ‖ micros(4) ‖ part*      part: length(4) ‖ octets      (little endian)
// `length` counts the octets after it; a part of length 0xffffffff is absent. `micros` of a result is the time the token took; in a job this
// field has the number of the owner.
// Reasons against the IPC of Node: README, "Decisions".

/** A job (code = operation) or a result (code = one of the result codes). An absent part differs from an empty one. */
export type Message = {
  readonly id: number;
  readonly code: number;
  readonly flags: number;
  /** for a job: its owner, see JobBook */
  readonly micros: number;
  readonly parts: readonly (Uint8Array | undefined)[];
};

/** Codes of results. */
export const resultOk = 0;
export const resultError = 1;
/** Result of a job that needs a login, which only the host's main thread performs. */
export const resultLoginNeeded = 2;
/** Result when the module is broken, as the `message` of the first part says: the host must be replaced. */
export const resultModuleBroken = 3;
/** the token has no sessions for another thread */
export const resultNoSession = 4;

const headerBytes = 16;
const absent = 0xffffffff;
/** Longer than any message of this protocol: a greater length is a framing error. */
const longestMessageBytes = 512 * 1_048_576;

/** A received message. Parts are read in place, so that most of them need no buffer of their own on the hot path. */
export class ReceivedMessage {
  readonly id: number;
  readonly code: number;
  readonly flags: number;
  readonly micros: number;
  readonly #buffer: Buffer;
  readonly #start: number;

  constructor(buffer: Buffer, start: number) {
    this.#buffer = buffer;
    this.#start = start;
    this.id = buffer.readUInt32LE(start + 4);
    this.code = buffer[start + 8] as number;
    this.flags = buffer[start + 9] as number;
    this.micros = buffer.readUInt32LE(start + 12);
  }

  /** Number of the owner of a job; 0 for the appliance itself. */
  get owner(): number {
    return this.micros;
  }

  /** Number of parts. */
  get count(): number {
    return this.#buffer.readUInt16LE(this.#start + 10);
  }

  /** Returns a part as a view of the received octets; undefined if it is absent. */
  find(index: number): Buffer | undefined {
    const offset = this.#offset(index);
    const length = this.#lengthAt(offset);
    return length === absent ? undefined : this.#buffer.subarray(offset + 4, offset + 4 + length);
  }

  /** As find, for a required part. Throws RangeError when it is absent. */
  part(index: number): Buffer {
    const found = this.find(index);
    if (found === undefined) throw new RangeError(`part ${index} of the message is missing`);
    return found;
  }

  /** All parts, as `find` gives them: in one pass, for messages with many. */
  parts(): (Buffer | undefined)[] {
    const parts: (Buffer | undefined)[] = [];
    let offset = this.#start + headerBytes;
    for (let left = this.count; left > 0; left--) {
      const length = this.#lengthAt(offset);
      offset += 4;
      parts.push(length === absent ? undefined : this.#buffer.subarray(offset, offset + length));
      if (length !== absent) offset += length;
    }
    return parts;
  }

  /** A copy of a required part, independent of the received batch. */
  copy(index: number): Buffer {
    const offset = this.#offset(index);
    const length = this.#lengthAt(offset);
    if (length === absent) throw new RangeError(`part ${index} of the message is missing`);
    const copy = Buffer.allocUnsafe(length);
    this.#buffer.copy(copy, 0, offset + 4, offset + 4 + length);
    return copy;
  }

  /** A part as text with one character per octet: quick to make, usable as the key of a map. */
  identity(index: number): string {
    const offset = this.#offset(index);
    return this.#buffer.toString('latin1', offset + 4, offset + 4 + this.#buffer.readUInt32LE(offset));
  }

  /** The value of a part written by `json`. */
  json<T>(index: number): T {
    return JSON.parse(this.part(index).toString('utf8')) as T;
  }

  /** Length of the whole message. */
  get byteLength(): number {
    return 4 + this.#buffer.readUInt32LE(this.#start);
  }

  /** Copies the whole message into another buffer; returns the offset after it. */
  writeTo(buffer: Buffer, offset: number): number {
    return offset + this.#buffer.copy(buffer, offset, this.#start, this.#start + this.byteLength);
  }

  #offset(index: number): number {
    const buffer = this.#buffer;
    if (index >= this.count) throw new RangeError(`the message has no part ${index}`);
    let offset = this.#start + headerBytes;
    for (let skipped = 0; skipped < index; skipped++) {
      const length = buffer.readUInt32LE(offset);
      offset += 4 + (length === absent ? 0 : length);
    }
    return offset;
  }

  /** Length of the part at an offset. Throws RangeError for a part that ends after the message. */
  #lengthAt(offset: number): number {
    const end = this.#start + this.byteLength;
    const length = offset + 4 > end ? undefined : this.#buffer.readUInt32LE(offset);
    if (length === absent || (length !== undefined && offset + 4 + length <= end)) return length;
    throw new RangeError('a part of the message reaches beyond its end');
  }
}

/** Plain data as a part. */
export function json(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value), 'utf8');
}

/** Encodes messages, new or received ones, into one new buffer. */
export function encodeMessages(messages: readonly (Message | ReceivedMessage)[]): Buffer<ArrayBuffer> {
  let total = 0;
  for (const message of messages) total += message instanceof ReceivedMessage ? message.byteLength : messageBytes(message);
  const buffer = Buffer.allocUnsafeSlow(total);
  let offset = 0;
  for (const message of messages) {
    offset = message instanceof ReceivedMessage ? message.writeTo(buffer, offset) : writeMessage(buffer, offset, message);
  }
  return buffer;
}

/** Decodes the single message in `bytes`. */
export function decodeMessage(bytes: Uint8Array): ReceivedMessage {
  return new ReceivedMessage(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0);
}

/** Splits a stream of octets into messages. */
export class MessageReader {
  #chunks: Buffer[] = [];
  #have = 0;

  /** Takes the next octets of the stream and returns the messages they complete. Throws RangeError for a framing error. */
  push(chunk: Buffer): ReceivedMessage[] {
    this.#chunks.push(chunk);
    this.#have += chunk.length;
    if (this.#have < this.#needed()) return [];
    const buffer = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks, this.#have);
    const messages: ReceivedMessage[] = [];
    let offset = 0;
    while (buffer.length - offset >= 4) {
      const end = offset + lengthOf(buffer, offset);
      if (end > buffer.length) break;
      messages.push(new ReceivedMessage(buffer, offset));
      offset = end;
    }
    this.#chunks = offset === buffer.length ? [] : [buffer.subarray(offset)];
    this.#have = buffer.length - offset;
    return messages;
  }

  /** Octets needed before the next message can be complete, so that a large message is concatenated once and not per chunk. */
  #needed(): number {
    const first = this.#chunks[0];
    return first === undefined || first.length < 4 ? 4 : lengthOf(first, 0);
  }
}

/** Length of the whole message that begins at an offset. */
function lengthOf(buffer: Buffer, start: number): number {
  const length = 4 + buffer.readUInt32LE(start);
  if (length < headerBytes || length > longestMessageBytes) throw new RangeError(`a message of ${length} octets`);
  return length;
}

function messageBytes(message: Message): number {
  let bytes = headerBytes;
  const { parts } = message;
  // By index, here and below: every job passes here, and an iterator would be garbage.
  for (let at = 0; at < parts.length; at++) bytes += 4 + (parts[at]?.length ?? 0);
  return bytes;
}

function writeMessage(buffer: Buffer, start: number, message: Message): number {
  buffer.writeUInt32LE(message.id, start + 4);
  buffer[start + 8] = message.code;
  buffer[start + 9] = message.flags;
  buffer.writeUInt16LE(message.parts.length, start + 10);
  buffer.writeUInt32LE(Math.min(Math.round(message.micros), absent), start + 12);
  let offset = start + headerBytes;
  const { parts } = message;
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at];
    buffer.writeUInt32LE(part === undefined ? absent : part.length, offset);
    offset += 4;
    if (part === undefined) continue;
    buffer.set(part, offset);
    offset += part.length;
  }
  buffer.writeUInt32LE(offset - start - 4, start);
  return offset;
}
