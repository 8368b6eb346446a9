// Real EST clients enrol and renew against a running appliance: curl with openssl, strongSwan, libest, and Node.js for ML-DSA.
import { X509Certificate } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defined } from '../../core/base/defined.ts';
import { enrolCommands } from '../../core/enrolment/commands.ts';
import { send, basic, pkcs10 } from '../plugins/est/client.ts';
import { makeDeviceCsr, makeKeys, readCertsOnly } from '../plugins/ca/pki.ts';
import { type Daemon, startDaemon } from '../harness/daemon.ts';
import { makeNssToken, obtainNss } from '../harness/token/nss.ts';
import { makeSoftToken } from '../harness/token/softhsm.ts';
import { Bench, obtainClients, type Outcome } from './est-clients.ts';

const secret = 'factory secret';
const directory = mkdtempSync(join(tmpdir(), 'keystored-est-'));
const nss = await obtainNss();
const clients = await obtainClients();
let daemon: Daemon;
let tenantId: string;

const est = {
  enabled: true,
  'initial-enroll-secret': secret,
  'allowed-domains': ['example.test'],
  'allow-subdomains': true,
  ttl: '7d',
};

beforeAll(async () => {
  mkdirSync(join(directory, 'tokens'));
  const tokens = [
    await makeSoftToken(join(directory, 'tokens')),
    ...('missing' in nss ? [] : [await makeNssToken(nss, join(directory, 'tokens'))]),
  ];
  const wire = tokens.map(({ libraryParameters, ...token }) => ({
    ...token,
    ...defined({ 'library-parameters': libraryParameters }),
  }));
  const config = join(directory, 'keystored.yaml');
  writeFileSync(config, JSON.stringify({ hsm: { tokens: wire } }));
  daemon = await startDaemon({ directory: join(directory, 'data'), workers: 2, args: ['--config', config] });
  tenantId = ((await daemon.request('GET', '/v1/state/tenants/system')) as { uuid: string }).uuid;
  const make = (name: string, fields: object = {}) => daemon.request('POST', '/v1/config/keystore/tls/ca', { name, est, ...fields });
  await make('devices');
  await make('intermediate', { 'issuing-ca': 'devices' });
  await make('devices-rsa', { 'cert-key-type': 'rsa' });
  if (!('missing' in nss)) await make('devices-pq', { 'cert-key-type': 'ml-dsa-65' });
});

afterAll(async () => {
  await daemon.stop();
  rmSync(directory, { recursive: true, force: true });
});

const base = (ca: string): string => `${daemon.estUrl}/.well-known/est/${tenantId}/${ca}`;

function expectDone(outcome: Outcome): Outcome {
  expect(outcome).toMatchObject({ code: 0 });
  return outcome;
}

/** curl and openssl as in the manual, step by step. `newkey` are the options of `openssl req`. */
async function expectEnrolmentWithCurl(bench: Bench, ca: string, newkey: readonly string[]): Promise<void> {
  const name = 'curl.example.test';
  bench.file('ca.pem', daemon.caPem);
  const curl = (...args: readonly string[]) =>
    bench.run('curl', ['--silent', '--show-error', '--fail-with-body', '--cacert', 'ca.pem', ...args]);
  expectDone(await curl('-o', 'cacerts.b64', `${base(ca)}/cacerts`));
  expectDone(await bench.run('openssl', ['base64', '-d', '-in', 'cacerts.b64', '-out', 'cacerts.p7']));
  expectDone(await bench.run('openssl', ['pkcs7', '-inform', 'DER', '-in', 'cacerts.p7', '-print_certs', '-out', 'cacerts.pem']));
  const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`];
  const request = async (out: string, ...options: readonly string[]): Promise<void> => {
    expectDone(await bench.run('openssl', ['req', '-new', ...options, ...subject, '-outform', 'DER', '-out', `${out}.der`]));
    expectDone(await bench.run('openssl', ['base64', '-in', `${out}.der`, '-out', `${out}.b64`]));
  };
  const certificateFrom = async (file: string): Promise<void> => {
    expectDone(await bench.run('openssl', ['base64', '-d', '-in', `${file}.b64`, '-out', `${file}.p7`]));
    expectDone(await bench.run('openssl', ['pkcs7', '-inform', 'DER', '-in', `${file}.p7`, '-print_certs', '-out', `${file}.pem`]));
    expectDone(await bench.run('openssl', ['verify', '-x509_strict', '-purpose', 'sslclient', '-CAfile', 'cacerts.pem', `${file}.pem`]));
  };
  await request('csr', '-nodes', '-keyout', 'device.key', ...newkey);
  expectDone(await curl('-u', `estuser:${secret}`, ...body('csr.b64'), '-o', 'cert.b64', `${base(ca)}/simpleenroll`));
  await certificateFrom('cert');
  await request('again', '-key', 'device.key');
  const held = ['--cert', 'cert.pem', '--key', 'device.key'];
  expectDone(await curl(...held, ...body('again.b64'), '-o', 'renewed.b64', `${base(ca)}/simplereenroll`));
  await certificateFrom('renewed');
  const refused = await curl(
    ...held,
    ...body('again.b64'),
    '-o',
    'refused.txt',
    `${base(ca === 'devices' ? 'devices-rsa' : 'devices')}/simplereenroll`,
  );
  expect(refused.code).toBe(22);
  expect(bench.read('refused.txt').toString()).toMatch(/not issued by this CA/);
}

describe('curl and openssl of this machine', () => {
  test.each([
    ['devices', ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256']],
    ['devices', ['-newkey', 'rsa:4096']],
    ['intermediate', ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-384']],
    ['devices-rsa', ['-newkey', 'rsa:2048']],
  ])('CA %s, %j', async (ca, newkey) => {
    await expectEnrolmentWithCurl(new Bench(mkdtempSync(join(directory, 'curl-'))), ca, newkey);
  });

  test('enrol, renew and look by the commands of the kit', async () => {
    const bench = new Bench(mkdtempSync(join(directory, 'kit-')));
    bench.file('ca.pem', daemon.caPem);
    const { chain } = (await daemon.request('GET', '/v1/state/keystore/tls/ca/devices')) as { readonly chain: string };
    bench.file('issuer.pem', chain);
    const commands = enrolCommands({ url: base('devices'), device: 'kit.example.test', keyType: 'ecdsa' });
    const serials: string[] = [];
    for (const wanted of ['curl and openssl', 'Renewal with curl', 'Look at the connection with openssl']) {
      const { text = 'false' } = commands.find(({ title }) => title === wanted) ?? {};
      expectDone(await bench.run('sh', ['-ec', `EST_SECRET='${secret}'\n${text}`]));
      serials.push(new X509Certificate(bench.read('device.pem')).serialNumber);
    }
    expect(serials[1]).not.toBe(serials[0]);
  });

  test('one label', async () => {
    const bench = new Bench(mkdtempSync(join(directory, 'label-')));
    bench.file('ca.pem', daemon.caPem);
    expectDone(
      await bench.run('curl', ['-sS', '--fail', '--cacert', 'ca.pem', `${daemon.estUrl}/.well-known/est/${tenantId}~devices/cacerts`]),
    );
  });
});

describe.skipIf(typeof clients === 'string')(`clients of a newer release${typeof clients === 'string' ? ` (${clients})` : ''}`, () => {
  test('curl and OpenSSL 3.5', async () => {
    await expectEnrolmentWithCurl(bench(), 'devices', ['-newkey', 'ed25519']);
  });

  test.skipIf('missing' in nss)('curl and OpenSSL 3.5 with ML-DSA-65: key, request, and client certificate of the renewal', async () => {
    await expectEnrolmentWithCurl(bench(), 'devices-pq', ['-newkey', 'ml-dsa-65']);
  });

  test.each(['devices', 'intermediate', 'devices-rsa'])('strongSwan: pki --estca, --est and renewal at %s', async (ca) => {
    const at = bench();
    const pki = async (args: readonly string[], output: string): Promise<void> => {
      // The program writes its result, which is binary, to standard output.
      const outcome = await at.run('sh', ['-c', `pki "$@" > ${output}`, 'pki', ...args]);
      expect(outcome, outcome.stderr).toMatchObject({ code: 0 });
    };
    const where = ['--url', daemon.estUrl, '--label', `${tenantId}~${ca}`];
    await pki(['--estca', ...where, '--cacert', 'ca.pem', '--caout', 'issuer.pem', '--outform', 'pem', '--force'], 'log');
    const name = 'swan.example.test';
    await pki(['--gen', '--type', 'ecdsa', '--size', '256'], 'swan.key');
    await pki(['--req', '--in', 'swan.key', '--type', 'priv', '--dn', `CN=${name}`, '--san', name], 'swan.csr');
    const issuers = readdirSync(at.directory).filter((file) => file.startsWith('issuer'));
    expect(issuers.length).toBe(ca === 'intermediate' ? 2 : 1);
    const cas = ['ca.pem', ...issuers].flatMap((file) => ['--cacert', file]);
    await pki(['--est', ...where, '--in', 'swan.csr', ...cas, '--userpass', `estuser:${secret}`], 'swan.crt');
    await pki(['--gen', '--type', 'ecdsa', '--size', '256'], 'new.key');
    await pki(['--req', '--in', 'new.key', '--type', 'priv', '--dn', `CN=${name}`, '--san', name], 'new.csr');
    await pki(['--est', ...where, '--in', 'new.csr', ...cas, '--cert', 'swan.crt', '--key', 'swan.key'], 'new.crt');
    const shown = await at.run('openssl', ['x509', '-inform', 'DER', '-in', 'new.crt', '-noout', '-subject']);
    expect(shown.stdout).toContain(name);
  });
});

test.skipIf('missing' in nss)('Node.js with ML-DSA: request, certificate, and renewal with an ML-DSA client certificate', async () => {
  const name = 'node.example.test';
  const keys = await makeKeys('ML-DSA-65');
  const url = new URL(base('devices-pq'));
  const ask = async (operation: string, more: object) =>
    send(url.origin, `${url.pathname}/${operation}`, {
      ca: daemon.caPem,
      ...pkcs10(await makeDeviceCsr(keys, name), 'client' in more ? {} : { Authorization: basic(secret) }),
      ...more,
    });
  const [certificate] = readCertsOnly((await ask('simpleenroll', {})).text);
  if (certificate === undefined) throw new Error('no certificate');
  const renewed = await ask('simplereenroll', { client: { keys, certificate: certificate.raw, pem: certificate.toString() } });
  expect({ status: renewed.status, protocol: renewed.protocol }).toEqual({ status: 200, protocol: 'TLSv1.3' });
  expect(readCertsOnly(renewed.text)[0]?.publicKey.asymmetricKeyType).toBe('ml-dsa-65');
});

/** A place in the chroot, with what clients trust. */
function bench(): Bench {
  if (typeof clients === 'string') throw new Error(clients);
  const made = clients.bench();
  made.file('ca.pem', daemon.caPem);
  return made;
}

/** curl's options for an enrolment. */
function body(file: string): readonly string[] {
  return ['-H', 'Content-Type: application/pkcs10', '-H', 'Content-Transfer-Encoding: base64', '--data-binary', `@${file}`];
}
