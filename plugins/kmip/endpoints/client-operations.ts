// Operations that clients of KMIP alone have: requests of this process, with attributes and material in JSON. They are not in the API description.
import { z } from 'zod';
import { encodeBase64, parseBase64 } from '../../../core/base/bytes.ts';
import { defined } from '../../../core/base/defined.ts';
import { revealSecret, Secret } from '../../../core/base/secret.ts';
import type { AnyEndpoint, EndpointCall } from '../../../core/http/endpoint.ts';
import { isJsonObject, type JsonObject } from '../../../core/wire/json.ts';
import { Wire } from '../../../core/wire/schema.ts';
import { attributeFromJson, attributeToJson, invalid } from '../objects/attribute-json.ts';
import { attributesOfNew, numberOf, seenAttributes } from '../objects/attributes.ts';
import { activate, addAttribute, deleteAttribute, modifyAttribute, reKey } from '../objects/change.ts';
import { requireFitting } from '../objects/algorithms.ts';
import { locate } from '../objects/locate.ts';
import { createKey, mostMaterial, type Place, register, secondsOf } from '../objects/make.ts';
import { readMaterial, requireForm, requireLeaving, requireUse, requireWrapping, wrap } from '../objects/read.ts';
import type { Tie } from '../records/object-record.ts';
import { type Attribute, type ObjectType, objectTypes } from '../records/object-values.ts';
import { createPair } from '../making/key-pairs.ts';
import { requireOneJob } from '../making/one-job.ts';
import { mostTemplates, registerTemplate, withTemplates } from '../making/templates.ts';
import { requireTie } from '../making/tie.ts';
import { type InputOf, objectOperation, type Parts, spaceOperation } from './operation.ts';

const mostAttributes = 64;
const json = z.custom<JsonObject>(isJsonObject, 'must be an object');
const attributes = z.array(json).max(mostAttributes).default([]);
const code = z.int().min(0).max(0xffff_ffff);
const types = Object.keys(objectTypes) as [ObjectType, ...ObjectType[]];
const octets = z.string().max(Math.ceil(mostMaterial / 3) * 4 + 4);

const given = z.object({ attributes, templates: z.array(z.string().max(4_096)).max(mostTemplates).default([]) });
const pairInput = z.object({ common: given, private: given, public: given });
const templateInput = z.object({ attributes });
const registerInput = given.extend({
  ...{ objectType: z.enum(types), octets, keyFormat: code.optional(), subtype: code.optional() },
  ...{ wrapping: z.string().max(8_192).optional(), wrappingIsWhole: z.boolean().default(false) },
});
const getInput = z.object({ wrappedUnder: z.string().max(64).optional(), keyFormat: code.optional() });
const readInput = z.object({ names: z.array(z.string().max(260)).max(mostAttributes).optional() });
const oneInput = z.object({ attribute: json });
const deleteInput = z.object({ name: z.string().max(260), index: code.optional(), all: z.boolean().optional() });
const locateInput = z.object({
  attributes,
  maximumItems: code.optional(),
  offsetItems: code.optional(),
  storageStatusMask: code.optional(),
});
const reKeyInput = z.object({ attributes, offsetSeconds: z.int().optional() });
const nothing = z.object({});
const checkInput = z.object({ usageMask: code.optional(), leaseSeconds: code.optional() });
const useInput = z.object({ bit: code });

const changing = ['kmip-attribute-invalid', 'kmip-attribute-read-only', 'kmip-attribute-exists', 'kmip-attribute-not-found'] as const;

/** Long because it is a list, of which each entry is read by itself. */
export function clientOperations(parts: Parts): readonly AnyEndpoint[] {
  const { kmip } = parts;
  return [
    ...makingOperations(parts),
    spaceOperation<InputOf<typeof locateInput>, Wire>(parts, 'locate', {
      ...reading,
      summary: 'Find objects by attributes',
      input: locateInput,
      errors: [...changing, 'kmip-search-refused'],
      async run(call, { attributes: sent, ...limits }, place) {
        const wanted = { attributes: sent.map(attributeFromJson), ...defined(limits) };
        return new Wire(await locate(kmip, place, wanted, secondsOf(call.now), call.signal));
      },
    }),
    objectOperation<InputOf<typeof getInput>, Wire>(parts, 'get', {
      summary: 'Read an object',
      input: getInput,
      whileIsolated: true,
      errors: ['kmip-sensitive', 'kmip-not-extractable', 'kmip-usage', 'kmip-format-unsupported'],
      async run(call, { wrappedUnder, keyFormat: wanted }, { place, id, record }) {
        call.noteAudit({ requestParameters: defined({ 'wrapped-under': wrappedUnder }) });
        requireForm(record, { isWrapped: wrappedUnder !== undefined, keyFormat: wanted });
        if (wrappedUnder !== undefined) requireWrapping(kmip, place, wrappedUnder, call.now);
        const { objectType, keyFormat, subtype, wrapping, attributes: all } = record;
        const facts = defined({
          ...{ keyFormat, subtype },
          algorithm: numberOf(all, 'Cryptographic Algorithm'),
          length: numberOf(all, 'Cryptographic Length'),
        });
        if (wrapping !== undefined) Object.assign(facts, { wrapping: encodeBase64(wrapping.data), wrappingIsWhole: wrapping.isWhole });
        const isWrapped = wrappedUnder !== undefined;
        requireLeaving(record, { isWrapped, now: call.now });
        if (record.tie === undefined) {
          const material = revealSecret(await readMaterial(kmip, place, id, record));
          const text = encodeBase64(material);
          material.fill(0);
          return new Wire({ objectType, octets: text, ...facts });
        }
        const { publicKey, ...tie } = requireTie(kmip, place.tenantId, record);
        if (objectType === 'public-key' && publicKey !== undefined)
          return new Wire({ objectType, octets: encodeBase64(publicKey), ...facts });
        return new Wire({ objectType, ...facts, ...shownTie(tie) });
      },
    }),
    objectOperation<{ readonly octets: string }, Wire>(parts, 'wrap', {
      summary: 'Wrap what leaves under an object',
      input: z.object({ octets }),
      secretInput: ['octets'],
      whileIsolated: true,
      errors: ['kmip-usage', 'kmip-attribute-invalid', 'invalid-base64'],
      async run(call, { octets: text }, { place, id }) {
        return new Wire({ octets: encodeBase64(await wrap(kmip, place, id, parseBase64(text, 'octets'), call.now)) });
      },
    }),
    objectOperation<InputOf<typeof readInput>, Wire>(parts, 'attributes', {
      ...reading,
      summary: 'Read the attributes of an object',
      input: readInput,
      run(call, { names }, { id, record }) {
        const seen = seenAttributes(id, record, secondsOf(call.now));
        return new Wire({ attributes: seen.filter(({ name }) => names?.includes(name) ?? true).map(attributeToJson) });
      },
    }),
    ...attributeOperations(parts),
    objectOperation<object, Wire>(parts, 'activate', {
      summary: 'Activate an object',
      input: nothing,
      async run(call, _input, { place, id }) {
        await activate(kmip, place, id, call.now);
        return new Wire({});
      },
    }),
    objectOperation<InputOf<typeof reKeyInput>, Wire>(parts, 're-key', {
      summary: 'Make a key again',
      input: reKeyInput,
      errors: [...changing, 'kmip-algorithm-unsupported', 'kmip-usage', 'kmip-space-full', 'conflict'],
      async run(call, { attributes: sent, offsetSeconds }, { place, id }) {
        const given = sent.map(attributeFromJson);
        const made = await reKey(kmip, place, { id, attributes: given, ...defined({ offsetSeconds }) }, call.now);
        noteMade(call, 'symmetric-key', made, given);
        return new Wire({ id: made });
      },
    }),
    objectOperation<InputOf<typeof checkInput>, Wire>(parts, 'check', {
      ...reading,
      summary: 'Say whether a use of an object is allowed',
      input: checkInput,
      run(_call, { usageMask = 0 }, { record }) {
        const mask = numberOf(record.attributes, 'Cryptographic Usage Mask') ?? 0;
        return new Wire((mask & usageMask) === usageMask ? {} : { usageMask: mask });
      },
    }),
    objectOperation<InputOf<typeof useInput>, Wire>(parts, 'require-use', {
      ...reading,
      summary: 'Require that an object may be used',
      input: useInput,
      errors: ['kmip-usage', 'kmip-not-tied'],
      run(call, { bit }, { place, record }) {
        requireUse(record, bit, call.now);
        return new Wire(shownTie(requireTie(kmip, place.tenantId, record)));
      },
    }),
  ];
}

/** Parts of a tie that the request at the transit key needs. */
function shownTie({ transitKey, version, cipher, use }: Tie): JsonObject {
  return { transitKey, version, cipher, use };
}

function makingOperations(parts: Parts): readonly AnyEndpoint[] {
  const { kmip } = parts;
  const read = (place: Place, { attributes: sent, templates }: InputOf<typeof given>, now: Temporal.Instant) =>
    withTemplates(kmip, place, templates, sent.map(attributeFromJson), now);
  return [
    spaceOperation<InputOf<typeof given>, Wire>(parts, 'create', {
      summary: 'Create a symmetric key',
      input: given,
      errors: [...changing, 'kmip-algorithm-unsupported', 'kmip-space-full', 'kmip-search-refused'],
      async run(call, input, place) {
        const stated = await read(place, input, call.now);
        const id = await createKey(kmip, place, stated, call.now);
        noteMade(call, 'symmetric-key', id, stated);
        return new Wire({ id });
      },
    }),
    spaceOperation<InputOf<typeof pairInput>, Wire>(parts, 'create-key-pair', {
      summary: 'Create a pair of keys',
      input: pairInput,
      errors: [...changing, 'kmip-algorithm-unsupported', 'kmip-space-full', 'kmip-search-refused'],
      async run(call, input, place) {
        const stated = {
          common: await read(place, input.common, call.now),
          private: await read(place, input.private, call.now),
          public: await read(place, input.public, call.now),
        };
        const { privateId, publicId } = await createPair(kmip, place, stated, call.now);
        noteMade(call, 'private-key', privateId, [...stated.common, ...stated.private]);
        return new Wire({ privateId, publicId });
      },
    }),
    spaceOperation<InputOf<typeof registerInput>, Wire>(parts, 'register', {
      summary: 'Register an object',
      input: registerInput,
      secretInput: ['octets'],
      errors: [...changing, 'kmip-format-unsupported', 'kmip-space-full', 'kmip-search-refused', 'invalid-base64', 'private-key-in-use'],
      async run(call, { objectType, octets: text, keyFormat, subtype, wrapping, wrappingIsWhole, ...input }, place) {
        const stated = await read(place, input, call.now);
        const stored = attributesOfNew(stated);
        const sent = Uint8Array.from(parseBase64(text, 'octets'));
        const data = wrapping === undefined ? undefined : Uint8Array.from(parseBase64(wrapping, 'wrapping'));
        if (data === undefined) requireFitting(objectType, sent.length, stored);
        if (data === undefined && objectType === 'private-key')
          await requireOneJob(kmip, place.tenantId, { octets: sent, keyFormat }, stored).catch((error: unknown) => {
            sent.fill(0);
            throw error;
          });
        const wrapped = data === undefined ? {} : { wrapping: { data, isWhole: wrappingIsWhole } };
        const material = { octets: new Secret(sent), ...defined({ keyFormat, subtype }), ...wrapped };
        const id = await register(kmip, place, objectType, material, stored, call.now);
        noteMade(call, objectType, id, stated);
        return new Wire({ id });
      },
    }),
    spaceOperation<InputOf<typeof templateInput>, Wire>(parts, 'register-template', {
      summary: 'Register a template',
      input: templateInput,
      errors: [...changing, 'kmip-space-full'],
      async run(call, { attributes: sent }, place) {
        const stated = sent.map(attributeFromJson);
        const id = await registerTemplate(kmip, place, stated, call.now);
        noteMade(call, 'template', id, stated);
        return new Wire({ id });
      },
    }),
  ];
}

const reading = { audit: 'reads-go-on', whileIsolated: true } as const;

function attributeOperations(parts: Parts): readonly AnyEndpoint[] {
  const { kmip } = parts;
  return [
    objectOperation<InputOf<typeof oneInput>, Wire>(parts, 'add-attribute', {
      summary: 'Add an attribute',
      input: oneInput,
      errors: changing,
      async run(call, input, { place, id }) {
        const attribute = attributeFromJson(input.attribute);
        noteAttribute(call, attribute.name);
        return new Wire({ attribute: attributeToJson(await addAttribute(kmip, place, id, attribute, call.now)) });
      },
    }),
    objectOperation<InputOf<typeof oneInput>, Wire>(parts, 'modify-attribute', {
      summary: 'Modify an attribute',
      input: oneInput,
      errors: changing,
      async run(call, input, { place, id }) {
        const attribute = attributeFromJson(input.attribute);
        noteAttribute(call, attribute.name);
        return new Wire({ attribute: attributeToJson(await modifyAttribute(kmip, place, id, attribute, call.now)) });
      },
    }),
    objectOperation<InputOf<typeof deleteInput>, Wire>(parts, 'delete-attribute', {
      summary: 'Delete an attribute',
      input: deleteInput,
      errors: changing,
      async run(call, { name, index, all }, { place, id }) {
        if (all === true && index !== undefined) throw invalid(name, 'must have an index, or be deleted whole');
        noteAttribute(call, name);
        const which = { name, ...defined({ index }), ...(all === true ? { all } : {}) };
        return new Wire({ attributes: (await deleteAttribute(kmip, place, id, which, call.now)).map(attributeToJson) });
      },
    }),
  ];
}

/** Names are what people look for in the audit trail; other attributes are left out. */
function noteMade(call: EndpointCall, objectType: ObjectType, object: string, given: readonly Attribute[]): void {
  const named = given.flatMap(({ name, value }) => {
    const text = name === 'Name' && value.type === 'structure' ? value.fields.find(([tag]) => tag === 'NameValue')?.[1] : undefined;
    return text?.type === 'text' ? [text.value] : [];
  });
  call.noteAudit({ requestParameters: { 'object-type': objectType, object, names: named.slice(0, 8) } });
}

function noteAttribute(call: EndpointCall, name: string): void {
  call.noteAudit({ requestParameters: { attribute: name } });
}
