// Renewal with the certificate a device holds (requirements R42 to R48).
import { Agent } from 'node:https';
import { beforeAll, describe, expect, test } from 'vitest';
import { defined } from '../../../core/base/defined.ts';
import { basic, type Reply, type Sending } from './client.ts';
import { type EstAppliance, openEst, secret, startEstAppliance } from './est-appliance.ts';
import { type Identity, type Keys, makeCsr, makeDeviceCsr, makeIdentity, makeKeys, type Names, readCertsOnly, x509 } from '../ca/pki.ts';

const name = 'device.example.test';
let appliance: EstAppliance;
let ca: string;
let keys: Keys;
let held: Identity;

beforeAll(async () => {
  appliance = await startEstAppliance();
  ca = await appliance.makeCa();
  keys = await makeKeys('P-256');
  held = await obtain(ca);
});

/** Enrols and holds the certificate. */
async function obtain(from: string, csr?: Buffer): Promise<Identity> {
  const reply = await appliance.enrol(from, 'simpleenroll', csr ?? (await makeDeviceCsr(keys, name)), {
    headers: { Authorization: basic(secret) },
  });
  const [certificate] = readCertsOnly(reply.text);
  if (certificate === undefined) throw new Error(reply.text);
  return { keys, certificate: certificate.raw, pem: certificate.toString() };
}

async function renew(client: Identity | undefined, sending: Sending = {}, csr?: Buffer): Promise<Reply> {
  return appliance.enrol(ca, 'simplereenroll', csr ?? (await makeDeviceCsr(keys, name)), {
    ...defined({ client }),
    ...sending,
  });
}

const serialOf = (identity: Identity): string => new x509.X509Certificate(identity.pem).serialNumber;

describe('credential', () => {
  test('R42: the certificate held, and nothing else: no certificate, the secret alone, a foreign or forged certificate are 401', async () => {
    expect((await renew(held)).status).toBe(200);
    const none = await renew(undefined);
    expect({ status: none.status, challenge: none.rawHeaders.get('WWW-Authenticate') }).toEqual({
      status: 401,
      challenge: 'TLS-Client-Certificate realm="est"',
    });
    expect((await renew(undefined, { headers: { Authorization: basic(secret) } })).status).toBe(401);
    expect((await renew(await makeIdentity({ subject: `CN=${name}` }))).status).toBe(401);
    const otherCa = await appliance.makeCa();
    expect((await renew(await obtain(otherCa))).status).toBe(401);
    const imposter = await makeIdentity({ subject: `CN=${ca}`, ca: true });
    expect((await renew(await makeIdentity({ subject: `CN=${name}`, issuer: imposter }))).status).toBe(401);
  });

  test('R42: expired is 401', async () => {
    const client = await obtain(ca);
    appliance.clock.advance(31 * 86_400);
    const reply = await renew(client);
    await appliance.setBack(31 * 86_400);
    expect(reply).toMatchObject({ status: 401, text: expect.stringMatching(/expired/) as string });
  });

  test('R42: a certificate without clientAuth, or one for an intermediate CA, renews nothing', async () => {
    const request = `-----BEGIN CERTIFICATE REQUEST-----\n${(await makeDeviceCsr(keys, name)).toString('base64')}\n-----END CERTIFICATE REQUEST-----`;
    const { body } = await appliance.act(ca, 'sign-csr', { csr: request, usages: ['server-auth'] });
    expect((await renew({ keys, certificate: Buffer.alloc(0), pem: body.certificate })).status).toBe(401);
  });

  test('R43: allow-reenroll-with-issued-cert false is 403; it is true by default', async () => {
    const strict = await appliance.makeCa({ est: { ...openEst, 'allow-reenroll-with-issued-cert': false } });
    const client = await obtain(strict);
    const reply = await appliance.enrol(strict, 'simplereenroll', await makeDeviceCsr(keys, name), { client });
    expect(reply.status).toBe(403);
    expect((await appliance.state(ca)).est['allow-reenroll-with-issued-cert']).toBe(true);
  });

  test('R46: revoked is 401 at once, also on a connection that is already open', async () => {
    const client = await obtain(ca);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    expect((await renew(client, { agent })).status).toBe(200);
    expect((await appliance.act(ca, 'revoke', { serial: serialOf(client) })).status).toBe(200);
    expect((await renew(client, { agent })).status).toBe(401);
    agent.destroy();
  });
});

describe('what was signed for a caller of sign-csr', () => {
  const asked = [new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth, x509.ExtendedKeyUsage.clientAuth])];
  const forServers = () => makeCsr({ keys, subject: `CN=${name}`, names: [{ type: 'dns', value: name }], extensions: asked });

  async function sign(fields: object): Promise<Identity> {
    const { status, body } = await appliance.act(ca, 'sign-csr', { csr: pem(await forServers()), ...fields });
    if (status !== 200) throw new Error(JSON.stringify(body));
    return { keys, certificate: Buffer.alloc(0), pem: body.certificate };
  }

  async function renewed(client: Identity): Promise<Identity & { days: number; purposes: number }> {
    const reply = await renew(client, {}, await forServers());
    const [read] = readCertsOnly(reply.text);
    if (read === undefined) throw new Error(reply.text);
    const { notBefore, notAfter } = new x509.X509Certificate(read.raw);
    const purposes = new x509.X509Certificate(read.raw).getExtension(x509.ExtendedKeyUsageExtension)?.usages.length ?? 0;
    return {
      keys,
      certificate: read.raw,
      pem: read.toString(),
      days: Math.round((Number(notAfter) - Number(notBefore)) / 86_400_000),
      purposes,
    };
  }

  test('a renewal, and the renewal of that, has no further usage and no longer life than it was signed with', async () => {
    const first = await renewed(await sign({ ttl: '2d', usages: ['client-auth'] }));
    expect(first).toMatchObject({ days: 2, purposes: 1 });
    expect(await renewed(first)).toMatchObject({ days: 2, purposes: 1 });
  });

  test('without a ttl, renewals follow est/ttl, and both usages stay for those that ask', async () => {
    const signed = await sign({});
    expect((await renew(signed)).status).toBe(200);
    await appliance.patchCa(ca, { est: { ttl: '40d' } });
    const longer = await renewed(signed);
    expect(longer).toMatchObject({ days: 40, purposes: 2 });
    await appliance.patchCa(ca, { est: { ttl: '20d' } });
    const shorter = await renewed(longer);
    await appliance.patchCa(ca, { est: { ttl: '30d' } });
    expect(shorter).toMatchObject({ days: 20, purposes: 2 });
    // One that asks for less once has not given up the rest.
    const [less] = readCertsOnly((await renew(shorter)).text);
    if (less === undefined) throw new Error('no certificate');
    expect(await renewed({ keys, certificate: less.raw, pem: less.toString() })).toMatchObject({ days: 30, purposes: 2 });
  });

  test('a ttl beyond est/ttl gives renewals no more than est/ttl', async () => {
    expect(await renewed(await sign({ ttl: '90d' }))).toMatchObject({ days: 30 });
  });

  test('where the rules of the caller limit values, a ttl that is left out is one that they allow, and stays', async () => {
    const path = `/v1/state/keystore/tls/ca/${ca}/sign-csr`;
    const rules = [{ path, operations: { execute: 'allow' }, 'allowed-values': { ttl: ['30d'], usages: ['client-auth'] } }];
    await appliance.request('POST', '/v1/config/policy/policies', { name: 'signer', 'rest-api': { rules } });
    const made = await appliance.request('POST', '/v1/state/keystore/token/create', { policies: ['signer'], ttl: '1h' });
    const fields = { csr: pem(await forServers()), usages: ['client-auth'] };
    const { body } = await appliance.request('POST', path, fields, { token: made.body.token });
    await appliance.patchCa(ca, { est: { ttl: '40d' } });
    const after = await renewed({ keys, certificate: Buffer.alloc(0), pem: body.certificate });
    await appliance.patchCa(ca, { est: { ttl: '30d' } });
    expect(after).toMatchObject({ days: 30, purposes: 1 });
  });
});

const pem = (der: Buffer): string => `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----`;

describe('identity', () => {
  test('R44: subject and alternative names must be the same, in any order of the names', async () => {
    const names: Names = [
      { type: 'dns', value: 'a.example.test' },
      { type: 'dns', value: 'b.example.test' },
    ];
    const client = await obtain(ca, await makeCsr({ keys, subject: `CN=${name}, O=Example`, names }));
    const status = async (subject: string, asked: Names): Promise<number> =>
      (await renew(client, {}, await makeCsr({ keys, subject, names: asked }))).status;
    expect(await status(`CN=${name}, O=Example`, names)).toBe(200);
    expect(await status(`CN=${name}, O=Example`, names.toReversed())).toBe(200);
    const [first] = appliance.audited().slice(-1);
    expect(await status(`CN=${name.toUpperCase()}, O=EXAMPLE`, names)).toBe(200);
    const [last] = appliance.audited().slice(-1);
    const recorded = (record: typeof last) => (record?.['request-parameters'] ?? {}) as Record<string, unknown>;
    expect(recorded(last)).toMatchObject({ subject: `CN=${name}, O=Example`, names: recorded(first)['names'] });
    expect(await status(`CN=${name}`, names)).toBe(403);
    expect(await status(`CN=other.example.test, O=Example`, names)).toBe(403);
    expect(await status(`O=Example, CN=${name}`, names)).toBe(403);
    expect(await status(`CN=${name}, O=Example`, names.slice(1))).toBe(403);
    expect(await status(`CN=${name}, O=Example`, [...names, { type: 'dns', value: 'c.example.test' }])).toBe(403);
    expect(await status(`CN=${name}, O=Example`, [])).toBe(403);
  });

  test('R44: names are compared as RFC 5280 7 has it, and certified as they are on record', async () => {
    const client = await obtain(
      ca,
      await makeCsr({ keys, subject: `CN=${name}, O=Example Plant`, names: [{ type: 'dns', value: 'a.example.test' }] }),
    );
    const csr = await makeCsr({
      keys,
      subject: `CN=${name.toUpperCase()}, O=example  PLANT`,
      names: [{ type: 'dns', value: 'A.Example.Test' }],
    });
    const [renewed] = readCertsOnly((await renew(client, {}, csr)).text);
    expect(renewed?.subject).toBe(`CN=${name}\nO=Example Plant`);
    expect(renewed?.subjectAltName).toBe('DNS:a.example.test');
  });

  test('R45: renewing with the same key and with a new one both work', async () => {
    expect((await renew(held)).status).toBe(200);
    for (const key of ['P-384', 'RSA-2048'] as const) {
      expect((await renew(held, {}, await makeDeviceCsr(await makeKeys(key), name))).status, key).toBe(200);
    }
  });

  test('R46: the identity policy counts as it is now', async () => {
    const client = await obtain(ca);
    await appliance.patchCa(ca, { est: { 'allow-subdomains': false } });
    const reply = await renew(client);
    await appliance.patchCa(ca, { est: { 'allow-subdomains': true } });
    expect(reply.status).toBe(403);
    expect((await renew(client)).status).toBe(200);
  });

  test('R47: a request to change the subject name is 403', async () => {
    const change = new x509.Attribute('1.3.6.1.5.5.7.7.36', [new Uint8Array([0x30, 0x00]).buffer]);
    const csr = await makeCsr({ keys, subject: `CN=${name}`, names: [{ type: 'dns', value: name }], attributes: [change] });
    expect((await renew(held, {}, csr)).status).toBe(403);
  });

  test('R48: the old certificate stays valid and renews again; the new one renews as well', async () => {
    const [renewed] = readCertsOnly((await renew(held)).text);
    if (renewed === undefined) throw new Error('no certificate');
    expect((await renew(held)).status).toBe(200);
    expect((await renew({ keys, certificate: renewed.raw, pem: renewed.toString() })).status).toBe(200);
  });
});
