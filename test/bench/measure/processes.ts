// Processor time and memory of other processes, from /proc: on a machine that does other things too, processor time tells more than a rate.
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';

/** Processor time so far of all threads of these processes, user and system, in microseconds; the kernel tells it in hundredths of a second. */
export function processorMicros(pids: readonly number[]): number {
  let ticks = 0;
  for (const pid of pids) {
    const fields = statOf(pid);
    ticks += Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
  }
  return ticks * 10_000;
}

/** Memory of a process in MiB: its own pages, and of each shared page its share (PSS). 0 when the process is gone. */
export function proportionalMib(pid: number): number {
  return Number(/^Pss:\s+(\d+) kB/m.exec(textOf(pid, 'smaps_rollup'))?.[1] ?? 0) / 1024;
}

/** Where the memory of a process is, in MiB (PSS). */
export type MemoryKinds = {
  /** pages of V8, buffers from 128 KiB, stacks of threads */
  readonly heap: number;
  /** what malloc has taken from the system, in use or not: smaller buffers, OpenSSL, V8 itself, the module of the token */
  readonly malloc: number;
  /** pages of the store's file that this process has read: the kernel takes them back when it needs them */
  readonly store: number;
  /** pages of programs and libraries, likewise */
  readonly code: number;
};

/** Where malloc begins the arenas that it has beside the main one. */
const arenaAlignment = 64 * 2 ** 20;

/** The same by what is mapped. */
export function memoryKinds(pid: number): MemoryKinds {
  const kib = { heap: 0, malloc: 0, store: 0, code: 0 };
  for (const mapping of textOf(pid, 'smaps').split(/^(?=[0-9a-f]+-[0-9a-f]+ )/m)) {
    const [, start = '', name = ''] = /^([0-9a-f]+)-\S+ \S+ \S+ \S+ \S+ *(.*)$/m.exec(mapping) ?? [];
    kib[kindOf(Number.parseInt(start, 16), name)] += Number(/^Pss:\s+(\d+) kB/m.exec(mapping)?.[1] ?? 0);
  }
  return { heap: kib.heap / 1024, malloc: kib.malloc / 1024, store: kib.store / 1024, code: kib.code / 1024 };
}

function kindOf(start: number, name: string): keyof MemoryKinds {
  if (/\.m?db$/.test(name)) return 'store';
  if (name.startsWith('/')) return 'code';
  return name === '[heap]' || (name === '' && start % arenaAlignment === 0) ? 'malloc' : 'heap';
}

/** A process and everything it started that still runs: process ids with the script that each runs, of the sources or of the bundle. */
export function processTree(pid: number): readonly { readonly pid: number; readonly script: string }[] {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const children = all.map(Number).filter((one) => Number(statOf(one)[1] ?? 0) === pid);
  return [{ pid, script: scriptOf(pid) }, ...children.flatMap(processTree)];
}

/** The fields of /proc/PID/stat after the name, state first; none when the process is gone. */
function statOf(pid: number): readonly string[] {
  return textOf(pid, 'stat').split(') ').at(-1)?.split(' ') ?? [];
}

function scriptOf(pid: number): string {
  return (
    textOf(pid, 'cmdline')
      .split('\0')
      .find((word) => /\.[jt]s$/.test(word)) ?? ''
  );
}

/** The name of a script without its folder and whether it is of the sources (`.ts`) or of the bundle (`.js`). */
export function programOf(script: string): string {
  return basename(script).replace(/\.[jt]s$/, '');
}

function textOf(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
