// Acts of changes of a key: fields that let material out, or end it, count as the actions with the same effect.
import { isDeepStrictEqual } from 'node:util';
import type { Act } from '../../../core/approvals/acts.ts';
import type { ActChange } from '../../../core/http/resource/resource.ts';
import { parseDuration } from '../../../core/base/time.ts';
import type { KeyDocument } from './document.ts';

/** Fields that, once true, let key material out. */
const outlets = ['exportable', 'allowPlaintextBackup'] as const;
/** Timers that end the use of old versions. */
const endingTimers = ['deprecateAfter', 'invalidateAfter'] as const;

/** The acts of a creation, change or removal of a key. */
export function actsOfKey({ before, after }: ActChange<KeyDocument>): readonly Act[] {
  if (after === undefined) return ['destroy'];
  const isForeign = before === undefined && after.publicKey !== undefined;
  const opens = outlets.some((field) => after[field] && before?.[field] !== true);
  return [
    ...(isForeign ? (['bring-keys-in'] as const) : []),
    ...(opens ? (['take-keys-out'] as const) : []),
    ...(ends(before, after) ? (['destroy'] as const) : []),
  ];
}

function ends(before: KeyDocument | undefined, after: KeyDocument): boolean {
  if (after.deletionAllowed && before?.deletionAllowed !== true) return true;
  if (isEarlier(after.deleteAfter, before?.deleteAfter)) return true;
  // A key that is being made has nothing yet that a minimum could end.
  if (before !== undefined && after.minDecryptionVersion > before.minDecryptionVersion) return true;
  if (before !== undefined && after.minEncryptionVersion > before.minEncryptionVersion) return true;
  if (before !== undefined && before.distribute.to !== after.distribute.to) return true;
  if (isEarlier(after.deleteAfter, before?.deleteAfter)) return true;
  return endingTimers.some((timer) => isEarlier(after.autoRotate?.[timer], before?.autoRotate?.[timer])) || rotatesOldAway(before, after);
}

/** Tells whether a timer ends versions that went on before, or earlier than it did. */
function isEarlier(wanted: string | undefined, present: string | undefined): boolean {
  if (wanted === undefined) return false;
  return present === undefined || secondsOf(wanted) < secondsOf(present);
}

/** With a timer that ends old versions, each rotation makes one: more of them end sooner. */
function rotatesOldAway({ autoRotate: was }: Partial<KeyDocument> = {}, { autoRotate: is }: KeyDocument): boolean {
  return (
    is?.invalidateAfter !== undefined && !isDeepStrictEqual(was?.rotateAfter, is.rotateAfter) && isEarlier(is.rotateAfter, was?.rotateAfter)
  );
}

function secondsOf(text: string): number {
  return parseDuration(text, 'auto-rotate').seconds;
}
