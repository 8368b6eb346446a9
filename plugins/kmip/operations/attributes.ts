// The operations on attributes.
import { isDeepStrictEqual } from 'node:util';
import { canonicalName, readAttribute, readNames, writeAttributes, writeNamed, writeNames } from '../messages/attributes.ts';
import { KmipFailure } from '../messages/failure.ts';
import type { Fields } from '../messages/fields.ts';
import { hasTypedAttributes, type Version } from '../messages/versions.ts';
import type { Attribute } from '../objects/object-service.ts';
import { canBeDeleted, isLaterOnly } from '../records/attribute-rules.ts';
import { text } from '../ttlv/item.ts';
import { type Done, identifierIn, type Operation, type OperationCall } from './operation.ts';

export const getAttributes: Operation = {
  run: async (asked, payload) => {
    const { objects, call, version } = asked;
    const id = identifierIn(payload, asked);
    const names = readNames(payload, version);
    const attributes = await (names.length === 0 ? objects.attributes(call, id) : objects.attributes(call, id, names));
    return { payload: [text('UniqueIdentifier', id), ...writeAttributes(attributes, version)], placeholder: id };
  },
};

export const getAttributeList: Operation = {
  run: async (asked, payload) => {
    const { objects, call, version } = asked;
    const id = identifierIn(payload, asked);
    const names = await objects.attributeNames(call, id);
    return { payload: [text('UniqueIdentifier', id), ...writeNames(names, version)], placeholder: id };
  },
};

export const addAttribute: Operation = {
  isFinal: (payload, version) => !isRemovable(payload, version),
  run: async (asked, payload) => {
    const { objects, call } = asked;
    const id = identifierIn(payload, asked);
    const added = await objects.addAttribute(call, id, required(asked, payload));
    return changed(asked, id, added, () => objects.deleteAttribute(call, id, placeOf(added)));
  },
};

export const modifyAttribute: Operation = {
  isFinal: (payload, version) => isLaterOnly(changedName(payload, version) ?? ''),
  run: async (asked, payload) => {
    const { objects, call, version } = asked;
    const id = identifierIn(payload, asked);
    const wanted = required(asked, payload);
    const current = readAttribute(payload, version, 'CurrentAttribute');
    const [before, index] = await find(asked, id, wanted, current);
    const modified = await objects.modifyAttribute(call, id, index === undefined ? wanted : { ...wanted, index });
    return changed(asked, id, modified, async () => before && objects.modifyAttribute(call, id, before));
  },
};

/** 2.0: sets the one value of an attribute, whether it has one or not. */
export const setAttribute: Operation = {
  since: 5,
  isFinal: (payload, version) => !isRemovable(payload, version),
  run: async (asked, payload) => {
    const { objects, call } = asked;
    const id = identifierIn(payload, asked);
    const wanted = required(asked, payload);
    const [before] = await objects.attributes(call, id, [wanted.name]);
    const set = before === undefined ? await objects.addAttribute(call, id, wanted) : await objects.modifyAttribute(call, id, wanted);
    return changed(asked, id, set, () =>
      before === undefined ? objects.deleteAttribute(call, id, placeOf(set)) : objects.modifyAttribute(call, id, before),
    );
  },
};

export const deleteAttribute: Operation = {
  run: async (asked, payload) => {
    const { objects, call, version } = asked;
    const id = identifierIn(payload, asked);
    const removed = await objects.deleteAttribute(call, id, await whichIn(asked, payload, id));
    const undo = async (): Promise<void> => {
      for (const attribute of removed) await objects.addAttribute(call, id, attribute);
    };
    const shown = hasTypedAttributes(version) ? [] : removed.map((attribute) => writeNamed(attribute, version));
    return { payload: [text('UniqueIdentifier', id), ...shown], placeholder: id, undo };
  },
};

/** Tells whether the attribute of a payload can be taken away again. */
function isRemovable(payload: Fields, version: Version): boolean {
  const name = changedName(payload, version);
  return name === undefined || canBeDeleted(name);
}

/** The name of the attribute of a payload; undefined for one that is refused anyway. */
function changedName(payload: Fields, version: Version): string | undefined {
  try {
    return readAttribute(payload, version, 'NewAttribute')?.name;
  } catch (error) {
    if (error instanceof KmipFailure) return undefined;
    throw error;
  }
}

function changed({ version }: OperationCall, id: string, attribute: Attribute, undo: () => Promise<unknown>): Done {
  const shown = hasTypedAttributes(version) ? [] : [writeNamed(attribute, version)];
  return { payload: [text('UniqueIdentifier', id), ...shown], placeholder: id, undo };
}

function required({ version }: OperationCall, payload: Fields): Attribute {
  const attribute = readAttribute(payload, version, 'NewAttribute');
  if (attribute === undefined) throw new KmipFailure('MissingData', 'The attribute is missing.');
  return attribute;
}

/** The attribute that is changed, as it is now, and its index where 2.0 names it by its value. */
async function find(
  { objects, call }: OperationCall,
  id: string,
  { name, index = 0 }: Attribute,
  current: Attribute | undefined,
): Promise<readonly [before: Attribute | undefined, index: number | undefined]> {
  const values = await objects.attributes(call, id, [name]);
  if (current === undefined) return [values.find((one) => (one.index ?? 0) === index), undefined];
  return [requireSame(values, current), requireSame(values, current).index ?? 0];
}

function requireSame(values: readonly Attribute[], current: Attribute): Attribute {
  const same = values.find((one) => isDeepStrictEqual(plain(one.value), plain(current.value)));
  if (same === undefined) throw new KmipFailure('ItemNotFound', `${current.name} has no value that is the current one of the request.`);
  return same;
}

/** Octets compare by their content, whatever kind of array they are. */
function plain(value: Attribute['value']): unknown {
  return JSON.parse(JSON.stringify(value, (_key, one: unknown) => (one instanceof Uint8Array ? Buffer.from(one).toString('hex') : one)));
}

async function whichIn(
  asked: OperationCall,
  payload: Fields,
  id: string,
): Promise<{ readonly name: string; readonly index?: number; readonly all?: true }> {
  const { objects, call, version } = asked;
  if (!hasTypedAttributes(version)) {
    const index = payload.value('AttributeIndex', 'integer');
    return { name: canonicalName(payload.required('AttributeName', 'text')), ...(index === undefined ? {} : { index }) };
  }
  const current = readAttribute(payload, version, 'CurrentAttribute');
  if (current !== undefined) return placeOf(requireSame(await objects.attributes(call, id, [current.name]), current));
  const [name, ...more] = readNames(payload, version);
  if (name === undefined || more.length > 0)
    throw new KmipFailure('MissingData', 'Current Attribute or one Attribute Reference must say what is deleted.');
  return { name, all: true };
}

function placeOf({ name, index = 0 }: Attribute): { readonly name: string; readonly index: number } {
  return { name, index };
}
