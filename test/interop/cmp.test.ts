// Clients of others against CMP (RFC 9810): openssl cmp of 3.0 and 3.5, and Bouncy Castle.
import { execFile, spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { cmpCommands } from '../../core/enrolment/commands.ts';
import { makeAuthority, type RegistrationAuthority } from '../harness/cmp/authority.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { makeNssToken, obtainNss } from '../harness/token/nss.ts';
import { makeSoftToken } from '../harness/token/softhsm.ts';
import { type CmpAppliance, cmpSecret, openCmp, startCmpAppliance } from '../plugins/cmp/cmp-appliance.ts';
import { opensslOfNextRelease } from './cmp/openssl.ts';

const path = temporaryDirectory();
let appliance: CmpAppliance;
let authority: RegistrationAuthority;
const timeout = 120_000;

beforeAll(async () => {
  // Before the clock of the appliance stands still.
  authority = makeAuthority();
  appliance = await startCmpAppliance();
});

type Ran = { readonly code: number; readonly said: string };

/** Directory of the `openssl` that runs, in front of the others of the machine. */
let programs = '';

function openssl(cwd: string, ...args: readonly string[]): Promise<Ran> {
  return run(cwd, 'openssl', ...args);
}

function run(cwd: string, program: string, ...args: readonly string[]): Promise<Ran> {
  return new Promise((resolve) => {
    const env = { ...process.env, PATH: `${programs}${process.env['PATH']}` };
    execFile(program, args, { cwd, env }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), said: stdout + stderr }),
    );
  });
}

type Place = {
  readonly ca: string;
  readonly directory: string;
  readonly cmp: (...args: readonly string[]) => Promise<Ran>;
  readonly certificate: (file: string) => X509Certificate;
};

/** A folder for a client, and its CA. */
async function prepare(fields: object = openCmp): Promise<Place> {
  const ca = await appliance.makeCa(fields);
  const directory = path(ca);
  mkdirSync(directory);
  writeFileSync(`${directory}/ca.pem`, (await appliance.state(ca))['ca-cert']);
  for (const name of ['k', 'k2'])
    await openssl(directory, 'genpkey', '-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256', '-out', `${name}.pem`);
  const { host, pathname } = new URL(appliance.cmpUrl(ca));
  return {
    ...{ ca, directory },
    cmp: (...args) => openssl(directory, 'cmp', '-config', '', '-server', `${host}${pathname}`, '-recipient', `/CN=${ca}`, ...args),
    certificate(file) {
      if (!existsSync(`${directory}/${file}`)) throw new Error('no certificate came');
      return new X509Certificate(readFileSync(`${directory}/${file}`));
    },
  };
}

const mac = ['-ref', '1234', '-secret', `pass:${cmpSecret}`];
const first = ['-subject', '/CN=dev.example.test', '-newkey', 'k.pem', '-certout', 'c.pem'];
const held = ['-trusted', 'ca.pem', '-cert', 'c.pem', '-key', 'k.pem'];

async function must(ran: Promise<Ran>): Promise<string> {
  const { code, said } = await ran;
  expect({ code, said: code === 0 ? '' : said }).toEqual({ code: 0, said: '' });
  return said;
}

/** Settings with which a person decides on each first request. */
const byPerson = { cmp: { ...openCmp.cmp, 'approval-required': true } };

/** Approves the one request that waits at a CA, as soon as there is one. */
async function approve(ca: string, at = appliance): Promise<void> {
  const requests = async () => (await at.list(ca, 'enrolment-requests')) as { id: string }[];
  await expect.poll(requests, { timeout: 120_000 }).toHaveLength(1);
  const [{ id } = { id: '' }] = await requests();
  expect((await at.act(ca, 'approve-enrolment', { id })).status).toBe(200);
}

const last = () => appliance.cmpRecords().at(-1);

const kinds = [
  ['ecdsa', {}],
  ['rsa', { 'cert-key-type': 'rsa', 'cert-key-bits': 2048 }],
] as const;

const ofNextRelease = await opensslOfNextRelease();

describe.each(['3.0', '3.5'].flatMap((version) => kinds.map(([kind, fields]) => [version, kind, fields] as const)))(
  'openssl %s under a CA with key %s',
  (version, _kind, fields) => {
    beforeAll(() => {
      programs = version === '3.0' || typeof ofNextRelease === 'string' ? '' : `${ofNextRelease.directory}:`;
    });
    beforeEach(async ({ skip }) => {
      if (version === '3.5' && typeof ofNextRelease === 'string') skip(ofNextRelease);
      else expect((await openssl('.', 'version')).said).toContain(`OpenSSL ${version}.`);
    });

    test('enrols by ir, cr and p10cr under a secret, updates with a new key, asks and revokes', { timeout }, async () => {
      const { ca, directory, cmp, certificate } = await prepare({ ...openCmp, ...fields });
      await must(cmp('-cmd', 'ir', ...mac, ...first, '-sans', 'dev.example.test', '-cacertsout', 'anchors.pem'));
      expect([certificate('c.pem').subject, certificate('c.pem').subjectAltName]).toEqual(['CN=dev.example.test', 'DNS:dev.example.test']);
      expect(certificate('anchors.pem').raw).toEqual(new X509Certificate(readFileSync(`${directory}/ca.pem`)).raw);
      expect(last()?.['request-parameters']).toMatchObject({ message: 'certConf', ca, credential: 'shared-secret' });
      await must(
        cmp('-cmd', 'cr', ...mac, '-subject', '/CN=cr.example.test', '-newkey', 'k2.pem', '-certout', 'cr.pem', '-implicit_confirm'),
      );
      expect(last()?.['request-parameters']).toMatchObject({ message: 'cr' });
      await must(openssl(directory, 'req', '-new', '-key', 'k.pem', '-subj', '/CN=p10.example.test', '-out', 'p10.csr'));
      await must(cmp('-cmd', 'p10cr', ...mac, '-csr', 'p10.csr', '-certout', 'p10.pem'));
      expect(certificate('p10.pem').subject).toBe('CN=p10.example.test');
      await must(cmp('-cmd', 'kur', ...held, '-newkey', 'k2.pem', '-certout', 'c2.pem'));
      expect(certificate('c2.pem').subjectAltName).toBe('DNS:dev.example.test');
      expect(certificate('c2.pem').publicKey.export({ type: 'spki', format: 'der' })).not.toEqual(
        certificate('c.pem').publicKey.export({ type: 'spki', format: 'der' }),
      );
      await must(cmp('-cmd', 'genm', ...held));
      await must(cmp('-cmd', 'rr', ...held, '-oldcert', 'c.pem', '-revreason', '4'));
      const states = (await appliance.list(ca, 'certificates')) as { serial: string; status: string }[];
      const serial = certificate('c.pem').serialNumber.toLowerCase();
      expect(states.find((one) => one.serial === serial)?.status).toBe('revoked');
      const refused = await cmp('-cmd', 'kur', ...held, '-newkey', 'k2.pem', '-certout', 'c3.pem');
      expect(refused.said).toContain('certRevoked');
    });

    test('polls until a person has approved', { timeout }, async () => {
      const { ca, cmp, certificate } = await prepare({ ...openCmp, ...fields, ...byPerson });
      const waiting = cmp('-cmd', 'ir', ...mac, ...first, '-total_timeout', '100');
      await approve(ca);
      await must(waiting);
      expect(certificate('c.pem').subject).toBe('CN=dev.example.test');
      const messages = appliance.cmpRecords().map((one) => one['request-parameters']['message']);
      expect(messages.slice(-3)).toEqual(['pollReq', 'pollReq', 'certConf']);
    });

    test('hears the refusal of a wrong secret, of a missing proof, of raVerified and of another name', { timeout }, async () => {
      const { cmp } = await prepare({ ...openCmp, ...fields });
      // Without a trusted certificate it takes no answer to a wrong secret.
      expect((await cmp('-cmd', 'ir', '-ref', '1', '-secret', 'pass:wrong', ...first, '-trusted', 'ca.pem')).said).toContain(
        'badMessageCheck',
      );
      for (const [more, said] of [
        // 3.5 takes no proof for the wish for a key that the CA makes.
        ...(version === '3.0' ? ([[['-popo', '-1'], 'badPOP']] as const) : []),
        [['-popo', '0'], 'notAuthorized'],
        [['-sans', 'dev.example.com'], 'notAuthorized'],
      ] as const)
        expect((await cmp('-cmd', 'ir', ...mac, ...first, ...more)).said).toContain(said);
    });

    test('rejects a certificate, which is revoked', { timeout }, async () => {
      const { ca, cmp } = await prepare({ ...openCmp, ...fields });
      // What is issued does not lead to this anchor.
      const other = await prepare();
      expect((await cmp('-cmd', 'ir', ...mac, ...first, '-out_trusted', `${other.directory}/ca.pem`)).code).not.toBe(0);
      expect((await appliance.list(ca, 'certificates')) as object[]).toEqual([expect.objectContaining({ status: 'revoked' })]);
    });

    test('enrols and renews by the commands of the kit', { timeout }, async () => {
      const { ca, directory, certificate } = await prepare({ ...openCmp, ...fields, cmp: { enabled: true } });
      writeFileSync(`${directory}/issuer.pem`, ((await appliance.state(ca)) as { chain: string }).chain);
      const made = await appliance.act(ca, 'make-enrolment-secret', {
        ...{ subject: 'CN=dev.example.test', names: ['dev.example.test'], 'for-cmp': true },
      });
      const { id: reference, secret } = made.body as { id: string; secret: string };
      const commands = cmpCommands({ url: appliance.cmpUrl(ca), subject: 'CN=dev.example.test', name: 'dev.example.test', reference });
      for (const { text } of commands) await must(run(directory, 'sh', '-ec', `export CMP_SECRET=${secret}\n${text}`));
      expect(certificate('device.pem').subjectAltName).toBe('DNS:dev.example.test');
      expect(certificate('renewed.pem').serialNumber).not.toBe(certificate('device.pem').serialNumber);
    });

    // The rows of the tables of OpenSSL's own tests that concern a server, in our names.
    test('takes what openssl cmp sends with each of its options, or says why not', { timeout: 600_000 }, async () => {
      const { ca, directory, cmp, certificate } = await prepare({ ...openCmp, ...fields });
      const enrol = ['-cmd', 'ir', ...mac, ...first];
      const found: Record<string, string> = {};
      const note = async (name: string, ...words: readonly string[]): Promise<void> => {
        const { code, said } = await cmp(...words);
        const failure = /PKIFailureInfo: ([A-Za-z]+)/.exec(said)?.[1] ?? /failInfo=([A-Za-z]+)/.exec(said)?.[1];
        found[name] = code === 0 ? 'ok' : (failure ?? 'the client');
      };
      for (const [name, ...more] of [
        ['days', '-days', '1'],
        ['issuer', '-issuer', '/CN=any'],
        ['critical names', '-sans', 'dev.example.test critical'],
        ['names of the old certificate', '-san_nodefault'],
        ['proof', '-popo', '1'],
        ['no confirmation', '-disable_confirm'],
        ['implicit confirmation', '-implicit_confirm'],
        ['general information', '-geninfo', '1.2.3:int:987'],
        ['digest', '-digest', 'sha512'],
        ['mac', '-mac', 'hmac-sha1'],
        ['extra certificates', '-extracerts', 'ca.pem'],
        ['no protection', '-unprotected_requests', '-trusted', 'ca.pem'],
        ['another sender expected', '-expect_sender', '/CN=other'],
        ['one connection for each message', '-keep_alive', '0'],
      ] as const)
        await note(name, ...enrol, ...more);
      for (const reason of [0, 1, 2, 3, 4, 5, 6, 8, 9, 10]) {
        // The key of a certificate that was revoked as compromised is not certified again.
        await must(openssl(directory, 'genpkey', '-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256', '-out', 'k.pem'));
        await must(cmp(...enrol, '-implicit_confirm'));
        await note(`revoked for reason ${reason}`, '-cmd', 'rr', ...held, '-oldcert', 'c.pem', '-revreason', String(reason));
      }
      await must(cmp(...enrol, '-implicit_confirm'));
      const { serialNumber } = certificate('c.pem');
      await must(openssl(directory, 'req', '-new', '-key', 'k.pem', '-subj', '/CN=dev.example.test', '-out', 'own.csr'));
      await note('revoked by a request', '-cmd', 'rr', ...held, '-csr', 'own.csr', '-revreason', '0');
      await note('information: types of keys', '-cmd', 'genm', ...held, '-infotype', 'signKeyPairTypes');
      if (version !== '3.0') {
        await note('information: certificates', '-cmd', 'genm', ...held, '-infotype', 'caCerts', '-cacertsout', 'all.pem');
        await note('information: root', '-cmd', 'genm', ...held, '-infotype', 'rootCaCert', '-newwithnew', 'new.pem');
        await note('information: template', '-cmd', 'genm', ...held, '-infotype', 'certReqTemplate', '-template', 'template.der');
        await note('information: list', '-cmd', 'genm', ...held, '-infotype', 'crlStatusList', '-crlcert', 'c.pem', '-crlout', 'list.crl');
        const [issuer, number] = [`/CN=${ca}`, `0x${serialNumber}`];
        await note('revoked by another number', '-cmd', 'rr', ...held, '-issuer', issuer, '-serial', '0x1234', '-revreason', '4');
        await note('revoked by another issuer', '-cmd', 'rr', ...held, '-issuer', '/CN=other', '-serial', number, '-revreason', '4');
        await note('revoked by its number', '-cmd', 'rr', ...held, '-issuer', issuer, '-serial', number, '-revreason', '4');
      }
      // What was recorded gets what it got; under a new transactionID it is not what was protected.
      await must(cmp(...enrol, '-reqout', 'one.der two.der', '-rspout', 'three.der four.der'));
      const recorded = certificate('c.pem').serialNumber;
      await note('a recorded exchange', ...enrol, '-reqin', 'one.der two.der');
      expect(certificate('c.pem').serialNumber).toBe(recorded);
      const refused = Object.entries(found).filter(([, outcome]) => outcome !== 'ok');
      expect(Object.fromEntries(refused)).toEqual({
        'no protection': 'badMessageCheck',
        'another sender expected': 'the client',
        ...Object.fromEntries([2, 6, 8, 10].map((reason) => [`revoked for reason ${reason}`, 'badRequest'])),
        'revoked by a request': 'badCertTemplate',
        'information: types of keys': 'badRequest',
        ...(version === '3.0' ? {} : { 'revoked by another number': 'badCertId', 'revoked by another issuer': 'badCertId' }),
      });
    });

    test('speaks for devices as a registration authority: vouches for a key, and revokes', { timeout }, async () => {
      const { ca, directory, cmp, certificate } = await prepare({
        ...openCmp,
        ...fields,
        cmp: { enabled: true, 'ra-certs': [authority.pem] },
      });
      writeFileSync(`${directory}/ra.pem`, authority.pem);
      writeFileSync(`${directory}/ra-key.pem`, authority.keyPem);
      const asAuthority = ['-trusted', 'ca.pem', '-cert', 'ra.pem', '-key', 'ra-key.pem'];
      await must(cmp('-cmd', 'ir', ...asAuthority, ...first, '-popo', '0'));
      expect(certificate('c.pem').subject).toBe('CN=dev.example.test');
      expect(((await appliance.list(ca, 'certificates')) as { via: string }[]).map(({ via }) => via)).toContain(
        'cmp-registration-authority',
      );
      await must(cmp('-cmd', 'rr', ...asAuthority, '-oldcert', 'c.pem', '-revreason', '4'));
      expect((await cmp('-cmd', 'rr', ...asAuthority, '-oldcert', 'c.pem', '-revreason', '4')).said).toContain('certRevoked');
    });
  },
);

/** Runs the program of Bouncy Castle, which says a line for each of its steps. */
async function bouncyCastle(url: string, ...options: readonly string[]): Promise<Ran> {
  const jars = join(import.meta.dirname, '../../node_modules/.cache/bouncy-castle-cmp');
  const project = join(import.meta.dirname, 'cmp/pom.xml');
  const maven = ['-q', '-B', '-f', project, 'dependency:copy-dependencies', `-DoutputDirectory=${jars}`];
  expect(existsSync(jars) || spawnSync('mvn', maven, { stdio: 'ignore' }).status === 0).toBe(true);
  programs = '';
  const program = join(import.meta.dirname, 'cmp/Enrol.java');
  return run('.', 'java', '-cp', `${jars}/*`, program, url, 'bouncy', cmpSecret, ...options);
}

const steps = ['enrolled CN=dev.example.test', 'confirmed true', 'updated true', 'asked true', 'revoked true', 'refused true'];

describe.each(kinds)('under a CA with key %s', (_kind, fields) => {
  test.each([
    ['PasswordBasedMac', []],
    ['PBMAC1', ['pbmac1']],
  ])('Bouncy Castle enrols under %s, updates, asks and revokes', { timeout: 300_000 }, async (_protection, options) => {
    const ca = await appliance.makeCa({ ...openCmp, ...fields });
    const { code, said } = await bouncyCastle(appliance.cmpUrl(ca), ...options);
    expect({ code, said: said.trim().split('\n') }).toEqual({ code: 0, said: steps });
  });
});

const nss = await obtainNss();

describe.skipIf('missing' in nss)(`under a CA with a key for ML-DSA${'missing' in nss ? `: ${nss.missing}` : ''}`, () => {
  test('Bouncy Castle waits for a person, enrols with such a key, updates, asks and revokes', { timeout: 300_000 }, async () => {
    const own = await startCmpAppliance({
      async tokens(directory) {
        if ('missing' in nss) throw new Error(nss.missing);
        return [await makeSoftToken(directory), await makeNssToken(nss, directory)];
      },
    });
    const ca = await own.makeCa({ ...openCmp, ...byPerson, 'cert-key-type': 'ml-dsa-65' });
    const running = bouncyCastle(own.cmpUrl(ca), 'pbmac1', 'ml-dsa');
    // A client that fails asks nobody.
    await Promise.race([approve(ca, own), running]);
    const { code, said } = await running;
    expect({ code, said: said.trim().split('\n') }).toEqual({ code: 0, said: steps });
    const messages = own.cmpRecords().map((one) => one['request-parameters']['message']);
    expect(messages).toContain('pollReq');
  });
});
