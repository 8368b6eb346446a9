// Checks the files of the store before a process opens them.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { lockFileOfStore } from '../../core/store/files/store-files.ts';
import { StoreDamaged } from '../../core/store/files/store-damaged.ts';
import { requireSoundPages } from '../../core/store/files/walk.ts';
import { paths } from './paths.ts';
import { StartRefused, storeRemedy } from '../start-refused.ts';

/**
 * Throws StartRefused, with the page, if LMDB could not read its whole content. `isReplica`: the others of a cluster have it, too.
 */
export async function requireSoundStore(data: string, isReplica: boolean): Promise<void> {
  const damage = await findStoreDamage(data);
  if (damage === undefined) return;
  const remedy = isReplica ? `remove ${paths.store(data)}, which is filled again from the cluster` : storeRemedy;
  throw new StartRefused(`${damage}: ${remedy}`);
}

/** Describes damage in a sentence that names the file; undefined for an undamaged store, and without one. */
async function findStoreDamage(data: string): Promise<string | undefined> {
  const directory = paths.store(data);
  if ((statSync(join(directory, 'data.mdb'), { throwIfNoEntry: false })?.size ?? 0) === 0) return undefined;
  try {
    await requireSoundPages(directory);
    return undefined;
  } catch (error) {
    if (error instanceof StoreDamaged) return error.message;
    throw error;
  }
}

/**
 * Throws StartRefused if the file of the locks, which other processes have open (`storeLock`), is no longer in its place: with another one,
 * two processes would write at a time. Undefined: none has it open.
 */
export function requireSharedLock(store: string, storeLock: string | undefined): void {
  if (storeLock === undefined || lockFileOfStore(store) === storeLock) return;
  throw new StartRefused(
    `${store}/lock.mdb was removed or replaced while other processes of the appliance use it: put it back, or end the appliance and start it again`,
  );
}
