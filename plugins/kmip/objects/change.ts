// Changes of objects: each reads the record again inside its transaction, and puts record, index and material together.
import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { fail as coreFail } from '../../../core/base/errors.ts';
import { writeInPieces } from '../../../core/store/records/pieces.ts';
import { type StoreKey, Unreadable, type WriteTransaction } from '../../../core/store/store.ts';
import type { Kmip } from '../context.ts';
import { fail } from '../errors.ts';
import { canBeDeleted } from '../records/attribute-rules.ts';
import type { ObjectRecord, StoredAttribute } from '../records/object-record.ts';
import type { Attribute, AttributeValue, ObjectState } from '../records/object-values.ts';
import { putIndex } from './attribute-index.ts';
import { giveRoom } from '../spaces/space-count.ts';
import { addedBy, addedToNew, deletedBy, hasState, modifiedBy, numberOf, withAdded, withSet } from './attributes.ts';
import { isLink, links, linkTo } from './links.ts';
import { drawKey, formats, type NewMaterial, type Place, register, requireSymmetric, secondsOf } from './make.ts';
import type { ReKeying } from './object-service.ts';
import { isDestroyed, stateAt } from './states.ts';

/** The record of an object. Throws `not-found`. */
export function requireObject({ tables }: Kmip, { tenantId, space }: Place, id: string, transaction?: WriteTransaction): ObjectRecord {
  const key = [tenantId, space.id, id];
  const record = transaction === undefined ? tables.objects.get(key) : transaction.get(tables.objects, key);
  if (record === undefined) throw coreFail('not-found', { detail: 'There is no such object in this space.' });
  return record;
}

/** Changes a record by the attributes that `by` answers; returns what it answers besides. */
function changeObject<T>(
  kmip: Kmip,
  place: Place,
  id: string,
  now: Temporal.Instant,
  by: (record: ObjectRecord, transaction: WriteTransaction) => { readonly attributes: readonly StoredAttribute[]; readonly answer: T },
): Promise<T> {
  return kmip.store.write((transaction) => {
    const record = requireObject(kmip, place, id, transaction);
    const { attributes, answer } = by(record, transaction);
    putChanged(kmip, transaction, place, id, record, attributes, now);
    return answer;
  });
}

function putChanged(
  kmip: Kmip,
  transaction: WriteTransaction,
  { tenantId, space }: Place,
  id: string,
  record: ObjectRecord,
  attributes: readonly StoredAttribute[],
  now: Temporal.Instant,
): void {
  const changed = withSet(attributes, [dated('Last Change Date', secondsOf(now))]);
  // Destroyed objects are found by a walk alone: names that clients use again must not become slower with each of them.
  const after = isDestroyed(stateAt({ attributes: changed }, secondsOf(now))) ? [] : changed;
  const before = isDestroyed(stateAt(record, secondsOf(now))) ? [] : record.attributes;
  putIndex(kmip, transaction, { tenantId, space, id }, before, after);
  transaction.put(kmip.tables.objects, [tenantId, space.id, id], { ...record, attributes: changed });
}

export function addAttribute(kmip: Kmip, place: Place, id: string, attribute: Attribute, now: Temporal.Instant): Promise<StoredAttribute> {
  return changeObject(kmip, place, id, now, (record) => {
    requirePresent(record, now);
    const attributes = addedBy(record, attribute, secondsOf(now));
    return { attributes, answer: attributes.at(-1) ?? missing() };
  });
}

export function modifyAttribute(
  kmip: Kmip,
  place: Place,
  id: string,
  attribute: Attribute,
  now: Temporal.Instant,
): Promise<StoredAttribute> {
  return changeObject(kmip, place, id, now, (record) => {
    requirePresent(record, now);
    const attributes = modifiedBy(record, attribute, secondsOf(now));
    const { name, index = 0, value } = attribute;
    return { attributes, answer: { name, index, value } };
  });
}

export function deleteAttribute(
  kmip: Kmip,
  place: Place,
  id: string,
  which: { readonly name: string; readonly index?: number; readonly all?: true },
  now: Temporal.Instant,
): Promise<readonly StoredAttribute[]> {
  return changeObject(kmip, place, id, now, (record) => {
    requirePresent(record, now);
    const { left, gone } = deletedBy(record, which);
    return { attributes: left, answer: gone };
  });
}

export function activate(kmip: Kmip, place: Place, id: string, now: Temporal.Instant): Promise<void> {
  return changeObject(kmip, place, id, now, (record) => {
    requireState(record, now, ['pre-active'], 'activated');
    return { attributes: withSet(record.attributes, [dated('Activation Date', secondsOf(now))]), answer: undefined };
  });
}

export type Revoking = { readonly reason: number; readonly message?: string; readonly compromiseOccurrence?: number };

/** Key compromise and CA compromise */
const compromises: readonly number[] = [2, 3];

/** Deactivates an Active object; a compromise is noted of one in any state. */
export function revoke(
  kmip: Kmip,
  place: Place,
  id: string,
  { reason, message, compromiseOccurrence }: Revoking,
  now: Temporal.Instant,
): Promise<void> {
  const seconds = secondsOf(now);
  return changeObject(kmip, place, id, now, (record) => {
    const isCompromise = compromises.includes(reason);
    if (!isCompromise) requireState(record, now, ['active'], 'revoked');
    else if (stateAt(record, seconds).includes('compromised'))
      throw fail('kmip-state', { detail: 'The object is noted as compromised already.' });
    if (compromiseOccurrence !== undefined && compromiseOccurrence > seconds)
      throw fail('kmip-attribute-invalid', { detail: '"Compromise Occurrence Date" must not be in the future.' });
    const occurrence = compromiseOccurrence ?? numberOf(record.attributes, 'Initial Date') ?? seconds;
    const dates = isCompromise
      ? [dated('Compromise Date', seconds), dated('Compromise Occurrence Date', occurrence)]
      : [dated('Deactivation Date', seconds)];
    return { attributes: withSet(record.attributes, [...dates, revocationReason(reason, message)]), answer: undefined };
  });
}

/** Attributes of a destroyed object, beside its dates: nothing that clients have noted, and no digest of anything that could be guessed. */
const lasting: ReadonlySet<string> = new Set([
  ...['Name', 'Object Group', 'Link', 'Revocation Reason'],
  ...['Cryptographic Algorithm', 'Cryptographic Length', 'Cryptographic Usage Mask', 'Certificate Type'],
  ...['Digest', 'Random Number Generator'],
]);

function staysAfterDestroy({ objectType }: ObjectRecord, { name, value }: StoredAttribute): boolean {
  if (name === 'Digest' && objectType === 'opaque-object') return false;
  return lasting.has(name) || (value.type === 'date' && !canBeDeleted(name));
}

/** Removes the material for good. Throws `kmip-state` for an Active object. */
export function destroy(kmip: Kmip, place: Place, id: string, now: Temporal.Instant): Promise<void> {
  return changeObject(kmip, place, id, now, (record, transaction) => {
    requirePresent(record, now);
    if (hasState(record)) requireState(record, now, ['pre-active', 'deactivated', 'compromised'], 'destroyed');
    transaction.delete(kmip.tables.materials, [place.tenantId, place.space.id, id]);
    const left = record.attributes.filter((one) => staysAfterDestroy(record, one));
    return { attributes: withSet(left, [dated('Destroy Date', secondsOf(now))]), answer: undefined };
  });
}

/** Removes what is left of a destroyed object, or of one whose record does not open. */
export async function remove(kmip: Kmip, { tenantId, space }: Place, id: string, now: Temporal.Instant): Promise<void> {
  if (isUnreadable(kmip, { tenantId, space }, id)) return removeUnreadable(kmip, [tenantId, space.id, id]);
  await kmip.store.write((transaction) => {
    const record = requireObject(kmip, { tenantId, space, spaceName: '' }, id, transaction);
    if (!isDestroyed(stateAt(record, secondsOf(now))))
      throw fail('kmip-state', { detail: 'Only what is left of a destroyed object can be removed.' });
    transaction.delete(kmip.tables.objects, [tenantId, space.id, id]);
    giveRoom(kmip, transaction, tenantId, space.id);
  });
}

/** Tells whether the record of an object does not open. */
export function isUnreadable({ tables }: Kmip, { tenantId, space }: Pick<Place, 'tenantId' | 'space'>, id: string): boolean {
  return tables.objects.getFound([tenantId, space.id, id]) instanceof Unreadable;
}

/** The record says no longer where the index has it: the index goes first, all of it looked through. */
async function removeUnreadable(kmip: Kmip, key: readonly [tenantId: string, space: string, id: string]): Promise<void> {
  const { store, tables } = kmip;
  const found: StoreKey[] = [];
  let looked = 0;
  for (const entry of tables.attributes.keys(key.slice(0, 2))) {
    if (++looked % 1_000 === 0) await setImmediate();
    if (entry.at(-1) === key[2]) found.push(entry);
  }
  await writeInPieces(store, found, (transaction, entry) => void transaction.delete(tables.attributes, entry));
  await store.write((transaction) => {
    if (!transaction.deleteUnreadable(tables.objects, key)) throw coreFail('conflict');
    transaction.delete(tables.materials, key);
    giveRoom(kmip, transaction, key[0], key[1]);
  });
}

/** Dates that move with the Activation Date of a key that is made again. */
const movedDates = ['Process Start Date', 'Protect Stop Date', 'Deactivation Date'];
/** Attributes that the new key does not take over. */
const own = new Set([
  'Initial Date',
  'Last Change Date',
  'Digest',
  'Activation Date',
  'Destroy Date',
  'Compromise Date',
  'Compromise Occurrence Date',
  'Revocation Reason',
  'Link',
  ...movedDates,
]);

/** Makes a key again (KMIP 1.4 section 4.4): the new one gets the names of the old one, and each has a Link to the other. */
export async function reKey(
  kmip: Kmip,
  place: Place,
  { id, offsetSeconds, attributes: given }: ReKeying,
  now: Temporal.Instant,
): Promise<string> {
  const old = requireObject(kmip, place, id);
  requireSymmetric(old);
  requirePresent(old, now);
  if (old.tie !== undefined)
    throw fail('kmip-usage', { detail: 'The object is a version of a transit key: rotate that key, and tie the new version.' });
  let attributes: readonly StoredAttribute[] = [
    ...old.attributes.filter(({ name }) => !own.has(name)),
    ...datesOfNew(old, offsetSeconds, secondsOf(now)),
  ];
  const replaced = new Set(given.map(({ name }) => name));
  attributes = attributes.filter(({ name }) => !replaced.has(name));
  for (const attribute of given) attributes = addedToNew(attributes, attribute);
  attributes = withAdded(attributes, linkTo(links.replaced, id));
  const material: NewMaterial = { octets: await drawKey(kmip, attributes), keyFormat: formats.raw };
  return register(kmip, place, 'symmetric-key', material, attributes, now, (transaction, made) => {
    const current = requireObject(kmip, place, id, transaction);
    requirePresent(current, now);
    // Of two at once one would leave its names to the other as well.
    if (!isDeepStrictEqual(current.attributes.filter(isHandedOn), old.attributes.filter(isHandedOn)))
      throw coreFail('conflict', { detail: 'The object was renamed or made again meanwhile; try again.' });
    const left = current.attributes.filter((one) => one.name !== 'Name' && !isLink(one, links.replacement));
    putChanged(kmip, transaction, place, id, current, withAdded(left, linkTo(links.replacement, made)), now);
  });
}

const isHandedOn = (one: StoredAttribute): boolean => one.name === 'Name' || isLink(one, links.replacement);

function datesOfNew({ attributes }: ObjectRecord, offset: number | undefined, now: number): readonly StoredAttribute[] {
  const activation = numberOf(attributes, 'Activation Date');
  const begins = offset === undefined ? activation : now + offset;
  const moved = activation === undefined || begins === undefined ? 0 : begins - activation;
  const dates = movedDates.flatMap((name) => {
    const date = numberOf(attributes, name);
    return date === undefined ? [] : [dated(name, date + moved)];
  });
  return [...(begins === undefined ? [] : [dated('Activation Date', begins)]), ...dates];
}

/** Throws `kmip-destroyed`. */
export function requirePresent(record: ObjectRecord, now: Temporal.Instant): void {
  if (isDestroyed(stateAt(record, secondsOf(now)))) throw fail('kmip-destroyed');
}

/** Throws `kmip-state`. `what`: to follow "cannot be". */
export function requireState(record: ObjectRecord, now: Temporal.Instant, states: readonly ObjectState[], what: string): void {
  requirePresent(record, now);
  const state = stateAt(record, secondsOf(now));
  if (!states.includes(state)) throw fail('kmip-state', { detail: `An object that is ${state} cannot be ${what}.` });
}

function revocationReason(reason: number, message: string | undefined): Attribute {
  const fields: (readonly [string, AttributeValue])[] = [['RevocationReasonCode', { type: 'enumeration', value: reason }]];
  if (message !== undefined) fields.push(['RevocationMessage', { type: 'text', value: message }]);
  return { name: 'Revocation Reason', value: { type: 'structure', fields } };
}

function dated(name: string, value: number): StoredAttribute {
  return { name, index: 0, value: { type: 'date', value } };
}

function missing(): never {
  throw new Error('an attribute that was added is missing');
}
