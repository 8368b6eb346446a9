// Reads the first message of a TLS peer (RFC 8446 4.1.2 and 5.1), as far as it decides about the turn of its handshake.
import { message, record } from '../../tls/messages.ts';

/** Limit of a ClientHello: a real one has two KiB at most, with key shares for post-quantum groups and a session ticket. */
const mostOctets = 32 * 1024;
const usualOctets = 2 * 1024;
/** A client that cuts it at all sends a few; RFC 8449 lets a record have 64 octets at least. */
const mostRecords = 32;

/** Cheap groups for key exchange, by their names in OpenSSL and their numbers in TLS. */
export const groups = { names: 'X25519MLKEM768:X25519:P-256:P-384', numbers: new Set([0x11ec, 0x001d, 0x0017, 0x0018]) } as const;

/**
 * `part`: more of it has to come. `whole`: TLS may read it; so are octets that it refuses at once. `refused`: too long to be one, in too many records, or the peer
 * offers only groups that cost a multiple of the others.
 */
export type Hello = 'part' | 'whole' | 'refused';

/** Reads a first message as it comes. A piece costs no more when many came before it. */
export class HelloReader {
  #buffer: Buffer = Buffer.allocUnsafe(usualOctets);
  #length = 0;
  /** the records that are whole, without their headers */
  readonly #fragments: Buffer[] = [];
  /** octets of the last record, of which more may come */
  #rest: Buffer = Buffer.alloc(0);
  /** offset of the next record */
  #at = 0;

  /** All octets so far, for TLS to read. */
  get heard(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  /** The name of the server that the peer asks for (RFC 6066 section 3), in lower case; undefined without one, and for what is not whole. */
  get serverName(): string | undefined {
    const names = extensionIn(Buffer.concat([...this.#fragments, this.#rest]), serverName);
    // A list of names; the one of type host_name has its length before it.
    if (names === undefined || names.length < 5 || names[2] !== 0) return undefined;
    const end = 5 + names.readUInt16BE(3);
    return end > names.length ? undefined : names.toString('latin1', 5, end).toLowerCase();
  }

  /** Judges the message with the octets that have come now. */
  read(octets: Buffer): Hello {
    this.#keep(octets);
    const { heard } = this;
    const fragments = this.#fragments;
    for (;;) {
      if (this.#at < heard.length && heard[this.#at] !== record.handshake) return 'whole';
      const begin = this.#at + record.header;
      if (begin > heard.length) return judge(fragments, heard.length);
      const end = begin + heard.readUInt16BE(begin - 2);
      if (end === begin) return 'whole';
      if (fragments.length === mostRecords) return 'refused';
      if (end > heard.length) {
        this.#rest = heard.subarray(begin);
        return judge([...fragments, this.#rest], heard.length);
      }
      this.#rest = Buffer.alloc(0);
      fragments.push(heard.subarray(begin, end));
      this.#at = end;
    }
  }

  #keep(octets: Buffer): void {
    const length = this.#length + octets.length;
    if (length > this.#buffer.length) {
      const wider = Buffer.allocUnsafe(Math.max(length, 2 * this.#buffer.length));
      this.heard.copy(wider);
      this.#buffer = wider;
    }
    octets.copy(this.#buffer, this.#length);
    this.#length = length;
  }
}

/** `octets`: how many have come with the headers of the records. */
function judge(fragments: readonly Buffer[], octets: number): Hello {
  const length = fragments.reduce((sum, fragment) => sum + fragment.length, 0);
  const header = Buffer.concat(fragments.map((fragment) => fragment.subarray(0, message.header))).subarray(0, message.header);
  if (length > 0 && header[0] !== message.clientHello) return 'whole';
  const isWhole = length >= message.header && length >= message.header + header.readUIntBE(1, 3);
  if (!isWhole) return octets > mostOctets ? 'refused' : 'part';
  return wantsCostlyGroup(Buffer.concat(fragments)) ? 'refused' : 'whole';
}

const supportedGroups = 10;
const serverName = 0;

/** Tells whether it names only expensive groups. */
function wantsCostlyGroup(hello: Buffer): boolean {
  const named = extensionIn(hello, supportedGroups);
  return named !== undefined && !numbersIn(named.subarray(2)).some((number) => groups.numbers.has(number));
}

/** The content of an extension; undefined without it. TLS refuses an unreadable message. */
function extensionIn(hello: Buffer, wanted: number): Buffer | undefined {
  try {
    // Version and random, then session id, cipher suites and compression methods, each after its length.
    let at = message.header + 2 + 32;
    at += 1 + hello.readUInt8(at);
    at += 2 + hello.readUInt16BE(at);
    at += 1 + hello.readUInt8(at);
    const end = at + 2 + hello.readUInt16BE(at);
    for (at += 2; at < end;) {
      const [type, length] = [hello.readUInt16BE(at), hello.readUInt16BE(at + 2)];
      at += 4;
      if (type === wanted) return hello.subarray(at, at + length);
      at += length;
    }
    return undefined;
  } catch {
    return undefined;
  }
}

function numbersIn(list: Buffer): readonly number[] {
  return Array.from({ length: list.length >> 1 }, (_, index) => list.readUInt16BE(2 * index));
}
