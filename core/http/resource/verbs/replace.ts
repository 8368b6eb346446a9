// PUT of an entry: the whole document; creates the entry if it does not exist.
import type { JsonObject } from '../../../wire/json.ts';
import { defineEndpoint, type AnyEndpoint, type Reply } from '../../endpoint.ts';
import { replaceEntry } from '../change.ts';
import type { Entry } from '../sight.ts';
import type { ResourceView } from '../view.ts';
import { changeText, type VerbContext } from './verb.ts';

export function replaceEndpoint(verb: VerbContext): AnyEndpoint {
  const { entries, schemas } = verb;
  const view: ResourceView = verb.view;
  return defineEndpoint<JsonObject, Reply, Entry>({
    ...verb.writing,
    fieldRights: verb.changeRights,
    creationRights: view.resource.creationRights ?? [],
    method: 'PUT',
    operation: 'update',
    path: `/v1/config/${verb.entryPath}`,
    summary: `Create or replace ${verb.aNoun}`,
    description:
      `The whole document: what is left out returns to its default, but for fields that are set at creation only or cannot be set back. ` +
      `\`If-None-Match: *\` creates only, \`If-Match\` replaces only what still has the tag.${changeText}`,
    successStatus: 204,
    documented: { input: schemas.change, output: schemas.changed, resource: verb.described('entry') },
    errors: ['immutable-field', 'one-way-flag', 'precondition-failed', 'conflict', 'built-in', ...verb.errors],
    find: (call) => entries.findForReplacement(call),
    async run(call, body, entry) {
      view.requireName(entry.name);
      const outcome = await replaceEntry(view, verb.store, call, entry, verb.readChange(call, entry, body));
      verb.noteDone(call, body);
      return outcome.created ? verb.created(entry, outcome) : verb.replaced(call, entry, outcome);
    },
  });
}
