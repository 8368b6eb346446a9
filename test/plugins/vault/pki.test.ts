// Certificates by the API of Vault: a role is a CA with its identity policy, and each request is the request of our API that it stands for.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestAppliance, type Answer, type TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { makeCsr, makeKeys, type Names, x509 } from '../ca/pki.ts';
import { asVaultClient } from './vault-client.ts';

const at = temporaryDirectory();
let appliance: TestAppliance;
let acme: string;
let other: string;

const ask = asVaultClient(() => appliance);
const ours = (method: string, path: string, body?: unknown, token: string = appliance.rootToken) =>
  appliance.request(method, `/v1/${path}`, body, { token });
const dataOf = ({ status, body }: Answer) => {
  expect([status, body.errors]).toEqual([200, undefined]);
  return body.data;
};

async function makeTenant(name: string): Promise<string> {
  await ours('POST', 'config/tenants', { name });
  return (await ours('POST', 'state/keystore/token/create-root', { name })).body.token;
}

async function csrOf(subject: string, names?: Names): Promise<string> {
  const der = await makeCsr({ keys: await makeKeys('P-256'), subject, ...(names === undefined ? {} : { names }) });
  return `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
}
const web = (): Promise<string> => csrOf('CN=a.example.test', [{ type: 'dns', value: 'a.example.test' }]);

/** A token that may do these actions at the CA `web`, and nothing else. */
const tokenFor = (name: string, ...actions: readonly string[]): Promise<string> => tokenAt('web', name, ...actions);

async function tokenAt(ca: string, name: string, ...actions: readonly string[]): Promise<string> {
  const rules = actions.map((action) => ({ path: `/v1/state/keystore/tls/ca/${ca}/${action}`, operations: { all: 'allow' } }));
  expect((await ours('POST', 'config/policy/policies', { name, 'rest-api': { rules } }, acme)).status).toBe(201);
  return (await ours('POST', 'state/keystore/token/create', { policies: [name], ttl: '1h' }, acme)).body.token;
}

beforeAll(async () => {
  appliance = await startTestAppliance({
    directory: at('vault'),
    configuration: {
      vault: { tenants: { system: {}, acme: {}, other: {} }, pkiMounts: { pki: { tenant: 'acme', ca: 'web' }, 'any/pki': {} } },
    },
  });
  [acme, other] = [await makeTenant('acme'), await makeTenant('other')];
  const est = { 'allowed-domains': ['example.test'], 'allow-subdomains': true, ttl: '30d' };
  for (const [name, more] of [
    ['top', {}],
    ['web', { 'issuing-ca': 'top', est }],
  ] as const)
    expect((await ours('POST', 'config/keystore/tls/ca', { name, ...more }, acme)).status).toBe(201);
});
afterAll(async () => {
  expect(await appliance.check()).toEqual([]);
  await appliance.close();
});

describe('a request for a certificate', () => {
  test('is answered with the certificate, its issuer and its chain', async () => {
    const token = await tokenFor('signs', 'sign-csr');
    const data = dataOf(await ask('POST', 'pki/sign/web', { csr: await web(), common_name: 'a.example.test', ttl: '24h' }, token));
    const certificate = new X509Certificate(data.certificate);
    const [issuing, root] = data.ca_chain.map((pem: string) => new X509Certificate(pem));
    expect([data.ca_chain.length, data.issuing_ca]).toEqual([2, data.ca_chain[0]]);
    expect([certificate.verify(issuing.publicKey), issuing.verify(root.publicKey), root.verify(root.publicKey)]).toEqual([
      true,
      true,
      true,
    ]);
    expect(certificate.subjectAltName).toBe('DNS:a.example.test');
    expect(data.serial_number.replaceAll(':', '').toUpperCase()).toBe(certificate.serialNumber);
    expect(data.expiration).toBe(certificate.validToDate.getTime() / 1_000);
    expect(data.not_before).toBe(certificate.validFromDate.getTime() / 1_000);
    expect(data.expiration - data.not_before).toBe(86_400 + 60);
    expect(data.certificate).toMatch(/^-----BEGIN CERTIFICATE-----\n[^]*-----END CERTIFICATE-----$/);
  });

  test('may be as cert-manager sends it: all as text, with the names in both places', async () => {
    const { body } = await ask(
      'POST',
      'pki/sign/web',
      {
        ...{ csr: await web(), common_name: 'a.example.test', alt_names: 'a.example.test', ip_sans: '', uri_sans: '' },
        ...{ ttl: '2160h0m0s', exclude_cn_from_sans: 'true' },
      },
      acme,
    );
    expect(body.warnings).toEqual([expect.stringContaining('maxTTL')]);
    expect(body.data.expiration - body.data.not_before).toBe(30 * 86_400 + 60);
  });

  test.each([
    'issuer/web/sign/web',
    'issuer/default/sign/web',
    'issuer/web/sign-verbatim',
    'issuer/default/sign-verbatim',
    'sign-verbatim',
  ])('may go to %s', async (path) => {
    expect(dataOf(await ask('PUT', `pki/${path}`, { csr: await web() }, acme)).issuing_ca).toContain('CERTIFICATE');
  });

  test('names that the fields have and the request has not are told', async () => {
    const { body } = await ask('POST', 'pki/sign/web', { csr: await web(), alt_names: 'a.example.test, b.example.test' }, acme);
    expect(body.warnings).toEqual([expect.stringMatching(/those of the fields: b\.example\.test\.$/)]);
  });

  test('beyond the identity policy needs sign-freely as well, whatever the path', async () => {
    const csr = await csrOf('CN=elsewhere.test', [{ type: 'dns', value: 'elsewhere.test' }]);
    const strict = await tokenFor('strict', 'sign-csr');
    const free = await tokenFor('free', 'sign-csr', 'sign-freely');
    for (const path of ['pki/sign/web', 'pki/sign-verbatim']) {
      const refused = await ask('POST', path, { csr }, strict);
      expect([refused.status, refused.body.errors[0]]).toEqual([400, expect.stringContaining('not within allowed-domains')]);
      expect((await ask('POST', path, { csr }, free)).status).toBe(200);
    }
    const long = await ask('POST', 'pki/sign-verbatim', { csr, ttl: '60d' }, strict);
    expect([long.status, long.body.errors[0]]).toEqual([403, expect.stringContaining('permission denied')]);
    const { expiration, not_before } = dataOf(await ask('POST', 'pki/sign-verbatim', { csr, ttl: '60d' }, free));
    expect(expiration - not_before).toBe(60 * 86_400 + 60);
  });

  test('sign-verbatim may ask for one purpose', async () => {
    const one = dataOf(await ask('POST', 'pki/sign-verbatim/web', { csr: await web(), ext_key_usage: ['ServerAuth'] }, acme));
    expect(new X509Certificate(one.certificate).keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
    const { status } = await ask('POST', 'pki/sign-verbatim', { csr: await web(), ext_key_usage: 'CodeSigning' }, acme);
    expect(status).toBe(400);
  });

  test.each(['sign/web', 'issue/web', 'sign-verbatim', 'issuer/web/sign/web'])(
    'at %s is refused with a limit that the certificate would not have, and has the purpose that it asks for',
    async (path) => {
      const asked = { csr: await web(), common_name: 'a.example.test' };
      for (const [limit, words] of [
        [{ not_after: '2099-01-01T00:00:00Z' }, '"ttl"'],
        [{ not_before: '2099-01-01T00:00:00Z' }, 'not_before'],
        [{ ext_key_usage_oids: ['1.3.6.1.5.5.7.3.3'] }, 'ext_key_usage'],
        [{ ext_key_usage: ['CodeSigning'] }, 'ServerAuth'],
      ] as const) {
        const { status, body } = await ask('POST', `pki/${path}`, { ...asked, ...limit }, acme);
        expect([status, body.errors[0]]).toEqual([400, expect.stringContaining(words)]);
      }
      const empty = { not_after: '', ext_key_usage_oids: [], not_before: null, ext_key_usage: '' };
      const all = dataOf(await ask('POST', `pki/${path}`, { ...asked, ...empty }, acme));
      expect(new X509Certificate(all.certificate).keyUsage).toHaveLength(2);
      const one = dataOf(await ask('POST', `pki/${path}`, { ...asked, ext_key_usage: 'ClientAuth' }, acme));
      expect(new X509Certificate(one.certificate).keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
    },
  );

  test('is answered in the format that it asks for', async () => {
    const der = dataOf(await ask('POST', 'pki/sign/web', { csr: await web(), format: 'der' }, acme));
    expect(new X509Certificate(Buffer.from(der.certificate, 'base64')).subject).toBe('CN=a.example.test');
    expect(new X509Certificate(Buffer.from(der.ca_chain[1], 'base64')).subject).toBe('CN=top');
    const bundle = dataOf(
      await ask('POST', 'pki/sign/web', { csr: await web(), format: 'pem_bundle', remove_roots_from_chain: true }, acme),
    );
    expect(bundle.certificate.match(/BEGIN CERTIFICATE/g)).toHaveLength(2);
    expect(bundle.ca_chain).toHaveLength(1);
    expect((await ask('POST', 'pki/sign/web', { csr: await web(), format: 'p12' }, acme)).status).toBe(400);
  });

  test.each([
    ['pki/sign/none', {}, 'unknown role'],
    ['pki/sign/Web.1', {}, 'unknown role'],
    ['pki/issuer/top/sign/web', {}, 'unknown role'],
    ['any/pki/sign-verbatim', {}, 'no default issuer'],
    ['pki/sign/web', { csr: '' }, 'csr contains no data'],
    ['pki/sign/web', { csr: 'x' }, 'certification request'],
    ['pki/sign/web', { ttl: 'soon' }, 'error converting input for field "ttl"'],
  ])('to %s with %j is 400', async (path, more, words) => {
    const { status, body } = await ask('POST', path, { csr: await web(), ...more }, acme);
    expect([status, body.errors[0]]).toEqual([400, expect.stringContaining(words)]);
  });

  test('a path with a tenant is unknown to tokens of others, one without is for the tenant of the token', async () => {
    expect((await ask('POST', 'pki/sign/web', { csr: await web() }, other)).body).toEqual({
      errors: [expect.stringContaining('unknown role')],
    });
    expect((await ask('LIST', 'pki/certs', undefined, other)).status).toBe(404);
    expect((await ask('POST', 'any/pki/sign/web', { csr: await web() }, acme)).status).toBe(200);
    expect((await ask('POST', 'any/pki/sign/web', { csr: await web() }, other)).status).toBe(400);
  });
});

describe('a certificate with its key', () => {
  test('has the names of the fields, and the key belongs to it', async () => {
    const data = dataOf(
      await ask('POST', 'pki/issue/web', { common_name: 'a.example.test', alt_names: 'b.example.test', ttl: '1h' }, acme),
    );
    const certificate = new X509Certificate(data.certificate);
    expect([certificate.subject, certificate.subjectAltName]).toEqual(['CN=a.example.test', 'DNS:a.example.test, DNS:b.example.test']);
    expect([data.private_key_type, certificate.checkPrivateKey(createPrivateKey(data.private_key))]).toEqual(['ec', true]);
    expect(data.private_key).toMatch(/^-----BEGIN EC PRIVATE KEY-----/);
    const bundle = dataOf(
      await ask('POST', 'pki/issue/web', { common_name: 'a.example.test', format: 'pem_bundle', private_key_format: 'pkcs8' }, acme),
    );
    expect(bundle.certificate).toMatch(/^-----BEGIN PRIVATE KEY-----[^]*BEGIN CERTIFICATE-----[^]*BEGIN CERTIFICATE-----/);
    const der = dataOf(await ask('POST', 'pki/issuer/web/issue/web', { common_name: 'a.example.test', format: 'der' }, acme));
    expect(createPrivateKey({ key: Buffer.from(der.private_key, 'base64'), format: 'der', type: 'sec1' }).type).toBe('private');
  });

  test.each([
    [{ common_name: 'elsewhere.test' }, 'not within allowed-domains'],
    [{ common_name: 'a.example.test', ip_sans: '192.0.2.1' }, 'allow-ip-sans'],
    [{}, 'subject'],
    [{ common_name: 'a.example.test', other_sans: '1.2.3;UTF8:x' }, 'allowed-other-names'],
    [{ common_name: 'a.example.test', other_sans: '1.2.3;IA5:x' }, 'OID;UTF8:value'],
    [{ common_name: 'a.example.test', alt_names: 'alice@example.test' }, 'mail address'],
    [{ common_name: 'x, O=Other' }, 'not a host name'],
    [{ common_name: 'a.example.test', private_key_format: 'jwk' }, 'private_key_format'],
  ])('%j is 400', async (body, words) => {
    const token = await tokenFor(`issues-${words.length}`, 'issue', 'sign-csr');
    const { status, body: refused } = await ask('POST', 'pki/issue/web', body, token);
    expect([status, refused.errors[0]]).toEqual([400, expect.stringContaining(words)]);
  });

  test('has mail addresses and names of other types, which the policy of the CA allows', async () => {
    const upn = '1.3.6.1.4.1.311.20.2.3';
    const est = { 'allowed-domains': ['example.test'], 'allow-subdomains': true, 'allowed-emails': ['*@example.test'] };
    const people = { name: 'people', est: { ...est, 'allowed-other-names': [`${upn};UTF8:*@example.test`] } };
    expect((await ours('POST', 'config/keystore/tls/ca', people, acme)).status).toBe(201);
    const token = await tokenAt('people', 'issues-people', 'issue', 'sign-csr');
    const wish = { common_name: 'a.example.test', alt_names: 'b.example.test,alice@example.test' };
    const names = async (other_sans: unknown): Promise<string | undefined> =>
      new X509Certificate(dataOf(await ask('POST', 'pki/issue/people', { ...wish, other_sans }, token)).certificate).subjectAltName;
    for (const given of [`${upn};UTF8:alice@example.test`, [`${upn};utf-8:alice@example.test`]])
      expect(await names(given)).toBe('DNS:a.example.test, DNS:b.example.test, email:alice@example.test, othername:UPN:alice@example.test');
  });

  test('needs the right to issue, and that to sign the same request', async () => {
    const issued = async (...actions: readonly string[]) =>
      (await ask('POST', 'pki/issue/web', { common_name: 'a.example.test' }, await tokenFor(`with-${actions.join('-')}`, ...actions)))
        .status;
    expect(await Promise.all([issued('issue'), issued('sign-csr'), issued('issue', 'sign-csr')])).toEqual([403, 403, 200]);
  });

  test('leaves no key in the records', async () => {
    const { private_key: key } = dataOf(await ask('POST', 'pki/issue/web', { common_name: 'a.example.test' }, acme));
    const audit = at('vault/audit');
    const text = readdirSync(audit)
      .map((name) => readFileSync(join(audit, name), 'utf8'))
      .join('');
    expect(text).toContain('/v1/state/keystore/tls/ca/web/issue');
    for (const line of key.split('\n').slice(1, -1)) expect(text).not.toContain(line);
    expect(text).not.toContain('PRIVATE KEY');
  });
});

describe('an intermediate', () => {
  // As the authority of SPIRE asks for one.
  const spire = { common_name: '', organization: 'SPIFFE', country: 'US', uri_sans: 'spiffe://example.org', ttl: '3600' };
  const csr = (): Promise<string> => csrOf('C=US, O=SPIFFE', [{ type: 'url', value: 'spiffe://example.org' }]);

  test.each(['root/sign-intermediate', 'issuer/default/sign-intermediate', 'issuer/web/sign-intermediate'])(
    'is certified at %s, with a chain that begins with itself',
    async (path) => {
      const answer = await ask('PUT', `pki/${path}`, { csr: await csr(), ...spire }, acme);
      expect(answer.body.warnings).toBeNull();
      const data = dataOf(answer);
      const [own, issuing, root] = data.ca_chain.map((pem: string) => new X509Certificate(pem));
      expect([data.ca_chain[0], data.ca_chain[1], data.ca_chain.length]).toEqual([data.certificate, data.issuing_ca, 3]);
      expect([own.ca, own.subjectAltName, own.verify(issuing.publicKey), root.subject]).toEqual([
        ...[true, 'URI:spiffe://example.org', true],
        'CN=top',
      ]);
      expect(data.expiration - data.not_before).toBe(3_600 + 60);
    },
  );

  test('has the limits that were asked for, and is refused with those that cannot be set', async () => {
    const limits = { max_path_length: '1', permitted_dns_domains: 'a.test,b.test', permitted_uri_domains: ['example.org'] };
    const data = dataOf(await ask('POST', 'pki/root/sign-intermediate', { csr: await csr(), ...limits }, acme));
    const certificate = new x509.X509Certificate(data.certificate);
    expect(certificate.getExtension(x509.BasicConstraintsExtension)?.pathLength).toBe(1);
    expect(Buffer.from(certificate.getExtension('2.5.29.30')?.value ?? new ArrayBuffer(0)).toString('latin1')).toMatch(
      /a\.test[^]*b\.test[^]*example\.org/,
    );
    const refused = await ask('POST', 'pki/root/sign-intermediate', { csr: await csr(), excluded_ip_ranges: '10.0.0.0/8' }, acme);
    expect([refused.status, refused.body.errors[0]]).toEqual([400, expect.stringContaining('excluded_ip_ranges')]);
  });

  test.each([
    [{ permitted_uri_domain: 'example.org' }, 'permitted_uri_domain'],
    [{ excluded_everything: ['a.test'] }, 'excluded_everything'],
    [{ not_after: '2099-01-01T00:00:00Z' }, '"ttl"'],
  ])('is refused with a limit that it would not have: %j', async (limits, words) => {
    const { status, body } = await ask('POST', 'pki/issuer/web/sign-intermediate', { csr: await csr(), ...limits }, acme);
    expect([status, body.errors[0]]).toEqual([400, expect.stringContaining(words)]);
  });

  test('needs the right to certify a CA', async () => {
    const token = await tokenFor('signs-leaves', 'sign-csr');
    expect((await ask('PUT', 'pki/root/sign-intermediate', { csr: await csr(), ...spire }, token)).status).toBe(403);
    expect((await ask('PUT', 'any/pki/root/sign-intermediate', { csr: await csr(), ...spire }, acme)).status).toBe(400);
  });
});

describe('what a CA publishes', () => {
  const get = (path: string) => ask('GET', path, undefined, null);

  test('is there without a token: certificate, chain, revocation list', async () => {
    const ca = new X509Certificate((await get('pki/ca')).octets);
    expect(ca.subject).toBe('CN=web');
    const pem = await get('pki/ca/pem');
    expect([new X509Certificate(pem.text).serialNumber, pem.headers['content-type']]).toEqual([
      ca.serialNumber,
      'application/pem-certificate-chain',
    ]);
    expect((await get('pki/ca_chain')).text.match(/BEGIN CERTIFICATE/g)).toHaveLength(2);
    expect((await get('pki/cert/ca')).body.data).toMatchObject({ certificate: pem.text, revocation_time: 0 });
    expect((await get('pki/cert/ca_chain')).body.data.ca_chain).toContain(pem.text);
    const list = await get('pki/crl');
    expect([list.octets[0], list.headers['content-type']]).toEqual([0x30, 'application/pkix-crl']);
    const listPem = (await get('pki/crl/pem')).text;
    expect(listPem).toMatch(/^-----BEGIN X509 CRL-----/);
    expect((await get('pki/cert/crl')).body.data.certificate).toBe(listPem);
  });

  test('is not there where the path has neither tenant nor CA', async () => {
    for (const path of ['ca', 'ca/pem', 'crl']) expect((await get(`any/pki/${path}`)).status).toBe(404);
  });
});

describe('certificates on record', () => {
  test('are listed, read and revoked, and revoked again to the same answer', async () => {
    const { serial_number: serial, certificate } = dataOf(await ask('POST', 'pki/sign/web', { csr: await web() }, acme));
    expect(dataOf(await ask('LIST', 'pki/certs', undefined, acme)).keys).toContain(serial);
    expect(dataOf(await ask('GET', 'pki/certs?list=true&limit=1', undefined, acme)).keys).toHaveLength(1);
    expect(dataOf(await ask('GET', `pki/cert/${serial}`, undefined, acme))).toEqual({
      ...{ certificate, revocation_time: 0, revocation_time_rfc3339: '' },
    });
    const first = dataOf(await ask('POST', 'pki/revoke', { serial_number: serial }, acme));
    expect(first).toEqual({ state: 'revoked', revocation_time: expect.any(Number), revocation_time_rfc3339: expect.any(String) });
    expect(dataOf(await ask('PUT', 'pki/revoke', { certificate }, acme))).toEqual(first);
    expect(dataOf(await ask('GET', `pki/cert/${serial.replaceAll(':', '-')}`, undefined, acme))).toMatchObject({
      revocation_time: first.revocation_time,
    });
  });

  test('a token that may revoke and not read is told no more', async () => {
    const token = await tokenFor('revokes', 'revoke');
    const { serial_number } = dataOf(await ask('POST', 'pki/sign/web', { csr: await web() }, acme));
    expect(dataOf(await ask('POST', 'pki/revoke', { serial_number }, token))).toEqual({ state: 'revoked' });
  });

  test('are not revoked by a body that names two, nor by the certificate of another issuer with the same number', async () => {
    const { certificate, serial_number: serial } = dataOf(await ask('POST', 'pki/sign/web', { csr: await web() }, acme));
    const serialNumber = serial.replaceAll(':', '');
    const forged = await x509.X509CertificateGenerator.createSelfSigned({ name: 'CN=web', serialNumber, keys: await makeKeys('P-256') });
    for (const [body, words] of [
      [{ serial_number: serial, certificate }, 'not both'],
      [{ certificate: `${certificate}\n${certificate}` }, 'one certificate'],
      [{ certificate: forged.toString('pem') }, 'not found'],
    ] as const) {
      const { status, body: refused } = await ask('POST', 'pki/revoke', body, acme);
      expect([status, refused.errors[0]]).toEqual([400, expect.stringContaining(words)]);
    }
    expect(dataOf(await ask('GET', `pki/cert/${serial}`, undefined, acme)).revocation_time).toBe(0);
  });

  test.each([
    ['pki/revoke', { serial_number: 'aa:bb' }, 400, 'not found'],
    ['pki/revoke', { serial_number: 'none' }, 400, 'hexadecimal'],
    ['pki/revoke', {}, 400, 'must be provided'],
    ['any/pki/revoke', { serial_number: 'aa:bb' }, 400, 'no default issuer'],
  ])('%s with %j is %i', async (path, body, status, words) => {
    const answer = await ask('POST', path, body, acme);
    expect([answer.status, answer.body.errors[0]]).toEqual([status, expect.stringContaining(words)]);
  });

  test('need a token, and a serial number that the CA has given', async () => {
    expect((await ask('GET', 'pki/cert/aa:bb', undefined, null)).status).toBe(403);
    expect((await ask('GET', 'pki/certs', undefined, acme)).status).toBe(405);
    for (const serial of ['aa:bb', 'zz', '..', 'a']) expect((await ask('GET', `pki/cert/${serial}`, undefined, acme)).status).toBe(404);
  });
});

test('the paths are among the mounts', async () => {
  const { body } = await ask('GET', 'sys/mounts', undefined, acme);
  expect([body.data['pki/'].type, body.data['any/pki/'].type, body.data['transit/'].type]).toEqual(['pki', 'pki', 'transit']);
  expect(dataOf(await ask('GET', 'sys/internal/ui/mounts/pki/sign/web', undefined, acme))).toMatchObject({ type: 'pki', path: 'pki/' });
});

test('capabilities are the decisions of the policies about the CA', async () => {
  const token = await tokenFor('some', 'sign-csr', 'certificates/*');
  const allowed = {
    ...{
      'pki/sign/web': ['update'],
      'pki/issuer/default/sign/web': ['update'],
      'pki/sign-verbatim': ['update'],
      'pki/cert/aa:bb': ['read'],
    },
    ...{
      'pki/sign/top': ['deny'],
      'pki/issuer/top/sign/web': ['deny'],
      'pki/revoke': ['deny'],
      'pki/issue/web': ['deny'],
      'pki/root/sign-intermediate': ['deny'],
      'pki/certs': ['deny'],
    },
    ...{ 'any/pki/sign-verbatim': ['deny'], 'pki/cert/zz': ['deny'], 'pki/roles/web': ['deny'], 'pki/sign/web/more': ['deny'] },
  };
  expect(dataOf(await ask('POST', 'sys/capabilities-self', { paths: Object.keys(allowed) }, token))).toEqual(allowed);
});
