// The EST listener: HTTPS on a separate port that requests a client certificate and fails no handshake for the lack of one.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Address } from '../../../core/config/config.ts';
import type { Log } from '../../../core/base/context.ts';
import { askingForCertificates } from '../../../core/http/listener/certificate-guard.ts';
import { type ClientError, listenHttps, type Listener, refuseConnection, type TlsIdentity } from '../../../core/http/listener/listeners.ts';

export type EstServerOptions = Address & {
  readonly identity: TlsIdentity;
  readonly handler: (request: IncomingMessage, response: ServerResponse) => void;
  readonly log?: Log;
};

/** A device sends one or two requests; idle connections are closed soon. */
const requestTimeoutMs = 30_000;
const keepAliveMs = 5_000;
/** Node looks for connections past their deadline this often; its default of 30 s would double every deadline. */
const checkEveryMs = 2_000;

/** Opens the listener; rejects with ListenError. */
export async function openEstListener(options: EstServerOptions): Promise<Listener> {
  const listener = await listenHttps({
    ...options,
    tls: {
      connectionsCheckingInterval: checkEveryMs,
      ...askingForCertificates,
      // Offered by clients that speak nothing newer; without a common one the handshake would fail.
      ALPNProtocols: ['http/1.1', 'http/1.0'],
    },
  });
  const { server } = listener;
  server.requestTimeout = requestTimeoutMs;
  server.keepAliveTimeout = keepAliveMs;
  server.removeAllListeners('clientError').on('clientError', answerClientError);
  return listener;
}

/** Answers errors that node finds before there is a request, with one line of text. */
function answerClientError(error: ClientError, socket: Socket): void {
  refuseConnection(error, socket, () => {
    const [status, line] = certificateReaders.has(error.library ?? '')
      ? unreadableCertificate
      : (clientErrors[error.code ?? ''] ?? ['400 Bad Request', 'The request cannot be read.']);
    return `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${line.length + 1}\r\n\r\n${line}\n`;
  });
}

/**
 * Parts of OpenSSL that look into certificates. In TLS 1.2 what they find wrong with the client's lets the handshake pass and stays
 * behind until the first read, which then fails as if the request were at fault.
 */
const certificateReaders: ReadonlySet<string> = new Set(['X509 V3 routines', 'x509 certificate routines', 'asn1 encoding routines']);

const unreadableCertificate = [
  '400 Bad Request',
  'The client certificate cannot be read: an extension of it is malformed or repeated. Send another certificate, or none.',
] as const;

const clientErrors: Readonly<Record<string, readonly [status: string, line: string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The request headers may have at most 16384 octets.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request took too long.'],
};
