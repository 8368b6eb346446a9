// Kills of an appliance that runs: of its processes while it goes on serving, of all of it, and during rotations of the wrapping key.
import { setTimeout } from 'node:timers/promises';
import type { Dice } from '../../fuzz/cases.ts';
import type { Daemon } from '../daemon.ts';
import { Connection, Find, persist } from './connection.ts';
import type { Life } from './life.ts';
import { type Kill, killOverLives, type Plan } from './plan.ts';
import { children, end, Victims } from './victims.ts';

const workersAmongKills = 4;
/** Longest times from one kill to the next, and from the ready line to the kill. */
const processPauseMs = 300;
/** Leaves the machine to the processes that are started again. */
const lanePauseMs = 60;
const stormMs = 900;

/** Kills workers and the processes of their tokens. The appliance must go on serving, and replace each of them. */
export async function killProcesses(plan: Plan): Promise<void> {
  const victims = new Victims();
  /** requests that were acknowledged when something was last killed */
  const before = new WeakMap<Life, number>();
  const options = { name: 'processes', workersOf: () => workersAmongKills, pauseMs: lanePauseMs };
  await killOverLives(plan, options, async (life, dice) => {
    const daemon = await life.run();
    await life.wait(dice.below(processPauseMs));
    const done = life.storm.acknowledged.size;
    // A machine that is busy with other things gets its time: the appliance goes on serving between any two kills.
    if (before.get(life) === done) return undefined;
    const kill = victims.kill(daemon.pid, dice, life.startMs);
    if (kill !== undefined) before.set(life, done);
    return kill;
  });
}

/** Kills the whole appliance, or its supervisor alone; the next start must find everything. */
export async function killDaemons(plan: Plan): Promise<void> {
  let turn = 0;
  const options = { name: 'daemons', workersOf: (round: number) => (round % 4 === 1 ? 2 : 1) };
  await killOverLives(plan, options, async (life, dice) => {
    await life.run();
    await life.wait(dice.below(stormMs));
    const what = ++turn % 5 === 0 ? 'the supervisor' : 'every process';
    await life.killDaemon(what);
    return { kind: what };
  });
}

/** After the last key was rewrapped the old wrapping key stays for twice this time. */
const jobTimeoutSeconds = 3;
const beginningMs = 500;
const destroyingMs = 300;

/** Kills the appliance, a worker or the process of a token while a rotation rewraps, waits or destroys. */
export async function killRotations(plan: Plan): Promise<void> {
  const configuration = `hsm: { job-timeout: ${jobTimeoutSeconds}s }\n`;
  let turn = 0;
  const options = { name: 'rotations', workersOf: () => 2, configuration, pauseMs: lanePauseMs, settled: requireRotated };
  await killOverLives(plan, options, async (life, dice) => {
    const daemon = await life.run();
    const connection = new Connection(daemon, life.storm.acknowledged);
    await beginRotation(connection);
    await untilMoment(life, connection, turn++ % 3, dice);
    const { state, done, total } = await wrappingKeyOf(connection);
    connection.close();
    const when = state === 'in-use' ? 'after a rotation' : done < total || total === 0 ? 'while keys are rewrapped' : 'before the end';
    return killOfRotation(life, daemon, dice, when);
  });
}

/** Of worker 1 most often, which has the job. */
async function killOfRotation(life: Life, { pid }: Daemon, dice: Dice, when: string): Promise<Kill | undefined> {
  if (dice.chance(0.5)) {
    await life.killDaemon('every process');
    return { kind: 'every process', when };
  }
  const [first = 0, second = first] = children(pid);
  const worker = dice.chance(0.75) ? first : second;
  const [host = 0] = children(worker);
  if (dice.chance(0.5)) return end(host) ? { kind: 'token host', when } : undefined;
  return end(worker) ? { kind: 'worker', when } : undefined;
}

/** 409: the last one is still under way. */
async function beginRotation(connection: Connection): Promise<void> {
  const { status, text } = await persist(() => connection.send('POST', '/v1/state/system/rotate-wrapping-key', {}));
  if (status !== 200 && status !== 409) throw new Find(`a rotation was answered ${status} ${text}`);
}

/** Three kinds of moments: while keys are rewrapped, while the old wrapping key is only kept, while it is destroyed. */
async function untilMoment(life: Life, connection: Connection, kind: number, dice: Dice): Promise<void> {
  if (kind === 0) return life.wait(dice.below(beginningMs));
  await until(connection, ({ state, done, total }) => state === 'in-use' || (total > 0 && done >= total));
  if (kind === 1) return life.wait(dice.below(jobTimeoutSeconds * 2_000));
  return life.wait(jobTimeoutSeconds * 2_000 + dice.below(destroyingMs));
}

/** The rotation ends, and every key was rewrapped. */
async function requireRotated(daemon: Daemon): Promise<void> {
  const connection = new Connection(daemon, new Map());
  const { done, total, failed } = await until(connection, ({ state }) => state === 'in-use');
  connection.close();
  if (failed > 0 || done !== total) throw new Find(`a rotation ended with ${done} of ${total} keys, ${failed} failed`);
}

type WrappingKey = { readonly state: string; readonly done: number; readonly total: number; readonly failed: number };

async function wrappingKeyOf(connection: Connection): Promise<WrappingKey> {
  const { tokens } = await persist(() => connection.do('GET', '/v1/state/system/hsm'));
  return tokens[0]['wrapping-key'];
}

async function until(connection: Connection, isReached: (now: WrappingKey) => boolean): Promise<WrappingKey> {
  for (;;) {
    const now = await wrappingKeyOf(connection);
    if (isReached(now)) return now;
    if (now.state === 'incomplete') throw new Find(`a rotation cannot be completed: ${JSON.stringify(now)}`);
    await setTimeout(20);
  }
}
