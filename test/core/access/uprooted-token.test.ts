// A token that goes on without those that it came from: what bounded it still does.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { endOtherCredentials } from '../../../core/access/earlier-credentials.ts';
import { openTenants, systemTenantName } from '../../../core/access/tenants.ts';
import type { Json } from '../../harness/client.ts';
import { startCoreApp, type CoreApp } from '../../harness/core-app.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const at = temporaryDirectory();
let app: CoreApp;
const base = '/v1/state/keystore/token';
const approles = 'keystore/authentication/approles';

beforeEach(async ({ task }) => {
  app = await startCoreApp({ directory: at(task.id) });
});
afterEach(() => app.stop());

type Made = { readonly token: string; readonly accessor: string };

async function child(body: Json, token?: string): Promise<Made> {
  const { status, body: made } = await app.send('POST', `${base}/create`, body, token === undefined ? {} : { token });
  expect(status).toBe(200);
  return made as Made;
}
const info = async ({ token }: Made, from = '127.0.0.1') => {
  const { status, body } = await app.send('POST', `${base}/info`, {}, { token, from });
  return status === 200 ? body : status;
};
/** Ends all but this one, as `end-credentials` does. */
async function endOthers({ accessor }: Made): Promise<void> {
  const tenantId = openTenants(app.store).findByName(systemTenantName)?.uuid as string;
  await endOtherCredentials(app.store, { tenantId, accessor }, app.clock.now());
  app.store.refresh();
}

test('it ends when they would have, is refreshed no further, works from nowhere else, and is said to be of whom they are', async () => {
  const brief = await child({ ttl: '20s', 'max-ttl': '60s', 'bound-cidrs': ['127.0.0.0/16', '127.9.1.0/24'] });
  const bound = await child({ ttl: '10d', 'max-ttl': '100d', 'bound-cidrs': ['127.0.0.0/24', '127.9.0.0/16', '::/0'] }, brief.token);
  const long = await child({ ttl: '10d', 'max-ttl': '100d' }, bound.token);
  const refresh = async (made: Made) => (await app.send('POST', `${base}/refresh`, {}, { token: made.token, from: '127.0.0.1' })).body;
  expect(await info(long)).toMatchObject({ 'user-kind': 'root-token' });

  await endOthers(long);
  expect([await info(brief), await info(bound)]).toEqual([401, 401]);
  expect(await info(long)).toMatchObject({ user: 'root', 'user-kind': 'root-token' });
  expect([await info(long, '127.9.1.7'), await info(long, '127.0.1.1'), await info(long, '127.9.2.7')]).toEqual([
    expect.anything(),
    401,
    401,
  ]);
  app.clock.advance(15);
  expect(await refresh(long)).toMatchObject({ 'expires-in': 20 });
  app.clock.advance(19);
  expect(await refresh(long)).toMatchObject({ 'expires-in': 20 });
  app.clock.advance(15);
  expect(await refresh(long)).toMatchObject({ 'expires-in': 11 });
  app.clock.advance(11);
  expect(await info(long)).toBe(401);
});

test('it ends with the grant of the approle that it goes back to', async () => {
  await app.send('POST', `/v1/config/${approles}`, { name: 'robot', 'token-policies': ['root'] });
  const { body: role } = await app.send('GET', `/v1/state/${approles}/robot`);
  const { body: secret } = await app.send('POST', `/v1/state/${approles}/robot/generate-secret-id`, {});
  const credentials = { 'role-id': role['role-id'], 'secret-id': secret['secret-id'] };
  const login = (await app.send('POST', '/v1/approle-login', credentials, { token: null })).body as Made;
  const made = await child({ ttl: '10d' }, login.token);
  await endOthers(made);
  expect(await info(login)).toBe(401);
  expect(await info(made)).toMatchObject({ user: 'robot', 'user-kind': 'approle', 'user-source': 'robot' });
  expect((await app.send('DELETE', `/v1/config/${approles}/robot`, undefined, { token: made.token })).status).toBe(204);
  expect(await info(made)).toBe(401);
});
