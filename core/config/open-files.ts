// How many files, connections among them, a process may have open, and what follows from that.
import { readFileSync } from 'node:fs';

/** What a process has open beside the connections of its listeners: store, trail, logs, token, and what it asks of others. */
const ownFiles = 256;
/** Fewer connections of a listener are no service. */
const fewestConnections = 128;
/** Connections of one listener of a process, where enough files may be open. */
const mostConnections = 4_096;
/** Management and EST. */
const listeners = 2;

/** The least with which a process serves, and what all its connections need. */
export const neededFiles = {
  least: ownFiles + listeners * fewestConnections,
  all: ownFiles + listeners * mostConnections,
} as const;

/** The limit of this process, which those that it starts inherit (RLIMIT_NOFILE; Node.js has raised it as far as it may). */
export function openFileLimit(file?: string): number {
  return softLimit('open files', file);
}

/** A limit of this process, in its own unit (octets, files); Infinity for none, and where it is not known. */
export function softLimit(what: 'open files' | 'file size' | 'address space', file = '/proc/self/limits'): number {
  let text = '';
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    // Another system than Linux: it is not known.
  }
  const soft = new RegExp(`^Max ${what} +(\\d+)`, 'm').exec(text)?.[1];
  return soft === undefined ? Infinity : Number(soft);
}

/** Connections that each listener of this process takes, so that none is accepted for which there is no file. */
export function connectionsThatFit(limit = openFileLimit()): number {
  return Math.max(fewestConnections, Math.min(mostConnections, Math.floor((limit - ownFiles) / listeners)));
}
