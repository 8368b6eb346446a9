// The HSM host: a child process that holds one token open and answers batches of jobs on descriptor 3 (design hsm 10).
import { Socket } from 'node:net';
import { TokenService, type Reply } from './token-service.ts';
import { encodeMessages, MessageReader } from '../protocol/wire.ts';

// The text of an error is never looked at here, and its stack costs more than the failed operation (reference A3).
Error.stackTraceLimit = 0;

const channel = new Socket({ fd: 3, readable: true, writable: true });
const reader = new MessageReader();
const service = new TokenService(send, exit);

channel.on('data', (chunk: Buffer) => service.take(reader.push(chunk)));
// The service is gone: nobody is left to work for.
channel.on('close', () => process.exit(0));
channel.on('error', () => process.exit(0));
// Signals of the terminal and the service manager go to the service, which then closes its hosts in order.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});

/** Frames carry plaintexts and now and then a key: they are zeroed once they are written. */
function send(results: Parameters<Reply>[0]): void {
  const frame = encodeMessages(results);
  channel.write(frame, () => frame.fill(0));
}

/** Ends the host once what it said has left. */
function exit(code: number): void {
  channel.end(() => process.exit(code));
  setTimeout(() => process.exit(code), 1_000);
}
