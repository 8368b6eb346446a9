// Approval of changes of a resource: asked for when a change is planned and everything that refuses it has had its say, and before it is prepared.
import { isDeepStrictEqual } from 'node:util';
import { acts as everyAct, type Act } from '../../../approvals/acts.ts';
import type { Judged } from '../../../approvals/narrowing.ts';
import { toKebab } from '../../../wire/schema.ts';
import { inWhole, sizeOf } from '../../audit-parameters.ts';
import type { EndpointCall } from '../../endpoint.ts';
import type { Entry } from '../sight.ts';
import { valueAt, type Document, type ResourceView } from '../view.ts';

/** A change: documents before and after it, undefined for none. */
type DocumentChange = { readonly before: Document | undefined; readonly after: Document | undefined };

/** The acts of a change. */
export function actsOfChange(
  { resource }: ResourceView,
  call: EndpointCall,
  names: readonly string[],
  change: DocumentChange,
): readonly Act[] {
  if (resource.acts !== undefined) return resource.acts({ call, names, ...change });
  return resource.act === undefined ? everyAct : [resource.act];
}

/**
 * As `requireApproval` of a call, for a change of an entry. `record`: that for which the change was planned; `approvedFor`: as in Plan. A change that starts over
 * afterwards, because another came first, finds its approval used.
 */
export async function requireApprovalOf(
  view: ResourceView,
  call: EndpointCall,
  entry: Entry,
  record: unknown,
  change: DocumentChange,
  approvedFor?: unknown,
): Promise<void> {
  const acts = actsOfChange(view, call, entry.names, change);
  await call.requireApproval(acts, () => {
    const tag = view.tag(entry.name, record) ?? null;
    return {
      concerns: concernsOf(view, entry.names),
      // The path of a creation does not name the entry.
      content: [entry.names, change.after ?? null],
      target: approvedFor === undefined ? tag : [tag, approvedFor],
      parameters: differences(view, entry.name, change),
      judged: () => judgedOf(view, entry.name, [change.before, change.after]),
    };
  });
}

/** Documents of an entry, undefined for none, as rules that values narrow judge them: without secrets. */
export function judgedOf(view: ResourceView, name: string, documents: readonly (Document | undefined)[]): Judged {
  return { documents: documents.flatMap((one) => (one === undefined ? [] : [view.configOf(name, one)])), shape: view.answers.config };
}

/** Paths that the change of an entry concerns. What belongs to the appliance as a whole, such as a tenant, concerns every path. */
export function concernsOf(view: ResourceView, names: readonly string[]): readonly (readonly string[])[] {
  return view.resource.scope === 'system' ? [] : [view.pathOf('config', names)];
}

/** The fields that change, with the present value beside the wanted one, in wire form. A secret shows only that it changes. */
function differences(view: ResourceView, name: string, { before, after }: DocumentChange): Record<string, unknown> {
  const [was, is] = [before, after].map((document) => (document === undefined ? {} : view.configOf(name, document)));
  const fields = [...new Set([...Object.keys(was ?? {}), ...Object.keys(is ?? {})])];
  const changed = fields.filter((field) => !isDeepStrictEqual(was?.[field], is?.[field]));
  const shown = changed.map((field) => [field, { present: inWhole(was?.[field]) ?? null, wanted: inWhole(is?.[field]) ?? null }]);
  const secrets = (view.resource.secretFields ?? []).flatMap((path) => {
    const [present, wanted] = [before, after].map((document) => (document === undefined ? undefined : valueAt(document, path.split('.'))));
    return wanted === undefined || present === wanted ? [] : [[path.split('.').map(toKebab).join('/'), { wanted: sizeOf(wanted) }]];
  });
  return Object.fromEntries([...shown, ...secrets]) as Record<string, unknown>;
}
