// Memory of each process at rest and after a load, of the appliance and of OpenBao.
import { join } from 'node:path';
import type { Parts } from '../../../appliance/docs/performance/figures.ts';
import { allWorkers, type Part } from '../measure/bench.ts';
import { measureLoad, type Target } from '../measure/load.ts';
import { processTree, programOf, proportionalMib } from '../measure/processes.ts';
import { formatTable } from '../measure/rounds.ts';
import { startAppliance } from '../neighbours/appliance.ts';
import type { Contender } from '../neighbours/contender.ts';
import { startOpenBao } from '../neighbours/openbao.ts';

type ProcessMemory = Parts['memory']['appliance'][number];

const connections = 64;
/** Turns of each load, so long that a collector has had its occasions. */
const turns = 4;

export const memory: Part<'memory'> = {
  measures: 'memory of each process (PSS) at rest and after encryptions, batches and logins',
  seconds: ({ seconds, openBao }) => (openBao === undefined ? 1 : 2) * (8 + 3 * turns * (seconds + 0.15)),
  async run({ directory, seconds, openBao: program }) {
    const measure = async (contender: Contender, root: number): Promise<ProcessMemory[]> => {
      try {
        const processes = processTree(root);
        const idle = processes.map(({ pid }) => proportionalMib(pid));
        const loads: readonly Target[] = [contender.targets.encrypt, contender.targets['encrypt x 100'], contender.login];
        for (const target of loads) await measureLoad(contender, target, { seconds: turns * seconds, connections, directory });
        return processes.map(({ pid, script }, at) => ({
          process: processName(script, 'OpenBao'),
          idleMib: idle[at] ?? 0,
          loadedMib: proportionalMib(pid),
        }));
      } finally {
        await contender.stop();
      }
    };
    const appliance = await startAppliance({ directory: join(directory, 'data'), workers: allWorkers });
    const own = await measure(appliance, appliance.daemon.pid);
    if (program === undefined) return { appliance: own };
    const openBao = await startOpenBao(program, join(directory, 'openbao'));
    return { appliance: own, openBao: await measure(openBao, openBao.processes.service[0] ?? 0) };
  },
  format: ({ appliance, openBao = [] }) => [
    `MiB (PSS) at rest, and after encryptions, batches of 100 and logins at ${connections} connections.`,
    '',
    ...formatTable(
      ['process', 'at rest', 'after a load'],
      [...appliance, total('appliance together', appliance), ...openBao].map(({ process, idleMib, loadedMib }) => [
        ...[process, idleMib.toFixed(0), loadedMib.toFixed(0)],
      ]),
    ),
  ],
};

const names: Readonly<Record<string, string>> = { keystored: 'supervisor', worker: 'worker', host: 'token process', follower: 'follower' };

/** What people call a process, by its script; one that has none is a program of others. */
export function processName(script: string, other: string): string {
  return script === '' ? other : (names[programOf(script)] ?? programOf(script));
}

function total(name: string, processes: readonly ProcessMemory[]): ProcessMemory {
  const sum = (field: 'idleMib' | 'loadedMib'): number => processes.reduce((all, one) => all + one[field], 0);
  return { process: name, idleMib: sum('idleMib'), loadedMib: sum('loadedMib') };
}
