// Clients of others against SCEP (RFC 8894): strongSwan's pki, certmonger, micromdm's scepclient, jscep, and sscep, under CAs with RSA and EC keys.
import { spawn, spawnSync } from 'node:child_process';
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { scepCommands } from '../../core/enrolment/commands.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { registrationOf } from '../plugins/scep/device.ts';
import { openScep, type ScepAppliance, secret, startScepAppliance } from '../plugins/scep/scep-appliance.ts';
import { buildSscep } from './sscep.ts';

const path = temporaryDirectory();
let appliance: ScepAppliance;
const timeout = 120_000;
const sscepProgram = buildSscep();

beforeAll(async () => {
  appliance = await startScepAppliance();
});

/** Words before a command for which the system trusts `ca.pem` alone: some clients trust the CAs of the system and no others. */
const systemTrust = '/etc/ssl/certs/ca-certificates.crt';
const trusting = ['unshare', '--mount', 'sh', '-ec', `mount --bind ca.pem ${systemTrust}; exec "$@"`, 'sh'];
const canTrust = existsSync(systemTrust) && spawnSync('unshare', ['--mount', 'mount', '--bind', systemTrust, systemTrust]).status === 0;

type Ran = { readonly status: number | null; readonly stdout: Buffer; readonly said: string };

function run(cwd: string, command: string, ...args: readonly string[]): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env: { ...process.env, HOME: cwd } });
    const [out, all]: [Buffer[], Buffer[]] = [[], []];
    child.stdout.on('data', (chunk: Buffer) => (out.push(chunk), all.push(chunk)));
    child.stderr.on('data', (chunk: Buffer) => all.push(chunk));
    child.on('error', reject);
    child.on('close', (status) => resolve({ status, stdout: Buffer.concat(out), said: Buffer.concat(all).toString() }));
  });
}

function freshKey(): string | Buffer {
  return generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'pem', type: 'pkcs1' });
}

/** The certificate of a PEM, or what the client said instead. */
function certificateOf({ said }: Ran, pem: Buffer | string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch {
    throw new Error(`no certificate came: ${said.slice(-2_000)}`);
  }
}

const serial = (certificate: X509Certificate): string => certificate.serialNumber.toLowerCase();
const last = () =>
  appliance.audited().findLast(({ 'request-parameters': { operation } }) => operation === 'PKIOperation')?.['request-parameters'];

/** What is in a file of a client; empty if there is none. */
const contentOf = (directory: string, file: string): Buffer | string =>
  existsSync(`${directory}/${file}`) ? readFileSync(`${directory}/${file}`) : '';

/** Settings with which a person decides on each first request. */
const byPerson = { scep: { ...openScep.scep, 'approval-required': true } };

/** Approves the one request that waits at a CA, as soon as there is one and the client has asked `after` so. */
async function approve(ca: string, after: string): Promise<void> {
  const requests = async () => (await appliance.list(ca, 'enrolment-requests')) as { id: string }[];
  await expect.poll(requests, { timeout: 60_000 }).toHaveLength(1);
  await expect.poll(() => last()?.['message-type'], { timeout: 30_000 }).toBe(after);
  const [{ id } = { id: '' }] = await requests();
  expect((await appliance.act(ca, 'approve-enrolment', { id })).status).toBe(200);
}

/** A folder for a client, and its CA. */
async function prepare(client: string, fields: object): Promise<{ ca: string; url: string; directory: string }> {
  const ca = await appliance.makeCa({ ...openScep, ...fields });
  const directory = path(`${client}-${ca}`);
  mkdirSync(directory);
  return { ca, directory, url: appliance.urlOf(ca) };
}

describe.each([
  ['ecdsa', {}],
  ['rsa', { 'cert-key-type': 'rsa', 'cert-key-bits': 2048 }],
])('under a CA with key %s', (kind, fields) => {
  describe('strongSwan', () => {
    const ask = (directory: string, url: string, ...more: readonly string[]): Promise<Ran> =>
      run(
        directory,
        'pki',
        ...['--scep', '--url', url, '--cacert-enc', 'ra.der', '--cacert-sig', 'ra.der', '--cacert', 'ca.der', '--outform', 'pem', ...more],
      );
    const begin = async (more: object = {}) => {
      const place = await prepare('strongswan', { ...fields, ...more });
      const { status, said } = await run(
        place.directory,
        'pki',
        '--scepca',
        '--url',
        place.url,
        '--caout',
        'ca.der',
        '--raout',
        'ra.der',
        '--force',
      );
      expect([status, status === 0 ? '' : said]).toEqual([0, '']);
      writeFileSync(`${place.directory}/k.pem`, freshKey());
      return place;
    };
    const first = ['--in', 'k.pem', '--dn', 'CN=dev.example.test', '--san', 'dev.example.test'];

    test('enrols, and renews with a new key', { timeout }, async () => {
      const { directory, url } = await begin();
      const enrolled = await ask(directory, url, ...first, '--password', secret);
      const certificate = certificateOf(enrolled, enrolled.stdout);
      expect([certificate.subject, certificate.subjectAltName]).toEqual(['CN=dev.example.test', 'DNS:dev.example.test']);
      writeFileSync(`${directory}/c.pem`, enrolled.stdout);
      writeFileSync(`${directory}/new.pem`, freshKey());
      const renewal = ['--in', 'new.pem', '--cert', 'c.pem', '--key', 'k.pem', '--dn', 'CN=dev.example.test', '--san', 'dev.example.test'];
      const renewed = await ask(directory, url, ...renewal);
      expect(serial(certificateOf(renewed, renewed.stdout))).not.toBe(serial(certificate));
      expect(last()).toMatchObject({ 'message-type': 'RenewalReq', 'renewed-serial': serial(certificate), 'pki-status': 'success' });
    });

    test('hears the refusal of a wrong secret', { timeout }, async () => {
      const { directory, url } = await begin();
      const refused = await ask(directory, url, ...first, '--password', 'wrong secret');
      expect([refused.status, refused.stdout.length]).toEqual([1, 0]);
      expect(last()).toMatchObject({ 'pki-status': 'failure' });
    });

    test('polls until a person has approved', { timeout }, async () => {
      const { ca, directory, url } = await begin({ scep: { enabled: true, 'approval-required': true } });
      const waiting = ask(directory, url, ...first, '--interval', '1', '--maxpolltime', '60');
      await approve(ca, 'CertPoll');
      const collected = await waiting;
      expect(certificateOf(collected, collected.stdout).subject).toBe('CN=dev.example.test');
      expect(last()).toMatchObject({ 'message-type': 'CertPoll', 'pki-status': 'success' });
    });
  });

  /** micromdm's scepclient, which keeps its request beside the key and sends it again. */
  const micromdm = async (settings: object, given = secret) => {
    const { ca, directory, url } = await prepare('micromdm', { ...fields, scep: { ...settings, 'allow-old': ['des', 'sha1'] } });
    const registration = (await registrationOf(appliance, ca)).fingerprint256.replaceAll(':', '').toLowerCase();
    const words = ['-server-url', url, '-private-key', 'k.pem', '-certificate', 'c.pem', '-challenge', given, '-cn', 'dev.example.test'];
    const ask = () => run(directory, 'scepclient', ...words, ...(kind === 'ecdsa' ? ['-ca-fingerprint', registration] : []));
    return { ca, directory, ask };
  };

  test('micromdm hears the refusal of a wrong secret', { timeout }, async () => {
    const { directory, ask } = await micromdm(openScep.scep, 'wrong secret');
    const { status, said } = await ask();
    expect([status === 0, existsSync(`${directory}/c.pem`), said]).toEqual([false, false, expect.stringContaining('failInfo: badRequest')]);
    expect(last()).toMatchObject({ 'old-algorithms': ['sha1', 'des'], 'pki-status': 'failure' });
  });

  test('micromdm enrols and renews, with the old algorithms that it sends allowed by name', { timeout }, async () => {
    const { directory, ask } = await micromdm(openScep.scep);
    const read = (ran: Ran): X509Certificate => certificateOf(ran, contentOf(directory, 'c.pem'));
    const certificate = read(await ask());
    expect(certificate.subject).toContain('CN=dev.example.test');
    expect(last()).toMatchObject({ 'old-algorithms': ['sha1', 'des'], 'pki-status': 'success', credential: 'shared-secret' });
    const renewed = read(await ask());
    expect([serial(renewed) === serial(certificate), last()?.['credential']]).toEqual([false, 'certificate']);
  });

  // It sends its PKCSReq again every half minute.
  test('micromdm asks again until a person has approved', { timeout }, async () => {
    const { ca, directory, ask } = await micromdm(byPerson.scep);
    const waiting = ask();
    await approve(ca, 'PKCSReq');
    expect(certificateOf(await waiting, contentOf(directory, 'c.pem')).subject).toContain('CN=dev.example.test');
    expect(last()).toMatchObject({ 'message-type': 'PKCSReq', 'pki-status': 'success' });
  });

  test('micromdm is refused by a CA that allows no old algorithms', { timeout }, async () => {
    const { directory, url } = await prepare('micromdm', fields);
    const refused = await run(
      directory,
      'scepclient',
      '-server-url',
      url,
      '-private-key',
      'k.pem',
      '-certificate',
      'c.pem',
      '-challenge',
      secret,
      '-cn',
      'dev.example.test',
    );
    expect([existsSync(`${directory}/c.pem`), refused.status === 0]).toEqual([false, false]);
  });

  /** Runs certmonger on a session bus of its own: a request with a secret, then more lines. `meanwhile`: what happens at the CA while they run. */
  const certmonger = async (
    { given, settings = {}, meanwhile }: { given: string; settings?: object; meanwhile?: (ca: string) => Promise<void> },
    ...more: readonly string[]
  ) => {
    const place = await prepare('certmonger', { ...fields, ...settings });
    const { ca, directory, url } = place;
    writeFileSync(`${directory}/ca.pem`, (await appliance.state(ca))['ca-cert'] as string);
    const wish = `-k '${directory}/k.pem' -f '${directory}/c.pem' -I a -N CN=dev.example.test -D dev.example.test`;
    const lines = [
      'certmonger-session -n & sleep 1',
      `getcert add-scep-ca -s -c X -u '${url}' -R '${directory}/ca.pem'`,
      // With -w it waits until a request has ended, for a person too.
      `getcert request -s -c X ${wish} -L '${given}' -v ${meanwhile === undefined ? '-w' : ''}`,
      ...more,
      'getcert list -s',
      'kill %1',
    ];
    const running = run(directory, 'dbus-run-session', '--', 'sh', '-c', lines.join('\n'));
    const [ran] = await Promise.all([running, meanwhile?.(ca)]);
    return { ...place, ran };
  };

  test('certmonger hears the refusal of a wrong secret', { timeout }, async () => {
    const { ca, directory, ran } = await certmonger({ given: 'wrong secret' });
    expect([existsSync(`${directory}/c.pem`), ran.said]).toEqual([false, expect.stringContaining('CA_REJECTED')]);
    expect(last()).toMatchObject({ 'message-type': 'PKCSReq', 'pki-status': 'failure' });
    expect(((await appliance.list(ca, 'certificates')) as { via: string }[]).filter(({ via }) => via.startsWith('scep-'))).toEqual([]);
  });

  test('certmonger enrols and renews, by GET', { timeout }, async () => {
    const { directory, ran } = await certmonger({ given: secret }, 'cp c.pem first.pem', 'getcert resubmit -s -i a -w');
    const [first, second] = ['first.pem', 'c.pem'].map((file) => certificateOf(ran, contentOf(directory, file)));
    expect([first?.subject, second?.subject]).toEqual(['CN=dev.example.test', 'CN=dev.example.test']);
    expect(last()).toMatchObject({
      'message-type': 'PKCSReq',
      credential: 'certificate',
      'renewed-serial': serial(first as X509Certificate),
    });
  });

  test('certmonger waits for a person, and collects its certificate when it asks again', { timeout }, async () => {
    // It asks again, at once where it is told to, with the same PKCSReq and never with CertPoll.
    const waits = 'until getcert list -s | grep CA_WORKING; do sleep 1; done';
    const again = 'for n in $(seq 60); do [ -s c.pem ] || { getcert refresh -s -i a; sleep 1; }; done';
    const byApproval = { settings: byPerson, given: secret, meanwhile: (ca: string) => approve(ca, 'PKCSReq') };
    const { ca, directory, ran } = await certmonger(byApproval, waits, again);
    expect(ran.said).toContain('CA_WORKING');
    const certificate = certificateOf(ran, contentOf(directory, 'c.pem'));
    expect(certificate.subject).toBe('CN=dev.example.test');
    expect(last()).toMatchObject({ ca, 'message-type': 'PKCSReq', repetition: true, 'pki-status': 'success', serial: serial(certificate) });
  });

  // As enrol-kit prints them, with a secret for the one device. sscep has no TLS.
  test.each([
    ...['strongSwan', 'certmonger', 'micromdm scepclient', ...(sscepProgram === undefined ? [] : ['sscep'])].map(
      (title) => [title, 'plain'] as const,
    ),
    ...(canTrust ? ['strongSwan', 'certmonger', 'micromdm scepclient'] : []).map((title) => [title, 'secure'] as const),
  ])('the commands of the kit for %s enrol at the %s listener', { timeout }, async (title, listener) => {
    const allowOld = title.startsWith('micromdm') ? (['des', 'sha1'] as const) : [];
    const {
      ca,
      directory,
      url: plainUrl,
    } = await prepare(`kit-${title.split(' ').at(-1)}`, {
      ...fields,
      scep: { enabled: true, 'allow-old': allowOld },
    });
    const url = plainUrl.replace(appliance.plain, appliance[listener]);
    const made = await appliance.act(ca, 'make-enrolment-secret', { subject: 'CN=dev.example.test', names: ['dev.example.test'] });
    writeFileSync(`${directory}/issuer.pem`, ((await appliance.state(ca)) as { chain: string }).chain);
    writeFileSync(`${directory}/ca.pem`, appliance.caPem);
    const { text = '' } =
      scepCommands({ url, plainUrl, subject: 'CN=dev.example.test', name: 'dev.example.test', allowOld }).find(
        (one) => one.title === title,
      ) ?? {};
    const { secret: own } = made.body as { secret: string };
    const onPath = sscepProgram === undefined ? '' : `PATH="${dirname(sscepProgram)}:$PATH"\n`;
    const lines = `SCEP_SECRET=${own}\n${onPath}${text}`;
    // On a session bus of its own.
    const onBus = `certmonger-session -n & sleep 1\n${lines.replaceAll(/getcert (?:add-scep-ca|request)/g, '$& -s')}\nkill %1`;
    const command = title === 'certmonger' ? ['dbus-run-session', '--', 'sh', '-c', onBus] : ['sh', '-ec', lines];
    const [program = '', ...words] = listener === 'plain' ? command : [...trusting, ...command];
    const ran = await run(directory, program, ...words);
    expect(certificateOf(ran, contentOf(directory, 'device.pem')).subject).toBe('CN=dev.example.test');
    expect(last()).toMatchObject({ credential: 'one-time-secret', 'pki-status': 'success' });
  });

  test.skipIf(sscepProgram === undefined)(
    'sscep is refused, waits for a person, enrols, renews, and asks for the next CA',
    { timeout },
    async () => {
      const { ca, directory, url } = await prepare('sscep', { ...fields, ...byPerson });
      const next = await appliance.makeCa({ ...openScep, ...fields });
      await appliance.patchCa(ca, { scep: { 'next-ca': next } });
      const ask = (...words: readonly string[]) => run(directory, sscepProgram as string, ...words, '-u', url);
      const sscep = async (...words: readonly string[]): Promise<void> => {
        const { status, said } = await ask(...words);
        expect({ words, status, said: status === 0 ? '' : said }).toEqual({ words, status: 0, said: '' });
      };
      const openssl = (...words: readonly string[]) => run(directory, 'openssl', ...words);
      const read = (file: string) => new X509Certificate(readFileSync(`${directory}/${file}`));
      await sscep('getca', '-c', 'ca.pem');
      const request = async (name: string, password: string): Promise<void> => {
        const words = ['prompt=no', 'distinguished_name=dn', 'attributes=more', '[dn]', 'CN=dev.example.test'];
        writeFileSync(`${directory}/request.conf`, `[req]\n${[...words, '[more]', `challengePassword=${password}`].join('\n')}\n`);
        writeFileSync(`${directory}/${name}.pem`, freshKey());
        await openssl('req', '-new', '-key', `${name}.pem`, '-out', `${name}.csr`, '-config', 'request.conf', '-sha256');
      };
      for (const name of ['k', 'new']) await request(name, secret);
      await request('wrong', 'wrong secret');
      const ours = ['-c', 'ca.pem-0', '-E', 'aes256', '-S', 'sha256'];
      expect((await ask('enroll', ...ours, '-k', 'wrong.pem', '-r', 'wrong.csr', '-l', 'c.pem')).status).not.toBe(0);
      expect([existsSync(`${directory}/c.pem`), last()?.['pki-status']]).toEqual([false, 'failure']);
      const waiting = sscep('enroll', ...ours, '-k', 'k.pem', '-r', 'k.csr', '-l', 'c.pem', '-t', '1', '-n', '60');
      await approve(ca, 'CertPoll');
      await waiting;
      expect(read('c.pem').subject).toBe('CN=dev.example.test');
      expect(last()).toMatchObject({ 'message-type': 'CertPoll', 'pki-status': 'success' });
      await sscep('enroll', ...ours, '-k', 'new.pem', '-r', 'new.csr', '-l', 'c2.pem', '-K', 'k.pem', '-O', 'c.pem');
      expect(last()).toMatchObject({ credential: 'certificate', 'renewed-serial': serial(read('c.pem')), 'pki-status': 'success' });
      // Its getcert and getcrl take one certificate for the issuer and for the signer of the answer, which an RA is not.
      writeFileSync(`${directory}/chain.pem`, (await appliance.state(ca))['ca-cert'] as string);
      await sscep('getnextca', '-c', 'next.pem', '-C', 'chain.pem', '-w', 'signer.pem');
      expect(read('next.pem-0').subject).toBe(`CN=${next}`);
    },
  );

  /** Runs the program of jscep; `said`: its lines by their first word. */
  const jscep = async (directory: string, url: string, ...more: readonly string[]) => {
    const jars = join(import.meta.dirname, '../../node_modules/.cache/jscep');
    const project = join(import.meta.dirname, 'jscep/pom.xml');
    const maven = ['-q', '-B', '-f', project, 'dependency:copy-dependencies', `-DoutputDirectory=${jars}`];
    expect(existsSync(jars) || spawnSync('mvn', maven, { stdio: 'ignore' }).status === 0).toBe(true);
    const program = join(import.meta.dirname, 'jscep/Enrol.java');
    const ran = await run(directory, 'java', '-cp', `${jars}/*`, program, url, secret, 'CN=dev.example.test', ...more);
    const lines = ran.stdout.toString().trim().split('\n');
    const said = Object.fromEntries(lines.map((line) => [line.split(' ')[0], line.slice(line.indexOf(' ') + 1)])) as Record<string, string>;
    return { ran, said };
  };

  test('jscep polls until a person has approved', { timeout: 300_000 }, async () => {
    const { ca, directory, url } = await prepare('jscep', { ...fields, ...byPerson });
    const waiting = jscep(directory, url, 'wait');
    await approve(ca, 'CertPoll');
    const { ran, said } = await waiting;
    expect({ ...said, all: ran.status === 0 ? '' : ran.said.slice(-2_000) }).toMatchObject({ waits: 'true', all: '' });
    expect(said['enrolled']).toMatch(/CN=dev\.example\.test$/);
    expect(last()).toMatchObject({ 'message-type': 'CertPoll', 'pki-status': 'success' });
  });

  test('jscep enrols, finds certificate and list, and renews', { timeout: 300_000 }, async () => {
    const { ca, directory, url } = await prepare('jscep', fields);
    // Under an EC CA the client looks at the key type of the certificate that it signs with, and fails by itself.
    const more = kind === 'ecdsa' ? ['without-renewal'] : [];
    const { ran, said } = await jscep(directory, url, ...more);
    expect({ ...said, all: ran.status === 0 ? '' : ran.said.slice(-2_000) }).toMatchObject({
      refused: 'true',
      list: 'true',
      all: '',
    });
    expect(said['enrolled']).toMatch(/CN=dev\.example\.test$/);
    expect(said['found'] ?? 'not asked').toBe(kind === 'rsa' ? 'true' : 'not asked');
    expect(said['renewed'] ?? 'not asked').toMatch(kind === 'rsa' ? / true$/ : /^not asked$/);
    expect(((await appliance.list(ca, 'certificates')) as { via: string }[]).map(({ via }) => via)).toContain('scep-shared-secret');
  });
});
