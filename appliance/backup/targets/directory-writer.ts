// The process that writes one backup into a directory: its octets come on standard input, its orders as the only argument.
//
// The file gets its name when all of it is on the disk and the appliance has said that this was all: a cut input is not a short backup.
import { once } from 'node:events';
import { open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { syncPath } from '../../../core/base/durable-files.ts';
import { writerOrders, type WriterOrders, type WriterReport } from './directory.ts';
import { expendable } from './retention.ts';

/** Remedies for people, by the code of the system. */
const problems: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist: is the share mounted?',
  ENOTDIR: 'is not a directory',
  ENOSPC: 'is full',
  EDQUOT: 'is full: the quota is used up',
  EACCES: 'cannot be written: give the user of the service the right to',
  EPERM: 'cannot be written: give the user of the service the right to',
  EROFS: 'is read-only; under systemd, a drop-in with ReadWritePaths= opens it to the service',
  ESTALE: 'is a share that the server no longer knows: mount it again',
  ETIMEDOUT: 'is a share whose server does not answer',
};

const complete = once(process, 'message');
// The appliance was killed, so it is unknown whether the received octets are complete.
process.once('disconnect', () => process.exit(1));

await report(await attempt(writerOrders.parse(JSON.parse(process.argv[2] ?? ''))));
process.exit(0);

async function attempt(orders: WriterOrders): Promise<WriterReport> {
  try {
    await write(orders);
    return {};
  } catch (error) {
    return { problem: problemOf(error as NodeJS.ErrnoException, orders) };
  }
}

async function write({ directory, name, prefix, bytes, ...keeping }: WriterOrders): Promise<void> {
  const partial = (one: string): string => join(directory, `.${one}.partial`);
  const names = await readdir(directory);
  // Of writers that were killed: there is one at a time.
  for (const left of names.filter((one) => one.startsWith(`.${prefix}`) && one.endsWith('.partial'))) await rm(join(directory, left));
  if (names.includes(name)) throw new Error(`${name} exists already`);
  const file = await open(partial(name), 'wx', 0o600);
  try {
    let written = 0;
    for await (const part of process.stdin as AsyncIterable<Buffer>) {
      await file.writeFile(part);
      written += part.length;
    }
    await complete;
    if (written !== bytes) throw new Error(`${written} of ${bytes} octets arrived`);
    await file.sync();
    await file.close();
    await rename(partial(name), join(directory, name));
  } catch (error) {
    await file.close().catch(() => undefined);
    await rm(partial(name), { force: true }).catch(() => undefined);
    throw error;
  }
  await syncPath(directory);
  for (const old of expendable([...names, name], prefix, keeping)) await rm(join(directory, old), { force: true });
}

function problemOf({ code, message }: NodeJS.ErrnoException, { directory }: WriterOrders): string {
  return (code === undefined ? undefined : problems[code]) ?? (code === undefined ? message : `${directory} cannot be written (${code})`);
}

function report(told: WriterReport): Promise<void> {
  return new Promise((resolve) => {
    if (process.send === undefined) resolve();
    else process.send(told, () => resolve());
  });
}
