// The processes of a daemon: by their command lines, and whether they run.
import { readdirSync, readFileSync } from 'node:fs';

/** Ids of the processes below `parent` whose command line has `word`. Those that end meanwhile are left out. */
export function processesBelow(parent: number, word: string): number[] {
  const isBelow = (pid: number): boolean => {
    for (let at = pid; at > 1; at = parentOf(at)) if (at === parent) return true;
    return false;
  };
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && pid !== parent && read(pid, 'cmdline').includes(word) && isBelow(pid));
}

/** Whether it runs: one that has ended and whose parent has not asked for its status yet does not. */
export function isAlive(pid: number): boolean {
  return /^State:\s+[^ZX]/m.test(read(pid, 'status'));
}

function parentOf(pid: number): number {
  return Number(/^PPid:\s+(\d+)/m.exec(read(pid, 'status'))?.[1] ?? 0);
}

function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
