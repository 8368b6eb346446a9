// The appliance and, where its program is given, OpenBao, running side by side.
import { join } from 'node:path';
import type { Bench } from '../measure/bench.ts';
import { startAppliance, type Appliance } from './appliance.ts';
import type { Contender } from './contender.ts';
import { startOpenBao } from './openbao.ts';

export type Pair = {
  readonly appliance: Appliance;
  readonly openBao: Contender | undefined;
  readonly stop: () => Promise<void>;
};

/** Starts both below a directory: the appliance in `data`, with so many workers. */
export async function startPair({ openBao: program }: Pick<Bench, 'openBao'>, directory: string, workers: number): Promise<Pair> {
  const appliance = await startAppliance({ directory: join(directory, 'data'), workers });
  try {
    const openBao = program === undefined ? undefined : await startOpenBao(program, join(directory, 'openbao'));
    return {
      appliance,
      openBao,
      async stop() {
        await appliance.stop();
        await openBao?.stop();
      },
    };
  } catch (error) {
    await appliance.stop();
    throw error;
  }
}
