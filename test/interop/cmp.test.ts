// Clients of others against CMP (RFC 9810): openssl cmp of 3.0 and 3.5, and Bouncy Castle.
import { spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { cmpCommands } from '../../core/enrolment/commands.ts';
import { makeAuthority, type RegistrationAuthority } from '../harness/cmp/authority.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { makeNssToken, obtainNss } from '../harness/token/nss.ts';
import { makeSoftToken } from '../harness/token/softhsm.ts';
import { type CmpAppliance, cmpSecret, openCmp, startCmpAppliance } from '../plugins/cmp/cmp-appliance.ts';
import { opensslOfNextRelease } from './cmp/openssl.ts';
import { first, held, mac, makePlace, must, type Place, type Ran, run } from './cmp/place.ts';

const path = temporaryDirectory();
let appliance: CmpAppliance;
let authority: RegistrationAuthority;
const timeout = 120_000;

beforeAll(async () => {
  // Before the clock of the appliance stands still.
  authority = makeAuthority();
  appliance = await startCmpAppliance();
});

/** Directory of the `openssl` that runs, in front of the others of the machine. */
let programs = '';

const openssl = (cwd: string, ...args: readonly string[]): Promise<Ran> => run(programs, cwd, 'openssl', ...args);
const prepare = (fields: object = openCmp): Promise<Place> => makePlace(appliance, programs, path, fields);

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

    test.each(['plain', 'secure'] as const)(
      'enrols and renews by the commands of the kit, at the %s listener',
      { timeout },
      async (listener) => {
        const { ca, directory, certificate } = await prepare({ ...openCmp, ...fields, cmp: { enabled: true } });
        writeFileSync(`${directory}/issuer.pem`, ((await appliance.state(ca)) as { chain: string }).chain);
        writeFileSync(`${directory}/ca.pem`, appliance.caPem);
        const made = await appliance.act(ca, 'make-enrolment-secret', {
          ...{ subject: 'CN=dev.example.test', names: ['dev.example.test'], 'for-cmp': true },
        });
        const { id: reference, secret } = made.body as { id: string; secret: string };
        const url = appliance.cmpUrl(ca).replace(appliance.plain, appliance[listener]);
        const commands = cmpCommands({ url, subject: 'CN=dev.example.test', name: 'dev.example.test', reference });
        for (const { text } of commands) await must(run(programs, directory, 'sh', '-ec', `export CMP_SECRET=${secret}\n${text}`));
        expect(certificate('device.pem').subjectAltName).toBe('DNS:dev.example.test');
        expect(certificate('renewed.pem').serialNumber).not.toBe(certificate('device.pem').serialNumber);
      },
    );

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
  const program = join(import.meta.dirname, 'cmp/Enrol.java');
  return run('', '.', 'java', '-cp', `${jars}/*`, program, url, 'bouncy', cmpSecret, ...options);
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
