// The frames in which p11-kit's client sends PKCS#11 calls over a socket (p11-kit 0.24 to 0.26: rpc-transport.c, rpc-message.c; version 0 of the
// protocol, which clients that offer 1 or 2 accept as well): all numbers big-endian, a frame is `number of the exchange ‖ length of options
// ‖ length ‖ options ‖ message`.
import { padded } from '../pkcs11/fixed-text.ts';

/** The version that a server answers, whatever a client offers: the lower one counts, and nothing above 0 is needed. */
export const protocolVersion = 0;

/** A message: the number of the call, its signature, and the arguments. `octets`: length of its frame. */
export type RemoteCall = { readonly exchange: number; readonly call: number; readonly octets: number; readonly arguments: ArgumentReader };

const headOctets = 12;
/** Limit of a frame, unless another is given: a call with a digest or a few attributes. */
const usualOctets = 65_536;

/** Assembles calls from the octets of a connection. The first octet is the client's version of the protocol. */
export class FrameReader {
  readonly #mostOctets: number;
  /** octets of an unfinished frame, in one piece: thousands of small ones would take a multiple of their length */
  #kept = Buffer.alloc(0);
  #length = 0;
  /** octets from which something can be read */
  #needed = 1;
  #hasVersion = false;

  /** `mostOctets`: the longest frame that is taken. */
  constructor(mostOctets: number = usualOctets) {
    this.#mostOctets = mostOctets;
  }

  /** number of octets that wait for the rest of their frame */
  get held(): number {
    return this.#length;
  }

  /** Takes octets; returns the complete calls. `begins`: the version was just read and must be answered. Throws RangeError for an invalid frame. */
  push(chunk: Buffer): { readonly begins: boolean; readonly calls: readonly RemoteCall[] } {
    const waits = this.#length > 0 || chunk.length < this.#needed;
    if (waits) this.#keep(chunk);
    if (waits && this.#length < this.#needed) return { begins: false, calls: [] };
    let rest = waits ? this.#kept.subarray(0, this.#length) : chunk;
    const begins = !this.#hasVersion;
    if (begins) rest = rest.subarray(1);
    this.#hasVersion = true;
    const calls: RemoteCall[] = [];
    for (let end = this.#endOf(rest); end <= rest.length; end = this.#endOf(rest)) {
      calls.push(callIn(rest.subarray(0, end)));
      rest = rest.subarray(end);
    }
    this.#needed = this.#endOf(rest);
    // The calls have the octets before it, which are not written to again.
    this.#kept = Buffer.from(rest);
    this.#length = rest.length;
    return { begins, calls };
  }

  /** Adds octets to those of the unfinished frame; the room for them doubles, and is never more than the frame needs. */
  #keep(chunk: Buffer): void {
    const length = this.#length + chunk.length;
    if (length > this.#kept.length) {
      const room = Buffer.allocUnsafeSlow(Math.max(length, Math.min(2 * length, this.#needed)));
      this.#kept.copy(room, 0, 0, this.#length);
      this.#kept = room;
    }
    chunk.copy(this.#kept, this.#length);
    this.#length = length;
  }

  /** The end of the first frame, or that of its head if this is not complete. */
  #endOf(octets: Buffer): number {
    if (octets.length < headOctets) return headOctets;
    const end = headOctets + octets.readUInt32BE(4) + octets.readUInt32BE(8);
    if (end > this.#mostOctets) throw new RangeError('the call is longer than any that is answered');
    return end;
  }
}

function callIn(frame: Buffer): RemoteCall {
  const message = new ArgumentReader(frame.subarray(headOctets + frame.readUInt32BE(4)));
  const call = message.number32();
  message.octets();
  return { exchange: frame.readUInt32BE(0), call, octets: frame.length, arguments: message };
}

/** Reads the arguments of a call one after another. Throws RangeError where they end too early. */
export class ArgumentReader {
  readonly #octets: Buffer;
  #at = 0;

  constructor(octets: Buffer) {
    this.#octets = octets;
  }

  octet(): number {
    return this.take(1).readUInt8();
  }

  number32(): number {
    return this.take(4).readUInt32BE();
  }

  /** CK_ULONG; handles and flags are small here. */
  ulong(): number {
    return Number(this.take(8).readBigUInt64BE());
  }

  /** Octets with their length before them; a length of -1 means none. */
  octets(): Buffer {
    const length = this.number32();
    return this.take(length === nothing ? 0 : length);
  }

  /** As `octets`, after a flag that says whether they follow or only their length. */
  flaggedOctets(): Buffer {
    if (this.octet() !== 0) return this.octets();
    this.number32();
    return Buffer.alloc(0);
  }

  /** The remaining octets, or all but the last `but` of them. */
  rest(but = 0): Buffer {
    return this.take(this.#octets.length - this.#at - but);
  }

  take(length: number): Buffer {
    if (length < 0 || this.#at + length > this.#octets.length) throw new RangeError('the call ends within an argument');
    this.#at += length;
    return this.#octets.subarray(this.#at - length, this.#at);
  }
}

const nothing = 0xff_ff_ff_ff;
const errorCall = 0;

/** The frame of an answer; `signature` names the kinds of its values as p11-kit does. */
export function answerFrame(exchange: number, call: number, signature: string, values: readonly Buffer[]): Buffer {
  const message = Buffer.concat([number32(call), octets(Buffer.from(signature)), ...values]);
  return Buffer.concat([number32(exchange), number32(0), number32(message.length), message]);
}

/** The frame of a call that failed with this CK_RV. */
export function errorFrame(exchange: number, rv: number): Buffer {
  return answerFrame(exchange, errorCall, 'u', [ulong(rv)]);
}

export const octet = (value: number): Buffer => Buffer.of(value);
export const version = (major: number, minor: number): Buffer => Buffer.of(major, minor);

export function number32(value: number): Buffer {
  const encoded = Buffer.alloc(4);
  encoded.writeUInt32BE(value);
  return encoded;
}

export function ulong(value: number): Buffer {
  const encoded = Buffer.alloc(8);
  encoded.writeBigUInt64BE(BigInt(value));
  return encoded;
}

export function octets(value: Uint8Array): Buffer {
  return Buffer.concat([number32(value.length), value]);
}

/** Text of fixed length. */
export function text(value: string, length: number): Buffer {
  return octets(Buffer.from(padded(value, length)));
}

export function flaggedOctets(value: Uint8Array): Buffer {
  return Buffer.concat([octet(1), octets(value)]);
}

/** Encodes only the number of octets. */
export function lengthOnly(length: number): Buffer {
  return Buffer.concat([octet(0), number32(length)]);
}

export function ulongs(values: readonly number[]): Buffer {
  return Buffer.concat([octet(1), number32(values.length), ...values.map(ulong)]);
}
