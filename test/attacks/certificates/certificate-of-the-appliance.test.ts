// Our own mistakes: the CA of the listeners signed what people brought, so that others could pass for the appliance; its names, and those of the
// CAs of a cluster, could be taken by anybody; and the rules of `est` about names were passed by sign-csr.
import { beforeAll, describe, expect, test } from 'vitest';
import { defined } from '../../../core/base/defined.ts';
import { type EstAppliance, estParts, openEst, startEstAppliance } from '../../plugins/est/est-appliance.ts';
import { type Keys, makeCsr, makeKeys, type Names } from '../../plugins/ca/pki.ts';
import { formatPem } from '../../../core/base/texts/pem.ts';

let appliance: EstAppliance;
let keys: Keys;
let user: string;
const config = '/v1/config/keystore/tls/ca';
const state = '/v1/state/keystore/tls/ca';

const verdict = async (method: string, path: string, body?: unknown, token?: string): Promise<string> => {
  const answer = await appliance.request(method, path, body, token === undefined ? {} : { token });
  return `${answer.status} ${String(answer.body?.code ?? 'done')}`;
};
const csrFor = async (subject: string, names?: Names): Promise<string> =>
  formatPem('CERTIFICATE REQUEST', await makeCsr({ keys, subject, ...defined({ names }) }));
const makeToken = async (policies: readonly string[]): Promise<string> =>
  String((await appliance.request('POST', '/v1/state/keystore/token/create', { policies })).body.token);

beforeAll(async () => {
  appliance = await startEstAppliance();
  keys = await makeKeys('P-256');
  user = await makeToken(['user']);
  await estParts(appliance).authorities.listenerIdentity(appliance.tenantId, ['localhost', '127.0.0.1'], 'store');
  appliance.store.refresh();
});

describe('the CA of the listeners', () => {
  test('is read and does nothing else for people, whatever their policies', async () => {
    for (const token of [undefined, user]) {
      expect(await verdict('GET', `${state}/appliance`, undefined, token)).toBe('200 done');
      expect(await verdict('GET', `${state}/appliance/certificates`, undefined, token)).toBe('200 done');
      const { body: issued } = await appliance.request('GET', `${state}/appliance/certificates`);
      const tries = {
        'sign-csr': { csr: await csrFor('CN=localhost', [{ type: 'dns', value: 'localhost' }]) },
        csr: {},
        'import-cert': { certificate: 'x' },
        revoke: { serial: issued[0].serial },
      };
      for (const [action, body] of Object.entries(tries))
        expect([action, await verdict('POST', `${state}/appliance/${action}`, body, token)]).toEqual([action, '409 built-in']);
      for (const [method, body] of [
        ['PATCH', { est: { enabled: true, 'initial-enroll-secret': 'correct horse battery' } }],
        ['PATCH', { labels: { mine: 'yes' } }],
        ['PUT', { est: { enabled: true } }],
      ] as const)
        expect([method, await verdict(method, `${config}/appliance`, body, token)]).toEqual([method, '409 built-in']);
      expect(await verdict('DELETE', `${config}/appliance`, undefined, token)).toBe('409 in-use');
    }
    expect((await appliance.call('appliance', 'cacerts')).status).toBe(404);
  });

  test('gets another key by nobody but the root of the tenant system', async () => {
    expect(await verdict('POST', `${state}/appliance/renew`, {}, user)).toBe('403 policy-denied');
    expect(await verdict('POST', `${state}/appliance/renew`, {})).toBe('200 done');
  });

  test('makes no devices trusted, and no CA', async () => {
    const trusting = { name: 'trusting', est: { 'initial-enroll-trust-ca': 'appliance' } };
    expect(await verdict('POST', config, trusting, user)).toBe('400 invalid-value');
    expect(await verdict('POST', config, { name: 'below', 'issuing-ca': 'appliance' }, user)).toBe('400 invalid-value');
  });
});

test.each(['appliance', 'cluster-peer', 'cluster-client'])('the name %s is free for the appliance alone', async (name) => {
  for (const token of [undefined, user]) {
    const taken = name === 'appliance' ? '409 built-in' : '400 invalid-value';
    expect(await verdict('PUT', `${config}/${name}`, {}, token)).toBe(taken);
    expect(await verdict('POST', config, { name }, token)).toBe(name === 'appliance' ? '409 already-exists' : taken);
  }
});

describe('sign-csr', () => {
  const rules = (...actions: string[]) => ({
    'rest-api': { rules: actions.map((action) => ({ path: `${state}/*/${action}`, operations: { execute: 'allow' } })) },
  });

  test('keeps the rules of est for whom the policies let sign and no more', async () => {
    const ca = await appliance.makeCa({ est: { ...openEst, 'allowed-domains': ['example.test'], 'allow-subdomains': true } });
    await appliance.request('POST', '/v1/config/policy/policies', { name: 'signs', ...rules('sign-csr') });
    const token = await makeToken(['signs']);
    const sign = async (subject: string, names?: Names) =>
      verdict('POST', `${state}/${ca}/sign-csr`, { csr: await csrFor(subject, names) }, token);
    expect(await sign('CN=pump.example.test')).toBe('200 done');
    expect(await sign('CN=pump.example.com')).toBe('403 identity-not-allowed');
    expect(await sign('CN=pump.example.test', [{ type: 'dns', value: 'localhost' }])).toBe('403 identity-not-allowed');
    expect(await sign('CN=pump.example.test', [{ type: 'ip', value: '127.0.0.1' }])).toBe('403 identity-not-allowed');
    expect(await sign('O=Nobody')).toBe('403 identity-not-allowed');
    const long = { csr: await csrFor('CN=pump.example.test'), ttl: '10y' };
    expect(await verdict('POST', `${state}/${ca}/sign-csr`, long, token)).toBe('403 policy-denied');
  });

  test('gives any name where the policies allow names freely, by a right of its own', async () => {
    const ca = await appliance.makeCa({ est: { ...openEst, 'allowed-domains': [] } });
    await appliance.request('POST', '/v1/config/policy/policies', { name: 'signs-freely', ...rules('sign-csr', 'sign-freely') });
    const token = await makeToken(['signs-freely']);
    const body = { csr: await csrFor('CN=anything') };
    expect(await verdict('POST', `${state}/${ca}/sign-csr`, body, token)).toBe('200 done');
    expect(await verdict('POST', `${state}/${ca}/sign-csr`, body)).toBe('200 done');
    const check = { path: `${state}/${ca}/sign-csr`, operation: 'execute' };
    expect((await appliance.request('POST', '/v1/state/policy/check', check)).body).toMatchObject({
      allowed: true,
      'also-needs': ['csr', 'ttl'].map((field) => ({ field, operation: 'execute', path: `${state}/${ca}/sign-freely` })),
    });
  });
});
