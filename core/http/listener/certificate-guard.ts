// Guard for listeners with client certificates, between their sockets and TLS.
import { constants } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Server, TlsOptions } from 'node:tls';
import { subscriberOf } from '../../base/addresses.ts';
import type { Log } from '../../base/context.ts';
import { GuardedSocket } from '../../tls/guarded-socket.ts';
import { noteAccepted, peerAddressOf } from './client-address.ts';
import { groups } from './client-hello.ts';

/** Settings of a listener that asks for certificates. */
export const askingForCertificates = {
  // Requested, not required: who needs one is decided per request.
  requestCert: true,
  rejectUnauthorized: false,
  // No `ca`: the request for a certificate names no issuers, or some clients would not find theirs.
  // A client whose certificate has a key on P-521 may use it in TLS 1.2 only where that is a group, too (RFC 8422 section 5.1). No key exchange
  // is made with it: the others come before it, and a client without any of them is refused.
  ecdhCurve: `${groups.names}/P-521`,
  // Resumed sessions have lost the intermediates, confuse tls-unique, and would let a stolen session stand for the key.
  secureOptions: constants.SSL_OP_NO_TICKET,
} as const satisfies TlsOptions;

/** Interval of log lines: repeating peers would fill the log. */
const sayEveryMs = 60_000;

/** Intercepts the connections of a server before its TLS. Those that send expensive certificates are closed, with the alert `bad_certificate`. */
export function guardCertificates(server: Server, log: Log | undefined): void {
  const listeners = server.listeners('connection');
  let silentUntilMs = 0;
  const say = (address: string, reason: string): void => {
    const nowMs = performance.now();
    if (nowMs < silentUntilMs) return;
    silentUntilMs = nowMs + sayEveryMs;
    log?.warn('a client certificate was refused before it was read', { address, reason });
  };
  server.removeAllListeners('connection').on('connection', (accepted: Socket) => {
    const guarded = new GuardedSocket(accepted, 'client', subscriberOf(peerAddressOf(accepted)), (reason) =>
      say(peerAddressOf(accepted), reason),
    );
    for (const listener of listeners) listener.call(server, guarded as Duplex as Socket);
  });
  server.on('keylog', (line: Buffer, secured: GuardedTls) => {
    const guarded = secured._handle?._parentWrap.stream;
    if (!(guarded instanceof GuardedSocket)) return;
    noteAccepted(secured, guarded.accepted);
    guarded.learn(line);
  });
}

/** Internal names under which Node keeps the stream below TLS if it is not a socket of the system. */
type GuardedTls = Socket & { readonly _handle?: { readonly _parentWrap: { readonly stream?: Duplex } } };
