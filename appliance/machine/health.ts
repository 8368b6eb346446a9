// Health of the machine: its disk, its clock, and the files of the store.
import type { Clock, HealthPart } from '../../core/base/context.ts';
import { readDisk } from '../data-directory/disk.ts';

export type DiskParts = { readonly directory: string; readonly store: { readonly isStalled: boolean } };

export function diskPart({ directory, store }: DiskParts): HealthPart {
  const name = 'disk';
  if (store.isStalled)
    return { name, state: 'stalled', reason: 'the disk of the data directory does not answer, so changes wait', hinders: true };
  try {
    const { problem } = readDisk(directory);
    return problem === undefined ? { name, state: 'up' } : { name, state: 'low', reason: problem };
  } catch {
    return { name, state: 'down', reason: 'the data directory cannot be read', hinders: true };
  }
}

export function clockPart({ doubt, correction }: Clock): HealthPart {
  const name = 'clock';
  if (doubt !== undefined) return { name, state: 'implausible', reason: doubt };
  return correction === undefined ? { name, state: 'up' } : { name, state: 'outvoted', reason: correction };
}

/** `damage`: damage to the files of the store or of its key. Reported only while it is a problem. */
export function damageParts(damage: string | undefined): readonly HealthPart[] {
  if (damage === undefined) return [];
  const reason = `${damage}, so changes are refused: put back what was there, and start again if it is still said then; or start again with what is there now`;
  return [{ name: 'store', state: 'damaged', reason, hinders: true }];
}
