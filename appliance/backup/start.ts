// Checks the section `backup` at a start: a typing error in a recipient must not be found when a backup is needed.
import type { Configuration } from '../../core/config/config.ts';
import { StartRefused } from '../start-refused.ts';
import { findRecipientProblem } from './format/recipients.ts';

/** Throws StartRefused, naming the recipient. */
export async function requireRecipients({ backup }: Configuration): Promise<void> {
  const problem = await findRecipientProblem(backup?.recipients ?? []);
  if (problem !== undefined) throw new StartRefused(`backup/recipients of the configuration: ${problem}`);
}
