// Header of the PROXY protocol, version 2 (haproxy.org, proxy-protocol.txt, section 2.2), which a proxy sends before the forwarded octets.
import { SocketAddress } from 'node:net';

const signature = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
/** Length of the fixed part of a header. */
export const fixedOctets = 16;

/** Header of a proxy's own connection, such as a health check. */
export const ownProxyHeader = Buffer.concat([signature, Buffer.from([0x20, 0, 0, 0])]);

/** Content of a header: the client of the connection; undefined for the proxy's own connection, such as a health check. */
export type ProxyHeader = { readonly client: string | undefined };

/** Number of octets after the fixed part of a header. Throws HeaderRefused for anything else. */
export function octetsBehind(fixed: Buffer): number {
  if (fixed.length < fixedOctets || !fixed.subarray(0, signature.length).equals(signature))
    throw new HeaderRefused('its connections do not begin with the PROXY protocol, version 2');
  return fixed.readUInt16BE(14);
}

/** Reads a header: its fixed part and the rest. Throws HeaderRefused for one that names no TCP connection. */
export function readHeader(fixed: Buffer, behind: Buffer): ProxyHeader {
  const [versionAndCommand = 0, familyAndProtocol = 0] = fixed.subarray(signature.length);
  if (versionAndCommand === 0x20) return { client: undefined };
  if (versionAndCommand !== 0x21) throw new HeaderRefused('its PROXY protocol has another version, or an unknown command');
  const octets = addressOctets[familyAndProtocol];
  if (octets === undefined) throw new HeaderRefused('its PROXY protocol names no TCP connection over IPv4 or IPv6');
  // Both addresses and both ports.
  if (behind.length < 2 * octets + 4) throw new HeaderRefused('its PROXY protocol is too short for its addresses');
  return { client: formatAddress(behind.subarray(0, octets)) };
}

/** Refusal of the header of a trusted proxy, in words that follow the name of the proxy. */
export class HeaderRefused extends Error {
  override readonly name = 'HeaderRefused';
}

/** by family and protocol: TCP over IPv4, TCP over IPv6 */
const addressOctets: Readonly<Record<number, number>> = { 0x11: 4, 0x21: 16 };

function formatAddress(octets: Buffer): string {
  if (octets.length === 4) return octets.join('.');
  const groups = Array.from({ length: 8 }, (_, index) => octets.readUInt16BE(2 * index).toString(16));
  return new SocketAddress({ address: groups.join(':'), family: 'ipv6' }).address;
}
