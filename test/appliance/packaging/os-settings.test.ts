// The settings of an appliance: what a medium may say, what becomes of it, and that a wrong one never costs the appliance its settings.
import { spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfiguration } from '../../../appliance/configuration.ts';
import { configure } from '../../../appliance/packaging/os/programs/configure.ts';
import { readNotices } from '../../../appliance/packaging/os/programs/notices.ts';
import { parseSettings, SettingsError } from '../../../appliance/packaging/os/programs/settings.ts';
import { readOptions } from '../../../core/config/options.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const firewall = resolve(import.meta.dirname, '../../../appliance/packaging/os/tree/etc/nftables.conf');
const nft = process.getuid?.() === 0 && spawnSync('nft', ['--check', '--file', firewall]).status === 0;
if (!nft) console.warn('SKIPPED: whether nft takes the firewall, because nft is not installed or this is not root');

const whole = {
  hostname: 'keys-1',
  interfaces: [
    { name: 'enp1s0', addresses: ['192.0.2.10/24', '2001:db8::10/64'], gateways: ['192.0.2.1'], dns: ['192.0.2.53'] },
    { mac: '52:54:00:12:34:56', dhcp: true },
  ],
  ntp: ['ntp.example.com'],
  allow: { management: ['192.0.2.0/24', '2001:db8::/32'], est: ['198.51.100.7'] },
  hosts: ['keys-1.example.com', '192.0.2.10'],
  token: { module: '/usr/lib/vendor/libpkcs11.so', label: 'keystored', pin: 'secret-1234' },
};

/** A machine with nothing but what every start finds. */
function machine(name: string) {
  const root = path(name);
  for (const directory of ['run/keystored-medium', 'var/lib/keystored-os']) mkdirSync(join(root, directory), { recursive: true });
  const medium = join(root, 'run/keystored-medium/keystored.json');
  return {
    root,
    read: (file: string) => readFileSync(join(root, file), 'utf8'),
    has: (file: string) => existsSync(join(root, file)),
    /** A start with this on the medium, or without a medium; memory is empty before it. */
    start: (settings?: unknown, files: readonly string[] = []): void => {
      rmSync(join(root, 'run'), { recursive: true });
      mkdirSync(join(root, 'run/keystored-medium'), { recursive: true });
      if (settings !== undefined) writeFileSync(medium, typeof settings === 'string' ? settings : JSON.stringify(settings));
      for (const name of files) writeFileSync(join(root, 'run/keystored-medium', name), '');
      configure(root);
    },
  };
}

test('without a medium: DHCP of the image, both ports on all addresses, a one-time credential in memory', () => {
  const { start, read, has, root } = machine('bare');
  start();
  expect(has('run/systemd/network')).toBe(false);
  expect(has('run/credstore')).toBe(false);
  expect(read('run/keystored-os/networks.nft')).toContain('add element inet keystored management6 { ::/0 }');
  expect(loadConfiguration(['--config', join(root, 'run/keystored-os/keystored.yaml')])).toMatchObject({
    ...{ data: '/var/lib/keystored', listen: { host: '::', port: 4646 }, estListen: { host: '::', port: 4665 } },
    ...{ bootstrapFile: '/run/keystored/bootstrap', attended: false },
    providerHosts: { allow: [], deny: ['127.0.0.0/8', '::1'] },
    plugins: { oidc: { providerHosts: { allow: [], deny: ['127.0.0.0/8', '::1'] } } },
  });
});

test('the settings of a medium reach network, time, firewall, host name and daemon, and stay when the medium is gone', () => {
  const { start, read, root } = machine('whole');
  for (const medium of [whole, undefined]) {
    start(medium);
    expect(read('run/systemd/network/10-settings-0.network')).toBe(
      [
        ...['[Match]', 'Name=enp1s0', '[Network]', 'DHCP=no', 'IPv6AcceptRA=no', 'Address=192.0.2.10/24', 'Address=2001:db8::10/64'],
        ...['Gateway=192.0.2.1', 'DNS=192.0.2.53', 'LLMNR=no', 'MulticastDNS=no'],
        ...['[DHCPv4]', 'UseHostname=no', '[DHCPv6]', 'UseHostname=no', ''],
      ].join('\n'),
    );
    expect(read('run/systemd/network/10-settings-1.network')).toMatch(/^\[Match\]\nMACAddress=52:54:00:12:34:56\n\[Network\]\nDHCP=yes\n/);
    expect(read('run/systemd/network/80-keystored.network')).toBe('');
    expect(read('run/systemd/timesyncd.conf.d/50-settings.conf')).toBe('[Time]\nNTP=ntp.example.com\n');
    expect(read('run/keystored-os/hostname')).toBe('keys-1\n');
    expect(read('run/keystored-os/networks.nft')).toMatch(
      /management4 \{ 192\.0\.2\.0\/24 \}\n[^]*flush set inet keystored est6\n(?:flush set inet keystored (?:enrolment|plain|kmip|cluster|peers)[46]\n){10}$/,
    );
    const configuration = loadConfiguration(['--config', join(root, 'run/keystored-os/keystored.yaml')]);
    expect(configuration).toMatchObject({ hosts: whole.hosts, attended: false });
    expect(configuration.hsm.tokens).toMatchObject([{ module: whole.token.module, pin: { credential: 'keystored.pin' } }]);
    expect(read('run/credstore/keystored.pin')).toBe('secret-1234');
  }
});

test('a version of which no trial is left is named, but not by itself in its last one', () => {
  const { start, root } = machine('left');
  const entries = join(root, 'efi/EFI/Linux');
  mkdirSync(entries, { recursive: true });
  writeFileSync(join(entries, 'keystored_0.2.0.efi'), '');
  writeFileSync(join(entries, 'keystored_0.3.0+1-1.efi'), '');
  start();
  expect(readNotices(root)).toEqual([]);
  renameSync(join(entries, 'keystored_0.3.0+1-1.efi'), join(entries, 'keystored_0.3.0+0-2.efi'));
  start();
  expect(readNotices(root)).toEqual([expect.stringMatching(/^Version 0\.3\.0 was abandoned, /)]);
  mkdirSync(join(root, 'usr/lib'), { recursive: true });
  writeFileSync(join(root, 'usr/lib/os-release'), 'IMAGE_VERSION="0.3.0"\n');
  start();
  expect(readNotices(root)).toEqual([]);
});

test('a PIN is in one file in memory and one that only root reads', () => {
  const { start, root } = machine('pin');
  start(whole);
  const { stdout } = spawnSync('grep', ['-rl', 'secret-1234', join(root, 'run'), join(root, 'var')], { encoding: 'utf8' });
  const kept = join(root, 'var/lib/keystored-os/settings.json');
  const files = stdout
    .trim()
    .split('\n')
    .filter((file) => !file.includes('keystored-medium'));
  expect(files.sort()).toEqual([join(root, 'run/credstore/keystored.pin'), kept]);
  for (const file of files) expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(join(root, 'run/credstore')).mode & 0o777).toBe(0o700);
});

test('with an attended start PINs are handed on once and kept nowhere; the embedded token has to get one that a person knows', () => {
  const { start, read, has, root } = machine('attended');
  const attended = (): boolean => loadConfiguration(['--config', join(root, 'run/keystored-os/keystored.yaml')]).attended;
  const data = join(root, 'var/lib/keystored');
  mkdirSync(join(data, 'softhsm'), { recursive: true });
  writeFileSync(join(data, 'pin'), 'nobody knows it');
  start({ start: 'attended' });
  expect([attended(), readNotices(root)[0]]).toEqual([false, expect.stringContaining('"pin" must be given with an attended start')]);
  for (const settings of [{ pin: 'secret-1234' }, { token: whole.token }]) {
    start({ start: 'attended', ...settings });
    expect([attended(), read('run/credstore/keystored.pin')]).toEqual([true, 'secret-1234']);
    expect(read('var/lib/keystored-os/settings.json')).not.toContain('secret-1234');
    start();
    expect([attended(), has('run/credstore/keystored.pin')]).toEqual([true, false]);
  }
  rmSync(join(data, 'pin'));
  start({ start: 'attended', hostname: 'keys-2' });
  expect([attended(), read('run/keystored-os/hostname')]).toEqual([true, 'keys-2\n']);
});

test('a backup on the medium fills a new appliance, once: what opens it is in memory only, and data that are there stay', () => {
  const { start, read, has, root } = machine('restore');
  const backup = { hostname: 'keys-1', restore: { file: 'plant-7.tar.age', passphrase: 'secret-of-it', 'audit-keys': 'audit-keys.pem' } };
  const onMedium = ['plant-7.tar.age', 'audit-keys.pem'];
  const variables = 'run/keystored-os/restore.env';
  start(backup);
  expect(readNotices(root).join()).toContain('"restore" names plant-7.tar.age, which is not on the medium');
  expect(has(variables)).toBe(false);
  start(backup, onMedium);
  expect(readNotices(root)).toEqual([expect.stringContaining('leave the medium in'), expect.stringContaining('are in use and kept')]);
  const environment = Object.fromEntries(
    read(variables)
      .trim()
      .split('\n')
      .map((line) => line.split('=')),
  ) as Readonly<Record<string, string>>;
  expect(Object.fromEntries([...readOptions([], environment)].map(([field, { text }]) => [field, text]))).toEqual({
    restore: '/run/keystored-medium/plant-7.tar.age',
    'restore-passphrase-file': '/run/credentials/keystored.service/keystored.restore',
    'restore-audit-keys': '/run/keystored-medium/audit-keys.pem',
  });
  expect(read('run/credstore/keystored.restore')).toBe('secret-of-it');
  expect(statSync(join(root, 'run/credstore/keystored.restore')).mode & 0o777).toBe(0o600);
  expect(JSON.parse(read('var/lib/keystored-os/settings.json'))).toEqual({ hostname: 'keys-1' });
  start();
  expect([has(variables), has('run/credstore/keystored.restore')]).toEqual([false, false]);
  mkdirSync(join(root, 'var/lib/keystored/store'), { recursive: true });
  writeFileSync(join(root, 'var/lib/keystored/store/data.mdb'), 'a store');
  start(backup, onMedium);
  expect(readNotices(root)[0]).toContain('this appliance has data');
  expect([has(variables), has('run/credstore/keystored.restore')]).toEqual([false, false]);
});

test('an invitation on the medium is passed to a new appliance in memory, and one that has data starts without it', () => {
  const { start, read, has, root } = machine('cluster');
  const cluster = { name: 'plant-b', address: '192.0.2.12' };
  const asked = { ...whole, allow: { cluster: ['192.0.2.0/24'] }, cluster: { ...cluster, invitation: 'invitation-b' } };
  const member = (): unknown => loadConfiguration(['--config', join(root, 'run/keystored-os/keystored.yaml')]).cluster?.member;
  start(asked);
  expect(readNotices(root).join()).toContain('"cluster" names invitation-b, which is not on the medium');
  start(asked, ['invitation-b']);
  expect(has('run/credstore/keystored.invitation')).toBe(true);
  expect(statSync(join(root, 'run/credstore/keystored.invitation')).mode & 0o777).toBe(0o600);
  const file = '/run/credentials/keystored.service/keystored.invitation';
  expect(member()).toMatchObject({ address: cluster.address, invitationFile: file, clientPort: 2379, peerPort: 2380 });
  expect(JSON.parse(read('var/lib/keystored-os/settings.json'))).toMatchObject({ cluster });
  expect(read('var/lib/keystored-os/settings.json')).not.toContain('invitation');
  expect(read('run/keystored-os/networks.nft')).toContain('add element inet keystored cluster4 { 192.0.2.0/24 }');
  mkdirSync(join(root, 'var/lib/keystored/store'), { recursive: true });
  writeFileSync(join(root, 'var/lib/keystored/store/data.mdb'), 'a store');
  for (const [settings, notice] of [
    [asked, 'is not used, because this appliance has data'],
    [undefined, ''],
  ] as const) {
    start(settings, ['invitation-b']);
    expect(readNotices(root).join()).toContain(notice);
    expect(has('run/credstore/keystored.invitation')).toBe(false);
    expect(member()).toMatchObject({ address: cluster.address });
    expect(member()).not.toHaveProperty('invitationFile');
  }
});

test('a shared address is given to the one that serves by keepalived, whose peers alone may speak to it; without one there is neither', () => {
  const { start, read, has, root } = machine('shared');
  const peers = ['192.0.2.11', '192.0.2.12'];
  const cluster = { name: 'plant-b', address: '192.0.2.12', 'shared-address': { address: '192.0.2.10/24', peers } };
  const asked = { hosts: ['keys.example.com', '192.0.2.10'], cluster };
  start(asked);
  const file = 'run/keystored-os/keepalived.conf';
  expect(read(file)).toMatch(/^ {2}unicast_src_ip 192\.0\.2\.12\n {2}unicast_peer \{\n {4}192\.0\.2\.11\n {2}\}$/m);
  expect(read('run/keystored-os/networks.nft')).toContain('add element inet keystored peers4 { 192.0.2.11, 192.0.2.12 }');
  for (const [wrong, said] of [
    [{ ...asked, hosts: ['keys.example.com'] }, '"hosts" must name the shared address'],
    [{ cluster }, '"hosts" must name the shared address'],
    [sharing({ address: '2001:db8::10/64', peers }), 'must be of the same family'],
    [sharing({ address: '192.0.2.11/24', peers }), 'must be none of the addresses of the appliances'],
    [sharing({ address: '192.0.2.10/24', peers: ['192.0.2.12'] }), 'must name the other appliances'],
    [sharing({ address: '192.0.2.10/24', peers: ['192.0.2.11\n}'] }), 'must be an IP address'],
    [sharing({ address: '192.0.2.10', peers }), 'must be an address with its prefix'],
    [sharing({ address: '192.0.2.10/24', peers, 'router-id': 256 }), '"cluster/shared-address/router-id"'],
  ] as const) {
    start(wrong);
    expect(readNotices(root).join()).toContain(said);
    expect(read(file)).toContain('    192.0.2.10/24\n');
  }
  start({ cluster: { name: 'plant-b', address: '192.0.2.12' } });
  expect(has(file)).toBe(false);
  expect(read('run/keystored-os/networks.nft')).toMatch(/flush set inet keystored peers4\nflush set inet keystored peers6\n$/);

  function sharing(shared: object): object {
    return { ...asked, cluster: { ...cluster, 'shared-address': shared } };
  }
});

test('a wrong medium changes nothing, and the screen says what is wrong, without a value', () => {
  const { start, read, root } = machine('wrong');
  start(whole);
  for (const [wrong, said] of [
    ['{"token": {"pin": "secret-1234"', 'one JSON object'],
    ['{"start": "attended", "start": "unattended"}', 'no name is repeated'],
    [{ ...whole, gateway: '192.0.2.1' }, '"gateway"'],
    [{ ...whole, hostname: 'Keys_2' }, 'KEYSTORED "hostname" must be a host name in lower case. The settings before stay: '],
    [{ ...whole, token: { ...whole.token, module: '/var/tmp/evil.so' } }, '"token/module"'],
    [{ ...whole, token: { ...whole.token, pin: undefined } }, '"token/pin" must be given, unless the start is attended'],
    [{ ...whole, pin: 'secret-1234' }, '"pin" is of the embedded token'],
    [
      { restore: { passphrase: 'secret-1234', identity: 'AGE-SECRET-KEY-1A' } },
      '"restore" must have exactly one of passphrase and identity',
    ],
    [{ restore: { file: '../var/evil', passphrase: 'secret-1234' } }, '"restore/file" must be the name of a file on the medium'],
    [{ restore: { identity: 'secret-1234' } }, '"restore/identity" must be an age identity'],
    [{ pin: '123' }, '"pin" must be at least 4 characters long'],
    [{ ...whole, interfaces: [{ name: 'enp1s0' }] }, '"dhcp": true'],
    [{ ...whole, allow: { est: ['192.0.2.1/24'] } }, '"allow/est/0"'],
    [`{"hostname": "${'x'.repeat(70_000)}"}`, 'longer than'],
  ] as const) {
    start(wrong);
    expect(readNotices(root).join()).toContain(said);
    expect(readNotices(root).join()).not.toMatch(/secret-1234|evil/);
    expect(read('run/keystored-os/hostname')).toBe('keys-1\n');
  }
});

test('the examples of the documentation are right, and every field is named there', () => {
  const page = readFileSync(resolve(import.meta.dirname, '../../../appliance/docs/administer/os.md'), 'utf8');
  const examples = [...page.matchAll(/```json\n([^]*?)```/g)].map(([, example = '']) => Buffer.from(example));
  expect(parseSettings(examples[0] as Buffer).hostname).toBe('keys-1');
  const sharing = examples.find((example) => example.includes('"shared-address"')) as Buffer;
  expect(parseSettings(sharing).cluster?.sharedAddress).toMatchObject({ address: '192.0.2.10/24', routerId: 46 });
  for (const name of Object.keys({ ...whole, cluster: '', 'factory-reset': '', restore: '' })) expect(page).toContain(`| \`${name}\``);
});

test('nothing can be smuggled into a file of the system', () => {
  const attempts = [
    { hostname: 'a\nb' },
    { interfaces: [{ name: 'e\nDHCP=', dhcp: true }] },
    { interfaces: [{ name: 'e0', addresses: ['192.0.2.1/24\nGateway=192.0.2.2'] }] },
    { interfaces: [{ name: 'e0', addresses: ['fe80::1%x y/64'] }] },
    { interfaces: [{ name: 'e0', dhcp: true, dns: ['192.0.2.1#evil.example'] }] },
    { ntp: ['a b'] },
    { allow: { management: ['0.0.0.0/0 }; flush ruleset; #'] } },
    { hosts: ['a: b'] },
  ];
  for (const attempt of attempts)
    expect(() => parseSettings(Buffer.from(JSON.stringify(attempt))), JSON.stringify(attempt)).toThrow(SettingsError);
});

test('kept settings that a later version does not know leave an appliance that starts', () => {
  const { start, has, root } = machine('later');
  writeFileSync(join(root, 'var/lib/keystored-os/settings.json'), '{"no-longer-known": 1}');
  start();
  expect(has('run/keystored-os/keystored.yaml')).toBe(true);
  expect(readNotices(root).join()).toContain('"no-longer-known"');
});

test('a factory reset is asked for by the CA it destroys, and so only once', () => {
  const { start, has, root } = machine('reset');
  const tls = join(root, 'var/lib/keystored/tls');
  mkdirSync(tls, { recursive: true });
  const asked = () => has('run/keystored-os/factory-reset');
  const makeCa = (): string => {
    const ca = spawnSync('openssl', [
      ...'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=ca -keyout'.split(' '),
      path('ca.key'),
    ]);
    writeFileSync(join(tls, 'ca.pem'), ca.stdout);
    return new X509Certificate(ca.stdout).fingerprint256;
  };
  const fingerprint = makeCa();
  start({ 'factory-reset': fingerprint.replace(/^../, 'ZZ') });
  expect(asked()).toBe(false);
  start({ 'factory-reset': fingerprint });
  expect(asked()).toBe(true);
  makeCa();
  start({ 'factory-reset': fingerprint });
  expect(asked()).toBe(false);
});

test.skipIf(!nft)('the firewall takes the sets, and the check notices one it has not', () => {
  const { start, root } = machine('firewall');
  const check = (sets: string): string => {
    const file = path('rules.nft');
    writeFileSync(file, `${readFileSync(firewall, 'utf8')}\n${sets}`);
    return spawnSync('nft', ['--check', '--file', file], { encoding: 'utf8' }).stderr;
  };
  for (const settings of [undefined, whole]) {
    start(settings);
    expect(check(readFileSync(join(root, 'run/keystored-os/networks.nft'), 'utf8'))).toBe('');
  }
  expect(check('flush set inet keystored other4')).not.toBe('');
});

const names = nft && spawnSync('unshare', ['--net', 'ip', 'link', 'set', 'lo', 'up']).status === 0;
if (!names) console.warn('SKIPPED: what the firewall lets through, because that needs root, nft, ip and network name spaces');

test.skipIf(!names)('the firewall lets exactly the networks of each port through, and nobody before it is told which', () => {
  const { start, read } = machine('through');
  start({ allow: { management: ['127.0.0.2', '127.0.1.0/24'], est: [] } });
  // In a name space of its own, over its loopback: there nothing is let through for being loopback, and what is dropped is said so.
  const rules = readFileSync(firewall, 'utf8')
    .replace(/^ *iif lo accept\n/m, '')
    .replace('  }\n\n  chain forward', '    reject with tcp reset\n  }\n\n  chain forward');
  expect(rules).toContain('reject with tcp reset');
  const told = read('run/keystored-os/networks.nft');
  const reached = (more: string): unknown => {
    writeFileSync(path('through.nft'), `${rules}\n${more}`);
    const script = 'ip link set lo up && nft --file "$1" && exec "$2" --input-type=module --eval "$3"';
    const { stdout, stderr } = spawnSync('unshare', ['--net', 'sh', '-ec', script, 'sh', path('through.nft'), process.execPath, knock], {
      encoding: 'utf8',
    });
    return stdout === '' ? stderr : (JSON.parse(stdout) as unknown);
  };
  expect(reached('')).toEqual([]);
  expect(reached(told)).toEqual(['127.0.0.2 4646', '127.0.1.9 4646']);
  const none = { management: [], est: [], cluster: ['127.0.0.3'] };
  start({ allow: none });
  expect(reached(read('run/keystored-os/networks.nft'))).toEqual([]);
  start({ allow: none, cluster: { name: 'plant-b', address: '192.0.2.12' } });
  expect(reached(read('run/keystored-os/networks.nft'))).toEqual(['127.0.0.3 2379', '127.0.0.3 2380']);
  start({ allow: { ...none, enrolment: ['127.0.0.2'] }, enrolment: { plain: true } });
  expect(reached(read('run/keystored-os/networks.nft'))).toEqual(['127.0.0.2 4666', '127.0.0.2 4667']);
  start({ allow: { ...none, enrolment: ['127.0.0.2'] }, enrolment: {} });
  expect(reached(read('run/keystored-os/networks.nft'))).toEqual(['127.0.0.2 4666']);
  start({ allow: { ...none, kmip: ['127.0.0.3'] } });
  expect(reached(read('run/keystored-os/networks.nft'))).toEqual([]);
  start({ allow: { ...none, kmip: ['127.0.0.3'] }, kmip: {} });
  expect(reached(read('run/keystored-os/networks.nft'))).toEqual(['127.0.0.3 5696']);
});

test('KMIP is served where the settings have it, with the certificate that they choose', () => {
  const { start, root } = machine('kmip');
  const served = () => loadConfiguration(['--config', join(root, 'run/keystored-os/keystored.yaml')]).plugins['kmip'] as object;
  start({});
  expect(Object.keys(served())).not.toContain('listen');
  start({ kmip: { certificate: 'rsa' } });
  expect(served()).toMatchObject({ listen: { host: '::', port: 5696 }, certificate: 'rsa' });
});

test('enrolment protocols beside EST are served where the settings have them, over HTTP without TLS only where they say so', () => {
  const { start, root } = machine('enrolment');
  const served = () => loadConfiguration(['--config', join(root, 'run/keystored-os/keystored.yaml')]).plugins['enrolment'];
  start({});
  expect(served()).toEqual({});
  start({ enrolment: {} });
  expect(served()).toEqual({ listen: { host: '::', port: 4666 } });
  start({ enrolment: { plain: true } });
  expect(served()).toEqual({ listen: { host: '::', port: 4666 }, plainListen: { host: '::', port: 4667 } });
});

/** Listens on every port and on another, knocks from three addresses and says who came through. */
const knock = `
  import { connect, createServer } from 'node:net';
  const came = [];
  for (const port of [2379, 2380, 4646, 4665, 4666, 4667, 5696, 8080]) {
    const server = createServer((socket) => socket.end()).listen(port, '127.0.0.1');
    for (const localAddress of ['127.0.0.2', '127.0.0.3', '127.0.1.9']) {
      const through = await new Promise((done) => {
        connect({ host: '127.0.0.1', port, localAddress }).once('connect', () => done(true)).once('error', () => done(false)).resume();
      });
      if (through) came.push(localAddress + ' ' + port);
    }
    server.close();
  }
  console.log(JSON.stringify(came));
`;
