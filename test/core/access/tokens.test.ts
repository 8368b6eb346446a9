// Tokens, tenants and the one root token of a tenant.
import { readFileSync, readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defined } from '../../../core/base/defined.ts';
import { createSessions } from '../../../core/platform/sessions/sessions-service.ts';
import { tokenExpiryJob } from '../../../core/access/tokens/expiry.ts';
import { tokenTable } from '../../../core/access/tokens/record.ts';
import { findToken, issueToken } from '../../../core/access/tokens/tokens.ts';
import { revealSecret } from '../../../core/base/secret.ts';
import type { Sessions } from '../../../core/plugin/services/sessions.ts';
import { createSystemTenant } from '../../../core/access/system-tenant.ts';
import { openTenants } from '../../../core/access/tenants.ts';
import { startCoreApp, type CoreApp, type Sent } from '../../harness/core-app.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { things } from '../../harness/things.ts';

const at = temporaryDirectory();
let app: CoreApp;
let sessions: Sessions;

beforeAll(async () => {
  app = await startCoreApp({ directory: at('core'), plugin: things });
  sessions = createSessions(app);
});
afterAll(() => app.stop());

const base = '/v1/state/keystore/token';
const code = async (method: string, path: string, body?: unknown, options?: Sent) => {
  const { status, body: answer } = await app.send(method, path, body, options);
  return `${status} ${String(answer?.code ?? 'done')}`;
};

const ann = {
  user: 'ann@example.org',
  service: 'company',
  identity: { kind: 'sign-in', source: 'https://id.example', subject: '248289761001' },
} as const;

/** A token in the system tenant as a login would make it. */
async function login(
  policies: readonly string[],
  times: { ttlSeconds?: number; maxTtlSeconds?: number } = {},
  tenant = 'system',
): Promise<{ token: string; accessor: string }> {
  const secret = await sessions.drawToken();
  const tenantId = sessions.findTenant(tenant)?.id ?? '';
  const issued = await app.store.write((transaction) =>
    sessions.issue(transaction, secret, { tenantId, ...ann, policies, ttlSeconds: 3_600, ...times }),
  );
  return { token: revealSecret(secret), accessor: issued.accessor };
}

const withRule = (rule: unknown) => code('POST', '/v1/config/policy/policies', { name: 'bad', 'rest-api': { rules: [rule] } });

describe('tokens (api 47)', () => {
  test('have UUID form, version 4, and differ', async () => {
    const drawn = await Promise.all(Array.from({ length: 50 }, () => sessions.drawToken()));
    const texts = new Set(drawn.map(revealSecret));
    expect(texts.size).toBe(50);
    for (const text of texts) expect(text).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  test('are on no disk: not in the store, not in the audit trail, not in the log', async () => {
    const { token } = await login(['root']);
    expect((await app.send('POST', `${base}/info`, { token }, { token })).body).toMatchObject({
      user: 'ann@example.org',
      tenant: 'system',
      'expires-in': 3_600,
    });
    const files = ['store', 'audit'].flatMap((directory) =>
      readdirSync(at('core', directory)).map((file) => readFileSync(at('core', directory, file), 'latin1')),
    );
    expect(files.length).toBeGreaterThan(1);
    for (const text of [...files, app.log.lines.join('\n')]) expect(text).not.toContain(token);
  });

  test('work until the instant of their expiry and not at it', async () => {
    const { token } = await login(['root'], { ttlSeconds: 10 });
    app.clock.advance(9.999);
    expect(await code('POST', `${base}/info`, {}, { token })).toBe('200 done');
    app.clock.advance(0.001);
    expect(await code('POST', `${base}/info`, {}, { token })).toBe('401 invalid-token');
    expect(sessions.find(token)).toBeUndefined();
  });

  test('disable ends the own token at once when it is named; it needs no policy for that', async () => {
    const { token } = await login([]);
    expect(await code('POST', '/v1/state/poke', {}, { token })).toBe('403 policy-denied');
    expect(await code('POST', `${base}/disable`, {}, { token })).toBe('400 missing-field');
    expect(await code('POST', `${base}/disable`, { token }, { token })).toBe('204 done');
    expect(await code('POST', `${base}/disable`, { token }, { token })).toBe('401 invalid-token');
  });

  test('disable ends another token by accessor or value, if the policy covers tokens', async () => {
    const [one, two, three] = [await login(['user']), await login(['user']), await login(['user'])];
    expect(await code('POST', `${base}/disable`, { accessor: two.accessor }, { token: one.token })).toBe('403 policy-denied');
    expect(await code('POST', `${base}/info`, { accessor: two.accessor }, { token: one.token })).toBe('403 policy-denied');
    expect(await code('POST', `${base}/info`, { accessor: one.accessor }, { token: one.token })).toBe('200 done');
    expect(await code('POST', `${base}/disable`, { accessor: two.accessor })).toBe('204 done');
    expect(await code('POST', `${base}/disable`, { token: three.token })).toBe('204 done');
    expect(await code('POST', `${base}/disable`, { accessor: two.accessor })).toBe('404 not-found');
    expect(await code('POST', `${base}/disable`, { accessor: one.accessor, token: one.token })).toBe('400 invalid-value');
    for (const { token } of [two, three]) expect(await code('POST', `${base}/info`, {}, { token })).toBe('401 invalid-token');
    expect(await code('POST', `${base}/info`, {}, { token: one.token })).toBe('200 done');
  });

  test('children and their children end with the parent, and no other tokens', async () => {
    const tenantId = sessions.findTenant('system')?.id ?? '';
    const issue = async (parent?: string) => {
      const token = await sessions.drawToken();
      const { accessor } = await app.store.write((transaction) =>
        issueToken(transaction, app.store, app.clock, token, {
          tenantId,
          user: 'x',
          policies: [],
          ttlSeconds: 60,
          ...(parent === undefined ? { identity: ann.identity } : { parent }),
        }),
      );
      return { token: revealSecret(token), accessor };
    };
    const parent = await issue();
    const child = await issue(parent.accessor);
    const grandchild = await issue(child.accessor);
    const unrelated = await issue();
    await app.send('POST', `${base}/disable`, { accessor: parent.accessor });
    app.store.refresh();
    const alive = [parent, child, grandchild, unrelated].map(({ token }) => findToken(app.store, token, app.clock.now()) !== undefined);
    expect(alive).toEqual([false, false, false, true]);
  });

  test('refresh keeps the value, adds at most the ttl and never passes the longest life (api 49)', async () => {
    const { token } = await login(['default'], { ttlSeconds: 100, maxTtlSeconds: 250 });
    const refresh = async (increment?: string) =>
      (await app.send('POST', `${base}/refresh`, defined({ increment }), { token })).body['expires-in'] as number;
    app.clock.advance(50);
    expect(await refresh('10s')).toBe(10);
    expect(await refresh('60s')).toBe(60);
    expect(await refresh('1y')).toBe(100);
    app.clock.advance(90);
    expect(await refresh()).toBe(100);
    app.clock.advance(90);
    expect(await refresh()).toBe(20);
    app.clock.advance(20);
    expect(await code('POST', `${base}/refresh`, {}, { token })).toBe('401 invalid-token');
  });

  test('expired tokens leave the store, living ones and root tokens stay', async () => {
    const table = tokenTable(app.store);
    const job = tokenExpiryJob(app.store, app.clock);
    const run = () => job.run(AbortSignal.timeout(10_000));
    await run();
    app.store.refresh();
    const before = table.count([]);
    const logins = await Promise.all(
      Array.from({ length: 450 }, (_, index) => login(['default'], { ttlSeconds: index < 420 ? 10 : 1_000 })),
    );
    app.clock.advance(10);
    await run();
    app.store.refresh();
    expect(table.count([])).toBe(before + 30);
    expect(await code('POST', `${base}/info`, {}, { token: logins.at(-1)?.token ?? '' })).toBe('200 done');
    expect(await code('POST', `${base}/info`)).toBe('200 done');
  });

  test('a login that names no longest life cannot be prolonged', async () => {
    const { token } = await login(['default'], { ttlSeconds: 100 });
    app.clock.advance(50);
    expect((await app.send('POST', `${base}/refresh`, {}, { token })).body['expires-in']).toBe(50);
  });

  test('the list shows accessors of the own tenant and never a token', async () => {
    const other = await app.makeTenant('listed');
    const mine = await login(['user']);
    const { body, text } = await app.send('GET', '/v1/state/keystore/tokens');
    expect((body as { accessor: string }[]).map(({ accessor }) => accessor)).toContain(mine.accessor);
    expect(text).not.toContain(mine.token);
    const keys = (await app.send('GET', '/v1/state/keystore/tokens?keys=true')).body as string[];
    expect(keys).toEqual((body as { accessor: string }[]).map(({ accessor }) => accessor));
    expect((await app.send('GET', '/v1/state/keystore/tokens?count=true')).body).toEqual({ count: keys.length });
    const rest = await app.send('GET', `/v1/state/keystore/tokens?limit=1&after=${keys[0]}&fields=accessor`);
    expect(rest.body).toEqual([{ accessor: keys[1] }]);
    const foreign = (await app.send('GET', '/v1/state/keystore/tokens', undefined, { token: other })).body as unknown[];
    expect(foreign).toHaveLength(1);
    expect(await code('GET', '/v1/state/keystore/tokens', undefined, { token: mine.token })).toBe('403 policy-denied');
  });

  test('an accessor or token of another tenant is not found (peers hole 11)', async () => {
    const token = await app.makeTenant('fenced');
    const mine = await login(['user']);
    for (const which of [{ accessor: mine.accessor }, { token: mine.token }]) {
      expect(await code('POST', `${base}/info`, which, { token })).toBe('404 not-found');
      expect(await code('POST', `${base}/disable`, which, { token })).toBe('404 not-found');
    }
    expect(await code('POST', `${base}/info`, {}, { token: mine.token })).toBe('200 done');
  });
});

describe('policies of a token (api 53)', () => {
  test('a changed or deleted policy counts from the next request on', async () => {
    await app.send('POST', '/v1/config/policy/policies', {
      name: 'poker',
      'rest-api': { rules: [{ path: '/v1/state/poke', operations: { execute: 'allow' } }] },
    });
    const { token } = await login(['poker']);
    expect(await code('POST', '/v1/state/poke', {}, { token })).toBe('204 done');
    await app.send('PUT', '/v1/config/policy/policies/poker', {});
    expect(await code('POST', '/v1/state/poke', {}, { token })).toBe('403 policy-denied');
    await app.send('PATCH', '/v1/config/policy/policies/poker', {
      'rest-api': { rules: [{ path: '/v1/**', operations: { all: 'allow' } }] },
    });
    expect(await code('POST', '/v1/state/poke', {}, { token })).toBe('204 done');
    await app.send('DELETE', '/v1/config/policy/policies/poker');
    expect(await code('POST', '/v1/state/poke', {}, { token })).toBe('403 policy-denied');
  });

  test('names are compared as they are: Root is not root (peers hole 7)', async () => {
    for (const name of ['Root', 'ROOT', ' root', 'root ', 'roo\u0074\u0301', '__proto__', '*']) {
      const { token } = await login([name]);
      expect(await code('POST', '/v1/state/poke', {}, { token })).toBe('403 policy-denied');
    }
  });

  test("the tenant's policies bound what its root token may do", async () => {
    const token = await app.makeTenant('bounded', ['rewrap-only']);
    expect(await code('POST', '/v1/state/poke', {}, { token })).toBe('403 policy-denied');
    expect(
      (
        await app.send(
          'POST',
          '/v1/state/policy/check',
          { path: '/v1/state/keystore/transit-keys/k/rewrap', operation: 'execute' },
          { token },
        )
      ).body,
    ).toMatchObject({ allowed: true, rule: '/**', policy: 'root', 'decided-by': 'token', restricted: false });
    await app.send('PATCH', '/v1/config/tenants/bounded', { policies: ['root'] });
    expect(await code('POST', '/v1/state/poke', {}, { token })).toBe('204 done');
  });

  test("a tenant's policy of the name of another tenant's policy is its own", async () => {
    await app.send('POST', '/v1/config/policy/policies', {
      name: 'same',
      'rest-api': { rules: [{ path: '/**', operations: { all: 'allow' } }] },
    });
    await app.makeTenant('namesake');
    const { token } = await login(['same'], {}, 'namesake');
    expect(await code('POST', '/v1/state/poke', {}, { token })).toBe('403 policy-denied');
  });

  test('a check names the rule, its policy, whose policies decided, and whether values or fields are restricted', async () => {
    await app.send('POST', '/v1/config/policy/policies', {
      name: 'explained',
      'rest-api': {
        rules: [
          { path: '/v1/config/things/**', operations: { read: 'allow', delete: 'reject' } },
          { path: '/v1/config/things/*', operations: { update: 'allow' }, 'allowed-values': { color: ['red'] } },
        ],
      },
    });
    const { token } = await login(['explained', 'rewrap-only']);
    const check = async (path: string, operation: string, as = token) =>
      (await app.send('POST', '/v1/state/policy/check', { path, operation }, { token: as })).body;
    const rule = '/v1/config/things/**';
    const by = { 'decided-by': 'token', policy: 'explained', restricted: false };
    expect(await check('/v1/config/things/a', 'read')).toMatchObject({ allowed: true, rule, ...by });
    expect(await check('/v1/config/things/a', 'delete')).toMatchObject({ allowed: false, rule, ...by });
    expect(await check('/v1/config/things/a', 'update')).toMatchObject({
      allowed: true,
      ...by,
      rule: '/v1/config/things/*',
      restricted: true,
    });
    expect(await check('/v1/config/things/a', 'create')).toEqual({
      allowed: false,
      exists: true,
      'decided-by': 'token',
      restricted: false,
      why: expect.stringContaining('speaks of "create"'),
    });
    expect(await check('/v1/config/things/%61/', 'read')).toMatchObject({ allowed: true, rule });
    const bounded = await app.makeTenant('bounded-check', ['rewrap-only']);
    expect(await check('/v1/config/things/a', 'read', bounded)).toMatchObject({
      allowed: false,
      'decided-by': 'tenant',
      restricted: false,
    });
    for (const path of ['v1', '/a/../b', '/a//b', '/%2e%2e', '/a\u0000']) {
      expect(await code('POST', '/v1/state/policy/check', { path, operation: 'read' }, { token })).toBe('400 invalid-value');
    }
  });

  test('a copy of a built-in policy under another name says the same and can be changed', async () => {
    const { body } = await app.send('GET', '/v1/config/policy/policies/user');
    expect(await code('POST', '/v1/config/policy/policies', { ...body, name: 'our-user' })).toBe('201 done');
    const { token } = await login(['our-user']);
    expect(await code('POST', '/v1/state/poke', {}, { token })).toBe('204 done');
    expect(await code('GET', '/v1/state/keystore/tokens', undefined, { token })).toBe('403 policy-denied');
    const rules = [{ path: '/v1/state/keystore/tokens', operations: { read: 'allow' } }];
    expect(await code('PATCH', '/v1/config/policy/policies/our-user', { 'rest-api': { rules } })).toBe('204 done');
    expect(await code('GET', '/v1/state/keystore/tokens', undefined, { token })).toBe('200 done');
  });

  test('built-in policies can be read and not changed', async () => {
    const root = '/v1/config/policy/policies/root';
    expect((await app.send('GET', root)).body['rest-api'].rules).toHaveLength(1);
    expect((await app.send('GET', '/v1/state/policy/policies/root')).body['built-in']).toBe(true);
    for (const method of ['PUT', 'PATCH']) {
      expect(await code(method, root, {})).toBe('409 built-in');
      expect(await code(method, root, { rules: [] })).toBe('400 unknown-field');
      expect(await code(method, root, { description: 7 })).toBe('400 invalid-value');
    }
    expect(await code('DELETE', root)).toBe('409 built-in');
    expect(await code('POST', '/v1/config/policy/policies', { name: 'root' })).toBe('409 already-exists');
    expect((await app.send('GET', '/v1/config/policy/policies?keys=true')).body).toEqual(
      expect.arrayContaining(['app-owner-tenant', 'default', 'rewrap-only', 'root', 'user']),
    );
  });

  test('a policy is refused when a rule could not mean what it says', async () => {
    for (const path of ['v1', '/a*', '/**/a', '/a/../b', '', '/a//b'])
      expect(await withRule({ path, operations: { all: 'allow' } })).toBe('400 invalid-value');
    expect(await withRule({ path: '/a', operations: { all: 'deny' } })).toBe('400 invalid-value');
    expect(await withRule({ path: '/a', operations: { list: 'allow' } })).toBe('400 unknown-field');
    expect(await withRule({ path: '/a' })).toBe('400 missing-field');
  });
});

describe('tenants (api 51)', () => {
  test('uuid and creation time are the state; kind cannot change; policies must exist', async () => {
    await app.send('POST', '/v1/config/tenants', { name: 'acme', 'descriptive-name': 'Acme' });
    const { body } = await app.send('GET', '/v1/state/tenants/acme');
    expect(body).toMatchObject({
      name: 'acme',
      kind: 'application-owner',
      policies: ['app-owner-tenant'],
      uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      'root-token-issued': false,
    });
    expect(openTenants(app.store).findByUuid(String(body.uuid))?.name).toBe('acme');
    expect(await code('PATCH', '/v1/config/tenants/acme', { kind: 'site-provider' })).toBe('409 immutable-field');
    expect(await code('PATCH', '/v1/config/tenants/acme', { uuid: 'x' })).toBe('400 read-only-field');
    expect(await code('PATCH', '/v1/config/tenants/acme', { policies: ['nothing'] })).toBe('400 invalid-value');
    expect(await code('POST', '/v1/config/tenants', { name: 'second-system', kind: 'system' })).toBe('400 invalid-value');
    expect(await code('PUT', '/v1/config/tenants/acme', {})).toBe('204 done');
    expect((await app.send('GET', '/v1/state/tenants/acme')).body.uuid).toBe(body.uuid);
  });

  test('go only when empty, with their tokens; a new one of the name is another', async () => {
    const token = await app.makeTenant('leaving');
    const { uuid } = (await app.send('GET', '/v1/state/tenants/leaving')).body as { uuid: string };
    await app.send('POST', '/v1/config/things', { name: 't' }, { token });
    for (const query of ['', '?validate=true']) expect(await code('DELETE', `/v1/config/tenants/leaving${query}`)).toBe('409 in-use');
    await app.send('DELETE', '/v1/config/things/t', undefined, { token });
    expect(await code('DELETE', '/v1/config/tenants/leaving')).toBe('204 done');
    expect(await code('POST', `${base}/info`, {}, { token })).toBe('401 invalid-token');
    expect(openTenants(app.store).findByUuid(uuid)).toBeUndefined();
    await app.send('POST', '/v1/config/tenants', { name: 'leaving' });
    expect((await app.send('GET', '/v1/state/tenants/leaving')).body.uuid).not.toBe(uuid);
    expect(await code('POST', `${base}/create-root`, { name: 'leaving' })).toBe('200 done');
  });

  test('a policy that a tenant has cannot be deleted by its owner', async () => {
    await app.send('POST', '/v1/config/policy/policies', { name: 'used' });
    await app.send('POST', '/v1/config/tenants', { name: 'user-of-it', policies: ['used'] });
    for (const query of ['', '?validate=true']) expect(await code('DELETE', `/v1/config/policy/policies/used${query}`)).toBe('409 in-use');
    await app.send('DELETE', '/v1/config/tenants/user-of-it');
    expect(await code('DELETE', '/v1/config/policy/policies/used')).toBe('204 done');
  });

  test('the system tenant stays, with the policy root', async () => {
    expect(await code('DELETE', '/v1/config/tenants/system')).toBe('409 built-in');
    expect(await code('PATCH', '/v1/config/tenants/system', { policies: ['user'] })).toBe('409 built-in');
    expect(await code('PATCH', '/v1/config/tenants/system', { 'descriptive-name': 'Ours' })).toBe('204 done');
    expect(await createSystemTenant(app.store, app.hsm, app.clock)).toBeUndefined();
  });
});

describe('the root token of a tenant (api 50)', () => {
  test('is issued once, also when a hundred ask at the same time, and stays issued when it is gone', async () => {
    await app.send('POST', '/v1/config/tenants', { name: 'once' });
    const answers = await Promise.all(Array.from({ length: 100 }, () => app.send('POST', `${base}/create-root`, { name: 'once' })));
    const made = answers.filter(({ status }) => status === 200);
    expect(made).toHaveLength(1);
    expect(answers.filter(({ body }) => body.code === 'root-token-exists')).toHaveLength(99);
    const record = made[0]?.body as { token: string; accessor: string };
    expect(Object.keys(record).sort()).toEqual(['accessor', 'creation-time', 'token']);
    expect((await app.send('GET', '/v1/state/tenants/once')).body['root-token-issued']).toBe(true);
    expect(await code('POST', `${base}/disable`, { accessor: record.accessor }, { token: record.token })).toBe('204 done');
    expect(await code('POST', `${base}/create-root`, { name: 'once' })).toBe('409 root-token-exists');
    expect(await code('POST', `${base}/create-root`, { name: 'system' })).toBe('409 root-token-exists');
    expect(app.auditText()).not.toContain(record.token);
  });

  test('needs the root policy of the parent tenant', async () => {
    await app.send('POST', '/v1/config/tenants', { name: 'asked-for' });
    await app.send('POST', '/v1/config/policy/policies', {
      name: 'everything',
      'rest-api': { rules: [{ path: '/**', operations: { all: 'allow' } }] },
    });
    expect(await code('POST', `${base}/create-root`, { name: 'asked-for' }, { token: (await login(['everything'])).token })).toBe(
      '403 policy-denied',
    );
    expect(await code('POST', `${base}/create-root`, { name: 'asked-for' }, { token: (await login(['user'])).token })).toBe(
      '403 policy-denied',
    );
    const provider = await app.makeTenant('provider', ['root']);
    expect(await code('POST', `${base}/create-root`, { name: 'asked-for' }, { token: provider })).toBe('404 not-found');
    expect(await code('POST', `${base}/create-root`, { name: 'none' })).toBe('404 not-found');
    expect(await code('POST', `${base}/create-root`, { name: 'asked-for' })).toBe('200 done');
  });
});
