// R1: plain http is for providers on a loopback host, if the appliance itself has a loopback address.
import { afterEach, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { startOidcHarness, type OidcHarness } from '../harness.ts';

const path = temporaryDirectory();
let harness: OidcHarness;

afterEach(() => harness.close());

test('an appliance on a loopback address accepts a provider at http://127.0.0.1, with a notice in the state', async () => {
  harness = await startOidcHarness(path('loopback'), {}, { publicUrl: 'https://127.0.0.1:4646', tls: false });
  await harness.setService();
  await harness.setRole('g1');
  harness.provider.script = { person: { groups: ['g1'] } };
  expect((await harness.browser().login(harness.provider)).status).toBe(303);
  const { body } = await harness.appliance.request('GET', '/v1/state/keystore/authentication/oidc/corp');
  expect(body.notices.join()).toMatch(/without TLS/);
  const test = await harness.appliance.request('POST', '/v1/state/keystore/authentication/oidc/corp/test', {});
  expect(test.body).toMatchObject({ usable: true, 'client-credentials': 'accepted' });
});

test('its metadata may still not lead to other hosts without TLS', async () => {
  harness = await startOidcHarness(path('elsewhere'), {}, { publicUrl: 'https://localhost:4646', tls: false });
  harness.provider.script = { metadata: (metadata) => ({ ...metadata, token_endpoint: 'http://idp.example/token' }) };
  await harness.setService();
  expect((await harness.browser().get('/login/system/corp')).status).toBe(502);
});

test('the configuration can forbid it there', async () => {
  harness = await startOidcHarness(path('forbidden'), { allowHttpLoopback: false }, { publicUrl: 'https://127.0.0.1:4646', tls: false });
  const service = '/v1/config/keystore/authentication/oidc/corp';
  const document = {
    'discovery-url': harness.provider.issuer,
    'client-id': 'x',
    'client-secret': 'y',
    'role-select': { 'role-claim': 'groups' },
    'allowed-redirect-uris': [harness.redirectUri],
  };
  expect(await harness.appliance.request('PUT', service, document)).toMatchObject({ status: 400, body: { code: 'invalid-value' } });
});
