// The TLS CA resource: what can be made, read back, changed and removed (TLS CA).
import { X509Certificate } from 'node:crypto';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { type EstAppliance, openEst, startEstAppliance } from '../est/est-appliance.ts';
import { makeIdentity } from './pki.ts';
import { openCaTables } from '../../../plugins/ca/records/records.ts';
import type { Answer } from '../../harness/appliance.ts';

const base = '/v1/config/keystore/tls/ca';
let appliance: EstAppliance;

beforeAll(async () => {
  appliance = await startEstAppliance();
});

const create = (name: string, fields: object = {}): Promise<Answer> => appliance.request('POST', base, { name, ...fields });
const config = async (name: string): Promise<Answer['body']> => (await appliance.request('GET', `${base}/${name}`)).body;
const codeOf = ({ status, body }: Answer): string => `${status} ${body?.code}`;

describe('defaults', () => {
  test('a CA of a name alone: ECDSA P-256, CN=<name>, ten years, EST and SCEP off and nothing allowed', async () => {
    expect((await create('plain')).status).toBe(201);
    expect(await config('plain')).toEqual({
      name: 'plain',
      'cert-key-type': 'ecdsa',
      'cert-key-curve': 'secp256r1',
      subject: 'CN=plain',
      ttl: '10y',
      ...{ 'deletion-allowed': false, 'delta-crl': false },
      est: {
        enabled: false,
        'allowed-domains': [],
        'allow-subdomains': false,
        'allow-bare-domains': false,
        'allow-ip-sans': false,
        'allow-wildcards': false,
        ttl: '30d',
        'allow-reenroll-with-issued-cert': true,
        'server-keygen': false,
      },
      scep: { enabled: false, 'allow-reenroll-with-issued-cert': true, 'approval-required': false, 'allow-old': [] },
      acme: { enabled: false, 'external-account-required': true, challenges: ['http-01', 'dns-01', 'tls-alpn-01'] },
      cmp: {
        ...{ enabled: false, 'allow-reenroll-with-issued-cert': true, 'allow-trusted-cert': false, 'approval-required': false },
        'allow-old': [],
      },
    });
    const state = await appliance.state('plain');
    expect(state).toMatchObject({ 'trust-only': false, 'key-version': 1, est: { 'https-url': [], 'initial-enroll-secret-set': false } });
    const certificate = new X509Certificate(state['ca-cert']);
    expect(certificate.ca && certificate.verify(certificate.publicKey)).toBe(true);
    expect(certificate.publicKey.asymmetricKeyDetails?.namedCurve).toBe('prime256v1');
    expect(Temporal.Instant.from(state['not-after']).since(appliance.clock.now()).total('hours') / 24).toBeCloseTo(3_650, 1);
  });

  test('a subject of several attributes keeps their order', async () => {
    await create('named', { subject: 'C=DE, O=Example\\, Inc, CN=Device CA' });
    expect(new X509Certificate((await appliance.state('named'))['ca-cert']).subject).toBe('C=DE\nO=Example\\, Inc\nCN=Device CA');
  });
});

describe('key types', () => {
  const kinds = [
    [{ 'cert-key-type': 'ecdsa' }, { namedCurve: 'prime256v1' }],
    [{ 'cert-key-type': 'ecdsa', 'cert-key-curve': 'secp384r1' }, { namedCurve: 'secp384r1' }],
    [{ 'cert-key-curve': 'secp521r1' }, { namedCurve: 'secp521r1' }],
    [{ 'cert-key-type': 'rsa', 'cert-key-bits': 2048 }, { modulusLength: 2048 }],
    [{ 'cert-key-type': 'rsa' }, { modulusLength: 3072 }],
    [{ 'cert-key-type': 'ed25519' }, {}],
  ] as const;
  test.each(kinds)('%j', async (fields, details) => {
    const name = await appliance.makeCa(fields);
    const { publicKey } = new X509Certificate((await appliance.state(name))['ca-cert']);
    expect(publicKey.asymmetricKeyDetails).toMatchObject(details);
    expect(await config(name)).toMatchObject(fields);
  });

  test('the private key is a token object that cannot leave', async () => {
    const name = await appliance.makeCa();
    const [, record] =
      [
        ...appliance.store
          .prefixed('est')
          .table<{ name: string; generations: { key: { stored: { custody: string } } }[] }>('cas')
          .entries([]),
      ].find(([, one]) => one.name === name) ?? [];
    expect(record?.generations[0]?.key.stored.custody).toBe('token');
  });

  test('curve without ecdsa, bits without rsa, unknown values: 400', async () => {
    for (const fields of [
      { 'cert-key-type': 'rsa', 'cert-key-curve': 'secp256r1' },
      { 'cert-key-type': 'ecdsa', 'cert-key-bits': 2048 },
      { 'cert-key-type': 'ed25519', 'cert-key-bits': 2048 },
      { 'cert-key-type': 'dsa' },
      { 'cert-key-curve': 'brainpoolP256r1' },
      { 'cert-key-type': 'rsa', 'cert-key-bits': 1024 },
      { subject: '' },
      { subject: 'no name' },
      { subject: 'FOO=bar' },
      { ttl: '10 years' },
      { est: { ttl: '1s' } },
      { est: { 'allowed-domains': ['*.example.test'] } },
      { est: { 'initial-enroll-trust-ca': 'no-such-ca' } },
      { 'issuing-ca': 'no-such-ca' },
    ]) {
      expect(codeOf(await create('wrong', fields)), JSON.stringify(fields)).toBe('400 invalid-value');
    }
    expect((await appliance.request('GET', `${base}/wrong`)).status).toBe(404);
  });

  test('ML-DSA without a token that offers it: 400 that names CKM_ML_DSA and the fix', async () => {
    const answer = await create('pq', { 'cert-key-type': 'ml-dsa-65' });
    expect(codeOf(answer)).toBe('400 unsupported-key-type');
    expect(answer.body.detail).toMatch(/CKM_ML_DSA.*hsm\.tokens/);
  });
});

describe('changes', () => {
  test('what was chosen at creation stays: 409; ttl and est change', async () => {
    const name = await appliance.makeCa();
    for (const fields of [{ 'cert-key-type': 'rsa' }, { 'cert-key-curve': 'secp384r1' }, { subject: 'CN=x' }, { 'issuing-ca': 'plain' }]) {
      expect(codeOf(await appliance.request('PATCH', `${base}/${name}`, fields))).toBe('409 immutable-field');
    }
    await appliance.patchCa(name, { ttl: '5y', est: { 'allowed-domains': ['more.test'] } });
    expect(await config(name)).toMatchObject({ ttl: '5y', est: { 'allowed-domains': ['example.test', 'more.test'], enabled: true } });
  });

  test('a secret that no client can send, or that is guessed at once, is refused; one of before the rule stays', async () => {
    const withSecret = (secret: string) => create('fit', { est: { ...openEst, 'initial-enroll-secret': secret } });
    for (const secret of ['x', 'five5', 'line\nline', 'nul\0nul nul', 'del\x7fdeldel', 'c1\x85c1c1c1c1']) {
      const refused = await withSecret(secret);
      expect(codeOf(refused), JSON.stringify(secret)).toBe('400 invalid-value');
      expect(refused.body.detail).toContain('"est/initial-enroll-secret"');
      expect(JSON.stringify(refused.body)).not.toContain(JSON.stringify(secret));
    }
    expect((await withSecret('sixsix')).status).toBe(201);
    expect((await create('fit-too', { est: { ...openEst, 'initial-enroll-secret': 'grüße:☃' } })).status).toBe(201);
    const table = openCaTables(appliance.store.prefixed('est')).cas;
    await appliance.store.write((transaction) => {
      const present = transaction.get(table, [appliance.tenantId, 'fit']);
      if (present !== undefined)
        transaction.put(table, [appliance.tenantId, 'fit'], { ...present, est: { ...present.est, initialEnrollSecret: 'x' } });
    });
    await appliance.patchCa('fit', { est: { ttl: '2d' } });
    expect((await appliance.state('fit')).est['initial-enroll-secret-set']).toBe(true);
  });

  test('a merge keeps the secret, null removes it, a replacement without it removes it', async () => {
    const isSet = async (name: string): Promise<boolean> => (await appliance.state(name)).est['initial-enroll-secret-set'];
    const name = await appliance.makeCa();
    await appliance.patchCa(name, { est: { ttl: '7d' } });
    expect(await isSet(name)).toBe(true);
    expect(JSON.stringify(await config(name))).not.toContain('initial-enroll-secret');
    await appliance.patchCa(name, { est: { 'initial-enroll-secret': null } });
    expect(await isSet(name)).toBe(false);
    await appliance.patchCa(name, { est: { 'initial-enroll-secret': 'another secret' } });
    expect(await isSet(name)).toBe(true);
    expect((await appliance.request('PUT', `${base}/${name}`, await config(name))).status).toBe(204);
    expect(await isSet(name)).toBe(false);
  });

  test('an unknown field is 400, a read-only field is 400, an existing name is 409', async () => {
    const name = await appliance.makeCa();
    expect(codeOf(await create(name))).toBe('409 already-exists');
    expect(codeOf(await create('odd', { colour: 'red' }))).toBe('400 unknown-field');
    expect(codeOf(await create('odd', { chain: 'x' }))).toBe('400 read-only-field');
    expect(codeOf(await create('odd', { est: { 'https-url': [] } }))).toBe('400 read-only-field');
    expect(codeOf(await create('odd', { est: { 'initial-enroll-secret-set': true } }))).toBe('400 read-only-field');
  });

  test('validate=true checks everything and makes no key', async () => {
    const generate = vi.spyOn(appliance.hsm, 'generate');
    const answer = await appliance.request('POST', `${base}?validate=true`, { name: 'only-asking' });
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({ 'cert-key-type': 'ecdsa', 'cert-key-curve': 'secp256r1', subject: 'CN=only-asking' });
    expect((await appliance.request('GET', `${base}/only-asking`)).status).toBe(404);
    expect(generate).not.toHaveBeenCalled();
    await create('asked-before');
    expect(generate).toHaveBeenCalledOnce();
    generate.mockRestore();
  });

  test('two creations of one name at once: one CA, and no key is left over', async () => {
    const answers = await Promise.all([create('twice'), create('twice'), create('twice')]);
    expect(answers.map(({ status }) => status).toSorted((left, right) => left - right)).toEqual([201, 409, 409]);
    expect([...appliance.store.prefixed('est').table('unclaimed-keys').entries([])]).toEqual([]);
  });
});

describe('trust-only CAs', () => {
  test('an uploaded certificate, no key: no EST, no signing; the certificate can be exchanged', async () => {
    const [vendor, next] = [
      await makeIdentity({ subject: 'CN=Vendor', ca: true }),
      await makeIdentity({ subject: 'CN=Vendor 2', ca: true }),
    ];
    const name = await appliance.makeCa({ 'ca-cert': vendor.pem, est: { ...openEst } });
    expect(await appliance.state(name)).toMatchObject({ 'trust-only': true, est: { enabled: true, 'https-url': [] } });
    expect((await appliance.call(name, 'cacerts')).status).toBe(404);
    for (const action of ['sign-csr', 'renew', 'csr', 'import-cert']) {
      const body = { 'sign-csr': { csr: 'x' }, 'import-cert': { certificate: vendor.pem } }[action] ?? {};
      expect(codeOf(await appliance.act(name, action, body)), action).toBe('400 ca-has-no-key');
    }
    await appliance.patchCa(name, { 'ca-cert': next.pem });
    expect(new X509Certificate((await appliance.state(name))['ca-cert']).subject).toBe('CN=Vendor 2');
    expect(codeOf(await appliance.request('PUT', `${base}/${name}`, {}))).toBe('409 immutable-field');
    const keyed = await appliance.makeCa({});
    expect(codeOf(await appliance.request('PATCH', `${base}/${keyed}`, { 'ca-cert': vendor.pem }))).toBe('409 immutable-field');
  });

  test('no PEM, several certificates, no CA certificate, an expired one, key fields beside it: 400', async () => {
    const ca = await makeIdentity({ ca: true });
    const past = { notBefore: new Date(Date.now() - 2 * 86_400_000), notAfter: new Date(Date.now() - 86_400_000) };
    const wrong = [
      'nonsense',
      `${ca.pem}\n${ca.pem}`,
      (await makeIdentity()).pem,
      (await makeIdentity({ ca: true, ...past })).pem,
      ca.pem.replace(/[A-Z]{8}/, 'AAAAAAAA'),
    ];
    for (const pem of wrong) expect(codeOf(await create('no-trust', { 'ca-cert': pem }))).toBe('400 invalid-certificate');
    expect(codeOf(await create('no-trust', { 'ca-cert': ca.pem, subject: 'CN=x' }))).toBe('400 invalid-value');
  });
});

describe('intermediates and removal', () => {
  test('issuing-ca certifies it, lists it, and cannot be deleted before it; nor can its end be passed', async () => {
    const root = await appliance.makeCa({ ttl: '100d' });
    const middle = await appliance.makeCa({ 'issuing-ca': root, ttl: '10y' });
    const [rootState, state] = [await appliance.state(root), await appliance.state(middle)];
    const [above, own] = [new X509Certificate(rootState['ca-cert']), new X509Certificate(state['ca-cert'])];
    expect(own.checkIssued(above) && own.verify(above.publicKey) && own.ca).toBe(true);
    expect(state['not-after']).toBe(rootState['not-after']);
    expect(state.chain.match(/BEGIN CERTIFICATE/g)).toHaveLength(2);
    const listed = (await appliance.request('GET', `/v1/state/keystore/tls/ca/${root}/certificates`)).body;
    expect(listed).toMatchObject([{ subject: `CN=${middle}`, via: 'issuing-ca', serial: state.serial }]);
    expect(codeOf(await appliance.request('DELETE', `${base}/${root}`))).toBe('409 in-use');
    expect((await appliance.request('DELETE', `${base}/${middle}`)).status).toBe(204);
    expect((await appliance.request('DELETE', `${base}/${root}`)).status).toBe(204);
  });

  test('a deleted CA is gone with its key, certificates and URLs; a new one of the same name is another', async () => {
    const name = await appliance.makeCa();
    const { uuid, 'crl-url': crlUrl } = await appliance.state(name);
    expect((await appliance.request('DELETE', `${base}/${name}`)).status).toBe(204);
    expect((await appliance.call(name, 'cacerts')).status).toBe(404);
    expect((await appliance.request('GET', new URL(crlUrl).pathname)).status).toBe(404);
    expect([...appliance.store.prefixed('est').table('unclaimed-keys').entries([])]).toEqual([]);
    expect([...appliance.store.prefixed('est').table('removed-cas').entries([])]).toEqual([]);
    await create(name);
    expect((await appliance.state(name)).uuid).not.toBe(uuid);
  });
});
