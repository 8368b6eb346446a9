// Three appliances as one, with their own members of etcd, beside one that stands alone: the same store, and one HSM for all.
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import type { Daemon } from '../../harness/daemon.ts';
import { argsOf } from '../../cluster/daemons.ts';
import { OwnMembers } from '../../cluster/own-members.ts';
import { allWorkers } from '../measure/bench.ts';
import { addKeys } from '../measure/many-keys.ts';
import { type Appliance, prepareAppliance, startAppliance } from './appliance.ts';

export type Three = {
  readonly alone: Appliance;
  readonly three: readonly Appliance[];
  /** milliseconds from `init` until the first one serves as a member */
  readonly foundMs: number;
  /** milliseconds from the start of each other one until it serves */
  readonly joinMs: readonly number[];
  /** Starts a killed one again. */
  restart(this: void, index: number): Promise<Daemon>;
  stop(this: void): Promise<void>;
};

const names = ['a', 'b', 'c'] as const;

/** Each store has so many keys. */
export async function startThree(directory: string, keys: number): Promise<Three> {
  const path = (...parts: string[]): string => join(directory, ...parts);
  const members = await OwnMembers.prepare(path);
  const args = argsOf(path, 'plain', { tokens: await members.tokensOf('a') });
  const prepared = await startAppliance({ directory: path('data-a'), args });
  await prepared.stop();
  await addKeys(path('data-a'), keys, { args });
  cpSync(path('data-a'), path('data-alone'), { recursive: true, preserveTimestamps: true });
  const daemons: Daemon[] = [];
  const stop = async (): Promise<void> => {
    for (const daemon of daemons.toReversed()) await daemon.stop();
  };
  const start = async (starting: Promise<Daemon>): Promise<Daemon> => {
    const daemon = await starting;
    daemons.push(daemon);
    return daemon;
  };
  try {
    const workers = allWorkers;
    const alone = await startAppliance({ directory: path('data-alone'), args, workers });
    daemons.push(alone.daemon);
    const first = await start(members.start('a', { workers }));
    let begunMs = performance.now();
    await members.found(first);
    const foundMs = performance.now() - begunMs;
    const joinMs: number[] = [];
    for (const name of names.slice(1)) {
      const invitation = await members.invitationBy(first, name);
      begunMs = performance.now();
      await start(members.start(name, { workers, invitation }));
      joinMs.push(performance.now() - begunMs);
    }
    const three: Appliance[] = [];
    for (const daemon of daemons.slice(1)) three.push(await prepareAppliance(daemon));
    return {
      ...{ alone, three, foundMs, joinMs, stop },
      async restart(index) {
        const daemon = await members.start(names[index] ?? '', { workers });
        daemons[index + 1] = daemon;
        return daemon;
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
