// Three appliances as one, beside one that stands alone with the same store: what a use and a change cost, how long what is rare takes, memory.
import { setTimeout } from 'node:timers/promises';
import type { Parts } from '../../../appliance/docs/performance/figures.ts';
import type { Bench, Part } from '../measure/bench.ts';
import { formatLoad, formatRatio, microsOf, summarise, summariseOwn } from '../measure/formats.ts';
import { type Driven, measureLoad, type MeasuredLoad } from '../measure/load.ts';
import { processorMicros, processTree, proportionalMib } from '../measure/processes.ts';
import { formatTable, inRounds, medianOf } from '../measure/rounds.ts';
import type { Appliance } from '../neighbours/appliance.ts';
import type { Group } from '../neighbours/contender.ts';
import { startThree, type Three } from '../neighbours/three.ts';
import { measureDeaths, measureRevocations } from './cluster-faults.ts';
import { filledPerSecond } from './keys.ts';
import { processName } from './memory.ts';

type Found = Parts['cluster'];

const storedKeys = Number(process.env['BENCH_CLUSTER_KEYS'] ?? 5_000);
/** Keys a second, at least, that go into etcd, and from it into one that joins. */
const sharedPerSecond = 2_000;
const operations = ['encrypt', 'sign ecdsa-p256'] as const;
const connectionsOfUses = [1, 64] as const;
const callers = [1, 16, 64] as const;
const warmUpSeconds = 4;
const restSeconds = 4;
const revocations = 60;
const deaths = 3;

export const cluster: Part<'cluster'> = {
  onRequest: true,
  measures: `three appliances as one against one alone, ${storedKeys} keys in each`,
  seconds: ({ rounds, seconds }) =>
    45 +
    storedKeys / filledPerSecond +
    (3 * storedKeys) / sharedPerSecond +
    2 * (warmUpSeconds + (rounds + 1) * (operations.length * connectionsOfUses.length + callers.length) * (seconds + 0.15)) +
    restSeconds +
    0.3 * revocations +
    14 * deaths,
  async run(bench) {
    const neighbours = await startThree(bench.directory, storedKeys);
    const { alone, three, foundMs, joinMs } = neighbours;
    const [, member] = three as [Appliance, Appliance, Appliance];
    try {
      const rest = await measureRest(alone, member);
      for (const one of [alone, member]) {
        await measureLoad(one, one.targets.encrypt, { seconds: warmUpSeconds, connections: 64, directory: bench.directory });
      }
      const uses = await measureUses(bench, alone, member, rest);
      const memory = { alone: memoryOf(alone), member: memoryOf(member) };
      return {
        ...{ keys: storedKeys, foundMs, joinMs: [...joinMs], rest, uses, memory },
        changes: await measureChanges(bench, neighbours, rest),
        revocations: await measureRevocations(three, revocations),
        deaths: await measureDeaths(neighbours, deaths),
      };
    } finally {
      await neighbours.stop();
    }
  },
  format: ({ keys, foundMs, joinMs, rest, uses, memory, changes, revocations: revoked, deaths: died }) => [
    'A use, of an appliance alone and of one of three; processor time of all its processes, its etcd with it, over that at rest.',
    '',
    ...formatTable(
      [
        'use',
        'connections',
        'alone /s',
        'p50 ms',
        'p99 ms',
        'µs',
        'member /s',
        'p50 ms',
        'p99 ms',
        'µs',
        'rate to alone',
        'time of alone to this',
      ],
      uses.map((row) => [
        ...[row.operation, row.connections, ...formatLoad(row.alone), ...formatLoad(row.member)],
        ...[formatRatio(row.rateToAlone), formatRatio(row.timeToAlone)],
      ]),
    ),
    '',
    'A change, an approle login; processor time of all three together, over that at rest.',
    '',
    ...formatTable(
      ['callers', 'alone /s', 'p50 ms', 'p99 ms', 'µs', 'three /s', 'p50 ms', 'p99 ms', 'µs', 'rate to alone'],
      changes.map((row) => [row.callers, ...formatLoad(row.alone), ...formatLoad(row.three), formatRatio(row.rateToAlone)]),
    ),
    '',
    `${revoked.made} revocations answered after ${revoked.p50Ms.toFixed(1)} ms (${revoked.worstMs.toFixed(1)} at worst); of ${revoked.asked} requests sent after that to all three, ${revoked.accepted} were accepted.`,
    `Leader killed ${died.times} times: ${died.medianMs.toFixed(0)} ms without changes (${died.worstMs.toFixed(0)} at worst).`,
    `With ${keys} keys the first served as a member ${foundMs.toFixed(0)} ms after init, the others ${joinMs.map((ms) => ms.toFixed(0)).join(' and ')} ms after their start.`,
    `At rest ${(100 * rest.alone).toFixed(1)} % of a core alone, ${(100 * rest.member).toFixed(1)} % a member.`,
    '',
    ...formatTable(
      ['MiB (PSS) after the uses', 'alone', 'member'],
      namesOf(memory).map((name) => [name, ...(['alone', 'member'] as const).map((of) => (mibOf(memory[of], name) ?? 0).toFixed(0))]),
    ),
  ],
};

async function measureUses(
  { directory, rounds, seconds }: Bench,
  alone: Appliance,
  member: Appliance,
  rest: Found['rest'],
): Promise<Found['uses']> {
  const rows: Found['uses'] = [];
  for (const operation of operations) {
    for (const connections of connectionsOfUses) {
      const options = { seconds, connections, directory };
      const found = await inRounds(rounds, async () => ({
        alone: overRest(await measureLoad(alone, alone.targets[operation], options), rest.alone),
        member: overRest(await measureLoad(member, member.targets[operation], options), rest.member),
      }));
      rows.push({
        ...{ operation, connections },
        alone: summariseOwn(found.map((turns) => turns.alone)),
        member: summariseOwn(found.map((turns) => turns.member)),
        rateToAlone: medianOf(found, (turns) => turns.member.perSecond / turns.alone.perSecond),
        timeToAlone: medianOf(found, (turns) => microsOf(turns.alone) / microsOf(turns.member)),
      });
    }
  }
  return rows;
}

/** All callers ask one of the three; what the others do for it is counted. */
async function measureChanges(
  { directory, rounds, seconds }: Bench,
  { alone, three }: Three,
  rest: Found['rest'],
): Promise<Found['changes']> {
  const [, asked] = three as [Appliance, Appliance, Appliance];
  const all: Driven<Group> = {
    processes: {
      service: three.flatMap(({ processes }) => processes.service),
      token: three.flatMap(({ processes }) => processes.token),
    },
    ...(asked.settle === undefined ? {} : { settle: asked.settle }),
  };
  const rows: Found['changes'] = [];
  for (const connections of callers) {
    const options = { seconds, connections, directory };
    const found = await inRounds(rounds, async () => ({
      alone: overRest(await measureLoad(alone, alone.login, options), rest.alone),
      three: overRest(await measureLoad(all, asked.login, options), three.length * rest.member),
    }));
    rows.push({
      callers: connections,
      alone: summarise(found.map((turns) => turns.alone)),
      three: summarise(found.map((turns) => turns.three)),
      rateToAlone: medianOf(found, (turns) => turns.three.perSecond / turns.alone.perSecond),
    });
  }
  return rows;
}

/** Without what is taken at rest as well, which is a matter of time and not of requests. `share`: of a core. */
function overRest(load: MeasuredLoad<Group>, share: number): MeasuredLoad<Group> {
  const { service, token } = load.micros;
  return { ...load, micros: { service: service - (share * 1e6) / load.perSecond, token } };
}

/** Processor time of a second in which nobody asks anything, in seconds. */
async function measureRest(alone: Appliance, member: Appliance): Promise<Found['rest']> {
  const microsNow = (): readonly number[] =>
    [alone, member].map(({ processes }) => processorMicros([...processes.service, ...processes.token]));
  const before = microsNow();
  await setTimeout(restSeconds * 1000);
  const [ofAlone = 0, ofMember = 0] = microsNow().map((micros, at) => (micros - (before[at] ?? 0)) / 1e6 / restSeconds);
  return { alone: ofAlone, member: ofMember };
}

type Memory = readonly Found['memory']['alone'][number][];

/** By kind of process, all of a kind together. */
function memoryOf({ daemon }: Appliance): Found['memory']['alone'] {
  const kinds = new Map<string, number>();
  for (const { pid, script } of processTree(daemon.pid)) {
    const name = processName(script, 'etcd');
    kinds.set(name, (kinds.get(name) ?? 0) + proportionalMib(pid));
  }
  return Array.from(kinds, ([process, mib]) => ({ process, mib }));
}

const mibOf = (memory: Memory, name: string): number | undefined => memory.find(({ process }) => process === name)?.mib;

function namesOf({ alone, member }: { readonly alone: Memory; readonly member: Memory }): readonly string[] {
  return [...new Set([...alone, ...member].map(({ process }) => process))];
}
