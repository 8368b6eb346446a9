// Removes the former state of an appliance that stood alone, before it fetches the state of its cluster.
import { existsSync, renameSync, rmSync } from 'node:fs';
import { syncDirectory } from '../../../../core/base/durable-files.ts';
import { paths } from '../../../data-directory/paths.ts';
import { storeKeyFile } from '../../../data-directory/store-key.ts';
import { readMembership, writeMembership } from '../files.ts';

/**
 * Drops store, store key and root token, and sets the audit trail aside, whose chains are not those of a member. Does nothing without a
 * join that asks for it; after an interruption the next start repeats it. The identity of a sealed appliance stays: the appliance waits for
 * its PIN with it.
 */
export function dropFormerState(data: string): void {
  const membership = readMembership(data);
  if (membership?.replaces !== true) return;
  const former = `${paths.audit(data)}-before-${membership.cluster}`;
  if (existsSync(paths.audit(data)) && !existsSync(former)) renameSync(paths.audit(data), former);
  for (const path of [paths.store(data), storeKeyFile(data), paths.rootToken(data)]) rmSync(path, { recursive: true, force: true });
  syncDirectory(data);
  const { replaces: _done, ...joining } = membership;
  writeMembership(data, joining);
}
