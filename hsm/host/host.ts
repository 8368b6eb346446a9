// The HSM host: a child process that holds one token open and answers batches of jobs on descriptor 3.
import { Socket } from 'node:net';
import { TokenService, type Reply } from './token-service.ts';
import { encodeMessages, MessageReader } from '../protocol/wire.ts';

// Stacks are never read here, and making one costs more than the failed operation.
Error.stackTraceLimit = 0;

const channel = new Socket({ fd: 3, readable: true, writable: true });
const reader = new MessageReader();
const service = new TokenService(send, exit);

channel.on('data', (chunk: Buffer) => service.take(reader.push(chunk)));
// The pipe closes when the service is gone.
channel.on('close', () => process.exit(0));
channel.on('error', () => process.exit(0));
// Signals of the terminal and the service manager are for the service, which then closes its hosts.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});

/** Frames carry plaintexts and sometimes keys: they are zeroed after writing. */
function send(results: Parameters<Reply>[0]): void {
  const frame = encodeMessages(results);
  channel.write(frame, () => frame.fill(0));
}

/** Ends the host after its last frame has been written. */
function exit(code: number): void {
  channel.end(() => process.exit(code));
  setTimeout(() => process.exit(code), 1_000);
}
