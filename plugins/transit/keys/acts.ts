// Acts of changes of a key: fields that let material out, or end it, count as the actions with the same effect.
import { isDeepStrictEqual } from 'node:util';
import type { Act } from '../../../core/approvals/acts.ts';
import type { ActChange } from '../../../core/http/resource/resource.ts';
import { parseDuration } from '../../../core/base/time.ts';
import type { Transit } from '../context.ts';
import type { Ending } from '../records/attachments.ts';
import type { KeyDocument } from './document.ts';

/** Fields that, once true, let key material out, or secrets that a key gives. */
const outlets = ['exportable', 'allowPlaintextBackup', 'allowSharedSecret'] as const;
/** Timers that end the use of old versions. */
const endingTimers = ['deprecateAfter', 'invalidateAfter'] as const;

/**
 * The acts of a creation, change or removal of a key. Of other plugins: true in one of `publicFields` makes the key public, as `publish` does;
 * a public key speaks for what is in `speakingFields`, and a change of one of `endings` may end something.
 */
export function actsOfKey(
  { before, after }: Pick<ActChange<KeyDocument>, 'before' | 'after'>,
  { publicFields = [], speakingFields = [], endings = [] }: Partial<Pick<Transit['attachments'], AttachedActs>> = {},
): readonly Act[] {
  if (after === undefined) return ['destroy'];
  const isForeign = before === undefined && after.publicKey !== undefined;
  const trusts = publishes(before, after, publicFields) || speaksForMore({ ...before }, { ...after }, publicFields, speakingFields);
  const opens = outlets.some((field) => after[field] && before?.[field] !== true);
  return [
    ...(isForeign ? (['bring-keys-in'] as const) : []),
    ...(opens ? (['take-keys-out'] as const) : []),
    ...(trusts ? (['change-trust'] as const) : []),
    ...(ends(before, after) || (before !== undefined && endsElsewhere(before, after, endings)) ? (['destroy'] as const) : []),
  ];
}

type AttachedActs = 'publicFields' | 'speakingFields' | 'endings';

/** Tells whether a key that is public gets a text for which it did not speak. */
function speaksForMore(before: Fields, after: Fields, publicFields: readonly string[], speakingFields: readonly string[]): boolean {
  if (!publicFields.some((field) => after[field] === true)) return false;
  const textsOf = (document: Fields): readonly unknown[] => speakingFields.flatMap((field) => document[field] ?? []);
  const former = new Set(textsOf(before));
  return textsOf(after).some((text) => !former.has(text));
}

type Fields = Readonly<Record<string, unknown>>;

function endsElsewhere(before: object, after: object, endings: readonly Ending[]): boolean {
  const [was, is]: readonly Readonly<Record<string, unknown>>[] = [{ ...before }, { ...after }];
  return endings.some((ending) => ending.ends(is?.[ending.name], was?.[ending.name]));
}

/** Those who fetch a public key trust what it signs. */
function publishes(before: object | undefined, after: object, publicFields: readonly string[]): boolean {
  const isSet = (document: Readonly<Record<string, unknown>>, field: string): boolean => document[field] === true;
  return ['publish', ...publicFields].some((field) => isSet({ ...after }, field) && !isSet({ ...before }, field));
}

/** Tells whether others trust what a stored key signs, because it is public, or is published with the key that it names. */
export function isPublicKey(transit: Transit, tenantId: string, record: object): boolean {
  return publishes(undefined, record, transit.attachments.publicFields) || joinsPublic(transit, tenantId, { after: record });
}

/** Tells whether a key names a public one, with which it is published, and did not before. */
export function joinsPublic(
  { attachments, keyring }: Transit,
  tenantId: string,
  { before, after }: { before?: object; after?: object },
): boolean {
  const named = (document: Readonly<Record<string, unknown>>, field: string): unknown => document[field];
  return attachments.references.some(({ field }) => {
    const name = named({ ...after }, field);
    if (typeof name !== 'string' || name === named({ ...before }, field)) return false;
    const other = keyring.find(tenantId, name)?.record;
    return other !== undefined && attachments.publicFields.some((one) => named({ ...other }, one) === true);
  });
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
