// Token checks and decisions are remembered between requests: whatever changes one of them counts from the next request on.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCoreApp, type CoreApp } from '../../harness/core-app.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { things } from '../../harness/things.ts';

const at = temporaryDirectory();
let app: CoreApp;
beforeAll(async () => {
  app = await startCoreApp({ directory: at('core'), plugin: things });
});
afterAll(() => app.stop());

const base = '/v1/state/keystore/token';
const approles = '/v1/config/keystore/authentication/approles';
const policies = '/v1/config/policy/policies';
/** 200 for an answer without content too. */
const statusOf = async (token: string, path = `${base}/info`) => {
  const { status } = await app.send('POST', path, {}, { token });
  return status === 204 ? 200 : status;
};
const ruleFor = (effect: 'allow' | 'reject') => ({ rules: [{ path: '/v1/state/poke', operations: { execute: effect } }] });

type Made = { readonly token: string; readonly accessor: string };
async function make(body: object, token = app.rootToken): Promise<Made> {
  const answer = await app.send('POST', `${base}/create`, body, { token });
  expect([answer.status, answer.text]).toEqual([200, expect.anything()]);
  return answer.body as Made;
}

/** Uses it so often that everything about it is remembered. */
async function useOften(token: string, path?: string): Promise<void> {
  for (let times = 0; times < 3; times++) expect(await statusOf(token, path)).toBe(200);
}

describe('a token that was used a moment ago works no more', () => {
  test('when it, or a token that it comes from, is disabled', async () => {
    const parent = await make({});
    const child = await make({}, parent.token);
    const other = await make({});
    for (const { token } of [parent, child, other]) await useOften(token);
    await app.send('POST', `${base}/disable`, { accessor: parent.accessor });
    expect(await Promise.all([parent, child, other].map(({ token }) => statusOf(token)))).toEqual([401, 401, 200]);
  });

  test('when it, or a token that it comes from, expires', async () => {
    const parent = await make({ ttl: '100s' });
    const child = await make({ ttl: '50s' }, parent.token);
    for (const { token } of [parent, child]) await useOften(token);
    app.clock.advance(50);
    expect([await statusOf(parent.token), await statusOf(child.token)]).toEqual([200, 401]);
    app.clock.advance(50);
    expect(await statusOf(parent.token)).toBe(401);
  });

  test('when its approle is deleted', async () => {
    await app.send('POST', approles, { name: 'service', 'token-policies': ['user'] });
    const place = approles.replace('config', 'state');
    const { body: role } = await app.send('GET', `${place}/service`);
    const { body: secret } = await app.send('POST', `${place}/service/generate-secret-id`, {});
    const login = await app.send('POST', '/v1/approle-login', { 'role-id': role['role-id'], 'secret-id': secret['secret-id'] });
    const token = String(login.body['token']);
    await useOften(token);
    expect((await app.send('DELETE', `${approles}/service`)).status).toBeLessThan(300);
    expect(await statusOf(token)).toBe(401);
  });

  test('from an address that it is not bound to, however often it worked from another one', async () => {
    const { token } = await make({ 'bound-cidrs': ['127.0.0.1/32'] });
    await useOften(token);
    expect((await app.send('POST', `${base}/info`, {}, { token, from: '127.0.0.2' })).status).toBe(401);
    expect(await statusOf(token)).toBe(200);
  });
});

describe('a decision that was made a moment ago', () => {
  test('follows the policy, its removal and its return', async () => {
    await app.send('POST', policies, { name: 'poker', 'rest-api': ruleFor('allow') });
    const { token } = await make({ policies: ['poker'] });
    await useOften(token, '/v1/state/poke');
    expect((await app.send('PATCH', `${policies}/poker?lists=replace`, { 'rest-api': ruleFor('reject') })).status).toBeLessThan(300);
    expect(await statusOf(token, '/v1/state/poke')).toBe(403);
    await app.send('PATCH', `${policies}/poker?lists=replace`, { 'rest-api': ruleFor('allow') });
    await useOften(token, '/v1/state/poke');
    await app.send('DELETE', `${policies}/poker`);
    expect(await statusOf(token, '/v1/state/poke')).toBe(403);
  });

  test('is about its token alone: others on the same path have their own', async () => {
    await app.send('POST', policies, { name: 'mine', 'rest-api': ruleFor('allow') });
    const may = await make({ policies: ['mine'] });
    const mayNot = await Promise.all(Array.from({ length: 20 }, () => make({ policies: ['rewrap-only'] })));
    for (let times = 0; times < 3; times++) {
      expect(await statusOf(may.token, '/v1/state/poke')).toBe(200);
      for (const { token } of mayNot) expect(await statusOf(token, '/v1/state/poke')).toBe(403);
    }
  });

  test('is about its operation alone', async () => {
    const rules = [{ path: `${policies}/*`, operations: { read: 'allow' } }];
    await app.send('POST', policies, { name: 'reader', 'rest-api': { rules } });
    const { token } = await make({ policies: ['reader'] });
    for (let times = 0; times < 3; times++) {
      expect((await app.send('GET', `${policies}/reader`, undefined, { token })).status).toBe(200);
      expect((await app.send('DELETE', `${policies}/reader`, undefined, { token })).status).toBe(403);
    }
  });
});
