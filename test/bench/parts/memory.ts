// Memory of each process at rest, after a load and at rest again, of the appliance and of OpenBao, and where it is.
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Parts } from '../../../appliance/docs/performance/figures.ts';
import { allWorkers, type Part } from '../measure/bench.ts';
import { measureLoad, type Target } from '../measure/load.ts';
import { memoryKinds, processTree, programOf, proportionalMib } from '../measure/processes.ts';
import { formatTable } from '../measure/rounds.ts';
import { startAppliance } from '../neighbours/appliance.ts';
import type { Contender } from '../neighbours/contender.ts';
import { startOpenBao } from '../neighbours/openbao.ts';

type ProcessMemory = Parts['memory']['appliance'][number];

const connections = 64;
/** Requests, not seconds: what a process keeps depends on how much it has done, and a busy machine does less in a second. */
const requests = { encrypt: 40_000, batch: 4_000, login: 16_000 };
/** Of both servers for all of it, on a quiet machine of two cores. */
const loadSeconds = { appliance: 12, openBao: 36 };
/** The appliance looks after two and four seconds whether it is idle. */
const restSeconds = 10;

export const memory: Part<'memory'> = {
  measures: 'memory of each process (PSS) at rest, after encryptions, batches and logins, and at rest again',
  seconds: ({ openBao }) => 8 + loadSeconds.appliance + restSeconds + (openBao === undefined ? 0 : 5 + loadSeconds.openBao + restSeconds),
  async run({ directory, seconds, openBao: program }) {
    const measure = async (contender: Contender, root: number): Promise<ProcessMemory[]> => {
      const load = async (target: Target, count: number): Promise<void> => {
        for (let done = 0; done < count;) done += (await measureLoad(contender, target, { seconds, connections, directory })).requests;
      };
      try {
        const processes = processTree(root);
        const pss = (): readonly number[] => processes.map(({ pid }) => proportionalMib(pid));
        const idle = pss();
        await load(contender.targets.encrypt, requests.encrypt);
        await load(contender.targets['encrypt x 100'], requests.batch);
        await load(contender.login, requests.login);
        const loaded = pss();
        const kinds = processes.map(({ pid }) => memoryKinds(pid));
        await setTimeout(restSeconds * 1000);
        const rest = pss();
        return processes.map(({ script }, at) => ({
          process: processName(script, 'OpenBao'),
          ...{ idleMib: idle[at] ?? 0, loadedMib: loaded[at] ?? 0, restMib: rest[at] ?? 0 },
          kinds: kinds[at] ?? noKinds,
        }));
      } finally {
        await contender.stop();
      }
    };
    // Of its own: pages of the program that this process shares with it would count as half.
    const node = join(directory, 'node');
    copyFileSync(process.execPath, node);
    const appliance = await startAppliance({ directory: join(directory, 'data'), workers: allWorkers, node });
    const own = await measure(appliance, appliance.daemon.pid);
    if (program === undefined) return { appliance: own };
    const openBao = await startOpenBao(program, join(directory, 'openbao'));
    return { appliance: own, openBao: await measure(openBao, openBao.processes.service[0] ?? 0) };
  },
  format: ({ appliance, openBao = [] }) => [
    `MiB (PSS) at rest, after ${requests.encrypt} encryptions, ${requests.batch} batches of 100 and ${requests.login} logins at ${connections} connections, and ${restSeconds} s later.`,
    '',
    ...formatTable(
      ['process', 'at rest', 'after a load', 'heap', 'malloc', 'store', 'code', 'at rest again'],
      [...appliance, total('appliance together', appliance), ...openBao].map(({ process, idleMib, loadedMib, restMib, kinds }) =>
        [process, idleMib, loadedMib, kinds.heap, kinds.malloc, kinds.store, kinds.code, restMib].map((cell) =>
          typeof cell === 'string' ? cell : cell.toFixed(0),
        ),
      ),
    ),
  ],
};

const noKinds: ProcessMemory['kinds'] = { heap: 0, malloc: 0, store: 0, code: 0 };

const names: Readonly<Record<string, string>> = { keystored: 'supervisor', worker: 'worker', host: 'token process', follower: 'follower' };

/** What people call a process, by its script; one that has none is a program of others. */
export function processName(script: string, other: string): string {
  return script === '' ? other : (names[programOf(script)] ?? programOf(script));
}

function total(name: string, processes: readonly ProcessMemory[]): ProcessMemory {
  const sum = (of: (one: ProcessMemory) => number): number => processes.reduce((all, one) => all + of(one), 0);
  return {
    process: name,
    ...{ idleMib: sum((one) => one.idleMib), loadedMib: sum((one) => one.loadedMib), restMib: sum((one) => one.restMib) },
    kinds: {
      ...{ heap: sum(({ kinds }) => kinds.heap), malloc: sum(({ kinds }) => kinds.malloc) },
      ...{ store: sum(({ kinds }) => kinds.store), code: sum(({ kinds }) => kinds.code) },
    },
  };
}
