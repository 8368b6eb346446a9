// Lines of etcd in the log of the appliance: at the level that they have for it, and not more than one of a kind a minute.
import type { Log } from '../../../core/base/context.ts';

/** One for each request that waits, many times a second while the majority is away; the follower says that once. */
const ofSingleRequests: ReadonlySet<string> = new Set([
  ...['request stats', 'apply request took too long', 'waiting for ReadIndex response took too long, retrying'],
]);
const ownFields: ReadonlySet<string> = new Set(['level', 'msg', 'ts', 'caller', 'stacktrace']);
const quietMs = 60_000;
/** Kinds of lines that are remembered: etcd has some hundred. */
const mostKinds = 1_000;

/**
 * A member that joins, starts again or has a slow disk warns of transient states, and reports one attempt of many as an error; the
 * appliance itself reports their meaning for it. An error here is that etcd gives up.
 */
const levels: Readonly<Record<string, 'error' | 'warn'>> = { fatal: 'error', panic: 'error', dpanic: 'error', error: 'warn' };

/** Takes line after line of one process. */
export function logLines(log: Log, nowMs: () => number = () => performance.now()): (line: string) => void {
  const kinds = new Map<string, { saidMs: number; since: number }>();
  /** Returns the number of similar lines that were left out; undefined: this one is left out, too. */
  const leftOut = (kind: string): number | undefined => {
    const known = kinds.get(kind);
    if (known !== undefined && nowMs() - known.saidMs < quietMs) return (known.since++, undefined);
    if (kinds.size >= mostKinds) kinds.clear();
    kinds.set(kind, { saidMs: nowMs(), since: 0 });
    return known?.since ?? 0;
  };
  return (line) => {
    let read: Readonly<Record<string, unknown>>;
    try {
      read = JSON.parse(line) as Readonly<Record<string, unknown>>;
    } catch {
      // Lines of its libraries are not JSON.
      return log.debug('etcd', { line: line.slice(0, 500) });
    }
    const { level, msg, ...others } = read;
    const text = `etcd: ${String(msg)}`;
    const fields = Object.fromEntries(Object.entries(others).filter(([name]) => !ownFields.has(name)));
    if (ofSingleRequests.has(String(msg))) return log.debug(text, fields);
    const as = levels[String(level)] ?? 'info';
    const more = as === 'error' ? 0 : leftOut(String(msg));
    if (more === undefined) return log.debug(text, fields);
    log[as](text, more === 0 ? fields : { ...fields, 'left-out': more });
  };
}
