// What a start asks of its own ports before it says that it is ready.
import type { Socket } from 'node:net';
import { createServer, type TlsOptions } from 'node:tls';
import { expect, test } from 'vitest';
import { Unanswered } from '../../../appliance/processes/channel.ts';
import type { WorkerChannel } from '../../../appliance/processes/messages.ts';
import { requireHandshakes } from '../../../appliance/processes/watch/looks.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { selfSignedIdentity } from '../../harness/tls.ts';

const path = temporaryDirectory();
const [own, other] = [selfSignedIdentity(path()), selfSignedIdentity(path())];

/** A worker with these listeners. */
function worker(listeners: Readonly<Record<string, TlsOptions>>): WorkerChannel {
  const take = async (_: string, { listener }: { listener: string }, _ms: number, connection: Socket): Promise<boolean> => {
    const options = listeners[listener];
    if (options === undefined) return false;
    createServer(options)
      .on('tlsClientError', (_error, socket) => socket.destroy())
      .emit('connection', connection);
    return true;
  };
  return { request: take } as unknown as WorkerChannel;
}
const outcome = (...workers: WorkerChannel[]): Promise<string> =>
  requireHandshakes(workers, () => own.cert).then(
    () => 'ready',
    (error: Error) => `${error.name}: ${error.message}`,
  );

test('ports that answer with the certificate of this appliance are ready, also where there is only one', async () => {
  expect(await outcome(worker({ management: own, est: own }), worker({ management: own }))).toBe('ready');
});

test('a port that answers with the certificate of another CA is not, in any worker', async () => {
  expect(await outcome(worker({ management: own, est: own }), worker({ management: own, est: other }))).toMatch(
    /^StartRefused: the EST port does not answer TLS with the certificate of this appliance: \w+\. /,
  );
});

test('nor is one that can make no handshake', async () => {
  expect(await outcome(worker({ management: { ...own, maxVersion: 'TLSv1.2', ciphers: 'PSK-AES128-GCM-SHA256' } }))).toMatch(
    /^StartRefused: the management port does not answer TLS/,
  );
});

test('a worker that ends meanwhile is for those who watch it to replace', async () => {
  const ended = { request: () => Promise.reject(new Unanswered('has just ended', true)) } as unknown as WorkerChannel;
  expect(await outcome(ended)).toBe('ready');
});
