// A daemon whose changes of files are recorded from its start to a sudden end, so that one can tell what a loss of power would leave.
import { mkdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type Daemon, type DaemonOptions, startUnlessAbandoned } from '../daemon.ts';
import { Disk } from './disk.ts';
import { replay } from './replay.ts';
import { readCalls, recordingWords } from './syscalls.ts';

export type Recorded = {
  /** undefined when it was killed before it was ready */
  readonly daemon: Daemon | undefined;
  /** Ends every process at once. Answers the disk as it is then. */
  readonly cut: () => Promise<Disk>;
};

/**
 * Memory that processes share is changed without calls, and made again when nobody has it open. Of the log nothing is promised, and the line that
 * the end has cut off may be there or not.
 */
const isUncertain = (path: string): boolean => basename(path) === 'lock.mdb' || basename(dirname(path)) === 'logs';

/** `scope` holds the data directory, which may not exist yet, and nothing else. Rejects as startUnlessAbandoned() does. */
export async function startRecorded(scope: string, options: Omit<DaemonOptions, 'directory'>): Promise<Recorded> {
  const disk = new Disk(scope);
  const calls = `${scope}.calls`;
  mkdirSync(calls);
  const under = recordingWords(join(calls, 'thread'));
  const daemon = await startUnlessAbandoned({ ...options, directory: join(scope, 'data'), firstStart: true, under });
  return {
    daemon,
    async cut() {
      await daemon?.kill();
      const { isExact } = replay(readCalls(join(calls, 'thread')), disk);
      rmSync(calls, { recursive: true });
      const differences = isExact ? disk.differences(isUncertain) : [];
      if (differences.length > 0) throw new Error(`the recording missed what happened to ${differences.join(', ')}`);
      return disk;
    },
  };
}
