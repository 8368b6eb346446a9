// Log entries and audit records of sign-ins: R66 to R68.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { pathOf, referenceOf, startOidcHarness, type OidcHarness } from './harness.ts';

const path = temporaryDirectory();
let harness: OidcHarness;

beforeAll(async () => {
  harness = await startOidcHarness(path(), { startsPerMinute: 5_000 });
  await harness.setService();
  await harness.setRole('g1', { 'claim-mappings': { email: 'username' } });
});
afterAll(() => harness.close());
beforeEach(async () => {
  harness.provider.script = { person: { groups: ['g1'], email: 'eve@x.test', phone: '555-0100' } };
  harness.takeLog();
});

test('R66: one entry per failure with tenant, service, stage, code and the reference of the page', async () => {
  harness.provider.script = { person: { groups: ['nobody'] } };
  const answer = await harness.browser().login(harness.provider);
  const lines = harness.takeLog();
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatchObject({
    level: 'warn',
    message: 'Sign-in failed: No role for this account',
    fields: {
      reference: referenceOf(answer.body),
      service: 'corp',
      stage: 'role',
      code: 'no-role',
      reason: 'no-role-matches',
      hint: expect.any(String),
    },
  });
});

test('R66: a success leaves no entry in the log', async () => {
  expect((await harness.browser().login(harness.provider)).status).toBe(303);
  expect(harness.takeLog()).toEqual([]);
});

test('R67: one audit record per success', async () => {
  const before = harness.loginRecords().length;
  await harness.browser().login(harness.provider);
  const records = harness.loginRecords();
  expect(records).toHaveLength(before + 1);
  expect(records.at(-1)).toMatchObject({
    kind: 'login',
    tenant: 'system',
    user: 'eve@x.test',
    accessor: expect.stringMatching(/^[0-9a-f-]{36}$/),
    path: '/oidc-callback',
    status: 303,
    'client-ip': expect.stringMatching(/^127\./),
    'occurred-at': expect.any(String),
    'request-id': expect.any(String),
    'request-parameters': {
      service: 'corp',
      issuer: harness.provider.issuer,
      subject: 'subject-1',
      roles: ['g1'],
      'token-policies': ['root'],
    },
  });
});

test('R67: one audit record per denial, with who it was', async () => {
  harness.provider.script = { person: { groups: ['nobody'], email: 'eve@x.test' } };
  const before = harness.loginRecords().length;
  const answer = await harness.browser().login(harness.provider);
  const records = harness.loginRecords();
  expect(records).toHaveLength(before + 1);
  expect(records.at(-1)).toMatchObject({
    tenant: 'system',
    user: 'subject-1',
    code: 'no-role',
    status: 403,
    'request-id': referenceOf(answer.body),
    'request-parameters': { service: 'corp', issuer: harness.provider.issuer, subject: 'subject-1' },
  });
});

describe('R68: verbose-logging', () => {
  const service = '/v1/config/keystore/authentication/oidc/corp';

  test('off: no claim and no call is logged, neither of a success nor of a failure', async () => {
    await harness.browser().login(harness.provider);
    harness.provider.script = { person: { groups: ['nobody'], email: 'eve@x.test', phone: '555-0100' } };
    await harness.browser().login(harness.provider);
    expect(JSON.stringify(harness.takeLog())).not.toMatch(/eve@x|555-0100|nobody/);
  });

  test('on: claims and calls with status and time, but no secret of any kind', async () => {
    await harness.appliance.request('PATCH', service, { 'verbose-logging': true });
    const browser = harness.browser();
    const begun = await browser.start();
    const back = harness.provider.authorize(begun);
    expect((await browser.get(pathOf(back))).status).toBe(303);
    const lines = harness.takeLog();
    const text = JSON.stringify(lines);
    expect(text).toContain('555-0100');
    expect(lines.flatMap(({ fields }) => (fields['calls'] ?? []) as unknown[])).toEqual(
      expect.arrayContaining([
        { method: 'POST', url: `${harness.provider.origin}/token`, status: 200, ms: expect.any(Number) },
        { method: 'GET', url: `${harness.provider.origin}/jwks`, status: 200, ms: expect.any(Number) },
      ]),
    );
    const sent = new URLSearchParams(harness.provider.requestsTo('/token').at(-1)?.body);
    const asked = new URL(begun).searchParams;
    const secrets = [
      harness.provider.clientSecret,
      sent.get('code'),
      sent.get('code_verifier'),
      asked.get('state'),
      browser.cookies.get('__Host-keystored-login'),
      browser.cookies.get('__Host-keystored-session'),
    ];
    for (const secret of secrets) {
      expect(secret).toBeTruthy();
      expect(text).not.toContain(secret);
    }
    expect(text).not.toMatch(/eyJ[\w-]+\.eyJ[\w-]+\.[\w-]+|at-[0-9a-f]{32}/);
    await harness.appliance.request('PATCH', service, { 'verbose-logging': false });
  });

  test('on: the entry of a failure has its calls, too', async () => {
    await harness.appliance.request('PATCH', service, { 'verbose-logging': true });
    harness.provider.script = { respond: { '/token': (_request, response) => void response.writeHead(500).end() } };
    await harness.browser().login(harness.provider);
    expect(JSON.stringify(harness.takeLog())).toContain(`"url":"${harness.provider.origin}/token","status":500`);
    await harness.appliance.request('PATCH', service, { 'verbose-logging': false });
  });
});
