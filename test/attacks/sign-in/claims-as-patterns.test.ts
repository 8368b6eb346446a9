// OpenBao GHSA-59w7-v8rr-pr4p: `*`, `+`, `/` and `,` in foreign values became patterns. Claims of an identity provider must be compared literally.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startOidcHarness, type OidcHarness, shownToken } from '../../plugins/oidc/harness.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const at = temporaryDirectory();
let harness: OidcHarness;

beforeAll(async () => {
  harness = await startOidcHarness(at(), { startsPerMinute: 1_000 });
  await harness.setService();
  for (const name of ['admins', 'a/b', 'x,y']) await harness.setRole(name);
});
afterAll(() => harness.close());

/** Status of a sign-in with this claim; 303 means signed in. */
async function signIn(groups: unknown, more: object = {}): Promise<number> {
  harness.provider.script = { person: { groups, ...more } };
  return (await harness.browser().login(harness.provider)).status;
}

test.each<[string, unknown]>([
  ['a star', ['*']],
  ['two', ['**', '/**']],
  ['a prefix and a star', ['adm*', 'admin?', 'admin+', '^admins$', '.*']],
  ['another case', ['Admins', 'ADMINS']],
  ['white space around it', [' admins', 'admins ', 'admins\n', 'admins\u0000']],
  ['look-alikes', ['аdmins', 'ａｄｍｉｎｓ', 'admins\u200b']],
  ['one text that lists it', ['admins,users', 'users admins', '["admins"]', 'x', 'y', 'a', 'b']],
  ['a path to it', ['/admins', './admins', '../admins', 'a/../admins', 'a%2Fb', 'a%2fb']],
  ['lists and objects around it', [['admins'], { admins: true }, { name: 'admins' }]],
  ['names every object has', ['__proto__', 'constructor', 'toString']],
  ['no text at all', [true, 0, null]],
])('%s matches no role', async (_, groups) => {
  expect(await signIn(groups)).toBe(403);
});

test('only the exact value matches', async () => {
  for (const value of ['admins', 'a/b', 'x,y']) expect(await signIn([value])).toBe(303);
});

test('a name from a claim is only a name: no pattern, and no way to another account', async () => {
  await harness.setRole('admins', { 'token-policies': ['rewrap-only'], 'claim-mappings': { email: 'username' } });
  for (const email of ['root', '*', '../root', 'root@system', '/v1/**']) {
    harness.provider.script = { person: { groups: ['admins'], email } };
    const browser = harness.browser();
    expect((await browser.login(harness.provider)).status).toBe(303);
    const token = await shownToken(browser);
    for (const path of ['/v1/config/tenants', '/v1/state/keystore/tokens', '/v1/config/policy/policies']) {
      expect((await harness.appliance.request('GET', path, undefined, { token })).status).toBe(403);
    }
    const record = harness.loginRecords().at(-1);
    // `root` is no name from a claim: the subject stands for the person.
    expect(record?.['user']).toBe(email === 'root' ? 'subject-1' : email);
    const shown = (await harness.appliance.request('POST', '/v1/state/keystore/token/info', { accessor: record?.['accessor'] })).body as { policies: string[] }; // prettier-ignore
    expect(shown.policies).toEqual(['rewrap-only']);
  }
});
