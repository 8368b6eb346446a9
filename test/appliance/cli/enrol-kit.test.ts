// enrol-kit: what one device needs by each protocol, with a secret that is made for it, recorded, and shown once.
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { provide } from '../../../core/plugin/service.ts';
import { type Listeners, listenersService } from '../../../core/plugin/services/listeners.ts';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { ctlFor, type Ctl } from './run.ts';

const path = temporaryDirectory();
let appliance: TestAppliance;
let ctl: Ctl;

const cas = '/v1/config/keystore/tls/ca';
const rules = { 'allowed-domains': ['example.test'], 'allow-subdomains': true };

const listeners: Listeners = {
  serving: false,
  est: { host: '127.0.0.1', port: 4665 },
  hosts: ['keys.example', 'localhost'],
  managementUrl: 'https://localhost:4646',
  sealed: () => false,
  identity: () => {
    throw new Error('no listener is open in these tests');
  },
  onIdentityChange: () => () => undefined,
};

beforeAll(async () => {
  for (const name of ['appliance', 'home']) mkdirSync(path(name));
  appliance = await startTestAppliance({
    directory: path('appliance'),
    services: [provide(listenersService, listeners)],
    configuration: { enrolment: { listen: '127.0.0.1:4666', plainListen: '127.0.0.1:4667' } },
  });
  ctl = ctlFor(appliance, readFileSync(path('appliance', 'tls-cert.pem'), 'utf8'), path('home'));
  const make = async (name: string, fields: object): Promise<void> => {
    expect((await appliance.request('POST', cas, { name, ...fields })).status).toBe(201);
  };
  await make('both', { est: { ...rules, enabled: true, 'initial-enroll-secret': 'shared secret' }, scep: { enabled: true } });
  await make('old', { est: rules, scep: { enabled: true, 'allow-old': ['des', 'sha1'] } });
  await make('est-only', { est: { ...rules, enabled: true, 'initial-enroll-secret': 'shared secret' } });
  await make('modern', { est: rules, cmp: { enabled: true }, acme: { enabled: true } });
  await make('trusting', { est: { ...rules, enabled: true, 'initial-enroll-trust-ca': 'old' } });
  await make('closed', { est: { ...rules, enabled: true } });
  await make('off', {});
});
afterAll(() => appliance.close());

const secretsOf = async (ca: string): Promise<readonly Record<string, unknown>[]> =>
  (await appliance.request('GET', `/v1/state/keystore/tls/ca/${ca}/enrolment-secrets`)).body;

test('a device gets addresses, anchors, a secret for it alone, and commands, by each protocol that the CA has on', async () => {
  const { code, stdout, stderr } = await ctl(['enrol-kit', 'pump-7.example.test', '--at', 'both']);
  expect([code, stderr]).toEqual([0, '']);
  const [, secret = ''] = /^Secret {2}([A-Z2-9]{24})$/m.exec(stdout) ?? [];
  expect(secret).toHaveLength(24);
  expect(stdout.match(/^## .*$/gm)).toEqual([
    ...['## Trust: the appliance (ca.pem)', '## Trust: the CA and its issuers (issuer.pem)', '## EST', '## SCEP'],
  ]);
  expect(stdout).toMatch(/https:\/\/keys\.example:4665\/\.well-known\/est\/[0-9a-f-]{36}\/both/);
  expect(stdout).toMatch(/https:\/\/keys\.example:4666\/scep\/[0-9a-f-]{36}\/both/);
  // The blocks of a QR code, for each of the two.
  expect(stdout.match(/^▀{30,}$/gm)).toHaveLength(2);
  for (const command of ['pki --scep ', 'getcert request', 'sscep enroll', 'simpleenroll']) expect(stdout).toContain(command);
  // Whom the clients trust over TLS; one of them has none.
  expect(stdout).toMatch(/^# The system has to trust ca\.pem.*\npki --scepca --url https:/m);
  expect(stdout).toMatch(/^getcert add-scep-ca .*-u https:\S+ -R "\$PWD\/ca\.pem"$/m);
  expect(stdout).toMatch(/^sscep enroll -u http:\/\/keys\.example:4667\/scep\//m);
  // The shared secret is not the device's, and old algorithms are not offered where the CA does not take them.
  for (const text of ['shared secret', 'scepclient']) expect(stdout).not.toContain(text);
  expect(await secretsOf('both')).toMatchObject([
    { subject: 'CN=pump-7.example.test', names: ['DNS:pump-7.example.test'], uses: 1, 'uses-left': 1 },
  ]);
  const records = await appliance.request('GET', '/v1/state/keystore/tls/ca/both/enrolment-secrets');
  expect(JSON.stringify(records.body)).not.toContain(secret);
});

test('by CMP the device gets a reference, and by ACME a key for an account that gets its name alone', async () => {
  const { code, stdout } = await ctl(['enrol-kit', 'plc-7.example.test', '--at', 'modern']);
  expect(code).toBe(0);
  const [, reference = ''] = /^Reference ([0-9a-f-]{36})$/m.exec(stdout) ?? [];
  expect(await secretsOf('modern')).toMatchObject([{ id: reference, subject: 'CN=plc-7.example.test' }]);
  const [, key = ''] = /^Key id {2}([0-9a-f-]{36})$/m.exec(stdout) ?? [];
  expect((await appliance.request('GET', '/v1/state/keystore/tls/ca/modern/eab-keys')).body).toMatchObject([
    { id: key, names: ['DNS:plc-7.example.test'], uses: 1 },
  ]);
  expect(stdout.match(/^## (?:CMP|ACME)$/gm)).toEqual(['## CMP', '## ACME']);
  for (const command of [`openssl cmp -config '' -cmd ir`, '-cmd kur', 'certbot certonly', 'lego --server'])
    expect(stdout).toContain(command);
  // The commands read them from variables.
  for (const variable of ['CMP_SECRET', 'EAB_KEY']) expect(stdout).toContain(`read -rs ${variable} && export ${variable}`);
  const printer = await ctl(['enrol-kit', 'Printer 7', '--at', 'modern', '--subject', 'CN=a.example.test', '--no-qr']);
  expect(printer.stdout).toContain('ACME is for host names');
});

test('a name that is none of the network is a subject alone; a kit in a file is for its owner alone', async () => {
  const file = path('kit.txt');
  const words = [
    'enrol-kit',
    'Printer 7',
    '--at',
    'old',
    '--subject',
    'CN=Printer 7,serialNumber=AB12',
    '--ttl',
    '1h',
    '--no-qr',
    '--out',
    file,
  ];
  expect(await ctl(words)).toMatchObject({ code: 0, stdout: '' });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const kit = readFileSync(file, 'utf8');
  expect(kit).toContain('Subject CN=Printer 7,serialNumber=AB12');
  expect(kit).not.toMatch(/▀|--san|## EST/);
  expect(await secretsOf('old')).toMatchObject([{ subject: 'CN=Printer 7,serialNumber=AB12', names: [] }]);
  expect((await ctl(['enrol-kit', 'pump-8.example.test', '--at', 'old', '--no-qr'])).stdout).toContain(
    'SSL_CERT_FILE=ca.pem scepclient -server-url',
  );
});

test('a name is one value of the subject whatever it has, and where the file cannot be written no secret is made', async () => {
  const before = await secretsOf('old');
  expect(await ctl(['enrol-kit', 'pump,OU=admins', '--at', 'old', '--no-qr'])).toMatchObject({ code: 0 });
  const known = new Set(before.map(({ id }) => id));
  const made = (await secretsOf('old')).filter(({ id }) => !known.has(id));
  expect(made.map(({ subject }) => subject)).toEqual([String.raw`CN=pump\,OU\=admins`]);
  expect((await ctl(['enrol-kit', 'pump-9', '--at', 'old', '--out', path('absent', 'kit.txt')])).code).not.toBe(0);
  expect(await secretsOf('old')).toHaveLength(before.length + 1);
});

test('a CA with EST alone makes no secret; one without either, and an unknown one, are refused', async () => {
  const est = await ctl(['enrol-kit', 'pump-7.example.test', '--at', 'est-only', '--no-qr']);
  expect([est.code, est.stdout.match(/^## .*$/gm)?.at(-1)]).toEqual([0, '## EST']);
  expect(await secretsOf('est-only')).toEqual([]);
  expect((await ctl(['enrol-kit', 'pump-7.example.test', '--at', 'off'])).stderr).toContain(
    'set est/enabled, scep/enabled, cmp/enabled or acme/enabled',
  );
  expect((await ctl(['enrol-kit', 'pump-7.example.test', '--at', 'nowhere'])).code).not.toBe(0);
  expect((await ctl(['enrol-kit', 'pump-7.example.test'])).code).not.toBe(0);
});

test('by EST without a secret the device shows a certificate; where nobody can enrol it says what to set', async () => {
  const trusting = await ctl(['enrol-kit', 'pump-7.example.test', '--at', 'trusting', '--no-qr']);
  expect(trusting.stdout).toContain('a certificate of the CA old');
  expect(trusting.stdout).toContain('--cert birth.pem --key birth.key');
  expect(trusting.stdout).not.toContain('EST_SECRET');
  const closed = await ctl(['enrol-kit', 'pump-7.example.test', '--at', 'closed', '--no-qr']);
  expect([closed.code, closed.stdout]).toEqual([
    0,
    expect.stringContaining('set est/initial-enroll-secret, or est/initial-enroll-trust-ca'),
  ]);
  expect(closed.stdout).not.toContain('simpleenroll');
});

test('without a listener for its protocols no secret is made, and the kit says what to set', async () => {
  mkdirSync(path('deaf'));
  const deaf = await startTestAppliance({ directory: path('deaf'), services: [provide(listenersService, listeners)] });
  const ask = ctlFor(deaf, readFileSync(path('deaf', 'tls-cert.pem'), 'utf8'), path('home'));
  await deaf.request('POST', cas, { name: 'modern', est: rules, cmp: { enabled: true } });
  await deaf.request('POST', cas, { name: 'mixed', est: { ...rules, enabled: true }, cmp: { enabled: true } });
  expect(await ask(['enrol-kit', 'plc-7.example.test', '--at', 'modern'])).toMatchObject({
    stdout: '',
    stderr: expect.stringContaining('enrolment/listen'),
  });
  expect((await ask(['enrol-kit', 'plc-7.example.test', '--at', 'mixed'])).stdout).toMatch(/## CMP\n\nIt is on, but .* enrolment\/listen/);
  for (const ca of ['modern', 'mixed'])
    expect((await deaf.request('GET', `/v1/state/keystore/tls/ca/${ca}/enrolment-secrets`)).body).toEqual([]);
  await deaf.close();
});
