// Attachments of other plugins to keys (core/plugin/services/transit-keys.ts), and the members of documents and records that belong to
// each.
import { z } from 'zod';
import { namedFieldsOf, type NamedField } from '../../../core/http/named-entries.ts';
import type { KeyAttachment } from '../../../core/plugin/services/transit-keys.ts';
import type { Store, Table } from '../../../core/store/store.ts';
import type { KeyRecord, VersionRecord } from './records.ts';

/** Fields of an attachment by name; only the plugin that attached it knows their types. */
export type AttachedFields = Readonly<Record<string, unknown>>;

/** An attachment as the transit plugin sees it. */
export type Attachment = KeyAttachment<AttachedFields, unknown>;

/** Field of an attachment, and which of its changes end something. */
export type Ending = { readonly name: string; ends(after: unknown, before: unknown): boolean };

/** The attachments of all plugins; complete when every plugin is provisioned. */
export class Attachments implements Iterable<Attachment> {
  readonly #store: Store;
  readonly #indexes = new Map<Attachment, Table<true>>();
  readonly #published = new Map<Attachment, Table<string>>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Throws when a name is taken. */
  add(attachment: Attachment): void {
    const names = [attachment.name, ...Object.keys(attachment.fields)];
    for (const other of this) {
      const taken = [other.name, ...Object.keys(other.fields)].find((name) => names.includes(name));
      if (taken !== undefined) throw new Error(`two plugins attach ${taken} to transit keys`);
    }
    this.#indexes.set(attachment, this.#store.table(attachment.reference.table));
    this.#published.set(attachment, this.#store.table(attachment.published.table));
  }

  [Symbol.iterator](): Iterator<Attachment> {
    return this.#indexes.keys();
  }

  /** [tenant, name of the key that is referred to, name of the key that refers to it] */
  indexOf(attachment: Attachment): Table<true> {
    return this.#indexes.get(attachment) as Table<true>;
  }

  /** [tenant, name of a published key] → key id */
  publishedOf(attachment: Attachment): Table<string> {
    return this.#published.get(attachment) as Table<string>;
  }

  /** Fields that are set at creation only. */
  get fixedFields(): readonly string[] {
    return this.#fields()
      .filter(([, { isFixed }]) => isFixed === true)
      .map(([name]) => name);
  }

  /** Fields that are valid or not by others, with these. */
  get judgedBy(): Readonly<Record<string, readonly string[]>> {
    return Object.fromEntries(this.#fields().flatMap(([name, { judgedBy }]) => (judgedBy === undefined ? [] : [[name, judgedBy]])));
  }

  /** Fields that name other keys, with the field that only keys have which may be named. */
  get references(): readonly Attachment['reference'][] {
    return Array.from(this, ({ reference }) => reference);
  }

  /** Fields whose change has the effect of an action at the key, with that action. */
  get acting(): readonly (readonly [field: string, action: string])[] {
    return this.#fields().flatMap(([name, { setsLike }]) => (setsLike === undefined ? [] : [[name, setsLike] as const]));
  }

  /** Fields of these that are taken out with the same effect. */
  get actingWhenRemoved(): readonly string[] {
    return this.#fields().flatMap(([name, { removalSets }]) => (removalSets === true ? [name] : []));
  }

  /** Fields that, once true, make a key public. */
  get publicFields(): readonly string[] {
    return this.#fields().flatMap(([name, { isPublic }]) => (isPublic === true ? [name] : []));
  }

  /** Fields with texts for which a public key speaks. */
  get speakingFields(): readonly string[] {
    return this.#fields().flatMap(([name, { speaksFor }]) => (speaksFor === true ? [name] : []));
  }

  /** Fields that name entries; a new version of a key uses these again. */
  get namedFields(): readonly NamedField[] {
    return namedFieldsOf(z.object(Object.fromEntries(this.#fields().map(([name, { schema }]) => [name, schema]))));
  }

  get signErrors(): readonly string[] {
    return [...this].flatMap(({ signErrors }) => signErrors);
  }

  /** Fields whose change may end what others count on. */
  get endings(): readonly Ending[] {
    return this.#fields().flatMap(([name, { ends }]) => (ends === undefined ? [] : [{ name, ends }]));
  }

  /** Fields whose change uses the keys that are named. */
  get usingNamed(): readonly string[] {
    return this.#fields().flatMap(([name, { usesNamed }]) => (usesNamed === true ? [name] : []));
  }

  /** Actions at the key that some texts of `sign` need the right to. */
  get signNeeds(): readonly string[] {
    return [...this].map(({ signNeeds }) => signNeeds);
  }

  /** A schema of documents together with the attached fields: as requests give them, or as backups of any version have them. */
  extend<Shape extends z.ZodRawShape>(schema: z.ZodObject<Shape>, as: 'schema' | 'stored'): z.ZodObject<Shape> {
    const fields = this.#fields();
    const taken = fields.find(([name]) => name in schema.shape);
    if (taken !== undefined) throw new Error(`a plugin attaches ${taken[0]} to transit keys, which have that field`);
    return schema.extend(Object.fromEntries(fields.map(([name, field]) => [name, field[as]]))) as unknown as z.ZodObject<Shape>;
  }

  /** The attached fields of a document or of a record, as they are kept; undefined ones are left out. */
  fieldsIn(source: object): AttachedFields {
    const given: AttachedFields = { ...source };
    return present(this.#fields().map(([name, { stored }]) => [name, stored.parse(given[name])]));
  }

  /** A key record without attached fields. */
  withoutFields(record: KeyRecord): KeyRecord {
    const names = new Set(this.#fields().map(([name]) => name));
    return Object.fromEntries(Object.entries(record).filter(([name]) => !names.has(name))) as KeyRecord;
  }

  /** Everything that is kept with a version, by name of the attachment. */
  keptWith(version: object): AttachedFields {
    const members: AttachedFields = { ...version };
    return present(Array.from(this, ({ name }) => [name, members[name]]));
  }

  /** Schema of the members that `keptWith` answers. */
  get keptShape(): Readonly<Record<string, z.ZodType>> {
    return Object.fromEntries(Array.from(this, ({ name }) => [name, z.unknown().optional()]));
  }

  #fields() {
    return [...this].flatMap(({ fields }) => Object.entries(fields));
  }
}

/** The fields of one attachment in a key record. */
export function fieldsOf(attachment: Attachment, record: KeyRecord): AttachedFields {
  const known = fieldsOfRecords.get(record)?.get(attachment);
  if (known !== undefined) return known;
  const members: AttachedFields = { ...record };
  const fields = present(Object.entries(attachment.fields).map(([name, { stored }]) => [name, stored.parse(members[name])]));
  fieldsOfRecords.set(record, (fieldsOfRecords.get(record) ?? new Map()).set(attachment, fields));
  return fields;
}

/** The name of the key that a key refers to by the reference field of an attachment. */
export function referenceOf(attachment: Attachment, record: KeyRecord): string | undefined {
  const name = fieldsOf(attachment, record)[attachment.reference.field];
  return typeof name === 'string' ? name : undefined;
}

/** Tells whether anybody may come across the key. */
export function isPublishedBy(attachment: Attachment, record: KeyRecord): boolean {
  return fieldsOf(attachment, record)[attachment.published.field] === true;
}

/** A record is the same object until it changes. */
const fieldsOfRecords = new WeakMap<KeyRecord, Map<Attachment, AttachedFields>>();

/** Data that one attachment keeps with a version. */
export function keptOf({ name }: Attachment, version: VersionRecord): unknown {
  return (version as unknown as AttachedFields)[name];
}

/** A version record with other kept data. */
export function withKept({ name }: Attachment, version: VersionRecord, kept: unknown): VersionRecord {
  return { ...version, [name]: kept };
}

function present(entries: readonly (readonly [string, unknown])[]): AttachedFields {
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}
