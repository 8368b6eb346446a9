// A client of the EST listener and of the public URLs: raw bodies, client certificates, and headers exactly as they came.
import { type Agent, request as httpsRequest } from 'node:https';
import type { TLSSocket } from 'node:tls';
import type { SecureVersion } from 'node:tls';
import { defined } from '../../../core/base/defined.ts';
import type { Identity } from '../ca/pki.ts';

export type Reply = {
  readonly status: number;
  readonly reason: string;
  /** names as sent */
  readonly rawHeaders: ReadonlyMap<string, string>;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  readonly text: string;
  readonly protocol: string;
};

export type Sending = {
  readonly method?: string;
  readonly body?: string | Buffer;
  /** a list goes out as one line per item */
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly ca?: string;
  /** client certificate, followed by its issuers */
  readonly client?: Identity;
  readonly issuers?: readonly Identity[];
  readonly maxVersion?: SecureVersion;
  readonly agent?: Agent;
  /** no Content-Length: chunked */
  readonly chunked?: boolean;
  /** builds the body when the connection stands, for channel bindings */
  readonly bodyFor?: (socket: TLSSocket) => Promise<string | Buffer>;
};

/** Sends one request on a connection of its own (or the agent's). The path goes out as given, not normalised. */
export function send(origin: string, path: string, options: Sending = {}): Promise<Reply> {
  const { method = 'GET', body, headers = {}, ca, client, issuers = [], maxVersion, agent, chunked = false } = options;
  return new Promise((resolve, reject) => {
    const request = httpsRequest(origin, {
      path,
      method,
      headers: { ...headers, ...(body === undefined || chunked ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }) },
      rejectUnauthorized: ca !== undefined,
      agent: agent ?? false,
      ...defined({ ca, maxVersion }),
      ...(client === undefined ? {} : { key: client.keys.pem, cert: [client, ...issuers].map(({ pem }) => `${pem}\n`).join('') }),
    });
    request.once('error', reject);
    request.once('response', (response) => {
      const chunks: Buffer[] = [];
      // On a kept connection the response has lost its socket when it ends.
      const protocol = (response.socket as TLSSocket).getProtocol() ?? '';
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('error', reject);
      response.once('end', () => {
        const raw = response.rawHeaders;
        const received = Buffer.concat(chunks);
        resolve({
          status: response.statusCode ?? 0,
          reason: response.statusMessage ?? '',
          rawHeaders: new Map(raw.flatMap((name, index) => (index % 2 === 0 ? [[name, raw[index + 1] ?? ''] as const] : []))),
          headers: response.headers,
          body: received,
          text: received.toString('utf8'),
          protocol,
        });
      });
    });
    const { bodyFor } = options;
    if (bodyFor === undefined) request.end(body);
    else {
      request.once('socket', (socket) => {
        socket.once('secureConnect', () => {
          bodyFor(socket as TLSSocket).then((made) => request.end(made), reject);
        });
      });
    }
  });
}

/** `Basic` with this password and any user name. */
export function basic(password: string, user = 'estuser'): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

/** Body and headers of an enrolment. */
export function pkcs10(csr: Buffer, more: Readonly<Record<string, string>> = {}): Sending {
  return {
    method: 'POST',
    body: csr.toString('base64'),
    headers: { 'Content-Type': 'application/pkcs10', 'Content-Transfer-Encoding': 'base64', ...more },
  };
}
