// The appliance image in a machine without a TPM: first start with settings from a medium, EST, a power cut, second start with a wrong medium,
// what is open and what runs inside, switching off, and what is on the disk then.
import { spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cipherNames } from '../../plugins/transit/ciphers.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { provideImage } from './build.ts';
import { checkState, extractState, foundIn, occurrences, openState, partitionsOf, rawDisk } from './disk.ts';
import { Machine, mediumWith, shownSecret } from './machine.ts';
import { type Answers, openPorts, probeAnswers, probeArguments } from './probe.ts';

const path = temporaryDirectory();
const directory = path();

/** SoftHSM2 makes no ML-DSA keys. */
const ciphers = cipherNames.filter((name) => !name.startsWith('ml-dsa'));
const keys = '/v1/config/keystore/transit-keys';
const actions = '/v1/state/keystore/transit-keys';
const plaintext = (): string => Buffer.from(secrets.get('plaintext') ?? '').toString('base64');

const settings = {
  hostname: 'keys-1',
  // The second address is one that nobody gives by DHCP; at the first the drill speaks to the machine.
  interfaces: [{ name: 'en*', addresses: ['10.0.2.15/24', '192.0.2.77/24'], gateways: ['10.0.2.2'] }],
  ntp: ['192.0.2.123'],
  allow: { management: ['10.0.2.0/24'], est: ['10.0.2.2', '2001:db8::/48'] },
  hosts: ['keys-1.example.com', '127.0.0.1'],
};
/** What may be nowhere on the disk, in addition to what the test itself creates. */
const secrets = new Map([
  ['plaintext', 'planted plaintext of the image'],
  ['imported key', 'planted key of the image, 256 bit'.slice(0, 32)],
  ['enrolment secret', 'a secret that devices are born with'],
  ['private key in clear', 'PRIVATE KEY-----\nM'],
]);

let image = '';
let machine: Machine;
let inside: Answers;
let rootToken = '';
let credential: Readonly<Record<string, string>> = {};
/** how each key is asked after the power cut, and what it has to answer */
const questions = new Map<string, { readonly action: string; readonly body: object; readonly answer: object }>();

beforeAll(() => {
  image = provideImage(path('image'));
});

afterAll(() => Machine.endAll());

test('a new machine shows the fingerprint of its CA and a credential that logs in once', async () => {
  machine = await Machine.start({ directory, image, more: mediumWith(path('medium'), settings) });
  await machine.serves();
  credential = await machine.credential();
  rootToken = await machine.claim();
  secrets.set('root token', rootToken).set('secret-id', String(credential['secret-id']));
  expect((await machine.exchange('POST', '/v1/approle-login', credential)).status).toBe(401);
});

test('settings of the medium are in use: host name, addresses, names of the listener', async () => {
  await machine.shown(/^\* The settings of the medium KEYSTORED are in use and kept: remove the medium, it is not needed again\.$/);
  await machine.shown(/^host name +keys-1$/);
  await machine.shown(/^addresses +10\.0\.2\.15 {2}192\.0\.2\.77$/);
  expect((await namesOfListener()).split(', ').toSorted()).toEqual(['DNS:keys-1.example.com', 'IP Address:127.0.0.1']);
});

test('a device enrols over EST with its shared secret, renews with its certificate, and is refused without either', async () => {
  const secret = secrets.get('enrolment secret') ?? '';
  const est = { enabled: true, 'initial-enroll-secret': secret, 'allowed-domains': ['plant.example'], 'allow-subdomains': true };
  await ask('POST', '/v1/config/keystore/tls/ca', { name: 'devices', subject: 'CN=Devices', est });
  const { est: shown } = (await ask('GET', '/v1/state/keystore/tls/ca/devices')) as { est: { 'https-url': string[] } };
  const { pathname } = new URL(shown['https-url'][0] ?? '');
  writeFileSync(path('ca.pem'), machine.caPem);
  const environment = { ...process.env, EST: `https://127.0.0.1:${machine.estPort}${pathname}`, SECRET: secret };
  const { status, stdout, stderr } = spawnSync('bash', ['-euo', 'pipefail', '-c', enrolment], {
    cwd: path(),
    env: environment,
    encoding: 'utf8',
  });
  expect([status, stdout.trim().split('\n')], stderr).toEqual([0, ['device.pem: OK', 'renewed.pem: OK', '401']]);
  const [device, renewed] = ['device.pem', 'renewed.pem'].map((name) => new X509Certificate(readFileSync(path(name))));
  expect(renewed).toMatchObject({ subject: 'CN=pump-7.plant.example', issuer: 'CN=Devices', subjectAltName: 'DNS:pump-7.plant.example' });
  expect(renewed?.serialNumber).not.toBe(device?.serialNumber);
});

test('keys of every kind are made, secrets go through, and the mains fail right after the last answer', async () => {
  await ask('POST', keys, { name: 'planted' });
  await ask('POST', `${actions}/planted/import`, { data: Buffer.from(secrets.get('imported key') ?? '').toString('base64') });
  for (const cipher of ciphers) await makeKey(cipher, { cipher });
  for (let number = 1; number <= 25; number++) await makeKey(`late-${number}`);
  expect(questions.size).toBe(ciphers.length + 25);
  await machine.cutPower();
});

test('after the power cut every key works, and the credential is neither shown nor good any more', async () => {
  machine = await Machine.start({
    directory,
    image,
    more: [...mediumWith(path('medium'), { ...settings, hostname: 'Keys_2' }), ...probeArguments(directory)],
  });
  await machine.serves();
  for (const [name, { action, body, answer }] of questions) {
    expect(await ask('POST', `${actions}/${name}/${action}`, body)).toMatchObject(answer);
  }
  expect(machine.console()).not.toMatch(new RegExp(shownSecret, 'm'));
  expect((await machine.exchange('POST', '/v1/approle-login', credential)).status).toBe(401);
});

test('over the network it says which image runs, from which slot, and that nothing is on trial', async () => {
  const [, version] = await machine.shown(/^keystored +([\d.]+)$/);
  expect(await ask('GET', '/v1/state/system/image')).toEqual({
    'is-image': true,
    version,
    slots: [{ version, running: true }],
    trial: 'none',
  });
});

test('a wrong setting on a medium is named on the screen, and the settings before stay', async () => {
  const [line] = await machine.shown(/^\* keystored\.json on the medium KEYSTORED .*$/);
  expect(line).toMatch(/"hostname" must be a host name in lower case\.* The settings before stay: correct the file and restart\.$/);
  await machine.shown(/^host name +keys-1$/);
  await machine.shown(/^addresses +10\.0\.2\.15 {2}192\.0\.2\.77$/);
});

test('inside, no unit has failed, two ports are open, and nobody can raise privileges or write to the system', async () => {
  await expect.poll(() => probeAnswers(directory), { timeout: 1_500_000, interval: 1000 }).toBeDefined();
  inside = probeAnswers(directory) as Answers;
  console.log([inside.times, inside.memory, inside.errors].join('\n'));
  expect([inside.failed, inside.setId, inside.writable]).toEqual(['', '', '']);
  expect(openPorts(inside.tcp)).toEqual([4646, 4665]);
  // Above are those of clients, to which the firewall lets nothing in but answers.
  expect(openPorts(inside.udp).filter((port) => port < 32_768)).toEqual([]);
  const scores = [...inside.scores.matchAll(/Overall exposure level for (\S+): ([\d.]+)/g)].map(([, , score]) => Number(score));
  expect(scores.length).toBeGreaterThanOrEqual(7);
  expect(Math.max(...scores)).toBeLessThanOrEqual(3);
});

test('inside, the firewall drops what it does not know, and lets in whom the settings name', () => {
  type Part = Readonly<Record<string, unknown>>;
  const { nftables } = JSON.parse(inside.firewall) as { nftables: readonly { readonly chain?: Part; readonly set?: Part }[] };
  const chains = nftables.flatMap(({ chain }) => (chain === undefined ? [] : [[chain['hook'], chain['policy']]]));
  expect(Object.fromEntries(chains)).toEqual({ input: 'drop', forward: 'drop' });
  expect(Object.fromEntries(nftables.flatMap(({ set }) => (set === undefined ? [] : [[set['name'], set['elem'] ?? []]])))).toEqual({
    management4: [{ prefix: { addr: '10.0.2.0', len: 24 } }],
    management6: [],
    est4: ['10.0.2.2'],
    est6: [{ prefix: { addr: '2001:db8::', len: 48 } }],
    ...{ cluster4: [], cluster6: [], peers4: [], peers6: [] },
  });
});

test('the power button switches it off; the disk has two slots, and the state is encrypted and sound', async () => {
  await machine.powerOff();
  const slot = expect.stringMatching(/^keystored_[\d.]+$/) as string;
  expect(partitionsOf(directory).map(({ name }) => name)).toEqual(['keystored-esp', slot, slot, '_empty', '_empty', 'keystored-var']);
  // Opens the encrypted volume with its key; what is no LUKS volume, it does not open.
  expect(checkState(directory)).toBe('every invariant holds');
});

test('on the disk, what belongs to the daemon is its own, and no secret lies where it should not', () => {
  const state = openState(directory);
  extractState(state, '/lib', path('state'));
  const held = readdirSync(path('state/lib'), { recursive: true, withFileTypes: true })
    .map((entry) => join(entry.parentPath, entry.name).slice(path('state/lib/').length))
    .filter((name) => /^keystored(?:-os)?(?:\/|$)/.test(name));
  expect(held.length).toBeGreaterThan(15);
  expect(held.filter((name) => (statSync(path('state/lib', name)).mode & 0o077) !== 0)).toEqual([]);
  const pins = new Map(['pin', 'so-pin'].map((name) => [name, readFileSync(path('state/lib/keystored', name), 'utf8').trim()]));
  expect(occurrences(state, [...pins.values()])).toEqual([1, 1]);
  expect(foundIn(state, secrets)).toEqual([]);
  expect(foundIn(rawDisk(directory), new Map([...secrets, ...pins]))).toEqual([]);
});

/** What docs/use/est.md has a device do, with curl and openssl. `ca.pem` is the CA whose fingerprint the screen shows. */
const enrolment = `
# A busy machine's token is away for a moment now and then (503).
curl='curl --silent --show-error --fail --retry 8 --cacert ca.pem'
certificates() { openssl base64 -d | openssl pkcs7 -inform DER -print_certs -out "$1"; }
$curl "$EST/cacerts" | certificates devices.pem
openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout device.key -subj /CN=pump-7.plant.example \
  -addext subjectAltName=DNS:pump-7.plant.example -outform DER | openssl base64 -out device.p10
send='--data-binary @device.p10 --header Content-Type:application/pkcs10'
$curl -u "est:$SECRET" $send "$EST/simpleenroll" | certificates device.pem
openssl verify -x509_strict -purpose sslclient -CAfile devices.pem device.pem
$curl --cert device.pem --key device.key $send "$EST/simplereenroll" | certificates renewed.pem
openssl verify -x509_strict -purpose sslclient -CAfile devices.pem renewed.pem
curl --silent --cacert ca.pem -u 'est:another secret' $send --output refusal --write-out '%{http_code}' "$EST/simpleenroll"`;

/** Makes a key and has it encrypt, or sign where it cannot. */
async function makeKey(name: string, fields: { readonly cipher?: string } = {}): Promise<void> {
  await ask('POST', keys, { name, ...fields });
  if (fields.cipher?.startsWith('aes') ?? true) {
    const { ciphertext } = await ask('POST', `${actions}/${name}/encrypt`, { plaintext: plaintext() });
    questions.set(name, { action: 'decrypt', body: { ciphertext }, answer: { plaintext: plaintext() } });
  } else {
    const { signature } = await ask('POST', `${actions}/${name}/sign`, { text: plaintext() });
    questions.set(name, { action: 'verify', body: { signature, text: plaintext() }, answer: { valid: true } });
  }
}

function ask(method: string, url: string, body?: unknown): Promise<Readonly<Record<string, unknown>>> {
  return machine.ask(method, url, body, rootToken);
}

function namesOfListener(): Promise<string> {
  return new Promise((done, fail) => {
    const socket = connect({ host: '127.0.0.1', port: machine.port, ca: machine.caPem }, () => {
      done(socket.getPeerX509Certificate()?.subjectAltName ?? '');
      socket.end();
    }).on('error', fail);
  });
}
