// Who may enrol for the first time (requirements R31 to R41).
import { beforeAll, describe, expect, test } from 'vitest';
import { basic, type Reply, type Sending } from './client.ts';
import { type EstAppliance, openEst, secret, startEstAppliance } from './est-appliance.ts';
import { type CertificateOptions, type Identity, makeDeviceCsr, makeIdentity, makeKeys, usages, x509 } from '../ca/pki.ts';

const name = 'device.example.test';
const authorized = { headers: { Authorization: basic(secret) } };
const day = 86_400_000;
let appliance: EstAppliance;
let csr: Buffer;

/** A vendor's root, kept in the appliance as trust-only CA, and a CA that takes its birth certificates. */
let vendor: Identity;
let trustCa: string;
let birthCa: string;

beforeAll(async () => {
  appliance = await startEstAppliance();
  csr = await makeDeviceCsr(await makeKeys('P-256'), name);
  vendor = await makeIdentity({ subject: 'CN=Vendor Root', ca: true });
  trustCa = await appliance.makeCa({ 'ca-cert': vendor.pem });
  birthCa = await appliance.makeCa({ est: { ...openEst, 'initial-enroll-secret': undefined, 'initial-enroll-trust-ca': trustCa } });
});

const enrol = (ca: string, sending: Sending = {}): Promise<Reply> => appliance.enrol(ca, 'simpleenroll', csr, sending);
const birth = (options: CertificateOptions = {}): Promise<Identity> =>
  makeIdentity({ subject: 'CN=serial 4711', issuer: vendor, ...options });

async function statusWith(client: Identity, issuers: readonly Identity[] = []): Promise<number> {
  return (await enrol(birthCa, { client, issuers })).status;
}

describe('order of checks', () => {
  test('R31: 404 before 403 before 401 before 400 before 403', async () => {
    const garbage: Sending = { body: 'no request' };
    const foreignName = await makeDeviceCsr(await makeKeys('P-256'), 'device.elsewhere.test');
    const ca = await appliance.makeCa();
    const unconfigured = await appliance.makeCa({ est: { ...openEst, 'initial-enroll-secret': undefined } });
    expect((await enrol('no-such-ca', garbage)).status).toBe(404);
    expect((await enrol(unconfigured, { ...garbage, headers: { Authorization: basic('wrong') } })).status).toBe(403);
    expect((await enrol(ca, { ...garbage, headers: { Authorization: basic('wrong') } })).status).toBe(401);
    expect((await enrol(ca, { ...garbage, ...authorized })).status).toBe(400);
    expect((await appliance.enrol(ca, 'simpleenroll', foreignName, authorized)).status).toBe(403);
  });

  test('R31: a body is not parsed, nor even limited, for a sender that is not accepted', async () => {
    const ca = await appliance.makeCa();
    const reply = await enrol(ca, { body: 'x'.repeat(200_000) });
    expect(reply.status).toBe(401);
  });

  test('R32: neither secret nor trust CA is 403; an empty secret counts as none', async () => {
    for (const value of [undefined, '']) {
      const ca = await appliance.makeCa({ est: { ...openEst, 'initial-enroll-secret': value } });
      const reply = await enrol(ca, { headers: { Authorization: basic('') } });
      expect(reply).toMatchObject({ status: 403, text: expect.stringMatching(/not configured/) as string });
      expect((await appliance.state(ca)).est['initial-enroll-secret-set']).toBe(false);
    }
  });
});

describe('shared secret', () => {
  test('two Authorization headers are refused, whichever of them is right (RFC 9110 section 5.3)', async () => {
    const ca = await appliance.makeCa();
    const [right, wrong] = [basic(secret), basic('wrong')];
    for (const both of [
      [right, wrong],
      [wrong, right],
      [right, right],
    ]) {
      expect((await enrol(ca, { headers: { Authorization: both } })).status).toBe(400);
    }
  });

  test('R33: any user name; the password is everything after the first colon; the scheme in any case', async () => {
    const ca = await appliance.makeCa();
    for (const user of ['', 'estuser', 'üser']) {
      expect((await enrol(ca, { headers: { Authorization: basic(secret, user) } })).status, user).toBe(200);
    }
    for (const scheme of ['basic', 'BASIC', 'bAsIc']) {
      expect((await enrol(ca, { headers: { Authorization: basic(secret).replace('Basic', scheme) } })).status, scheme).toBe(200);
    }
  });

  test('R33: a secret in UTF-8', async () => {
    const ca = await appliance.makeCa({ est: { ...openEst, 'initial-enroll-secret': 'grüße:☃' } });
    expect((await enrol(ca, { headers: { Authorization: basic('grüße:☃') } })).status).toBe(200);
    expect((await enrol(ca, { headers: { Authorization: basic('grüße') } })).status).toBe(401);
  });

  test('R34: wrong secret, malformed header, other scheme and no header: 401 with a Basic challenge', async () => {
    const wrong = [
      basic('wrong'),
      basic(`${secret} `),
      basic(secret.slice(0, -1)),
      basic(''),
      'Basic',
      'Basic !!!',
      `Basic ${Buffer.from('no colon').toString('base64')}`,
      `Bearer ${secret}`,
      'Digest username="x"',
    ];
    for (const header of [...wrong, undefined]) {
      const ca = await appliance.makeCa();
      const reply = await enrol(ca, header === undefined ? {} : { headers: { Authorization: header } });
      expect({ status: reply.status, challenge: reply.rawHeaders.get('WWW-Authenticate') }, header ?? 'none').toEqual({
        status: 401,
        challenge: 'Basic realm="est"',
      });
    }
  });

  test('R34: the 401 that only asks for a secret has no body, the one that refuses it says so', async () => {
    const [ca, other] = [await appliance.makeCa(), await appliance.makeCa({ est: { ...openEst, 'initial-enroll-trust-ca': trustCa } })];
    for (const reply of [await enrol(ca), await enrol(other)]) {
      expect({ status: reply.status, text: reply.text, length: reply.headers['content-length'] }).toEqual({
        status: 401,
        text: '',
        length: '0',
      });
      expect(reply.headers['www-authenticate']).toBe('Basic realm="est"');
    }
    expect((await enrol(ca, { headers: { Authorization: basic('wrong') } })).text).toMatch(/the shared secret is wrong/);
    for (const [header, said] of [
      [`Basic ${Buffer.from('no colon').toString('base64')}`, /has no colon: send base64 of USER:SECRET/],
      ['Basic !!!', /is not base64 of USER:SECRET/],
      ['Basic', /is not base64 of USER:SECRET/],
      ['Basic /////w==', /is not base64 of USER:SECRET in UTF-8/],
      [`Bearer ${secret}`, /is not of the scheme Basic/],
    ] as const)
      expect((await enrol(ca, { headers: { Authorization: header } })).text, header).toMatch(said);
    expect((await enrol(other, { client: await makeIdentity() })).text).toMatch(/does not chain/);
    expect(appliance.audited().map((record) => record['request-parameters'])).toContainEqual(
      expect.objectContaining({ ca, reason: expect.stringContaining('send the shared secret') as string }),
    );
  });

  test('R34: where no secret would help, the challenge is not Basic', async () => {
    const reply = await enrol(birthCa);
    expect(reply.status).toBe(401);
    expect(reply.rawHeaders.get('WWW-Authenticate')).toBe('TLS-Client-Certificate realm="est"');
    expect(await enrol(birthCa, authorized)).toMatchObject({ status: 401, text: expect.stringContaining('takes a birth certificate') });
  });

  test('R41: ten wrong secrets a minute from one address, then 429 with Retry-After; then it is over', async () => {
    const ca = await appliance.makeCa();
    const wrong = { headers: { Authorization: basic('wrong') } };
    for (let n = 0; n < 10; n++) expect((await enrol(ca, wrong)).status).toBe(401);
    const reply = await enrol(ca, wrong);
    expect(reply.status).toBe(429);
    expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0);
    expect(Number(reply.headers['retry-after'])).toBeLessThanOrEqual(60);
    expect((await appliance.call(ca, 'cacerts')).status).toBe(200);
    appliance.clock.advance(61);
    expect((await enrol(ca, wrong)).status).toBe(401);
  });

  test('R41: a right secret passes whatever others behind the same address did, however many wrong ones there were', async () => {
    const ca = await appliance.makeCa();
    for (let n = 0; n < 150; n++) await enrol(ca, { headers: { Authorization: basic('wrong') } });
    expect((await enrol(ca, { headers: { Authorization: basic('wrong') } })).status).toBe(429);
    expect((await enrol(ca, authorized)).status).toBe(200);
  });

  test('R41: a secret that could be guessed is looked at a hundred times a minute and address at most, the right one included', async () => {
    const ca = await appliance.makeCa({ est: { ...openEst, 'initial-enroll-secret': 'fifteen octets!' } });
    const right = { headers: { Authorization: basic('fifteen octets!') } };
    for (let n = 0; n < 99; n++) await enrol(ca, { headers: { Authorization: basic('wrong') } });
    expect((await enrol(ca, right)).status).toBe(200);
    await enrol(ca, { headers: { Authorization: basic('wrong') } });
    expect((await enrol(ca, right)).status).toBe(429);
    appliance.clock.advance(61);
    expect((await enrol(ca, right)).status).toBe(200);
  });

  test('R41: attempts made at the same time are counted one by one', async () => {
    const ca = await appliance.makeCa();
    const replies = await Promise.all(Array.from({ length: 30 }, () => enrol(ca, { headers: { Authorization: basic('wrong') } })));
    expect(replies.filter(({ status }) => status === 401)).toHaveLength(10);
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(20);
  });

  test('R41: the secret cannot be read back and is in no log or record', async () => {
    const ca = await appliance.makeCa();
    await enrol(ca, authorized);
    await enrol(ca, { headers: { Authorization: basic('a wrong secret') } });
    const shown = [
      await appliance.state(ca),
      (await appliance.request('GET', `/v1/config/keystore/tls/ca/${ca}`)).body,
      appliance.logged,
      appliance.audited(),
    ].map((value) => JSON.stringify(value));
    for (const text of shown) {
      expect(text).not.toContain(secret);
      expect(text).not.toContain('a wrong secret');
    }
    expect((await appliance.state(ca)).est['initial-enroll-secret-set']).toBe(true);
  });
});

describe('birth certificate', () => {
  test('R35: a certificate that chains to the trust CA, live and fit for client authentication, is accepted', async () => {
    expect(await statusWith(await birth())).toBe(200);
    expect(await statusWith(await birth({ key: 'RSA-2048' }))).toBe(200);
    expect(await statusWith(await birth({ extensions: [new x509.ExtendedKeyUsageExtension(['1.3.6.1.5.5.7.3.2'])] }))).toBe(200);
    expect(await statusWith(await birth({ extensions: [new x509.ExtendedKeyUsageExtension(['2.5.29.37.0'])] }))).toBe(200);
  });

  test('R35: expired, not yet valid, foreign, self-signed: 401', async () => {
    const now = Date.now();
    expect(await statusWith(await birth({ notBefore: new Date(now - 2 * day), notAfter: new Date(now - day) }))).toBe(401);
    expect(await statusWith(await birth({ notBefore: new Date(now + day), notAfter: new Date(now + 2 * day) }))).toBe(401);
    expect(await statusWith(await makeIdentity({ subject: 'CN=self' }))).toBe(401);
    const imposter = await makeIdentity({ subject: 'CN=Vendor Root', ca: true });
    expect(await statusWith(await birth({ issuer: imposter }))).toBe(401);
    expect(await statusWith(await birth({ issuer: imposter }), [imposter])).toBe(401);
  });

  test('R35: key usage without digitalSignature, extended key usage without clientAuth, an unknown critical extension: 401', async () => {
    expect(await statusWith(await birth({ extensions: [usages('keyAgreement')] }))).toBe(401);
    expect(await statusWith(await birth({ extensions: [new x509.ExtendedKeyUsageExtension(['1.3.6.1.5.5.7.3.1'])] }))).toBe(401);
    expect(await statusWith(await birth({ extensions: [new x509.Extension('1.2.3.4', true, Buffer.from([5, 0]))] }))).toBe(401);
    expect(await statusWith(await birth({ extensions: [new x509.Extension('1.2.3.4', false, Buffer.from([5, 0]))] }))).toBe(200);
  });

  test('R35: an issuer that is no CA, may not sign certificates, not for clients, is expired or has too long a path below: 401', async () => {
    const through = async (options: CertificateOptions): Promise<number> => {
      const middle = await birth({ subject: 'CN=Middle', ca: true, ...options });
      return statusWith(await birth({ issuer: middle }), [middle]);
    };
    expect(await through({})).toBe(200);
    expect(await through({ ca: false })).toBe(401);
    expect(await through({ extensions: [usages('cRLSign')] })).toBe(401);
    expect(await through({ extensions: [new x509.ExtendedKeyUsageExtension(['1.3.6.1.5.5.7.3.1'])] })).toBe(401);
    expect(await through({ extensions: [new x509.ExtendedKeyUsageExtension(['1.3.6.1.5.5.7.3.2'])] })).toBe(200);
    expect(await through({ notBefore: new Date(Date.now() - 2 * day), notAfter: new Date(Date.now() - day) })).toBe(401);
    const tight = await birth({ subject: 'CN=Tight', ca: 0 });
    const below = await makeIdentity({ subject: 'CN=Below', ca: true, issuer: tight });
    expect(await statusWith(await birth({ issuer: tight }), [tight])).toBe(200);
    expect(await statusWith(await birth({ issuer: below }), [below, tight])).toBe(401);
  });

  test('R35: an intermediate that cannot be read is left out, and does not spoil a path beside it', async () => {
    const middle = await birth({ subject: 'CN=Middle', ca: true });
    const client = await birth({ issuer: middle });
    for (const malformed of ['2.5.29.37', '2.5.29.15', '2.5.29.19']) {
      const odd = await birth({ subject: 'CN=Middle', ca: true, extensions: [new x509.Extension(malformed, false, Buffer.from([5, 0]))] });
      expect(await statusWith(client, [odd, middle]), malformed).toBe(200);
      expect(await statusWith(await birth({ issuer: odd }), [odd]), malformed).toBe(401);
    }
  });

  test('R36: intermediates the client sends are used, up to six of them', async () => {
    const chain: Identity[] = [];
    for (let n = 1; n <= 7; n++) chain.unshift(await birth({ subject: `CN=Level ${n}`, ca: true, issuer: chain[0] ?? vendor }));
    const six = chain.slice(1);
    expect(await statusWith(await birth({ issuer: six[0] as Identity }), six)).toBe(200);
    expect(await statusWith(await birth({ issuer: six[0] as Identity }))).toBe(401);
    expect(await statusWith(await birth({ issuer: chain[0] as Identity }), chain)).toBe(401);
  });

  test('R37: a trust CA that is deleted later makes it 401', async () => {
    const trusted = await appliance.makeCa({ 'ca-cert': vendor.pem });
    const ca = await appliance.makeCa({ est: { ...openEst, 'initial-enroll-secret': undefined, 'initial-enroll-trust-ca': trusted } });
    const client = await birth();
    expect((await enrol(ca, { client })).status).toBe(200);
    expect((await appliance.request('DELETE', `/v1/config/keystore/tls/ca/${trusted}`)).status).toBe(204);
    expect((await enrol(ca, { client })).status).toBe(401);
    // Who makes a CA under the free name does not choose who enrols, not even one with the same certificate.
    const again = { name: trusted, 'ca-cert': vendor.pem };
    expect((await appliance.request('POST', '/v1/config/keystore/tls/ca', again)).status).toBe(201);
    expect((await enrol(ca, { client })).status).toBe(401);
    await appliance.patchCa(ca, { est: { 'allow-ip-sans': true, 'initial-enroll-trust-ca': trusted } });
    expect((await enrol(ca, { client })).status).toBe(401);
    await appliance.patchCa(ca, { est: { 'initial-enroll-trust-ca': null } });
    await appliance.patchCa(ca, { est: { 'initial-enroll-trust-ca': trusted } });
    expect((await enrol(ca, { client })).status).toBe(200);
  });

  test('a CA of an older record, which has the name of its trust CA alone, trusts no later one of that name either', async () => {
    const trusted = await appliance.makeCa({ 'ca-cert': vendor.pem });
    const ca = await appliance.makeCa({ est: { ...openEst, 'initial-enroll-secret': undefined, 'initial-enroll-trust-ca': trusted } });
    const table = appliance.store.prefixed('est').tenantTable<{ trustedCaId?: string }>('cas');
    const key = [appliance.tenantId, ca];
    await appliance.store.write((transaction) => {
      const { trustedCaId, ...older } = transaction.get(table, key) ?? {};
      expect(trustedCaId).toBeTypeOf('string');
      transaction.put(table, key, older);
    });
    const client = await birth();
    expect((await enrol(ca, { client })).status).toBe(200);
    expect((await appliance.request('DELETE', `/v1/config/keystore/tls/ca/${trusted}`)).status).toBe(204);
    await appliance.request('POST', '/v1/config/keystore/tls/ca', { name: trusted, 'ca-cert': vendor.pem });
    expect((await enrol(ca, { client })).status).toBe(401);
  });

  test('R38: a birth certificate that a CA of this appliance issued and revoked is 401', async () => {
    const factory = await appliance.makeCa({});
    const ca = await appliance.makeCa({ est: { ...openEst, 'initial-enroll-secret': undefined, 'initial-enroll-trust-ca': factory } });
    const { client, serial } = await issuedBy(factory);
    expect((await enrol(ca, { client })).status).toBe(200);
    expect((await appliance.act(factory, 'revoke', { serial })).status).toBe(200);
    expect((await enrol(ca, { client })).status).toBe(401);
  });

  test('a birth certificate of a CA that was made with limits on names counts as others do', async () => {
    const factory = await appliance.makeCa({ 'permitted-domains': ['example.test'], 'permitted-ip-ranges': ['10.0.0.0/8'] });
    const ca = await appliance.makeCa({ est: { ...openEst, 'initial-enroll-secret': undefined, 'initial-enroll-trust-ca': factory } });
    const { client } = await issuedBy(factory);
    expect((await enrol(ca, { client })).status).toBe(200);
  });

  test('R38: also when the CA that revoked it is an intermediate below the trust CA', async () => {
    const root = await appliance.makeCa({});
    const factory = await appliance.makeCa({ 'issuing-ca': root });
    const ca = await appliance.makeCa({ est: { ...openEst, 'initial-enroll-secret': undefined, 'initial-enroll-trust-ca': root } });
    const { client, serial, chain } = await issuedBy(factory);
    expect((await enrol(ca, { client, issuers: chain })).status).toBe(200);
    await appliance.act(factory, 'revoke', { serial });
    expect((await enrol(ca, { client, issuers: chain })).status).toBe(401);
    const other = await issuedBy(factory);
    const intermediate: string = (await appliance.state(factory)).serial;
    expect((await enrol(ca, { client: other.client, issuers: chain })).status).toBe(200);
    expect((await appliance.act(root, 'revoke', { serial: intermediate })).status).toBe(200);
    expect((await enrol(ca, { client: other.client, issuers: chain })).status).toBe(401);
  });

  test('R39: a certificate of the enrolling CA is no first credential, unless that CA is the trust CA', async () => {
    const { client } = await issuedBy(birthCa);
    expect(await statusWith(client)).toBe(401);
    const ca = await appliance.makeCa();
    await appliance.patchCa(ca, { est: { 'initial-enroll-trust-ca': ca } });
    expect((await enrol(ca, { client: (await issuedBy(ca)).client })).status).toBe(200);
  });

  test('R40: an Authorization header decides alone; without it the certificate decides', async () => {
    const ca = await appliance.makeCa({ est: { ...openEst, 'initial-enroll-trust-ca': trustCa } });
    const [good, foreign] = [await birth(), await makeIdentity()];
    expect((await enrol(ca, { client: good })).status).toBe(200);
    expect((await enrol(ca, { client: foreign })).status).toBe(401);
    expect((await enrol(ca, { client: foreign, ...authorized })).status).toBe(200);
    expect((await enrol(ca, { client: good, headers: { Authorization: basic('wrong') } })).status).toBe(401);
    expect((await enrol(ca)).status).toBe(401);
  });
});

/** A device certificate that a CA of the appliance issued by sign-csr, with the CA's chain as issuers to send. */
async function issuedBy(ca: string): Promise<{ client: Identity; serial: string; chain: Identity[] }> {
  const keys = await makeKeys('P-256');
  const request = `-----BEGIN CERTIFICATE REQUEST-----\n${(await makeDeviceCsr(keys, name)).toString('base64')}\n-----END CERTIFICATE REQUEST-----`;
  const { body } = await appliance.act(ca, 'sign-csr', { csr: request });
  const certificate = Buffer.from(new x509.X509Certificate(body.certificate).rawData);
  const chain = (body.chain as string).split(/(?<=-----END CERTIFICATE-----\n)/).map((pem) => ({ keys, pem, certificate }));
  return { client: { keys, certificate, pem: body.certificate }, serial: body.serial, chain };
}
