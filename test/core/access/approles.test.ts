// Approles: what they grant, secret-ids and how they are used up, one refusal for every wrong login, and its limits.
import { readFileSync, readdirSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { defined } from '../../../core/base/defined.ts';
import { loginSweepJob } from '../../../core/access/approles/secret-ids.ts';
import type { Answer, Json } from '../../harness/client.ts';
import { startCoreApp, type CoreApp, type Sent } from '../../harness/core-app.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { things } from '../../harness/things.ts';

const at = temporaryDirectory();
let app: CoreApp;
const list = '/v1/config/keystore/authentication/approles';
const state = '/v1/state/keystore/authentication/approles';

beforeAll(async () => {
  app = await startCoreApp({ directory: at('core'), plugin: things });
});
afterAll(() => app.stop());
// Failures of one test are not those of the next.
beforeEach(() => app.clock.advance(61));

const verdict = ({ status, body }: Answer) => `${status} ${String(body?.code ?? 'done')}`;
const code = async (method: string, path: string, body?: unknown, options?: Sent) => verdict(await app.send(method, path, body, options));

type Credentials = { 'role-id': string; 'secret-id': string };

async function makeApprole(name: string, document: Json = {}, token?: string): Promise<Credentials> {
  const as = defined({ token });
  const made = await app.send('POST', list, { name, 'token-policies': ['root'], ...document }, as);
  if (made.status !== 201) throw new Error(made.text);
  const { body } = await app.send('GET', `${state}/${name}`, undefined, as);
  return { 'role-id': String(body['role-id']), 'secret-id': await makeSecretId(name, {}, token) };
}

async function makeSecretId(name: string, body: Json = {}, token?: string): Promise<string> {
  const answer = await app.send('POST', `${state}/${name}/generate-secret-id`, body, token === undefined ? {} : { token });
  if (answer.status !== 200) throw new Error(answer.text);
  return String(answer.body['secret-id']);
}

const login = (credentials: Json, from = '127.0.0.1') => app.send('POST', '/v1/approle-login', credentials, { token: null, from });

describe('the resource', () => {
  test('has the fields and defaults of api 48; role-id and creation time are the state', async () => {
    const answer = await app.send('POST', list, { name: 'plain' });
    expect(answer.body).toEqual({
      name: 'plain',
      'token-policies': [],
      'token-ttl': '1d',
      'token-max-ttl': '32d',
      'token-bound-cidrs': [],
      'secret-id-num-uses': 0,
      'secret-id-bound-cidrs': [],
    });
    const { body } = await app.send('GET', `${state}/plain`);
    expect(body).toMatchObject({ 'role-id': expect.stringMatching(/^[0-9a-f-]{36}$/), 'secret-ids': 0 });
    expect(await code('PATCH', `${list}/plain`, { 'role-id': 'x' })).toBe('400 read-only-field');
    await app.send('PATCH', `${list}/plain`, { 'secret-id-ttl': '1h' });
    expect((await app.send('GET', `${state}/plain`)).body['role-id']).toBe(body['role-id']);
  });

  test.each([
    [{ 'token-policies': ['nothing'] }, 'invalid-value'],
    [{ 'token-ttl': '2d', 'token-max-ttl': '1d' }, 'invalid-value'],
    [{ 'token-ttl': '0s' }, 'invalid-value'],
    [{ 'secret-id-num-uses': -1 }, 'invalid-value'],
    [{ 'secret-id-bound-cidrs': ['10.1.2.3/8'] }, 'invalid-value'],
    [{ 'fixed-role-id': '' }, 'invalid-value'],
    [{ 'fixed-role-id': 'a b' }, 'invalid-value'],
    [{ 'token-tll': '1d' }, 'unknown-field'],
  ])('%j is refused', async (document, refusal) => {
    expect(await code('POST', list, { name: 'refused', ...document })).toBe(`400 ${refusal}`);
  });

  test('a chosen role-id counts, follows changes, and may be the same in two tenants', async () => {
    const ours = await makeApprole('fixed', { 'fixed-role-id': 'build-server' });
    expect(ours['role-id']).toBe('build-server');
    const other = await app.makeTenant('other-builders');
    const theirs = await makeApprole('fixed', { 'fixed-role-id': 'build-server' }, other);
    const tenantOf = async (credentials: Credentials) =>
      (await app.send('POST', '/v1/state/keystore/token/info', {}, { token: String((await login(credentials)).body.token) })).body.tenant;
    expect([await tenantOf(ours), await tenantOf(theirs)]).toEqual(['system', 'other-builders']);
    await app.send('PUT', `${list}/fixed`, { 'token-policies': ['root'] });
    const own = String((await app.send('GET', `${state}/fixed`)).body['role-id']);
    expect(own).not.toBe('build-server');
    expect(verdict(await login(ours))).toBe('401 login-failed');
    expect(verdict(await login({ ...ours, 'role-id': own }))).toBe('200 done');
    expect(await tenantOf(theirs)).toBe('other-builders');
  });

  test('a role-id names one approle of a tenant: choosing that of another is 409, until it is given up', async () => {
    const first = await makeApprole('first-namesake');
    expect(await code('POST', list, { name: 'second-namesake', 'fixed-role-id': first['role-id'] })).toBe('409 already-exists');
    expect(await code('GET', `${list}/second-namesake`)).toBe('404 not-found');
    expect(await code('PATCH', `${list}/first-namesake`, { 'fixed-role-id': 'namesake' })).toBe('204 done');
    expect(await code('PATCH', `${list}/first-namesake`, { 'token-ttl': '1h' })).toBe('204 done');
    expect(await code('PUT', `${list}/second-namesake`, { 'fixed-role-id': 'namesake' })).toBe('409 already-exists');
    expect(await code('DELETE', `${list}/first-namesake`)).toBe('204 done');
    expect(await code('PUT', `${list}/second-namesake`, { 'fixed-role-id': 'namesake' })).toBe('201 done');
  });

  test('gives out only policies the caller has; what was given before may stay', async () => {
    await app.send('POST', '/v1/config/policy/policies', {
      name: 'approle-admin',
      'rest-api': { rules: [{ path: `${list}/**`, operations: { all: 'allow' } }] },
    });
    const admin = String((await app.send('POST', '/v1/state/keystore/token/create', { policies: ['approle-admin'] })).body.token);
    expect(await code('POST', list, { name: 'grab', 'token-policies': ['root'] }, { token: admin })).toBe('403 policy-denied');
    expect(await code('POST', list, { name: 'grab', 'token-policies': ['user', 'approle-admin'] }, { token: admin })).toBe(
      '403 policy-denied',
    );
    expect(await code('POST', list, { name: 'grab', 'token-policies': ['approle-admin', 'default'] }, { token: admin })).toBe('201 done');
    await app.send('PATCH', `${list}/grab`, { 'token-policies': ['rewrap-only'] });
    expect(await code('PATCH', `${list}/grab`, { 'token-ttl': '1h' }, { token: admin })).toBe('204 done');
    expect(await code('PATCH', `${list}/grab`, { 'token-policies': ['root'] }, { token: admin })).toBe('403 policy-denied');
    const user = String((await app.send('POST', '/v1/state/keystore/token/create', { policies: ['user'] })).body.token);
    expect(await code('POST', `${state}/grab/generate-secret-id`, {}, { token: user })).toBe('403 policy-denied');
  });

  test('belongs to its tenant: for others neither it nor its secret-ids exist', async () => {
    await makeApprole('ours');
    const token = await app.makeTenant('curious');
    for (const [method, path, body] of [
      ['GET', `${list}/ours`, undefined],
      ['GET', `${state}/ours`, undefined],
      ['GET', `${state}/ours/secret-ids`, undefined],
      ['POST', `${state}/ours/generate-secret-id`, {}],
      ['POST', `${state}/ours/disable-secret-id`, { accessor: 'x' }],
      ['DELETE', `${list}/ours`, undefined],
    ] as const) {
      expect(await code(method, path, body, { token })).toBe('404 not-found');
    }
  });
});

describe('a login', () => {
  test('answers a token with the approle’s policies, lives and addresses', async () => {
    const credentials = await makeApprole('worker', {
      'token-policies': ['user'],
      'token-ttl': '1h',
      'token-max-ttl': '2h',
      'token-bound-cidrs': ['127.0.0.0/29'],
    });
    const now = app.clock.now();
    const answer = await login(credentials);
    expect(answer.body).toEqual({
      token: expect.stringMatching(/^[0-9a-f-]{36}$/),
      accessor: expect.stringMatching(/^[0-9a-f-]{36}$/),
      'expires-in': 3_600,
      expires: now.add({ hours: 1 }).toString({ fractionalSecondDigits: 6 }),
      'creation-time': now.toString({ fractionalSecondDigits: 6 }),
      'renewal-time': now.add({ minutes: 40 }).toString({ fractionalSecondDigits: 6 }),
    });
    const token = String(answer.body.token);
    expect((await app.send('POST', '/v1/state/keystore/token/info', {}, { token })).body).toMatchObject({
      user: 'worker',
      approle: 'worker',
      policies: ['user'],
      'latest-expires': now.add({ hours: 2 }).toString({ fractionalSecondDigits: 6 }),
    });
    expect(await code('POST', '/v1/state/poke', {}, { token })).toBe('204 done');
    expect(await code('POST', '/v1/state/poke', {}, { token, from: '127.0.0.8' })).toBe('401 invalid-token');
    const record =
      app
        .auditText()
        .split('\n')
        .findLast((line) => line.includes('/v1/approle-login')) ?? '{}';
    expect(JSON.parse(record)).toMatchObject({
      kind: 'login',
      tenant: 'system',
      user: 'worker',
      accessor: answer.body.accessor,
      status: 200,
    });
  });

  test('leaves neither secret-id nor token nor role-id on the disk or in the log', async () => {
    const credentials = await makeApprole('silent');
    const { body } = await login(credentials);
    await login({ 'role-id': 'a-mistyped-secret', 'secret-id': credentials['role-id'] });
    const files = ['store', 'audit'].flatMap((folder) =>
      readdirSync(at('core', folder)).map((name) => readFileSync(at('core', folder, name), 'latin1')),
    );
    for (const text of [...files, app.log.lines.join('\n')]) {
      for (const secret of [...Object.values(credentials), String(body.token), 'a-mistyped-secret']) expect(text).not.toContain(secret);
    }
  });

  test('every refusal has the same body but for the request id, and the same headers', async () => {
    const right = await makeApprole('oracle');
    const expired = await makeSecretId('oracle', { ttl: '1s' });
    const bound = await makeSecretId('oracle', { 'bound-cidrs': ['10.0.0.0/8'] });
    const used = await makeSecretId('oracle', { 'num-uses': 1 });
    expect(verdict(await login({ ...right, 'secret-id': used }))).toBe('200 done');
    const disabled = await makeApprole('oracle-gone');
    await app.send('DELETE', `${list}/oracle-gone`);
    app.clock.advance(2);
    const unknown = '00000000-0000-4000-8000-000000000000';
    const attempts: Json[] = [
      { ...right, 'role-id': unknown },
      { ...right, 'secret-id': unknown },
      { 'role-id': unknown, 'secret-id': unknown },
      { ...right, 'secret-id': expired },
      { ...right, 'secret-id': bound },
      { ...right, 'secret-id': used },
      { ...right, 'secret-id': right['role-id'] },
      { ...right, 'secret-id': disabled['secret-id'] },
      disabled,
      { ...right, 'role-id': right['role-id'].toUpperCase() },
      { ...right, 'secret-id': `${right['secret-id']} ` },
      { 'role-id': '', 'secret-id': '' },
      { 'role-id': '\0', 'secret-id': '\0' },
    ];
    const seen = new Set<string>();
    for (const attempt of attempts) {
      const { status, headers, body } = await login(attempt);
      const { 'request-id': _, date: __, ...stable } = headers;
      seen.add(JSON.stringify([status, stable, { ...body, 'request-id': 'x' }]));
      app.clock.advance(61);
    }
    expect([...seen]).toHaveLength(1);
    expect(JSON.parse([...seen][0] ?? '[]')).toMatchObject([401, {}, { code: 'login-failed' }]);
  });

  test('a body that is no pair of texts is told so, without a count', async () => {
    expect(verdict(await login({}))).toBe('400 missing-field');
    expect(verdict(await login({ 'role-id': 1, 'secret-id': 2 }))).toBe('400 invalid-value');
    expect(verdict(await login({ 'role-id': 'a', 'secret-id': 'x'.repeat(129) }))).toBe('400 invalid-value');
    expect(verdict(await login({ 'role-id': 'a', 'secret-id': 'b', tenant: 'system' }))).toBe('400 unknown-field');
  });
});

describe('secret-ids', () => {
  test('are used up by logins, exactly as often as they may, also when a hundred come at once', async () => {
    const credentials = await makeApprole('counted', { 'secret-id-num-uses': 7 });
    const answers = await Promise.all(Array.from({ length: 100 }, (_, n) => login(credentials, `127.0.1.${n + 1}`)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(7);
    expect(new Set(answers.filter(({ status }) => status !== 200).map(verdict))).toEqual(new Set(['401 login-failed', '429 rate-limited']));
    expect((await app.send('GET', `${state}/counted/secret-ids`)).body).toEqual([]);
  });

  test('failed logins use nothing up', async () => {
    const { 'role-id': roleId } = await makeApprole('patient');
    const secretId = await makeSecretId('patient', { 'num-uses': 1, 'bound-cidrs': ['127.0.0.1'] });
    expect(verdict(await login({ 'role-id': roleId, 'secret-id': secretId }, '127.0.0.2'))).toBe('401 login-failed');
    expect(verdict(await login({ 'role-id': 'another', 'secret-id': secretId }))).toBe('401 login-failed');
    expect(verdict(await login({ 'role-id': roleId, 'secret-id': secretId }))).toBe('200 done');
    expect(verdict(await login({ 'role-id': roleId, 'secret-id': secretId }))).toBe('401 login-failed');
  });

  test('stay within the approle’s time, uses and addresses', async () => {
    await makeApprole('strict', { 'secret-id-ttl': '1h', 'secret-id-num-uses': 2, 'secret-id-bound-cidrs': ['127.0.0.0/30'] });
    for (const body of [{ ttl: '61m' }, { 'num-uses': 3 }, { 'num-uses': 0 }, { ttl: '0s' }]) {
      expect(await code('POST', `${state}/strict/generate-secret-id`, body)).toBe('400 invalid-value');
    }
    const { body } = await app.send('POST', `${state}/strict/generate-secret-id`, {});
    expect(body).toMatchObject({ 'uses-left': 2, expires: app.clock.now().add({ hours: 1 }).toString({ fractionalSecondDigits: 6 }) });
    const role = String((await app.send('GET', `${state}/strict`)).body['role-id']);
    const wide = { 'role-id': role, 'secret-id': await makeSecretId('strict', { 'bound-cidrs': ['127.0.0.0/8'] }) };
    expect(verdict(await login(wide, '127.0.0.9'))).toBe('401 login-failed');
    expect(verdict(await login(wide, '127.0.0.3'))).toBe('200 done');
    app.clock.advance(3_600);
    expect(verdict(await login(wide, '127.0.0.3'))).toBe('401 login-failed');
  });

  test('a clock that was set back lets none live longer', async () => {
    const credentials = await makeApprole('timely', { 'secret-id-ttl': '1h' });
    app.clock.step(-4_000);
    expect(verdict(await login(credentials))).toBe('401 login-failed');
    app.clock.step(4_000);
    expect(verdict(await login(credentials))).toBe('200 done');
  });

  test('are listed by accessor and ended by accessor or value, one without the others', async () => {
    const credentials = await makeApprole('listed');
    const second = (await app.send('POST', `${state}/listed/generate-secret-id`, { 'num-uses': 5 })).body as Record<string, unknown>;
    const { body, text } = await app.send('GET', `${state}/listed/secret-ids`);
    expect(body).toHaveLength(2);
    expect(body).toContainEqual(expect.objectContaining({ accessor: second['accessor'], 'uses-left': 5, 'bound-cidrs': [] }));
    expect(text).not.toContain(String(second['secret-id']));
    const accessors = (body as { accessor: string }[]).map(({ accessor }) => accessor);
    expect((await app.send('GET', `${state}/listed/secret-ids?keys=true`)).body).toEqual(accessors);
    expect((await app.send('GET', `${state}/listed/secret-ids?count=true`)).body).toEqual({ count: 2 });
    expect((await app.send('GET', `${state}/listed/secret-ids?keys=true&after=${accessors[0]}`)).body).toEqual([accessors[1]]);
    expect((await app.send('GET', `${state}/listed`)).body['secret-ids']).toBe(2);
    expect(await code('POST', `${state}/listed/disable-secret-id`, { accessor: second['accessor'] })).toBe('204 done');
    expect(await code('POST', `${state}/listed/disable-secret-id`, { accessor: second['accessor'] })).toBe('404 not-found');
    expect(verdict(await login({ ...credentials, 'secret-id': second['secret-id'] }))).toBe('401 login-failed');
    expect(verdict(await login(credentials))).toBe('200 done');
    await makeApprole('listed-2');
    expect(await code('POST', `${state}/listed-2/disable-secret-id`, { 'secret-id': credentials['secret-id'] })).toBe('404 not-found');
    expect(await code('POST', `${state}/listed/disable-secret-id`, {})).toBe('400 invalid-value');
    expect(await code('POST', `${state}/listed/disable-secret-id`, { 'secret-id': credentials['secret-id'] })).toBe('204 done');
    expect(verdict(await login(credentials))).toBe('401 login-failed');
  });

  test('and tokens end with their approle, also when another of the name is made', async () => {
    const credentials = await makeApprole('fleeting');
    const token = String((await login(credentials)).body.token);
    const child = String((await app.send('POST', '/v1/state/keystore/token/create', {}, { token })).body.token);
    expect(await code('POST', '/v1/state/poke', {}, { token: child })).toBe('204 done');
    expect(await code('DELETE', `${list}/fleeting`)).toBe('204 done');
    const again = await makeApprole('fleeting', { 'fixed-role-id': credentials['role-id'] });
    for (const gone of [token, child]) expect(await code('POST', '/v1/state/poke', {}, { token: gone })).toBe('401 invalid-token');
    expect(verdict(await login(credentials))).toBe('401 login-failed');
    expect(verdict(await login(again))).toBe('200 done');
  });

  test('live on when their approle loses a policy; its tokens end then, and only then', async () => {
    const credentials = await makeApprole('shrinking', { 'token-policies': ['root', 'user'] });
    const token = String((await login(credentials)).body.token);
    await app.send('PATCH', `${list}/shrinking`, { 'token-policies': ['default'], 'token-ttl': '2h' });
    expect(await code('POST', '/v1/state/poke', {}, { token })).toBe('204 done');
    await app.send('PUT', `${list}/shrinking`, { 'token-policies': ['user'] });
    expect(await code('POST', '/v1/state/poke', {}, { token })).toBe('401 invalid-token');
    const next = String((await login(credentials)).body.token);
    expect((await app.send('POST', '/v1/state/keystore/token/info', {}, { token: next })).body.policies).toEqual(['user']);
  });

  test('that expired leave the store, and so do failures that count no more', async () => {
    await makeApprole('swept');
    for (let n = 0; n < 5; n++) await makeSecretId('swept', { ttl: n < 3 ? '10s' : '1d' });
    await login({ 'role-id': 'nobody', 'secret-id': 'x' });
    const failures = app.store.table('login-failures');
    app.store.refresh();
    expect(failures.count([])).toBeGreaterThan(0);
    app.clock.advance(61);
    await loginSweepJob(app.store, app.clock).run(AbortSignal.timeout(10_000));
    app.store.refresh();
    expect((await app.send('GET', `${state}/swept`)).body['secret-ids']).toBe(3);
    expect(failures.count([])).toBe(0);
  });
});

describe('limits (api 73)', () => {
  test('10 failures a minute for one identity: then wrong credentials are refused unseen, from every address, and right ones pass', async () => {
    const credentials = await makeApprole('tried');
    const wrong = { ...credentials, 'secret-id': 'wrong' };
    for (let n = 0; n < 10; n++) expect(verdict(await login(wrong, `127.0.2.${n + 1}`))).toBe('401 login-failed');
    const refused = await login(wrong, '127.0.2.99');
    expect(verdict(refused)).toBe('429 rate-limited');
    expect(refused.headers['retry-after']).toBe('60');
    expect(verdict(await login(credentials, '127.0.2.1'))).toBe('200 done');
    app.clock.advance(59);
    expect((await login(wrong)).headers['retry-after']).toBe('1');
    app.clock.advance(1);
    expect(verdict(await login(wrong))).toBe('401 login-failed');
  });

  test('a right secret-id logs in 600 times at once, ten more a second, and takes nothing of another one', async () => {
    const credentials = await makeApprole('eager');
    const other = { ...credentials, 'secret-id': await makeSecretId('eager') };
    for (let count = 0; count < 600; count++) expect((await login(credentials)).status).toBe(200);
    const refused = await login(credentials, '127.0.3.9');
    expect(verdict(refused)).toBe('429 rate-limited');
    expect(refused.headers['retry-after']).toBe('1');
    expect(refused.body.detail).toContain('600 times a minute');
    expect((await login(other)).status).toBe(200);
    app.clock.advance(1);
    const next: number[] = [];
    for (let count = 0; count < 11; count++) next.push((await login(credentials)).status);
    expect(next.filter((status) => status === 200)).toHaveLength(10);
  });

  test('the same for identities that do not exist: a limit tells nothing', async () => {
    for (let n = 0; n < 10; n++) expect(verdict(await login({ 'role-id': 'nobody-at-all', 'secret-id': 'x' }))).toBe('401 login-failed');
    expect(verdict(await login({ 'role-id': 'nobody-at-all', 'secret-id': 'x' }))).toBe('429 rate-limited');
  });

  test('spelling variants of an identity count together', async () => {
    const credentials = await makeApprole('spelled', { 'fixed-role-id': 'spelled-role' });
    const variants = [
      'SPELLED-ROLE',
      ' spelled-role',
      'spelled-role\t',
      'spelled\u200b-role',
      'ｓpelled-role',
      'Spelled-Role',
      'spelled-role\u0000',
    ];
    const all = [...variants, 'spelled-\u00adrole', '\ufeffspelled-role', 'spelled-role'];
    for (const roleId of all) expect(verdict(await login({ 'role-id': roleId, 'secret-id': 'wrong' }))).toBe('401 login-failed');
    expect(verdict(await login({ ...credentials, 'secret-id': 'wrong' }))).toBe('429 rate-limited');
  });

  test('60 failures a minute from one address are looked at, for any role-id; those of other addresses too', async () => {
    const credentials = await makeApprole('neighbour');
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) => login({ 'role-id': `guess-${n}`, 'secret-id': 'x' }, '127.0.3.1')),
    );
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(60);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(40);
    expect(verdict(await login({ 'role-id': 'one-more', 'secret-id': 'x' }, '127.0.3.1'))).toBe('429 rate-limited');
    expect(verdict(await login({ ...credentials, 'secret-id': 'x' }, '127.0.3.2'))).toBe('401 login-failed');
  });

  test('right credentials pass whatever others behind their address do, in the same moment too, and are used once each', async () => {
    const credentials = await makeApprole('behind-others', { 'secret-id-num-uses': 20 });
    const flood = Array.from({ length: 120 }, (_, n) => login({ 'role-id': `guess-${n}`, 'secret-id': 'x' }, '127.0.3.3'));
    const right = Array.from({ length: 30 }, () => login(credentials, '127.0.3.3'));
    const answers = (await Promise.all(right)).map(verdict);
    expect((await Promise.all(flood)).filter(({ status }) => status === 401).length).toBeLessThanOrEqual(60);
    expect(answers.filter((one) => one === '200 done')).toHaveLength(20);
  });

  test('successes are not counted', async () => {
    const credentials = await makeApprole('busy');
    for (let n = 0; n < 70; n++) expect(verdict(await login(credentials, '127.0.4.1'))).toBe('200 done');
  });

  test('a clock that was set back does not lengthen a wait beyond two minutes', async () => {
    const credentials = await makeApprole('stepped');
    for (let n = 0; n < 10; n++) await login({ ...credentials, 'secret-id': 'wrong' });
    app.clock.step(-3_600);
    expect(verdict(await login(credentials))).toBe('200 done');
    app.clock.step(3_600);
  });
});

test('logging out ends the token of an approle', async () => {
  const token = String((await login(await makeApprole('leaver'))).body.token);
  expect(await code('POST', '/v1/state/keystore/token/disable', { token }, { token })).toBe('204 done');
  expect(await code('POST', '/v1/state/poke', {}, { token })).toBe('401 invalid-token');
});
