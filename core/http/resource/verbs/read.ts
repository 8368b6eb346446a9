// GET of an entry, in either tree.
import { Wire } from '../../../wire/schema.ts';
import { defineEndpoint, Reply, type AnyEndpoint, type EndpointCall } from '../../endpoint.ts';
import type { Entry } from '../sight.ts';
import { entryQuery, readFields } from '../list-query.ts';
import { tagHeader, type VerbContext } from './verb.ts';

/** The reads of an entry: of its configuration and of its state. */
export function readEndpoints(verb: VerbContext): AnyEndpoint[] {
  const { view, entries, schemas, aNoun } = verb;
  const shared = { ...verb.reading, query: entryQuery, find: (call: EndpointCall) => entries.find(call) };
  return [
    defineEndpoint<undefined, Reply, Entry>({
      ...shared,
      path: `/v1/config/${verb.entryPath}`,
      summary: `Read ${aNoun}`,
      description: 'What was configured, without secrets. With `fields` a part of it; what policies hide is absent.',
      documented: { output: schemas.config, resource: verb.described('entry') },
      run: (call, _, entry) => readEntry(verb, call, entry, 'config', view.config(entry.name, entry.record)),
    }),
    defineEndpoint<undefined, Reply, Entry>({
      ...shared,
      path: `/v1/state/${verb.entryPath}`,
      summary: `Read the state of ${aNoun}`,
      description: 'What was configured and what came of it. With `fields` a part of it; what policies hide is absent.',
      documented: { output: schemas.state, resource: verb.described('entry', 'state') },
      run: (call, _, entry) => readEntry(verb, call, entry, 'state', view.state(entry.name, entry.record, call)),
    }),
  ];
}

function readEntry({ view }: VerbContext, call: EndpointCall, entry: Entry, tree: 'config' | 'state', document: unknown): Reply {
  const select = readFields(call.query, view.answers[tree]);
  return new Reply(200, new Wire(select(document)), tagHeader(view.tag(entry.name, entry.record)));
}
