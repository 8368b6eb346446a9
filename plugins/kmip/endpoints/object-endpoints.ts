// Objects as administrators see them, and the ends of them; revoke and destroy are those of KMIP, too. Nothing here has material.
import { z } from 'zod';
import { defined } from '../../../core/base/defined.ts';
import { formatTimestamp, parseTimestamp } from '../../../core/base/time.ts';
import { type AnyEndpoint, defineEndpoint } from '../../../core/http/endpoint.ts';
import { answerList } from '../../../core/http/resource/list-answer.ts';
import { entryQuery, listQuery, readFields } from '../../../core/http/resource/list-query.ts';
import { naming } from '../../../core/http/named-entries.ts';
import { timestampText } from '../../../core/wire/fields.ts';
import { formatOutput, shapeOf, Wire } from '../../../core/wire/schema.ts';
import { destroy, isUnreadable, remove, revoke } from '../objects/change.ts';
import { numberOf } from '../objects/attributes.ts';
import { secondsOf } from '../objects/make.ts';
import type { Place } from '../objects/make.ts';
import { stateAt } from '../objects/states.ts';
import type { ObjectRecord } from '../records/object-record.ts';
import { type ObjectState, objectStates, type ObjectType, objectTypes } from '../records/object-values.ts';
import { kmipTag } from '../tags.ts';
import { tie } from '../making/tie.ts';
import { findPlace, findTarget, idName, names, objectState, type Parts, spaceState, type Target } from './operation.ts';

const date = (description: string) => timestampText().optional().describe(description);

const objectFields = z.object({
  id: z.uuid().meta(idName),
  objectType: z
    .enum(Object.keys(objectTypes) as [ObjectType, ...ObjectType[]])
    .meta({ typeName: 'KmipObjectType' })
    .describe('Object Type of KMIP.'),
  state: z
    .enum(Object.keys(objectStates) as [ObjectState, ...ObjectState[]])
    .meta({ typeName: 'KmipObjectState' })
    .describe('State of KMIP at this moment.'),
  names: z.array(z.string()).meta({ description: 'Its Names.', example: ['disk-17'] }),
  objectGroups: z.array(z.string()).meta({ description: 'Its Object Groups.', example: ['array-1'] }),
  client: z.string().optional().meta({ description: 'Client that made it.', example: 'array-1' }),
  creationTime: timestampText().describe('When it was made.'),
  activationTime: date('When it became, or becomes, Active.'),
  deactivationTime: date('When it was, or is to be, deactivated.'),
  compromiseTime: date('When it was noted as compromised.'),
  destroyTime: date('When its material was destroyed.'),
  transitKey: z
    .string()
    .optional()
    .meta({ description: 'Transit key that it stands for; absent: its material is sealed by the space.', example: 'orders' }),
  keyVersion: z.int().optional().meta({ description: 'Version of that key.', example: 1 }),
  leftTime: date('When its material left the appliance first; absent: never.'),
});

const reasons = {
  unspecified: 1,
  'key-compromise': 2,
  'ca-compromise': 3,
  'affiliation-changed': 4,
  superseded: 5,
  'cessation-of-operation': 6,
  'privilege-withdrawn': 7,
} as const;
type Reason = keyof typeof reasons;
export const reasonNames = Object.keys(reasons) as [Reason, ...Reason[]];

const revokeInput = z.object({
  reason: z
    .enum(reasonNames)
    .meta({ typeName: 'KmipRevocationReason' })
    .describe('Why: key-compromise and ca-compromise note a compromise, all others deactivate it.'),
  message: z.string().max(1_024).optional().meta({ description: 'What happened.', example: 'array was replaced' }),
  compromiseTime: timestampText().optional().describe('When the compromise happened first; default: when the object was made.'),
});
type RevokeInput = z.output<typeof revokeInput>;

const pageLimits = { usual: 100, most: 1_000 };
const listPath = `${spaceState}/objects`;
const shared = { tag: kmipTag, access: 'token' } as const;

export function objectEndpoints(parts: Parts): readonly AnyEndpoint[] {
  return [listEndpoint(parts), readEndpoint(parts), tieEndpoint(parts), ...endingEndpoints(parts)];
}

function listEndpoint(parts: Parts): AnyEndpoint {
  return defineEndpoint<undefined, unknown, Place>({
    ...shared,
    method: 'GET',
    path: listPath,
    operation: 'read',
    audit: 'reads-go-on',
    summary: 'Objects of a KMIP space',
    description:
      'In the order in which they were made, with destroyed ones that were not removed; never their material. At most 1,000 an answer.',
    named: 'KmipObject',
    nameField: 'id',
    query: {
      ...listQuery,
      after: 'Start behind this id.',
      limit: {
        description: 'Answer with at most so many entries.',
        schema: {
          type: 'integer',
          minimum: 1,
          maximum: pageLimits.most,
          default: pageLimits.usual,
          format: 'int32',
          examples: [pageLimits.usual],
        },
      },
    },
    output: z.array(objectFields) as never,
    documented: { names: { space: names.space } },
    find: (call) => findPlace(parts, call),
    run(call, _input, { tenantId, space }) {
      const { objects } = parts.kmip.tables;
      const prefix = [tenantId, space.id];
      function* entries(after: string | undefined): Iterable<readonly [string, ObjectRecord]> {
        for (const [key, record] of objects.entries(prefix, { ...defined({ after }), uncached: true })) yield [String(key.at(-1)), record];
      }
      const listed = { entries, count: () => objects.count(prefix), limits: pageLimits };
      return answerList(call, { path: listPath, nameField: 'id' }, objectFields, listed, (id, record) =>
        describeObject(id, record, call.now),
      );
    },
  });
}

function readEndpoint(parts: Parts): AnyEndpoint {
  return defineEndpoint<undefined, unknown, Target>({
    ...shared,
    method: 'GET',
    path: objectState,
    operation: 'read',
    audit: 'reads-go-on',
    summary: 'An object of a KMIP space',
    description: 'What is known of it: type, state, names and dates; never its material.',
    named: 'KmipObject',
    nameField: 'id',
    query: entryQuery,
    output: objectFields,
    documented: { names },
    errors: ['not-found'],
    find: (call) => findTarget(parts, call),
    run(call, _input, { id, record }) {
      const wire = formatOutput(describeObject(id, record, call.now), objectFields);
      return new Wire(readFields(call.query, shapeOf(objectFields))(wire));
    },
  });
}

const nameText = z
  .string()
  .min(1)
  .max(1_024)
  .refine((one) => one.isWellFormed(), 'must be well-formed');

const tieInput = z.object({
  transitKey: naming(z.string().min(1).max(128), {
    resource: 'keystore/transit-keys',
    needs: [{ operation: 'execute', path: '/v1/state/keystore/transit-keys/{}/export' }],
  }).meta({ description: 'Transit key that the objects stand for; it must be `exportable`.', example: 'orders' }),
  version: z
    .int()
    .min(1)
    .max(2_147_483_647)
    .optional()
    .meta({ description: 'Its version; default: the one in use, not one that waits to become active.', example: 1 }),
  names: z
    .array(nameText)
    .max(8)
    .default([])
    .meta({ description: 'Names of the objects.', example: ['orders 2026'] }),
  objectGroups: z
    .array(nameText)
    .max(8)
    .default([])
    .meta({ description: 'Object Groups of the objects.', example: ['databases'] }),
});
type TieInput = z.output<typeof tieInput>;

const tieOutput = z.object({
  ids: z.array(z.uuid().meta(idName)).describe('The object of a symmetric key; those of the private and of the public key.'),
});

/** The rights of clients at the transit key stay what they are: a tie gives none. */
function tieEndpoint(parts: Parts): AnyEndpoint {
  return defineEndpoint<TieInput, z.output<typeof tieOutput>, Place>({
    ...shared,
    method: 'POST',
    path: `${spaceState}/tie`,
    operation: 'execute',
    audit: 'required',
    act: 'none',
    summary: 'Let objects stand for a version of a transit key',
    description:
      'Its clients encrypt, decrypt, sign, verify and authenticate in the token, and read the key, as far as their policies allow them the same at the transit key. The version stays there; destroying the objects does not destroy it.',
    named: 'TieKmipObject',
    input: tieInput,
    output: tieOutput,
    auditFields: ['transitKey', 'version', 'names', 'objectGroups'],
    errors: ['kmip-tie-refused', 'kmip-space-full', 'kmip-attribute-invalid'],
    documented: { names: { space: names.space } },
    commandLine: { positional: ['transitKey'] },
    find: (call) => findPlace(parts, call),
    run: async (call, input, place) => ({ ids: (await tie(parts.kmip, place, input, call.now)).map(({ id }) => id) }),
  });
}

function endingEndpoints(parts: Parts): readonly AnyEndpoint[] {
  const { kmip } = parts;
  const ending = {
    ...shared,
    method: 'POST',
    operation: 'execute',
    audit: 'required',
    act: 'destroy',
    documented: { names },
    output: objectFields,
    errors: ['not-found', 'kmip-state', 'kmip-destroyed', 'kmip-attribute-invalid'],
    find: (call: Parameters<typeof findTarget>[1]) => findTarget(parts, call),
  } as const;
  const seen = (target: Target, now: Temporal.Instant) => {
    const { tenantId, space } = target.place;
    kmip.store.refresh();
    return describeObject(target.id, kmip.tables.objects.get([tenantId, space.id, target.id]) ?? target.record, now);
  };
  return [
    defineEndpoint<RevokeInput, z.output<typeof objectFields>, Target>({
      ...ending,
      path: `${objectState}/revoke`,
      summary: 'Revoke an object',
      description:
        'As Revoke of KMIP: an Active object is deactivated; a compromise is noted of an object in any state. It can still be read.',
      named: 'RevokeKmipObject',
      input: revokeInput,
      auditFields: ['reason', 'message', 'compromiseTime'],
      commandLine: { positional: ['reason'] },
      async run(call, { reason, message, compromiseTime }, target) {
        const occurrence = compromiseTime === undefined ? undefined : secondsOf(parseTimestamp(compromiseTime, 'compromise-time'));
        const why = { reason: reasons[reason], ...defined({ message, compromiseOccurrence: occurrence }) };
        await revoke(kmip, target.place, target.id, why, call.now);
        return seen(target, call.now);
      },
    }),
    defineEndpoint<object, z.output<typeof objectFields>, Target>({
      ...ending,
      path: `${objectState}/destroy`,
      summary: 'Destroy an object',
      description: 'As Destroy of KMIP: its material is gone for good, what is known of it stays. An Active object is revoked first.',
      named: 'DestroyKmipObject',
      input: z.object({}),
      commandLine: { ends: 'destroys the object: what it has encrypted is lost' },
      async run(call, _input, target) {
        await destroy(kmip, target.place, target.id, call.now);
        return seen(target, call.now);
      },
    }),
    defineEndpoint<object, { readonly id: string }, Pick<Target, 'place' | 'id'>>({
      ...ending,
      path: `${objectState}/remove`,
      summary: 'Remove what is left of a destroyed object',
      description:
        'Its names and dates. The audit trail keeps what happened. Root alone removes one whose record somebody changed past keystored.',
      errors: [...ending.errors, 'conflict'],
      find: (call) => findRemovable(parts, call),
      named: 'RemoveKmipObject',
      input: z.object({}),
      output: z.object({ id: z.uuid().meta(idName) }),
      commandLine: { ends: 'removes what is left of the object' },
      async run(call, _input, { place, id }) {
        await remove(kmip, place, id, call.now);
        return { id };
      },
    }),
  ];
}

function findRemovable(parts: Parts, call: Parameters<typeof findTarget>[1]): Pick<Target, 'place' | 'id'> {
  const place = findPlace(parts, call);
  const id = call.params['id'] ?? '';
  return call.caller.policies.includes('root') && isUnreadable(parts.kmip, place, id) ? { place, id } : findTarget(parts, call);
}

function describeObject(id: string, record: ObjectRecord, now: Temporal.Instant): z.output<typeof objectFields> {
  const { objectType, attributes, client, created, leftAt, tie: stands } = record;
  const texts = (name: string, tag?: string): string[] =>
    attributes.flatMap((one) => {
      if (one.name !== name) return [];
      const value = one.value.type === 'structure' ? one.value.fields.find(([field]) => field === tag)?.[1] : one.value;
      return value?.type === 'text' ? [value.value] : [];
    });
  const dateOf = (name: string): string | undefined => {
    const seconds = numberOf(attributes, name);
    return seconds === undefined ? undefined : timestampOf(seconds);
  };
  return {
    ...{ id, objectType, state: stateAt(record, secondsOf(now)), names: texts('Name', 'NameValue'), objectGroups: texts('Object Group') },
    creationTime: created,
    ...defined({
      ...{ client, activationTime: dateOf('Activation Date'), deactivationTime: dateOf('Deactivation Date') },
      ...{ compromiseTime: dateOf('Compromise Date'), destroyTime: dateOf('Destroy Date'), leftTime: leftAt },
      ...{ transitKey: stands?.transitKey, keyVersion: stands?.version },
    }),
  };
}

/** Timestamps of clients may be outside of what the calendar has. */
function timestampOf(seconds: number): string | undefined {
  return Math.abs(seconds) > 250_000_000_000 ? undefined : formatTimestamp(Temporal.Instant.fromEpochMilliseconds(seconds * 1_000));
}
