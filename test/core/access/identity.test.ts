// The identity of a token says what its login has proved, and its grants end it.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { approleGrantsJob, openApproleGrants } from '../../../core/platform/approles/approle-grants.ts';
import { approleTable } from '../../../core/access/approles/approles.ts';
import { endGrant, grantIsOpen, hasEnded } from '../../../core/access/logins/grants.ts';
import { openTenants, systemTenantName } from '../../../core/access/tenants.ts';
import { tokenExpiryJob } from '../../../core/access/tokens/expiry.ts';
import { tokenTable, type TokenRecord } from '../../../core/access/tokens/record.ts';
import { uproot } from '../../../core/access/tokens/tokens.ts';
import { revealSecret } from '../../../core/base/secret.ts';
import { createSessions } from '../../../core/platform/sessions/sessions-service.ts';
import type { Sessions } from '../../../core/plugin/services/sessions.ts';
import { startCoreApp, type CoreApp } from '../../harness/core-app.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const at = temporaryDirectory();
let app: CoreApp;
let sessions: Sessions;
let tenantId: string;

beforeAll(async () => {
  app = await startCoreApp({ directory: at('core') });
  sessions = createSessions(app);
  tenantId = openTenants(app.store).findByName(systemTenantName)?.uuid ?? '';
});
afterAll(() => app.stop());

const base = '/v1/state/keystore/token';
const approles = 'keystore/authentication/approles';

async function approleLogin(name: string): Promise<{ token: string; accessor: string }> {
  await app.send('POST', `/v1/config/${approles}`, { name, 'token-policies': ['root'] });
  const { 'role-id': roleId } = (await app.send('GET', `/v1/state/${approles}/${name}`)).body;
  const { body: made } = await app.send('POST', `/v1/state/${approles}/${name}/generate-secret-id`, {});
  const login = { 'role-id': roleId, 'secret-id': made['secret-id'] };
  return (await app.send('POST', '/v1/approle-login', login, { token: null as never })).body as { token: string; accessor: string };
}
const info = async (token: string) => (await app.send('POST', `${base}/info`, {}, { token })).body;
const works = async (token: string) => (await app.send('POST', `${base}/info`, {}, { token })).status === 200;

/** A token as a plugin's login makes it, with these grants. */
async function workloadLogin(grants: readonly string[]): Promise<string> {
  const token = await sessions.drawToken();
  const identity = { kind: 'workload', source: 'https://issuer.example', subject: 'repo:acme/app' } as const;
  const grant = { tenantId, user: 'repo:acme/app', identity, grants, service: 'ci', policies: ['root'], ttlSeconds: 600 };
  await app.store.write((transaction) => sessions.issue(transaction, token, grant));
  return revealSecret(token);
}
const openGrants = (count: number) =>
  app.store.write((transaction) => Array.from({ length: count }, () => sessions.openGrant(transaction, tenantId)));

test('every way to a token gives the identity that it has proved, and children have that of their first ancestor', async () => {
  expect((await info(app.rootToken)).identity).toEqual({ kind: 'root-token', source: tenantId, subject: 'root' });
  const { token } = await approleLogin('robot');
  const identity = (await info(token)).identity as unknown;
  expect(identity).toEqual({ kind: 'approle', source: expect.stringMatching(/^[0-9a-f-]{36}$/), subject: 'robot' });
  const child = (await app.send('POST', `${base}/create`, {}, { token })).body;
  const grandchild = (await app.send('POST', `${base}/create`, {}, { token: child.token })).body;
  expect((await info(grandchild.token)).identity).toEqual(identity);
  const other = await app.makeTenant('other');
  expect((await info(other)).identity).toMatchObject({ kind: 'root-token', subject: 'root' });
  expect((await info(other)).identity.source).not.toBe(tenantId);
});

test('an approle made again under the name of another is another identity', async () => {
  const before = (await info((await approleLogin('again')).token)).identity;
  await app.send('DELETE', `/v1/config/${approles}/again`);
  const after = (await info((await approleLogin('again')).token)).identity;
  expect(after).toEqual({ ...before, source: expect.any(String) });
  expect(after.source).not.toBe(before.source);
});

test('a workload is told from a person and an approle of its name', async () => {
  const token = await workloadLogin(await openGrants(1));
  expect(await info(token)).toMatchObject({
    user: 'repo:acme/app',
    'user-kind': 'workload',
    'user-source': 'ci',
    identity: { kind: 'workload' },
  });
});

test('records of logins and requests have it beside the name', async () => {
  const { token, accessor } = await approleLogin('recorded');
  await info(token);
  const records = app
    .auditText()
    .split('\n')
    .filter((line) => line.includes(accessor))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(records.map(({ kind, identity }) => [kind, (identity as Record<string, unknown>)['subject']])).toEqual([
    ['login', 'recorded'],
    ['request', 'recorded'],
  ]);
});

test('the end of any grant ends its tokens and their children at once, and no other tokens; the job removes them', async () => {
  const [role, issuer, another] = (await openGrants(3)) as [string, string, string];
  // Those of approles that were deleted before.
  await tokenExpiryJob(app.store, app.clock).run(AbortSignal.timeout(60_000));
  const [mine, theirs] = [await workloadLogin([role, issuer]), await workloadLogin([another, issuer])];
  const child = (await app.send('POST', `${base}/create`, {}, { token: mine })).body.token as string;
  expect(await Promise.all([mine, theirs, child].map(works))).toEqual([true, true, true]);
  await app.store.write((transaction) => sessions.endGrant(transaction, tenantId, role));
  expect(await Promise.all([mine, theirs, child].map(works))).toEqual([false, true, false]);
  const count = tokenTable(app.store).count([]);
  await tokenExpiryJob(app.store, app.clock).run(AbortSignal.timeout(60_000));
  app.store.refresh();
  expect(tokenTable(app.store).count([])).toBe(count - 2);
  await app.store.write((transaction) => sessions.endGrant(transaction, tenantId, issuer));
  expect(await works(theirs)).toBe(false);
});

test('a token that goes on without its ancestors ends with their grants as before', async () => {
  const [grant] = (await openGrants(1)) as [string];
  const parent = await workloadLogin([grant]);
  const { body: made } = await app.send('POST', `${base}/create`, {}, { token: parent });
  await app.store.write((transaction) => uproot(transaction, app.store, tenantId, made.accessor));
  await app.send('POST', `${base}/disable`, { token: parent });
  expect([await works(parent), await works(made.token)]).toEqual([false, true]);
  expect((await info(made.token)).identity).toMatchObject({ kind: 'workload', subject: 'repo:acme/app' });
  await app.store.write((transaction) => sessions.endGrant(transaction, tenantId, grant));
  expect(await works(made.token)).toBe(false);
});

test('a grant of one tenant is none in another', async () => {
  const [grant] = await app.store.write((transaction) => [sessions.openGrant(transaction, '00000000-0000-4000-8000-000000000001')]);
  expect(await works(await workloadLogin([grant]))).toBe(false);
});

test('a token of a version before identities works until it expires, without one, and so do its children', async () => {
  const { token, accessor } = await approleLogin('older');
  const key = [tenantId, accessor];
  await app.store.write((transaction) => {
    const { identity: _, ...older } = transaction.get(tokenTable(app.store), key) as TokenRecord;
    transaction.put(tokenTable(app.store), key, older);
  });
  expect(await info(token)).toMatchObject({ user: 'older', 'user-kind': 'approle' });
  expect(await info(token)).not.toHaveProperty('identity');
  const child = (await app.send('POST', `${base}/create`, {}, { token })).body.token as string;
  expect(await works(child)).toBe(true);
  expect(await info(child)).not.toHaveProperty('identity');
});

test('the end of an approle ends its tokens through its grant, as that of every login; a narrower one gets another', async () => {
  const path = `/v1/config/${approles}/ending`;
  const { token } = await approleLogin('ending');
  const approle = () => approleTable(app.store).get([tenantId, 'ending']);
  const [{ grantId = '' } = {}] = [approle()];
  expect(grantIsOpen(app.store, tenantId, grantId, (table, key) => table.get(key))).toBe(true);
  await app.send('PUT', path, { 'token-policies': [] });
  expect([hasEnded(app.store, tenantId, grantId), approle()?.grantId === grantId, await works(token)]).toEqual([true, false, false]);
  const next = approle()?.grantId ?? '';
  await app.send('DELETE', path);
  expect(hasEnded(app.store, tenantId, next)).toBe(true);
});

test('tokens of approles of an earlier version, which opened no grants, stay until their end, and end with their approle', async () => {
  const { token } = await approleLogin('earlier');
  const grantId = approleTable(app.store).get([tenantId, 'earlier'])?.grantId ?? '';
  const job = approleGrantsJob(app.store);
  await app.store.write((transaction) => endGrant(transaction, app.store, tenantId, grantId));
  // As a start does.
  await openApproleGrants(app.store);
  expect(await works(token)).toBe(true);
  // In a cluster that is being updated such an appliance narrows it: the grant of before stays open until the job has run.
  const signal = AbortSignal.timeout(60_000);
  await job.run(signal);
  expect(await works(token)).toBe(true);
  await app.store.write((transaction) => {
    const present = transaction.get(approleTable(app.store), [tenantId, 'earlier']);
    if (present !== undefined) transaction.put(approleTable(app.store), [tenantId, 'earlier'], { ...present, grantId: randomUUID() });
  });
  await job.run(signal);
  expect(await works(token)).toBe(false);
});
