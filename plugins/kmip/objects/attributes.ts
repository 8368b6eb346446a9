// The attributes of an object: what a client may state when it makes one, what it may change, and what it sees.
import { isDeepStrictEqual } from 'node:util';
import { fail } from '../errors.ts';
import { type AttributeRule, canBeDeleted, ruleOf } from '../records/attribute-rules.ts';
import type { ObjectRecord, StoredAttribute } from '../records/object-record.ts';
import { type Attribute, type AttributeValue, type ObjectState, objectStates, objectTypes } from '../records/object-values.ts';
import { invalid } from './attribute-json.ts';
import { stateAt } from './states.ts';

/** Attributes of one object: each may be in the index, and a transaction of a shared store takes 128 operations. */
const most = 48;
/** Octets of them: every change of the object reads, seals and writes them all. */
const mostOctets = 65_536;
/** Highest index that a client may choose: those that follow it have to fit into an integer of the protocol. */
const mostGivenIndex = 1_000;

/** Attributes of a new object, in the order of their names and indexes. Throws `kmip-attribute-invalid` and `kmip-attribute-read-only`. */
export function attributesOfNew(given: readonly Attribute[]): readonly StoredAttribute[] {
  let stored: readonly StoredAttribute[] = [];
  for (const attribute of given) {
    const rule = requireRule(attribute);
    if (rule !== 'custom' && rule.set === 'appliance') throw readOnly(attribute.name);
    stored = withAdded(stored, attribute);
  }
  return requireSound(stored);
}

/** The attributes with those that the appliance sets, which replace those of the same names. */
export function withSet(stored: readonly StoredAttribute[], set: readonly Attribute[]): readonly StoredAttribute[] {
  const names = new Set(set.map(({ name }) => name));
  return [...stored.filter(({ name }) => !names.has(name)), ...set.map(({ name, value, index = 0 }) => ({ name, index, value }))];
}

/**
 * Adds an attribute under its index, where that is free and small: one that was deleted comes back so. Otherwise under the next one. Throws
 * `kmip-attribute-exists` for a second one of a name that has one.
 */
export function withAdded(stored: readonly StoredAttribute[], { name, index, value }: Attribute): readonly StoredAttribute[] {
  const present = stored.filter((one) => one.name === name);
  if (present.length > 0 && !isSeveral(name)) throw fail('kmip-attribute-exists', { detail: `The object has "${shown(name)}" already.` });
  if (present.some((one) => isDeepStrictEqual(one.value, value)))
    throw fail('kmip-attribute-exists', { detail: `The object has this "${shown(name)}" already.` });
  if (stored.length >= most) throw invalid(name, `cannot be added: an object has at most ${most} attributes`);
  const next = Math.max(-1, ...present.map((one) => one.index)) + 1;
  const isFree = index !== undefined && index <= mostGivenIndex && present.every((one) => one.index !== index);
  return [...stored, { name, index: isFree ? index : next, value }];
}

/** Adds an attribute for a client. */
export function addedBy(record: ObjectRecord, attribute: Attribute, now: number): readonly StoredAttribute[] {
  requireChangeable(record, attribute, now);
  return requireSound(withAdded(record.attributes, attribute));
}

/** Adds an attribute that a client states for a key that is made again: what is fixed with a key stays as it was with the old one. */
export function addedToNew(stored: readonly StoredAttribute[], attribute: Attribute): readonly StoredAttribute[] {
  const rule = requireRule(attribute);
  if (rule !== 'custom' && (rule.set === 'appliance' || rule.set === 'creation')) throw readOnly(attribute.name);
  return requireSound(withAdded(stored, attribute));
}

/** Modifies an attribute for a client. Throws `kmip-attribute-not-found` without one at the index. */
export function modifiedBy(record: ObjectRecord, attribute: Attribute, now: number): readonly StoredAttribute[] {
  requireChangeable(record, attribute, now);
  const { name, index = 0, value } = attribute;
  const at = record.attributes.findIndex((one) => one.name === name && one.index === index);
  if (at < 0) throw fail('kmip-attribute-not-found');
  return requireSound(record.attributes.with(at, { name, index, value }));
}

/** Deletes an attribute for a client, or all of a name; returns what is left and what is gone. */
export function deletedBy(
  record: ObjectRecord,
  { name, index, all }: { readonly name: string; readonly index?: number; readonly all?: true },
): { readonly left: readonly StoredAttribute[]; readonly gone: readonly StoredAttribute[] } {
  const rule = ruleOf(name);
  if (rule === undefined) throw fail('kmip-attribute-not-found');
  if (!canBeDeleted(name)) throw readOnly(name);
  const isGone = (one: StoredAttribute): boolean => one.name === name && (all === true || one.index === (index ?? 0));
  const gone = record.attributes.filter(isGone);
  if (gone.length === 0) throw fail('kmip-attribute-not-found');
  return { left: record.attributes.filter((one) => !isGone(one)), gone };
}

/** Everything that a client sees, by name and index. */
export function seenAttributes(id: string, record: ObjectRecord, now: number): readonly StoredAttribute[] {
  return allAttributes(id, record, now).toSorted(byNameAndIndex);
}

/** Stored attributes and those that follow from the record, in no order. */
function allAttributes(id: string, record: ObjectRecord, now: number): readonly StoredAttribute[] {
  const { objectType, attributes, leftAt } = record;
  const isSensitive = isTrue(attributes, 'Sensitive') ?? false;
  const isExtractable = isTrue(attributes, 'Extractable') ?? true;
  const isKey = objectType !== 'certificate' && objectType !== 'opaque-object' && objectType !== 'template';
  const fixed: Readonly<Record<string, AttributeValue | undefined>> = {
    'Unique Identifier': { type: 'text', value: id },
    'Object Type': { type: 'enumeration', value: objectTypes[objectType] },
    State: hasState(record) ? { type: 'enumeration', value: objectStates[stateAt(record, now)] } : undefined,
    'Lease Time': { type: 'interval', value: leaseSeconds },
    Fresh: { type: 'boolean', value: leftAt === undefined },
    'Original Creation Date': valueOf(attributes, 'Initial Date'),
    ...(isKey ? sensitivity(isSensitive, isExtractable) : {}),
  };
  const stored = new Set(attributes.map(({ name }) => name));
  const further = Object.entries(fixed).flatMap(([name, value]) =>
    value === undefined || stored.has(name) ? [] : [{ name, index: 0, value }],
  );
  return [...further, ...attributes];
}

/** The attributes of a name, as allAttributes has them: a search looks at very many objects. */
export function attributesNamed(id: string, record: ObjectRecord, name: string, now: number): readonly StoredAttribute[] {
  const stored = record.attributes.filter((one) => one.name === name);
  return stored.length > 0 || !following.has(name) ? stored : allAttributes(id, record, now).filter((one) => one.name === name);
}

/** Names of attributes that may follow from the record. */
const following: ReadonlySet<string> = new Set([
  ...['Unique Identifier', 'Object Type', 'State', 'Lease Time', 'Fresh', 'Original Creation Date'],
  ...Object.keys(sensitivity(false, true)),
]);

/** Time for which a client may use what it has read before it asks again (KMIP 1.4 section 3.20). */
const leaseSeconds = 3_600;

/** Both are fixed when an object is made: it always was what it is. */
function sensitivity(isSensitive: boolean, isExtractable: boolean): Readonly<Record<string, AttributeValue>> {
  return {
    Sensitive: { type: 'boolean', value: isSensitive },
    'Always Sensitive': { type: 'boolean', value: isSensitive },
    Extractable: { type: 'boolean', value: isExtractable },
    'Never Extractable': { type: 'boolean', value: !isExtractable },
  };
}

/** Opaque objects and templates have no state (KMIP 1.4 section 3.22); they can be destroyed at any time. */
export function hasState({ objectType }: Pick<ObjectRecord, 'objectType'>): boolean {
  return objectType !== 'opaque-object' && objectType !== 'template';
}

export function valueOf(attributes: readonly StoredAttribute[], name: string): AttributeValue | undefined {
  return attributes.find((one) => one.name === name)?.value;
}

/** Value of an attribute that is a number; undefined without one. */
export function numberOf(attributes: readonly StoredAttribute[], name: string): number | undefined {
  const value = valueOf(attributes, name);
  return typeof value === 'object' && 'value' in value && typeof value.value === 'number' ? value.value : undefined;
}

export function isTrue(attributes: readonly StoredAttribute[], name: string): boolean | undefined {
  const value = valueOf(attributes, name);
  return value?.type === 'boolean' ? value.value : undefined;
}

function requireChangeable(record: ObjectRecord, attribute: Attribute, now: number): void {
  const rule = requireRule(attribute);
  if (rule === 'custom' || rule.set === 'always') return;
  const state = stateAt(record, now);
  if (rule.set === 'until-over' && (state === 'pre-active' || state === 'active')) return requireLater(record, attribute, state, now);
  if (rule.set !== 'before-active' || state !== 'pre-active') throw readOnly(attribute.name);
}

/** A date that has come stays, and none ends what is Active before it would end by itself: that is Revoke, which is judged as such. */
function requireLater(record: ObjectRecord, { name, value }: Attribute, state: ObjectState, now: number): void {
  const present = numberOf(record.attributes, name);
  if (present !== undefined && present <= now) throw readOnly(name);
  const date = value.type === 'date' ? value.value : now;
  if (date <= now) throw invalid(name, 'must be in the future: Revoke ends an object now');
  if (state === 'active' && date < (present ?? Infinity))
    throw fail('kmip-attribute-read-only', {
      detail: `"${name}" of an Active object can be moved to a later time only: Revoke ends it.`,
    });
}

function requireRule({ name, value }: Attribute): AttributeRule | 'custom' {
  const rule = ruleOf(name);
  if (rule === undefined) throw invalid(name, 'is unknown; attributes of clients begin with x-');
  if (rule !== 'custom' && rule.type !== value.type) throw invalid(name, `must be of type ${rule.type}`);
  if (name === 'Name' && value.type === 'structure' && value.fields.filter(([tag]) => tag === 'NameValue').length !== 1)
    throw invalid(name, 'must have one Name Value');
  return rule;
}

/** The attributes of an object, as a client wants them. Throws `kmip-attribute-invalid` where they are too long or contradict each other. */
function requireSound(stored: readonly StoredAttribute[]): readonly StoredAttribute[] {
  const octets = stored.reduce((sum, { name, value }) => sum + name.length + octetsOf(value), 0);
  if (octets > mostOctets) throw invalid('Attribute', `cannot be kept: the attributes of an object have at most ${mostOctets} octets`);
  requireOrder(stored);
  return stored;
}

function octetsOf(value: AttributeValue): number {
  if (value.type === 'structure') return value.fields.reduce((sum, [tag, inner]) => sum + tag.length + octetsOf(inner), 8);
  if (value.type === 'text') return Buffer.byteLength(value.value);
  return value.type === 'octets' || value.type === 'big-integer' ? value.value.length : 8;
}

const order = ['Activation Date', 'Process Start Date', 'Protect Stop Date', 'Deactivation Date'];

/** The dates follow each other (KMIP 1.4 sections 3.24 to 3.27). */
function requireOrder(stored: readonly StoredAttribute[]): void {
  let last = -Infinity;
  for (const name of order) {
    const date = numberOf(stored, name);
    if (date === undefined) continue;
    if (date < last) throw invalid(name, 'must not be before the dates that it follows');
    last = date;
  }
}

function isSeveral(name: string): boolean {
  const rule = ruleOf(name);
  return rule === 'custom' || rule?.several === true;
}

function readOnly(name: string): Error {
  return fail('kmip-attribute-read-only', { detail: `"${shown(name)}" cannot be set or changed by a client in this state of the object.` });
}

function shown(name: string): string {
  return /^[\w #.-]{1,64}$/.test(name) ? name : 'attribute';
}

function byNameAndIndex(left: StoredAttribute, right: StoredAttribute): number {
  if (left.name === right.name) return left.index - right.index;
  return left.name < right.name ? -1 : 1;
}
