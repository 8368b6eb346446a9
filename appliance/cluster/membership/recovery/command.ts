// keystored recover-cluster: makes one member of a cluster stand alone, when most of the others are permanently lost. The daemon is
// stopped.
import { parseArgs } from 'node:util';
import { systemClock } from '../../../../core/base/time.ts';
import { ConfigurationError } from '../../../../core/config/config.ts';
import { terminalLog } from '../../../../core/log/terminal.ts';
import { loadConfiguration } from '../../../configuration.ts';
import { holdDataDirectory } from '../../../data-directory/data-directory.ts';
import { StartRefused } from '../../../start-refused.ts';
import { recoverAlone, type Recovered, requireRecoverable } from './recover.ts';

const usage = `Usage: keystored recover-cluster [--config FILE] [--data DIR] --yes

Makes this appliance, the one survivor of a cluster, stand alone with what it has. Stop it first.
Choose the survivor with the highest revision (cluster status, or this command without --yes on each).
Changes that were acknowledged and have not reached this appliance ARE LOST. All others must never be started again
as they are: they join with empty data directories, after "keystorectl cluster init" here.

  --config FILE   the configuration of the appliance
  --data DIR      its data directory, where the configuration does not say it
  --yes           do it; without it, only says what would be done

Exit code: 0 it is done, 1 it is not.`;

const options = {
  config: { type: 'string' },
  data: { type: 'string' },
  yes: { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

/** Runs the command with the words after its name; resolves with the exit code. */
export async function runRecoveryCommand(words: readonly string[]): Promise<number> {
  try {
    const { values } = parseArgs({ args: [...words], options });
    if (values.help === true) {
      console.log(usage);
      return 0;
    }
    const given = (['config', 'data'] as const).flatMap((name) => (values[name] === undefined ? [] : [`--${name}`, values[name]]));
    const { data } = loadConfiguration(given);
    await holdDataDirectory(data);
    const found = await requireRecoverable(data);
    if (values.yes !== true) {
      console.log(
        `${describe(found)}\nNothing was changed. With --yes it stands alone from now on, and what only the others have IS LOST.`,
      );
      return 1;
    }
    await recoverAlone(data, found, { clock: systemClock, log: terminalLog });
    console.log(
      `${describe(found)}\nIt stands alone now. Changes that had not reached it are lost; its audit trail begins again, the former one is kept beside it.`,
    );
    console.log(
      'Start it, then "keystorectl cluster init", and invite others with empty data directories. Never start the former others again.',
    );
    return 0;
  } catch (error) {
    const isExpected = error instanceof StartRefused || error instanceof ConfigurationError || 'code' in (error as object);
    if (!isExpected) throw error;
    console.error(`keystored: ${(error as Error).message}`);
    return 1;
  }
}

function describe({ id, revision }: Recovered): string {
  return `This appliance (${id}) has the shared store up to revision ${revision ?? 'unknown'}.`;
}
