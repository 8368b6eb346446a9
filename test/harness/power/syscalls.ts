// What the processes of a daemon ask of the file system: recorded by strace, one file for each thread, and read back in order.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** A call of the system that succeeded, or was cut off. Times are seconds; `end` is infinite for a call that was cut off. */
export type Call = {
  readonly thread: number;
  readonly name: string;
  readonly begin: number;
  readonly end: number;
  /** as strace writes them; strings are in quotes, in hexadecimal */
  readonly args: readonly string[];
  /** what it answered; undefined when it was cut off */
  readonly result: number | undefined;
};

/** Calls that change files or names, bring them to the disk, or say which process has which descriptor. */
const recorded = [
  ...['openat', 'open', 'creat', 'write', 'writev', 'pwrite64', 'pwritev', 'pwritev2', 'lseek', 'ftruncate', 'truncate'],
  ...['rename', 'renameat', 'renameat2', 'unlink', 'unlinkat', 'rmdir', 'mkdir', 'mkdirat', 'link', 'linkat', 'fsync', 'fdatasync'],
  ...['chmod', 'fchmod', 'fchmodat', 'dup', 'dup2', 'dup3', 'fcntl', 'clone', 'clone3', 'fork', 'vfork'],
];

/** So that there is always something that is not on the disk yet. */
const syncDelayMicroseconds = 10_000;

/** The words that come before a command whose calls are to be recorded in files that begin with `prefix`. */
export function recordingWords(prefix: string): readonly string[] {
  const format = ['-y', '-xx', '-s', String(64 << 20), '--absolute-timestamps=format:unix,precision:ns', '--syscall-times=ns'];
  const slow = `inject=fsync,fdatasync:delay_enter=${syncDelayMicroseconds}`;
  const chosen = ['-e', `trace=${recorded.join(',')}`, '-e', slow, '-e', 'signal=none'];
  return ['strace', '-f', '-ff', '--seccomp-bpf', ...format, ...chosen, '-o', prefix];
}

/**
 * The recorded calls in the order in which they took effect, as far as that can be seen: when they ended, since a descriptor is another one
 * from then on; a process that is started may end calls before the call that started it.
 */
export function readCalls(prefix: string): readonly Call[] {
  const ofThreads = readdirSync(dirname(prefix)).filter((name) => name.startsWith(`${basename(prefix)}.`));
  const calls = ofThreads.flatMap((name) => readThread(join(dirname(prefix), name), Number(name.slice(basename(prefix).length + 1))));
  const orderOf = ({ name, begin, end }: Call): number => (/^(?:clone|v?fork)/.test(name) ? begin : end);
  return calls.sort((a, b) => (orderOf(a) === orderOf(b) ? a.begin - b.begin : orderOf(a) < orderOf(b) ? -1 : 1));
}

function readThread(file: string, thread: number): readonly Call[] {
  return readFileSync(file, 'latin1')
    .split('\n')
    .flatMap((line) => parseCall(line, thread) ?? []);
}

/** Undefined for what is no call, and for one that failed. */
export function parseCall(line: string, thread: number): Call | undefined {
  const head = /^(\d+\.\d+) (\w+)\(/.exec(line);
  if (head === null) return undefined;
  const [start, time = '', name = ''] = head;
  const begin = Number(time);
  const cutOff = /(?: <unfinished \.\.\.>)?\)? += \?$/.exec(line.slice(-longestTail));
  if (cutOff !== null) {
    const args = splitArgs(line.slice(start.length, line.length - cutOff[0].length));
    return { thread, name, begin, end: Number.POSITIVE_INFINITY, args, result: undefined };
  }
  // Strings are hexadecimal, so that nothing in them can be taken for the end of the call.
  const tail = /\) += (\d+)(?:<[^>]*>)?(?: \([^()]*\))? <(\d+\.\d+)>$/.exec(line.slice(-longestTail));
  if (tail === null) return undefined;
  const args = splitArgs(line.slice(start.length, line.length - tail[0].length));
  return { thread, name, begin, end: begin + Number(tail[2]), args, result: Number(tail[1]) };
}

/** The answer of a call, which may have a path of the longest kind. */
const longestTail = 20_000;

/** At commas outside of brackets. */
function splitArgs(text: string): readonly string[] {
  const args: string[] = [];
  let from = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const one = text[at];
    if (one === '"') at = text.indexOf('"', at + 1);
    else if (one === '[' || one === '{') depth++;
    else if (one === ']' || one === '}') depth--;
    else if (one === ',' && depth === 0) {
      args.push(text.slice(from, at).trim());
      from = at + 1;
    }
    if (at < 0) break;
  }
  args.push(text.slice(from).trim());
  return args;
}

/** The octets of all strings in an argument, one after another. Throws for a string that was cut short. */
export function octetsOf(arg: string): Buffer {
  const parts: Buffer[] = [];
  for (let from = arg.indexOf('"'); from >= 0; from = arg.indexOf('"', from)) {
    const to = arg.indexOf('"', from + 1);
    if (to < 0 || arg.startsWith('...', to + 1)) throw new Error('the recording cut an argument short');
    parts.push(unescape(arg.slice(from + 1, to)));
    from = to + 1;
  }
  return Buffer.concat(parts);
}

/** The path behind a descriptor: `3<\x2f\x74>`. Undefined where there is none. */
export function pathOf(arg: string | undefined): string | undefined {
  const path = /^(?:-?\d+|AT_FDCWD)<((?:\\x[0-9a-f]{2})+)>/.exec(arg ?? '')?.[1];
  return path === undefined ? undefined : unescape(path).toString();
}

export function descriptorOf(arg: string | undefined): number {
  return Number.parseInt(arg ?? '', 10);
}

function unescape(hexadecimal: string): Buffer {
  return Buffer.from(hexadecimal.replaceAll('\\x', ''), 'hex');
}
