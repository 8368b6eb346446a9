// What must not grow in an appliance that does the same for hours: memory, descriptors, threads, pages of the store, token objects, latency.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { open } from 'lmdb';
import { processTree, programOf, proportionalMib } from '../../bench/measure/processes.ts';
import { Connection } from '../kills/connection.ts';
import { keyObjectCount } from '../kills/prepared.ts';
import type { Daemon } from '../daemon.ts';

/** Measured quantities by name, each with its unit in it. */
export type Measured = Readonly<Record<string, number>>;

/** A saw: each is replaced when it has grown too far (hsm/client/growth.ts). */
export const memoryOfTokenProcesses = 'memory of token processes, MiB';
/** Goes up by steps, when more was written at a time than ever before while a reader or a backup held on to former pages. */
export const sizeOfStore = 'store, MiB';
export const sizeOfLogs = 'logs, MiB';
/** What a deletion may have left. */
export const strayObjects = 'token objects beyond those of keys';

const probes = 20;
const plaintext = Buffer.from('a probe').toString('base64');

/** Measures a running appliance with its data directory; `probe` is a key that encrypts. `objectsInUse` counts the key objects that the token must have. */
export async function measure(daemon: Daemon, directory: string, probe: string, objectsInUse: () => number): Promise<Measured> {
  const processes = processTree(daemon.pid);
  const sum = (of: (pid: number) => number, program?: string): number =>
    processes.filter(({ script }) => program === undefined || programOf(script) === program).reduce((all, { pid }) => all + of(pid), 0);
  const before = objectsInUse();
  const objects = await keyObjectCount(directory);
  const [all, workers, hosts] = [sum(proportionalMib), sum(proportionalMib, 'worker'), sum(proportionalMib, 'host')];
  return {
    'memory of workers, MiB': workers,
    [memoryOfTokenProcesses]: hosts,
    'memory of other processes, MiB': all - workers - hosts,
    descriptors: sum((pid) => entriesOf(pid, 'fd')),
    threads: sum((pid) => entriesOf(pid, 'task')),
    'pages of the store in use': await pagesInUse(join(directory, 'store')),
    [sizeOfStore]: statSync(join(directory, 'store/data.mdb')).size / 2 ** 20,
    [sizeOfLogs]: octetsOf(join(directory, 'logs')) / 2 ** 20,
    // The storm makes and deletes keys meanwhile.
    [strayObjects]: objects - (before + objectsInUse()) / 2,
    'latency of an encryption, ms': await latencyOf(daemon, probe),
  };
}

/** Without those that wait to be used again. */
async function pagesInUse(path: string): Promise<number> {
  const database = open({ path, noSubdir: false, readOnly: true });
  const stats = database.getStats() as Readonly<Record<`${'treeBranch' | 'treeLeaf'}PageCount` | 'overflowPages', number>>;
  await database.close();
  return stats.treeBranchPageCount + stats.treeLeafPageCount + stats.overflowPages;
}

function octetsOf(folder: string): number {
  return readdirSync(folder).reduce((sum, name) => sum + (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0), 0);
}

function entriesOf(pid: number, folder: string): number {
  try {
    return readdirSync(`/proc/${pid}/${folder}`).length;
  } catch {
    return 0;
  }
}

/** The median of some requests, one after another. */
async function latencyOf(daemon: Daemon, probe: string): Promise<number> {
  const connection = new Connection(daemon, new Map());
  const times: number[] = [];
  for (let count = 0; count < probes; count++) {
    const began = performance.now();
    await connection.do('POST', `/v1/state/keystore/transit-keys/${probe}/encrypt`, { plaintext });
    times.push(performance.now() - began);
  }
  connection.close();
  return times.toSorted((a, b) => a - b)[probes / 2] ?? 0;
}
