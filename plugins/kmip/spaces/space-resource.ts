// The resource KMIP space: a set of objects that its clients share. It is made with a key in the token, which seals the material of all of them.
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { fail } from '../../../core/base/errors.ts';
import { type AnyResource, defineResource } from '../../../core/http/resource/resource.ts';
import type { Kmip } from '../context.ts';
import { kmipTag } from '../tags.ts';
import { sealingBinding, type SpaceDocument, spaceDocument, type SpaceRecord } from '../records/space-record.ts';
import { countObjects } from './space-count.ts';

const spacePath = 'keystore/kmip-spaces';

const stateFields = z.object({
  objects: z.int().min(0).meta({ description: 'Objects that it has, with destroyed ones.', example: 12 }),
});

type Prepared = Pick<SpaceRecord, 'id' | 'stored' | 'indexKey'> | undefined;

export function spaceResource(kmip: Kmip): AnyResource {
  const { hsm, tables, rotation } = kmip;
  return defineResource<SpaceDocument, SpaceRecord, Prepared>({
    path: spacePath,
    tag: kmipTag,
    noun: 'KMIP space',
    act: 'destroy',
    acts: ({ after }) => (after === undefined ? ['destroy'] : []),
    removalEnds: 'deletes the space with the key that seals its objects',
    nameField: 'name',
    scope: 'tenant',
    table: tables.spaces,
    document: spaceDocument,
    stateFields,
    errors: ['in-use'],
    plan: ({ call, document, current }) => ({
      async prepare() {
        if (current !== undefined) return undefined;
        const id = randomUUID();
        const { stored } = await hsm.generate('aes-256', sealingBinding(call.caller.tenantId, id), { custody: 'wrapped' });
        return { id, stored, indexKey: Uint8Array.from(await hsm.random(32)) };
      },
      commit(transaction, made) {
        if (made !== undefined) rotation.admit(transaction, [made.stored]);
        const { id, stored, indexKey } = made ?? current ?? missing();
        return { ...document, id, stored, indexKey };
      },
    }),
    planRemoval: ({ caller: { tenantId } }, [name = ''], current) => {
      const requireUnused = (): void => {
        for (const [, client] of tables.clients.entries([tenantId]))
          if (client.space === name) throw inUse('A KMIP client works in this space: delete its entry, or give it another space.');
        for (const _key of tables.objects.keys([tenantId, current.id], { limit: 1 }))
          throw inUse('The space has objects: destroy and remove them, or keep the space.');
      };
      requireUnused();
      return {
        commit(transaction) {
          requireUnused();
          transaction.delete(tables.counts, [tenantId, current.id]);
        },
      };
    },
    toDocument: ({ id: _id, stored: _stored, indexKey: _indexKey, ...document }) => document,
    toState: ({ id }, { caller }) => ({ objects: countObjects(kmip, caller.tenantId, id) }),
  });
}

function missing(): never {
  throw new Error('a space without a key');
}

function inUse(detail: string): Error {
  return fail('in-use', { detail });
}
