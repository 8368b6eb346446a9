// R1: plain http is for providers on a loopback host, of an appliance that is itself only reached there.
import { afterEach, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { startHouse, type House } from '../harness.ts';

const path = temporaryDirectory();
let house: House;

afterEach(() => house.close());

test('an appliance on a loopback address takes a provider at http://127.0.0.1, and says so in the state', async () => {
  house = await startHouse(path('loopback'), {}, { publicUrl: 'https://127.0.0.1:4646', tls: false });
  await house.setService();
  await house.setRole('g1');
  house.provider.script = { person: { groups: ['g1'] } };
  expect((await house.browser().login(house.provider)).status).toBe(303);
  const { body } = await house.appliance.request('GET', '/v1/state/keystore/authentication/oidc/corp');
  expect(body.notices.join()).toMatch(/without TLS/);
  const test = await house.appliance.request('POST', '/v1/state/keystore/authentication/oidc/corp/test', {});
  expect(test.body).toMatchObject({ usable: true, 'client-credentials': 'accepted' });
});

test('its metadata may still not lead to other hosts without TLS', async () => {
  house = await startHouse(path('elsewhere'), {}, { publicUrl: 'https://localhost:4646', tls: false });
  house.provider.script = { metadata: (metadata) => ({ ...metadata, token_endpoint: 'http://idp.example/token' }) };
  await house.setService();
  expect((await house.browser().get('/login/system/corp')).status).toBe(502);
});

test('the configuration can forbid it there', async () => {
  house = await startHouse(path('forbidden'), { allowHttpLoopback: false }, { publicUrl: 'https://127.0.0.1:4646', tls: false });
  const service = '/v1/config/keystore/authentication/oidc/corp';
  const document = {
    'discovery-url': house.provider.issuer,
    'client-id': 'x',
    'client-secret': 'y',
    'role-select': { 'role-claim': 'groups' },
    'allowed-redirect-uris': [house.redirectUri],
  };
  expect(await house.appliance.request('PUT', service, document)).toMatchObject({ status: 400, body: { code: 'invalid-value' } });
});
