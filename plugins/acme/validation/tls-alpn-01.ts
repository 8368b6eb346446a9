// tls-alpn-01 (RFC 8737, and RFC 8738 for addresses): the host answers a handshake with a certificate that has the digest of the key authorization.
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { equalConstantTime } from '../../../core/base/bytes.ts';
import { parseAddress } from '../../../core/base/addresses.ts';
import { Reader, readOnly, tag } from '../../../core/der/der.ts';
import { connectGuarded } from '../../../core/outbound/guarded-connection.ts';
import { extensionsOf } from '../certificate-extensions.ts';
import type { Identifier } from '../records/records.ts';
import { NotProved } from './refusal.ts';
import type { Proof } from './proof.ts';
import type { Ways } from './ways.ts';

const protocol = 'acme-tls/1';
const subjectAltName = '2.5.29.17';
const acmeIdentifier = '1.3.6.1.5.5.7.1.31';

/** Rejects with NotProved, OutboundError, or the error of the system. */
export async function proveByTls(ways: Ways, { identifier, keyAuthorization, signal }: Proof): Promise<void> {
  const { value, type } = identifier;
  const url = new URL(`https://${value.includes(':') ? `[${value}]` : value}:${ways.tlsPort}`);
  const { lookup } = ways.destinations.wayTo(url);
  const socket = await connectGuarded({
    host: value,
    port: ways.tlsPort,
    lookup,
    signal,
    servername: type === 'ip' ? reverseName(value) : value,
    ALPNProtocols: [protocol],
    minVersion: 'TLSv1.2',
    // The certificate is signed by itself: the digest in it is what counts.
    rejectUnauthorized: false,
  });
  // Its guard may end it once more, when nobody waits for it.
  socket.on('error', () => undefined);
  try {
    if (socket.alpnProtocol === null) await once(socket, 'secureConnect', { signal });
    if (socket.alpnProtocol !== protocol) throw new NotProved('unauthorized', `The host does not speak ${protocol}.`);
    const certificate = socket.getPeerX509Certificate()?.raw;
    if (certificate === undefined || !proves(certificate, identifier, keyAuthorization))
      throw new NotProved(
        'unauthorized',
        'The certificate of the host is not that of the challenge: exactly this name, and critical acmeIdentifier with the digest of the key authorization of this account.',
      );
  } catch (error) {
    if (signal.aborted || error instanceof NotProved) throw error;
    throw new NotProved('tls', `The TLS handshake for ${protocol} with the host failed.`);
  } finally {
    socket.destroy();
  }
}

function proves(certificate: Uint8Array, identifier: Identifier, keyAuthorization: string): boolean {
  try {
    const extensions = extensionsOf(certificate);
    const digest = extensions.get(acmeIdentifier);
    const names = extensions.get(subjectAltName);
    if (digest?.isCritical !== true || names === undefined) return false;
    const reader = new Reader(digest.value);
    const { content } = reader.next(tag.octetString);
    reader.end();
    return isOnlyName(names.value, identifier) && equalConstantTime(content, hash('sha256', keyAuthorization, 'buffer'));
  } catch {
    return false;
  }
}

/** Tells whether a subjectAltName has this name and no other. */
function isOnlyName(der: Uint8Array, { type, value }: Identifier): boolean {
  const names = readOnly(der, tag.sequence);
  const { tag: kind, content } = names.next();
  names.end();
  if (type === 'dns') return kind === tag.primitive(2) && Buffer.from(content).toString('latin1').toLowerCase() === value;
  const address = parseAddress(value);
  const octets = (address?.value ?? 0n).toString(16).padStart((address?.bits ?? 0) / 4, '0');
  return kind === tag.primitive(7) && Buffer.from(content).toString('hex') === octets;
}

/** The name of an address in the reverse tree (RFC 8738 section 6). */
function reverseName(text: string): string {
  const address = parseAddress(text);
  if (address?.bits === 32) return `${text.split('.').toReversed().join('.')}.in-addr.arpa`;
  const digits = (address?.value ?? 0n).toString(16).padStart(32, '0');
  return `${digits.split('').toReversed().join('.')}.ip6.arpa`;
}
