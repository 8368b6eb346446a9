// IP addresses between text and the octets of an iPAddress entry (RFC 5280 4.2.1.6).
import { isIPv4, isIPv6 } from 'node:net';

/** Parses an address text to 4 or 16 octets; throws TypeError if it is not an address. */
export function parseIpAddress(text: string): Uint8Array {
  if (isIPv4(text)) return Uint8Array.from(text.split('.').map(Number));
  if (!isIPv6(text) || text.includes('%')) throw new TypeError('not an IP address');
  // An embedded IPv4 tail counts as two groups.
  const tail = /:(\d+\.\d+\.\d+\.\d+)$/.exec(text)?.[1];
  const plain = tail === undefined ? text : text.slice(0, -tail.length) + groupsOf(parseIpAddress(tail)).join(':');
  const [left = '', right] = plain.split('::');
  const before = left === '' ? [] : left.split(':');
  const after = right === undefined || right === '' ? [] : right.split(':');
  const zeros = Array<string>(8 - before.length - after.length).fill('0');
  const groups = [...before, ...zeros, ...after].map((group) => Number.parseInt(group, 16));
  return Uint8Array.from(groups.flatMap((group) => [group >> 8, group & 0xff]));
}

/** The text of 4 or 16 octets (IPv6 in the form of RFC 5952); undefined for any other length. */
export function formatIpAddress(octets: Uint8Array): string | undefined {
  if (octets.length === 4) return octets.join('.');
  if (octets.length !== 16) return undefined;
  const text = groupsOf(octets).join(':');
  // The URL parser writes the canonical form.
  return new URL(`http://[${text}]/`).hostname.slice(1, -1);
}

function groupsOf(octets: Uint8Array): string[] {
  return Array.from({ length: octets.length / 2 }, (_, i) => (((octets[2 * i] ?? 0) << 8) | (octets[2 * i + 1] ?? 0)).toString(16));
}
