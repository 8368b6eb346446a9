// PATCH of an entry: merged into its document.
import { defined } from '../../../base/defined.ts';
import type { JsonObject } from '../../../wire/json.ts';
import { defineEndpoint, type AnyEndpoint, type Reply } from '../../endpoint.ts';
import { mergeEntry } from '../change.ts';
import type { Entry } from '../sight.ts';
import { mergeQuery } from '../list-query.ts';
import { changeText, type VerbContext } from './verb.ts';

export function mergeEndpoint(verb: VerbContext): AnyEndpoint {
  const { view, entries, schemas } = verb;
  const output = view.resource.warnings === undefined ? undefined : schemas.changed;
  return defineEndpoint<JsonObject, Reply, Entry>({
    ...verb.writing,
    fieldRights: verb.changeRights,
    query: mergeQuery,
    method: 'PATCH',
    operation: 'update',
    path: `/v1/config/${verb.entryPath}`,
    summary: `Merge into ${verb.aNoun}`,
    description:
      `What is left out stays as it is. Containers are merged, lists united (those whose order matters are replaced), other values replaced; ` +
      `null removes (RFC 7396).${changeText}`,
    successStatus: 204,
    documented: { input: schemas.change, merge: true, resource: verb.described('entry'), ...defined({ output }) },
    errors: ['immutable-field', 'one-way-flag', 'precondition-failed', 'conflict', 'built-in', ...verb.errors],
    find: (call) => entries.findForChange(call),
    async run(call, body, entry) {
      const outcome = await mergeEntry(view, verb.store, call, entry, verb.readChange(call, entry, body));
      verb.noteDone(call, body);
      return verb.merged(call, entry, outcome);
    },
  });
}
