// Writes the golden files of CAs in the present format: node test/upgrade/make-ca-golden.ts FILE (without ending). Older files are never
// written again.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Daemon, startDaemon } from '../harness/daemon.ts';
import { basic, pkcs10, type Reply, send } from '../plugins/est/client.ts';
import { makeDeviceCsr, makeKeys, readCertsOnly } from '../plugins/ca/pki.ts';
import type { CaGolden } from './ca-golden.ts';

const [file] = process.argv.slice(2);
if (file === undefined) throw new Error('usage: node test/upgrade/make-ca-golden.ts FILE');
const directory = mkdtempSync(join(tmpdir(), 'keystored-golden-'));
const secret = 'the golden enrolment secret';
const passphrase = 'the passphrase of the golden backup';
const config = '/v1/config/keystore/tls/ca';
const state = '/v1/state/keystore/tls/ca';
try {
  const daemon = await startDaemon({ directory });
  try {
    const golden = await makeGolden(daemon);
    writeFileSync(`${file}.json`, `${JSON.stringify(golden, undefined, 1)}\n`, { flag: 'wx' });
    writeFileSync(`${file}.bin`, await takeBackup(daemon), { flag: 'wx' });
  } finally {
    await daemon.stop();
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}

/** CAs of every kind; certificates issued under two keys, by both ways to enrol; revocations, a deleted CA, and counted failures. */
async function makeGolden(daemon: Daemon): Promise<CaGolden> {
  const { uuid: tenantId } = (await daemon.request('GET', '/v1/state/tenants/system')) as { uuid: string };
  const create = (name: string, fields: object): Promise<unknown> => daemon.request('POST', config, { name, ttl: '50y', ...fields });
  const act = async (name: string, action: string, body: object = {}): Promise<Record<string, string>> =>
    (await daemon.request('POST', `${state}/${name}/${action}`, body)) as Record<string, string>;
  const sign = async (name: string): Promise<Record<string, string>> => {
    const der = await makeDeviceCsr(await makeKeys('P-256'), 'server.example.test');
    const csr = `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
    return act(name, 'sign-csr', { csr, ttl: '20y' });
  };
  const publicUrl = (name: string, what: string): Promise<Reply> =>
    send(daemon.url, `/v1/ca/${tenantId}/${name}/${what}`, { ca: daemon.caPem });

  await create('root', {});
  const est = { enabled: true, 'initial-enroll-secret': secret, 'allowed-domains': ['example.test'], 'allow-subdomains': true, ttl: '20y' };
  await create('devices', { 'issuing-ca': 'root', subject: 'CN=Devices,O=Golden', est });
  await create('rsa', { 'cert-key-type': 'rsa', 'cert-key-bits': 3072 });
  const { 'ca-cert': anchor } = (await daemon.request('GET', `${state}/rsa`)) as Record<string, string>;
  await create('birth', { ttl: undefined, 'ca-cert': anchor, est: { enabled: true } });

  const keys = await makeKeys('P-256');
  const enrol = async (password: string): Promise<Reply> =>
    send(daemon.estUrl, `/.well-known/est/${tenantId}/devices/simpleenroll`, {
      ca: daemon.caPem,
      ...pkcs10(await makeDeviceCsr(keys, 'device.example.test'), { Authorization: basic(password) }),
    });
  const device = readCertsOnly((await enrol(secret)).text)[0]?.toString() ?? '';
  const revoked = await sign('devices');
  await act('devices', 'revoke', { serial: revoked['serial'], reason: 'key-compromise' });
  await act('devices', 'renew');
  const later = await sign('devices');
  await act('root', 'renew');
  for (let count = 0; count < 12; count++) await enrol('a wrong secret');

  await create('gone', { 'deletion-allowed': true });
  await sign('gone');
  await daemon.request('DELETE', `${config}/gone`);

  const names = ['appliance', 'birth', 'devices', 'root', 'rsa'];
  const documents = await Promise.all(names.map(async (name) => [name, await daemon.request('GET', `${config}/${name}`)] as const));
  const states = await Promise.all(names.map(async (name) => [name, await daemon.request('GET', `${state}/${name}`)] as const));
  return {
    ...{ passphrase, tenantId, 'root-token': daemon.rootToken, 'ca-pem': daemon.caPem, secret },
    device: { key: keys.pem, certificate: device },
    revoked: revoked['serial'] ?? '',
    valid: later['serial'] ?? '',
    documents: Object.fromEntries(documents) as CaGolden['documents'],
    states: Object.fromEntries(states) as CaGolden['states'],
    certificates: (await daemon.request('GET', `${state}/devices/certificates`)) as CaGolden['certificates'],
    lastCrl: (await publicUrl('gone', 'crl/1')).body.toString('base64'),
  };
}

function takeBackup(daemon: Daemon): Promise<Buffer> {
  const headers = { authorization: `Bearer ${daemon.rootToken}`, 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const options = { method: 'POST', headers, ca: daemon.caPem, agent: false } as const;
    const request = httpsRequest(`${daemon.url}/v1/state/system/backup`, options, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('error', reject);
      response.on('end', () => (response.statusCode === 200 ? resolve(Buffer.concat(parts)) : reject(new Error(`${response.statusCode}`))));
    });
    request.on('error', reject);
    request.end(JSON.stringify({ passphrase }));
  });
}
