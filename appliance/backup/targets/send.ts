// Sends a backup to a target of the configuration.
import type { BackupTarget } from '../../../core/config/backup.ts';
import { writeToDirectory } from './directory.ts';
import { putToS3 } from './s3.ts';
import type { Sending } from './sending.ts';

/**
 * Resolves when the target has all of it, durably. Rejects with an Error whose message names the remedy; nothing partial counts as a backup
 * then.
 */
export function sendBackup(target: BackupTarget, sending: Sending, signal: AbortSignal): Promise<void> {
  return target.kind === 'directory' ? writeToDirectory(target, sending, signal) : putToS3(target, sending, signal);
}
