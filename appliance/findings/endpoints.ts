// /v1/state/system/findings: findings of a start or a job, and the answer to them; for the system tenant.
import { z } from 'zod';
import type { Clock } from '../../core/base/context.ts';
import { defined } from '../../core/base/defined.ts';
import { fail } from '../../core/base/errors.ts';
import { type AnyEndpoint, defineEndpoint, type EndpointCall } from '../../core/http/endpoint.ts';
import { answerList, listOf } from '../../core/http/resource/list-answer.ts';
import { listQuery } from '../../core/http/resource/list-query.ts';
import { tags } from '../../core/http/tags.ts';
import type { Store } from '../../core/store/store.ts';
import { answerFinding, type Finding, findFinding, type FindingName, listFindings, remedyOf } from './findings.ts';

const findingState = z.object({
  name: z.string().meta({ description: 'Name of the finding, and of its part of health.', example: 'store-behind' }),
  message: z.string().meta({ description: 'What was found.', example: 'the store lacks 3 acknowledged changes' }),
  remedy: z
    .string()
    .meta({ description: 'What to do, before the answer.', example: 'put the newer store back, or make these changes again' }),
  found: z.string().meta({ description: 'When; 1970 where its record does not open.', example: '2026-07-01T12:00:00.000000Z' }),
  state: z
    .enum(['unanswered', 'answered'])
    .meta({ typeName: 'FindingState' })
    .describe('`unanswered`: a part of health, which is not `ok`.'),
  answered: z.string().optional().meta({ description: 'When it was answered.', example: '2026-07-01T13:00:00.000000Z' }),
  answeredBy: z.string().optional().meta({ description: 'Who has answered it.', example: 'root' }),
});

const shared = { tag: tags.system, access: 'token', errors: ['not-found'] } as const;
const names = { finding: { description: 'Name of the finding.', example: 'store-behind' } };
const at = '/v1/state/system/findings';

/** Refused with 404 for every tenant but `system`. */
export function findingEndpoints(store: Store, clock: Clock): AnyEndpoint[] {
  const find = ({ params }: EndpointCall): FindingName => {
    const name = params['finding'] ?? '';
    if (findFinding(store, name) === undefined) throw fail('not-found');
    return name as FindingName;
  };
  return [
    defineEndpoint({
      ...shared,
      method: 'GET',
      path: at,
      operation: 'read',
      named: 'Finding',
      nameField: 'name',
      summary: 'What a start or a background job has found, and who has answered it',
      description: 'Of this appliance. What nobody has answered is a part of health.',
      audit: 'reads-go-on',
      output: z.array(findingState),
      reservedFor: 'system-tenant',
      query: listQuery,
      run: (call) => answerList(call, { path: at, nameField: 'name' }, findingState, listOf(listFindings(store)), shownFinding),
    }),
    defineEndpoint<undefined, z.output<typeof findingState>, FindingName>({
      ...shared,
      method: 'GET',
      path: `${at}/{finding}`,
      operation: 'read',
      named: 'Finding',
      nameField: 'name',
      summary: 'One finding',
      description: 'As in the list of all findings.',
      audit: 'reads-go-on',
      documented: { names },
      output: findingState,
      reservedFor: 'system-tenant',
      find,
      run: (_call, _input, name) => shownFinding(name, required(findFinding(store, name))),
    }),
    defineEndpoint<Record<string, never>, z.output<typeof findingState>, FindingName>({
      ...shared,
      method: 'POST',
      path: `${at}/{finding}/answer`,
      act: 'none',
      operation: 'execute',
      named: 'AnswerFinding',
      summary: 'Answer a finding: a person knows of it',
      description: 'From then on it does not count in health. A finding with other numbers counts again.',
      audit: 'required',
      idempotent: true,
      documented: { names },
      input: z.object({}),
      output: findingState,
      reservedFor: 'system-root',
      find,
      run: async ({ caller }, _input, name) => shownFinding(name, required(await answerFinding(store, clock, name, caller.user))),
    }),
  ];
}

/** It may have been withdrawn since it was looked up. */
function required(found: Finding | undefined): Finding {
  if (found === undefined) throw fail('not-found');
  return found;
}

function shownFinding(name: string, { message, foundAt, answered }: Finding): z.output<typeof findingState> {
  const state = answered === undefined ? ('unanswered' as const) : ('answered' as const);
  return {
    name,
    message,
    remedy: remedyOf(name as FindingName),
    found: foundAt,
    state,
    ...defined({ answered: answered?.at, answeredBy: answered?.by }),
  };
}
