// policy/check gives the decision that the request itself gets, for every route and several tokens, and says why.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defined } from '../../../core/base/defined.ts';
import type { AnyEndpoint } from '../../../core/http/endpoint.ts';
import { compilePolicy, decide } from '../../../core/access/policy/engine.ts';
import { startWholeAppliance } from '../../appliance/cli/whole-appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { examples } from '../../api/matrix-examples.ts';
import { judgedSegments } from '../../../core/http/judged-path.ts';

const at = temporaryDirectory();
const appliance = await startWholeAppliance(at());
const { routes } = appliance.app;
afterAll(() => appliance.close());

type Token = { readonly token: string; readonly accessor: string };
const tokens: Record<string, Token> = {};
const checkPath = '/v1/state/policy/check';

const allowAll = { path: '/**', operations: { all: 'allow' } };
const ownPolicies = {
  everything: [allowAll],
  'no-creation': [{ path: '/**', operations: { all: 'allow', create: 'reject' } }],
  'only-creation': [{ path: '/v1/config/**', operations: { create: 'allow' } }],
  reader: [{ path: '/v1/**', operations: { read: 'allow' } }],
};

beforeAll(async () => {
  for (const [name, rules] of Object.entries(ownPolicies))
    await appliance.request('POST', '/v1/config/policy/policies', { name, 'rest-api': { rules } });
  for (const { list, name, document } of examples) await appliance.request('POST', list, { name, ...document });
  const own: Record<string, readonly string[]> = { ...Object.fromEntries(Object.keys(ownPolicies).map((name) => [name, [name]])) };
  const grants = { ...own, none: [], user: ['user'], rootAndUser: ['root', 'user'], readerAndUser: ['reader', 'user'] };
  for (const [name, policies] of Object.entries(grants)) tokens[name] = await make(appliance.rootToken, policies);
  for (const [name, policy] of [
    ['provider', 'root'],
    ['owner', 'app-owner-tenant'],
    ['powerless', 'rewrap-only'],
  ] as const) {
    await appliance.request('POST', '/v1/config/tenants', { name, policies: [policy] });
    const { token, accessor } = (await appliance.request('POST', '/v1/state/keystore/token/create-root', { name })).body;
    tokens[name] = { token, accessor };
  }
});

async function make(parent: string, policies: readonly string[]): Promise<Token> {
  const { body, status } = await appliance.request('POST', '/v1/state/keystore/token/create', { policies }, { token: parent });
  expect(status).toBe(200);
  return { token: body.token, accessor: body.accessor };
}

const check = async (as: string, path: string, operation: string, whom: Record<string, unknown> = {}) =>
  (await appliance.request('POST', checkPath, { path, operation, ...whom }, { token: as })).body;

const takesBody = ({ method }: AnyEndpoint): boolean => method === 'POST' || method === 'PUT' || method === 'PATCH';

/** With names that exist, and with names that do not. */
function pathsOf({ path }: AnyEndpoint): string[] {
  const list = examples.find((example) => path.replace('/v1/state/', '/v1/config/').startsWith(`${example.list}/{`));
  const filled = (name: string): string => path.replace(/\{[^}]+\}/, name).replaceAll(/\{[^}]+\}/g, 'check-none');
  return [...new Set([filled(list?.name ?? 'check-none'), filled('check-none')])];
}

describe('policy/check says what the request is told: 403 or not', () => {
  const withToken = routes.filter((endpoint) => endpoint.access === 'token');
  test.each(withToken.map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint] as const))('%s', async (_, endpoint) => {
    const operation = endpoint.access === 'token' ? endpoint.operation : 'read';
    const differing: unknown[] = [];
    for (const [name, { token, accessor }] of Object.entries(tokens)) {
      for (const path of pathsOf(endpoint)) {
        // A field that nothing knows ends the request after every permission was judged, and before anything is done.
        const body = takesBody(endpoint) ? (endpoint.consumes === undefined ? { 'check-unknown': 1 } : '') : undefined;
        const headers: Record<string, string> = defined({ 'content-type': endpoint.consumes });
        const target = endpoint.method === 'GET' || endpoint.method === 'DELETE' ? `${path}?check-unknown=1` : path;
        const { status } = await appliance.request(endpoint.method, target, body, { token, headers });
        // What makes an entry asks for more than what changes one; below what does not exist, nothing is made.
        const makes = endpoint.method === 'PUT' && path.includes('check-none') && status !== 404;
        const said = await check(token, path, makes ? 'create' : operation);
        if (said.allowed !== (status !== 403)) differing.push([name, path, status, said]);
      }
      if (['provider', 'owner', 'powerless'].includes(name)) continue;
      // The same question about the same token, from a caller that may see it.
      const [path = ''] = pathsOf(endpoint);
      expect(await check(appliance.rootToken, path, operation, { accessor })).toEqual(await check(token, path, operation));
    }
    expect(differing).toEqual([]);
  });

  test('what concerns the whole appliance is reserved for its tenant', () => {
    const open = withToken.filter((endpoint) => endpoint.path.startsWith('/v1/state/system/') && !('reservedFor' in endpoint));
    expect(open.map(({ path }) => path)).toEqual([]);
  });

  test('what needs no token is open to every token', async () => {
    for (const { path, access } of routes) {
      if (access !== 'public' || routes.some((other) => other.path === path && other.access === 'token')) continue;
      const target = path.replaceAll(/\{[^}]+\}/g, 'check-none');
      expect(await check(tokens['none']?.token ?? '', target, 'read')).toMatchObject({ allowed: true, 'decided-by': 'service' });
    }
  });
});

describe('whose decision is asked for', () => {
  const asking = async (as: string, whom: object) => {
    const { status, body } = await appliance.request(
      'POST',
      checkPath,
      { path: '/v1/config/tenants', operation: 'read', ...whom },
      { token: as },
    );
    return status === 200 ? body : `${status} ${body.code}`;
  };

  test('policies that no token has yet', async () => {
    expect(await asking(appliance.rootToken, { policies: ['reader'] })).toMatchObject({ allowed: true, policy: 'reader', rule: '/v1/**' });
    expect(await asking(appliance.rootToken, { policies: ['rewrap-only'] })).toMatchObject({ allowed: false });
    expect(await asking(appliance.rootToken, { policies: [] })).toMatchObject({ allowed: false });
    expect(await asking(appliance.rootToken, { policies: ['no-such'] })).toBe('400 invalid-value');
    expect(await asking(appliance.rootToken, { policies: ['user'], accessor: tokens['user']?.accessor })).toBe('400 invalid-value');
  });

  test('tokens and policies that the caller may not see are refused, whether there are such or not', async () => {
    const user = tokens['user'] as Token;
    expect(await asking(user.token, { policies: ['user'] })).toMatchObject({ allowed: true });
    expect(await asking(user.token, { policies: ['root'] })).toBe('403 policy-denied');
    expect(await asking(user.token, { policies: ['no-such'] })).toBe('403 policy-denied');
    expect(await asking(user.token, { accessor: tokens['reader']?.accessor })).toBe('403 policy-denied');
    expect(await asking(user.token, { accessor: '00000000-0000-4000-8000-000000000000' })).toBe('403 policy-denied');
    expect(await asking(user.token, { accessor: user.accessor })).toMatchObject({ allowed: true });
    expect(await asking(appliance.rootToken, { accessor: '00000000-0000-4000-8000-000000000000' })).toBe('404 not-found');
    expect(await asking(appliance.rootToken, { accessor: tokens['provider']?.accessor })).toBe('404 not-found');
  });
});

test('many questions are answered as each by itself, with what the tenant does not have', async () => {
  const questions = [
    { path: '/v1/config/keystore/transit-keys', operation: 'read' },
    { path: '/v1/state/system/hsm', operation: 'read' },
    { path: '/v1/config/no-such-list', operation: 'read' },
    { path: '/v1/state/system/health', operation: 'read' },
  ];
  const { token } = tokens['provider'] as Token;
  const { body } = await appliance.request('POST', `${checkPath}-many`, { questions }, { token });
  const alone = await Promise.all(questions.map(({ path, operation }) => check(token, path, operation)));
  expect(body.decisions).toEqual(alone.map(({ allowed, exists, rule, why }) => ({ allowed, exists, ...defined({ rule }), why })));
  expect(alone.map(({ allowed, exists }) => [allowed, exists])).toEqual([
    [true, true],
    [true, false],
    [true, false],
    [true, true],
  ]);
});

describe('why', () => {
  const why = async (name: string, path: string, operation: string): Promise<string> =>
    String((await check(tokens[name]?.token ?? '', path, operation)).why);

  test.each([
    ['rootAndUser', '/v1/config/policy/policies', 'create', ['"/**"', '"root"', 'beside it take nothing away']],
    [
      'readerAndUser',
      '/v1/config/policy/policies',
      'read',
      ['"/v1/config/policy/policies/**"', '"user"', 'More exact than', '"/v1/**" of "reader"'],
    ],
    ['none', '/v1/config/tenants', 'read', ['No rule of the token', '"default"']],
    ['owner', '/v1/state/system/health', 'read', ['No token is asked for']],
    ['owner', '/v1/config/tenants', 'read', ["tenant's policy", 'none of its tokens may']],
    ['everything', '/v1/state/keystore/system/seal', 'execute', ['needs the policy "root" in the tenant "system"']],
    ['provider', '/v1/state/keystore/system/seal', 'execute', ['Only the tenant "system" has this path']],
    ['user', '/v1/nowhere', 'read', ['No path of the API is like this']],
    ['user', '/v1/config/keystore/transit-keys', 'execute', ['No request does "execute" on this path']],
    ['no-creation', '/v1/config/keystore/transit-keys/a', 'update', ['also needs "create", which is refused']],
  ])('%s: %s %s', async (name, path, operation, parts) => {
    const reason = await why(name, path, operation);
    for (const part of parts) expect(reason).toContain(part);
  });
});

describe('the examples of the documentation', () => {
  const text = readFileSync(join(import.meta.dirname, '../../../appliance/docs/use/policies.md'), 'utf8');
  const rows = [...text.matchAll(/^\| `(\/\S+)` \| `(\/\S+)` \| `(\/\S+)` \| `(\/\S+)` \|$/gm)].map(([, ...cells]) => cells);

  test('there are some', () => expect(rows.length).toBeGreaterThan(5));

  test.each(rows)('of %s and %s, %s is decided by %s', (one = '', other = '', path = '', decides = '') => {
    for (const effect of ['allow', 'reject'] as const) {
      const rules = [one, other].map((rule) => ({
        path: rule,
        operations: { read: rule === decides ? effect : effect === 'allow' ? ('reject' as const) : ('allow' as const) },
        allowedValues: {},
        hideFields: [],
      }));
      const compiled = compilePolicy({ name: 'example', description: '', restApi: { rules } });
      expect(decide([compiled], path.slice(1).split('/'), 'read')).toMatchObject({ allowed: effect === 'allow', rule: decides });
    }
  });
});

describe('rules that no request can meet are answered with warnings', () => {
  const list = '/v1/config/policy/policies';
  const policyOf = (path: string, operations: object = { all: 'allow' }) => ({ 'rest-api': { rules: [{ path, operations }] } });
  const warningsFor = async (path: string, operations?: object): Promise<readonly string[] | undefined> => {
    const { status, body } = await appliance.request('POST', `${list}?validate=true`, { name: 'warned', ...policyOf(path, operations) });
    expect(status).toBe(201);
    return body.warnings;
  };

  test.each([
    ['/V1/**', undefined, 'upper and lower case'],
    ['/v1/state/Keystore/*', undefined, 'upper and lower case'],
    ['/v1/state/keystore/transit-keys/Orders/sign', undefined, 'upper and lower case'],
    ['/v1/config%2Fkeystore/**', undefined, 'slash inside a name'],
    ['/v1/config/keystore/transit-keys/a%2Fb', undefined, 'slash inside a name'],
    ['/v1/state/keystore/transit-keys/{name}/sign', undefined, '"*" stands for any name'],
    ['/v1/config/keystore/authentication/oidc/{service}/roles/x', undefined, '"*" stands for any name'],
    ['/v1/nowhere', undefined, 'no such path'],
    ['/v1', undefined, 'no such path'],
    ['/v1/state/keystore/transit-keys/*/sign/more', undefined, 'no such path'],
    ['/v1/state/system/health', undefined, 'need no token'],
    ['/v1/config/keystore/transit-keys', { execute: 'allow' }, 'no request there does "execute"'],
    ['/v1/config/**', { execute: 'reject' }, 'no request there does "execute"'],
    ['/v1/**', {}, 'allows and rejects nothing'],
  ])('%s %j', async (path, operations, reason) => {
    expect(await warningsFor(path, operations)).toEqual([expect.stringMatching(/^rest-api\/rules\/0 \(.*\) has no effect: /)]);
    expect(String(await warningsFor(path, operations))).toContain(reason);
  });

  test.each(['/', '/v1/state/system/health/', '/v1/a?b=c', '/v1/a#b', '/v1//a', '/v1/a*', '/v1/../a', '/v1/state/**/'])(
    '%s is no path of a rule',
    async (path) => {
      const answer = await appliance.request('POST', list, { name: 'warned', ...policyOf(path) });
      expect([answer.status, answer.body.code]).toEqual([400, 'invalid-value']);
    },
  );

  const judgedPath = (endpoint: AnyEndpoint): string =>
    `/${judgedSegments(endpoint, endpoint.path.slice(1).split('/')).join('/')}`.replaceAll(/\{[^}]+\}/g, '*');

  test.each([
    [
      '/v1/config/keystore/transit-keys',
      { 'allowed-values': { expotable: [false] } },
      ['does not limit "expotable"', '"exportable" is one'],
    ],
    [
      '/v1/state/keystore/transit-keys/*/sign',
      { 'allowed-values': { keyVersion: [1] } },
      ['does not limit "keyVersion"', '"key-version" is one'],
    ],
    ['/v1/config/keystore/tls/ca/*', { 'allowed-values': { 'est/alowed-domains': ['a'] } }, ['"est/allowed-domains" is one']],
    ['/v1/config/keystore/transit-keys/*', { 'allowed-values': { usage: [1] } }, ['no request that it allows has this field']],
    ['/v1/config/keystore/transit-keys/*', { 'hide-fields': ['usage'] }, ['does not hide "usage"', 'no answer']],
    ['/v1/state/keystore/transit-keys/*', { 'hide-fields': ['expotable', 'cypher'] }, ['"exportable" is one', '"cipher" is one']],
    ['/v1/config/**', { 'hide-fields': ['no-such-thing'] }, ['does not hide "no-such-thing"']],
    ['/v1/**', { 'hide-fields': ['expotable'] }, ['does not hide "expotable"', '"exportable" is one']],
    ['/v1/state/**', { 'hide-fields': ['cypher', 'latestVersion'] }, ['"cipher" is one', '"latest-version" is one']],
    ['/v1/state/*/*', { 'hide-fields': ['client-ipp'] }, ['does not hide "client-ipp"', '"client-ip" is one']],
    ['/v1/state/system/*', { 'hide-fields': ['no-such-thing'] }, ['does not hide "no-such-thing"']],
  ])('%s with %j', async (path, limits, reasons) => {
    const sent = { name: 'warned', 'rest-api': { rules: [{ path, operations: { all: 'allow' }, ...limits }] } };
    const warnings = (await appliance.request('POST', `${list}?validate=true`, sent)).body.warnings as string[];
    expect(warnings).toHaveLength(Object.values(limits).flatMap((one) => Object.keys(one)).length);
    for (const reason of reasons) expect(String(warnings)).toContain(reason);
  });

  test.each([
    ['/v1/state/keystore/token/info', { 'hide-fields': ['policies'] }, 'allow'],
    ['/v1/state/keystore/token/info', { 'hide-fields': ['polices'] }, 'allow'],
    ['/v1/state/keystore/token/refresh', { 'allowed-values': { increment: ['1h'] } }, 'allow'],
    ['/v1/state/policy/check', {}, 'reject'],
    ['/v1/logout', {}, 'reject'],
  ])('%s, where every token may do everything, with %j and %s', async (path, limits, effect) => {
    const rules = [{ path, operations: { execute: effect }, ...limits }];
    const { body } = await appliance.request('POST', list, { name: 'in-vain', 'rest-api': { rules } });
    expect(body.warnings).toEqual([
      `rest-api/rules/0 (${path}) has no effect: the policy "default", which every token has, allows the same without limits.`,
    ]);
    const made = await make(appliance.rootToken, ['in-vain']);
    const info = await appliance.request('POST', '/v1/state/keystore/token/info', {}, { token: made.token });
    expect(info.body.policies).toEqual(['in-vain']);
    expect((await check(made.token, path, 'execute')).allowed).toBe(true);
    await appliance.request('DELETE', `${list}/in-vain`);
  });

  test('a rule for more than such paths counts, and so does one that allows', async () => {
    const rules = [
      { path: '/v1/state/keystore/token/*', operations: { execute: 'reject' } },
      { path: '/v1/state/policy/check', operations: { execute: 'allow' } },
    ];
    expect(
      (await appliance.request('POST', `${list}?validate=true`, { name: 'warned', 'rest-api': { rules } })).body.warnings,
    ).toBeUndefined();
  });

  test('a field of any request or answer that the rule allows is known', async () => {
    const rule = (path: string, limits: object, operations: object = { all: 'allow' }) => ({ path, operations, ...limits });
    const rules = [
      rule('/v1/config/keystore/transit-keys/*', {
        'allowed-values': { exportable: [false], name: ['a'], 'labels/team': ['x'], 'auto-rotate/rotate-after': ['1d'] },
      }),
      rule('/v1/config/keystore/transit-keys', { 'allowed-values': { name: ['a'], 'openpgp-user-id': ['x'] } }),
      rule('/v1/state/keystore/transit-keys/*/export', {
        'allowed-values': { format: ['wrapped'], version: [1] },
        'hide-fields': ['keys'],
      }),
      rule('/v1/state/keystore/transit-keys/*/*', { 'allowed-values': { 'key-version': [1] }, 'hide-fields': ['plaintext'] }),
      rule('/v1/state/keystore/transit-keys', { 'hide-fields': ['usage/1/uses', 'cipher', 'versions'] }, { read: 'allow' }),
      rule('/v1/state/keystore/authentication/oidc/*', { 'hide-fields': ['client-secret-set', 'discovery-url'] }),
      rule('/v1/state/keystore/tls/ca/*', { 'hide-fields': ['est/initial-enroll-secret-set', 'est/https-url'] }),
      rule('/v1/state/topics/*', { 'hide-fields': ['client-ip', 'whatever-a-log-line-has'] }),
      rule('/v1/state/keystore/token/create', { 'allowed-values': { policies: ['user'], ttl: ['1h'] }, 'hide-fields': ['token'] }),
      rule('/v1/**', {
        'allowed-values': { 'role-select/role-claim': ['groups'] },
        'hide-fields': ['not-after', 'user', 'request-parameters', 'message', 'whatever-a-log-line-has'],
      }),
    ];
    const sent = { name: 'warned', 'rest-api': { rules } };
    expect((await appliance.request('POST', `${list}?validate=true`, sent)).body.warnings).toBeUndefined();
  });

  test('every path of the API with its own operation is met, and so is every built-in rule', async () => {
    const rules = routes.flatMap((endpoint) =>
      endpoint.access === 'token' ? [{ path: judgedPath(endpoint), operations: { [endpoint.operation]: 'allow' } }] : [],
    );
    const besides = { path: '/v1/state/keystore/tokens/*', operations: { read: 'allow', delete: 'allow' } };
    const role = { path: '/v1/config/keystore/authentication/oidc/idp/roles/%2FPath%2F%7BGroup%7D', operations: { update: 'allow' } };
    const sent = { name: 'warned', 'rest-api': { rules: [...rules, besides, role, { path: '/**', operations: { all: 'allow' } }] } };
    expect((await appliance.request('POST', `${list}?validate=true`, sent)).body.warnings).toBeUndefined();
    const { body } = await appliance.request('GET', '/v1/state/policy/policies');
    expect(
      body.filter((one: { 'built-in': boolean }) => one['built-in']).flatMap((one: object) => ('warnings' in one ? [one] : [])),
    ).toEqual([]);
  });

  test('of creation, replacement and merge, checked only or done, and in the state', async () => {
    const warnings = [expect.stringContaining('rest-api/rules/0 (/V1/**)')];
    const bad = policyOf('/V1/**');
    const good = policyOf('/v1/**');
    for (const query of ['?validate=true', '']) {
      expect(await appliance.request('POST', `${list}${query}`, { name: 'warned', ...bad })).toMatchObject({
        status: 201,
        body: { ...bad, warnings },
      });
    }
    for (const query of ['?validate=true', '']) {
      for (const [method, change] of [
        ['PUT', bad],
        ['PATCH', { description: 'merged' }],
      ] as const) {
        const answer = await appliance.request(method, `${list}/warned${query}`, change);
        expect(answer).toMatchObject({ status: 200, body: { name: 'warned', ...bad, ...change, warnings } });
      }
    }
    expect((await appliance.request('GET', '/v1/state/policy/policies/warned')).body).toMatchObject({ warnings });
    expect((await appliance.request('GET', `${list}/warned`)).body).not.toHaveProperty('warnings');
    expect((await appliance.request('PUT', `${list}/warned`, { ...good, warnings: [] })).status).toBe(400);
    expect((await appliance.request('PUT', `${list}/warned`, good)).status).toBe(204);
    expect((await appliance.request('PATCH', `${list}/warned`, { description: 'x' })).status).toBe(204);
    expect((await appliance.request('GET', '/v1/state/policy/policies/warned')).body).not.toHaveProperty('warnings');
  });
});

describe('root among the policies of a token is root', () => {
  test('with any other rule beside it', async () => {
    const { token } = tokens['rootAndUser'] as Token;
    for (const [method, path] of [
      ['GET', '/v1/config/policy/policies'],
      ['GET', '/v1/state/keystore/tokens'],
      ['GET', '/v1/config/tenants'],
    ] as const)
      expect((await appliance.request(method, path, undefined, { token })).status).toBe(200);
    const made = await make(token, ['root', 'user']);
    expect((await appliance.request('POST', '/v1/state/keystore/token/create', {}, { token: made.token })).status).toBe(200);
  });

  test('within the bounds of its tenant', async () => {
    const owner = tokens['owner'] as Token;
    const { token } = await make(owner.token, ['root', 'user']);
    expect((await appliance.request('GET', '/v1/config/policy/policies', undefined, { token })).status).toBe(200);
    expect((await appliance.request('GET', '/v1/config/tenants', undefined, { token })).status).toBe(403);
  });
});
