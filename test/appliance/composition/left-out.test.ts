// Each plugin can be left out of the list: the others go on, or the start names the plugin that needs it.
import { mkdirSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { ChangingIdentity } from '../../../appliance/tls/listener-identity.ts';
import { plugins } from '../../../appliance/plugins.ts';
import { orderPlugins } from '../../../core/plugin/registry.ts';
import type { AnyPlugin } from '../../../core/plugin/plugin.ts';
import type { OpenStore } from '../../../core/store/open.ts';
import type { Hsm } from '../../../hsm/api.ts';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { makeDeviceCsr, makeKeys, x509 } from '../../plugins/ca/pki.ts';

const path = temporaryDirectory();
const without = (name: string): readonly AnyPlugin[] => plugins.filter((plugin) => plugin.name !== name);
const transitKeys = '/v1/config/keystore/transit-keys';
const cas = '/v1/config/keystore/tls/ca';

/** An appliance without one plugin, closed after the tests with every invariant checked. */
async function startWithout(name: string): Promise<TestAppliance> {
  mkdirSync(path(name));
  const appliance = await startTestAppliance({ directory: path(name), plugins: without(name) });
  afterAll(async () => {
    expect(await appliance.check()).toEqual([]);
    await appliance.close();
  });
  return appliance;
}

/** Services that plugins use and none of them provides: the appliance does, whichever plugin is left out. */
const provided = new Set(plugins.flatMap(({ provides = [] }) => provides.map(({ name }) => name)));
const ofAppliance = plugins.flatMap(({ uses = [] }) => uses.filter(({ name }) => !provided.has(name)));

/** What the start says, which looks at the manifests before anything runs. */
function refusalOf(list: readonly AnyPlugin[]): string | undefined {
  try {
    orderPlugins(list, { offers: () => true } as unknown as Hsm, ofAppliance);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

test('the whole list starts', () => {
  expect(refusalOf(plugins)).toBeUndefined();
});

describe('without ca', () => {
  test('the start names the login by certificate, which needs it', () => {
    expect(refusalOf(without('ca'))).toMatch(/^plugin certificate-login, registry: uses the service certificate-authority, which /);
  });

  test('and without that and the protocols of devices it names vault, which needs it as well', () => {
    expect(
      refusalOf(without('ca').filter(({ name }) => !['certificate-login', 'est', 'scep', 'acme', 'cmp', 'kmip'].includes(name))),
    ).toMatch(/^plugin vault, registry: /);
  });

  test('and without all of them it names the identity of the listeners', () => {
    const identity = new ChangingIdentity({} as OpenStore, { hosts: ['localhost'], tlsKey: 'store', tlsRsaCertificate: false }).plugin;
    const others = without('ca').filter(({ name }) => !['certificate-login', 'est', 'scep', 'acme', 'cmp', 'kmip', 'vault'].includes(name));
    expect(refusalOf(others)).toBeUndefined();
    expect(refusalOf([...others, identity])).toMatch(/^plugin listener-identity, registry: uses the service certificate-authority, which /);
  });
});

test('without transit the start names openpgp, which needs it', () => {
  expect(refusalOf(without('transit'))).toMatch(/^plugin openpgp, registry: uses the service transit-keys, which /);
});

test('without est a CA issues, and its CRL and OCSP responder answer', async () => {
  const appliance = await startWithout('est');
  expect((await appliance.request('POST', cas, { name: 'alone', est: { enabled: true } })).status).toBe(201);
  const state = '/v1/state/keystore/tls/ca/alone';
  expect((await appliance.request('GET', state)).body.est).toMatchObject({ enabled: true, 'https-url': [] });
  const der = await makeDeviceCsr(await makeKeys('P-256'), 'server.example.test');
  const csr = `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
  const { body: issued } = await appliance.request('POST', `${state}/sign-csr`, { csr });
  expect(new x509.X509Certificate(issued.certificate).subject).toBe('CN=server.example.test');
  expect((await appliance.request('POST', `${state}/revoke`, { serial: issued.serial })).status).toBe(200);
  const { body: system } = await appliance.request('GET', '/v1/state/tenants/system');
  const base = `/v1/ca/${system.uuid}/alone`;
  expect(await appliance.request('GET', `${base}/crl`)).toMatchObject({ status: 200, headers: { 'content-type': 'application/pkix-crl' } });
  // An empty request is malformed, and the responder says so.
  expect(await appliance.request('GET', `${base}/ocsp/MAA=`)).toMatchObject({
    status: 200,
    headers: { 'content-type': 'application/ocsp-response' },
  });
});

test('without openpgp keys encrypt, and a User ID is refused', async () => {
  const appliance = await startWithout('openpgp');
  expect((await appliance.request('POST', transitKeys, { name: 'plain' })).status).toBe(201);
  const { body } = await appliance.request('POST', '/v1/state/keystore/transit-keys/plain/encrypt', { plaintext: 'aGVsbG8=' });
  expect(body.ciphertext).toMatch(/^store:v1:/);
  const fields = { name: 'signer', cipher: 'ed25519', 'openpgp-user-id': 'A <a@example.test>' };
  expect((await appliance.request('POST', transitKeys, fields)).status).toBe(400);
});

test.each(['console', 'jwt', 'oidc', 'random'])('without %s keys encrypt', async (name) => {
  const appliance = await startWithout(name);
  expect((await appliance.request('POST', transitKeys, { name: 'plain' })).status).toBe(201);
  expect((await appliance.request('POST', '/v1/state/keystore/transit-keys/plain/encrypt', { plaintext: 'aGVsbG8=' })).status).toBe(200);
});
