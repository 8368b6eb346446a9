// Against a certified provider: the same flow with an independent implementation.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { startCertifiedProvider, Walker, type CertifiedProvider } from './certified-provider.ts';
import { pathOf, startOidcHarness, textOf, type Browser, type OidcHarness } from './harness.ts';

const path = temporaryDirectory();
const people = {
  eve: { name: 'Eve Adams', email: 'eve@x.test', groups: ['admins'] },
  bob: { name: 'Bob Brown', email: 'bob@x.test', groups: ['others'] },
};
let harness: OidcHarness;
let provider: CertifiedProvider | undefined;

beforeAll(async () => {
  harness = await startOidcHarness(path(), { startsPerMinute: 5_000 });
});
afterAll(() => harness.close());
afterEach(async () => {
  await provider?.close();
  provider = undefined;
});

async function useProvider(options: Partial<Parameters<typeof startCertifiedProvider>[0]> = {}): Promise<CertifiedProvider> {
  provider = await startCertifiedProvider({ directory: path(), redirectUris: [harness.redirectUri], people, ...options });
  const { issuer, ca, clientId, clientSecret } = provider;
  await harness.setService({ 'discovery-url': issuer, 'ca-certs': ca, 'client-id': clientId, 'client-secret': clientSecret });
  await harness.setRole('admins', { 'claim-mappings': { email: 'username', name: 'fullname' }, 'token-policies': ['user'] });
  return provider;
}

async function signIn(at: CertifiedProvider, login: string, browser: Browser = harness.browser()) {
  const back = await new Walker(at).authorize(await browser.start(), login, harness.redirectUri);
  return { browser, back, answer: await browser.get(pathOf(back)) };
}

describe('a certified provider', () => {
  test('signs a person in, with claims in the ID token', async () => {
    const { browser, answer, back } = await signIn(await useProvider(), 'eve');
    expect(answer).toMatchObject({ status: 303, headers: { location: '/ui' } });
    expect(new URL(back).searchParams.get('iss')).toBe(provider?.issuer);
    expect(textOf((await browser.get('/ui')).body)).toMatch(
      /Eve Adams You are signed in\. Account eve@x\.test .* Role admins Policies user/,
    );
  });

  test('signs a person in, with claims from UserInfo', async () => {
    const { browser } = await signIn(await useProvider({ claimsIn: 'userinfo' }), 'eve');
    expect(textOf((await browser.get('/ui')).body)).toContain('Eve Adams');
  });

  test('that accepts the secret in the body', async () => {
    const at = await useProvider({ authMethod: 'client_secret_post' });
    await harness.appliance.request('PATCH', '/v1/config/keystore/authentication/oidc/corp', {
      'token-endpoint-auth-method': 'client_secret_post',
    });
    expect((await signIn(at, 'eve')).answer.status).toBe(303);
  });

  test('whose person has no role is refused', async () => {
    const { answer, browser } = await signIn(await useProvider(), 'bob');
    expect(answer.status).toBe(403);
    expect((await browser.get('/ui')).status).toBe(303);
  });

  test('refuses a code that is sent twice, and a wrong secret is reported as such', async () => {
    const at = await useProvider();
    const { back, browser } = await signIn(at, 'eve');
    expect((await browser.get(pathOf(back))).status).toBe(400);
    await harness.appliance.request('PATCH', '/v1/config/keystore/authentication/oidc/corp', { 'client-secret': 'wrong' });
    harness.takeLog();
    expect((await signIn(at, 'eve')).answer.status).toBe(502);
    expect(harness.takeLog()).toMatchObject([
      { fields: { code: 'provider-refused-system', 'provider-status': 401, 'provider-error': 'invalid_client' } },
    ]);
  });

  test('passes `test`: credentials accepted, redirect URI registered', async () => {
    await useProvider();
    const { body } = await harness.appliance.request('POST', '/v1/state/keystore/authentication/oidc/corp/test', {});
    expect(body).toMatchObject({
      usable: true,
      'client-credentials': 'accepted',
      'redirect-uris': [{ registered: 'yes' }],
      pkce: { listed: true },
      'iss-parameter': true,
    });
    const other = 'https://other.example/oidc-callback';
    await harness.appliance.request('PATCH', '/v1/config/keystore/authentication/oidc/corp', {
      'allowed-redirect-uris': [other],
      'client-secret': 'wrong',
    });
    const { body: second } = await harness.appliance.request('POST', '/v1/state/keystore/authentication/oidc/corp/test', {});
    expect(second).toMatchObject({ usable: false, 'client-credentials': 'refused' });
    expect(second['redirect-uris']).toContainEqual({ uri: other, registered: 'unknown' });
  });
});
