// A workload logs in with the token of its platform, and gets what its role gives.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { base, startJwtHarness, state, type JwtHarness } from './harness.ts';
import { jwks, makeSigner, makeToken, platformClaims, type Json } from './tokens.ts';

const at = temporaryDirectory();
let harness: JwtHarness;
const [rsa, ec] = [makeSigner('RS256', 'rsa'), makeSigner('ES256', 'ec')];

beforeAll(async () => {
  harness = await startJwtHarness(at('appliance'));
  const keys = { 'static-keys': jwks(rsa, ec) };
  await harness.setIssuer('github', { kind: 'github', ...keys });
  await harness.setIssuer('gitlab', { kind: 'gitlab', ...keys });
  await harness.setIssuer('cluster', { kind: 'kubernetes', issuer: 'https://kubernetes.default.svc.cluster.local', ...keys });
  await harness.setIssuer('domain', { kind: 'spiffe', issuer: 'spiffe://example.org', ...keys });
  const role = (issuer: string, bindings: Json[], more: Json = {}) =>
    harness.setRole(issuer, issuer, { bindings, 'token-policies': ['user'], ...more });
  await role('github', [
    { claim: 'repository_id', value: '456789' },
    { claim: 'repository_owner_id', value: '123456' },
    { claim: 'ref', value: 'refs/heads/main' },
    { claim: 'ref_type', value: 'branch' },
    { claim: 'event_name', value: 'push' },
  ]);
  await role('gitlab', [
    { claim: 'project_id', value: '20' },
    { claim: 'ref_protected', value: 'true' },
    { claim: 'ref_type', value: 'branch' },
    { claim: 'ref', value: 'main' },
  ]);
  await role('cluster', [
    { claim: 'sub', value: 'system:serviceaccount:payments:app' },
    { claim: '/kubernetes.io/serviceaccount/uid', value: '14ee3fa4-a7e2-420f-9f9a-dbc4507c3798' },
  ]);
  await role('domain', [{ claim: 'sub', value: 'spiffe://example.org/ns/payments/*' }]);
});
afterAll(() => harness.close());

const kinds = ['github', 'gitlab', 'kubernetes', 'spiffe'] as const;
const roleOf = { github: 'github', gitlab: 'gitlab', kubernetes: 'cluster', spiffe: 'domain' } as const;

describe.each(kinds)('a token of %s', (kind) => {
  test.each([
    ['RS256', rsa],
    ['ES256', ec],
  ] as const)('logs in when it is signed with %s, and has the identity of the workload', async (_, signer) => {
    const claims = platformClaims[kind](harness.now());
    const { status, body } = await harness.login(roleOf[kind], makeToken(signer, claims));
    expect([status, body.code]).toEqual([200, undefined]);
    expect(body).toMatchObject({ token: expect.any(String), accessor: expect.any(String), 'expires-in': 3_600 });
    const info = await harness.send('POST', '/v1/state/keystore/token/info', {}, body.token);
    expect(info.body).toMatchObject({
      user: claims['sub'],
      'user-kind': 'workload',
      'user-source': roleOf[kind],
      policies: ['user'],
      identity: { kind: 'workload', source: claims['iss'] ?? 'spiffe://example.org', subject: claims['sub'] },
    });
  });

  test('with another value of any bound claim is refused, in the same words', async () => {
    const claims = platformClaims[kind](harness.now());
    const bound = (await harness.send('GET', `${base}/${roleOf[kind]}/roles/${roleOf[kind]}`)).body.bindings as { claim: string }[];
    for (const { claim } of bound) {
      const other = claim.startsWith('/')
        ? { 'kubernetes.io': { serviceaccount: { uid: 'other' } } }
        : { [claim]: `${String(claims[claim]).replace('example.org', 'example.net')}x` };
      const changed = { ...claims, ...(kind === 'spiffe' ? { sub: 'spiffe://example.org/other/app' } : other) };
      const { status, body } = await harness.login(roleOf[kind], makeToken(ec, changed));
      expect([claim, status, body.code]).toEqual([claim, 401, 'login-failed']);
    }
  });
});

test('the record of a login has the identity, the role and the issuer, and nothing of the token', async () => {
  const token = makeToken(ec, platformClaims.github(harness.now()));
  const { body } = await harness.login('github', token);
  const record = harness.records().find(({ accessor }) => accessor === body.accessor);
  expect(record).toMatchObject({
    kind: 'login',
    tenant: 'system',
    user: 'repo:acme@123456/app@456789:ref:refs/heads/main',
    'user-kind': 'workload',
    'user-source': 'github',
    identity: { kind: 'workload', source: 'https://token.actions.githubusercontent.com' },
    'request-parameters': { issuer: 'github', role: 'github', 'token-policies': ['user'] },
  });
  expect(JSON.stringify(harness.records())).not.toContain(token.split('.')[2]);
});

describe('refusals', () => {
  test('of an unknown tenant, role and issuer, and of a wrong token, are one answer', async () => {
    const token = () => makeToken(ec, platformClaims.github(harness.now()));
    const answers = [
      await harness.login('github', token(), { tenant: 'nobody' }),
      await harness.login('nobody', token()),
      await harness.login('github', token(), { issuer: 'gitlab' }),
      await harness.login('github', makeToken(makeSigner('ES256', 'ec'), platformClaims.github(harness.now()))),
      await harness.login('github', 'x'),
      await harness.login('github', makeToken(ec, { ...platformClaims.github(harness.now()), aud: 'other' })),
    ];
    const shown = answers.map(({ status, body }) => JSON.stringify({ status, ...body, 'request-id': '' }));
    expect(new Set(shown).size).toBe(1);
    expect(answers[0]).toMatchObject({ status: 401, body: { code: 'login-failed' } });
  });

  test('use up the answers of an address, and a right token passes there all the same', async () => {
    const from = '127.9.9.9';
    const statuses: number[] = [];
    for (let sent = 0; sent < 65; sent++) statuses.push((await harness.login('github', 'x.y.z', {}, from)).status);
    expect(statuses.slice(0, 60).every((status) => status === 401)).toBe(true);
    expect(statuses.slice(60).every((status) => status === 429)).toBe(true);
    expect((await harness.login('github', makeToken(ec, platformClaims.github(harness.now())), {}, from)).status).toBe(200);
  });
});

describe('use', () => {
  test('a token of GitHub logs in once, also when it is sent forty times at once', async () => {
    const token = makeToken(ec, platformClaims.github(harness.now()));
    const answers = await Promise.all(Array.from({ length: 40 }, () => harness.login('github', token)));
    expect(answers.filter(({ status }) => status === 200).length).toBe(1);
    expect(answers.filter(({ status }) => status === 401).length).toBe(39);
  });

  test('without jti the text counts, and another signature of it is no other token', async () => {
    const { jti: _, ...claims } = platformClaims.github(harness.now());
    const [first, again] = [makeToken(ec, claims), makeToken(ec, claims)];
    expect(first).not.toBe(again);
    expect((await harness.login('github', first)).status).toBe(200);
    expect((await harness.login('github', again)).status).toBe(401);
  });

  test('a used token in the wrong hands uses up nothing of its workload', async () => {
    const used = makeToken(ec, platformClaims.github(harness.now()));
    expect((await harness.login('github', used)).status).toBe(200);
    const answers = await Promise.all(Array.from({ length: 700 }, () => harness.login('github', used)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
    expect((await harness.login('github', makeToken(ec, platformClaims.github(harness.now())))).status).toBe(200);
  });

  test('explain says of a used token that it has logged in, and of a role that takes it again that it does', async () => {
    await harness.setRole('github', 'again', { bindings: [{ claim: 'repository_id', value: '456789' }], use: 'many' });
    const token = makeToken(ec, platformClaims.github(harness.now()));
    const unused = await harness.explain('github', { jwt: token });
    expect(unused).toMatchObject({ outcome: 'accepted', roles: [{ accepts: true }, { accepts: true }] });
    expect((await harness.login('github', token)).status).toBe(200);
    const used = await harness.explain('github', { jwt: token });
    expect(used).toMatchObject({ outcome: 'accepted', 'nearest-role': 'again', signature: 'right' });
    expect(used['roles']).toMatchObject([
      { name: 'again', accepts: true },
      { name: 'github', accepts: false, check: 'use' },
    ]);
    await harness.send('DELETE', `${base}/github/roles/again`);
    const refused = await harness.explain('github', { jwt: token });
    expect(refused).toMatchObject({ outcome: 'refused', check: 'use', 'nearest-role': 'github' });
    expect(refused['explanation']).toContain('has logged in before');
  });

  test('a token that the platform hands out again logs in again', async () => {
    const token = makeToken(ec, platformClaims.kubernetes(harness.now()));
    for (let times = 0; times < 3; times++) expect((await harness.login('cluster', token)).status).toBe(200);
  });

  test('what was used is forgotten when it is expired anyway, not before', async () => {
    const claims = platformClaims.github(harness.now());
    const token = makeToken(ec, claims);
    expect((await harness.login('github', token)).status).toBe(200);
    const count = () => harness.appliance.store.prefixed('jwt').table('used').count([]);
    harness.clock.advance(320);
    await harness.runJob('jwt: drop what has expired');
    harness.appliance.store.refresh();
    expect(count()).toBeGreaterThan(0);
    expect((await harness.login('github', token)).status).toBe(401);
    harness.clock.advance(4_000);
    await harness.runJob('jwt: drop what has expired');
    harness.appliance.store.refresh();
    expect(count()).toBe(0);
  });
});

test('explain says which check refuses, which binding fails, and which role is nearest', async () => {
  await harness.setRole('github', 'other', { bindings: [{ claim: 'repository_id', value: '1' }] });
  const claims = platformClaims.github(harness.now());
  const right = await harness.explain('github', { jwt: makeToken(ec, claims) });
  expect(right).toMatchObject({ outcome: 'accepted', 'nearest-role': 'github', signature: 'right', algorithm: 'ES256', kid: 'ec' });
  const branch = await harness.explain('github', { jwt: makeToken(ec, { ...claims, ref: 'refs/heads/dev' }) });
  expect(branch).toMatchObject({ outcome: 'refused', check: 'bindings', 'nearest-role': 'github' });
  expect(branch['explanation']).toBe(
    'The nearest role is github. The role binds ref to "refs/heads/main"; the token has "refs/heads/dev".',
  );
  const expired = await harness.explain('github', {
    jwt: makeToken(ec, { ...claims, exp: harness.now() - 100, iat: harness.now() - 200, nbf: harness.now() - 200 }),
  });
  expect(expired).toMatchObject({ outcome: 'refused', check: 'time' });
  const forged = await harness.explain('github', { jwt: makeToken(makeSigner('ES256', 'ec'), claims) });
  expect(forged).toMatchObject({ outcome: 'refused', check: 'signature', signature: 'wrong' });
  expect((await harness.explain('github', { jwt: 'a.b' }))['check']).toBe('form');
});

test('a refusal waits for no write, which would tell that the tenant has the role, and explain waits for it', async () => {
  const { store } = harness.appliance;
  const write = store.write.bind(store);
  const held = Promise.withResolvers<void>();
  store.write = async (change) => {
    await held.promise;
    return write(change);
  };
  const token = makeToken(ec, { ...platformClaims.github(harness.now()), event_name: 'pull_request_target' });
  const { status, body } = await harness.login('github', token).finally(() => {
    store.write = write;
  });
  expect(status).toBe(401);
  const explained = harness.explain('github', { login: body['request-id'] });
  held.resolve();
  expect(await explained).toMatchObject({ login: { role: 'github', check: 'bindings' } });
});

test('explain finds a refused login by its request id', async () => {
  const { body } = await harness.login(
    'github',
    makeToken(ec, { ...platformClaims.github(harness.now()), event_name: 'pull_request_target' }),
  );
  const explained = await harness.explain('github', { login: body['request-id'] });
  expect(explained).toMatchObject({ login: { role: 'github', check: 'bindings', reason: 'not-bound' } });
  expect(explained['explanation']).toContain('event_name');
  const forged = await harness.login('github', makeToken(makeSigner('ES256', 'ec'), platformClaims.github(harness.now())));
  expect((await harness.send('POST', `${state}/github/explain`, { login: forged.body['request-id'] })).status).toBe(404);
});

test('a role of one name at several issuers is found by iss, and by the issuer that the login names', async () => {
  await harness.setIssuer('staging', { kind: 'github', 'static-keys': jwks(ec) });
  for (const issuer of ['github', 'staging']) {
    const bindings = [{ claim: 'repository_id', value: issuer === 'github' ? '1' : '456789' }];
    await harness.setRole(issuer, 'both', { bindings, use: 'many' });
  }
  const token = makeToken(ec, platformClaims.github(harness.now()));
  expect((await harness.login('both', token)).status).toBe(200);
  expect((await harness.login('both', token, { issuer: 'staging' })).status).toBe(200);
  expect((await harness.login('both', token, { issuer: 'github' })).status).toBe(401);
});

describe('issuers with one iss', () => {
  const iss = 'https://kubernetes.default.svc.cluster.local';
  const bindings = [{ claim: 'sub', value: 'system:serviceaccount:payments:app' }];
  const away = { kind: 'kubernetes', issuer: iss, 'jwks-url': 'https://127.0.0.1:9/jwks' };

  test('one that is away keeps nobody of another out, whatever their names, and a token of the one is 503', async () => {
    await harness.setIssuer('a-away', away);
    await harness.setIssuer('z-away', away);
    for (const issuer of ['a-away', 'cluster', 'z-away']) await harness.setRole(issuer, 'shared', { bindings });
    const claims = platformClaims.kubernetes(harness.now());
    expect((await harness.login('shared', makeToken(ec, claims))).status).toBe(200);
    const ofAway = await harness.login('shared', makeToken(makeSigner('ES256', 'theirs'), claims));
    expect([ofAway.status, ofAway.body.code]).toEqual([503, 'issuer-unavailable']);
    // Signed by the issuer that is there: no other could take it.
    expect((await harness.login('shared', makeToken(ec, { ...claims, sub: 'system:serviceaccount:payments:other' }))).status).toBe(401);
    for (const issuer of ['a-away', 'z-away']) await harness.send('DELETE', `${base}/${issuer}`);
  });

  test('are all tried by the key that the token names, also where more than four have the role', async () => {
    const names = Array.from({ length: 6 }, (_, index) => `same-${index}`);
    const signers = names.map((name) => makeSigner('ES256', name));
    for (const [index, name] of names.entries()) {
      await harness.setIssuer(name, { kind: 'kubernetes', issuer: iss, 'static-keys': jwks(signers[index] as never) });
      await harness.setRole(name, 'many', { bindings });
    }
    for (const signer of signers)
      expect((await harness.login('many', makeToken(signer, platformClaims.kubernetes(harness.now())))).status).toBe(200);
  });

  test('do not use up tokens of each other, and know those of one key together', async () => {
    const own = makeSigner('ES256', 'own');
    for (const [name, signer] of [
      ['first', own],
      ['second', ec],
      ['third', own],
    ] as const) {
      await harness.setIssuer(`${name}-once`, { kind: 'kubernetes', issuer: iss, 'static-keys': jwks(signer) });
      await harness.setRole(`${name}-once`, 'once', { bindings, use: 'once' });
    }
    const claims = { ...platformClaims.kubernetes(harness.now()), jti: 'seen-by-both' };
    const token = makeToken(own, claims);
    expect((await harness.login('once', token, { issuer: 'first-once' })).status).toBe(200);
    expect((await harness.login('once', makeToken(ec, claims), { issuer: 'second-once' })).status).toBe(200);
    for (const issuer of ['first-once', 'third-once']) expect((await harness.login('once', token, { issuer })).status).toBe(401);
  });
});
