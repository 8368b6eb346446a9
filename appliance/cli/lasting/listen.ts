// A Unix socket on which a command serves until it is ended.
import { chmodSync, chownSync, readFileSync, rmSync, statSync } from 'node:fs';
import { connect, type Server, type Socket } from 'node:net';
import { CommandFailed, exitCodes, usageError } from '../terminal/failure.ts';
import type { Io } from '../terminal/io.ts';

export type SocketOptions = {
  /** path, or `systemd` for the socket that systemd has opened */
  readonly socket: string;
  readonly mode: number;
  readonly group: string | undefined;
};

/** Connections at the same time: workers of servers have one each. */
const mostConnections = 512;
/** The first file that systemd passes (sd_listen_fds). */
const firstPassed = 3;

/** Listens until SIGTERM or SIGINT, and ends the connections then. Throws CommandFailed when the socket cannot be had. */
export async function listenOn({ socket, mode, group }: SocketOptions, server: Server, io: Io, name: string): Promise<void> {
  server.maxConnections = mostConnections;
  const connections = new Set<Socket>();
  server.on('connection', (connection: Socket) => {
    connections.add(connection);
    connection.once('close', () => connections.delete(connection));
  });
  if (socket === 'systemd') {
    if (io.environment['LISTEN_PID'] !== String(process.pid) || io.environment['LISTEN_FDS'] !== '1')
      throw usageError('systemd has passed no socket: start this from a unit with a socket unit, or give --listen a path');
    await listening(server, { fd: firstPassed }, socket);
  } else {
    await makeRoom(socket);
    // No other user can connect before mode and group are set.
    const before = process.umask(0o177);
    await listening(server, { path: socket }, socket).finally(() => process.umask(before));
    if (group !== undefined) chownSync(socket, process.getuid?.() ?? -1, groupId(group));
    chmodSync(socket, mode);
  }
  io.stderr.write(`${name}: listens on ${socket}\n`);
  await ended();
  server.close();
  for (const connection of connections) connection.destroy();
  if (socket !== 'systemd') rmSync(socket, { force: true });
}

function listening(server: Server, where: { readonly fd: number } | { readonly path: string }, socket: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', ({ code = 'failed' }: NodeJS.ErrnoException) => reject(usageError(`${socket} cannot be opened (${code})`)));
    server.listen(where, resolve);
  });
}

/** Removes the socket of a process that has ended. Throws when it is another file, or somebody listens there. */
async function makeRoom(path: string): Promise<void> {
  const file = statSync(path, { throwIfNoEntry: false });
  if (file === undefined) return;
  if (!file.isSocket()) throw usageError(`${path} is a file, and not a socket: give another path, or remove it`);
  const isUsed = await new Promise<boolean>((resolve) => {
    const trial = connect(path, () => resolve(true)).once('error', () => resolve(false));
    trial.once('connect', () => trial.destroy());
  });
  if (isUsed) throw new CommandFailed(exitCodes.conflict, `${path} is in use by another process: end it, or give another path`);
  rmSync(path, { force: true });
}

function groupId(name: string): number {
  if (/^\d+$/.test(name)) return Number(name);
  const line = readFileSync('/etc/group', 'utf8')
    .split('\n')
    .find((one) => one.startsWith(`${name}:`));
  if (line === undefined) throw usageError(`there is no group ${name} in /etc/group: give another one, or its number`);
  return Number(line.split(':')[2]);
}

function ended(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve());
  });
}

/** The mode of a socket as people write it: `0660`. Throws a usage error. */
export function readMode(text: string): number {
  if (!/^0?[0-7]{3}$/.test(text)) throw usageError(`--mode must be a mode such as 0660; this is ${text}`);
  return Number.parseInt(text, 8);
}
