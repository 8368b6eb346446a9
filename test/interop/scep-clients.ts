// Other people's SCEP clients: micromdm's scepclient, strongSwan's pki and certmonger, of Debian.
import { createHash, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { existsSync } from 'node:fs';
import { type Bench, type Outcome, run } from './est-clients.ts';

/** The CA that a client talks to. */
export type Target = {
  readonly url: string;
  /** DER certificates */
  readonly ca: Uint8Array;
  readonly ra: Uint8Array;
};

export type Wish = { readonly name: string; readonly password: string };

/** How an enrolment ended: the certificate, or what the client said. */
export type Enrolment = { readonly certificate: X509Certificate | undefined; readonly said: string };

export type ScepTool = {
  readonly name: string;
  /** Says why it cannot be had, or undefined when it is there. */
  obtain(): Promise<string | undefined>;
  enrol(bench: Bench, target: Target, wish: Wish): Promise<Enrolment>;
  /** Renews what `enrol` has left in the directory of the bench. */
  renew(bench: Bench, target: Target, wish: Wish): Promise<Enrolment>;
};

async function installed(program: string, ...packages: readonly string[]): Promise<string | undefined> {
  if ((await run('which', [program])).code === 0) return undefined;
  if (process.getuid?.() !== 0) return `apt-get install ${packages.join(' ')} needs root`;
  const { code, stderr } = await run('apt-get', ['install', '-y', '--no-install-recommends', ...packages]);
  return code === 0 ? undefined : `apt-get install ${packages.join(' ')}: ${stderr.trim().split('\n').at(-1) ?? ''}`;
}

const pem = (der: Uint8Array): string => new X509Certificate(der).toString();
const newKey = (): string => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'pem', type: 'pkcs1' });

function enrolment({ code, stdout, stderr }: Outcome, bench: Bench, file: string): Enrolment {
  const said = `${code}: ${stdout}${stderr}`;
  return { certificate: code === 0 && existsSync(bench.path(file)) ? new X509Certificate(bench.read(file)) : undefined, said };
}

/** Sends single DES and SHA-1 whatever GetCACaps says, and encrypts for every certificate of GetCACert: a CA that takes these by name grants it. */
const micromdm: ScepTool = {
  name: 'micromdm scepclient',
  obtain: () => installed('scepclient', 'scep'),
  async enrol(bench, target, { name, password }) {
    bench.file('k.pem', newKey());
    return enrolment(await scepclient(bench, target, name, password), bench, 'c.pem');
  },
  // With a certificate present it renews.
  async renew(bench, target, { name, password }) {
    return enrolment(await scepclient(bench, target, name, password), bench, 'c.pem');
  },
};

function scepclient(bench: Bench, { url, ca, ra }: Target, name: string, password: string): Promise<Outcome> {
  // It fails at a CA without an RSA key, unless it is told which certificate is to be used.
  const isRsa = new X509Certificate(ca).publicKey.asymmetricKeyType === 'rsa';
  const chosen = isRsa ? [] : ['-ca-fingerprint', createHash('sha256').update(ra).digest('hex')];
  const words = ['-server-url', url, '-private-key', 'k.pem', '-certificate', 'c.pem', '-challenge', password, '-cn', name];
  return bench.run('scepclient', [...words, ...chosen]);
}

const strongswan: ScepTool = {
  name: 'strongSwan pki',
  obtain: () => installed('pki', 'strongswan-pki', 'libstrongswan-extra-plugins', 'libcharon-extra-plugins'),
  async enrol(bench, target, { name, password }) {
    bench.file('k.pem', newKey());
    return enrolment(
      await pki(bench, target, ['--in', 'k.pem', '--dn', `CN=${name}`, '--san', name, '--password', password]),
      bench,
      'c.pem',
    );
  },
  async renew(bench, target, { name, password }) {
    bench.file('new.pem', newKey());
    bench.file('old.pem', bench.read('c.pem'));
    const words = ['--in', 'new.pem', '--cert', 'old.pem', '--key', 'k.pem', '--dn', `CN=${name}`, '--san', name, '--password', password];
    return enrolment(await pki(bench, target, words), bench, 'c.pem');
  },
};

/** Writes the certificate into c.pem. */
async function pki(bench: Bench, target: Target, words: readonly string[]): Promise<Outcome> {
  bench.file('ca.der', target.ca);
  bench.file('ra.der', target.ra);
  const anchors = ['--cacert-enc', 'ra.der', '--cacert-sig', 'ra.der', '--cacert', 'ca.der'];
  const outcome = await bench.run('pki', ['--scep', '--url', target.url, ...words, ...anchors, '--interval', '1', '--outform', 'pem']);
  if (outcome.stdout.includes('BEGIN CERTIFICATE')) bench.file('c.pem', outcome.stdout);
  return outcome;
}

/** Runs on a session bus of its own; always sends GET. */
const certmonger: ScepTool = {
  name: 'certmonger',
  obtain: () => installed('certmonger-session', 'certmonger', 'dbus'),
  async enrol(bench, target, { name, password }) {
    bench.file('ca.pem', pem(target.ca));
    const request = `getcert request -s -c X -k "$PWD/k.pem" -f "$PWD/c.pem" -I a -N CN=${name} -D ${name} -L '${password}' -w -v`;
    return enrolment(await onBus(bench, `getcert add-scep-ca -s -c X -u '${target.url}' -R "$PWD/ca.pem"; ${request}`), bench, 'c.pem');
  },
  async renew(bench) {
    return enrolment(await onBus(bench, 'rm c.pem; getcert resubmit -s -i a -w -v'), bench, 'c.pem');
  },
};

function onBus(bench: Bench, script: string): Promise<Outcome> {
  const whole = `certmonger-session -n >certmonger.log 2>&1 & daemon=$!; sleep 1; ${script}; ended=$?; getcert list -s; kill $daemon; exit $ended`;
  return bench.run('timeout', ['60', 'dbus-run-session', '--', 'sh', '-c', whole], {
    HOME: bench.path(''),
    XDG_CONFIG_HOME: bench.path('config'),
  });
}

export const scepTools: readonly ScepTool[] = [micromdm, strongswan, certmonger];
