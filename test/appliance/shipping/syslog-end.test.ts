// The end of a syslog connection: what confirms that everything was read, and what only looks like it.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import type { ShippedRecord } from '../../../appliance/shipping/formats/records.ts';
import { severities } from '../../../appliance/shipping/formats/severity.ts';
import { SyslogConnection } from '../../../appliance/shipping/receivers/syslog.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { syslogTo } from './destinations.ts';
import { makePki, type Pki } from './pki.ts';
import { type ReceiverOptions, startSyslogReceiver, type SyslogReceiver } from './syslog-receiver.ts';

const at = temporaryDirectory();
let pki: Pki;
beforeAll(() => {
  pki = makePki(at('.'));
});

async function receive(options: ReceiverOptions = {}): Promise<SyslogReceiver> {
  const receiver = await startSyslogReceiver(pki, options);
  onTestFinished(() => receiver.close());
  return receiver;
}

function connectionTo(port: number): SyslogConnection {
  const waits = { patienceMs: 10_000, quietMs: 0, acknowledgeMs: 10_000 };
  const connection = new SyslogConnection({ destination: syslogTo(port, pki), host: 'ks.example', ...waits });
  onTestFinished(() => connection.close());
  return connection;
}

const records = (count: number): readonly ShippedRecord[] =>
  Array.from({ length: count }, (_, index) => {
    const record = { sequence: index + 1, filling: 'x'.repeat(2_000) };
    return {
      ...{ source: 'audit', stream: 'worker-1', kind: 'request', occurredAt: '2026-01-01T00:00:00.000Z', severity: severities.info },
      ...{ id: `worker-1:${index}`, sequence: index + 1, text: JSON.stringify(record), record },
    } as const;
  });

/** A way to a receiver by TCP whose two sides can be cut apart. */
async function relayTo(
  receiver: SyslogReceiver,
): Promise<{ readonly port: number; readonly clients: Socket[]; readonly receivers: Socket[] }> {
  const [clients, receivers]: [Socket[], Socket[]] = [[], []];
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const onward = connect({ port: receiver.port, host: '127.0.0.1', allowHalfOpen: true });
    clients.push(client);
    receivers.push(onward);
    for (const socket of [client, onward]) socket.on('error', () => undefined);
    client.pipe(onward).pipe(client);
  });
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    for (const socket of [...clients, ...receivers]) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, clients, receivers };
}

/** Both end, the receiver a moment after the connection; `confirmed`, or why not. */
async function endTogether(connection: SyslogConnection, receiver: SyslogReceiver): Promise<string> {
  const confirming = connection.confirm().then(
    () => 'confirmed',
    (error: Error) => error.message,
  );
  await setTimeout(50);
  receiver.leave();
  return confirming;
}

test('a receiver that answers the end of TLS confirms', async () => {
  const receiver = await receive();
  const connection = connectionTo(receiver.port);
  await connection.send(records(300));
  await connection.confirm();
  expect([receiver.messages.length, receiver.faults]).toEqual([300, []]);
  expect(connection.answer).toMatch(/everything was read$/);
});

test('a receiver that answers only the end of TCP confirms as well', async () => {
  const receiver = await receive({ answersEnd: false });
  const relay = await relayTo(receiver);
  const connection = connectionTo(relay.port);
  await connection.send(records(300));
  relay.clients[0]?.once('end', () => receiver.leave());
  await connection.confirm();
  expect(receiver.messages).toHaveLength(300);
});

test('a receiver that ends just after us, with records unread, confirms nothing', async () => {
  const receiver = await receive();
  const connection = connectionTo(receiver.port);
  await connection.send(records(1));
  receiver.pause();
  await connection.send(records(300));
  expect(await endTogether(connection, receiver)).toMatch(/reset|before it had read everything/);
});

test('records that reach a receiver after its end are not confirmed', async () => {
  const receiver = await receive();
  const relay = await relayTo(receiver);
  const connection = connectionTo(relay.port);
  await connection.send(records(1));
  await vi.waitFor(() => expect(receiver.messages).toHaveLength(1));
  // From here on, what we send is on its way while the receiver ends.
  for (const client of relay.clients) client.unpipe();
  await connection.send(records(10));
  for (const [index, onward] of relay.receivers.entries())
    onward.once('end', () => void setTimeout(20).then(() => relay.clients[index]?.resetAndDestroy()));
  expect(await endTogether(connection, receiver)).toMatch(/reset|before it had read everything/);
});

test('close() lets go of an attempt to connect', async () => {
  const silent = createServer();
  await new Promise<void>((done) => void silent.listen(0, '127.0.0.1', done));
  onTestFinished(() => void silent.close());
  const connection = connectionTo((silent.address() as AddressInfo).port);
  const sending = connection.send(records(1));
  await setTimeout(50);
  connection.close();
  await expect(sending).rejects.toThrow(/lost|given up/);
});
