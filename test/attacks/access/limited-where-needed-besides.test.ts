// Our own mistake: a right that rules give for certain values alone counted as the whole right where another request has the same effect.
import { beforeAll, describe, expect, test } from 'vitest';
import { makeDeviceCsr, makeKeys } from '../../plugins/ca/pki.ts';
import { startVictim, type Victim } from '../victim.ts';

let victim: Victim;
const keys = '/v1/config/keystore/transit-keys';
const keyState = '/v1/state/keystore/transit-keys';
const cas = '/v1/config/keystore/tls/ca';
const caState = '/v1/state/keystore/tls/ca';
const refused = '403 policy-denied';
const open = { enabled: true, 'allowed-domains': ['example.com'], 'allow-subdomains': true };

beforeAll(async () => {
  victim = await startVictim();
  await victim.request('POST', cas, { name: 'devices', est: open });
});

let policies = 0;
/** Of a token with rules that allow, each for these values alone: path, operation, values. */
async function tokenFor(...rules: readonly (readonly [string, string, object?])[]): Promise<string> {
  const name = `limited-${(policies += 1)}`;
  const written = rules.map(([path, operation, values = {}]) => ({
    ...{ path, operations: { [operation]: 'allow' } },
    'allowed-values': values,
  }));
  await victim.makePolicy(name, written);
  return victim.makeToken([name]);
}

async function csr(): Promise<string> {
  const der = await makeDeviceCsr(await makeKeys('P-256'), 'device.example.com');
  return `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----`;
}

describe('a right to sign with certain values', () => {
  const change = (token: string, est: object) => victim.request('PATCH', `${cas}/devices`, { est }, { token });
  const update = [`${cas}/devices`, 'update'] as const;
  const sign = `${caState}/devices/sign-csr`;

  test('opens no enrolment that gives more, and the refusal says what', async () => {
    const token = await tokenFor(update, [sign, 'execute', { ttl: ['1h'], usages: ['client-auth'] }]);
    const { status, body } = await change(token, { 'initial-enroll-secret': 'a secret of the caller' });
    expect([status, body.code]).toEqual([403, 'policy-denied']);
    expect(body.detail).toMatch(
      /^This is "execute" on \/v1\/state\/keystore\/tls\/ca\/devices\/sign-csr in effect, which the policies allow with other values\. .*"ttl"/,
    );
  });

  test('opens one that gives what it allows, and an unlimited right any', async () => {
    for (const values of [{ ttl: ['30d'] }, { usages: ['client-auth', 'server-auth'] }, { exportable: [false] }, {}]) {
      const token = await tokenFor(update, [sign, 'execute', values]);
      expect((await change(token, { 'initial-enroll-secret': `secret for ${JSON.stringify(values)}` })).status).toBe(204);
    }
  });

  test('widens nothing where the right to decide freely has certain values', async () => {
    const widen = (values: object) => tokenFor(update, [sign, 'execute'], [`${caState}/devices/sign-freely`, 'execute', values]);
    expect((await change(await widen({ ttl: ['90d'] }), { ttl: '100d' })).status).toBe(403);
    expect((await change(await widen({ ttl: ['90d'] }), { ttl: '90d' })).status).toBe(204);
    expect((await change(await widen({}), { ttl: '30d' })).status).toBe(204);
  });

  test('signs freely within those values alone', async () => {
    const token = await tokenFor([sign, 'execute'], [`${caState}/devices/sign-freely`, 'execute', { ttl: ['60d'] }]);
    const signing = async (ttl: string) => victim.verdict('POST', sign, { csr: await csr(), ttl }, { token });
    expect(await signing('60d')).toBe('200 done');
    expect(await signing('61d')).toBe(refused);
  });

  test.each([
    [{ ttl: ['1h'] }, {}],
    [{}, { usages: ['client-auth'] }],
  ])('certifies no CA: sign-csr %j, certify-ca %j', async (signing, certifying) => {
    const needed = [[sign, 'execute', signing] as const, [`${caState}/devices/certify-ca`, 'execute', certifying] as const];
    const token = await tokenFor([cas, 'create'], [`${cas}/*`, 'create'], ...needed);
    expect(await victim.verdict('POST', cas, { name: 'below', 'issuing-ca': 'devices' }, { token })).toBe(refused);
    const question = { path: cas, operation: 'create', names: { 'issuing-ca': 'devices' } };
    const { body } = await victim.request('POST', '/v1/state/policy/check', question, { token });
    expect(body).toMatchObject({ allowed: false, why: expect.stringContaining('"issuing-ca" names "devices"') as string });
  });
});

describe('a right to revoke certain serial numbers', () => {
  test('names no others for import-revocations', async () => {
    const { serial } = (await victim.request('POST', `${caState}/devices/sign-csr`, { csr: await csr() })).body;
    const importing = `${caState}/devices/import-revocations`;
    const token = await tokenFor([importing, 'execute'], [`${caState}/devices/revoke`, 'execute', { serial: ['aa'] }]);
    expect(await victim.verdict('POST', importing, { serials: ['aa', serial] }, { token })).toBe(refused);
    expect(await victim.verdict('POST', importing, { serials: ['aa'] }, { token })).toBe('200 done');
  });

  test('deletes no CA whose own certificate is another', async () => {
    await victim.request('POST', cas, { name: 'middle', 'issuing-ca': 'devices' });
    const remove = async (values: object) => {
      const seen = [`${cas}/*`, `${caState}/*`].map((path) => [path, 'read'] as const);
      const token = await tokenFor([`${cas}/middle`, 'delete'], ...seen, [`${caState}/devices/revoke`, 'execute', values]);
      return victim.verdict('DELETE', `${cas}/middle?validate=true`, undefined, { token });
    };
    expect(await remove({ serial: ['aa'] })).toBe(refused);
    expect(await remove({ reason: ['key-compromise'] })).toBe(refused);
    expect(await remove({ reason: ['cessation-of-operation'] })).toBe('204 done');
  });
});

test('a right to import what is wrapped restores nothing', async () => {
  for (const name of ['source', 'target']) await victim.request('POST', keys, { name, 'allow-plaintext-backup': true });
  const { key } = (await victim.request('POST', `${keyState}/source/backup`, {})).body;
  const needed = [[`${keys}/target`, 'update'] as const, [`${keyState}/target/restore`, 'execute'] as const];
  const restore = async (values: object) => {
    const token = await tokenFor(...needed, [`${keyState}/target/import`, 'execute', values]);
    return victim.verdict('POST', `${keyState}/target/restore`, { key }, { token });
  };
  expect(await restore({ data: [null] })).toBe(refused);
  expect(await restore({ ciphertext: [null] })).toBe('204 done');
});

test('a trusted certificate is changed by nobody whose right to sign at the trusting CA has certain values', async () => {
  const certificate = async (name: string) => {
    await victim.request('POST', cas, { name });
    return (await victim.request('GET', `${caState}/${name}`)).body['ca-cert'] as string;
  };
  const [born, other] = [await certificate('maker'), await certificate('other-maker')];
  await victim.request('POST', cas, { name: 'birth', 'ca-cert': born });
  await victim.request('POST', cas, { name: 'enrolling', est: { 'initial-enroll-trust-ca': 'birth' } });
  const patch = async (values: object) => {
    const token = await tokenFor([`${cas}/birth`, 'update'], [`${caState}/enrolling/sign-csr`, 'execute', values]);
    return victim.verdict('PATCH', `${cas}/birth`, { 'ca-cert': other }, { token });
  };
  expect(await patch({ usages: ['client-auth'] })).toBe(refused);
  expect(await patch({ ttl: ['30d'] })).toBe('204 done');
});
