// Revocations that a restored store does not know, some of certificates that it does not know either: taken in from a list that was kept.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { IssuedCertificate, PublishedCrl, Revocation } from '../../../plugins/ca/records/records.ts';
import { send } from '../est/client.ts';
import { type EstAppliance, openEst, startEstAppliance } from '../est/est-appliance.ts';
import { file, openssl } from '../est/openssl.ts';
import { type Identity, makeCsr, makeDeviceCsr, makeKeys, x509 } from './pki.ts';

let appliance: EstAppliance;
let at: (name: string) => string;

beforeAll(async () => {
  appliance = await startEstAppliance();
  at = (name) => join(appliance.directory, name);
});

type Issued = { readonly serial: string; readonly client: Pick<Identity, 'pem' | 'keys'> };

async function issue(ca: string): Promise<Issued> {
  const keys = await makeKeys('P-256');
  const request = await makeCsr({ keys, subject: 'CN=device' });
  const csr = `-----BEGIN CERTIFICATE REQUEST-----\n${request.toString('base64')}\n-----END CERTIFICATE REQUEST-----`;
  const { serial, certificate } = (await appliance.act(ca, 'sign-csr', { csr })).body;
  return { serial, client: { pem: certificate, keys } };
}

async function crlOf(ca: string): Promise<Buffer> {
  return (await send(appliance.url, `/v1/ca/${appliance.tenantId}/${ca}/crl`, { method: 'GET' })).body;
}

/** As a restore of a store of before leaves it. */
async function forget(ca: string, serials: readonly string[]): Promise<void> {
  const { store } = appliance;
  const tables = store.prefixed('est');
  const certificates = tables.table<IssuedCertificate>('certificates');
  const [revocations, crls] = [tables.table<Revocation>('revocations'), tables.table<PublishedCrl>('crls')];
  store.refresh();
  const id = tables.tenantTable<{ id: string }>('cas').get([appliance.tenantId, ca])?.id ?? '';
  await store.write((transaction) => {
    for (const [key] of Array.from(transaction.entries(revocations, [appliance.tenantId, id]))) transaction.delete(revocations, key);
    for (const [key] of Array.from(transaction.entries(crls, [appliance.tenantId, id]))) transaction.delete(crls, key);
    for (const serial of serials) transaction.delete(certificates, [appliance.tenantId, id, serial]);
  });
}

async function statusBy(ca: string, serial: string): Promise<string> {
  const { 'ocsp-url': url, 'ca-cert': certificate } = await appliance.state(ca);
  const issuer = file(at('issuer.pem'), certificate);
  const asked = ['-issuer', issuer, '-serial', `0x${serial}`];
  expect(openssl('ocsp', ...asked, '-no_nonce', '-reqout', at('request.der')).code).toBe(0);
  const headers = { 'Content-Type': 'application/ocsp-request' };
  const { body } = await send(appliance.url, new URL(url).pathname, { method: 'POST', body: readFileSync(at('request.der')), headers });
  const { output } = openssl(
    'ocsp',
    ...asked,
    '-reqin',
    at('request.der'),
    '-respin',
    file(at('response.der'), body),
    '-CAfile',
    issuer,
    '-no_nonce',
  );
  return /: (good|revoked|unknown)$/m.exec(output)?.[1] ?? output;
}

test('a certificate that the CA does not know is revoked for OCSP, the list and those who trust the CA, once the list that had it is taken in', async () => {
  const births = await appliance.makeCa({});
  const devices = await appliance.makeCa({ est: { ...openEst, 'initial-enroll-secret': undefined, 'initial-enroll-trust-ca': births } });
  const { serial, client } = await issue(births);
  const csr = await makeDeviceCsr(await makeKeys('P-256'), 'device.example.test');
  const enrol = async (): Promise<number> => (await appliance.enrol(devices, 'simpleenroll', csr, { client: client as Identity })).status;
  expect((await appliance.act(births, 'revoke', { serial })).status).toBe(200);
  const kept = await crlOf(births);
  await forget(births, [serial]);
  expect([await enrol(), await statusBy(births, serial)]).toEqual([200, 'unknown']);
  const { body } = await appliance.act(births, 'import-revocations', {
    crl: `-----BEGIN X509 CRL-----\n${kept.toString('base64')}\n-----END X509 CRL-----\n`,
  });
  expect(body).toEqual({ revoked: 0, 'never-issued': 1, 'known-before': 0 });
  expect([await enrol(), await statusBy(births, serial)]).toEqual([401, 'revoked']);
  expect(new x509.X509Crl(new Uint8Array(await crlOf(births))).entries.map((entry) => entry.serialNumber)).toEqual([serial]);
  expect((await appliance.act(births, 'import-revocations', { crl: kept.toString('base64') })).body).toMatchObject({ 'known-before': 1 });
});

test('a list of another CA, one that was changed, and what is no list are refused, and nothing is revoked', async () => {
  const [ca, other] = [await appliance.makeCa({}), await appliance.makeCa({})];
  const { serial } = await issue(other);
  await appliance.act(other, 'revoke', { serial });
  const kept = await crlOf(other);
  const changed = Buffer.from(kept);
  const place = kept.indexOf(Buffer.from(serial, 'hex'));
  changed[place + 4] = (changed[place + 4] ?? 0) ^ 1;
  const certificate = (await appliance.state(ca))['ca-cert'];
  for (const [name, crl] of [
    [ca, kept.toString('base64')],
    [other, changed.toString('base64')],
    [ca, certificate],
    [ca, 'AAAA'],
    [ca, ''],
  ]) {
    const { status, body } = await appliance.act(name ?? '', 'import-revocations', { crl });
    expect([status, body.code]).toEqual([400, 'invalid-value']);
  }
  const trustOnly = await appliance.makeCa({ 'ca-cert': certificate });
  expect((await appliance.act(trustOnly, 'import-revocations', { serials: [serial] })).body.code).toBe('ca-has-no-key');
  expect(new x509.X509Crl(new Uint8Array(await crlOf(ca))).entries).toEqual([]);
});
