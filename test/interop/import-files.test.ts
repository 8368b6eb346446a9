// Private keys in the files of others, brought in by keystorectl import-key and by the action import: of OpenSSL, ssh-keygen, keytool of Java, Go and Python;
// and one that Java has wrapped by itself.
import { execFileSync } from 'node:child_process';
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ctlFor, type Ctl } from '../appliance/cli/run.ts';
import { must, requireToolchain } from '../clients/commands.ts';
import { obtainGo, onlyThisGo } from '../clients/go/toolchain.ts';
import { versions } from '../clients/versions.ts';
import { virtualEnvironment } from '../clients/virtual-environment.ts';
import { startTestAppliance, type TestAppliance } from '../harness/appliance.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

const path = temporaryDirectory();
const actions = '/v1/state/keystore/transit-keys';
const programs = join(import.meta.dirname, 'importing');
const passphrase = 'a passphrase';
const locked = ['-passout', `pass:${passphrase}`];
const legacy = ['-provider', 'legacy', '-provider', 'default'];
const ciphers = { rsa: 'rsa-2048', ec: 'ecdsa-p384', ed: 'ed25519' } as const;
type Kind = keyof typeof ciphers;
const kinds = Object.keys(ciphers) as Kind[];
let appliance: TestAppliance;
let ctl: Ctl;
let count = 0;

beforeAll(async () => {
  for (const name of ['appliance', 'home', 'files']) mkdirSync(path(name));
  writeFileSync(path('passphrase'), passphrase);
  appliance = await startTestAppliance({ directory: path('appliance') });
  ctl = ctlFor(appliance, readFileSync(path('appliance', 'tls-cert.pem'), 'utf8'), path('home'));
  const made = { rsa: ['RSA', '-pkeyopt', 'rsa_keygen_bits:2048'], ec: ['EC', '-pkeyopt', 'ec_paramgen_curve:P-384'], ed: ['ED25519'] };
  for (const kind of kinds) openssl('genpkey', '-algorithm', ...made[kind], '-out', `${kind}.pem`);
});
afterAll(() => appliance?.close());

const run = (program: string, ...words: readonly string[]): Buffer =>
  execFileSync(program, words, { cwd: path('files'), stdio: ['ignore', 'pipe', 'pipe'] });
const openssl = (...words: readonly string[]): Buffer => run('openssl', ...words);
const pkcs8 = (kind: Kind, name: string, ...options: readonly string[]): Buffer =>
  openssl('pkcs8', '-topk8', '-in', `${kind}.pem`, '-out', name, ...options);

async function made(kind: Kind): Promise<string> {
  const name = `key-${(count += 1)}`;
  await appliance.request('POST', '/v1/config/keystore/transit-keys', { name, cipher: ciphers[kind] });
  return name;
}

/** The public key of the new version, or what the command has said. */
async function outcome(key: string, words: readonly string[], isLocked: boolean): Promise<string> {
  const { code, stderr } = await ctl([...words, ...(isLocked ? ['--passphrase', `@${path('passphrase')}`] : [])]);
  return code === 0 ? String((await appliance.request('GET', `${actions}/${key}`)).body.keys['2']) : stderr;
}

async function byImportKey(kind: Kind, name: string, isLocked = false): Promise<string> {
  const key = await made(kind);
  return outcome(key, ['import-key', key, '--in', path('files', name)], isLocked);
}

/** What is not text is given in base64. */
async function byAction(kind: Kind, name: string, isLocked = false): Promise<string> {
  const key = await made(kind);
  const octets = readFileSync(path('files', name));
  writeFileSync(path('data'), octets.includes('-----BEGIN') ? octets : octets.toString('base64'));
  return outcome(key, ['do', 'transit-keys', key, 'import', '--data', `@${path('data')}`], isLocked);
}

/** Public key of a file that OpenSSL reads, or of that beside it. */
const publicKeyOf = (pem: Buffer): string => createPublicKey(pem).export({ type: 'spki', format: 'pem' });
const ofKind = (kind: Kind): string => publicKeyOf(readFileSync(path('files', `${kind}.pem`)));

describe.each(kinds)('%s of OpenSSL', (kind) => {
  const written: Readonly<Record<string, () => unknown>> = {
    'plain.der': () => pkcs8(kind, `${kind}-plain.der`, '-nocrypt', '-outform', 'DER'),
    'text.pem': () => openssl('pkey', '-in', `${kind}.pem`, '-text', '-out', `${kind}-text.pem`),
    'locked-pbkdf2.pem': () => pkcs8(kind, `${kind}-locked-pbkdf2.pem`, ...locked),
    'locked-pbkdf2.der': () => pkcs8(kind, `${kind}-locked-pbkdf2.der`, '-outform', 'DER', ...locked),
    'locked-scrypt.pem': () => pkcs8(kind, `${kind}-locked-scrypt.pem`, '-scrypt', ...locked),
    'locked-bags.pem': () => {
      const from = ['-inkey', `${kind}.pem`, '-in', `${kind}.crt`, '-out', `${kind}.p12`];
      openssl('req', '-x509', '-key', `${kind}.pem`, '-subj', '/CN=moving', '-out', `${kind}.crt`);
      openssl('pkcs12', '-export', ...from, ...locked);
      openssl('pkcs12', '-in', `${kind}.p12`, '-out', `${kind}-locked-bags.pem`, '-passin', `pass:${passphrase}`, ...locked);
    },
  };
  test.each(Object.keys(written))('%s comes in both ways', async (name) => {
    written[name]?.();
    const file = `${kind}-${name}`;
    const isLocked = name.startsWith('locked');
    expect([await byImportKey(kind, file, isLocked), await byAction(kind, file, isLocked)]).toEqual([ofKind(kind), ofKind(kind)]);
  });

  test.each(Object.keys(written).filter((name) => name.startsWith('locked')))('%s without its passphrase is asked for it', async (name) => {
    written[name]?.();
    expect(await byAction(kind, `${kind}-${name}`)).toContain('give its "passphrase"');
    expect(await byImportKey(kind, `${kind}-${name}`)).toContain('give --passphrase');
  });

  test('an old or rare encryption comes in by import-key, to which the action points', async () => {
    for (const [name, options] of [
      ['3des', ['-v1', 'PBE-SHA1-3DES']],
      ['aria', ['-v2', 'aria-256-cbc']],
    ] as const) {
      pkcs8(kind, `${kind}-${name}.pem`, ...options, ...locked);
      expect(await byImportKey(kind, `${kind}-${name}.pem`, true)).toBe(ofKind(kind));
      expect(await byAction(kind, `${kind}-${name}.pem`, true)).toContain('or import it with "keystorectl import-key"');
    }
  });

  test('what cannot be read is said with the way there, which goes', async () => {
    pkcs8(kind, `${kind}-des.pem`, '-v1', 'PBE-MD5-DES', ...legacy, ...locked);
    expect(await byImportKey(kind, `${kind}-des.pem`, true)).toContain('-provider legacy -provider default -topk8');
    const again = ['-topk8', '-v2', 'aes-256-cbc', '-in', `${kind}-des.pem`, '-out', `${kind}-again.pem`];
    openssl('pkcs8', ...legacy, ...again, '-passin', `pass:${passphrase}`, ...locked);
    expect(await byAction(kind, `${kind}-again.pem`, true)).toBe(ofKind(kind));
    for (const way of [byImportKey, byAction])
      expect(await way(kind, `${kind}.p12`, true)).toContain('a PKCS#12 file: take the private key out of it ("openssl pkcs12');
  });
});

test('RSA and EC as OpenSSL wrote them before PKCS#8; encrypted ones come in by import-key', async () => {
  openssl('rsa', '-in', 'rsa.pem', '-traditional', '-out', 'rsa-pkcs1.pem');
  openssl('rsa', '-in', 'rsa.pem', '-traditional', '-outform', 'DER', '-out', 'rsa-pkcs1.der');
  openssl('ec', '-in', 'ec.pem', '-param_enc', 'explicit', '-out', 'ec-explicit.pem');
  openssl('ec', '-in', 'ec.pem', '-no_public', '-conv_form', 'compressed', '-outform', 'DER', '-out', 'ec-alone.der');
  for (const [kind, name] of [
    ['rsa', 'rsa-pkcs1.pem'],
    ['rsa', 'rsa-pkcs1.der'],
    ['ec', 'ec-explicit.pem'],
    ['ec', 'ec-alone.der'],
  ] as const)
    expect([name, await byImportKey(kind, name), await byAction(kind, name)]).toEqual([name, ofKind(kind), ofKind(kind)]);
  openssl('ec', '-in', 'ec.pem', '-aes128', '-out', 'ec-locked.pem', ...locked);
  expect(await byImportKey('ec', 'ec-locked.pem', true)).toBe(ofKind('ec'));
  expect(await byAction('ec', 'ec-locked.pem', true)).toContain('or import it with "keystorectl import-key"');
});

test.each(kinds)('%s of ssh-keygen, and locked ones by the way that is said', async (kind) => {
  const type = { rsa: ['rsa', '-b', '2048'], ec: ['ecdsa', '-b', '384'], ed: ['ed25519'] }[kind];
  run('ssh-keygen', '-q', '-t', ...type, '-N', passphrase, '-f', `${kind}-ssh`);
  for (const way of [byImportKey, byAction]) expect(await way(kind, `${kind}-ssh`, true)).toContain(`ssh-keygen -p -N '' -f COPY`);
  run('cp', `${kind}-ssh`, `${kind}-copy`);
  run('ssh-keygen', '-q', '-p', '-P', passphrase, '-N', '', '-f', `${kind}-copy`);
  const [one, other] = [await byImportKey(kind, `${kind}-copy`), await byAction(kind, `${kind}-copy`)];
  expect(one).toContain('BEGIN PUBLIC KEY');
  expect(other).toBe(one);
});

test('Go, in every form that it writes', async () => {
  const go = await obtainGo(versions.go);
  await must(go, ['build', '-o', path('keys'), join(programs, 'keys.go')], { cwd: path(), environment: onlyThisGo });
  run(path('keys'), path('files'));
  for (const name of ['rsa-go-pkcs8.pem', 'ec-go-pkcs8.pem', 'ed-go-pkcs8.pem', 'rsa-go-pkcs1.pem', 'ec-go-sec1.pem']) {
    const kind = name.split('-')[0] as Kind;
    const theirs = publicKeyOf(readFileSync(path('files', name)));
    expect([name, await byImportKey(kind, name), await byAction(kind, name)]).toEqual([name, theirs, theirs]);
  }
});

test('cryptography for Python, in every form that it writes', async () => {
  await requireToolchain('python3');
  writeFileSync(path('constraints.txt'), 'cffi==2.1.1\npycparser==3.12\n');
  const bin = await virtualEnvironment('ml-kem-senders', ['cryptography'], [], path());
  run(join(bin, 'python3'), join(programs, 'keys.py'), path('files'), passphrase);
  for (const kind of kinds) {
    const der = { key: readFileSync(path('files', `${kind}-python-pkcs8.der`)), format: 'der', type: 'pkcs8' } as const;
    const theirs = createPublicKey(createPrivateKey(der)).export({ type: 'spki', format: 'pem' });
    const former = kind === 'ed' ? [] : [`${kind}-python-former.pem`];
    for (const name of [`${kind}-python-pkcs8.der`, `${kind}-python-openssh`, `${kind}-python-locked.pem`, ...former]) {
      const isLocked = name.includes('locked');
      expect([name, await byImportKey(kind, name, isLocked), await byAction(kind, name, isLocked)]).toEqual([name, theirs, theirs]);
    }
  }
});

test('a key store of Java: the way that is said goes, and so does a wrap of it whose OAEP masks with SHA-1', async () => {
  await requireToolchain('java');
  const store = ['-alias', 'moving', '-storepass', passphrase, '-dname', 'CN=moving'];
  for (const type of ['JKS', 'PKCS12'])
    run('keytool', '-genkeypair', '-keyalg', 'EC', '-groupname', 'secp384r1', '-storetype', type, '-keystore', type, ...store);
  expect(await byImportKey('ec', 'JKS', true)).toContain('keytool -importkeystore');
  expect(await byImportKey('ec', 'PKCS12', true)).toContain('openssl pkcs12');
  openssl('pkcs12', '-in', 'PKCS12', '-nocerts', '-out', 'java.pem', '-passin', `pass:${passphrase}`, ...locked);
  const theirs = await byAction('ec', 'java.pem', true);
  expect(theirs).toContain('BEGIN PUBLIC KEY');
  const key = await made('ec');
  const wrapping = (await appliance.request('POST', `${actions}/${key}/import-wrapping-key`, {})).body;
  writeFileSync(path('files', 'wrapping.pem'), wrapping['wrapping-key']);
  const wrapped = run('java', join(programs, 'Wrap.java'), 'wrapping.pem', 'PKCS12', passphrase).toString('base64');
  const given = { ciphertext: wrapped, 'import-id': wrapping['import-id'] };
  const answer = await appliance.request('POST', `${actions}/${key}/import`, { ...given, 'mgf1-hash': 'sha1' });
  expect([answer.status, answer.body]).toEqual([204, expect.anything()]);
  expect((await appliance.request('GET', `${actions}/${key}`)).body.keys['2']).toBe(theirs);
});
