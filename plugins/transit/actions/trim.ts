// Action trim: removes versions older than the given one, for good (spec; api 40).
import { z } from 'zod';
import { integer } from '../../../core/fields.ts';
import { type AnyEndpoint, Reply } from '../../../core/http/endpoint.ts';
import { fail } from '../errors.ts';
import { putIndexed } from '../indexes.ts';
import { referencesOf, removedMeanwhile } from '../keyring.ts';
import type { Transit } from '../transit.ts';
import { maxVersion } from '../value-format.ts';
import { defineKeyAction } from './action.ts';

const inputSchema = z.object({ version: integer(1, maxVersion).describe('Oldest version to keep.') });

/** POST …/trim */
export function trim(transit: Transit): AnyEndpoint {
  return defineKeyAction<z.output<typeof inputSchema>, never>(transit, 'trim', {
    summary: 'Remove old versions',
    audit: 'required',
    input: inputSchema,
    successStatus: 204,
    auditFields: ['version'],
    commandLine: { positional: ['version'] },
    errors: ['version-unknown'],
    run: async (_call, { version: oldest }, key) => {
      const { tables, graveyard } = transit;
      const removed = await transit.store.write((transaction) => {
        const current = transaction.get(tables.keys, [key.tenantId, key.name]);
        if (current?.id !== key.record.id) throw removedMeanwhile();
        if (oldest > current.latest) throw fail('version-unknown', { detail: `The latest version is ${current.latest}.` });
        const references = [];
        for (let number = current.floor; number < oldest; number += 1) {
          const storeKey = [key.tenantId, current.id, number];
          const record = transaction.get(tables.versions, storeKey);
          if (record !== undefined) references.push(...referencesOf({ ...key, record: current }, { number, record }));
          transaction.delete(tables.versions, storeKey);
          transaction.delete(tables.usage, storeKey);
        }
        if (oldest > current.floor) putIndexed(tables, transaction, { ...key, record: current }, { ...current, floor: oldest });
        graveyard.bury(transaction, references);
        return references;
      });
      await graveyard.destroy(removed);
      return new Reply(204);
    },
  });
}
