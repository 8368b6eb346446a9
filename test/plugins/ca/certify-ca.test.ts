// certify-ca: a CA whose key is elsewhere, as OpenSSL judges what it certifies; its limits, and who may ask for one.
import { X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type EstAppliance, startEstAppliance } from '../est/est-appliance.ts';
import { file, openssl } from '../est/openssl.ts';
import { type Keys, makeCsr, makeIdentity, makeKeys, type Names, usages, x509 } from './pki.ts';

let appliance: EstAppliance;
let ca: string;
let keys: Keys;

beforeAll(async () => {
  appliance = await startEstAppliance();
  ca = await appliance.makeCa({ subject: 'CN=Top, O=Example' });
  keys = await makeKeys('P-256');
});

const trustDomain: Names = [{ type: 'url', value: 'spiffe://example.org' }];

async function csrOf(subject = 'C=US, O=SPIFFE', names: Names | undefined = trustDomain): Promise<string> {
  const der = await makeCsr({ keys, subject, ...(names === undefined ? {} : { names }) });
  return `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
}
const certify = async (more: object = {}, csr?: string) => appliance.act(ca, 'certify-ca', { csr: csr ?? (await csrOf()), ...more });

/** A certificate by the key of the CA that was certified. */
async function below(issuer: string, subject: string, names: Names, ca = false): Promise<string> {
  const made = await x509.X509CertificateGenerator.create({
    ...{ subject, issuer: new x509.X509Certificate(issuer).subjectName, publicKey: keys.publicKey, signingKey: keys.privateKey },
    signingAlgorithm: keys.signing as EcdsaParams,
    ...{
      notBefore: new Date(appliance.clock.now().epochMilliseconds),
      notAfter: new Date(appliance.clock.now().epochMilliseconds + 3_600_000),
    },
    extensions: [
      ...(ca ? [new x509.BasicConstraintsExtension(true, undefined, true)] : []),
      new x509.SubjectAlternativeNameExtension(names, false),
    ],
  });
  return made.toString('pem');
}

let count = 0;
/** Judges a certificate below the CA with `openssl verify`, at the time of the appliance. */
function verdict(leaf: string, intermediates: string, root: string): string {
  const name = `verify-${count++}`;
  const at = (what: string, text: string): string => file(join(appliance.directory, `${name}-${what}.pem`), text);
  const time = String(Math.floor(appliance.clock.now().epochMilliseconds / 1_000) + 60);
  const args = ['-attime', time, '-CAfile', at('root', root), '-untrusted', at('middle', intermediates), at('leaf', leaf)];
  const { code, output } = openssl('verify', ...args);
  return code === 0 ? 'OK' : (/error \d+ at [^\n]*: ([^\n]*)/.exec(output)?.[1] ?? output);
}

describe('a CA elsewhere', () => {
  test('is certified with the names of its request, for as long as asked, with no CA below', async () => {
    const { status, body } = await certify({ ttl: '90d' });
    expect(status, JSON.stringify(body)).toBe(200);
    const certificate = new X509Certificate(body.certificate);
    expect([certificate.ca, certificate.subject, certificate.subjectAltName]).toEqual([true, 'C=US\nO=SPIFFE', 'URI:spiffe://example.org']);
    expect((certificate.validToDate.getTime() - certificate.validFromDate.getTime()) / 1_000).toBe(90 * 86_400 + 60);
    expect(new x509.X509Certificate(body.certificate).getExtension(x509.BasicConstraintsExtension)).toMatchObject({
      ca: true,
      pathLength: 0,
    });
    const root = (await appliance.request('GET', `/v1/state/keystore/tls/ca/${ca}`)).body['ca-cert'];
    const svid = await below(body.certificate, 'O=SPIRE', [{ type: 'url', value: 'spiffe://example.org/ns/web' }]);
    expect(verdict(svid, body.certificate, root)).toBe('OK');
    const second = await below(body.certificate, 'O=Second', trustDomain, true);
    const leaf = await below(second, 'O=Leaf', trustDomain);
    expect(verdict(leaf, body.certificate + second, root)).toBe('path length constraint exceeded');
  });

  test.each([
    [{ 'permitted-uri-hosts': ['example.org'] }, 'url', 'spiffe://example.org/a', 'spiffe://example.com/a'],
    [{ 'permitted-domains': ['example.test'] }, 'dns', 'a.example.test', 'a.example.com'],
    [{ 'excluded-domains': ['bad.test'] }, 'dns', 'good.test', 'very.bad.test'],
    [{ 'permitted-ip-ranges': ['10.0.0.0/8', '2001:db8::/33'] }, 'ip', '10.2.3.4', '11.2.3.4'],
    [{ 'permitted-ip-ranges': ['10.128.0.0/9'] }, 'ip', '10.129.0.1', '10.1.0.1'],
  ] as const)('with %j certifies no other names', async (limits, type, inside, outside) => {
    const { status, body } = await certify(limits);
    expect(status, JSON.stringify(body)).toBe(200);
    const root = (await appliance.request('GET', `/v1/state/keystore/tls/ca/${ca}`)).body['ca-cert'];
    expect(verdict(await below(body.certificate, 'O=In', [{ type, value: inside }]), body.certificate, root)).toBe('OK');
    expect(verdict(await below(body.certificate, 'O=Out', [{ type, value: outside }]), body.certificate, root)).toMatch(
      /permitted subtree violation|excluded subtree violation/,
    );
  });

  test('is on record, revoked like any certificate, and authenticates nobody', async () => {
    const { serial } = (await certify()).body;
    const path = `/v1/state/keystore/tls/ca/${ca}/certificates/${serial}`;
    expect((await appliance.request('GET', path)).body).toMatchObject({
      via: 'certify-ca',
      status: 'valid',
      names: ['URI:spiffe://example.org'],
    });
    expect((await appliance.act(ca, 'revoke', { serial })).body).toMatchObject({ revoked: 1 });
    expect((await appliance.request('GET', path)).body.status).toBe('revoked');
  });

  test('gets no more room for CAs below than the chain above has', async () => {
    const root = await makeIdentity({ subject: 'CN=Outside Root', ca: true });
    const bounded = await appliance.makeCa({ subject: 'CN=Bounded' });
    const request = new x509.Pkcs10CertificateRequest((await appliance.act(bounded, 'csr')).body.csr);
    const middle = await x509.X509CertificateGenerator.create({
      ...{ subject: request.subjectName, issuer: 'CN=Outside Root', publicKey: await request.publicKey.export() },
      ...{ signingKey: root.keys.privateKey, signingAlgorithm: root.keys.signing as EcdsaParams },
      extensions: [new x509.BasicConstraintsExtension(true, 1, true), usages('keyCertSign', 'cRLSign', 'digitalSignature')],
    });
    const imported = await appliance.act(bounded, 'import-cert', { certificate: `${middle.toString('pem')}\n${root.pem}` });
    expect(imported.status, JSON.stringify(imported.body)).toBe(204);
    const statuses = [0, 1].map(async (length) => {
      const { status, body } = await appliance.act(bounded, 'certify-ca', {
        csr: await csrOf(`CN=Below ${length}`),
        'path-length': length,
      });
      return `${status} ${body.code}`;
    });
    expect(await Promise.all(statuses)).toEqual(['200 undefined', '403 identity-not-allowed']);
    const wide = (await certify({ 'path-length': 3 }, await csrOf('CN=Wide'))).body.certificate;
    expect(new x509.X509Certificate(wide).getExtension(x509.BasicConstraintsExtension)?.pathLength).toBe(3);
  });

  test.each([
    [{}, 'CN=Top, O=Example', 'invalid-csr', 'has the subject of the CA'],
    [{}, '', 'invalid-csr', 'has no subject'],
    [{ 'path-length': 9 }, 'CN=A', 'invalid-value', '8'],
    [{ 'permitted-ip-ranges': ['10.0.0.1/8'] }, 'CN=A', 'invalid-value', 'range'],
    [{ 'permitted-ip-ranges': ['10.0.0.0/33'] }, 'CN=A', 'invalid-value', 'range'],
    [{ 'permitted-domains': ['*.example.test'] }, 'CN=A', 'invalid-value', 'domain'],
  ])('with %j and the subject "%s" is refused', async (more, subject, code, words) => {
    const { status, body } = await certify(more, await csrOf(subject));
    expect([status, body.code, JSON.stringify(body)]).toEqual([400, code, expect.stringContaining(words)]);
  });
});

describe('the right to certify a CA', () => {
  const base = '/v1/state/keystore/tls/ca';
  const tokenFor = async (name: string, ...rules: readonly object[]): Promise<string> => {
    await appliance.request('POST', '/v1/config/policy/policies', { name, 'rest-api': { rules } });
    return (await appliance.request('POST', '/v1/state/keystore/token/create', { policies: [name], ttl: '1h' })).body.token;
  };
  const execute = { operations: { execute: 'allow' } };

  test.each([
    ['certify-only', [{ path: `${base}/*/certify-ca`, ...execute }], 403],
    ['sign-only', [{ path: `${base}/*/sign-csr`, ...execute }], 403],
    [
      'sign-within',
      [
        { path: `${base}/*/certify-ca`, ...execute },
        { path: `${base}/*/sign-csr`, ...execute, 'allowed-values': { ttl: ['1h'] } },
      ],
      403,
    ],
    [
      'small',
      [
        { path: `${base}/*/certify-ca`, ...execute, 'allowed-values': { 'path-length': [1] } },
        { path: `${base}/*/sign-csr`, ...execute },
      ],
      403,
    ],
    [
      'both',
      [
        { path: `${base}/*/certify-ca`, ...execute },
        { path: `${base}/*/sign-csr`, ...execute },
      ],
      200,
    ],
  ])('%s', async (name, rules, status) => {
    const token = await tokenFor(name, ...rules);
    const answer = await appliance.request('POST', `${base}/${ca}/certify-ca`, { csr: await csrOf() }, { token });
    expect(answer.status, JSON.stringify(answer.body)).toBe(status);
  });
});

describe('URIs in the identity policy', () => {
  const sign = async (policy: readonly string[], ...uris: readonly string[]) => {
    const name = await appliance.makeCa({ est: { 'allowed-uris': policy } });
    const names = uris.map((value) => ({ type: 'url', value }) as const);
    const token = await limited();
    return appliance.request('POST', `/v1/state/keystore/tls/ca/${name}/sign-csr`, { csr: await csrOf('O=SPIRE', names) }, { token });
  };
  let known: string | undefined;
  const limited = async (): Promise<string> => {
    if (known !== undefined) return known;
    const rules = [{ path: '/v1/state/keystore/tls/ca/*/sign-csr', operations: { execute: 'allow' } }];
    await appliance.request('POST', '/v1/config/policy/policies', { name: 'uris', 'rest-api': { rules } });
    known = (await appliance.request('POST', '/v1/state/keystore/token/create', { policies: ['uris'], ttl: '1h' })).body.token as string;
    return known;
  };

  test.each([
    [['spiffe://example.org/web'], 'spiffe://example.org/web', 200],
    [['spiffe://example.org/web'], 'spiffe://example.org/web/a', 403],
    [['spiffe://example.org/web'], 'spiffe://Example.org/web', 403],
    [['spiffe://example.org/ns/*'], 'spiffe://example.org/ns/a/sa/b', 200],
    [['spiffe://example.org/ns/*'], 'spiffe://example.org/ns/', 403],
    [['spiffe://example.org/ns/*'], 'spiffe://example.org/ns', 403],
    [['spiffe://example.org/ns/*'], 'spiffe://example.org/ns/../other', 403],
    [['spiffe://example.org/ns/*'], 'spiffe://example.org/ns/%2e%2e/other', 403],
    [['spiffe://example.org/ns/*'], 'spiffe://example.org/ns/a//b', 403],
    [['spiffe://example.org/ns/*'], 'spiffe://example.org/ns/a?b', 403],
    [['spiffe://example.org/*'], 'spiffe://example.org.evil.test/a', 403],
    [[], 'spiffe://example.org/web', 403],
  ])('%j and %s: %i', async (policy, uri, status) => {
    expect((await sign(policy, uri)).status).toBe(status);
  });

  test('every name counts', async () => {
    expect((await sign(['spiffe://example.org/a'], 'spiffe://example.org/a', 'spiffe://example.org/b')).status).toBe(403);
  });

  test.each(['spiffe://example.org/a*', '*', 'spiffe://*', 'example.org/a', 'spiffe://example.org/../*', 'spiffe://ex ample/a'])(
    '"%s" is not a pattern',
    async (uri) => {
      const { status, body } = await appliance.request('POST', '/v1/config/keystore/tls/ca', {
        name: 'refused',
        est: { 'allowed-uris': [uri] },
      });
      expect([status, body.code]).toEqual([400, 'invalid-value']);
    },
  );
});
