// Three appliances over three members of etcd under load, while one fault after another befalls them; afterwards what every caller saw is judged.
import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { EtcdClient } from '../../../core/etcd/client.ts';
import { endWithTests } from '../../harness/children.ts';
import { faultsOf, type Operation } from '../../harness/storms/counter-history.ts';
import { type EtcdCluster, startEtcd } from '../etcd.ts';
import { type Network, relaysTo } from '../relay.ts';
import type { Answer, Asked } from './storm-appliance.ts';

/** What a storm came to. */
export type StormReport = {
  readonly seed: number;
  readonly faults: Record<string, number>;
  added: number;
  read: number;
  refused: number;
  unknown: number;
  /** why the history cannot be; and replicas that differ */
  readonly losses: string[];
};

const names = ['a', 'b', 'c'] as const;
const keys = Array.from({ length: 6 }, (_, n) => `counter-${n}`);
const callersEach = 3;
const pauseMs = 20;
const againMs = 200;
const settledMs = 120_000;
const mostShown = 20;

/** An appliance that is started again whenever it ends. */
class Appliance {
  readonly name: string;
  readonly network: Network;
  readonly #directory: (id: string) => string;
  readonly #asked = new Map<number, (answer: Answer) => void>();
  #id: string;
  #child: ChildProcess | undefined;
  #isHeld = false;
  #isOver = false;
  #number = 0;

  constructor(name: string, network: Network, directory: (id: string) => string) {
    [this.name, this.network, this.#directory, this.#id] = [name, network, directory, randomUUID()];
  }

  /** Resolves when it serves. */
  async start(): Promise<void> {
    while (!this.#isOver) {
      const child = fork(
        new URL('storm-appliance.ts', import.meta.url),
        [this.name, this.#id, this.#directory(this.#id), ...this.network.urls],
        {
          stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
          detached: true,
        },
      );
      endWithTests(child);
      const exit = once(child, 'exit');
      child.on('message', (message: Answer | 'ready') => {
        if (message !== 'ready') this.#settle(message);
      });
      void exit.then(() => this.#ended(child));
      const [first] = (await Promise.race([once(child, 'message'), exit])) as [unknown];
      if (first === 'ready') {
        this.#child = child;
        return;
      }
      await setTimeout(againMs);
    }
  }

  /** Undefined while it does not run. */
  ask(what: Asked['what'], key = ''): Promise<Answer> | undefined {
    const child = this.#child;
    if (child === undefined) return undefined;
    const number = ++this.#number;
    const { promise, resolve } = Promise.withResolvers<Answer>();
    this.#asked.set(number, resolve);
    child.send({ number, what, key } satisfies Asked, (error) => {
      if (error !== null) this.#settle({ number, unknown: 'not sent' });
    });
    return promise;
  }

  /** To all its processes. */
  signal(signal: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL', child = this.#child): void {
    send(-(child?.pid ?? 0), signal);
  }

  /** To its follower alone. */
  async signalFollower(signal: 'SIGSTOP' | 'SIGKILL', forMs = 0): Promise<void> {
    const answer = await this.ask('follower');
    if (answer === undefined || !('value' in answer)) return;
    send(answer.value, signal);
    await setTimeout(forMs);
    send(answer.value, 'SIGCONT');
  }

  /** Kills it, and starts it again after a while; with another identity and an empty disk if it `losesDisk`. */
  async fall(forMs: number, losesDisk: boolean): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    this.#isHeld = true;
    const gone = once(child, 'exit');
    this.signal('SIGKILL', child);
    await gone;
    if (losesDisk) {
      rmSync(this.#directory(this.#id), { recursive: true });
      this.#id = randomUUID();
    }
    await setTimeout(forMs);
    this.#isHeld = false;
    await this.start();
  }

  async end(): Promise<void> {
    this.#isOver = true;
    const child = this.#child;
    if (child === undefined) return;
    const gone = once(child, 'exit');
    this.signal('SIGKILL', child);
    await gone;
  }

  #settle(answer: Answer): void {
    this.#asked.get(answer.number)?.(answer);
    this.#asked.delete(answer.number);
  }

  #ended(child: ChildProcess): void {
    if (this.#child !== child) return;
    this.#child = undefined;
    for (const number of this.#asked.keys()) this.#settle({ number, unknown: 'it has ended' });
    // Its own end, as of one that was taken for a copy of itself.
    if (!this.#isHeld && !this.#isOver) void this.start();
  }
}

type Parts = { readonly etcd: EtcdCluster; readonly appliances: readonly Appliance[]; readonly random: () => number };

/** Each ends as it began. */
const faults: Readonly<Record<string, (parts: Parts, forMs: number) => Promise<void>>> = {
  'appliance killed': (parts, forMs) => one(parts).fall(forMs / 2, false),
  'appliance stopped': async (parts, forMs) => {
    const stopped = one(parts);
    stopped.signal('SIGSTOP');
    await setTimeout(forMs);
    stopped.signal('SIGCONT');
  },
  'follower killed': (parts) => one(parts).signalFollower('SIGKILL'),
  'follower stopped': (parts, forMs) => one(parts).signalFollower('SIGSTOP', forMs),
  'disk lost': (parts, forMs) => one(parts).fall(forMs / 2, true),
  'cut off': (parts, forMs) => cut(one(parts), forMs, 'both'),
  'cut one way: nothing is sent': (parts, forMs) => cut(one(parts), forMs, 'there'),
  'cut one way: nothing is received': (parts, forMs) => cut(one(parts), forMs, 'back'),
  slow: async (parts, forMs) => {
    const { network } = one(parts);
    network.slowDown(20 + parts.random() * 200);
    await setTimeout(forMs);
    network.slowDown(0);
  },
  'etcd killed': async (parts, forMs) => {
    const member = pick(parts, parts.etcd.members);
    await member.signal('SIGKILL');
    await setTimeout(forMs);
    await member.start();
  },
  'etcd stopped': async (parts, forMs) => {
    const member = pick(parts, parts.etcd.members);
    await member.signal('SIGSTOP');
    await setTimeout(forMs);
    await member.signal('SIGCONT');
  },
  'most of etcd stopped': async (parts, forMs) => {
    const running = pick(parts, parts.etcd.members);
    const others = parts.etcd.members.filter((member) => member !== running);
    for (const member of others) await member.signal('SIGSTOP');
    await setTimeout(forMs);
    for (const member of others) await member.signal('SIGCONT');
  },
  compacted: async ({ etcd }) => {
    const client = new EtcdClient({ endpoints: etcd.urls, nowMs: () => performance.now() });
    try {
      const { header } = await client.range({ key: Buffer.from('none') });
      await client.compact(Number(header.revision));
    } catch {
      // Most of etcd may be stopped at this moment.
    } finally {
      client.close();
    }
  },
};

/** Runs that many faults, half of them two at a time. Throws when the appliances do not come together afterwards. */
export async function stormOnCluster(options: {
  directory: (...names: string[]) => string;
  faults: number;
  seed: number;
}): Promise<StormReport> {
  const { directory, seed } = options;
  const report: StormReport = { seed, faults: {}, added: 0, read: 0, refused: 0, unknown: 0, losses: [] };
  const random = randomFrom(seed);
  const etcd = await startEtcd(3);
  const networks = await Promise.all(names.map((_, index) => relaysTo([...etcd.urls.slice(index), ...etcd.urls.slice(0, index)])));
  const appliances = networks.map((network, index) => new Appliance(names[index] ?? '', network, (id) => directory(`store-${id}`)));
  const load = new AbortController();
  const operations: Operation[] = [];
  const unknown = new Map<string, number>();
  try {
    for (const appliance of appliances) await appliance.start();
    const calling = appliances.flatMap((appliance) =>
      Array.from({ length: callersEach }, () => callOften(appliance, { operations, unknown, report }, load.signal)),
    );
    const parts = { etcd, appliances, random };
    for (let count = 0; count < options.faults;) {
      const together = random() < 0.3 && count + 1 < options.faults ? 2 : 1;
      const chosen = Array.from({ length: together }, () => pick(parts, Object.keys(faults)));
      for (const name of chosen) report.faults[name] = (report.faults[name] ?? 0) + 1;
      count += together;
      await Promise.all(chosen.map(async (name) => faults[name]?.(parts, 200 + random() * 3_000)));
      await setTimeout(random() * 1_000);
    }
    await allServe(appliances);
    load.abort();
    await Promise.all(calling);
    await comeTogether(appliances, operations, report);
    report.losses.push(...faultsOf(operations, unknown).slice(0, mostShown));
    return report;
  } finally {
    load.abort();
    for (const appliance of appliances) await appliance.end();
    for (const network of networks) network.close();
    await etcd.stop();
  }
}

type Seen = { readonly operations: Operation[]; readonly unknown: Map<string, number>; readonly report: StormReport };

async function callOften(appliance: Appliance, { operations, unknown, report }: Seen, signal: AbortSignal): Promise<void> {
  for (let turn = 0; !signal.aborted; turn++) {
    const key = keys[Math.floor(Math.random() * keys.length)] ?? '';
    const kind = turn % 2 === 0 ? 'add' : 'read';
    const calledMs = performance.now();
    const answer = await appliance.ask(kind, key);
    const answeredMs = performance.now();
    if (answer === undefined) await setTimeout(againMs);
    else if ('value' in answer) {
      operations.push({ kind, key, calledMs, answeredMs, value: answer.value, by: appliance.name });
      if (kind === 'add') report.added++;
      else report.read++;
    } else if ('unknown' in answer && kind === 'add') {
      unknown.set(key, (unknown.get(key) ?? 0) + 1);
      report.unknown++;
    } else report.refused++;
    await setTimeout(pauseMs);
  }
}

/** Every appliance adds once more. */
async function allServe(appliances: readonly Appliance[]): Promise<void> {
  const untilMs = performance.now() + settledMs;
  for (const appliance of appliances) {
    for (;;) {
      const answer = await appliance.ask('read', keys[0]);
      if (answer !== undefined && 'value' in answer) break;
      if (performance.now() > untilMs) throw new Error(`${appliance.name} does not serve again: ${JSON.stringify(answer)}`);
      await setTimeout(againMs);
    }
  }
}

/** The replicas become equal, and have every sum that was answered. */
async function comeTogether(appliances: readonly Appliance[], operations: readonly Operation[], report: StormReport): Promise<void> {
  const untilMs = performance.now() + settledMs;
  for (;;) {
    const dumps = await Promise.all(appliances.map(async (appliance) => textOf(await appliance.ask('dump'))));
    const [dump] = dumps;
    if (dump !== undefined && new Set(dumps).size === 1) {
      const sums = new Map((JSON.parse(dump) as [[string], number][]).map(([[key], sum]) => [key, sum]));
      const lost = operations.filter(({ key, value }) => value > (sums.get(key) ?? 0));
      report.losses.push(...lost.map(({ key, value, by }) => `${key} = ${value}, answered by ${by}, is lost`));
      return;
    }
    if (performance.now() > untilMs) throw new Error(`the replicas differ: ${dumps.join('\n')}`);
    await setTimeout(againMs);
  }
}

function textOf(answer: Answer | undefined): string | undefined {
  return answer !== undefined && 'dump' in answer ? answer.dump : undefined;
}

/** Nothing, where the process has ended. */
function send(pid: number, signal: NodeJS.Signals): void {
  if (pid === 0) return;
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function one(parts: Parts): Appliance {
  return pick(parts, parts.appliances);
}

function pick<T>({ random }: Pick<Parts, 'random'>, from: readonly T[]): T {
  return from[Math.floor(random() * from.length)] as T;
}

async function cut({ network }: Appliance, forMs: number, way: 'both' | 'there' | 'back'): Promise<void> {
  network.cut(way);
  await setTimeout(forMs);
  network.heal();
}

/** A small seeded generator of numbers from 0 to 1 (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
