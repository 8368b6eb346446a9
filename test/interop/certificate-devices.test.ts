// Devices of other people's software, from enrolment by EST to the use of a key without a human, on the one port of management: by name (SNI) clients are
// asked for their certificate. Go with the EST client of GlobalSign, the JDK alone, and libest’s estclient with curl.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { connect, createServer } from 'node:tls';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must, requireToolchain } from '../clients/commands.ts';
import { ask } from '../harness/client.ts';
import { type Daemon, startDaemon } from '../harness/daemon.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { selfSignedIdentity } from '../harness/tls.ts';
import { readCertsOnly } from '../plugins/ca/pki.ts';
import { obtainClients } from './est-clients.ts';

const at = temporaryDirectory();
const secret = 'a secret that sensors are born with';
const programs = join(import.meta.dirname, 'certificate-devices');
/** 1.0.6 is the newest release */
const goClient = 'github.com/globalsign/est@v1.0.6';
let daemon: Daemon;
let enrolAt: string;
let keystore: string;

beforeAll(async () => {
  for (const toolchain of ['go', 'java'] as const) await requireToolchain(toolchain);
  daemon = await startDaemon({ directory: at('data'), args: ['--certificate-hosts', 'localhost'] });
  keystore = `https://localhost:${new URL(daemon.url).port}`;
  writeFileSync(at('ca.pem'), daemon.caPem);
  const est = { enabled: true, 'initial-enroll-secret': secret, 'allowed-domains': ['sensors.example'], 'allow-subdomains': true };
  await daemon.request('POST', '/v1/config/keystore/tls/ca', { name: 'sensors', subject: 'CN=Sensors', est });
  await daemon.request('POST', '/v1/config/keystore/transit-keys', { name: 'readings' });
  await daemon.request('POST', '/v1/config/keystore/authentication/certificate/roles', {
    ...{ name: 'sensors', 'trust-ca': 'sensors', names: ['*.sensors.example'], 'issued-via': ['est'], 'token-policies': ['user'] },
  });
  const state = (await daemon.request('GET', '/v1/state/keystore/tls/ca/sensors')) as { est: { 'https-url': string[] } };
  enrolAt = state.est['https-url'].find((url) => url.includes('127.0.0.1')) ?? '';
});
afterAll(() => daemon.stop());

async function decrypted(ciphertext: string): Promise<unknown> {
  const body = { ciphertext: ciphertext.trim() };
  return ((await daemon.request('POST', '/v1/state/keystore/transit-keys/readings/decrypt', body)) as { plaintext: string }).plaintext;
}

test('who connects under another name is not asked, and logs in by no certificate', async () => {
  const body = { tenant: 'system', role: 'sensors' };
  for (const origin of [daemon.url, keystore]) {
    const { status, body: refused } = await ask(origin, '/v1/certificate-login', { method: 'POST', ca: daemon.caPem, body });
    expect([status, refused.code]).toEqual([401, 'login-failed']);
  }
});

test('Go', async () => {
  mkdirSync(at('go'));
  copyFileSync(join(programs, 'device.go'), at('go', 'main.go'));
  const where = { cwd: at('go') };
  await must('go', ['mod', 'init', 'device'], where);
  await must('go', ['get', goClient], where);
  await must('go', ['build', '-o', 'device', '.'], where);
  const { stdout } = await must(at('go', 'device'), [enrolAt, secret, keystore, 'g1.sensors.example', at('ca.pem')]);
  expect(await decrypted(stdout)).toBe('MjEuNQ==');
});

test('Java', async () => {
  mkdirSync(at('java'));
  const words = [join(programs, 'Device.java'), enrolAt, secret, keystore, 'j1.sensors.example', at('ca.pem'), at('java')];
  const { stdout } = await must('java', words);
  expect(await decrypted(stdout)).toBe('MjEuNQ==');
});

const libest = await obtainClients();

/**
 * Debian builds libest without path segments: a proxy puts tenant and CA into the path, as the page about EST says. It leaves everything else as it is,
 * because this libest takes answers of HTTP/1.0 alone.
 */
async function startLabelling(directory: string) {
  const identity = selfSignedIdentity(directory);
  const { hostname, port, pathname } = new URL(enrolAt);
  const server = createServer(identity, (client) => {
    const appliance = connect({ host: hostname, port: Number(port), ca: daemon.caPem });
    client.on('data', (part: Buffer) => appliance.write(part.toString('latin1').replace(' /.well-known/est/', ` ${pathname}/`), 'latin1'));
    appliance.pipe(client);
    for (const socket of [client, appliance])
      socket.on('error', () => undefined).on('close', () => (client.destroy(), appliance.destroy()));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { identity, port: String((server.address() as AddressInfo).port), close: () => server.close() };
}

test.skipIf(typeof libest === 'string')(`libest${typeof libest === 'string' ? ` (${libest})` : ''}`, async () => {
  if (typeof libest === 'string') throw new Error(libest);
  mkdirSync(at('libest'));
  const proxy = await startLabelling(at('libest'));
  try {
    const bench = libest.bench();
    bench.file('trusted.pem', proxy.identity.cert);
    const estclient = async (...words: string[]) => {
      const where = ['-s', '127.0.0.1', '-p', proxy.port, '-o', '.', '-v'];
      const done = await bench.run('estclient', [...words, ...where], { EST_OPENSSL_CACERT: 'trusted.pem' });
      expect(done.code, done.stdout + done.stderr).toBe(0);
    };
    await estclient('-g');
    const authorities = readCertsOnly(bench.read('cacert-0-0.pkcs7').toString());
    bench.file('trusted.pem', [proxy.identity.cert, ...authorities.map(String)].join(''));
    await estclient('-e', '--common-name', 'l1.sensors.example', '-u', 'est', '-h', secret);
    const [held] = readCertsOnly(bench.read('cert-0-0.pkcs7').toString());
    writeFileSync(at('libest', 'device.pem'), String(held));
    writeFileSync(at('libest', 'device.key'), bench.read('key-x-x.pem'), { mode: 0o600 });
  } finally {
    proxy.close();
  }
  const curl = async (path: string, body: object, token = '') => {
    const shown = ['--cacert', at('ca.pem'), '--cert', at('libest', 'device.pem'), '--key', at('libest', 'device.key')];
    const words = ['-sS', '--fail-with-body', ...shown, '--json', JSON.stringify(body), '-H', `Authorization: Bearer ${token}`];
    const { stdout } = await promisify(execFile)('curl', [...words, `${keystore}${path}`]);
    return JSON.parse(stdout) as Record<string, string>;
  };
  const { token } = await curl('/v1/certificate-login', { tenant: 'system', role: 'sensors' });
  const { ciphertext = '' } = await curl('/v1/state/keystore/transit-keys/readings/encrypt', { plaintext: 'MjEuNQ==' }, token);
  expect(await decrypted(ciphertext)).toBe('MjEuNQ==');
});
