// A token that may do one request and nothing else: where that is refused, policy/check has named the right or the policy that lacks, and with it the request
// is not refused any more.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AnyEndpoint } from '../../core/http/endpoint.ts';
import { judgedSegments } from '../../core/http/judged-path.ts';
import { readRequestPath } from '../../core/http/request/path.ts';
import { startWholeAppliance } from '../appliance/cli/whole-appliance.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { exampleFields, existingPath } from './example-bodies.ts';
import { examples } from './matrix-examples.ts';

const at = temporaryDirectory();
const appliance = await startWholeAppliance(at());
const { routes } = appliance.app;
afterAll(() => appliance.close());

type Right = { readonly path: string; readonly operation: string };
type Need = Right & { readonly field: string; readonly policy?: string; readonly when?: string };

let made = 0;
/** Makes a token that has these rights alone, and these policies. */
async function tokenWith(rights: readonly Right[], more: readonly string[] = []): Promise<string> {
  const name = `needs-${(made += 1)}`;
  const rules = rights.map(({ path, operation }) => ({ path, operations: { [operation]: 'allow' } }));
  const policy = await appliance.request('POST', '/v1/config/policy/policies', { name, 'rest-api': { rules } });
  expect(policy.status, JSON.stringify(policy.body)).toBe(201);
  const { body } = await appliance.request('POST', '/v1/state/keystore/token/create', { policies: [name, ...more] });
  return String(body.token);
}

async function needsAt({ path, operation }: Right, token: string): Promise<{ readonly allowed: boolean; readonly needs: readonly Need[] }> {
  const { body } = await appliance.request('POST', '/v1/state/policy/check', { path, operation }, { token });
  return { allowed: body.allowed, needs: body['also-needs'] ?? [] };
}

/** The rights that a request to an endpoint needs at its own path. */
function ownRights(endpoint: AnyEndpoint, path: string): readonly Right[] {
  const operation = endpoint.access === 'token' ? endpoint.operation : 'read';
  const judged = `/${judgedSegments(endpoint, readRequestPath(path)?.segments ?? []).join('/')}`;
  const own = { path: judged, operation };
  return endpoint.method === 'PUT' ? [own, { path: judged, operation: 'create' }] : [own];
}

const takesBody = ({ method }: AnyEndpoint): boolean => method === 'POST' || method === 'PUT' || method === 'PATCH';
/** Nothing is stored by these, and what is stored by others does no harm. */
const targetOf = (endpoint: AnyEndpoint, path: string): string =>
  Object.hasOwn(endpoint.query ?? {}, 'validate') ? `${path}?validate=true` : path;

describe('every request', () => {
  beforeAll(async () => {
    for (const { list, name, document } of examples) await appliance.request('POST', list, { name, ...document });
  });
  const asked = routes.filter(
    (endpoint) => endpoint.access === 'token' && endpoint.consumes === undefined && !endpoint.path.includes('/cluster/'),
  );

  test.each(asked.map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint] as const))('%s', async (_, endpoint) => {
    const path = existingPath(endpoint);
    const rights = ownRights(endpoint, path);
    const narrow = await tokenWith(rights);
    const { allowed, needs } = await needsAt({ ...rights[0], path } as Right, narrow);
    const { least, each: given } = exampleFields(endpoint);
    // A token that is not known is refused whatever the rights are.
    const each = { ...given, ...('token' in given ? { token: await tokenWith([]) } : {}) };
    const bodies = takesBody(endpoint) ? Object.entries(each).map(([field, value]) => ({ field, body: { ...least, [field]: value } })) : [];
    for (const { field, body } of [{ field: '', body: takesBody(endpoint) ? least : undefined }, ...bodies]) {
      const send = (token: string) => appliance.request(endpoint.method, targetOf(endpoint, path), body, { token });
      const answer = await send(narrow);
      // Objects of KMIP are made by clients with certificates alone, which no right of a token stands for.
      if (answer.status !== 403 || !allowed || answer.body.code === 'kmip-only') continue;
      const context = `${field} ${JSON.stringify(body)}: ${JSON.stringify(answer.body)}, said ${JSON.stringify(needs)}`;
      expect(needs.length, context).toBeGreaterThan(0);
      const further = needs.filter(({ policy }) => policy === undefined).map((need) => ({ ...need, path: need.path.replace('{}', '*') }));
      if ((await send(await tokenWith([...rights, ...further]))).status !== 403) continue;
      const policies = needs.filter(({ policy }) => policy !== undefined).map((need) => need.field.split('/')[0]);
      expect(policies, context).toContain(field);
      expect((await send(appliance.rootToken)).status, context).not.toBe(403);
    }
  });
});

const policies = '/v1/config/policy/policies';
const tenants = '/v1/config/tenants';
const approles = '/v1/config/keystore/authentication/approles';
const services = '/v1/config/keystore/authentication/oidc';
const keys = '/v1/config/keystore/transit-keys';
const cas = '/v1/config/keystore/tls/ca';
const narrowing = [
  { path: '/v1/state/keystore/transit-keys/*/encrypt', operations: { all: 'allow' } },
  { path: '/v1/state/keystore/transit-keys/secret/encrypt', operations: { all: 'reject' } },
];
const service = examples.find(({ list }) => list === services)?.document ?? {};

type Case = {
  readonly title: string;
  /** entries that are there: list, document with the name */
  readonly entries: readonly (readonly [string, object])[];
  readonly method: string;
  readonly path: string;
  readonly query?: string;
  readonly body?: object;
  readonly operation: string;
  readonly need: Partial<Need>;
};

const cases: readonly Case[] = [
  {
    title: 'the deletion of a policy that narrows others',
    entries: [
      [policies, { name: 'narrow', 'rest-api': { rules: narrowing } }],
      [approles, { name: 'narrowed', 'token-policies': ['narrow'] }],
    ],
    ...{ method: 'DELETE', path: `${policies}/narrow`, operation: 'delete' },
    need: { field: 'rest-api', operation: 'update', path: `${policies}/narrow` },
  },
  {
    title: 'a policy under the name of one that was deleted',
    entries: [[approles, { name: 'orphan', 'token-policies': ['default'] }]],
    ...{ method: 'POST', path: policies, body: { name: 'gone' }, operation: 'create' },
    need: { field: 'name', policy: '{}' },
  },
  {
    title: 'the change of a policy that bounds a tenant',
    entries: [
      [policies, { name: 'bounds', 'rest-api': { rules: narrowing } }],
      [tenants, { name: 'bounded', policies: ['bounds'] }],
    ],
    ...{ method: 'PATCH', path: `${policies}/bounds`, body: { description: 'other' }, operation: 'update' },
    need: { field: 'name', policy: 'root' },
  },
  {
    title: 'the deletion of a tenant with bounds of its own',
    entries: [[tenants, { name: 'limited', 'requests-per-minute': 5 }]],
    ...{ method: 'DELETE', path: `${tenants}/limited`, operation: 'delete' },
    need: { field: 'requests-per-minute', policy: 'root' },
  },
  {
    title: 'the change of the bounds of a tenant',
    entries: [[tenants, { name: 'changed' }]],
    ...{ method: 'PATCH', path: `${tenants}/changed`, body: { 'token-seconds-per-minute': 5 }, operation: 'update' },
    need: { field: 'token-seconds-per-minute', policy: 'root' },
  },
  {
    title: 'more uses of an approle',
    entries: [[approles, { name: 'wide', 'token-policies': ['user'], 'secret-id-num-uses': 1 }]],
    ...{ method: 'PATCH', path: `${approles}/wide`, body: { 'secret-id-num-uses': 2 }, operation: 'update' },
    need: { field: 'secret-id-num-uses', policy: 'root' },
  },
  {
    title: 'an approle with a policy',
    entries: [],
    ...{ method: 'POST', path: approles, body: { name: 'given', 'token-policies': ['user'] }, operation: 'create' },
    need: { field: 'token-policies', policy: '{}' },
  },
  {
    title: 'another claim of an OIDC service',
    entries: [
      [services, { name: 'claims', ...service }],
      [`${services}/claims/roles`, { name: 'staff', 'token-policies': ['user'] }],
    ],
    ...{ method: 'PATCH', path: `${services}/claims`, body: { 'role-select': { 'role-claim': 'other' } }, operation: 'update' },
    need: { field: 'role-select/role-claim', policy: 'root' },
  },
  {
    title: 'the deletion of a role that narrows others',
    entries: [
      [policies, { name: 'wide-role', 'rest-api': { rules: narrowing.slice(0, 1) } }],
      [policies, { name: 'narrow-role', 'rest-api': { rules: narrowing.slice(1) } }],
      [services, { name: 'narrowing', ...service }],
      [`${services}/narrowing/roles`, { name: 'staff', 'token-policies': ['wide-role'] }],
      [`${services}/narrowing/roles`, { name: 'trainee', 'token-policies': ['narrow-role'] }],
    ],
    ...{ method: 'DELETE', path: `${services}/narrowing/roles/trainee`, operation: 'delete' },
    need: { field: 'token-policies', policy: 'root' },
  },
  {
    title: 'the deletion of a CA below another',
    entries: [
      [cas, { name: 'above' }],
      [cas, { name: 'below', 'issuing-ca': 'above' }],
    ],
    ...{ method: 'DELETE', path: `${cas}/below`, operation: 'delete' },
    need: { field: 'issuing-ca', operation: 'execute', path: '/v1/state/keystore/tls/ca/{}/revoke' },
  },
  ...(
    [
      [keys, { name: 'tried' }, 'deletion-allowed'],
      [cas, { name: 'tried' }, 'issuing-ca'],
      [tenants, { name: 'tried' }, 'kind'],
    ] as const
  ).map(([list, document, field]) => ({
    title: `the dry run of a deletion in ${list}`,
    entries: [[list, document] as const],
    ...{ method: 'DELETE', path: `${list}/tried`, query: '?validate=true', operation: 'delete' },
    need: {
      ...{ field: 'validate', operation: 'read', path: `${list.replace('/config/', '/state/')}/tried` },
      when: expect.stringContaining(field) as string,
    },
  })),
  {
    title: 'a field that others judge',
    entries: [[keys, { name: 'judged' }]],
    ...{ method: 'PATCH', path: `${keys}/judged`, body: { 'min-encryption-version': 0 }, operation: 'update' },
    need: { field: 'min-encryption-version', operation: 'read', path: '/v1/state/keystore/transit-keys/judged' },
  },
  {
    title: 'a restore',
    entries: [[keys, { name: 'restored' }]],
    ...{ method: 'POST', path: '/v1/state/keystore/transit-keys/restored/restore', body: { key: 'aGVsbG8=' }, operation: 'execute' },
    need: { field: 'key', operation: 'update', path: `${keys}/restored` },
  },
];

describe('policy/check names what is lacking for', () => {
  test.each(cases.map((one) => [one.title, one] as const))(
    '%s',
    async (_, { entries, method, path, query = '', body, operation, need }) => {
      for (const [list, document] of entries) {
        const { status, body: said } = await appliance.request('POST', list, document);
        expect(status, JSON.stringify(said)).toBe(201);
      }
      if (need.policy === '{}' && path === policies) await nameWithoutPolicy('gone');
      const send = (token: string) => appliance.request(method, `${path}${query}`, body, { token });
      const own = { path, operation };
      const narrow = await tokenWith([own]);
      expect((await send(narrow)).status).toBe(403);
      const { allowed, needs } = await needsAt(own, narrow);
      expect(allowed).toBe(true);
      expect(needs).toContainEqual(expect.objectContaining(need));
      // All that is named is enough; the policies, for which root stands, alone are where they are meant.
      const further = needs.filter(({ policy }) => policy === undefined).map((one) => ({ ...one, path: one.path.replace('{}', '*') }));
      expect((await send(await tokenWith([own, ...further]))).status === 403).toBe(need.policy !== undefined);
      expect((await send(appliance.rootToken)).status).not.toBe(403);
    },
  );

  /** Gives an approle a policy that is deleted then. */
  async function nameWithoutPolicy(name: string): Promise<void> {
    expect((await appliance.request('POST', policies, { name })).status).toBe(201);
    expect((await appliance.request('PATCH', `${approles}/orphan`, { 'token-policies': [name] })).status).toBe(204);
    expect((await appliance.request('DELETE', `${policies}/${name}`)).status).toBe(204);
  }
});

describe('what a request names is judged', () => {
  const check = async (token: string, path: string, names: object) =>
    (await appliance.request('POST', '/v1/state/policy/check', { path, operation: 'create', names }, { token })).body;

  test('the name of a new entry, which a rule may refuse at its own path', async () => {
    const rules = [
      { path: keys, operations: { create: 'allow' } },
      { path: `${keys}/payroll`, operations: { create: 'reject' } },
      { path: `${keys}/replaced`, operations: { create: 'allow', update: 'reject' } },
    ];
    await appliance.request('POST', policies, { name: 'new-names', 'rest-api': { rules } });
    const { body } = await appliance.request('POST', '/v1/state/keystore/token/create', { policies: ['new-names'] });
    for (const [name, status] of [
      ['payroll', 403],
      ['replaced', 201],
      ['mine', 201],
    ] as const) {
      const said = await check(body.token, keys, { name });
      expect([said.allowed, said.exists]).toEqual([status === 201, true]);
      expect(said).toMatchObject({ rule: status === 403 ? `${keys}/payroll` : keys, policy: 'new-names' });
      expect((await appliance.request('POST', keys, { name }, { token: body.token })).status).toBe(status);
    }
    expect((await check(body.token, keys, { nick: 'x' })).code).toBe('invalid-value');
  });

  test('a policy that would be given', async () => {
    const narrow = await tokenWith([{ path: approles, operation: 'create' }]);
    expect(await check(narrow, approles, { 'token-policies': 'root' })).toMatchObject({ allowed: false, 'decided-by': 'service' });
    expect(await check(narrow, approles, { 'token-policies': 'default' })).toMatchObject({ allowed: true });
  });
});

test('what bounds a tenant is not told to it, unless every tenant knows it', async () => {
  const rules = [
    { path: '/**', operations: { all: 'allow' } },
    { path: '/v1/config/keystore/transit-keys/secret-plan', operations: { read: 'reject' } },
  ];
  await appliance.request('POST', policies, { name: 'internal-bounds', 'rest-api': { rules } });
  await appliance.request('POST', policies, {
    name: 'internal-little',
    'rest-api': { rules: [{ path: '/v1/state/policy/**', operations: { all: 'allow' } }] },
  });
  const rootOf = async (name: string, ...bounds: readonly string[]): Promise<string> => {
    await appliance.request('POST', tenants, { name, policies: bounds });
    return String((await appliance.request('POST', '/v1/state/keystore/token/create-root', { name })).body.token);
  };
  const said = async (token: string, path: string) =>
    (await appliance.request('POST', '/v1/state/policy/check', { path, operation: 'read' }, { token })).body;
  const [one, little, usual] = [
    await rootOf('told-one', 'internal-bounds'),
    await rootOf('told-little', 'internal-little'),
    await rootOf('told-usual', 'app-owner-tenant'),
  ];
  for (const answer of [await said(one, `${keys}/secret-plan`), await said(little, `${keys}/any`)]) {
    expect(answer).toMatchObject({ allowed: false, 'decided-by': 'tenant' });
    expect(answer).not.toHaveProperty('rule');
    expect(answer).not.toHaveProperty('policy');
    expect(answer.why).not.toMatch(/internal|secret-plan|rule "/);
  }
  expect(await said(usual, '/v1/config/tenants/a')).toMatchObject({
    allowed: false,
    policy: 'app-owner-tenant',
    rule: '/v1/config/tenants/**',
  });
});
