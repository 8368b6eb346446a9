// POST of a resource in batches: many new entries, each made like a single POST, and each with its own answer.
import { z } from 'zod';
import { Whole } from '../../../audit/record.ts';
import { ServiceError } from '../../../base/errors.ts';
import { failAt } from '../../../base/texts/invalid.ts';
import type { JsonObject } from '../../../wire/json.ts';
import { Wire } from '../../../wire/schema.ts';
import { defineEndpoint, Reply, type AnyEndpoint, type EndpointCall } from '../../endpoint.ts';
import type { Act } from '../../../approvals/acts.ts';
import { createEntry } from '../change.ts';
import { readFlag } from '../list-query.ts';
import { actsOfChange, concernsOf, judgedOf } from '../approval/change-approval.ts';
import { changeText, type VerbContext } from './verb.ts';

const maxItems = 1_000;
/**
 * Entries of a batch that begin together, and so share a batch of the token and a commit. Few enough at first that slow ones (RSA-4096 keys)
 * do not wait in the token longer than a job may take; as long as they are quick, twice as many the next time.
 */
const fewestTogether = 16;
const mostTogether = 64;
const quickMs = 500;
/** Groups in progress: while the token works for one, another is committed. */
const groupsAtOnce = 2;
const maxReferenceCharacters = 256;

type Result = Record<string, unknown>;
type Input = { readonly batchInput: readonly JsonObject[] };

/** `…-batch` beside the list. Policies judge it as the POST of one entry, and the fields of each entry as those of one. */
export function createBatchEndpoint(verb: VerbContext): AnyEndpoint {
  const { view, entries, noun, listPath } = verb;
  const { name, item, answer } = describedBatch(verb);
  return defineEndpoint<Input, Reply, string[]>({
    ...verb.changing,
    method: 'POST',
    operation: 'create',
    path: `/v1/config/${listPath}-batch`,
    judgedAs: { action: listPath.slice(listPath.lastIndexOf('/') + 1) },
    operationId: `${name.slice(0, 1).toLowerCase()}${name.slice(1)}sCreateBatch`,
    summary: `Create many ${noun}s`,
    description:
      `1 to 1,000 at once, each as if it were created alone, and each answered on its own, in order: with its document, or with \`code\`. ` +
      `The status is 200 even when every one failed: \`failed\` says how many. When the whole is answered with an error from 500 up, ` +
      `some may have been created: repeat the batch, and those answer \`already-exists\`.${changeText}`,
    input: z.object({ batchInput: z.array(z.record(z.string(), z.unknown())).min(1).max(maxItems) }) as unknown as z.ZodType<Input>,
    documented: { input: z.object({ batchInput: z.array(item).min(1).max(maxItems).describe('The entries.') }), output: answer },
    errors: ['already-exists', 'conflict', ...verb.errors],
    find: (call) => entries.parentsOf(call),
    async run(call, { batchInput }, parents) {
      const isTry = readFlag(call.query, 'validate');
      const results: Result[] = [];
      const created: string[] = [];
      const documents: Result[] = [];
      let failed = 0;
      if (!isTry) await requireBatchApproval(verb, call, parents, batchInput);
      try {
        await inGroups(batchInput, async (one, index) => {
          const result = await createOne(verb, call, parents, one);
          results[index] = result;
          if ('code' in result) failed += 1;
          else if (!isTry) {
            const { reference: _, ...document } = one;
            created.push(String(result[view.nameField]));
            documents.push(view.auditParameters(document));
          }
        });
      } finally {
        // Also after a fault: the record lists the created entries.
        const counts = { items: batchInput.length, failed };
        if (created.length === 0) call.noteAudit({ requestParameters: counts });
        else call.noteAudit({ requestParameters: new Whole({ ...counts, documents }), created });
      }
      return new Reply(200, new Wire({ 'batch-results': results, failed }));
    },
  });
}

/** One approval is for the whole batch, whichever of its entries need it. */
async function requireBatchApproval(
  { view }: VerbContext,
  call: EndpointCall,
  parents: readonly string[],
  batch: readonly JsonObject[],
): Promise<void> {
  const found = new Set<Act>();
  const concerns: (readonly string[])[] = [];
  const judged: unknown[] = [];
  for (const { reference: _, ...body } of batch) {
    try {
      const { name, fields } = view.readCreation(body);
      const after = view.parse(fields);
      const acts = actsOfChange(view, call, [...parents, name], { before: undefined, after });
      for (const act of acts) found.add(act);
      if (acts.length === 0) continue;
      concerns.push(...concernsOf(view, [...parents, name]));
      judged.push(...judgedOf(view, name, [after]).documents);
    } catch (error) {
      // An entry that is not made needs no approval.
      if (!(error instanceof ServiceError)) throw error;
    }
  }
  const parameters = { items: batch.length, 'batch-input': batch.map((one) => view.auditParameters(one, 'shown')) };
  const subject = { concerns, content: batch, target: null, parameters, judged: () => ({ documents: judged, shape: view.answers.config }) };
  await call.requireApproval([...found], () => subject);
}

/** The document of a created entry, or the refusal. Throws faults: they end the batch. */
async function createOne({ view, entries, store }: VerbContext, call: EndpointCall, parents: string[], one: JsonObject): Promise<Result> {
  const { reference, ...body } = one;
  const named = typeof reference === 'string' ? { reference } : {};
  try {
    requireReference(reference);
    const { name, fields } = view.readCreation(body);
    const { record, document } = await createEntry(view, store, call, entries.entryOf(call, parents, name), fields, 'approved');
    return { ...(record === undefined ? view.configOf(name, document) : view.config(name, record)), ...named };
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status >= 500) throw error;
    return { status: error.status, code: error.code, 'error-message': error.message, ...named };
  }
}

/** Runs work on all items, in groups. After a fault no further group begins; it rejects when those under way have ended. */
async function inGroups<T>(items: readonly T[], work: (item: T, index: number) => Promise<void>): Promise<void> {
  const faults: unknown[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let together = fewestTogether; next < items.length && faults.length === 0;) {
      const start = next;
      const group = items.slice(start, (next += together));
      const begun = performance.now();
      await Promise.all(group.map((item, at) => work(item, start + at).catch((error: unknown) => void faults.push(error))));
      together = performance.now() - begun < quickMs ? Math.min(2 * together, mostTogether) : fewestTogether;
    }
  };
  await Promise.all(Array.from({ length: groupsAtOnce }, lane));
  if (faults.length > 0) throw faults[0];
}

function requireReference(reference: unknown): void {
  if (reference === undefined || (typeof reference === 'string' && reference.length <= maxReferenceCharacters)) return;
  throw failAt('reference', `"reference" must be text of at most ${maxReferenceCharacters} characters.`);
}

/** The schemas of a batch: an entry, and the answer. */
function describedBatch({ noun, schemas }: VerbContext) {
  const reference = z.string().meta({ description: 'Echoed from the request.', example: 'row 17' });
  const item = schemas.creation.extend({ reference: reference.max(maxReferenceCharacters).optional() });
  const result = schemas.creation.partial().extend({
    reference: reference.optional(),
    status: z.int().optional().meta({ description: 'Of an entry that failed: the HTTP status it would have had.', example: 409 }),
    code: z.string().optional().meta({ description: 'Of an entry that failed: the error code.', example: 'already-exists' }),
    errorMessage: z.string().optional().meta({ description: 'Of an entry that failed: why.', example: 'An entry of this name exists.' }),
  });
  const name = noun.replace(/(?:^| )([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return {
    name,
    item: item.meta({ typeName: `${name}BatchItem` }),
    answer: z.object({
      batchResults: z.array(result.meta({ typeName: `${name}BatchResult` })).describe('One result for each entry, in order.'),
      failed: z.int().min(0).describe('How many failed.'),
    }),
  };
}
