// Create, CreateKeyPair, Register, ReKey.
import { readAttributes, readGiven, readTemplate } from '../messages/attributes.ts';
import { KmipFailure } from '../messages/failure.ts';
import { readObject, readObjectType, writeObjectType } from '../messages/managed-object.ts';
import type { Attribute } from '../objects/object-service.ts';
import { enumerations } from '../ttlv/enumerations.ts';
import { type Item, text } from '../ttlv/item.ts';
import { identifierIn, type Done, type Operation, type OperationCall } from './operation.ts';

export const create: Operation = {
  run: async (asked, payload) => {
    const { objects, call, version } = asked;
    const type = readObjectType(payload, version);
    if (type !== 'symmetric-key')
      throw new KmipFailure('InvalidField', 'Create makes symmetric keys: make pairs with CreateKeyPair, and register all others.');
    const { id } = await objects.create(call, readGiven(payload, version));
    return made(asked, id, [writeObjectType(type), text('UniqueIdentifier', id)]);
  },
};

export const createKeyPair: Operation = {
  run: async (asked, payload) => {
    const { objects, call, version } = asked;
    const { privateId, publicId } = await objects.createPair(call, {
      common: readGiven(payload, version, ['CommonTemplateAttribute', 'CommonAttributes']),
      private: readGiven(payload, version, ['PrivateKeyTemplateAttribute', 'PrivateKeyAttributes']),
      public: readGiven(payload, version, ['PublicKeyTemplateAttribute', 'PublicKeyAttributes']),
    });
    return {
      payload: [text('PrivateKeyUniqueIdentifier', privateId), text('PublicKeyUniqueIdentifier', publicId)],
      placeholder: privateId,
      undo: async () => {
        await takenBack(asked, publicId);
        await takenBack(asked, privateId);
      },
    };
  },
};

export const register: Operation = {
  run: async (asked, payload) => {
    const { objects, call, version } = asked;
    const type = readObjectType(payload, version);
    const given = readGiven(payload, version);
    if (type === 'template') {
      const { id } = await objects.registerTemplate(call, [...given.attributes, ...readTemplate(payload)]);
      return made(asked, id, [text('UniqueIdentifier', id)]);
    }
    const object = readObject(payload, type);
    const { id } = await objects.register(call, type, object.material, {
      ...given,
      attributes: joined(given.attributes, object.attributes),
    });
    return made(asked, id, [text('UniqueIdentifier', id)]);
  },
};

export const reKey: Operation = {
  run: async (asked, payload) => {
    const { objects, call, version } = asked;
    const offsetSeconds = payload.value('Offset', 'interval');
    const { id } = await objects.reKey(call, {
      id: identifierIn(payload, asked),
      attributes: readAttributes(payload, version),
      ...(offsetSeconds === undefined ? {} : { offsetSeconds }),
    });
    return { payload: [text('UniqueIdentifier', id)], placeholder: id };
  },
  isFinal: true,
};

function made(asked: OperationCall, id: string, payload: readonly Item[]): Done {
  return { payload, placeholder: id, undo: () => takenBack(asked, id) };
}

/** One that was made active must be revoked first. */
function takenBack({ objects, call }: OperationCall, id: string): Promise<void> {
  return objects.destroy(call, id).catch(async () => {
    await objects.revoke(call, id, { reason: enumerations.RevocationReasonCode.CessationOfOperation });
    await objects.destroy(call, id);
  });
}

/** The attributes of a request with those of its key block, which must not say otherwise. */
function joined(given: readonly Attribute[], ofBlock: readonly Attribute[]): readonly Attribute[] {
  const missing = ofBlock.filter((one) => {
    const other = given.find(({ name }) => name === one.name);
    if (other !== undefined && JSON.stringify(other.value) !== JSON.stringify(one.value))
      throw new KmipFailure('InvalidField', `${one.name} is not the same among the attributes and in the key block.`);
    return other === undefined;
  });
  return [...given, ...missing];
}
