// Clients of KMIP of others against a running appliance: PyKMIP with its own integration tests, and its client in every version.
import { hash, X509Certificate } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must, requireToolchain, toolDirectory } from '../clients/commands.ts';
import { virtualEnvironment } from '../clients/virtual-environment.ts';
import { enumeration, integer } from '../../plugins/kmip/ttlv/item.ts';
import { type Daemon, freePort, startDaemon } from '../harness/daemon.ts';
import { connectKmip, keyAttributes, type KmipClient, uid } from '../harness/kmip/client.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

const at = temporaryDirectory();
const programs = join(import.meta.dirname, 'kmip');
const version = '0.11.0';
let daemon: Daemon;
let port: number;

/** What an array or a database needs of the API. */
const rules = [{ path: '/v1/state/keystore/kmip-spaces/**', operations: { all: 'allow' } }];

beforeAll(async () => {
  port = await freePort();
  writeFileSync(at('keystored.yaml'), `kmip:\n  listen: 127.0.0.1:${port}\n  certificate: rsa\n`);
  daemon = await startDaemon({ directory: at('data'), args: ['--config', at('keystored.yaml')] });
  writeFileSync(at('ca.pem'), daemon.caPem);
  await daemon.request('POST', '/v1/config/policy/policies', { name: 'kmip', 'rest-api': { rules } });
});
afterAll(() => daemon?.stop());

/** A client entry with a space of its own, and the configuration of PyKMIP for it; answers the home directory that has it. */
async function homeFor(name: string): Promise<string> {
  const home = at(name);
  mkdirSync(join(home, '.pykmip'), { recursive: true });
  const [key, cert] = [join(home, 'key.pem'), join(home, 'cert.pem')];
  await must('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2', '-keyout', key, '-out', cert],
    ...['-subj', `/CN=${name}`],
  ]);
  const fingerprint = hash('sha256', new X509Certificate(readFileSync(cert)).raw, 'hex');
  await daemon.request('POST', '/v1/config/keystore/kmip-spaces', { name });
  const entry = { name, space: name, fingerprints: [fingerprint], 'token-policies': ['kmip'] };
  await daemon.request('POST', '/v1/config/keystore/kmip-clients', entry);
  const settings = {
    ...{ host: '127.0.0.1', port, keyfile: key, certfile: cert, ca_certs: at('ca.pem'), cert_reqs: 'CERT_REQUIRED' },
    ...{ ssl_version: 'PROTOCOL_TLSv1_2', do_handshake_on_connect: 'True', suppress_ragged_eofs: 'True', username: '', password: '' },
  };
  const lines = Object.entries(settings).map(([field, value]) => `${field}=${value}`);
  writeFileSync(join(home, '.pykmip', 'pykmip.conf'), ['[client]', ...lines, ''].join('\n'));
  return home;
}

const noPython = await requireToolchain('python3').then(
  () => '',
  (error: Error) => ` (${error.message})`,
);

/** Tests of PyKMIP that need what is not offered. */
const notOffered: Readonly<Record<string, string>> = {
  'TestIntegration.test_split_key_register_get_destroy': 'split keys',
  'TestProxyKmipClientIntegration.test_create_key_pair_sign_signature_verify': 'Sign with a key that is not tied to a transit key',
  'TestProxyKmipClientIntegration.test_derive_key_using_encryption': 'DeriveKey',
  'TestProxyKmipClientIntegration.test_derive_key_using_hmac': 'DeriveKey',
  'TestProxyKmipClientIntegration.test_derive_key_using_nist_800_108c': 'DeriveKey',
  'TestProxyKmipClientIntegration.test_derive_key_using_pbkdf2': 'DeriveKey',
  'TestProxyKmipClientIntegration.test_encrypt_decrypt': 'Encrypt with a key that is not tied to a transit key',
  'TestIntegration.test_symmetric_key_create_getattributes_locate_destroy': 'an Operation Policy Name',
  'TestProxyKmipClientIntegration.test_create_getattributes_locate_destroy': 'keys for IDEA',
  'TestProxyKmipClientIntegration.test_modify_delete_attribute': 'keys for IDEA',
  'TestProxyKmipClientIntegration.test_split_key_register_get_destroy': 'split keys',
};

test.skipIf(noPython !== '')(`the integration tests of PyKMIP pass, but for those of what is not offered${noPython}`, async () => {
  const bin = await virtualEnvironment('kmip', [], ['PyKMIP', 'pytest', 'testtools'], programs);
  const sources = await sourcesOf(bin);
  const report = at('report.xml');
  const files = ['test_integration.py', 'test_proxykmipclient.py'].map((file) => join(sources, 'kmip/tests/integration/services', file));
  const options = ['-p', 'no:cacheprovider', '--config', 'client', '-q', `--junitxml=${report}`];
  const environment = { HOME: await homeFor('pykmip'), PYTHONDONTWRITEBYTECODE: '1' };
  await must(join(bin, 'python3'), ['-m', 'pytest', ...options, ...files], { environment, cwd: sources }).catch(() => undefined);
  const outcomes = outcomesIn(readFileSync(report, 'utf8'));
  expect(outcomes.size).toBe(37);
  const failed = [...outcomes].filter(([, hasPassed]) => !hasPassed).map(([name]) => name);
  expect(failed.toSorted()).toEqual(Object.keys(notOffered).toSorted());
});

/** The source package has the tests; the wheel has not. */
async function sourcesOf(bin: string): Promise<string> {
  const directory = toolDirectory('kmip-sources');
  const sources = join(directory, `pykmip-${version}`);
  if (existsSync(join(sources, 'setup.py'))) return sources;
  const download = ['download', '--quiet', '--no-deps', '--no-binary', 'PyKMIP', '--dest', directory, `PyKMIP==${version}`];
  await must(join(bin, 'python3'), ['-m', 'pip', ...download]);
  await must('tar', ['-xzf', join(directory, `pykmip-${version}.tar.gz`), '-C', directory]);
  return sources;
}

/** Names of the tests in a report of pytest, with whether they passed. */
function outcomesIn(report: string): ReadonlyMap<string, boolean> {
  const cases = report.matchAll(/<testcase classname="[^"]*?(\w+)" name="(\w+)"[^>]*?(\/>|>(.*?)<\/testcase>)/gs);
  return new Map([...cases].map(([, group, name, , inside = '']) => [`${group}.${name}`, !/<(?:failure|error|skipped)/.test(inside)]));
}

test.skipIf(noPython !== '').each(['1.0', '1.1', '1.2', '1.3', '1.4', '2.0'])(
  `the client of PyKMIP makes, finds, reads, changes and destroys in %s${noPython}`,
  async (spoken) => {
    const bin = await virtualEnvironment('kmip', [], ['PyKMIP', 'pytest', 'testtools'], programs);
    const environment = { HOME: await homeFor(`pykmip-${spoken.replace('.', '-')}`), KMIP_VERSION: `KMIP_${spoken.replace('.', '_')}` };
    const { stdout } = await must(join(bin, 'python3'), ['-B', join(programs, 'client.py')], { environment });
    expect(JSON.parse(stdout)).toEqual({
      found: true,
      length: 32,
      state: 'ACTIVE',
      registered: true,
      secret: true,
      names: true,
      refused: 'PERMISSION_DENIED',
      left: [],
      gone: 'ITEM_NOT_FOUND',
    });
  },
);

test.each([
  ['TLS 1.2 with RSA key exchange, as old storage arrays have it', { maxVersion: 'TLSv1.2', ciphers: 'AES256-SHA256' }],
  ['TLS 1.2 with forward secrecy', { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-RSA-AES128-GCM-SHA256' }],
  ['TLS 1.3', { minVersion: 'TLSv1.3' }],
] as const)('a client of %s gets its key', async (what, settings) => {
  const home = await homeFor(`tls-${hash('sha256', what, 'hex').slice(0, 8)}`);
  const [key, cert] = ['key.pem', 'cert.pem'].map((file) => readFileSync(join(home, file), 'utf8')) as [string, string];
  const client = await connectKmip({ port, ca: daemon.caPem, key, cert, ...settings });
  const id = (await client.done('Create', enumeration('ObjectType', 'SymmetricKey'), keyAttributes(what))).required(
    'UniqueIdentifier',
    'text',
  );
  const got = await client.done('Get', uid(id));
  expect(got.requiredStructure('SymmetricKey').requiredStructure('KeyBlock').value('CryptographicLength', 'integer')).toBe(256);
  client.close();
});

test('a thousand idle connections are held, and a request is served beside them', async () => {
  const home = await homeFor('idle');
  const [key, cert] = ['key.pem', 'cert.pem'].map((file) => readFileSync(join(home, file), 'utf8')) as [string, string];
  const idle: KmipClient[] = [];
  while (idle.length < 1_000)
    idle.push(...(await Promise.all(Array.from({ length: 50 }, () => connectKmip({ port, ca: daemon.caPem, key, cert })))));
  await idle[0]?.done('Locate', integer('MaximumItems', 1));
  await idle.at(-1)?.done('Locate', integer('MaximumItems', 1));
  expect(idle.filter(({ socket }) => socket.destroyed)).toEqual([]);
  for (const client of idle) client.close();
});
