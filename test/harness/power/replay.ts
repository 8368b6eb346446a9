// Repeats recorded calls on the disk in memory.
import { resolve } from 'node:path';
import { Directory, type Disk, File } from './disk.ts';
import { type Call, descriptorOf, octetsOf, pathOf } from './syscalls.ts';

/** What descriptors share that were copied from one another. */
type Opened = { readonly isAppending: boolean; readonly isSynchronous: boolean; position: number };
type Descriptors = Map<number, Opened>;

type Handler = (replay: Replay, call: Call) => void;

/** Whether the disk must be as the real one afterwards: not when a change was cut off, which may have happened or not. */
export function replay(calls: readonly Call[], disk: Disk): { readonly isExact: boolean } {
  const state = new Replay(disk);
  for (const call of calls) {
    try {
      handlers[call.name]?.(state, call);
    } catch (error) {
      throw new Error(`${call.name}(${call.args.map((arg) => arg.slice(0, 200)).join(', ')}): ${String(error)}`, { cause: error });
    }
  }
  return { isExact: !state.isDoubtful };
}

class Replay {
  readonly disk: Disk;
  isDoubtful = false;
  readonly #processes = new Map<number, Descriptors>();

  constructor(disk: Disk) {
    this.disk = disk;
  }

  descriptors(thread: number): Descriptors {
    const known = this.#processes.get(thread) ?? new Map<number, Opened>();
    this.#processes.set(thread, known);
    return known;
  }

  /** A thread has the descriptors of its process, a new process has copies. */
  begin(thread: number, by: number, isThread: boolean): void {
    const known = this.descriptors(by);
    this.#processes.set(thread, isThread ? known : new Map(known));
  }

  opened({ thread, args: [descriptor] }: Call): Opened {
    const opened = this.descriptors(thread).get(descriptorOf(descriptor));
    if (opened === undefined) throw new Error('the recording does not have how it was opened');
    return opened;
  }

  /** The file behind the descriptor that is the first argument; undefined outside of the disk, and when it has no name any more. */
  file({ args: [descriptor] }: Call): File | undefined {
    const path = pathOf(descriptor);
    return this.disk.has(path) && !path.endsWith(' (deleted)') ? this.disk.file(path) : undefined;
  }

  /** Changes a file that has a name. */
  write(call: Call, octets: Buffer, position?: number): void {
    const file = this.file(call);
    if (file === undefined) return;
    const opened = this.opened(call);
    const written = octets.subarray(0, call.result ?? octets.length);
    const at = opened.isAppending ? file.length : (position ?? opened.position);
    file.write(at, written, call, opened.isSynchronous ? this.disk.syncOfWrite(pathOf(call.args[0]) ?? '', call) : undefined);
    if (position === undefined) opened.position = at + written.length;
    this.isDoubtful ||= call.result === undefined;
  }

  truncate(file: File | undefined, call: Call): void {
    file?.truncate(Number(call.args[1]), call);
    this.isDoubtful ||= file !== undefined && call.result === undefined;
  }

  name(changes: Parameters<Disk['name']>[0], call: Call): void {
    const inside = changes.filter(([path]) => this.disk.has(path));
    if (inside.length === 0) return;
    if (inside.length < changes.length) throw new Error('nothing is moved into the data directory or out of it');
    this.disk.name(inside, call);
    this.isDoubtful ||= call.result === undefined;
  }
}

/** From a directory, as a descriptor, and a path relative to it. */
function pathFrom(directory: string | undefined, path: string | undefined): string {
  return resolve(pathOf(directory) ?? '/', octetsOf(path ?? '').toString());
}

const octal = (mode: string | undefined): number => Number.parseInt(mode ?? '', 8);
/** As usual; the daemon asks for what it needs. */
const umask = 0o022;

function open(replay: Replay, call: Call, path: string, flags: string, mode: string | undefined): void {
  const descriptors = replay.descriptors(call.thread);
  const { disk } = replay;
  if (call.result !== undefined) descriptors.delete(call.result);
  if (!disk.has(path)) return;
  const known = disk.find(path);
  if (known === undefined) {
    if (!flags.includes('O_CREAT')) throw new Error('the recording does not have what was opened');
    replay.name([[path, new File(octal(mode) & ~umask)]], call);
  } else if (flags.includes('O_TRUNC') && known instanceof File && known.length > 0) {
    known.truncate(0, call);
    replay.isDoubtful ||= call.result === undefined;
  }
  if (call.result === undefined) return;
  descriptors.set(call.result, { isAppending: flags.includes('O_APPEND'), isSynchronous: /O_D?SYNC/.test(flags), position: 0 });
}

function rename(replay: Replay, call: Call, from: string, to: string): void {
  const node = replay.disk.has(from) ? replay.disk.find(from) : undefined;
  if (node === undefined && replay.disk.has(from)) throw new Error('the recording does not have what was renamed');
  replay.name([[from, undefined], [to, node]], call); // prettier-ignore
}

function link(replay: Replay, call: Call, from: string, to: string): void {
  if (replay.disk.has(from) || replay.disk.has(to)) replay.name([[to, replay.disk.find(from)]], call);
}

function chmod(replay: Replay, path: string | undefined, mode: string | undefined): void {
  const node = replay.disk.has(path) ? replay.disk.find(path) : undefined;
  if (node instanceof File) node.mode = octal(mode);
}

const write: Handler = (replay, call) => replay.write(call, octetsOf(call.args[1] ?? ''));
const writeAt: Handler = (replay, call) => replay.write(call, octetsOf(call.args[1] ?? ''), Number(call.args[3]));
const sync: Handler = ({ disk }, call) => {
  const path = pathOf(call.args[0]);
  if (disk.has(path)) disk.sync(path, call);
};
const duplicate: Handler = (replay, { thread, args, result }) => {
  const descriptors = replay.descriptors(thread);
  const opened = descriptors.get(descriptorOf(args[0]));
  if (result === undefined) return;
  if (opened === undefined) descriptors.delete(result);
  else descriptors.set(result, opened);
};
const unlinkAt: Handler = (replay, call) => replay.name([[pathFrom(call.args[0], call.args[1]), undefined]], call);
const unlink: Handler = (replay, call) => replay.name([[pathFrom(undefined, call.args[0]), undefined]], call);
const startProcess: Handler = (replay, { thread, args, result }) => {
  if (result !== undefined)
    replay.begin(
      result,
      thread,
      args.some((arg) => arg.includes('CLONE_FILES')),
    );
};
/** By name of the call. A change of a file in another way shows when the disks are compared. */
const handlers: Readonly<Record<string, Handler>> = {
  openat: (replay, call) => open(replay, call, pathFrom(call.args[0], call.args[1]), call.args[2] ?? '', call.args[3]),
  open: (replay, call) => open(replay, call, pathFrom(undefined, call.args[0]), call.args[1] ?? '', call.args[2]),
  creat: (replay, call) => open(replay, call, pathFrom(undefined, call.args[0]), 'O_WRONLY|O_CREAT|O_TRUNC', call.args[1]),
  ...{ write, writev: write, pwrite64: writeAt, pwritev: writeAt, pwritev2: writeAt },
  lseek(replay, call) {
    if (replay.file(call) !== undefined && call.result !== undefined) replay.opened(call).position = call.result;
  },
  ftruncate: (replay, call) => replay.truncate(replay.file(call), call),
  truncate(replay, call) {
    const path = pathFrom(undefined, call.args[0]);
    replay.truncate(replay.disk.has(path) ? replay.disk.file(path) : undefined, call);
  },
  rename: (replay, call) => rename(replay, call, pathFrom(undefined, call.args[0]), pathFrom(undefined, call.args[1])),
  renameat: (replay, call) => rename(replay, call, pathFrom(call.args[0], call.args[1]), pathFrom(call.args[2], call.args[3])),
  renameat2: (replay, call) => rename(replay, call, pathFrom(call.args[0], call.args[1]), pathFrom(call.args[2], call.args[3])),
  ...{ unlink, rmdir: unlink, unlinkat: unlinkAt },
  mkdir: (replay, call) => replay.name([[pathFrom(undefined, call.args[0]), new Directory(octal(call.args[1]) & ~umask)]], call),
  mkdirat: (replay, call) => replay.name([[pathFrom(call.args[0], call.args[1]), new Directory(octal(call.args[2]) & ~umask)]], call),
  link: (replay, call) => link(replay, call, pathFrom(undefined, call.args[0]), pathFrom(undefined, call.args[1])),
  linkat: (replay, call) => link(replay, call, pathFrom(call.args[0], call.args[1]), pathFrom(call.args[2], call.args[3])),
  ...{ fsync: sync, fdatasync: sync },
  chmod: (replay, { args: [path, mode] }) => chmod(replay, pathFrom(undefined, path), mode),
  fchmod: (replay, { args: [descriptor, mode] }) => chmod(replay, pathOf(descriptor), mode),
  fchmodat: (replay, { args: [directory, path, mode] }) => chmod(replay, pathFrom(directory, path), mode),
  ...{ dup: duplicate, dup2: duplicate, dup3: duplicate },
  fcntl(replay, call) {
    if (call.args[1]?.startsWith('F_DUPFD') === true) duplicate(replay, call);
  },
  ...{ clone: startProcess, clone3: startProcess, fork: startProcess, vfork: startProcess },
};
