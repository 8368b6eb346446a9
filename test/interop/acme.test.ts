// Clients of others against ACME (RFC 8555): certbot, lego, dehydrated, Caddy, acme-client of npm, two libraries of Go, and acme.sh where it is installed.
import { spawn, spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { acmeCommands } from '../../core/enrolment/commands.ts';
import { type Ending, must, requireToolchain, run } from '../clients/commands.ts';
import { obtainGo, onlyThisGo } from '../clients/go/toolchain.ts';
import { versions } from '../clients/versions.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { type AcmeAppliance, openAcme, startAcmeAppliance } from '../plugins/acme/acme-appliance.ts';

const path = temporaryDirectory();
const programs = join(import.meta.dirname, 'acme');
let appliance: AcmeAppliance;
let anchor: string;
let environment: Readonly<Record<string, string>>;
const timeout = 180_000;

beforeAll(async () => {
  appliance = await startAcmeAppliance({}, false);
  anchor = path('anchor.pem');
  writeFileSync(anchor, appliance.caPem);
  environment = { REQUESTS_CA_BUNDLE: anchor, LEGO_CA_CERTIFICATES: anchor, NODE_EXTRA_CA_CERTS: anchor, SSL_CERT_FILE: anchor };
});

type Place = { readonly ca: string; readonly directory: string; readonly server: string };

/** A folder for a client, and its CA. */
async function prepare(client: string, fields: object = openAcme): Promise<Place> {
  const ca = await appliance.makeCa(fields);
  const directory = path(`${client}-${ca}`);
  mkdirSync(directory);
  return { ca, directory, server: appliance.directoryOf(ca) };
}

function certificateOf(file: string, { output }: Ending): X509Certificate {
  if (!existsSync(file)) throw new Error(`no certificate came: ${output.slice(-3_000)}`);
  return new X509Certificate(readFileSync(file));
}

/** The state of every certificate of a CA. */
async function states(ca: string): Promise<readonly string[]> {
  return ((await appliance.list(ca, 'certificates')) as { status: string }[]).map(({ status }) => status);
}

const externally = async (ca: string, fields: object = {}): Promise<{ id: string; key: string }> =>
  (await appliance.act(ca, 'make-eab-key', fields)).body;

describe('certbot', () => {
  const certbot = ({ directory, server }: Place, ...words: readonly string[]): Promise<Ending> => {
    const folders = ['config', 'work', 'logs'].flatMap((name) => [`--${name}-dir`, join(directory, name)]);
    return run('certbot', [...words, '-n', '--server', server, ...folders], { environment });
  };
  const first = (name: string, more: readonly string[] = []): readonly string[] => [
    ...[
      'certonly',
      '--standalone',
      '--http-01-port',
      String(appliance.httpPort),
      '-d',
      name,
      '--agree-tos',
      '-m',
      'x@example.test',
      ...more,
    ],
  ];

  test('enrols, renews and revokes', { timeout }, async () => {
    const place = await prepare('certbot');
    const ended = await certbot(place, ...first('certbot.example.test'));
    const file = join(place.directory, 'config/live/certbot.example.test/cert.pem');
    const certificate = certificateOf(file, ended);
    expect(certificate.subjectAltName).toBe('DNS:certbot.example.test');
    expect((await certbot(place, ...first('certbot.example.test', ['--force-renewal']))).code).toBe(0);
    expect(new X509Certificate(readFileSync(file)).serialNumber).not.toBe(certificate.serialNumber);
    expect((await certbot(place, 'revoke', '--cert-path', file, '--no-delete-after-revoke')).output).toContain('Congratulations');
    expect(await states(place.ca)).toContain('revoked');
  });

  test('enrols with a key of the administrator for a name, without a proof', { timeout }, async () => {
    const place = await prepare('certbot', { ...openAcme, acme: { enabled: true } });
    const { id, key } = await externally(place.ca, { names: ['bound.example.test'] });
    const visits = appliance.dns.asked.length;
    const ended = await certbot(place, ...first('bound.example.test', ['--eab-kid', id, '--eab-hmac-key', key]));
    expect(certificateOf(join(place.directory, 'config/live/bound.example.test/cert.pem'), ended).subjectAltName).toBe(
      'DNS:bound.example.test',
    );
    expect(appliance.dns.asked.length).toBe(visits);
  });

  test('hears what is wrong with a name', { timeout }, async () => {
    const place = await prepare('certbot');
    expect((await certbot(place, ...first('certbot.example.com'))).code).toBe(1);
    // Its own texts hide the refusal behind a fault of Python 3.11 (certbot 2.1).
    expect(readFileSync(join(place.directory, 'logs/letsencrypt.log'), 'utf8')).toContain('The name certbot.example.com is not permitted');
  });
});

describe('lego', () => {
  const lego = ({ directory, server }: Place, way: readonly string[], ...words: readonly string[]): Promise<Ending> =>
    run('lego', ['--server', server, ...way, '--accept-tos', '-m', 'x@example.test', '--path', directory, ...words], { environment });

  test.each(['http', 'tls'] as const)('enrols by %s, renews, and revokes', { timeout }, async (kind) => {
    const place = await prepare('lego');
    const way = [`--${kind}`, `--${kind}.port`, `127.0.0.1:${kind === 'http' ? appliance.httpPort : appliance.tlsPort}`];
    const ended = await lego(place, way, '-d', 'lego.example.test', 'run');
    const file = join(place.directory, 'certificates/lego.example.test.crt');
    const { serialNumber, subjectAltName } = certificateOf(file, ended);
    expect(subjectAltName).toBe('DNS:lego.example.test');
    const renewed = await lego(place, way, '-d', 'lego.example.test', 'renew', '--days', '90', '--no-random-sleep');
    expect(certificateOf(file, renewed).serialNumber).not.toBe(serialNumber);
    expect((await lego(place, [], '-d', 'lego.example.test', 'revoke')).code).toBe(0);
    expect(await states(place.ca)).toContain('revoked');
  });

  test('enrols with a key of the administrator', { timeout }, async () => {
    const place = await prepare('lego', { ...openAcme, acme: { enabled: true } });
    const { id, key } = await externally(place.ca);
    const way = ['--http', '--http.port', `127.0.0.1:${appliance.httpPort}`, '--eab', '--kid', id, '--hmac', key];
    const ended = await lego(place, way, '-d', 'lego.example.test', 'run');
    expect(certificateOf(join(place.directory, 'certificates/lego.example.test.crt'), ended).subjectAltName).toBe('DNS:lego.example.test');
  });
});

// As enrol-kit prints them; certbot keeps its files here and not in those of the machine.
test.each([
  ['certbot', ' --config-dir config --work-dir work --logs-dir logs', 'config/live/kit.example.test/cert.pem'],
  ['lego', '', 'certificates/kit.example.test.crt'],
])('the commands of the kit for %s enrol', { timeout }, async (title, more, file) => {
  const { ca, directory, server } = await prepare(`kit-${title}`, { ...openAcme, acme: { enabled: true } });
  writeFileSync(join(directory, 'ca.pem'), appliance.caPem);
  const { id, key } = await externally(ca, { names: ['kit.example.test'] });
  const { text = '' } = acmeCommands({ url: server, name: 'kit.example.test', keyId: id }).find((one) => one.title === title) ?? {};
  const ended = await run('sh', ['-ec', `cd '${directory}'\nexport EAB_KEY=${key}\n${text}${more}`], { environment: {} });
  expect(certificateOf(join(directory, file), ended).subjectAltName).toBe('DNS:kit.example.test');
});

test('dehydrated enrols, and does not need a second nonce', { timeout }, async () => {
  const { directory, server, ca } = await prepare('dehydrated');
  const pages = join(directory, 'pages');
  mkdirSync(pages);
  const settings = { CA: server, BASEDIR: directory, WELLKNOWN: pages, CURL_OPTS: `--cacert ${anchor}`, CONTACT_EMAIL: 'x@example.test' };
  writeFileSync(
    join(directory, 'config'),
    Object.entries(settings)
      .map(([name, value]) => `${name}="${value}"\n`)
      .join(''),
  );
  const web = createServer(({ url = '' }, response) => response.end(readFileSync(join(pages, url.split('/').at(-1) ?? ''))));
  await new Promise<void>((resolve) => web.listen(appliance.httpPort, '127.0.0.1', resolve));
  try {
    const config = ['--config', join(directory, 'config')];
    await must('dehydrated', ['--register', '--accept-terms', ...config], { environment });
    const ended = await run('dehydrated', ['-c', '-d', 'dehydrated.example.test', ...config], { environment });
    const file = join(directory, 'certs/dehydrated.example.test/cert.pem');
    expect(certificateOf(file, ended).subjectAltName).toBe('DNS:dehydrated.example.test');
    await must('dehydrated', ['--revoke', file, ...config], { environment });
    expect(await states(ca)).toEqual(['revoked']);
  } finally {
    web.close();
  }
});

test('Caddy enrols by itself, by http-01 and by tls-alpn-01', { timeout }, async () => {
  const { directory, server, ca } = await prepare('caddy');
  const names = ['http.caddy.example.test', 'tls.caddy.example.test'];
  const site = (name: string, off: string): string =>
    `${name}:${appliance.tlsPort} {\n  tls {\n    issuer acme {\n      dir ${server}\n      trusted_roots ${anchor}\n      ${off}\n    }\n  }\n}\n`;
  const settings = [
    ...['admin off', `http_port ${appliance.httpPort}`, `https_port ${appliance.tlsPort}`],
    `storage file_system ${join(directory, 'storage')}`,
  ];
  writeFileSync(
    join(directory, 'Caddyfile'),
    `{\n${settings.map((line) => `  ${line}\n`).join('')}}\n${site(names[0] ?? '', 'disable_tlsalpn_challenge')}${site(names[1] ?? '', 'disable_http_challenge')}`,
  );
  const caddy = spawn('caddy', ['run', '--config', join(directory, 'Caddyfile'), '--adapter', 'caddyfile'], {
    env: { ...process.env, HOME: directory, XDG_DATA_HOME: directory, XDG_CONFIG_HOME: directory },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(caddy, 'exit');
  let said = '';
  caddy.stderr.on('data', (text: Buffer) => (said = `${said}${text.toString()}`.slice(-8_000)));
  try {
    const issued = async (): Promise<readonly string[]> =>
      ((await appliance.list(ca, 'certificates')) as { names: readonly string[] }[]).flatMap((one) => one.names).toSorted();
    await expect
      .poll(async () => ({ issued: await issued(), ...(caddy.exitCode === null ? {} : { said }) }), { timeout: 60_000 })
      .toEqual({ issued: names.map((name) => `DNS:${name}`) });
  } finally {
    caddy.kill();
    await ended;
  }
});

// From source alone: no registry has it.
test.skipIf(spawnSync('sh', ['-c', 'command -v acme.sh']).status !== 0)('acme.sh enrols, renews and revokes', { timeout }, async () => {
  const { directory, server, ca } = await prepare('acme-sh');
  const home = join(directory, 'home');
  const name = 'sh.example.test';
  const acmeSh = async (...words: readonly string[]): Promise<Ending> => {
    const ended = await run('acme.sh', [...words, '--home', home, '--server', server, '--ca-bundle', anchor], { environment });
    expect({ words, code: ended.code, output: ended.code === 0 ? '' : ended.output }).toEqual({ words, code: 0, output: '' });
    return ended;
  };
  const pages = join(directory, 'pages');
  mkdirSync(join(pages, '.well-known/acme-challenge'), { recursive: true });
  const web = createServer(({ url = '' }, response) => response.end(readFileSync(join(pages, url))));
  await new Promise<void>((resolve) => web.listen(appliance.httpPort, '127.0.0.1', resolve));
  try {
    const file = join(home, `${name}_ecc/${name}.cer`);
    await acmeSh('--register-account', '-m', 'x@example.test');
    const first = certificateOf(file, await acmeSh('--issue', '-d', name, '-w', pages, '--keylength', 'ec-256'));
    expect(first.subjectAltName).toBe(`DNS:${name}`);
    expect(certificateOf(file, await acmeSh('--renew', '-d', name, '--ecc', '--force')).serialNumber).not.toBe(first.serialNumber);
    await acmeSh('--revoke', '-d', name, '--ecc');
    expect(await states(ca)).toContain('revoked');
  } finally {
    web.close();
  }
});

test('acme-client of npm enrols, changes its key, and revokes', { timeout }, async () => {
  const { directory, server } = await prepare('npm');
  for (const name of readdirSync(programs).filter((one) => /^(?:client\.mjs|package.*)$/.test(one)))
    cpSync(join(programs, name), join(directory, name));
  await must('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: directory });
  const port = String(appliance.httpPort);
  const { stdout } = await must(process.execPath, [join(directory, 'client.mjs'), server, 'npm.example.test', port], { environment });
  expect(JSON.parse(stdout)).toEqual({ names: 'DNS:npm.example.test', again: expect.stringContaining('Nothing is left to do') });
});

describe('in Go', () => {
  const program = path('judge');

  beforeAll(async () => {
    await requireToolchain('go');
    const go = await obtainGo(versions.go);
    await must(go, ['build', '-mod=readonly', '-o', program, '.'], { cwd: programs, environment: onlyThisGo });
  }, timeout);

  test.each(['x/crypto', 'cert-manager'])('the library of %s enrols and revokes', { timeout }, async (library) => {
    const { server } = await prepare('go');
    const { stdout } = await must(program, [library, server, 'go.example.test', String(appliance.httpPort)], { environment });
    expect(stdout).toBe('[go.example.test] 2 <nil>\n');
  });
});
