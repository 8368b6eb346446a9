// Requests for approval: what waits, and what people decide about it.
import { z } from 'zod';
import { acts } from '../../approvals/acts.ts';
import { approve, type Decision, presentState, reject, type Seen, seenBy, withdraw } from '../../approvals/deciding.ts';
import { wordsOf } from '../../approvals/digest.ts';
import { type Approval, approvalTable, briefParameters, endStates, isBrief, type Person } from '../../approvals/records.ts';
import { Rules } from '../../approvals/rules.ts';
import { fail } from '../../base/errors.ts';
import { defined } from '../../base/defined.ts';
import { defineEndpoint, type AnyEndpoint, type EndpointCall } from '../../http/endpoint.ts';
import { answerList } from '../../http/resource/list-answer.ts';
import { listQuery } from '../../http/resource/list-query.ts';
import { tags } from '../../http/tags.ts';
import type { Store } from '../../store/store.ts';
import { shownText } from '../../wire/shown-text.ts';
import { timestampText } from '../../wire/fields.ts';

const base = '/v1/state/approvals';

const personFields = {
  user: z.string().meta({ description: 'Name of the user, which others may have as well.', example: 'alice' }),
  kind: z.string().meta({ description: 'How the person has logged in.', example: 'sign-in' }),
  source: z.string().meta({ description: 'Issuer of the identity.', example: 'https://id.example.com' }),
  subject: z.string().meta({ description: 'Subject of the identity there.', example: '4f9a2c51' }),
};
const person = z.object(personFields).meta({ typeName: 'ApprovalPerson' });

const output = z
  .object({
    id: z.uuid().describe('Names the request.'),
    state: z
      .enum(['open', 'granted', ...endStates])
      .meta({ typeName: 'ApprovalState' })
      .describe('granted: it can be sent once more and then runs.'),
    requester: person.describe('Who asks.'),
    clientIp: z.string().meta({ description: 'Address of the requester.', example: '192.0.2.7' }),
    isOwn: z.boolean().describe('`true` if the caller made it.'),
    mayDecide: z.boolean().describe('`true` if the login of the caller may approve and reject it.'),
    method: z.string().meta({ description: 'Method of the request.', example: 'POST' }),
    path: z.string().meta({ description: 'Path of the request.', example: '/v1/state/system/backup' }),
    acts: z.array(z.enum(acts).meta({ typeName: 'Act' })).describe('What it does.'),
    parameters: z
      .record(z.string(), z.unknown())
      .optional()
      .meta({
        description:
          'What it asks for; of a change the fields with their present and their wanted value. Over 16 KiB only where a single open request is read; in lists, and of one that is over, by size and digest.',
        example: { version: 'latest' },
      }),
    hidden: z
      .boolean()
      .describe(
        '`true` if policies hide parameters: then the login of the caller cannot approve it, and sees of a change that it asked for only that it was asked for.',
      ),
    rules: z
      .array(
        z
          .object({
            name: z.string().meta({ description: 'Name of the rule.', example: 'key-material' }),
            needed: z.int().describe('Approvals that it needs.'),
            have: z.int().describe('Approvals that count at present.'),
            groupsLacking: z.int().optional().describe('Groups of the rule that lack an approval of one of their people; absent for none.'),
            rejectionsNeeded: z.int().optional().describe('Rejections that end the request; absent: one.'),
          })
          .meta({ typeName: 'ApprovalRequirement' }),
      )
      .describe('The rules that ask for it.'),
    approvals: z
      .array(z.object({ ...personFields, time: timestampText().describe('When.') }).meta({ typeName: 'GivenApproval' }))
      .describe('Who has approved, and when.'),
    rejections: z
      .array(
        z
          .object({
            ...personFields,
            time: timestampText().describe('When.'),
            reason: z.string().meta({ description: 'Why.', example: 'The bank is not a partner.' }),
          })
          .meta({ typeName: 'GivenRejection' }),
      )
      .describe('Who has rejected it, when and why.'),
    created: timestampText().describe('When it was made.'),
    until: timestampText().describe('End of the time in which it can be approved, or, when it is granted, sent.'),
    ended: timestampText().optional().describe('When it was used, rejected or withdrawn, or its time was over.'),
    endedBy: person.optional().describe('Who has done that.'),
    rejection: z.string().optional().meta({ description: 'Why it was rejected.', example: 'The bank is not a partner.' }),
    digest: z
      .string()
      .meta({ description: 'Stands for the whole request; sent back with an approval.', example: 'q1W8mZ0bq1cJHc2qv0tWm7sVg3' }),
    digestWords: z
      .string()
      .meta({ description: 'The digest in six words, to be compared by telephone.', example: 'lusab babad gutih tugad mudof sakat' }),
    reason: z.string().meta({
      description: 'In the words of the person who asks, which nobody has checked; may be empty where rules let it.',
      example: 'new partner bank',
    }),
  })
  .meta({ typeName: 'Approval' });

type Output = z.output<typeof output>;

/** Long because it is a list, of which each entry is read by itself. */
export function approvalEndpoints(store: Store): AnyEndpoint[] {
  const rules = new Rules(store);
  const seen = (call: EndpointCall, approval: Approval): Seen | undefined =>
    seenBy(store, call.caller, approval, rules.of(call.caller.tenantId));
  function find(call: EndpointCall): Seen {
    const approval = approvalTable(store).get([call.caller.tenantId, call.params['id'] ?? '']);
    const found = approval && seen(call, approval);
    if (found === undefined)
      throw fail('not-found', { detail: 'There is no request for approval with this id, or none that concerns you.' });
    return found;
  }
  const decide = async (call: EndpointCall, run: (decision: Decision) => Promise<Approval>): Promise<Output> => {
    const { caller, now } = call;
    const decided = await run({ caller, now, id: call.params['id'] ?? '' });
    call.noteAudit({ kind: 'approval', approval: decided.id });
    store.refresh();
    return formatted(call, find(call));
  };
  const names = { id: { description: 'Id of the request for approval.', example: 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6' } };
  const shared = { access: 'token', nameField: 'id', tag: tags.approvals, documented: { names } } as const;
  const deciding = { ...shared, method: 'POST', operation: 'execute', audit: 'required', act: 'none', find, output } as const;
  const decidingErrors = ['approval-refused', 'approval-void'] as const;
  return [
    defineEndpoint({
      ...shared,
      documented: {},
      method: 'GET',
      operation: 'read',
      path: base,
      named: 'Approval',
      summary: 'List the requests for approval that concern the caller',
      description: 'The own ones, and those that the own login may decide.',
      audit: 'reads-go-on',
      query: listQuery,
      output: z.array(output),
      run(call) {
        function* entries(after?: string): Iterable<readonly [string, Seen]> {
          for (const [, approval] of approvalTable(store).entries([call.caller.tenantId], after === undefined ? {} : { after })) {
            const one = seen(call, approval);
            if (one !== undefined) yield [approval.id, one];
          }
        }
        const count = (): number => Iterator.from(entries()).reduce((total) => total + 1, 0);
        return answerList(call, { path: base, nameField: 'id' }, output, { entries, count }, (_id, one) =>
          formatted(call, one, briefParameters),
        );
      },
    }),
    defineEndpoint<undefined, Output, Seen>({
      ...shared,
      method: 'GET',
      operation: 'read',
      path: `${base}/{id}`,
      named: 'Approval',
      summary: 'Read a request for approval',
      description: 'One that does not concern the caller is answered as one that is not there.',
      audit: 'reads-go-on',
      output,
      find,
      run: (call, _input, one) => formatted(call, one),
    }),
    defineEndpoint<{ digest: string }, Output, Seen>({
      ...deciding,
      path: `${base}/{id}/approve`,
      auditFields: ['digest'],
      named: 'ApproveApproval',
      summary: 'Approve a request of another person',
      description:
        'With the digest of the request as it was shown. The login must be of a role that a rule names, and at most 15 minutes old. An approval can be taken back until the request is sent.',
      input: z.object({
        digest: z.string().min(1).max(64).meta({ description: 'Of the request, as it was shown.', example: 'q1W8mZ0bq1cJHc2qv0tWm7sVg3' }),
      }),
      errors: [...decidingErrors],
      run(call, { digest }, one) {
        if (!isShown(call, one.approval))
          throw fail('approval-refused', { detail: 'Policies hide from you what this request does: it needs the right to read its path.' });
        return decide(call, (decision) => approve(store, decision, digest));
      },
    }),
    defineEndpoint<{ reason: string }, Output, Seen>({
      ...deciding,
      path: `${base}/{id}/reject`,
      auditFields: ['reason'],
      named: 'RejectApproval',
      summary: 'Reject a request of another person',
      description:
        'One rejection ends it for good, where each of its rules says no other number; until then it can be taken back by approving or withdrawing. The person who asked may ask again.',
      input: z.object({
        reason: shownText({ minCharacters: 3, maxCharacters: 512 }).meta({ description: 'Why.', example: 'The bank is not a partner.' }),
      }),
      errors: [...decidingErrors],
      run: (call, { reason }) => decide(call, (decision) => reject(store, decision, reason)),
    }),
    defineEndpoint<undefined, Output, Seen>({
      ...deciding,
      path: `${base}/{id}/withdraw`,
      named: 'WithdrawApproval',
      summary: 'Withdraw your own request, or your own decision about another one',
      description: 'Possible until the request is sent.',
      errors: [...decidingErrors],
      run: (call) => decide(call, (decision) => withdraw(store, decision)),
    }),
  ];
}

function formatted(call: EndpointCall, { approval, standing, isOwn, roles }: Seen, brief = inWhole): Output {
  const { id, requester, method, path, acts: what, parameters, votes, from, digest, reason, end } = approval;
  const shown = isShown(call, approval) ? parameters : isOwn ? ownOf(parameters) : undefined;
  return {
    id,
    state: stateOf(call, approval, standing),
    requester: shownPerson(requester),
    clientIp: requester.clientIp,
    isOwn,
    mayDecide: roles.length > 0,
    method,
    path,
    acts: [...what],
    ...(shown === undefined ? {} : { parameters: { ...brief(shown) } }),
    hidden: shown !== parameters,
    rules: standing.requirements.map(({ name, needed, have, groupsLacking, rejections }) => ({
      ...{ name, needed, have },
      ...(groupsLacking === 0 ? {} : { groupsLacking }),
      ...(rejections === 1 ? {} : { rejectionsNeeded: rejections }),
    })),
    approvals: votes.map((vote) => ({ ...shownPerson(vote), time: vote.at })),
    rejections: (approval.rejections ?? []).map((one) => ({ ...shownPerson(one), time: one.at, reason: one.reason })),
    created: from,
    until: standing.until,
    ...defined({ ended: end?.at, endedBy: end?.by && shownPerson(end.by), rejection: end?.reason }),
    digest,
    digestWords: wordsOf(digest),
    reason,
  };
}

/**
 * Of an own request, for a caller who may not read what it is about: what the caller has sent. Leaves out the present and
 * the wanted values of a change; a creation has no present ones.
 */
function ownOf(parameters: Approval['parameters']): Approval['parameters'] {
  if (isBrief(parameters)) return {};
  const found = Object.values(parameters).some((value) => isOfChange(value) && value.present !== null);
  return found ? Object.fromEntries(Object.entries(parameters).filter(([, value]) => !isOfChange(value))) : parameters;
}

function isOfChange(value: unknown): value is { readonly present: unknown } {
  return typeof value === 'object' && value !== null && 'present' in value && 'wanted' in value;
}

function inWhole(parameters: Approval['parameters']): Approval['parameters'] {
  return parameters;
}

function stateOf({ now }: EndpointCall, approval: Approval, standing: Seen['standing']): Output['state'] {
  const state = presentState(approval, standing, now);
  return state === 'open' && standing.grantedAt !== undefined ? 'granted' : state;
}

function shownPerson({ user, identity: { kind, source, subject } }: Person): z.output<typeof person> {
  return { user, kind, source, subject };
}

/** Tells whether policies let the caller read what a request is about, in one of the trees. */
function isShown({ access }: EndpointCall, { path, parameters }: Approval): boolean {
  const [, version = '', , ...rest] = path.split('/').map(decodeURIComponent);
  const fields = Object.keys(parameters);
  return ['config', 'state'].some((tree) => {
    const segments = [version, tree, ...rest];
    return access.allowsAt(segments, 'read') && fields.every(access.shownAt(segments));
  });
}
