// Limits on starting sign-ins and on guessing at them: R20, api 73.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Answer } from '../../../harness/appliance.ts';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { pathOf, startOidcHarness, textOf, type OidcHarness } from '../harness.ts';

const path = temporaryDirectory();
let harness: OidcHarness;

beforeAll(async () => {
  const bounds = { pendingLoginsPerAddress: 20, pendingLoginsPerTenant: 30, pendingLogins: 40 };
  harness = await startOidcHarness(path(), { startsPerMinute: 120, ...bounds });
  await harness.setService();
  await harness.setRole('g1');
  harness.provider.script = { person: { groups: ['g1'] } };
  for (const tenant of ['acme', 'umbrella', 'initech']) await makeTenant(tenant);
});
afterAll(() => harness.close());
beforeEach(() => harness.clock.advance(700));

/** With the service of the system tenant. */
async function makeTenant(name: string): Promise<void> {
  const request: OidcHarness['appliance']['request'] = (...sent) => harness.appliance.request(...sent);
  await request('POST', '/v1/config/tenants', { name });
  const made = await request('POST', '/v1/state/keystore/token/create-root', { name });
  const as = { token: String(made.body.token) };
  const { body } = await request('GET', '/v1/config/keystore/authentication/oidc/corp');
  await request(
    'POST',
    '/v1/config/keystore/authentication/oidc',
    { ...body, name: 'corp', 'client-secret': harness.provider.clientSecret },
    as,
  );
}

const ask = (tenant: string, from: string): Promise<Answer> =>
  harness.appliance.request('POST', '/v1/oidc-login', { tenant, service: 'corp' }, { token: undefined, from });
const poll = (pollToken: string, from: string): Promise<Answer> =>
  harness.appliance.request('POST', '/v1/oidc-login/poll', { 'poll-token': pollToken }, { token: undefined, from });
const kept = (table: string): number => {
  harness.appliance.store.refresh();
  return harness.appliance.store.prefixed('oidc').table(table).count([]);
};
const stateOf = async (asked: Answer, from: string): Promise<string> => (await poll(String(asked.body['poll-token']), from)).body.code;

test('R20: only an address that starts too many is refused', async () => {
  const browser = harness.browser();
  const answers = [];
  for (let count = 0; count < 121; count += 1) answers.push(await browser.get('/login/system/corp'));
  expect(answers.map(({ status }) => status)).toEqual([...Array<number>(120).fill(303), 429]);
  expect(textOf(answers[120]?.body)).toContain('Too many attempts');
  expect(Number(answers[120]?.headers['retry-after'])).toBeGreaterThan(0);
  // Neither another address nor, behind the same one, another tenant.
  expect((await harness.browser().get('/login/system/corp')).status).toBe(303);
  expect((await browser.get('/login/acme/corp')).status).toBe(303);
});

describe('requests of command lines under way', () => {
  test('a flood over all tenants from one address refuses no one, and replaces its own', async () => {
    const others = await Promise.all(['system', 'acme', 'umbrella'].map((tenant) => ask(tenant, '127.9.0.1')));
    const flood: Answer[] = [];
    for (let count = 0; count < 100; count += 1) {
      harness.clock.advance(0.1);
      flood.push(await ask(['system', 'acme', 'umbrella', 'initech'][count % 4] as string, '127.9.0.2'));
    }
    expect(flood.every(({ status }) => status === 200)).toBe(true);
    expect((await ask('system', '127.9.0.3')).status).toBe(200);
    harness.clock.advance(60);
    for (const one of others) expect(await stateOf(one, '127.9.0.1')).toBe('authorization-pending');
    expect(await stateOf(flood[0] as Answer, '127.9.0.2')).toBe('expired-token');
    expect(await stateOf(flood[99] as Answer, '127.9.0.2')).toBe('authorization-pending');
    expect(kept('hand-offs')).toBe(3 + 20 + 1);
    expect(kept('hand-off-places')).toBe(4 * 24);
  });

  test('the bound over all holds for many addresses; an address loses its own first', async () => {
    const early = await ask('acme', '127.9.1.1');
    for (let count = 0; count < 120; count += 1) {
      harness.clock.advance(0.1);
      const tenant = ['system', 'umbrella', 'initech'][count % 3] as string;
      expect((await ask(tenant, `127.9.2.${1 + (count % 4)}`)).status).toBe(200);
    }
    expect(kept('hand-offs')).toBe(40);
    harness.clock.advance(60);
    expect(await stateOf(early, '127.9.1.1')).toBe('authorization-pending');
  });
});

describe('api 73: failures of one address, 60 a minute', () => {
  const guesses: readonly [string, (from: string, count: number) => Promise<Answer>][] = [
    ['callbacks', (from, count) => harness.browser(from).get(`/oidc-callback?state=guess-${count}&code=x`)],
    ['callbacks without a state', (from) => harness.browser(from).get('/oidc-callback')],
    ['polls', (from, count) => poll(`guess-${count}`, from)],
    ['tenants', (from, count) => harness.browser(from).get(`/login?tenant=guess-${count}`)],
    ['services', (from, count) => harness.browser(from).get(`/login/system/guess-${count}`)],
    ['tenants of command lines', (from, count) => ask(`guess-${count}`, from)],
    ['requests to confirm', (from, count) => harness.browser(from).get(`/login/confirm?request=guess-${count}`)],
  ];

  test.each(guesses)('%s: the 61st is refused with the time to wait, also of many at once', async (name, guess) => {
    const from = `127.8.0.${guesses.findIndex(([one]) => one === name) + 1}`;
    const answers = await Promise.all(Array.from({ length: 90 }, (_, count) => guess(from, count)));
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(30);
    const last = await guess(from, 99);
    expect(last.status).toBe(429);
    expect(Number(last.headers['retry-after'])).toSatisfy((seconds: number) => seconds > 0 && seconds <= 60);
    harness.clock.advance(61);
    expect((await guess(from, 100)).status).not.toBe(429);
  });

  test('they count together with those of approles', async () => {
    const from = '127.8.1.1';
    for (let count = 0; count < 60; count += 1) await poll(`guess-${count}`, from);
    const login = { 'role-id': 'x', 'secret-id': 'y' };
    expect((await harness.appliance.request('POST', '/v1/approle-login', login, { token: undefined, from })).status).toBe(429);
  });

  test('a right secret and a right name pass, whatever others of the address did', async () => {
    const from = '127.8.2.1';
    const browser = harness.browser(from);
    const back = harness.provider.authorize(await browser.start());
    const asked = await ask('system', from);
    for (let count = 0; count < 300; count += 1) await ask(`guess-${count}`, from);
    expect((await poll('guess', from)).status).toBe(429);
    expect(await stateOf(asked, from)).toBe('authorization-pending');
    expect((await harness.browser(from).get('/login?tenant=system')).status).toBe(200);
    expect((await harness.browser(from).get('/login/acme/corp')).status).toBe(303);
    expect((await ask('umbrella', from)).status).toBe(200);
    expect((await browser.get(pathOf(back))).status).toBe(303);
  });
});
