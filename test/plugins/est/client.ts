// A client of the EST listener and of the public URLs: raw bodies, client certificates, and headers exactly as they came.
import { type Answer, ask, type Asking } from '../../harness/client.ts';
import type { Identity } from '../ca/pki.ts';

/** An answer whose body is octets. */
export type Reply = Answer & { readonly body: Buffer };

export type Sending = Omit<Asking, 'body' | 'client' | 'token' | 'from'> & {
  readonly body?: string | Buffer;
  /** client certificate, followed by its issuers */
  readonly client?: Identity;
  readonly issuers?: readonly Identity[];
};

/** Sends one request on a connection of its own, or the agent's. The path is sent as given, not normalised. */
export async function send(origin: string, path: string, { client, issuers = [], ...options }: Sending = {}): Promise<Reply> {
  const answer = await ask(origin, path, {
    ...options,
    ...(client === undefined ? {} : { client: { key: client.keys.pem, cert: [client, ...issuers].map(({ pem }) => `${pem}\n`).join('') } }),
  });
  return { ...answer, body: answer.octets };
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
