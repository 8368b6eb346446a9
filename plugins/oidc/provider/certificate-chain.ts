// Reads the TLS certificates of a provider, to show an administrator why it is not trusted.
import type { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Destinations, Way } from '../../../core/outbound/destinations.ts';
import { connectGuarded } from '../../../core/outbound/guarded-connection.ts';
import { hostOf } from '../../../core/base/addresses.ts';
import { cleanly } from '../../../core/base/public-keys/openssl.ts';

/** One certificate; names on one line. */
export type ShownCertificate = { readonly subject: string; readonly issuer: string; readonly notAfter: Temporal.Instant };

const maxCertificates = 8;
const timeoutMs = 5_000;

/**
 * The chain that the provider sends, trusted or not. Nothing is sent over this connection; every other call verifies the chain. Empty when
 * there is no TLS, no readable certificate, or no connection.
 */
export async function readCertificates(url: URL, destinations: Destinations): Promise<readonly ShownCertificate[]> {
  try {
    const leaf = await fetchLeaf(url, destinations.wayTo(url));
    return cleanly(() => chainOf(leaf).map(describeCertificate));
  } catch {
    // The address is forbidden, or the certificate is malformed, for example in its times.
    return [];
  }
}

/** Only fetches: an exception in a listener would end the process. */
async function fetchLeaf(url: URL, { lookup }: Way): Promise<X509Certificate | undefined> {
  const host = hostOf(url);
  // RFC 6066 section 3: no addresses in the server name.
  const servername = isIP(host) === 0 ? { servername: host } : {};
  const signal = AbortSignal.timeout(timeoutMs);
  const socket = await connectGuarded({ host, port: Number(url.port || 443), rejectUnauthorized: false, lookup, signal, ...servername });
  return new Promise((resolve) => {
    socket.setTimeout(timeoutMs, () => socket.destroy());
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(undefined));
    socket.on('secureConnect', () => {
      resolve(peerOf(socket));
      socket.destroy();
    });
  });
}

function peerOf(socket: TLSSocket): X509Certificate | undefined {
  try {
    return socket.getPeerX509Certificate();
  } catch {
    return undefined;
  }
}

/** From the leaf up; a root is its own issuer. */
function chainOf(leaf: X509Certificate | undefined): X509Certificate[] {
  const chain: X509Certificate[] = [];
  for (let one = leaf; one !== undefined && chain.length < maxCertificates; one = one.issuerCertificate) {
    const { fingerprint256 } = one;
    if (chain.some((other) => other.fingerprint256 === fingerprint256)) break;
    chain.push(one);
  }
  return chain;
}

function describeCertificate({ subject, issuer, validTo }: X509Certificate): ShownCertificate {
  return {
    subject: subject.replaceAll('\n', ', '),
    issuer: issuer.replaceAll('\n', ', '),
    notAfter: Temporal.Instant.fromEpochMilliseconds(Date.parse(validTo)),
  };
}
