// Issuers and roles: what they must say, who may give what, and which tokens a change ends.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { base, startJwtHarness, state, type JwtHarness } from '../harness.ts';
import { jwks, makeSigner, makeToken, platformClaims, type Json } from '../tokens.ts';

const at = temporaryDirectory();
let harness: JwtHarness;
const signer = makeSigner('ES256', 'ec');
const keys = { 'static-keys': jwks(signer) };

beforeAll(async () => {
  harness = await startJwtHarness(at('appliance'));
  await harness.setIssuer('github', { kind: 'github', ...keys });
  await harness.setIssuer('gitlab', { kind: 'gitlab', ...keys });
  await harness.setIssuer('cluster', { kind: 'kubernetes', issuer: 'https://kubernetes.default.svc.cluster.local', ...keys });
  await harness.setIssuer('domain', { kind: 'spiffe', issuer: 'spiffe://example.org', ...keys });
  await harness.setIssuer('google', { kind: 'google', ...keys });
  await harness.setIssuer('entra', { kind: 'entra', issuer: 'https://sts.windows.net/3b1b0c9e-0000-4000-8000-000000000001/', ...keys });
  await harness.setIssuer('generic', { issuer: 'https://id.example', ...keys });
});
afterAll(() => harness.close());

type Bindings = readonly Json[];
const is = (claim: string, value: unknown): Json => ({ claim, value });
const tryRole = async (issuer: string, bindings: Bindings, more: Json = {}) =>
  harness.send('POST', `${base}/${issuer}/roles?validate=true`, { name: 'tried', audience: 'keystore', bindings, ...more });

describe('a role binds what identifies a workload of the platform', () => {
  const refused: readonly (readonly [string, Bindings])[] = [
    ['github', []],
    ['github', [is('aud', 'keystore')]],
    ['github', [is('ref', 'refs/heads/main'), is('ref_type', 'branch')]],
    ['github', [is('environment', 'production')]],
    ['github', [is('job_workflow_ref', 'acme/automation/.github/workflows/deploy.yml@refs/heads/main')]],
    ['github', [is('sub', 'repo:acme/*')]],
    ['github', [is('sub', 'repo:acme/app:*')]],
    ['github', [{ claim: 'repository_id', contains: '456789' }]],
    ['gitlab', [is('ref_protected', 'true'), is('ref', 'main')]],
    ['gitlab', [is('user_login', 'sample-user')]],
    ['cluster', [is('/kubernetes.io/namespace', 'payments')]],
    ['cluster', [is('sub', 'system:serviceaccount:payments:*')]],
    ['domain', [is('sub', 'spiffe://*')]],
    ['domain', [is('sub', 'spiffe://example.org*')]],
    ['google', [is('email', 'app@project.iam.gserviceaccount.com')]],
    ['google', [is('email', 'app@project.iam.gserviceaccount.com'), is('email_verified', 'true')]],
    ['google', [is('/google/compute_engine/instance_id', '1')]],
    ['entra', [is('tid', '3b1b0c9e-0000-4000-8000-000000000001')]],
    ['entra', [is('azp', 'client')]],
    ['generic', [is('aud', 'keystore'), is('/iss', 'https://id.example'), is('jti', 'x')]],
    ['generic', [is('/aud/0', 'keystore')]],
    ['generic', [is('/scope/read', 'all'), is('token_use', 'access'), { claim: '/amr', contains: 'pwd' }]],
    ['generic', [is('email_verified', true), is('/flags/internal', false)]],
  ];
  test.each(refused)('%s refuses %j', async (issuer, bindings) => {
    const { status, body } = await tryRole(issuer, bindings);
    expect([status, body.code]).toEqual([400, 'invalid-value']);
    expect(body.detail).toMatch(/^"bindings/);
  });

  const taken: readonly (readonly [string, Bindings, RegExp | undefined])[] = [
    ['github', [is('repository_id', '1'), is('ref', 'r'), is('ref_type', 'branch'), is('event_name', 'push')], undefined],
    ['github', [is('/repository_id', '1'), is('environment', 'production')], undefined],
    ['github', [is('repository', 'acme/app'), is('environment', 'production')], /freed name of a repository/],
    ['github', [is('repository_id', '1')], /Every branch and pull request/],
    ['github', [is('repository_id', '1'), is('ref', 'r'), is('ref_type', 'branch')], /pull_request_target/],
    ['github', [is('repository_id', '1'), is('ref', 'r'), is('event_name', 'push')], /A tag can have the name of a branch/],
    ['github', [is('sub', 'repo:acme/app:environment:production')], /names of GitHub/],
    ['github', [is('repository_owner_id', '1')], /that of many/],
    ['gitlab', [is('project_id', '20'), is('ref_protected', 'true')], undefined],
    ['gitlab', [is('project_id', '20')], /Every developer/],
    ['gitlab', [is('project_path', 'g/p'), is('ref_protected', 'true')], /freed path of a project/],
    ['cluster', [is('sub', 'system:serviceaccount:a:b')], /made again has the same sub/],
    ['cluster', [is('sub', 'system:serviceaccount:a:b'), is('/kubernetes.io/serviceaccount/uid', 'u')], undefined],
    ['domain', [is('sub', 'spiffe://example.org/ns/payments/sa/app')], undefined],
    ['domain', [is('sub', 'spiffe://example.org/ns/payments/*')], /stands for all that follows/],
    ['google', [is('email', 'a@b.iam.gserviceaccount.com'), is('email_verified', true), is('azp', '1')], /another account/],
    ['google', [is('sub', '1'), is('azp', '1')], undefined],
    ['entra', [is('oid', 'o'), is('azp', 'client')], undefined],
    ['generic', [is('sub', 'w')], undefined],
    ['generic', [{ claim: '/groups', contains: 'deployers' }], undefined],
  ];
  test.each(taken)('%s takes %j, and warns: %s', async (issuer, bindings, warning) => {
    const { status, body } = await tryRole(issuer, bindings);
    expect(status).toBe(201);
    expect(JSON.stringify(body.warnings ?? 'none')).toMatch(warning ?? /^"none"$/);
  });
});

describe('a binding', () => {
  const sub = is('sub', 'w');
  test.each([
    ['* in the middle', is('x', 'a*b')],
    ['* after part of a segment', is('x', 'acme*')],
    ['* alone', is('x', '*')],
    ['* twice', is('x', 'a/*/*')],
    ['* after a scheme alone', is('x', 'https://*')],
    ['* in contains', { claim: 'x', contains: 'a/*' }],
    ['an empty pointer', is('/', 'x')],
    ['a pointer with an empty part', is('/a//b', 'x')],
    ['a pointer with a wrong escape', is('/a~2', 'x')],
    ['neither value nor contains', { claim: 'x' }],
    ['both', { claim: 'x', value: 'a', contains: 'a' }],
    ['a broken number', is('x', 1.5)],
    ['null', is('x', null)],
    ['a list', is('x', ['a'])],
  ])('with %s is refused', async (_, binding) => {
    expect((await tryRole('generic', [sub, binding])).status).toBe(400);
  });

  const claims = (more: Json): Json => ({
    iss: 'https://id.example',
    aud: 'keystore',
    sub: 'w',
    iat: harness.now(),
    exp: harness.now() + 60,
    ...more,
  });
  test.each<readonly [string, Json, Json, boolean]>([
    ['a text', is('x', 'a'), { x: 'a' }, true],
    ['a text in other case', is('x', 'a'), { x: 'A' }, false],
    ['a list with the text', is('x', 'a'), { x: ['a'] }, false],
    ['a number for a text', is('x', '1'), { x: 1 }, false],
    ['a text for a number', is('x', 1), { x: '1' }, false],
    ['a number', is('x', 1), { x: 1 }, true],
    ['a text for true', is('x', true), { x: 'true' }, false],
    ['true', is('x', true), { x: true }, true],
    ['a composed letter for a decomposed one', is('x', '\u00e9'), { x: 'e\u0301' }, false],
    ['what follows *', is('x', 'a/b/*'), { x: 'a/b/c/d' }, true],
    ['nothing that follows *', is('x', 'a/b/*'), { x: 'a/b/' }, false],
    ['another segment than that before *', is('x', 'a/b/*'), { x: 'a/bc/d' }, false],
    ['a list with the entry', { claim: 'x', contains: 'a' }, { x: ['b', 'a'] }, true],
    ['a list with a longer entry', { claim: 'x', contains: 'a' }, { x: ['ab'] }, false],
    ['a text for a list', { claim: 'x', contains: 'a' }, { x: 'a' }, false],
    [
      'a name with slashes',
      is('/https:~1~1sts.amazonaws.com~1/aws_account', '1'),
      { 'https://sts.amazonaws.com/': { aws_account: '1' } },
      true,
    ],
    ['a member that every object has', is('/x/constructor', 'a'), { x: {} }, false],
    ['null', is('x', 'null'), { x: null }, false],
  ])('of %s: %j to %j is %s', async (_, binding, more, holds) => {
    await harness.setRole('generic', 'bound', { bindings: [sub, binding] });
    expect((await harness.login('bound', makeToken(signer, claims(more)))).status).toBe(holds ? 200 : 401);
  });
});

describe('an issuer', () => {
  const tryIssuer = async (fields: Json) => harness.send('POST', `${base}?validate=true`, { name: 'tried', ...fields });
  test.each<readonly [string, Json, string]>([
    ['kubernetes without an issuer', { kind: 'kubernetes', ...keys }, 'missing-field'],
    ['no source of keys', { kind: 'kubernetes', issuer: 'https://k' }, 'invalid-value'],
    ['http', { issuer: 'http://id.example' }, 'invalid-value'],
    ['credentials', { issuer: 'https://id.example', 'jwks-url': 'https://a:b@id.example/jwks' }, 'invalid-value'],
    ['white space', { issuer: 'https://id.example ', ...keys }, 'invalid-value'],
    ['every directory of Entra', { kind: 'entra', issuer: 'https://login.microsoftonline.com/common/v2.0' }, 'invalid-value'],
    ['a path in a trust domain', { kind: 'spiffe', issuer: 'spiffe://example.org/x', ...keys }, 'invalid-value'],
    ['HS256', { issuer: 'https://id.example', algorithms: ['HS256'], ...keys }, 'invalid-value'],
    ['none', { issuer: 'https://id.example', algorithms: ['none'], ...keys }, 'invalid-value'],
    ['a secret key', { issuer: 'https://id.example', 'static-keys': '{"keys":[{"kty":"oct","k":"AAAA"}]}' }, 'invalid-value'],
    [
      'a private key',
      { issuer: 'https://id.example', 'static-keys': '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n' },
      'invalid-value',
    ],
    ['CAs that are none', { issuer: 'https://id.example', 'ca-certs': 'x', ...keys }, 'invalid-value'],
    ['tolerance of an hour', { issuer: 'https://id.example', 'clock-tolerance': '1h', ...keys }, 'invalid-value'],
  ])('with %s is refused', async (_, fields, code) => {
    const { status, body } = await tryIssuer(fields);
    expect([status, body.code]).toEqual([400, code]);
  });

  test('of a known platform needs its kind alone, and says what it took', async () => {
    const { status, body } = await tryIssuer({ kind: 'github' });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      issuer: 'https://token.actions.githubusercontent.com',
      'discovery-url': 'https://token.actions.githubusercontent.com',
      algorithms: ['RS256', 'ES256'],
    });
  });

  test('keeps its kind', async () => {
    expect((await harness.send('PATCH', `${base}/github`, { kind: 'gitlab' })).body.code).toBe('immutable-field');
  });

  test('with many roles is deleted after these', async () => {
    await harness.setIssuer('many', { issuer: 'https://many.example', ...keys });
    for (let index = 0; index < 33; index++) await harness.setRole('many', `r-${index}`, { bindings: [is('sub', 'w')] });
    expect((await harness.send('DELETE', `${base}/many`)).body.code).toBe('in-use');
    expect((await harness.send('DELETE', `${base}/many/roles/r-0`)).status).toBe(204);
    expect((await harness.send('DELETE', `${base}/many`)).status).toBe(204);
    expect((await harness.send('GET', `${base}/many/roles/r-1`)).status).toBe(404);
  });
});

describe('who gives policies', () => {
  let weak: string;
  beforeAll(async () => {
    const rules = [{ path: '/v1/config/keystore/authentication/**', operations: { all: 'allow' } }];
    await harness.send('POST', '/v1/config/policy/policies', { name: 'logins', 'rest-api': { rules } });
    weak = String((await harness.send('POST', '/v1/state/keystore/token/create', { policies: ['logins', 'user'] })).body.token);
  });
  beforeEach(async () => {
    await harness.setIssuer('held', { issuer: 'https://held.example', ...keys });
    await harness.setRole('held', 'strong', {
      bindings: [is('sub', 'w'), is('x', 'a')],
      'token-policies': ['root'],
      use: 'once',
      'token-bound-cidrs': ['10.0.0.0/8'],
    });
  });
  const strong = `${base}/held/roles/strong`;
  const change = async (path: string, fields: Json) => (await harness.send('PATCH', path, fields, weak)).body?.code ?? 'done';

  test('gives only policies of the own token', async () => {
    const role = { audience: 'keystore', bindings: [is('sub', 'w')] };
    const make = async (policies: string[]) =>
      (await harness.send('PUT', `${base}/held/roles/made`, { ...role, 'token-policies': policies }, weak)).body?.code ?? 'done';
    expect([await make(['root']), await make(['user'])]).toEqual(['policy-denied', 'done']);
  });

  test.each<readonly [string, Json]>([
    ['audience', { audience: 'other' }],
    ['audiences', { audiences: 'any' }],
    ['a binding less', { bindings: [is('sub', 'w')] }],
    ['another binding', { bindings: [is('sub', 'w'), is('x', 'b')] }],
    ['max-age', { 'max-age': '2h' }],
    ['use', { use: 'many' }],
    ['access-tokens', { 'access-tokens': true }],
    ['token-ttl', { 'token-ttl': '2h' }],
    ['token-max-ttl', { 'token-max-ttl': '2d' }],
  ])('a change of %s needs the policies of the role', async (_, fields) => {
    expect(await change(strong, fields)).toBe('policy-denied');
  });

  test('so does an address more', async () => {
    const role = (await harness.send('GET', strong)).body as Json;
    const wider = { ...role, 'token-bound-cidrs': [] };
    expect((await harness.send('PUT', strong, wider, weak)).body.code).toBe('policy-denied');
  });

  test.each<readonly [string, Json]>([
    ['a binding more', { bindings: [is('sub', 'w'), is('x', 'a'), is('y', 'c')] }],
    ['a shorter max-age', { 'max-age': '10m' }],
    ['a shorter token-ttl', { 'token-ttl': '10m' }],
  ])('%s does not', async (_, fields) => {
    expect(await change(strong, fields)).toBe('done');
  });

  test.each<readonly [string, Json]>([
    ['issuer', { issuer: 'https://other.example' }],
    ['static-keys', { 'static-keys': jwks(makeSigner('ES256', 'mine')) }],
    ['algorithms', { algorithms: ['RS256', 'ES256', 'ES384'] }],
    ['clock-tolerance', { 'clock-tolerance': '60s' }],
  ])('a change of %s of the issuer needs the policies of its roles', async (_, fields) => {
    expect(await change(`${base}/held`, fields)).toBe('policy-denied');
  });

  test('a token that is bound to addresses makes no role whose tokens are not', async () => {
    const { body } = await harness.send('POST', '/v1/state/keystore/token/create', { 'bound-cidrs': ['127.0.0.0/8'] });
    const make = async (ranges: string[]) =>
      (
        await harness.send(
          'POST',
          `${base}/held/roles?validate=true`,
          { name: 'free', audience: 'keystore', bindings: [is('sub', 'w')], 'token-bound-cidrs': ranges },
          body.token,
        )
      ).status;
    expect([await make([]), await make(['127.1.0.0/16'])]).toEqual([403, 201]);
  });
});

describe('a change ends the tokens of logins', () => {
  const role = `${base}/github/roles/ending`;
  const fields = { audience: 'keystore', bindings: [is('repository_id', '456789')], 'token-policies': ['user', 'root'] };
  const logIn = async () => {
    await harness.setRole('github', 'ending', fields);
    const { body } = await harness.login('ending', makeToken(signer, platformClaims.github(harness.now())));
    const child = await harness.send('POST', '/v1/state/keystore/token/create', {}, body.token);
    return { token: String(body.token), child: String(child.body.token) };
  };
  const works = async (token: string) => (await harness.send('POST', '/v1/state/keystore/token/info', {}, token)).status === 200;

  test.each<readonly [string, string, Json | undefined, boolean]>([
    ['the role is deleted', role, undefined, true],
    ['a policy is taken', role, { ...fields, 'token-policies': ['user'] }, true],
    ['a binding is added', role, { ...fields, bindings: [...fields.bindings, is('ref', 'x')] }, true],
    ['the audience changes', role, { ...fields, audience: 'other' }, true],
    ['addresses are bound', role, { ...fields, 'token-bound-cidrs': ['10.0.0.0/8'] }, true],
    ['the life changes', role, { ...fields, 'token-ttl': '2h' }, false],
    ['the use changes', role, { ...fields, use: 'many' }, false],
    ['the keys change', `${base}/github`, { kind: 'github', 'static-keys': jwks(signer, makeSigner('ES256', 'b')) }, true],
    ['an algorithm is taken', `${base}/github`, { kind: 'github', ...keys, algorithms: ['ES256'] }, true],
    ['the tolerance changes', `${base}/github`, { kind: 'github', ...keys, 'clock-tolerance': '10s' }, false],
  ])('if %s', async (_, path, wanted, ends) => {
    await harness.setIssuer('github', { kind: 'github', ...keys });
    const { token, child } = await logIn();
    expect([await works(token), await works(child)]).toEqual([true, true]);
    const { status } = await harness.send(wanted === undefined ? 'DELETE' : 'PUT', path, wanted);
    expect([200, 204]).toContain(status);
    expect([await works(token), await works(child)]).toEqual([!ends, !ends]);
  });
});

test('explain and the state hide what policies hide', async () => {
  await harness.setRole('github', 'hidden', { bindings: [is('repository_id', '456789')] });
  const rules = [
    { path: '/v1/**', operations: { all: 'allow' } },
    {
      path: '/v1/config/keystore/authentication/jwt/github/roles/hidden',
      operations: { all: 'allow' },
      'hide-fields': ['bindings', 'max-age'],
    },
    {
      path: '/v1/state/keystore/authentication/jwt/github/roles/hidden',
      operations: { all: 'allow' },
      'hide-fields': ['bindings', 'max-age'],
    },
  ];
  await harness.send('POST', '/v1/config/policy/policies', { name: 'half-blind', 'rest-api': { rules } });
  const { body } = await harness.send('POST', '/v1/state/keystore/token/create', { policies: ['half-blind'] });
  const shown = (await harness.send('GET', `${state}/github/roles/hidden`, undefined, body.token)).body as Json;
  expect(shown).not.toHaveProperty('bindings');
  expect(shown).not.toHaveProperty('longest-life');
  expect(shown['notices']).toEqual([]);
  const token = makeToken(signer, platformClaims.github(harness.now()));
  expect((await harness.send('POST', `${state}/github/explain`, { jwt: token }, body.token)).status).toBe(403);
});
