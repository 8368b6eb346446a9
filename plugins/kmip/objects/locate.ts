// Finds objects by their attributes: by the index where one of them is in it, otherwise by a walk in which other requests have their turns.
import { type StoreKey, Unreadable } from '../../../core/store/store.ts';
import type { Kmip } from '../context.ts';
import { fail } from '../errors.ts';
import type { ObjectRecord, StoredAttribute } from '../records/object-record.ts';
import type { Attribute, AttributeValue } from '../records/object-values.ts';
import { indexPrefix } from './attribute-index.ts';
import { attributesNamed } from './attributes.ts';
import type { Place } from './make.ts';
import type { Locating } from './object-service.ts';
import { isDestroyed, stateAt } from './states.ts';
import { sliceMs, walk } from './walks.ts';

/** Objects examined before the time is looked at. */
const inOnePiece = 16;
/** Objects that one search examines. */
const mostExamined = 250_000;
/** Entries of the index that are counted to find the attribute that fewest objects have. */
const mostCounted = 64;
/** Ids of an answer without Maximum Items. */
const mostFound = 100_000;
/** Storage Status Mask */
const onLineStorage = 1;
const destroyedStorage = 4;

type Space = Pick<Place, 'tenantId' | 'space' | 'client'>;

/** `located`: how many there are, undefined where the search has ended before, or has passed over a record that does not open. */
export type Located = { readonly ids: readonly string[]; readonly located?: number };

/** The ids, newest first. Throws `kmip-search-refused`. */
export async function locate(kmip: Kmip, space: Space, wanted: Locating, now: number, signal?: AbortSignal): Promise<Located> {
  const search = new Search(kmip, space, wanted, now);
  // Most searches end in their first moment, and wait for nobody.
  if (!search.goOn()) await walk(space, signal, () => search.goOn());
  return search.found;
}

class Search {
  readonly #now: number;
  readonly #maximumItems: number;
  readonly #offsetItems: number;
  readonly #showsDestroyed: boolean;
  readonly #showsOthers: boolean;
  readonly #conditions: readonly Condition[];
  readonly #candidates: Iterator<Candidate>;
  readonly #ids: string[] = [];
  #fitting = 0;
  #examined = 0;
  #isWhole = false;
  #hasPassedOver = false;

  constructor(kmip: Kmip, space: Space, { attributes, maximumItems, offsetItems, storageStatusMask = 1 }: Locating, now: number) {
    this.#now = now;
    this.#maximumItems = maximumItems ?? mostFound;
    this.#offsetItems = offsetItems ?? 0;
    this.#showsDestroyed = (storageStatusMask & destroyedStorage) !== 0 || asksForDestroyed(attributes);
    this.#showsOthers = (storageStatusMask & onLineStorage) !== 0;
    this.#conditions = conditionsOf(attributes);
    this.#candidates = candidates(kmip, space, attributes, this.#showsDestroyed)[Symbol.iterator]();
  }

  get found(): Located {
    return { ids: this.#ids, ...(this.#isWhole && !this.#hasPassedOver ? { located: this.#fitting } : {}) };
  }

  /** Examines objects for a moment; true: the search is over. */
  goOn(): boolean {
    const endMs = performance.now() + sliceMs;
    for (;;) {
      const next = this.#candidates.next();
      if (next.done === true) return (this.#isWhole = true);
      if (this.#examine(next.value)) return true;
      this.#examined += 1;
      if (this.#examined >= mostExamined) throw tooWide();
      if (this.#examined % inOnePiece === 0 && performance.now() > endMs) return false;
    }
  }

  /** True: one more fits than is wanted. */
  #examine([id, record]: Candidate): boolean {
    if (record instanceof Unreadable) this.#hasPassedOver = true;
    if (record === undefined || record instanceof Unreadable) return false;
    if (!(isDestroyed(stateAt(record, this.#now)) ? this.#showsDestroyed : this.#showsOthers)) return false;
    if (!fits(id, record, this.#conditions, this.#now)) return false;
    this.#fitting += 1;
    if (this.#fitting <= this.#offsetItems) return false;
    if (this.#ids.length === this.#maximumItems) return true;
    this.#ids.push(id);
    return false;
  }
}

function tooWide(): Error {
  return fail('kmip-search-refused', {
    detail: `The search has examined ${mostExamined} objects: give a Name or another indexed attribute, or fewer Maximum Items.`,
  });
}

/** Conditions by name; dates of one name are a range. */
type Condition = { readonly name: string; readonly values: readonly AttributeValue[]; readonly isRange: boolean };

function conditionsOf(attributes: readonly Attribute[]): readonly Condition[] {
  const byName = Map.groupBy(attributes, ({ name }) => name);
  return Array.from(byName, ([name, all]) => {
    const values = all.map(({ value }) => value);
    return { name, values, isRange: values.length === 2 && values.every(({ type }) => type === 'date') };
  });
}

function fits(id: string, record: ObjectRecord, conditions: readonly Condition[], now: number): boolean {
  if (conditions.length === 0) return true;
  return conditions.every((condition) => meets(attributesNamed(id, record, condition.name, now), condition));
}

function meets(present: readonly StoredAttribute[], { values, isRange, name }: Condition): boolean {
  if (isRange) {
    const [from = 0, to = 0] = values.map((value) => (value.type === 'date' ? value.value : 0)).toSorted((left, right) => left - right);
    return present.some(({ value }) => value.type === 'date' && from <= value.value && value.value <= to);
  }
  return values.every((wanted) => present.some(({ value }) => isLike(name, value, wanted)));
}

/** Equality; of a structure the fields that are given, of a mask its bits. */
function isLike(name: string, value: AttributeValue, wanted: AttributeValue): boolean {
  if (wanted.type === 'structure') {
    if (value.type !== 'structure') return false;
    return wanted.fields.every(([tag, inner]) => value.fields.some(([other, one]) => other === tag && isLike('', one, inner)));
  }
  if (value.type !== wanted.type) return false;
  if ((value.type === 'octets' || value.type === 'big-integer') && (wanted.type === 'octets' || wanted.type === 'big-integer'))
    return Buffer.compare(value.value, wanted.value) === 0;
  if (name === 'Cryptographic Usage Mask' && value.type === 'integer' && wanted.type === 'integer')
    return (value.value & wanted.value) === wanted.value;
  return 'value' in value && 'value' in wanted && value.value === wanted.value;
}

type Candidate = readonly [id: string, record: ObjectRecord | Unreadable | undefined];

/** Objects that may fit, newest first: of the indexed attribute that fewest objects have, or all. */
function* candidates(kmip: Kmip, space: Space, attributes: readonly Attribute[], showsDestroyed: boolean): Iterable<Candidate> {
  const { objects, attributes: index } = kmip.tables;
  const place = [space.tenantId, space.space.id];
  const named = attributes.find(({ name }) => name === 'Unique Identifier')?.value;
  if (named?.type === 'text') {
    yield [named.value, objects.get([...place, named.value])];
    return;
  }
  // Destroyed objects are not in the index.
  const prefix = showsDestroyed ? undefined : narrowest(kmip, space, attributes);
  if (prefix !== undefined) {
    for (const key of index.keys(prefix, { reverse: true })) yield [String(key.at(-1)), objects.get([...place, String(key.at(-1))])];
    return;
  }
  for (const [key, record] of objects.entriesFound(place, { reverse: true, uncached: true })) yield [String(key.at(-1)), record];
}

/** Prefix of the index that has fewest objects; undefined without an indexed attribute. */
function narrowest({ tables }: Kmip, space: Space, attributes: readonly Attribute[]): StoreKey | undefined {
  let [best, least]: readonly [StoreKey | undefined, number] = [undefined, mostCounted];
  for (const attribute of attributes)
    for (const prefix of indexPrefixOf(space, attribute)) {
      const count = Array.from(tables.attributes.keys(prefix, { limit: least })).length;
      if (best === undefined || count < least) [best, least] = [prefix, count];
      if (least === 0) return best;
    }
  return best;
}

/** A structure is found by the index if it is one that the index knows as a whole. */
function indexPrefixOf(space: Space, attribute: Attribute): readonly StoreKey[] {
  const { name, value } = attribute;
  const isWhole = value.type !== 'structure' || (wholes.get(name)?.every((tag) => value.fields.some(([other]) => other === tag)) ?? false);
  const prefix = isWhole ? indexPrefix(space, attribute) : undefined;
  return prefix === undefined ? [] : [prefix];
}

/** Fields that tell an attribute from all others; of a Name its text. */
const wholes: ReadonlyMap<string, readonly string[]> = new Map([
  ['Name', ['NameValue']],
  ['Link', ['LinkType', 'LinkedObjectIdentifier']],
  ['Application Specific Information', ['ApplicationNamespace', 'ApplicationData']],
  ['Alternative Name', ['AlternativeNameValue', 'AlternativeNameType']],
]);

function asksForDestroyed(attributes: readonly Attribute[]): boolean {
  return attributes.some(
    ({ name, value }) =>
      (name === 'State' && value.type === 'enumeration' && (value.value === 5 || value.value === 6)) || name === 'Destroy Date',
  );
}
