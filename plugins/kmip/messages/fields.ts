// The fields of a structure, read once: by name and type.
import { type EnumerationName, enumerationNameOf, type EnumerationWord } from '../ttlv/enumerations.ts';
import type { Item, ItemType, Values } from '../ttlv/item.ts';
import { type TagName, tags } from '../ttlv/tags.ts';
import { KmipFailure } from './failure.ts';

/** Order is not looked at, and what is not asked for is not read: later versions add fields. */
export class Fields {
  readonly items: readonly Item[];

  constructor(items: readonly Item[]) {
    this.items = items;
  }

  all(tag: TagName): readonly Item[] {
    return this.items.filter((item) => item.tag === tags[tag]);
  }

  /** The item of a tag; undefined without one. Throws for several. */
  item(tag: TagName): Item | undefined {
    const [first, ...more] = this.all(tag);
    if (more.length > 0) throw new KmipFailure('InvalidMessage', `${tag} may be there once only.`);
    return first;
  }

  /** Undefined without one. Throws for another type. */
  value<T extends ItemType>(tag: TagName, type: T): Values[T] | undefined {
    const item = this.item(tag);
    return item === undefined ? undefined : valueOf(item, tag, type);
  }

  required<T extends ItemType>(tag: TagName, type: T): Values[T] {
    return present(this.value(tag, type), tag);
  }

  values<T extends ItemType>(tag: TagName, type: T): readonly Values[T][] {
    return this.all(tag).map((item) => valueOf(item, tag, type));
  }

  /** The name of an enumeration's value; undefined without one. Throws for an unknown value. */
  word<Name extends EnumerationName>(tag: Name): EnumerationWord<Name> | undefined {
    const value = this.value(tag, 'enumeration');
    if (value === undefined) return undefined;
    const word = enumerationNameOf(tag, value);
    if (word === undefined) throw new KmipFailure('InvalidField', `${tag} has a value that is not known: ${hex(value)}.`);
    return word;
  }

  requiredWord<Name extends EnumerationName>(tag: Name): EnumerationWord<Name> {
    return present(this.word(tag), tag);
  }

  /** The fields of a structure; undefined without one. */
  structure(tag: TagName): Fields | undefined {
    const items = this.value(tag, 'structure');
    return items === undefined ? undefined : new Fields(items);
  }

  requiredStructure(tag: TagName): Fields {
    return present(this.structure(tag), tag);
  }
}

function valueOf<T extends ItemType>(item: Item, tag: TagName, type: T): Values[T] {
  if (item.type !== type) throw new KmipFailure('InvalidField', `${tag} has the type ${item.type}, and must have the type ${type}.`);
  return item.value as Values[T];
}

function present<T>(value: T | undefined, tag: TagName): T {
  if (value === undefined) throw new KmipFailure('MissingData', `${tag} is missing.`);
  return value;
}

export function hex(value: number): string {
  return `0x${value.toString(16).padStart(8, '0')}`;
}
