// system:logs: one line per event, for people on the terminal and as JSON in files. Logging never delays the service.
import { isatty } from 'node:tty';
import { type ConsolaInstance, type ConsolaOptions, createConsola, type LogObject } from 'consola';
import type { Clock, Log, LogLevel } from '../base/context.ts';
import { isJournal, journalMark } from './journal.ts';
import { LogFile } from './file.ts';
import { formatTimestamp } from '../base/time.ts';

export type LogOptions = {
  /** of the files of system:logs; created if missing */
  readonly directory: string;
  /** name of this process's files, a lower-case word */
  readonly stream: string;
  /** the least important level that is written */
  readonly level: LogLevel;
  readonly clock: Clock;
  /** writes lines also to standard error; default true */
  readonly terminal?: boolean;
  /** size at which a file is followed by a new one */
  readonly maxFileBytes?: number;
  /** files kept per process */
  readonly retainFiles?: number;
  /**
   * until it resolves, nothing is written below the directory, but lines go to the terminal at once; absent: files are written from the
   * first line on
   */
  readonly begins?: Promise<unknown>;
};

export type OpenLog = Log & {
  /** Writes the queued lines. Later lines go to the terminal only. */
  close(): Promise<void>;
};

/**
 * Opens the log of a process. It never throws or waits: lines that cannot be written are dropped, and the next line that can be written
 * has their number. Lines: {occurred-at, level, component, tenant, message, fields}.
 */
export function openLog({ directory, stream, level, clock, terminal = true, maxFileBytes, retainFiles, begins }: LogOptions): OpenLog {
  const file = new LogFile(directory, stream, maxFileBytes ?? 16 << 20, retainFiles ?? 8, begins);
  const consola = terminal ? openTerminal(level) : undefined;
  const write = (line: Line): void => {
    if (rank[line.level] < rank[level]) return;
    try {
      const fields = line.fields === undefined ? undefined : plainFields(line.fields);
      consola?.withTag(harmless(line.component))[line.level](textOf(cut(line.message), fields));
      const { component, tenant, message } = line;
      const occurredAt = formatTimestamp(clock.now());
      file.write(`${JSON.stringify({ 'occurred-at': occurredAt, level: line.level, component, tenant, message: cut(message), fields })}\n`);
    } catch {
      file.countLost();
    }
  };
  return { ...logOf(write, stream, undefined), close: () => file.close() };
}

type Line = {
  readonly level: LogLevel;
  readonly component: string;
  readonly tenant: string | undefined;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>> | undefined;
};

const rank = { debug: 0, info: 1, warn: 2, error: 3 } as const satisfies Record<LogLevel, number>;
const consolaLevel = { debug: 4, info: 3, warn: 1, error: 0 } as const satisfies Record<LogLevel, number>;

function logOf(write: (line: Line) => void, component: string, tenant: string | undefined): Log {
  const at = (level: LogLevel) => (message: string, fields?: Readonly<Record<string, unknown>>) =>
    write({ level, component, tenant, message, fields });
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    with: (inner, innerTenant) => logOf(write, inner, innerTenant ?? tenant),
  };
}

function openTerminal(level: LogLevel): ConsolaInstance {
  // The reader of standard error may be gone, which must not end the process.
  if (process.stderr.listenerCount('error', ignore) === 0) process.stderr.on('error', ignore);
  return createConsola({ level: consolaLevel[level], ...(isJournal() ? journal : consolaOnStandardError()) });
}

function ignore(): void {}

/** The reporters of consola: in colours with the time on a terminal, plain in a file or a pipe. */
function consolaOnStandardError(): Partial<ConsolaOptions> & { fancy: boolean } {
  return { fancy: isatty(process.stderr.fd), stdout: process.stderr, stderr: process.stderr };
}

/** Options for the journal, which adds the time and has the level as the priority. */
const journal: Partial<ConsolaOptions> = {
  reporters: [{ log: (line) => void process.stderr.write(`${journalMark(levelOf(line))}${line.tag}: ${line.args.join('')}\n`) }],
};

function levelOf({ type }: LogObject): LogLevel {
  return type in rank ? (type as LogLevel) : 'info';
}

/** The message with its fields, on one line. */
function textOf(message: string, fields: Readonly<Record<string, unknown>> = {}): string {
  const details = Object.entries(fields).map(([name, value]) => ` ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return harmless(`${message}${details.join('')}`);
}

/** Makes text from outside harmless: it must not control the terminal or start a line. */
function harmless(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, '\u{FFFD}');
}

const maxTextLength = 1_000;
const maxItems = 50;
const maxDepth = 4;

/** Converts fields for the log: names in kebab-case; values plain, short and shallow. */
function plainFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields)
      .slice(0, maxItems)
      .map(([name, value]) => [name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`), plain(value, 0)]),
  );
}

function plain(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return cut(value);
  if (typeof value === 'bigint' || typeof value === 'symbol' || typeof value === 'function') return cut(String(value));
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Error) return cut(`${value.name}: ${value.message}`);
  if (value instanceof Uint8Array) return { bytes: value.length };
  if (depth >= maxDepth) return '…';
  if (Array.isArray(value)) return value.slice(0, maxItems).map((item) => plain(item, depth + 1));
  // Secret, Temporal and others define their visible form by toJSON.
  if ('toJSON' in value && typeof value.toJSON === 'function') return plain((value.toJSON as () => unknown)(), depth + 1);
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, maxItems)
      .map(([name, item]) => [name, plain(item, depth + 1)]),
  );
}

function cut(text: string): string {
  return text.length > maxTextLength ? `${text.slice(0, maxTextLength)}…` : text;
}
