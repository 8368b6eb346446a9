// Deleting a TLS CA: what guards it while certificates of it are valid, and what relying parties keep of it.
import { X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { HsmError } from '../../../hsm/api.ts';
import { send } from '../est/client.ts';
import { type EstAppliance, startEstAppliance } from '../est/est-appliance.ts';
import { file, openssl } from '../est/openssl.ts';
import { makeCsr, makeKeys, x509 } from './pki.ts';
import type { Answer } from '../../harness/appliance.ts';

const base = '/v1/config/keystore/tls/ca';
const day = 86_400;
let appliance: EstAppliance;
let at: (name: string) => string;

beforeAll(async () => {
  appliance = await startEstAppliance();
  at = (name) => join(appliance.directory, name);
});

const codeOf = ({ status, body }: Answer): string => `${status} ${body?.code}`;
const remove = (ca: string, query = ''): Promise<Answer> => appliance.request('DELETE', `${base}/${ca}${query}`);
const lastCrls = (): readonly unknown[] => [...appliance.store.prefixed('est').table('last-crls').entries([])];

async function issue(
  ca: string,
  ttl = '30d',
): Promise<{ readonly serial: string; readonly certificate: string; readonly notAfter: string }> {
  const der = await makeCsr({ keys: await makeKeys('P-256'), subject: 'CN=server.example.test' });
  const csr = `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
  const { status, body } = await appliance.act(ca, 'sign-csr', { csr, ttl });
  expect(status).toBe(200);
  return { serial: body.serial, certificate: body.certificate, notAfter: body['not-after'] };
}

/** Octets from a public URL of a CA. */
const fetchOf = (ca: string, what: string) => send(appliance.url, `/v1/ca/${appliance.tenantId}/${ca}/${what}`);

async function crlOf(ca: string, version: number): Promise<x509.X509Crl> {
  const reply = await fetchOf(ca, `crl/${version}`);
  expect(reply.status).toBe(200);
  return new x509.X509Crl(new Uint8Array(reply.body));
}

describe('the guard', () => {
  test('a CA with valid certificates is kept unless deletion-allowed: 409, with how many there are and until when', async () => {
    const ca = await appliance.makeCa({});
    const [first, last] = [await issue(ca, '1d'), await issue(ca, '3d')];
    for (const query of ['', '?validate=true']) {
      const refused = await remove(ca, query);
      expect(codeOf(refused)).toBe('409 deletion-not-allowed');
      expect(refused.body.detail).toMatch(new RegExp(`^2 certificates of it are valid, the last until ${last.notAfter}: CA "${ca}"`));
    }
    await appliance.act(ca, 'revoke', { serial: last.serial });
    expect((await remove(ca)).body.detail).toMatch(new RegExp(`^1 certificate of it is valid, the last until ${first.notAfter}:`));
    await appliance.patchCa(ca, { 'deletion-allowed': true });
    expect((await appliance.request('GET', `${base}/${ca}`)).body['deletion-allowed']).toBe(true);
    expect((await remove(ca)).status).toBe(204);
  });

  test('a CA without valid certificates, be they revoked or expired, needs no flag', async () => {
    const [empty, revoked, expired] = [await appliance.makeCa({}), await appliance.makeCa({}), await appliance.makeCa({})];
    await appliance.act(revoked, 'revoke', { serial: (await issue(revoked)).serial });
    await issue(expired, '1m');
    appliance.clock.advance(120);
    for (const ca of [empty, revoked, expired]) expect((await remove(ca)).status, ca).toBe(204);
  });

  test('a record of before the flag has it off', async () => {
    const ca = await appliance.makeCa({});
    await issue(ca);
    const cas = appliance.store.prefixed('est').table<{ deletionAllowed?: boolean }>('cas');
    await appliance.store.write((transaction) => {
      const { deletionAllowed: _flag, ...older } = transaction.get(cas, [appliance.tenantId, ca]) ?? {};
      transaction.put(cas, [appliance.tenantId, ca], older);
    });
    expect((await appliance.request('GET', `${base}/${ca}`)).body['deletion-allowed']).toBe(false);
    expect(codeOf(await remove(ca))).toBe('409 deletion-not-allowed');
  });

  test('an intermediate that nothing hangs on is revoked by the CA above when it goes; one with valid certificates is not', async () => {
    const root = await appliance.makeCa({});
    const [unused, used] = [await appliance.makeCa({ 'issuing-ca': root }), await appliance.makeCa({ 'issuing-ca': root })];
    const serials = [(await appliance.state(unused)).serial, (await appliance.state(used)).serial];
    await issue(used);
    await appliance.patchCa(used, { 'deletion-allowed': true });
    for (const ca of [unused, used]) expect((await remove(ca)).status).toBe(204);
    const listed = (await appliance.request('GET', `/v1/state/keystore/tls/ca/${root}/certificates`)).body as Answer['body'][];
    const statusOf = (serial: string): unknown => listed.find((one) => one.serial === serial);
    expect(statusOf(serials[0])).toMatchObject({ status: 'revoked', 'revocation-reason': 'cessation-of-operation' });
    expect(statusOf(serials[1])).toMatchObject({ status: 'valid' });
    expect(codeOf(await remove(root))).toBe('409 deletion-not-allowed');
  });
});

describe('what is left', () => {
  test('a last CRL of each key and the certificate of the CA, until the last certificate has ended', async () => {
    const ca = await appliance.makeCa({ 'deletion-allowed': true });
    const [good, bad] = [await issue(ca, '20d'), await issue(ca, '10d')];
    await appliance.act(ca, 'renew');
    const newer = await issue(ca, '5d');
    await appliance.act(ca, 'revoke', { serial: bad.serial, reason: 'key-compromise' });
    const before = await crlOf(ca, 1);
    expect((await remove(ca)).status).toBe(204);

    const [old, young] = [await crlOf(ca, 1), await crlOf(ca, 2)];
    const numberOf = (crl: x509.X509Crl): string => Buffer.from(crl.getExtension('2.5.29.20')?.value ?? new ArrayBuffer()).toString('hex');
    expect(numberOf(old) > numberOf(before)).toBe(true);
    expect(old.entries.map(({ serialNumber }) => serialNumber)).toEqual([bad.serial]);
    expect(old.nextUpdate?.toISOString().slice(0, 19)).toBe(good.notAfter.slice(0, 19));
    expect(young.nextUpdate?.toISOString().slice(0, 19)).toBe(newer.notAfter.slice(0, 19));
    expect((await fetchOf(ca, 'crl')).body.equals(Buffer.from(young.rawData))).toBe(true);
    expect((await fetchOf(ca, 'crl/3')).status).toBe(404);
    expect((await fetchOf(ca, 'ocsp/MA==')).status).toBe(404);
    const issuer = await fetchOf(ca, 'ca.pem');
    expect(new X509Certificate(issuer.text).subject).toBe(`CN=${ca}`);

    const certificateOfFirstKey = new X509Certificate(
      (lastCrls() as readonly [readonly unknown[], { certificate: Uint8Array }][]).find(([key]) => key[1] === ca && key[2] === 1)?.[1]
        .certificate ?? new Uint8Array(),
    );
    const crl = file(at('last.der'), Buffer.from(old.rawData));
    const pem = file(at('last.pem'), openssl('crl', '-inform', 'DER', '-in', crl).output);
    const trusted = file(at('last-ca.pem'), certificateOfFirstKey.toString());
    const inTime = String(Math.floor(appliance.clock.now().epochMilliseconds / 1_000) + 19 * day);
    const check = (certificate: string) =>
      openssl('verify', '-crl_check', '-attime', inTime, '-CAfile', trusted, '-CRLfile', pem, file(at('last-leaf.pem'), certificate));
    expect(check(good.certificate)).toMatchObject({ code: 0 });
    expect(check(bad.certificate).output).toContain('certificate revoked');

    // A new CA of the name counts on: the URLs in the certificates of the old one stay its own.
    expect((await appliance.request('POST', base, { name: ca, 'deletion-allowed': true })).status).toBe(201);
    expect(await appliance.state(ca)).toMatchObject({ 'key-version': 3, 'crl-url': expect.stringMatching(/\/crl\/3$/) as string });
    expect((await fetchOf(ca, 'crl/1')).body.equals(Buffer.from(old.rawData))).toBe(true);
    expect((await crlOf(ca, 3)).entries).toEqual([]);
    expect((await remove(ca)).status).toBe(204);
    expect((await fetchOf(ca, 'crl/3')).status).toBe(404);

    appliance.clock.advance(20 * day + 1);
    for (const job of appliance.jobs) await job.run(AbortSignal.timeout(60_000));
    expect((await fetchOf(ca, 'crl/1')).status).toBe(404);
    await appliance.setBack(20 * day + 1);
  });

  test('a certificate that is revoked or issued while the CA goes is not left out', async () => {
    const ca = await appliance.makeCa({ 'deletion-allowed': true });
    const late = await issue(ca, '2d');
    const { hsm } = appliance;
    const sign = hsm.sign.bind(hsm);
    let longer: { readonly notAfter: string } | undefined;
    hsm.sign = async (...order) => {
      hsm.sign = sign;
      const signature = await sign(...order);
      await appliance.act(ca, 'revoke', { serial: late.serial });
      longer = await issue(ca, '9d');
      return signature;
    };
    expect((await remove(ca)).status).toBe(204);
    const crl = await crlOf(ca, 1);
    expect(crl.entries.map(({ serialNumber }) => serialNumber)).toEqual([late.serial]);
    expect(crl.nextUpdate?.toISOString().slice(0, 19)).toBe(longer?.notAfter.slice(0, 19));
  });

  test('while the token is away a CA with valid certificates stays; of a key that is lost the newest CRL has to do', async () => {
    const ca = await appliance.makeCa({ 'deletion-allowed': true });
    await issue(ca);
    const published = await crlOf(ca, 1);
    const { hsm } = appliance;
    const sign = hsm.sign.bind(hsm);
    hsm.sign = () => Promise.reject(new HsmError('unavailable', 'the token is away'));
    expect((await remove(ca)).status).toBe(503);
    expect((await appliance.request('GET', `${base}/${ca}`)).status).toBe(200);
    hsm.sign = () => Promise.reject(new HsmError('key-not-usable', 'the key is gone'));
    expect((await remove(ca)).status).toBe(204);
    hsm.sign = sign;
    expect(Buffer.from((await crlOf(ca, 1)).rawData).equals(Buffer.from(published.rawData))).toBe(true);
  });
});
