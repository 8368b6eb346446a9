// keystorectl logs in with a certificate, and shows it again for the token that is bound to it.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LastingClient } from '../../../appliance/cli/lasting/client.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { type CertificateHarness, startCertificateHarness } from '../../plugins/certificate-login/harness.ts';
import { ctlFor, type Ctl } from './run.ts';

const at = temporaryDirectory();
let harness: CertificateHarness;
let ctl: Ctl;
const files = ['--client-cert', at('device.pem'), '--client-key', at('device.key')];
const login = ['login', 'certificate', '--tenant', 'system', '--role', 'devices'];

let serial = '';

async function certify(): Promise<void> {
  const {
    cert,
    key,
    serial: of,
  } = await harness.certify('devices', 'CN=d1.example.test', { names: [{ type: 'dns', value: 'd1.example.test' }] });
  writeFileSync(at('device.pem'), cert);
  writeFileSync(at('device.key'), key);
  serial = of;
}

beforeAll(async () => {
  mkdirSync(at('home'));
  harness = await startCertificateHarness(at('appliance'));
  await harness.must('POST', '/v1/config/keystore/tls/ca', {
    ...{ name: 'devices', subject: 'CN=devices' },
    est: { enabled: true, 'allowed-domains': ['example.test'], 'allow-subdomains': true },
  });
  await harness.setRole('devices', { 'trust-ca': 'devices' });
  await certify();
  ctl = ctlFor({ url: harness.origin, rootToken: '' }, harness.trust, at('home'));
});
afterAll(() => harness.close());

const asWhom = async (...more: string[]): Promise<unknown> => {
  const { code, stdout } = await ctl(['do', 'token', 'info', ...more]);
  return code === 0 ? (JSON.parse(stdout) as { user: string }).user : code;
};

test('the profile keeps where the certificate is, and requests show it', async () => {
  expect(await ctl(login)).toMatchObject({ code: 3, stderr: expect.stringContaining('has shown no certificate') });
  expect(await ctl([...login, ...files.slice(0, 2)])).toMatchObject({ code: 1, stderr: expect.stringContaining('both --client-cert') });
  const done = await ctl([...login, ...files]);
  expect(done, done.stderr).toMatchObject({ code: 0, stderr: expect.stringContaining('as d1.example.test of tenant system') });
  expect(await asWhom()).toBe('d1.example.test');
  const profile = readFileSync(at('home', '.config', 'keystored', 'profile.yaml'), 'utf8');
  expect(profile).toContain(at('device.key'));
  expect(profile).not.toContain('PRIVATE KEY');
});

test('a command that lives long logs in again with the certificate that the files have then', async () => {
  expect((await ctl([...login, ...files, '--renew'])).code).toBe(0);
  const environment = { HOME: at('home'), KEYSTORED_URL: harness.origin, KEYSTORED_CA: at('home', 'ca.pem') };
  const [stdin, stdout, stderr] = [Object.assign(new PassThrough(), { isTTY: true }), new PassThrough(), new PassThrough()];
  const io = { environment, stdin, stdout, stderr };
  const lasting = new LastingClient({ connection: {}, io, userAgent: 'test', timeoutMs: 10_000, atOnce: 1 });
  const thumbprint = async (): Promise<string> => {
    const { body } = await lasting.ask({ method: 'POST', path: '/v1/state/keystore/token/info', body: {} });
    return (JSON.parse(body.toString()) as { thumbprint: string }).thumbprint;
  };
  const first = await thumbprint();
  const former = serial;
  await certify();
  await harness.must('POST', '/v1/state/keystore/tls/ca/devices/revoke', { serial: former });
  expect(await thumbprint()).not.toBe(first);
  lasting.close();
});
