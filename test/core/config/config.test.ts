// The configuration: where values come from, what is refused, and that a refusal is one line with the place and the fix.
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  type Configuration,
  ConfigurationError,
  describeConfiguration,
  describeOptions,
  loadConfiguration,
} from '../../../core/config/config.ts';
import { keysThatFit } from '../../../core/config/memory.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const temporary = temporaryDirectory();
const sections = {
  oidc: z.strictObject({
    sessionIdle: z.string().default('30m').describe('how long'),
    deep: z.strictObject({ maxLogins: z.int() }).exactOptional(),
  }),
};
/** A hundred million elements, if they were all followed. */
const aliases = Array.from(
  { length: 8 },
  (_, n) =>
    `a${n}: &a${n} [${Array(10)
      .fill(n === 0 ? 1 : `*a${n - 1}`)
      .join(', ')}]`,
).join('\n');
let files = 0;

function load(yaml: string | undefined, argv: string[] = [], environment: Record<string, string> = {}): Configuration {
  if (yaml === undefined) return loadConfiguration({ argv, environment, sections });
  const file = temporary(`${++files}.yaml`);
  writeFileSync(file, yaml);
  return loadConfiguration({ argv: ['--config', file, ...argv], environment, sections });
}

/** The message of the refusal, the file's path replaced by FILE. */
function refusal(yaml: string | undefined, argv: string[] = [], environment: Record<string, string> = {}): string {
  try {
    load(yaml, argv, environment);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return error.message.replaceAll(temporary(`${files}.yaml`), 'FILE');
  }
  throw new Error('nothing was refused');
}

describe('values', () => {
  test('nothing given: every option has its default', () => {
    expect(load(undefined)).toMatchObject({
      data: resolve('data'),
      listen: { host: '127.0.0.1', port: 4646 },
      estListen: { host: '127.0.0.1', port: 4665 },
      publicUrl: 'https://127.0.0.1:4646',
      logLevel: 'info',
      audit: { maxFileBytes: 64 << 20, retainFiles: 64, signEverySeconds: 60 },
      hsm: { tokens: [], defaultCustody: 'wrapped', jobTimeoutSeconds: 10, checkAnswers: false },
      plugins: { oidc: { sessionIdle: '30m' } },
    });
    expect(load(undefined).hosts).toEqual(expect.arrayContaining(['localhost', '127.0.0.1']));
    expect(load(undefined).workers).toBeGreaterThan(0);
    expect(load('').listen.port).toBe(4646);
  });

  test('a whole file in kebab-case; names chosen by the user are kept', () => {
    const yaml = `
data: /var/lib/keystored   # comment
listen: "[::1]:8443"
est-listen: est.example.com:4665
public-url: https://keys.example.com/
hosts: [keys.example.com, 192.0.2.1, "2001:db8::1"]
workers: 3
log-level: debug
audit: { retain-files: 4, sign-every: 5m }
hsm:
  default-custody: token
  job-timeout: 1m30s
  check-answers: true
  tokens:
    - name: main
      module: /usr/lib/hsm.so
      serial: "0123"
      pin: { environment: HSM_PIN }
      environment: { SOFTHSM2_CONF: /etc/softhsm.conf, camelCase: stays }
    - { name: pq, module: libsoftokn3.so, label: nss, pin: { file: /run/pin }, library-parameters: "configdir='sql:/x' " }
oidc:
  session-idle: 10m
  deep: { max-logins: 7 }
`;
    const { sources, ...loaded } = load(yaml, [], { KEYSTORED_WORKERS: '3' });
    expect(sources).toMatchObject({
      'log-level': expect.stringMatching(/ line \d+: log-level$/),
      workers: 'KEYSTORED_WORKERS',
      restore: '--restore',
    });
    expect(loaded).toEqual({
      notices: {},
      attended: false,
      certificateHosts: [],
      data: '/var/lib/keystored',
      listen: { host: '::1', port: 8443, connections: expect.any(Number) as number },
      estListen: { host: 'est.example.com', port: 4665, connections: expect.any(Number) as number },
      publicUrl: 'https://keys.example.com',
      publicUrlIsOwn: false,
      ownUrl: expect.stringMatching(/^https:/),
      hosts: ['keys.example.com', '192.0.2.1', '2001:db8::1'],
      workers: 3,
      logLevel: 'debug',
      logs: { maxFileBytes: 16 << 20, retainFiles: 8 },
      audit: { maxFileBytes: 64 << 20, retainFiles: 4, signEverySeconds: 300 },
      shipping: { destinations: [] },
      tlsKey: 'store',
      tlsRsaCertificate: false,
      providerHosts: { allow: [], deny: [] },
      hsm: {
        defaultCustody: 'token',
        cacheKeys: keysThatFit(3 * 2),
        jobTimeoutSeconds: 90,
        checkAnswers: true,
        tokens: [
          {
            name: 'main',
            module: '/usr/lib/hsm.so',
            serial: '0123',
            pin: { environment: 'HSM_PIN' },
            environment: { SOFTHSM2_CONF: '/etc/softhsm.conf', camelCase: 'stays' },
          },
          { name: 'pq', module: 'libsoftokn3.so', label: 'nss', pin: { file: '/run/pin' }, libraryParameters: "configdir='sql:/x' " },
        ],
      },
      plugins: { oidc: { sessionIdle: '10m', deep: { maxLogins: 7 } } },
    });
  });

  test('options override the environment, the environment overrides the file; an empty variable counts as absent', () => {
    const environment = { KEYSTORED_WORKERS: '2', KEYSTORED_DATA: '/env', KEYSTORED_LISTEN: '', KEYSTORED_HOSTS: 'a.example,b.example' };
    const configuration = load(
      'workers: 1\ndata: /file\nlisten: 127.0.0.1:1\nlog-level: warn',
      ['--workers=3', '--est-listen', '127.0.0.1:9'],
      environment,
    );
    expect(configuration).toMatchObject({
      workers: 3,
      data: '/env',
      listen: { port: 1 },
      estListen: { port: 9 },
      logLevel: 'warn',
      hosts: ['a.example', 'b.example'],
    });
    const file = temporary(`${files}.yaml`);
    expect(loadConfiguration({ argv: [], environment: { KEYSTORED_CONFIG: file }, sections }).logLevel).toBe('warn');
  });

  test('listening everywhere: the public address is the first host, and the machine’s own addresses are among the hosts', () => {
    const configuration = load(undefined, ['--listen', '0.0.0.0:4646']);
    expect(configuration.publicUrl).toBe(`https://${configuration.hosts[0]}:4646`);
    expect(configuration.hosts).not.toContain('0.0.0.0');
    expect(load(undefined, ['--listen=[::1]:1']).publicUrl).toBe('https://[::1]:1');
  });

  test('listening everywhere as a member of a cluster: the public address is that of the member, which the others reach without a name', () => {
    const member = (address: string): string => `cluster: {name: a, member: {address: '${address}'}}\n`;
    const everywhere = ['--listen', '0.0.0.0:4646'];
    expect(load(member('192.0.2.11'), everywhere).publicUrl).toBe('https://192.0.2.11:4646');
    expect(load(member('2001:db8::11'), everywhere).publicUrl).toBe('https://[2001:db8::11]:4646');
    expect(load(`${member('192.0.2.11')}hosts: [keys.example.com]\n`, everywhere).publicUrl).toBe('https://keys.example.com:4646');
    expect(load(member('192.0.2.11')).publicUrl).toBe('https://127.0.0.1:4646');
  });

  test('an invitation names the appliance itself, whatever public-url leads to, and its certificate has that address', () => {
    const everywhere = ['--listen', '0.0.0.0:4646'];
    const text = 'cluster: {name: a, member: {address: 192.0.2.11}}\nhosts: [keys.example]\npublic-url: https://keys.example\n';
    const balanced = load(text, everywhere);
    expect(balanced).toMatchObject({ ownUrl: 'https://192.0.2.11:4646', publicUrl: 'https://keys.example', publicUrlIsOwn: false });
    expect(balanced.hosts).toEqual(['keys.example', '192.0.2.11']);
    const single = load('cluster: {name: a, member: {address: 192.0.2.11}}\n', ['--listen', '192.0.2.12:4646']);
    expect(single).toMatchObject({ ownUrl: 'https://192.0.2.12:4646', publicUrl: 'https://192.0.2.12:4646', publicUrlIsOwn: true });
    expect(load(text).ownUrl).toBe('https://keys.example');
  });

  test('a file of a version in which clusters were a preview is still read', () => {
    const cluster = (more: string): unknown => load(`cluster: {name: a, ${more}member: {address: 192.0.2.11}}\n`).cluster;
    expect(cluster('preview: true, ')).toEqual(cluster(''));
  });
});

describe('refusals', () => {
  const token = 'hsm:\n  tokens:\n    - name: a\n      module: m\n      label: l\n      pin: {file: p}\n';
  const cluster = 'cluster:\n  name: a\n  ca-file: c\n  certificate-file: d\n  key-file: k\n';
  test.each<[string, string | undefined, string[], RegExp]>([
    [
      'an unknown option',
      undefined,
      ['--lisen', 'x'],
      /^unknown option --lisen; the options are --config, --data, --listen, .*\(see --help\)$/,
    ],
    ['a bare word', undefined, ['start'], /^unknown option start/],
    ['an option without value', undefined, ['--data'], /^--data needs a value: --data DIR$/],
    ['an empty value', undefined, ['--data='], /^--data needs a value/],
    ['no address', undefined, ['--listen', '4646'], /^--listen: "listen" must be HOST:PORT, for example 127\.0\.0\.1:4646/],
    ['a port too high', undefined, ['--listen', 'a:65536'], /^--listen: .*HOST:PORT/],
    ['port 0', undefined, ['--est-listen', 'a:0'], /^--est-listen: .*HOST:PORT/],
    ['an IPv6 address without brackets', undefined, ['--listen', '::1:4646'], /^--listen: .*HOST:PORT/],
    ['a number that is not one', undefined, ['--workers', 'two'], /^--workers: "workers" must be a number$/],
    ['a number out of range', undefined, ['--workers', '0'], /^--workers: "workers" must be at least 1$/],
    ['an unencrypted public address', undefined, ['--public-url', 'http://a'], /^--public-url: "public-url" must be/],
    [
      'proxies that are everybody',
      'proxies:\n  proxy-protocol: [0.0.0.0/0]\n',
      [],
      /^FILE line 2: "proxies\/proxy-protocol" must not have all addresses/,
    ],
    [
      'proxies that are no range',
      'proxies:\n  forwarded: [10.0.0.1/8]\n',
      [],
      /^FILE line 2: "proxies\/forwarded\/0" must be an address or a range/,
    ],
    ['no host name', undefined, ['--hosts', 'a b'], /^--hosts: "hosts\/0" must be a host name or an IP address$/],
    ['a missing file', undefined, ['--config', '/does/not/exist'], /^--config \/does\/not\/exist cannot be read \(ENOENT\): /],
    ['an unknown field', 'data: x\n\nworkrs: 3', [], /^FILE line 3: "workrs" is unknown; the fields here are data, listen, .*oidc$/],
    ['a camelCase field', 'logLevel: info', [], /^FILE line 1: "logLevel" is unknown/],
    [
      'an unknown field inside',
      'hsm:\n  cache-keys: 100\n  caches: 1',
      [],
      /^FILE line 3: "hsm\/caches" is unknown; the fields here are tokens, default-custody,/,
    ],
    ['a wrong type', 'data: x\nworkers: "3"', [], /^FILE line 2: "workers" must be a number$/],
    ['a wrong choice', 'log-level: loud', [], /^FILE line 1: "log-level" must be one of "debug", "info", "warn", "error"$/],
    ['a wrong duration', 'hsm:\n  job-timeout: 10', [], /^FILE line 2: "hsm\/job-timeout" must be a string$/],
    ['a bad field of a token', `${token}      modul: x`, [], /^FILE line 7: "hsm\/tokens\/0\/modul" is unknown/],
    [
      'two ways to select a token',
      `${token}      serial: "1"`,
      [],
      /^FILE line 3: "hsm\/tokens\/0" must have exactly one of label and serial$/,
    ],
    ['no way to select a token', token.replace('      label: l\n', ''), [], /^FILE line 3: "hsm\/tokens\/0" must have exactly one/],
    [
      'two sources of a PIN',
      token.replace('{file: p}', '{file: p, credential: c}'),
      [],
      /^FILE line 6: "hsm\/tokens\/0\/pin" must name exactly one of/,
    ],
    [
      'two tokens of one name',
      `${token}${token.split('tokens:\n')[1]}`,
      [],
      /^FILE line 2: "hsm\/tokens" must not have two tokens of the same name$/,
    ],
    ['a token without module', token.replace('      module: m\n', ''), [], /^FILE line 3: "hsm\/tokens\/0\/module" is required$/],
    [
      'an unknown field of a plugin',
      'oidc:\n  session-idel: 1m',
      [],
      /^FILE line 2: "oidc\/session-idel" is unknown; the fields here are session-idle, deep$/,
    ],
    ['a section of no plugin', 'oidc: {}\nscep: {}', [], /^FILE line 2: "scep" is unknown/],
    ['a field given twice', 'workers: 1\nworkers: 2', [], /^FILE line 2: "workers" is there twice$/],
    ['an alias without its anchor', 'workers: *one', [], /^FILE: Unresolved alias .*: one$/],
    ['aliases of aliases, ten times each', aliases, [], /^FILE: Excessive alias count/],
    [
      'thirty thousand fields',
      Array.from({ length: 30_000 }, (_, n) => `field-${n}: 1`).join('\n'),
      [],
      /^FILE line 1: "field-0" is unknown/,
    ],
    ['eighteen thousand lists in lists', '- '.repeat(18_000), [], /^FILE cannot be read: its fields are nested too deep$/],
    [
      'the same in brackets',
      `workers: ${'['.repeat(18_000)}${']'.repeat(18_000)}`,
      [],
      /^FILE cannot be read: its fields are nested too deep$/,
    ],
    ['more than a mebibyte', '# nothing\n'.repeat(110_000), [], /^--config FILE is larger than 1048576 octets/],
    ['broken YAML', 'data: [1,\nworkers: 2', [], /^FILE line \d+: /],
    [
      'a cluster without files',
      'cluster:\n  name: a\n  endpoints: [https://etcd:2379]',
      [],
      /^FILE line 1: "cluster\/ca-file" is required$/,
    ],
    [
      'a cluster without an etcd',
      'cluster:\n  name: a',
      [],
      /^FILE line 1: "cluster" must have either member, or endpoints, ca-file, certificate-file and key-file$/,
    ],
    [
      'a cluster with an etcd of its own and another one',
      `${cluster}  endpoints: [https://etcd:2379]\n  member: {address: 192.0.2.1}`,
      [],
      /^FILE line 1: "cluster" must have either member, or/,
    ],
    ['a member without an address', 'cluster:\n  name: a\n  member: {address: plant-a}', [], /must be an IP address of this machine/],
    [
      'an endpoint of a cluster without a port',
      `${cluster}  endpoints: [https://etcd]`,
      [],
      /^FILE line 6: "cluster\/endpoints\/0" must be https:\/\/HOST:PORT/,
    ],
    [
      'an endpoint in clear',
      `${cluster}  endpoints: ['http://etcd:2379']`,
      [],
      /^FILE line 6: "cluster\/endpoints\/0" must be an https URL$/,
    ],
    [
      'the same endpoint twice',
      `${cluster}  endpoints: ['https://etcd:2379', 'https://etcd:2379/']`,
      [],
      /^FILE line 6: "cluster\/endpoints" must not have the same member twice$/,
    ],
    ['a list instead of fields', '- a', [], /^FILE line 1: must be a list of fields/],
    ['two documents', 'workers: 1\n---\nworkers: 2', [], /^FILE line \d+: /],
  ])('%s', (_what, yaml, argv, message) => {
    const line = refusal(yaml, argv);
    expect(line).toMatch(message);
    expect(line).not.toMatch(/\n/);
  });

  test('a wrong variable is named', () => {
    expect(refusal(undefined, [], { KEYSTORED_EST_LISTEN: 'x' })).toMatch(/^KEYSTORED_EST_LISTEN: "est-listen" must be HOST:PORT/);
    expect(refusal(undefined, [], { KEYSTORED_CONFIG: '/nope' })).toMatch(/^KEYSTORED_CONFIG \/nope cannot be read/);
  });

  test('a plugin cannot take a section of the core', () => {
    expect(() => loadConfiguration({ argv: [], environment: {}, sections: { audit: z.strictObject({}) } })).toThrow(TypeError);
  });
});

describe('reference', () => {
  test('every field has a type and says what it is for; options and variables are listed with their fields', () => {
    const fields = describeConfiguration(sections);
    expect(fields.filter(({ description, path }) => description === '' && !path.startsWith('oidc/deep'))).toEqual([]);
    expect(fields.filter(({ type }) => type === 'any')).toEqual([]);
    expect(fields.find(({ path }) => path === 'est-listen')).toEqual({
      path: 'est-listen',
      type: 'string',
      description: 'EST (HTTPS, only EST)',
      default: '127.0.0.1:4665',
      option: '--est-listen',
      environment: 'KEYSTORED_EST_LISTEN',
    });
    expect(fields.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['hsm/tokens/[]/pin/file', 'oidc/session-idle', 'audit/sign-every']),
    );
  });

  test('the help names every option with variable and default', () => {
    const help = describeOptions();
    for (const option of ['config', 'data', 'listen', 'est-listen', 'workers']) expect(help).toMatch(new RegExp(`^  --${option} `, 'm'));
    expect(help).toContain('(default 127.0.0.1:4646) [KEYSTORED_LISTEN]');
  });
});
