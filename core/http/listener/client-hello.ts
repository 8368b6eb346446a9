// The first message of a TLS peer (RFC 8446 4.1.2 and 5.1), read as far as it decides about the turn of its handshake.

const handshakeRecord = 22;
const recordHeader = 5;
const clientHello = 1;
const messageHeader = 4;
/** A real one has two KiB at most: key shares for post-quantum groups, and a session ticket. */
const mostOctets = 32 * 1024;

/** The groups for key exchange that cost little, in the words of OpenSSL and in those of TLS. */
export const groups = { names: 'X25519MLKEM768:X25519:P-256:P-384', numbers: new Set([0x11ec, 0x001d, 0x0017, 0x0018]) } as const;

/**
 * `part`: more of it has to come. `whole`: TLS may read it; so are octets that it refuses at once. `refused`: too long to be one, or the peer
 * wants a key exchange with no group but such that cost a multiple of the others.
 */
export type Hello = 'part' | 'whole' | 'refused';

/** Judges what has come so far. */
export function judgeHello(octets: Buffer): Hello {
  const fragments: Buffer[] = [];
  let length = 0;
  for (let at = 0; at < octets.length;) {
    if (octets[at] !== handshakeRecord) return 'whole';
    const begin = at + recordHeader;
    if (begin > octets.length) break;
    at = begin + octets.readUInt16BE(begin - 2);
    if (at === begin) return 'whole';
    const fragment = octets.subarray(begin, at);
    fragments.push(fragment);
    length += fragment.length;
  }
  const message = fragments.length === 1 ? (fragments[0] as Buffer) : Buffer.concat(fragments);
  if (length > 0 && message[0] !== clientHello) return 'whole';
  const isWhole = length >= messageHeader && length >= messageHeader + message.readUIntBE(1, 3);
  if (!isWhole) return octets.length > mostOctets ? 'refused' : 'part';
  return wantsCostlyGroup(message) ? 'refused' : 'whole';
}

const supportedGroups = 10;

/** Whether it names groups, and none of those that cost little. What cannot be read, TLS refuses. */
function wantsCostlyGroup(message: Buffer): boolean {
  try {
    // Version and random, then session id, cipher suites and compression methods, each behind its length.
    let at = messageHeader + 2 + 32;
    at += 1 + message.readUInt8(at);
    at += 2 + message.readUInt16BE(at);
    at += 1 + message.readUInt8(at);
    const end = at + 2 + message.readUInt16BE(at);
    for (at += 2; at < end;) {
      const [type, length] = [message.readUInt16BE(at), message.readUInt16BE(at + 2)];
      at += 4;
      if (type === supportedGroups) return !numbersIn(message.subarray(at + 2, at + length)).some((number) => groups.numbers.has(number));
      at += length;
    }
    return false;
  } catch {
    return false;
  }
}

function numbersIn(list: Buffer): readonly number[] {
  return Array.from({ length: list.length >> 1 }, (_, index) => list.readUInt16BE(2 * index));
}
