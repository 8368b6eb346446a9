// Actions of a TLS CA: sign-csr, renew, csr and import-cert, the list of certificates, revoke; and the public URLs, as openssl sees them.
import { hash, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { defined } from '../../../core/base/defined.ts';
import { sequence } from '../../../core/der/der.ts';
import { commonName } from '../../../core/der/name.ts';
import { send } from '../est/client.ts';
import { type EstAppliance, openEst, startEstAppliance } from '../est/est-appliance.ts';
import { file, openssl, opensslClient } from '../est/openssl.ts';
import { type Identity, makeCsr, makeCsrOf, makeIdentity, makeKeys, type Names, readCertsOnly, usages, x509 } from './pki.ts';
import type { Answer } from '../../harness/appliance.ts';

let appliance: EstAppliance;
let at: (name: string) => string;

beforeAll(async () => {
  appliance = await startEstAppliance();
  at = (name) => join(appliance.directory, name);
});

const codeOf = ({ status, body }: Answer): string => `${status} ${body?.code}`;

async function csrPem(subject = 'CN=server.example.test', names?: Names): Promise<string> {
  const der = await makeCsr({ keys: await makeKeys('P-256'), subject, ...defined({ names }) });
  return `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
}

/** Octets from a public URL of the appliance, without token. */
async function fetchPublic(url: string, options: { body?: Buffer; method?: string; type?: string } = {}) {
  const { body, method = 'GET', type } = options;
  return send(appliance.url, new URL(url, appliance.url).pathname, {
    method,
    ...defined({ body }),
    ...(type === undefined ? {} : { headers: { 'Content-Type': type } }),
  });
}

test('a token with a number of uses makes no secrets of devices and no keys for accounts, which have uses of their own', async () => {
  const ca = await appliance.makeCa({});
  const { token } = (await appliance.request('POST', '/v1/state/keystore/token/create', { uses: 9 })).body;
  const asked: readonly (readonly [string, object])[] = [
    ['make-enrolment-secret', { subject: 'CN=device' }],
    ['make-eab-key', {}],
  ];
  for (const [action, body] of asked) {
    const path = `/v1/state/keystore/tls/ca/${ca}/${action}`;
    expect(codeOf(await appliance.request('POST', path, body, { token }))).toBe('403 policy-denied');
    expect((await appliance.request('POST', path, body)).status).toBe(200);
  }
});

describe('sign-csr', () => {
  test('issues for any name, with the profile of the CA and the usages asked for', async () => {
    const ca = await appliance.makeCa({});
    const names: Names = [
      { type: 'dns', value: '*.anything.test' },
      { type: 'ip', value: '192.0.2.1' },
    ];
    const { status, body } = await appliance.act(ca, 'sign-csr', {
      csr: await csrPem('CN=server', names),
      ttl: '7d',
      usages: ['server-auth'],
    });
    expect(status).toBe(200);
    const certificate = new X509Certificate(body.certificate);
    const record = appliance.audited().findLast(({ path }) => String(path).endsWith('/sign-csr'));
    const fingerprint = certificate.fingerprint256.replaceAll(':', '').toLowerCase();
    expect(record?.['request-parameters']).toMatchObject({ serial: body.serial, 'certificate-sha256': fingerprint });
    expect(certificate.subjectAltName).toBe('DNS:*.anything.test, IP Address:192.0.2.1');
    expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
    expect(certificate.serialNumber.toLowerCase()).toBe(body.serial);
    const trusted = file(at('sign-ca.pem'), body.chain);
    expect(openssl('verify', '-x509_strict', '-CAfile', trusted, file(at('sign-leaf.pem'), body.certificate)).code).toBe(0);
    expect(new X509Certificate((await appliance.act(ca, 'sign-csr', { csr: await csrPem() })).body.certificate).keyUsage).toHaveLength(2);
    expect((await appliance.act(ca, 'sign-csr', { csr: (await csrPem()).replaceAll('\n', '\\n') })).status).toBe(200);
  });

  test('refuses a request that names nobody: no subject or an empty one, and no alternative name', async () => {
    const ca = await appliance.makeCa({});
    const pemOf = (der: Buffer): string =>
      `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
    const nobody = [makeCsrOf(sequence()), makeCsrOf(commonName('')), makeCsrOf(commonName(' '))];
    for (const der of nobody) {
      const refused = await appliance.act(ca, 'sign-csr', { csr: pemOf(der) });
      expect(codeOf(refused)).toBe('400 invalid-csr');
      expect(refused.body.detail).toContain('names nobody');
    }
    expect((await appliance.act(ca, 'sign-csr', { csr: await csrPem('', [{ type: 'dns', value: 'only.example.test' }]) })).status).toBe(
      200,
    );
    expect((await appliance.act(ca, 'sign-csr', { csr: await csrPem('O=Example') })).status).toBe(200);
  });

  test('refuses what is no request, and two of them', async () => {
    const ca = await appliance.makeCa({});
    for (const csr of ['', 'nonsense', `${await csrPem()}${await csrPem()}`, (await csrPem()).replace(/[A-Z]{6}/, 'AAAAAA')]) {
      expect(codeOf(await appliance.act(ca, 'sign-csr', { csr }))).toBe('400 invalid-csr');
    }
    expect(codeOf(await appliance.act(ca, 'sign-csr', {}))).toBe('400 missing-field');
    expect(codeOf(await appliance.act('no-such-ca', 'sign-csr', { csr: 'x' }))).toBe('404 not-found');
  });
});

describe('renew', () => {
  test('a root gets a new key, and roll-over certificates that link old and new both ways', async () => {
    const ca = await appliance.makeCa({ est: openEst });
    const old = new X509Certificate((await appliance.state(ca))['ca-cert']);
    const before = await appliance.act(ca, 'sign-csr', { csr: await csrPem() });
    const { status, body } = await appliance.act(ca, 'renew');
    expect({ status, version: body['key-version'] }).toEqual({ status: 200, version: 2 });
    const fresh = new X509Certificate((await appliance.state(ca))['ca-cert']);
    expect(fresh.subject).toBe(old.subject);
    expect(fresh.publicKey.equals(old.publicKey)).toBe(false);
    const after = await appliance.act(ca, 'sign-csr', { csr: await csrPem() });
    const links = readCertsOnly((await appliance.call(ca, 'cacerts')).text).filter((one) => !one.verify(one.publicKey));
    expect(links).toHaveLength(2);
    const untrusted = file(at('links.pem'), links.join(''));
    const verify = (root: X509Certificate, leaf: string) =>
      openssl(
        'verify',
        '-x509_strict',
        '-CAfile',
        file(at('one-root.pem'), root.toString()),
        '-untrusted',
        untrusted,
        file(at('leaf.pem'), leaf),
      );
    for (const root of [old, fresh])
      for (const { body } of [before, after])
        expect(verify(root, body.certificate)).toMatchObject({ code: 0, output: expect.stringMatching(/OK/) as string });
  });

  test('an intermediate is certified again by its issuing CA; cacerts keeps the way up from what it issued before', async () => {
    const root = await appliance.makeCa({});
    const ca = await appliance.makeCa({ 'issuing-ca': root, est: openEst });
    const before = (await appliance.act(ca, 'sign-csr', { csr: await csrPem() })).body.certificate;
    expect((await appliance.act(ca, 'renew')).status).toBe(200);
    const own = new X509Certificate((await appliance.state(ca))['ca-cert']);
    expect(own.verify(new X509Certificate((await appliance.state(root))['ca-cert']).publicKey)).toBe(true);
    expect((await appliance.request('GET', `/v1/state/keystore/tls/ca/${root}/certificates`)).body).toHaveLength(2);
    const after = (await appliance.act(ca, 'sign-csr', { csr: await csrPem() })).body.certificate;
    const trusted = readCertsOnly((await appliance.call(ca, 'cacerts')).text);
    expect(trusted).toHaveLength(3);
    const bundle = file(at('renewed.pem'), trusted.join(''));
    for (const leaf of [before, after])
      expect(openssl('verify', '-x509_strict', '-CAfile', bundle, file(at('renewed-leaf.pem'), leaf)).code).toBe(0);
  });

  test('renewals at once each make a key, one after another, and no key is left over', async () => {
    const ca = await appliance.makeCa({});
    const answers = await Promise.all(Array.from({ length: 6 }, () => appliance.act(ca, 'renew')));
    expect(answers.map(({ body }) => body['key-version'] as number).toSorted((one, other) => one - other)).toEqual([2, 3, 4, 5, 6, 7]);
    expect([...appliance.store.prefixed('est').table('unclaimed-keys').entries([])]).toEqual([]);
  });
});

describe('csr and import-cert', () => {
  test("the customer's own root signs the CA's request; from then on it is an intermediate", async () => {
    const root = await makeIdentity({ subject: 'CN=Customer Root', ca: true });
    const ca = await appliance.makeCa({ subject: 'CN=Device CA, O=Example', est: openEst });
    const { body } = await appliance.act(ca, 'csr');
    expect(openssl('req', '-verify', '-noout', '-in', file(at('ca.csr'), body.csr)).code).toBe(0);
    const certificate = await signOutside(body.csr, root);
    expect((await appliance.act(ca, 'import-cert', { certificate: `${certificate}\n${root.pem}` })).status).toBe(204);
    const signed = (await appliance.act(ca, 'sign-csr', { csr: await csrPem() })).body;
    const verified = openssl(
      'verify',
      '-CAfile',
      file(at('root.pem'), root.pem),
      '-untrusted',
      file(at('middle.pem'), certificate),
      file(at('x.pem'), signed.certificate),
    );
    expect(verified).toMatchObject({ code: 0 });
    // The key identifier was computed by another method (R62).
    const text = openssl('x509', '-noout', '-ext', 'authorityKeyIdentifier', '-in', at('x.pem')).output;
    expect(text).toContain('01:02:03:04:05:06:07:08');
    const trusted = new x509.X509Certificates(new Uint8Array(Buffer.from((await appliance.call(ca, 'cacerts')).text, 'base64')));
    expect(trusted.map(({ subject }) => subject).toSorted()).toEqual(['CN=Customer Root', 'CN=Device CA, O=Example']);
    expect(codeOf(await appliance.act(ca, 'renew'))).toBe('409 signed-outside');
  });

  test('another key, another name, a chain that does not hold or has no root, no CA certificate: 400', async () => {
    const [root, other] = [await makeIdentity({ subject: 'CN=Root', ca: true }), await makeIdentity({ subject: 'CN=Root', ca: true })];
    const ca = await appliance.makeCa({ subject: 'CN=Device CA' });
    const { csr } = (await appliance.act(ca, 'csr')).body;
    const good = await signOutside(csr, root);
    const wrong = [
      '',
      root.pem,
      good,
      `${good}\n${other.pem}`,
      `${await signOutside(csr, root, 'CN=Other')}\n${root.pem}`,
      `${(await makeIdentity({ subject: 'CN=Device CA', ca: true, issuer: root })).pem}\n${root.pem}`,
      `${good}\n${root.pem}\n${other.pem}`,
    ];
    for (const certificate of wrong)
      expect(codeOf(await appliance.act(ca, 'import-cert', { certificate }))).toBe('400 invalid-certificate');
    expect((await appliance.act(ca, 'import-cert', { certificate: `${good}\n${root.pem}` })).status).toBe(204);
  });

  test('a certificate signed with SHA-1 is 400 and says what to have instead; a root is trusted whatever it signed itself with', async () => {
    const withSha1 = (identity: Identity): Identity => ({
      ...identity,
      keys: { ...identity.keys, signing: { name: 'ECDSA', hash: 'SHA-1' } },
    });
    const old = await makeIdentity({ subject: 'CN=Old Root', ca: true, hash: 'SHA-1' });
    const ca = await appliance.makeCa({});
    const { csr } = (await appliance.act(ca, 'csr')).body;
    const middle = await makeIdentity({ subject: 'CN=Middle', ca: true, issuer: old, hash: 'SHA-1' });
    const weak = [`${await signOutside(csr, withSha1(old))}\n${old.pem}`, `${await signOutside(csr, middle)}\n${middle.pem}\n${old.pem}`];
    for (const certificate of weak) {
      const refused = await appliance.act(ca, 'import-cert', { certificate });
      expect(codeOf(refused)).toBe('400 invalid-certificate');
      expect(refused.body.detail).toMatch(/SHA-1; have its issuer sign it again with SHA-256/);
    }
    expect((await appliance.act(ca, 'import-cert', { certificate: `${await signOutside(csr, old)}\n${old.pem}` })).status).toBe(204);
  });

  test('path lengths are kept: no CA below one that may have none (RFC 5280 section 4.2.1.9)', async () => {
    const root = await makeIdentity({ subject: 'CN=Root', ca: true });
    const tight = await makeIdentity({ subject: 'CN=Tight', ca: 0, issuer: root });
    const ca = await appliance.makeCa({});
    const { csr } = (await appliance.act(ca, 'csr')).body;
    const below = `${await signOutside(csr, tight)}\n${tight.pem}\n${root.pem}`;
    expect(codeOf(await appliance.act(ca, 'import-cert', { certificate: below }))).toBe('400 invalid-certificate');
    expect((await appliance.act(ca, 'import-cert', { certificate: `${await signOutside(csr, root)}\n${root.pem}` })).status).toBe(204);
    const refused = await appliance.request('POST', '/v1/config/keystore/tls/ca', { name: 'too-deep', 'issuing-ca': ca });
    expect(codeOf(refused)).toBe('400 invalid-value');
    expect(refused.body.detail).toMatch(/path length/);
  });
});

describe('list, revoke, CRL and OCSP', () => {
  test('R78: certificates are listed by pages and read by serial; revoke marks one, once', async () => {
    const ca = await appliance.makeCa({});
    const serials: string[] = [];
    for (let n = 0; n < 5; n++) serials.push((await appliance.act(ca, 'sign-csr', { csr: await csrPem(`CN=n${n}`) })).body.serial);
    const path = `/v1/state/keystore/tls/ca/${ca}/certificates`;
    const first = (await appliance.request('GET', `${path}?limit=3`)).body as { serial: string }[];
    const rest = (await appliance.request('GET', `${path}?limit=3&after=${first.at(-1)?.serial}`)).body as { serial: string }[];
    expect([...first, ...rest].map(({ serial }) => serial)).toEqual(serials.toSorted());
    expect((await appliance.request('GET', `${path}?keys=true&limit=2`)).body).toEqual(serials.toSorted().slice(0, 2));
    expect((await appliance.request('GET', `${path}?count=true`)).body).toEqual({ count: serials.length });
    expect((await appliance.request('GET', `${path}?limit=1&fields=key-version`)).body).toEqual([{ 'key-version': 1 }]);
    for (const query of ['limit=0', 'limit=1001', 'after=zz', 'keys=yes', 'fields=colour']) {
      expect(codeOf(await appliance.request('GET', `${path}?${query}`))).toBe('400 invalid-value');
    }
    const [serial = ''] = serials;
    const spelled = serial.toUpperCase().replace(/..(?=.)/g, '$&:');
    // Policies judge the path as it is written, so it has one spelling.
    for (const other of [spelled, serial.toUpperCase(), `0x${serial}`, `0X${serial}`, `${serial.slice(0, 2)}:${serial.slice(2)}`]) {
      const { status, body } = await appliance.request('GET', `${path}/${other}`);
      expect([other, status, body.detail]).toEqual([other, 404, expect.stringContaining(serial)]);
    }
    expect((await appliance.request('GET', `${path}/${serial}`)).body).toMatchObject({
      serial,
      status: 'valid',
      subject: 'CN=n0',
      via: 'sign-csr',
    });
    expect(codeOf(await appliance.request('GET', `${path}/00`))).toBe('404 not-found');

    expect((await appliance.act(ca, 'revoke', { serial: spelled, reason: 'key-compromise' })).status).toBe(200);
    const revoked = (await appliance.request('GET', `${path}/${serial}`)).body;
    expect(revoked).toMatchObject({ status: 'revoked', 'revocation-reason': 'key-compromise' });
    appliance.clock.advance(10);
    expect((await appliance.act(ca, 'revoke', { serial })).status).toBe(200);
    expect((await appliance.request('GET', `${path}/${serial}`)).body['revoked-at']).toBe(revoked['revoked-at']);
    expect(codeOf(await appliance.act(ca, 'revoke', { serial: 'ff' }))).toBe('404 not-found');
    expect(codeOf(await appliance.act(ca, 'revoke', { serial: 'zz' }))).toBe('400 invalid-value');
    expect(codeOf(await appliance.act(ca, 'revoke', { serial, reason: 'bored' }))).toBe('400 invalid-value');
  });

  test('certificates are found by a part of subject and names, by the beginning of the serial, and by status', async () => {
    const ca = await appliance.makeCa({});
    const path = `/v1/state/keystore/tls/ca/${ca}/certificates`;
    const names: Names = [{ type: 'dns', value: 'West.plant.example' }];
    const first = (await appliance.act(ca, 'sign-csr', { csr: await csrPem('CN=pump-1', names) })).body.serial;
    const second = (await appliance.act(ca, 'sign-csr', { csr: await csrPem('CN=pump-2') })).body.serial;
    await appliance.act(ca, 'revoke', { serial: second });
    const found = async (query: string): Promise<unknown> =>
      ((await appliance.request('GET', `${path}?${query}`)).body as { serial: string }[]).map(({ serial }) => serial);
    expect(await found('contains=PUMP-1')).toEqual([first]);
    expect(await found('contains=west.PLANT')).toEqual([first]);
    expect(await found('status=revoked')).toEqual([second]);
    expect(await found('contains=pump&status=valid')).toEqual([first]);
    const spelled = String(second)
      .toUpperCase()
      .replace(/..(?=.)/g, '$&:');
    expect(await found(`contains=${spelled.slice(0, 29)}`)).toEqual([second]);
    expect(await found('contains=nobody')).toEqual([]);
    for (const query of ['status=lost', `contains=${'x'.repeat(257)}`])
      expect(codeOf(await appliance.request('GET', `${path}?${query}`))).toBe('400 invalid-value');
  });

  test('certificates are found by the SHA-256 of their public key, with the certificates themselves', async () => {
    const ca = await appliance.makeCa({});
    const path = `/v1/state/keystore/tls/ca/${ca}/certificates`;
    const keys = await makeKeys('P-256');
    const csrOf = async (subject: string): Promise<string> =>
      `-----BEGIN CERTIFICATE REQUEST-----\n${(await makeCsr({ keys, subject })).toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
    const issue = async (csr: string): Promise<{ serial: string; certificate: string }> =>
      (await appliance.act(ca, 'sign-csr', { csr })).body;
    const [one, again, other] = [await issue(await csrOf('CN=one')), await issue(await csrOf('CN=again')), await issue(await csrPem())];
    const digestOf = ({ certificate }: { certificate: string }): string =>
      hash('sha256', new X509Certificate(certificate).publicKey.export({ format: 'der', type: 'spki' }));
    const found = async (query: string): Promise<unknown> =>
      ((await appliance.request('GET', `${path}?${query}`)).body as { serial: string }[]).map(({ serial }) => serial);
    const ofKey = [one.serial, again.serial].toSorted();
    expect(await found(`public-key=${digestOf(one)}`)).toEqual(ofKey);
    expect(await found(`public-key=${digestOf(one).toUpperCase()}&limit=1`)).toEqual(ofKey.slice(0, 1));
    expect(await found(`public-key=${digestOf(one)}&after=${ofKey[0]}`)).toEqual(ofKey.slice(1));
    expect(await found(`public-key=${digestOf(other)},${digestOf(one)}`)).toEqual([...ofKey, other.serial].toSorted());
    expect(await found(`public-key=${'0'.repeat(64)}`)).toEqual([]);
    await appliance.act(ca, 'revoke', { serial: again.serial });
    const [shown, ...more] = (await appliance.request('GET', `${path}?public-key=${digestOf(one)}&status=valid`)).body;
    expect([shown, more]).toEqual([expect.objectContaining({ serial: one.serial, certificate: one.certificate }), []]);
    expect(await found(`public-key=${digestOf(one)}&contains=again`)).toEqual([again.serial]);
    const elsewhere = `/v1/state/keystore/tls/ca/${await appliance.makeCa({})}/certificates?public-key=${digestOf(one)}`;
    expect((await appliance.request('GET', elsewhere)).body).toEqual([]);
    for (const wrong of ['', 'ab', `${digestOf(one)},`, Array.from({ length: 51 }, () => digestOf(one)).join(',')])
      expect(codeOf(await appliance.request('GET', `${path}?public-key=${wrong}`))).toBe('400 invalid-value');
  });

  test('R79: the CRL has what was revoked, at once, with a number that grows; openssl crl and openssl verify agree', async () => {
    const ca = await appliance.makeCa({});
    const { 'crl-url': crlUrl, 'ca-cert': caCert } = await appliance.state(ca);
    const [good, bad] = [
      (await appliance.act(ca, 'sign-csr', { csr: await csrPem() })).body,
      (await appliance.act(ca, 'sign-csr', { csr: await csrPem() })).body,
    ];
    const trusted = file(at('crl-ca.pem'), caCert);
    const fetchCrl = async (): Promise<string> => {
      const reply = await fetchPublic(crlUrl);
      expect(reply.headers['content-type']).toBe('application/pkix-crl');
      const path = file(at('crl.der'), reply.body);
      const shown = openssl('crl', '-inform', 'DER', '-in', path, '-CAfile', trusted, '-noout', '-text', '-verify');
      expect(shown.output).toContain('verify OK');
      return shown.output;
    };
    const before = await fetchCrl();
    expect(before).toContain('No Revoked Certificates');
    expect(numberOf(await fetchCrl())).toBe(numberOf(before));
    await appliance.act(ca, 'revoke', { serial: bad.serial, reason: 'key-compromise' });
    const after = await fetchCrl();
    expect(after).toContain(`Serial Number: ${bad.serial.toUpperCase()}`);
    expect(after).toContain('Key Compromise');
    expect(after).not.toContain(good.serial.toUpperCase());
    expect(numberOf(after)).toBeGreaterThan(numberOf(before));
    const crlPem = openssl('crl', '-inform', 'DER', '-in', at('crl.der')).output;
    const check = (certificate: string) =>
      openssl(
        'verify',
        '-x509_strict',
        '-crl_check',
        '-CAfile',
        trusted,
        '-CRLfile',
        file(at('crl.pem'), crlPem),
        file(at('checked.pem'), certificate),
      );
    expect(check(good.certificate).code).toBe(0);
    expect(check(bad.certificate).output).toContain('certificate revoked');
  });

  test('R79: a list made while the clock was ahead is made again when it is right, with a higher number', async () => {
    const ca = await appliance.makeCa({});
    const { 'crl-url': crlUrl } = await appliance.state(ca);
    const newest = async (): Promise<x509.X509Crl> => new x509.X509Crl(new Uint8Array((await fetchPublic(crlUrl)).body));
    appliance.clock.advance(86_400 * 40);
    const ahead = await newest();
    await appliance.setBack(86_400 * 40);
    const right = await newest();
    expect(right.thisUpdate.getTime()).toBeLessThanOrEqual(appliance.clock.now().epochMilliseconds);
    expect(ahead.thisUpdate.getTime()).toBeGreaterThan(right.thisUpdate.getTime());
    const numbers = [ahead, right].map((crl) =>
      Buffer.from(crl.extensions.find(({ type }) => type === '2.5.29.20')?.value ?? new ArrayBuffer()).toString('hex'),
    );
    expect(numbers[0] !== undefined && numbers[1] !== undefined && numbers[0] < numbers[1]).toBe(true);
  });

  test('R79: no date of a revocation is later than the CRL that has it, also after the clock was set back; OCSP alike', async () => {
    const ca = await appliance.makeCa({});
    const revoke = async (): Promise<string> => {
      const { body } = await appliance.act(ca, 'sign-csr', { csr: await csrPem() });
      expect((await appliance.act(ca, 'revoke', { serial: body.serial })).status).toBe(200);
      return body.certificate;
    };
    const { 'crl-url': crlUrl, 'ocsp-url': ocspUrl, 'ca-cert': caCert } = await appliance.state(ca);
    const newestDates = async (): Promise<{ readonly begin: Date; readonly revoked: readonly Date[] }> => {
      const crl = new x509.X509Crl(new Uint8Array((await fetchPublic(crlUrl)).body));
      return { begin: crl.thisUpdate, revoked: crl.entries.map(({ revocationDate }) => revocationDate) };
    };
    await revoke();
    appliance.clock.advance(1);
    const leaf = await revoke();
    const present = await newestDates();
    expect(present.revoked).toHaveLength(2);
    for (const date of present.revoked) expect(date.getTime()).toBeLessThanOrEqual(present.begin.getTime());
    await appliance.setBack(7_200);
    await revoke();
    const back = await newestDates();
    expect(back.revoked).toHaveLength(3);
    for (const date of back.revoked) expect(date.getTime()).toBeLessThanOrEqual(back.begin.getTime());
    const [issuer, certificate] = [file(at('dates-ca.pem'), caCert), file(at('dates-leaf.pem'), leaf)];
    expect(openssl('ocsp', '-issuer', issuer, '-cert', certificate, '-no_nonce', '-reqout', at('dates.der')).code).toBe(0);
    const response = await fetchPublic(ocspUrl, { method: 'POST', body: readFileSync(at('dates.der')), type: 'application/ocsp-request' });
    const { output } = openssl('ocsp', '-respin', file(at('dates.resp'), response.body), '-resp_text', '-noverify');
    const dateOf = (label: string): number => Date.parse(new RegExp(`${label}: (.*)`).exec(output)?.[1] ?? '');
    expect(dateOf('Revocation Time')).toBeLessThanOrEqual(dateOf('This Update'));
    appliance.clock.advance(7_200);
  });

  test('R79: a new CRL is made when one is a day old, and each key of a renewed CA has its own', async () => {
    const ca = await appliance.makeCa({});
    const { 'crl-url': first } = await appliance.state(ca);
    const old = (await fetchPublic(first)).body;
    expect((await fetchPublic(first)).body.equals(old)).toBe(true);
    appliance.clock.advance(86_401);
    expect((await fetchPublic(first)).body.equals(old)).toBe(false);
    await appliance.setBack(86_401);
    await appliance.act(ca, 'renew');
    const { 'crl-url': second, 'ca-cert': caCert } = await appliance.state(ca);
    expect(second).not.toBe(first);
    const verify = (crl: Buffer): string =>
      openssl('crl', '-inform', 'DER', '-in', file(at('gen.der'), crl), '-CAfile', file(at('gen.pem'), caCert), '-noout').output;
    expect(verify((await fetchPublic(second)).body)).toContain('verify OK');
    expect(verify((await fetchPublic(first)).body)).not.toContain('verify OK');
    expect((await fetchPublic(second.replace(/\d+$/, ''))).status).toBe(200);
    for (const wrong of ['0', '3', '-1', 'x', '1e0', '01'])
      expect((await fetchPublic(second.replace(/\d+$/, wrong))).status, wrong).toBe(404);
  });

  test('openssl ocsp: good, revoked, and an unsigned refusal of a certificate that another CA issued', async () => {
    const ca = await appliance.makeCa({});
    const { 'ocsp-url': ocspUrl, 'ca-cert': caCert } = await appliance.state(ca);
    const issued = (await appliance.act(ca, 'sign-csr', { csr: await csrPem() })).body;
    const [trusted, leaf] = [file(at('ocsp-ca.pem'), caCert), file(at('ocsp-leaf.pem'), issued.certificate)];
    const foreign = file(at('foreign.pem'), (await makeIdentity({ subject: 'CN=foreign' })).pem);
    const url = await plainHttp();
    const ask = (certificate: string, ...more: string[]) =>
      opensslClient(
        'ocsp',
        '-issuer',
        trusted,
        '-cert',
        certificate,
        '-url',
        `${url}${new URL(ocspUrl).pathname}`,
        '-CAfile',
        trusted,
        ...more,
      );
    for (const hash of ['-sha1', '-sha256']) {
      const answer = await opensslClient(
        'ocsp',
        '-issuer',
        trusted,
        hash,
        '-cert',
        leaf,
        '-url',
        `${url}${new URL(ocspUrl).pathname}`,
        '-CAfile',
        trusted,
      );
      expect(answer.output).toMatch(/: good[\s\S]*Response verify OK/);
    }
    await appliance.act(ca, 'revoke', { serial: issued.serial, reason: 'superseded' });
    expect((await ask(leaf)).output).toMatch(/: revoked[\s\S]*Reason: superseded[\s\S]*Response verify OK/);
    expect((await ask(leaf, '-no_nonce')).output).toMatch(/: revoked/);
    expect((await ask(foreign)).output).toMatch(/unauthorized/);
  });

  test('OCSP by GET with the request in the path; garbage is an unsigned malformedRequest', async () => {
    const ca = await appliance.makeCa({});
    const { 'ocsp-url': ocspUrl, 'ca-cert': caCert } = await appliance.state(ca);
    const issued = (await appliance.act(ca, 'sign-csr', { csr: await csrPem() })).body;
    openssl(
      'ocsp',
      '-issuer',
      file(at('get-ca.pem'), caCert),
      '-cert',
      file(at('get-leaf.pem'), issued.certificate),
      '-no_nonce',
      '-reqout',
      at('request.der'),
    );
    const { readFileSync } = await import('node:fs');
    const request = readFileSync(at('request.der'));
    const reply = await send(appliance.url, `${new URL(ocspUrl).pathname}/${encodeURIComponent(request.toString('base64'))}`);
    expect(reply.headers['content-type']).toBe('application/ocsp-response');
    const shown = openssl(
      'ocsp',
      '-respin',
      file(at('response.der'), reply.body),
      '-CAfile',
      at('get-ca.pem'),
      '-issuer',
      at('get-ca.pem'),
      '-cert',
      at('get-leaf.pem'),
    );
    expect(shown.output).toMatch(/: good/);
    const posted = await fetchPublic(ocspUrl, { method: 'POST', body: request, type: 'application/ocsp-request' });
    expect(posted.body.equals(reply.body)).toBe(true);
    for (const body of [Buffer.from('garbage'), request.subarray(0, -1), Buffer.concat([request, request])]) {
      const answer = await fetchPublic(ocspUrl, { method: 'POST', body, type: 'application/ocsp-request' });
      expect(answer.body.toString('hex')).toBe('30030a0101');
    }
    expect((await send(appliance.url, `${new URL(ocspUrl).pathname}/%21%21`)).body.toString('hex')).toBe('30030a0101');
  });

  test('ca.pem is the chain; none of the public URLs exists for a trust-only or unknown CA', async () => {
    const root = await appliance.makeCa({});
    const ca = await appliance.makeCa({ 'issuing-ca': root });
    const path = (name: string): string => `/v1/ca/${appliance.tenantId}/${name}`;
    expect((await fetchPublic(`${path(ca)}/ca.pem`)).text).toBe((await appliance.state(ca)).chain);
    const vendor = await appliance.makeCa({ 'ca-cert': (await makeIdentity({ ca: true })).pem });
    expect((await fetchPublic(`${path(vendor)}/ca.pem`)).status).toBe(200);
    for (const suffix of ['crl', 'crl/1', 'ocsp/AAAA']) {
      for (const name of [vendor, 'unknown']) expect((await fetchPublic(`${path(name)}/${suffix}`)).status).toBe(404);
    }
  });
});

/** Signs the CA's request with a root of the test's own. */
async function signOutside(request: string, root: Identity, subject?: string): Promise<string> {
  const csr = new x509.Pkcs10CertificateRequest(request);
  expect(await csr.verify()).toBe(true);
  const certificate = await x509.X509CertificateGenerator.create({
    subject: subject ?? csr.subjectName.toString(),
    issuer: new x509.X509Certificate(new Uint8Array(root.certificate)).subjectName.toString(),
    publicKey: await csr.publicKey.export(),
    signingKey: root.keys.privateKey,
    signingAlgorithm: root.keys.signing as EcdsaParams,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      usages('keyCertSign', 'cRLSign', 'digitalSignature'),
      new x509.Extension('2.5.29.14', false, Buffer.from('04080102030405060708', 'hex')),
    ],
  });
  return certificate.toString('pem');
}

/** openssl's client speaks plain HTTP only: a plain listener in front of the management listener. */
async function plainHttp(): Promise<string> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const headers = { 'Content-Type': request.headers['content-type'] ?? '' };
      const sent = send(appliance.url, request.url ?? '', { method: request.method ?? 'GET', body: Buffer.concat(chunks), headers });
      void sent.then((reply) =>
        response.writeHead(reply.status, { 'Content-Type': String(reply.headers['content-type']) }).end(reply.body),
      );
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  server.unref();
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** cRLNumber as openssl shows it. */
function numberOf(crl: string): number {
  return Number(/X509v3 CRL Number:\s+(\d+)/.exec(crl)?.[1]);
}
