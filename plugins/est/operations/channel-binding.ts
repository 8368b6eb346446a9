// Channel binding: a request that carries one proves that it was made for this TLS connection (RFC 7030 3.5).
import type { TLSSocket } from 'node:tls';
import { equalConstantTime, encodeBase64, encodeUtf8 } from '../../../core/base/bytes.ts';
import { failRequest } from '../errors.ts';

/**
 * Checks the challengePassword of a request against the connection it came on. TLS 1.2: base64 of tls-unique, which is the client's
 * Finished message, since sessions are never resumed here (RFC 5929 3). TLS 1.3 has no tls-unique: base64 of tls-exporter (RFC 9266).
 * Throws `invalid-csr` when it does not fit; a shared secret in this place fits never.
 */
export function requireChannelBinding(socket: TLSSocket, challengePassword: string): void {
  const finished = socket.getProtocol() === 'TLSv1.3' ? exportBinding(socket) : socket.getPeerFinished();
  if (finished !== undefined && equalConstantTime(encodeUtf8(challengePassword), encodeUtf8(encodeBase64(finished)))) return;
  throw failRequest('invalid-csr', {
    detail:
      'The challengePassword of the request is not the channel binding of this connection (RFC 7030 section 3.5); leave it out or bind it.',
  });
}

function exportBinding(socket: TLSSocket): Uint8Array {
  return socket.exportKeyingMaterial(32, 'EXPORTER-Channel-Binding', Buffer.alloc(0));
}
