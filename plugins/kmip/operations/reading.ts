// Get, Locate, Check.
import { readSearched } from '../messages/attributes.ts';
import { KmipFailure } from '../messages/failure.ts';
import { octetsToWrap, readFormat, readWrapping, writeObject, writeObjectType } from '../messages/managed-object.ts';
import { isFrom } from '../messages/versions.ts';
import { enumerations } from '../ttlv/enumerations.ts';
import { integer, text, type Item } from '../ttlv/item.ts';
import { tags } from '../ttlv/tags.ts';
import { identifierIn, type Operation, type OperationCall } from './operation.ts';

export const get: Operation = {
  run: async (asked, payload) => {
    const { objects, call, version } = asked;
    if (payload.item('KeyCompressionType') !== undefined)
      throw new KmipFailure('KeyCompressionTypeNotSupported', 'Keys are not compressed: leave Key Compression Type out.');
    const id = identifierIn(payload, asked);
    if (payload.word('KeyWrapType') === 'NotWrapped')
      throw new KmipFailure('FeatureNotSupported', 'Keys that were registered wrapped leave so: leave Key Wrap Type out.');
    const format = readFormat(payload);
    const wrapping = readWrapping(payload);
    // The form that shows a symmetric key as a structure has the octets of the other one inside.
    const kept = format === 'TransparentSymmetricKey' ? 'Raw' : format;
    const wrapped = wrapping === undefined ? undefined : await wrappedWith(asked, id, wrapping);
    const object = await objects.get(call, {
      id,
      ...(kept === undefined ? {} : { keyFormat: enumerations.KeyFormatType[kept] }),
      ...(wrapped === undefined ? {} : { wrap: wrapped }),
    });
    return {
      payload: [
        writeObjectType(object.objectType),
        text('UniqueIdentifier', object.id),
        writeObject(object, { version, format, wrapping }),
      ],
      placeholder: object.id,
      beforeAnswer: () => objects.noteLeft(call, object.id),
    };
  },
};

async function wrappedWith(
  { objects, call, version }: OperationCall,
  id: string,
  wrapping: NonNullable<ReturnType<typeof readWrapping>>,
): Promise<NonNullable<Parameters<typeof objects.get>[1]['wrap']>> {
  const names = wrapping.attributeNames;
  const attributes = names.length === 0 ? [] : await objects.attributes(call, id, names);
  return { keyId: wrapping.keyId, encode: (object) => octetsToWrap(object, wrapping, attributes, version) };
}

export const locate: Operation = {
  run: async ({ objects, call, version }, payload) => {
    if (payload.item('ObjectGroupMember') !== undefined)
      throw new KmipFailure('FeatureNotSupported', 'Object Group Member is not known: groups have no fresh and no default members here.');
    const maximumItems = payload.value('MaximumItems', 'integer');
    const offsetItems = payload.value('OffsetItems', 'integer');
    const storageStatusMask = payload.value('StorageStatusMask', 'integer');
    if ((maximumItems ?? 0) < 0 || (offsetItems ?? 0) < 0)
      throw new KmipFailure('InvalidField', 'Maximum Items and Offset Items are 0 or more.');
    const { ids, located } = await objects.locate(call, {
      attributes: readSearched(payload, version),
      ...(maximumItems === undefined ? {} : { maximumItems }),
      ...(offsetItems === undefined ? {} : { offsetItems }),
      ...(storageStatusMask === undefined ? {} : { storageStatusMask }),
    });
    const [only, ...more] = ids;
    return {
      payload: [
        ...(isFrom(version, 3) && located !== undefined ? [integer('LocatedItems', located)] : []),
        ...ids.map((id) => text('UniqueIdentifier', id)),
      ],
      // Of several nobody could say which one is meant.
      ...(only === undefined || more.length > 0 ? {} : { placeholder: only }),
    };
  },
};

export const check: Operation = {
  run: async (asked, payload) => {
    const { objects, call } = asked;
    const id = identifierIn(payload, asked);
    const usageMask = payload.value('CryptographicUsageMask', 'integer');
    const leaseSeconds = payload.value('LeaseTime', 'interval');
    const count = payload.value('UsageLimitsCount', 'long');
    const refused = await objects.check(call, {
      id,
      ...(usageMask === undefined ? {} : { usageMask }),
      ...(leaseSeconds === undefined ? {} : { leaseSeconds }),
      ...(count === undefined ? {} : { usageLimitsCount: String(count) }),
    });
    const items: readonly (Item | undefined)[] = [
      text('UniqueIdentifier', id),
      refused.usageLimitsCount === undefined
        ? undefined
        : { tag: tags.UsageLimitsCount, type: 'long', value: BigInt(refused.usageLimitsCount) },
      refused.usageMask === undefined ? undefined : integer('CryptographicUsageMask', refused.usageMask),
      refused.leaseSeconds === undefined ? undefined : { tag: tags.LeaseTime, type: 'interval', value: refused.leaseSeconds },
    ];
    return { payload: items.filter((item) => item !== undefined), placeholder: id };
  },
};
