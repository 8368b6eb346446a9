// Writes a backup into a directory, in a process of its own, so that waiting for a dead network share without limit does no harm.
//
// In this process such a wait would hold a thread of the pool that writes the audit trail, and after four of them nothing would be served.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { DirectoryTarget } from '../../../core/config/backup.ts';
import type { Sending } from './sending.ts';

const writerFile = fileURLToPath(new URL('./directory-writer.ts', import.meta.url));

/** Without any progress for this long, the directory does not answer. */
const stallMs = 60_000;

/** Orders to the writer, as its only argument. */
export const writerOrders = z.object({
  directory: z.string(),
  name: z.string(),
  prefix: z.string(),
  bytes: z.number(),
  keep: z.number(),
  keepMonthly: z.number(),
});
export type WriterOrders = z.output<typeof writerOrders>;

/** Failure of the writer, for people; absent if the file is in its place. */
const writerReport = z.object({ problem: z.string().optional() });
export type WriterReport = z.output<typeof writerReport>;

/** Writers that were killed and have not ended: the kernel keeps a process that waits for a dead share. */
const hanging = new Map<string, ChildProcess>();

/** Resolves when the file is in the directory, on the disk. Rejects with the remedy. */
export async function writeToDirectory(target: DirectoryTarget, sending: Sending, signal: AbortSignal, limitMs = stallMs): Promise<void> {
  const { directory, keep, keepMonthly } = target;
  const { name, prefix, bytes } = sending;
  if (hanging.has(directory)) throw new Error(`${directory} still does not answer since an earlier backup`);
  const orders: WriterOrders = { directory, name, prefix, bytes, keep, keepMonthly };
  const writer = spawn(process.execPath, [writerFile, JSON.stringify(orders)], { env: {}, stdio: ['pipe', 'ignore', 2, 'ipc'] });
  const ended = Promise.withResolvers<WriterReport>();
  let isWritten = false;
  writer.on('message', (message) => ended.resolve(writerReport.parse(message)));
  writer.once('error', (error) => ended.resolve({ problem: `the writer did not start: ${error.message}` }));
  writer.once('exit', (code, how) => {
    hanging.delete(directory);
    ended.resolve({ problem: `the writer ended before the file was complete (${how ?? `exit code ${code}`})` });
  });
  let timer: NodeJS.Timeout | undefined;
  const progress = (): void => {
    clearTimeout(timer);
    timer = globalThis.setTimeout(() => ended.resolve({ problem: `does not answer for ${limitMs / 1_000} seconds` }), limitMs).unref();
  };
  const abort = (): void => ended.resolve({ problem: 'the appliance is being stopped' });
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  progress();
  try {
    const report = await Promise.race([ended.promise, feed(writer, sending.pieces, progress).then(() => ended.promise)]);
    if (report.problem !== undefined) throw new Error(report.problem);
    isWritten = true;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
    await dismiss(directory, writer, isWritten);
  }
}

/** Writes the pieces; the writer puts the file in its place only when the end is announced. */
async function feed(writer: ChildProcess, pieces: AsyncIterable<Uint8Array>, progress: () => void): Promise<void> {
  const input = writer.stdin as Writable;
  const closed = new Promise<void>((resolve) => input.once('close', () => resolve()));
  // A writer that gave up has reported why.
  input.on('error', () => undefined);
  for await (const piece of pieces) {
    if (input.destroyed) return;
    if (!input.write(piece)) await Promise.race([once(input, 'drain').catch(() => undefined), closed]);
    progress();
  }
  await new Promise<void>((resolve) => input.end(resolve));
  progress();
  if (writer.connected) writer.send('complete', () => undefined);
}

/** Limit for the exit of a writer that is done, or was killed. */
const lastMs = 5_000;

/** Kills a writer that is not done: the next writer removes its unfinished file. */
async function dismiss(directory: string, writer: ChildProcess, isDone: boolean): Promise<void> {
  if (writer.exitCode !== null || writer.signalCode !== null || writer.pid === undefined) return;
  const exited = once(writer, 'exit');
  hanging.set(directory, writer);
  if (!isDone) writer.kill('SIGKILL');
  await Promise.race([exited, setTimeout(lastMs, undefined, { ref: false })]);
  if (!hanging.has(directory)) return;
  writer.kill('SIGKILL');
  if (writer.connected) writer.disconnect();
  writer.unref();
}
