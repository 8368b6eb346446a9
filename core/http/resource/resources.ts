// Turns a resource into its endpoints, a file for each verb.
import type { Store } from '../../store/store.ts';
import type { AnyEndpoint } from '../endpoint.ts';
import { labelled } from './labels.ts';
import type { AnyResource } from './resource.ts';
import { createEndpoint } from './verbs/create.ts';
import { createBatchEndpoint } from './verbs/create-batch.ts';
import { listEndpoints } from './verbs/list.ts';
import { mergeEndpoint } from './verbs/merge.ts';
import { readEndpoints } from './verbs/read.ts';
import { removeEndpoint } from './verbs/remove.ts';
import { replaceEndpoint } from './verbs/replace.ts';
import { VerbContext } from './verbs/verb.ts';

/** The endpoints of a resource in both trees: `/v1/config` is written and read, `/v1/state` only read. */
export function resourceEndpoints(resource: AnyResource, store: Store): AnyEndpoint[] {
  const verb = new VerbContext(labelled(resource), store);
  return [
    ...listEndpoints(verb),
    ...readEndpoints(verb),
    createEndpoint(verb),
    ...(resource.inBatches === true ? [createBatchEndpoint(verb)] : []),
    replaceEndpoint(verb),
    mergeEndpoint(verb),
    removeEndpoint(verb),
  ];
}
