// Refused sign-ins are told when they are many: once for each kind, whatever unauthenticated callers send, and no longer than an hour.
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { FailedLogins } from '../../../core/platform/sessions/failed-logins.ts';
import { TestClock } from '../../harness/clock.ts';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const clock = new TestClock();
let appliance: TestAppliance;

beforeAll(async () => {
  appliance = await startTestAppliance({ directory: path(), clock });
});
afterAll(() => appliance.close());

async function signIn(tries: number, roleId: (index: number) => string): Promise<void> {
  for (let index = 0; index < tries; index++) {
    const body = { 'role-id': roleId(index), 'secret-id': 'x' };
    const { status } = await appliance.request('POST', '/v1/approle-login', body, { token: undefined });
    expect([401, 429]).toContain(status);
  }
  await appliance.jobs.find(({ name }) => name === 'failed-sign-ins')?.run(new AbortController().signal);
}

async function refused(token?: string): Promise<readonly { readonly name: string; readonly text: string }[]> {
  const { body } = await appliance.request('GET', '/v1/state/notices', undefined, token === undefined ? {} : { token });
  return (body as unknown as { name: string; text: string }[]).filter(({ name }) => name.startsWith('sign-ins-refused'));
}

test('a few are nobody’s business, and many are one notice whatever the names are', async () => {
  await signIn(30, (index) => `role-${index}`);
  expect(await refused()).toEqual([]);
  await signIn(120, (index) => `other-${index}`);
  expect(await refused()).toMatchObject([
    { name: 'sign-ins-refused applications', text: 'More than 30 sign-ins of applications were refused within an hour, from one address' },
  ]);
});

test('who may not read the trail is not told', async () => {
  await appliance.request('POST', '/v1/config/policy/policies', {
    name: 'keys-alone',
    'rest-api': { rules: [{ path: '/v1/config/keystore/transit-keys/**', operations: { all: 'allow' } }] },
  });
  const made = await appliance.request('POST', '/v1/state/keystore/token/create', { policies: ['keys-alone'] });
  expect(await refused(String(made.body.token))).toEqual([]);
});

test('it is over by itself an hour later, and leaves no record', async () => {
  clock.advance(3_700);
  expect(await refused()).toEqual([]);
  await signIn(0, String);
  expect(appliance.store.table('failed-sign-ins').get(['recent'])).toBeUndefined();
});

const now = () => clock.now().toString();
const refusal = (tenant: string) =>
  ({ kind: 'login', requestId: 'x', occurredAt: now(), path: '/v1/jwt-login', code: 'login-failed', tenant }) as const;

test('what could not be written is told as soon as it can be', async () => {
  const counted = new FailedLogins(appliance.store, clock);
  for (let tries = 0; tries < 31; tries++) counted.note(refusal('system'));
  vi.spyOn(appliance.store, 'write').mockRejectedValueOnce(new Error('no room'));
  await expect(counted.store()).rejects.toThrow('no room');
  counted.note(refusal('system'));
  await counted.store();
  expect(appliance.store.table('failed-sign-ins').get(['recent'])).toMatchObject([{ way: 'workloads', buckets: expect.anything() }]);
  expect(await refused()).toMatchObject([{ name: 'sign-ins-refused workloads' }]);
});

test('those of one tenant are told, however many other tenants have some', async () => {
  const counted = new FailedLogins(appliance.store, clock);
  for (let tenant = 0; tenant < 300; tenant++) counted.note(refusal(`tenant-${tenant}`));
  for (let tries = 0; tries < 31; tries++) counted.note({ ...refusal('system'), path: '/v1/certificate-login' });
  await counted.store();
  expect(await refused()).toContainEqual(expect.objectContaining({ name: 'sign-ins-refused certificates' }));
});
