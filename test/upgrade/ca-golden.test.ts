// CAs that a released version made: their records open, their keys sign, and what they issued renews, is revoked and stays listed.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Daemon, startDaemon } from '../harness/daemon.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { makeDeviceCsr, makeKeys, readCertsOnly, x509 } from '../plugins/ca/pki.ts';
import { basic, pkcs10, type Reply, send, type Sending } from '../plugins/est/client.ts';
import type { CaGolden } from './ca-golden.ts';

const path = temporaryDirectory();
const files = readdirSync(import.meta.dirname).flatMap((name) => /^(ca-golden-\d+)\.json$/.exec(name)?.[1] ?? []);
const state = '/v1/state/keystore/tls/ca';
/** Containers and fields that CAs did not have then, as they are without settings. */
const later = {
  'delta-crl': false,
  scep: { 'allow-old': [], 'allow-reenroll-with-issued-cert': true, 'approval-required': false, enabled: false },
  acme: { challenges: ['http-01', 'dns-01', 'tls-alpn-01'], enabled: false, 'external-account-required': true },
  cmp: {
    ...{ 'allow-old': [], 'allow-reenroll-with-issued-cert': true, 'allow-trusted-cert': false, 'approval-required': false },
    enabled: false,
  },
};

test('there is a golden file', () => expect(files).toContain('ca-golden-1'));

describe.each(files)('%s', (file) => {
  const golden = JSON.parse(readFileSync(join(import.meta.dirname, `${file}.json`), 'utf8')) as CaGolden;
  let daemon: Daemon;
  /** The document of then, with what came later. */
  const asNow = (name: string): object => {
    const then = golden.documents[name] as Readonly<Record<string, object>>;
    return { ...then, est: { ...then['est'], 'allow-wildcards': false, 'server-keygen': false }, ...later };
  };

  beforeAll(async () => {
    writeFileSync(path(`${file}.passphrase`), `${golden.passphrase}\n`);
    const restore = ['--restore', join(import.meta.dirname, `${file}.bin`), '--restore-passphrase-file', path(`${file}.passphrase`)];
    daemon = await startDaemon({ directory: path(file), args: restore, rootToken: golden['root-token'] });
  }, 120_000);
  afterAll(() => daemon.stop());

  const fetchStatus = (ca: string, what: string): Promise<Reply> =>
    send(daemon.url, `/v1/ca/${golden.tenantId}/${ca}/${what}`, { ca: daemon.caPem });
  const enrol = async (operation: string, sending: Sending): Promise<Reply> => {
    const body = pkcs10(await makeDeviceCsr(await makeKeys('P-256'), 'device.example.test'), sending.headers as Record<string, string>);
    return send(daemon.estUrl, `/.well-known/est/${golden.tenantId}/devices/${operation}`, { ca: daemon.caPem, ...sending, ...body });
  };

  test.each(Object.keys(golden.documents))('CA %s: configuration and state are those of then', async (name) => {
    expect(await daemon.request('GET', `/v1/config/keystore/tls/ca/${name}`)).toEqual(asNow(name));
    const { 'crl-url': _crl, 'ocsp-url': _ocsp, est: _est, ...kept } = golden.states[name] ?? {};
    expect(await daemon.request('GET', `${state}/${name}`)).toMatchObject(kept);
  });

  test('the listeners keep their CA: clients need nothing new', () => expect(daemon.caPem).toBe(golden['ca-pem']));

  test('the list of issued certificates is that of then', async () => {
    expect(await daemon.request('GET', `${state}/devices/certificates`)).toEqual(golden.certificates);
  });

  test('a revocation stays on the CRL of its key; the last CRL of a deleted CA is kept', async () => {
    const crl = new x509.X509Crl(new Uint8Array((await fetchStatus('devices', 'crl/1')).body));
    expect(crl.entries.map(({ serialNumber }) => serialNumber)).toEqual([golden.revoked]);
    await daemon.request('POST', `${state}/devices/revoke`, { serial: golden.valid });
    const after = new x509.X509Crl(new Uint8Array((await fetchStatus('devices', 'crl/2')).body));
    expect(after.entries.map(({ serialNumber }) => serialNumber)).toEqual([golden.valid]);
    expect((await fetchStatus('gone', 'crl/1')).body.toString('base64')).toBe(golden.lastCrl);
  });

  test('the device renews with the certificate it got then, under the newest key; a first enrolment works', async () => {
    const { key, certificate } = golden.device;
    const keys = { ...(await makeKeys('P-256')), pem: key };
    const client = { keys, pem: certificate, certificate: Buffer.alloc(0) };
    const renewed = await enrol('simplereenroll', { client });
    expect({ status: renewed.status, text: renewed.text.slice(0, 100) }).toMatchObject({ status: 200 });
    expect(readCertsOnly(renewed.text)[0]?.subject).toBe('CN=device.example.test');
    expect((await enrol('simpleenroll', { headers: { Authorization: basic(golden.secret) } })).status).toBe(200);
  });

  test('a record from before there were labels takes them, and keeps them when the CA gets another certificate', async () => {
    const own = '/v1/config/keystore/tls/ca';
    await daemon.request('PATCH', `${own}/devices`, { labels: { site: 'north' } });
    await daemon.request('POST', `${state}/devices/renew`);
    expect(await daemon.request('GET', `${own}?selector=site=north`)).toEqual([{ ...asNow('devices'), labels: { site: 'north' } }]);
    await daemon.request('PATCH', `${own}/devices`, { labels: null });
    expect(await daemon.request('GET', `${own}/devices`)).toEqual(asNow('devices'));
  });

  test('every invariant holds, and every record opens', async () => {
    expect(await daemon.stop()).toBe(0);
    const check = resolve(import.meta.dirname, '../../appliance/check.ts');
    const { stdout, stderr, status } = spawnSync(process.execPath, [check, '--data', path(file)], { encoding: 'utf8' });
    expect({ stdout, stderr, status }).toMatchObject({ stdout: 'every invariant holds\n', status: 0 });
  }, 60_000);
});
