// Limit of open files, including connections, of a process, and the limits that follow from it.
import { readFileSync } from 'node:fs';

/** Open files besides the connections of the listeners: store, trail, logs, token, and outgoing connections. */
const ownFiles = 256;
/** Least number of connections of a listener with which it still serves. */
const fewestConnections = 128;
/** Connections of one listener of a process, if enough files may be open. */
const mostConnections = 4_096;
/** Management and EST. */
const listeners = 2;

/** Least number of files with which a process serves, and the number that all its connections need. */
export const neededFiles = {
  least: ownFiles + listeners * fewestConnections,
  all: ownFiles + listeners * mostConnections,
} as const;

/** The limit of this process, which those that it starts inherit (RLIMIT_NOFILE; Node.js has raised it as far as it may). */
export function openFileLimit(file?: string): number {
  return softLimit('open files', file);
}

/** A limit of this process, in its own unit (octets, files); Infinity if it is unlimited or unknown. */
export function softLimit(what: 'open files' | 'file size' | 'address space', file = '/proc/self/limits'): number {
  let text = '';
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    // Another system than Linux: unknown.
  }
  const soft = new RegExp(`^Max ${what} +(\\d+)`, 'm').exec(text)?.[1];
  return soft === undefined ? Infinity : Number(soft);
}

/** Connections that each of the listeners of this process accepts, so that every accepted one has a file descriptor. */
export function connectionsThatFit(limit = openFileLimit(), count: number = listeners): number {
  return Math.max(fewestConnections, Math.min(mostConnections, Math.floor((limit - ownFiles) / count)));
}
