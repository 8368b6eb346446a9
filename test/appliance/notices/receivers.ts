// A mail server and a receiver of webhooks, over TLS, that keep what they are sent.
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';

export type Mailbox = {
  readonly port: number;
  readonly messages: string[];
  /** runs before a message is taken; one that throws has it refused */
  onMessage: (message: string) => void | Promise<void>;
  /** receivers that are refused */
  refused: readonly string[];
  close(): Promise<void>;
};

export const mailUser = { username: 'keystored', password: 'pass-8f' };

export async function startMailServer(identity: { readonly key: string; readonly cert: string }, secure: boolean): Promise<Mailbox> {
  const messages: string[] = [];
  const mailbox: Pick<Mailbox, 'onMessage' | 'refused'> = { onMessage: () => undefined, refused: [] };
  const server = new SMTPServer({
    ...{ ...identity, secure },
    onAuth: ({ username, password }, _session, done) =>
      username === mailUser.username && password === mailUser.password
        ? done(null, { user: username })
        : done(new Error('authentication failed')),
    onRcptTo: ({ address }, _session, done) => done(mailbox.refused.includes(address) ? new Error('no such receiver') : null),
    onData(stream, session, answer) {
      const take = async (): Promise<Error | null> => {
        const message = await text(stream);
        if (!session.secure) return new Error('in clear');
        messages.push(message);
        await mailbox.onMessage(message);
        return null;
      };
      void take().then(answer, answer);
    },
  });
  // A client that leaves in the middle is what some tests are about.
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(mailbox, {
    ...{ messages, port: (server.server.address() as AddressInfo).port },
    close: () => new Promise<void>((resolve) => server.close(resolve)),
  });
}

export type Hook = {
  readonly url: string;
  readonly received: { headers: Record<string, unknown>; body: string }[];
  status: number;
  /** a body with this text is answered with 422 */
  refuses: string | undefined;
  close(): Promise<void>;
};

export async function startHook(identity: { readonly key: string; readonly cert: string }): Promise<Hook> {
  const received: Hook['received'] = [];
  const hook: Pick<Hook, 'status' | 'refuses'> = { status: 204, refuses: undefined };
  const server: Server = createServer(identity, (request, response) => {
    const take = async (): Promise<void> => {
      const body = await text(request);
      received.push({ headers: request.headers, body });
      response.writeHead(hook.refuses !== undefined && body.includes(hook.refuses) ? 422 : hook.status).end();
    };
    void take();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async (): Promise<void> => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close').catch(() => undefined);
  };
  return Object.assign(hook, { received, close, url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/hook` });
}
