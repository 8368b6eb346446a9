// DELETE of an entry, with dependent records of the resource.
import { acts } from '../../../approvals/acts.ts';
import { defineEndpoint, Reply, type AnyEndpoint } from '../../endpoint.ts';
import { removeEntry, removeUnreadable } from '../change.ts';
import type { Entry } from '../sight.ts';
import { Unreadable } from '../../../store/store.ts';
import { readFlag } from '../list-query.ts';
import { changeText, type VerbContext } from './verb.ts';

export function removeEndpoint(verb: VerbContext): AnyEndpoint {
  return defineEndpoint<undefined, Reply, Entry>({
    ...verb.changing,
    fieldRights: verb.removalRights,
    method: 'DELETE',
    operation: 'delete',
    path: `/v1/config/${verb.entryPath}`,
    summary: `Delete ${verb.aNoun}`,
    description: `For good, with what belongs to it. A record that was changed outside of keystored is deleted by root alone; what belonged to it stays.${changeText}`,
    successStatus: 204,
    documented: { resource: verb.described('entry') },
    commandLine: { ends: verb.view.resource.removalEnds ?? `deletes the ${verb.noun}` },
    errors: ['precondition-failed', 'in-use', 'conflict', 'built-in', ...verb.errors],
    find: (call) => verb.entries.findForRemoval(call),
    async run(call, _, entry) {
      const isTrial = readFlag(call.query, 'validate');
      if (!(entry.record instanceof Unreadable)) await removeEntry(verb.view, verb.store, call, entry);
      else if (!isTrial) {
        const target = entry.record.reason;
        await call.requireApproval(acts, () => ({ concerns: [], content: null, target, parameters: { unreadable: true } }));
        await removeUnreadable(verb.view, verb.store, entry);
      }
      return new Reply(204);
    },
  });
}
