// `POST /v1/state/policy/check`: tells whether a request would be allowed, for the caller's token or another, with the reason.
import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import type { AccessControl } from '../../access/access-control.ts';
import type { Caller } from '../../access/caller.ts';
import { unknownPolicies } from '../../access/policy/granting.ts';
import { isWorking, tokenTable } from '../../access/tokens/record.ts';
import { defined } from '../../base/defined.ts';
import { fail } from '../../base/errors.ts';
import { nameField } from '../../wire/fields.ts';
import { defineEndpoint, type AnyEndpoint, type EndpointCall } from '../../http/endpoint.ts';
import { naming } from '../../http/named-entries.ts';
import { judgedSegments } from '../../http/judged-path.ts';
import { readRequestPath } from '../../http/request/path.ts';
import type { RouteTable } from '../../http/route-table.ts';
import type { Route } from '../../http/routes.ts';
import type { Store } from '../../store/store.ts';
import { statableFields } from './further-needs.ts';
import { judge } from './judge.ts';
import type { Reach } from './reach.ts';
import type { Policies } from '../../access/policy/policies.ts';
import { operations } from '../../access/policy/patterns.ts';
import { tags } from '../../http/tags.ts';

export type PolicyCheckOptions = {
  readonly access: AccessControl;
  readonly policies: Policies;
  readonly store: Store;
  /** called by requests, when all endpoints are known */
  readonly routes: () => RouteTable<Route>;
  readonly reach: () => Reach;
};

/** More than any request has fields that name entries. */
const mostNames = 64;
/** More than any path has. */
const mostSegments = 64;

const question = z.object({
  path: z.string().max(8_192).meta({ description: 'The path of a request.', example: '/v1/config/keystore/transit-keys/my-key' }),
  operation: z.enum(operations).meta({ typeName: 'PolicyCheckRequestOperation' }).describe('What would be done there.'),
  names: z
    .record(z.string().max(256), z.string().max(256))
    .refine((names) => Object.keys(names).length <= mostNames, { error: `must have at most ${mostNames} fields` })
    .optional()
    .meta({
      description:
        'What fields of the request name, so that this is judged too: field to name. Of a creation also the name of the new entry.',
      example: { 'issuing-ca': 'root-ca' },
    }),
});
const input = question.extend({
  accessor: naming(z.string().max(128), {
    resource: 'keystore/tokens',
    needs: [],
    because: 'The own token needs nothing more; another one needs "read" of /v1/state/keystore/tokens/<accessor>.',
  })
    .optional()
    .meta({ description: 'Accessor of the token meant; default: the own one.', example: 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6' }),
  policies: z
    .array(
      naming(nameField(), {
        resource: 'policy/policies',
        needs: [],
        because: 'Those of the own token need nothing more; others need "read" of /v1/state/policy/policies/<name>.',
      }),
    )
    .max(64)
    .meta({ whenEmpty: [] })
    .optional()
    .meta({ description: 'Or the policies of a token that need not exist.', example: ['user'] }),
});
const alsoNeeds = z
  .array(
    z
      .object({
        field: z.string().meta({ description: 'The field.', example: 'issuing-ca' }),
        operation: z.enum(operations).meta({ typeName: 'PolicyCheckRequestOperation' }).describe('What must be allowed.'),
        path: z.string().meta({
          description: 'And where: `{}` stands for the name in the field.',
          example: '/v1/state/keystore/tls/ca/{}/certify-ca',
        }),
        policy: z
          .string()
          .optional()
          .meta({ description: 'The policy that the token must have for that; `{}` as in the path.', example: 'root' }),
        when: z.string().optional().meta({
          description: 'Where the field asks for it; absent: wherever it is given or changed.',
          example: 'it is not the own token',
        }),
      })
      .meta({ typeName: 'NeededRight' }),
  )
  .optional()
  .describe(
    'What the request needs besides, where a field of it (`validate`: of its query), or of the entry in its path, names another entry or has a value that needs more.',
  );
const output = z.object({
  allowed: z.boolean().describe('`true` if the request would not be refused with 403.'),
  exists: z
    .boolean()
    .describe('`true` if the tenant has such a path; where it has not, a request is answered 404 whatever the policies say.'),
  rule: z.string().optional().meta({ description: 'Path of the rule that decided.', example: '/v1/config/**' }),
  policy: z.string().optional().meta({ description: 'Policy that has the rule; absent: no rule decided.', example: 'user' }),
  decidedBy: z
    .enum(['tenant', 'token', 'service'])
    .describe('Whose policies decided, since both must allow; `service`: what it asks of every caller there.'),
  restricted: z.boolean().describe('`true` if rules limit values of fields or hide fields there.'),
  why: z.string().meta({ description: 'The decision in words.', example: 'The rule "/v1/config/**" of "user" allows "read".' }),
  alsoNeeds,
});
const manyInput = z.object({
  questions: z
    .array(question.meta({ typeName: 'PolicyQuestionInput' }))
    .min(1)
    .max(200)
    .describe('The requests in question.'),
});
const manyOutput = z.object({
  decisions: z
    .array(output.pick({ allowed: true, exists: true, rule: true, why: true }))
    .describe('What is said of each, in the same order.'),
});
type Input = z.output<typeof input>;
type Answer = z.output<typeof output>;

/** Endpoints that return the decision on requests by the policies of tenant and token and by further requirements of their endpoints. */
export function policyCheckEndpoints(options: PolicyCheckOptions): AnyEndpoint[] {
  return [checkEndpoint(options), checkManyEndpoint(options)];
}

function checkEndpoint(options: PolicyCheckOptions): AnyEndpoint {
  return defineEndpoint<Input, Answer>({
    method: 'POST',
    idempotent: true,
    path: '/v1/state/policy/check',
    act: 'none',
    summary: 'Ask what the policies say, without doing it',
    description:
      'The same decision as for a request, with the reason, for the own token, for another (`accessor`) or for `policies`. Another token ' +
      'needs a rule that allows `read` of `/v1/state/keystore/tokens/<accessor>`; policies that are not those of the own token need one ' +
      'for `read` of `/v1/state/policy/policies/<name>`. What depends on the content of a request stays open: values that `restricted` ' +
      'speaks of, and what fields need besides (`also-needs`), unless `names` says what they name.',
    tag: tags.policies,
    access: 'token',
    operation: 'execute',
    audit: 'reads-go-on',
    fieldRights: [
      { field: 'accessor', operation: 'read', path: '/v1/state/keystore/tokens/{}', when: 'it is not the own token' },
      { field: 'policies', operation: 'read', path: '/v1/state/policy/policies/{}', when: 'the own token does not have it' },
    ],
    input,
    output,
    commandLine: { positional: ['path', 'operation'], verdict: ['allowed', 'exists'] },
    auditFields: ['path', 'operation', 'accessor', 'policies', 'names'],
    errors: ['not-found'],
    run: (call, { path, operation, names, ...whom }) => answer(options, subjectOf(options, call, whom), { path, operation, names }, 'path'),
  });
}

/** Endpoint for programs that show a person the allowed actions: one request, and one record of it, for a whole view. */
function checkManyEndpoint(options: PolicyCheckOptions): AnyEndpoint {
  return defineEndpoint<z.output<typeof manyInput>, z.output<typeof manyOutput>>({
    method: 'POST',
    idempotent: true,
    path: '/v1/state/policy/check-many',
    act: 'none',
    summary: 'Ask what the policies say about up to 200 requests',
    description: 'As `check`, for the own token, and allowed by the same rules.',
    tag: tags.policies,
    access: 'token',
    operation: 'execute',
    judgedAs: { action: 'check' },
    audit: 'reads-go-on',
    input: manyInput,
    output: manyOutput,
    run: async (call, { questions }) => {
      const decisions: z.output<typeof manyOutput>['decisions'] = [];
      for (const [index, one] of questions.entries()) {
        const { allowed, exists, rule, why } = answer(options, call.caller, one, `questions[${index}].path`);
        decisions.push({ allowed, exists, ...defined({ rule }), why });
        // Policies may be long: other requests have their turn between two questions.
        await setImmediate();
      }
      return { decisions };
    },
  });
}

/** Answers a question. Throws `invalid-value` for an invalid path; `field` names it. */
function answer(
  options: PolicyCheckOptions,
  subject: Caller,
  { path, operation, names = {} }: z.output<typeof question>,
  field: string,
): Answer {
  const read = readRequestPath(path);
  if (read === undefined || read.segments.length > mostSegments)
    throw fail('invalid-value', {
      detail: `"${field}" must be a path such as /v1/config/tenants/a, of at most ${mostSegments} segments.`,
      items: [{ message: 'is not a path', info: field }],
    });
  const routes = [...(options.routes().match(read.segments)?.entry.methods.values() ?? [])];
  const foreign = new Set(routes.flatMap(({ alias }) => (alias === undefined ? [] : [`${alias.of} (${alias.via})`])));
  if (foreign.size > 0) return foreignPath([...foreign]);
  const endpoints = routes.map(({ endpoint }) => endpoint);
  const [first] = endpoints;
  const segments = first === undefined ? read.segments : judgedSegments(first, read.segments);
  const known = statableFields({ endpoints, segments, operation });
  const unknown = Object.keys(names).find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw fail('invalid-value', {
      detail: `"names" may have here: ${known.length === 0 ? 'nothing' : known.join(', ')}.`,
      items: [{ message: 'is not a field that needs another right', info: `names/${unknown}` }],
    });
  const { alsoNeeds, ...judgement } = judge(options.access, subject, { segments, operation, endpoints, names }, options.reach());
  return { ...judgement, ...(alsoNeeds.length === 0 ? {} : { alsoNeeds: [...alsoNeeds] }) };
}

/** Answers for a path of a foreign API, which no rule covers: a request there is judged as one to the endpoint that it stands for. */
function foreignPath(own: readonly string[]): Answer {
  const why = `Policies do not know this path of another API. Ask about the path that it stands for: ${own.join(', ')}.`;
  return { allowed: false, exists: false, decidedBy: 'service', restricted: false, why };
}

/** The caller of the request in question. Throws `policy-denied` for tokens and policies that the real caller may not see. */
function subjectOf({ policies, store }: PolicyCheckOptions, call: EndpointCall, { accessor, policies: names }: Partial<Input>): Caller {
  const { caller } = call;
  if (accessor !== undefined && names !== undefined)
    throw fail('invalid-value', { detail: 'Name the token by "accessor" or what it would have by "policies", not both.' });
  // The decisions of a policy reveal its rules, and those of a token its policies.
  const requireVisible = (path: readonly string[], field: string): void => {
    if (!call.access.shownAt(['v1', 'state', ...path])(field)) throw fail('policy-denied');
  };
  const subject = (user: string, granted: readonly string[]): Caller => {
    const others = granted.filter((name) => !caller.policies.includes(name) && name !== 'default');
    for (const name of others) requireVisible(['policy', 'policies', name], 'rest-api');
    return { ...caller, user, policies: granted };
  };
  if (names !== undefined) {
    const asked = subject(caller.user, names);
    const unknown = names.filter((name) => policies.find(caller.tenantId, name) === undefined);
    if (unknown.length === 0) return asked;
    throw unknownPolicies('policies', unknown, 'policies of the tenant or built-in ones');
  }
  if (accessor === undefined || accessor === caller.accessor) return caller;
  requireVisible(['keystore', 'tokens', accessor], 'policies');
  const record = tokenTable(store).get([caller.tenantId, accessor]);
  if (record === undefined || !isWorking(store, record, call.now)) throw fail('not-found', { detail: 'There is no such token.' });
  return subject(record.user, record.policies);
}
