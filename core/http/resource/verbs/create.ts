// POST of a resource: a new entry under the name in the body.
import type { JsonObject } from '../../../wire/json.ts';
import { defineEndpoint, type AnyEndpoint, type Reply } from '../../endpoint.ts';
import { createEntry } from '../change.ts';
import { readFlag } from '../list-query.ts';
import { changeText, type VerbContext } from './verb.ts';

export function createEndpoint(verb: VerbContext): AnyEndpoint {
  const { view, entries, schemas } = verb;
  return defineEndpoint<JsonObject, Reply, string[]>({
    ...verb.writing,
    fieldRights: view.resource.creationRights ?? [],
    method: 'POST',
    operation: 'create',
    path: `/v1/config/${verb.listPath}`,
    summary: `Create ${verb.aNoun}`,
    description: `Under the name in the body, which must be free. What is left out gets its default.${changeText}`,
    successStatus: 201,
    documented: { input: schemas.creation, output: schemas.changed, resource: verb.described('list') },
    errors: ['already-exists', 'conflict', ...verb.errors],
    find: (call) => entries.parentsOf(call),
    async run(call, body, parents) {
      const { name, fields } = view.readCreation(body);
      const entry = entries.entryOf(call, parents, name);
      readFlag(call.query, 'validate');
      call.noteAudit({ requestParameters: view.auditParameters(body) });
      const outcome = await createEntry(view, verb.store, call, entry, fields);
      verb.noteDone(call, body);
      return verb.created(entry, outcome);
    },
  });
}
