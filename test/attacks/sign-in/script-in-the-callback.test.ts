// OpenBao CVE-2026-33757 and CVE-2026-33758: error_description on the OIDC callback became markup; a login without the person's consent.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startOidcHarness, type OidcHarness } from '../../plugins/oidc/harness.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const at = temporaryDirectory();
let harness: OidcHarness;

beforeAll(async () => {
  harness = await startOidcHarness(at(), { startsPerMinute: 1_000 });
  await harness.setService();
  await harness.setRole('g1');
  harness.provider.script = { person: { groups: ['g1'] } };
});
afterAll(() => harness.close());

const payloads = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "'-alert(1)-'",
  'javascript:alert(1)',
  '</title><svg onload=alert(1)>',
  '{{7*7}}${7*7}',
  '%3Cscript%3Ealert(1)%3C/script%3E',
  '\r\nset-cookie: a=b\r\n\r\n<script>alert(1)</script>',
  '\u2028\u202e<script>',
];

/** No payload is markup on a page, and the page's policy would not run it. */
function expectHarmless(page: string, headers: Readonly<Record<string, unknown>>): void {
  expect(page).not.toMatch(/<(?:script|img|iframe|object|base|meta http-equiv)/i);
  // An element with an event handler, or with an address that runs.
  expect(page).not.toMatch(/<[a-z][^>]*\son[a-z]+\s*=/i);
  expect(page).not.toMatch(/<[a-z][^>]*(?:href|src|action)\s*=\s*["']?\s*javascript:/i);
  expect(page.match(/<title>/g)?.length ?? 0).toBeLessThanOrEqual(1);
  expect(headers['content-security-policy']).toMatch(/default-src 'none'/);
  expect(String(headers['content-security-policy'])).not.toContain('script-src');
  expect(JSON.stringify(headers['set-cookie'] ?? [])).not.toMatch(/"a=/);
}

describe.each(payloads)('%j', (payload) => {
  test('in every parameter of the callback, with a valid state and without', async () => {
    for (const parameter of ['error', 'error_description', 'error_uri', 'state', 'code', 'iss', 'session_state', payload]) {
      const browser = harness.browser();
      const begun = new URL(harness.provider.authorize(await browser.start()));
      begun.searchParams.set(parameter, payload);
      for (const target of [
        `/oidc-callback${begun.search}`,
        `/oidc-callback?${new URLSearchParams({ [parameter]: payload }).toString()}`,
      ]) {
        const { status, body, headers } = await browser.get(target);
        // 502: the provider refused the invalid code.
        expect([200, 303, 400, 403, 404, 429, 502]).toContain(status);
        if (status !== 303) expectHarmless(String(body), headers); // oxlint-disable-line vitest/no-conditional-expect -- a redirect has no page
      }
    }
  });

  test('as a name of tenant or service, as a user code, and as a claim of the person', async () => {
    const browser = harness.browser();
    const name = encodeURIComponent(payload);
    for (const target of [`/login/${name}/corp`, `/login/system/${name}`, `/login?tenant=${name}`, `/login/system/corp?request=${name}`]) {
      const { body, headers } = await browser.get(target);
      expectHarmless(String(body), { 'content-security-policy': "default-src 'none'", ...headers });
    }
    await harness.setRole('g1', { 'claim-mappings': { email: 'username', name: 'fullname' } });
    harness.provider.script = { person: { groups: ['g1'], email: payload, name: payload } };
    const person = harness.browser();
    expect((await person.login(harness.provider)).status).toBe(303);
    const page = await person.get('/ui');
    expectHarmless(String(page.body), page.headers);
    harness.provider.script = { person: { groups: ['g1'] } };
  });
});

test('a sign-in started in another browser does not finish in this one', async () => {
  const [attacker, victim] = [harness.browser(), harness.browser()];
  const { pathname, search } = new URL(harness.provider.authorize(await attacker.start()));
  const { status, headers } = await victim.get(pathname + search);
  expect(status).toBe(400);
  expect(headers['set-cookie'] ?? []).not.toContainEqual(expect.stringContaining('session'));
  expect((await victim.get('/ui')).status).toBe(303);
});
