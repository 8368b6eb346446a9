// keystorectl pkcs11, by the octets of p11-kit's protocol against a real appliance: what is shown, what is signed, and what is refused.
import { execFileSync } from 'node:child_process';
import { createHash, createPublicKey, type KeyObject, verify, constants, X509Certificate } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { runKeystorectl } from '../../../appliance/cli/main.ts';
import { bitString, objectIdentifier, sequence } from '../../../core/der/der.ts';
import { encodeCertificationRequestInfo } from '../../../plugins/ca/der/certificate.ts';
import { commonName } from '../../../core/der/name.ts';
import { number32, octet, octets, ulong } from '../../../hsm/p11-kit/frames.ts';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { call, type Form, P11KitClient, pss, wanted } from '../../harness/p11-kit-client.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const collection = '/v1/config/keystore/transit-keys';
const names = { ec: 'web', p384: 'web-384', rsa: 'code', edwards: 'notes', aes: 'orders' };
let appliance: TestAppliance;

beforeAll(async () => {
  mkdirSync(path('appliance'));
  appliance = await startTestAppliance({ directory: path('appliance') });
  writeFileSync(path('token'), appliance.rootToken);
  const make = (name: string, cipher: string, labels = {}) => must('POST', collection, { name, cipher, labels });
  await make(names.ec, 'ecdsa-p256', { pkcs11: 'true' });
  await make(names.p384, 'ecdsa-p384');
  await make(names.rsa, 'rsa-2048');
  await make(names.edwards, 'ed25519', { pkcs11: 'true' });
  await make(names.aes, 'aes256-gcm96', { pkcs11: 'true' });
});
afterAll(() => appliance.close());

async function must(method: string, target: string, body?: unknown): Promise<Record<string, unknown>> {
  const { status, body: answer } = await appliance.request(method, target, body);
  if (status >= 400) throw new Error(`${method} ${target}: ${status} ${JSON.stringify(answer)}`);
  return answer as Record<string, unknown>;
}

type Running = { readonly client: P11KitClient; readonly session: number; readonly code: Promise<number>; stderr(): string };
const running: Running[] = [];
afterEach(async () => {
  for (const { client, code } of running.splice(0)) {
    client.end();
    await code;
  }
});

/** A command in this process, with a session. */
async function start(words: readonly string[], form: Form = 'old', environment: Readonly<Record<string, string>> = {}): Promise<Running> {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  let said = '';
  stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const code = runKeystorectl(['pkcs11', ...words], {
    environment: {
      HOME: path('home'),
      KEYSTORED_URL: appliance.url,
      KEYSTORED_CA: path('appliance', 'tls-cert.pem'),
      KEYSTORED_TOKEN_FILE: path('token'),
      ...environment,
    },
    ...{ stdin, stdout, stderr },
  });
  const client = new P11KitClient(stdin, stdout, { form, version: form === 'old' ? 0 : 2 });
  await client.ask(call.initialize, octets(Buffer.from('PRIVATE-GNOME-KEYRING-PKCS11-PROTOCOL-V-1')), octet(0), octets(Buffer.of(0)));
  const started = { client, session: await client.openSession(), code, stderr: () => said };
  running.push(started);
  return started;
}

const keysOf = ({ client, session }: Running) => client.find(session, wanted.class(3));
const labelsOf = async (one: Running): Promise<readonly (string | undefined)[]> =>
  Promise.all((await keysOf(one)).map(async (handle) => (await one.client.attribute(one.session, handle, 0x3))?.toString()));
const keyNamed = async ({ client, session }: Running, name: string): Promise<number> =>
  (await client.find(session, wanted.class(3), wanted.label(name)))[0] ?? 0;

async function publicKeyOf(name: string, version = 1): Promise<KeyObject> {
  const { keys } = (await must('GET', `/v1/state/keystore/transit-keys/${name}`)) as { keys: Record<string, string> };
  return createPublicKey(keys[version] ?? '');
}

const digestOf = (hash: string, data: Uint8Array): Buffer => createHash(hash).update(data).digest();
const text = Buffer.from('what is signed');
const info: Readonly<Record<string, string>> = {
  sha256: '3031300d060960864801650304020105000420',
  sha384: '3041300d060960864801650304020205000430',
  sha512: '3051300d060960864801650304020305000440',
};
const hashNumbers = { sha256: [0x250, 2, 32], sha384: [0x260, 3, 48], sha512: [0x270, 4, 64] } as const;
const hashNames = ['sha256', 'sha384', 'sha512'] as const;
const pssOf = (hash: keyof typeof hashNumbers): Buffer => pss(...(hashNumbers[hash] as unknown as [number, number, number]));

type Case = { key: string; mechanism: number; parameters?: Buffer; input: Buffer; hash: string; isPss?: boolean; parts?: boolean };
const cases: readonly (readonly [string, Case])[] = hashNames.flatMap((hash, place) => [
  [`CKM_ECDSA of ${hash}`, { key: names.ec, mechanism: 0x1041, input: digestOf(hash, text), hash }],
  [`CKM_ECDSA_${hash}`, { key: names.ec, mechanism: 0x1044 + place, input: text, hash, parts: true }],
  [`CKM_ECDSA_${hash} on P-384`, { key: names.p384, mechanism: 0x1044 + place, input: text, hash, parts: true }],
  [
    `CKM_RSA_PKCS of ${hash}`,
    { key: names.rsa, mechanism: 0x1, input: Buffer.concat([Buffer.from(info[hash] ?? '', 'hex'), digestOf(hash, text)]), hash },
  ],
  [`CKM_${hash}_RSA_PKCS`, { key: names.rsa, mechanism: 0x40 + place, input: text, hash, parts: true }],
  [
    `CKM_RSA_PKCS_PSS of ${hash}`,
    { key: names.rsa, mechanism: 0xd, parameters: pssOf(hash), input: digestOf(hash, text), hash, isPss: true },
  ],
  [
    `CKM_${hash}_RSA_PKCS_PSS`,
    { key: names.rsa, mechanism: 0x43 + place, parameters: pssOf(hash), input: text, hash, isPss: true, parts: true },
  ],
]);

async function expectSigned({ key, hash, isPss = false }: Case, signature: Buffer | number): Promise<void> {
  const options = isPss
    ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
    : { dsaEncoding: 'ieee-p1363' as const };
  expect(verify(hash, text, { key: await publicKeyOf(key), ...options }, signature as Buffer)).toBe(true);
}

describe.each(['old', 'new'] as const)('a client that writes mechanisms in the %s form', (form) => {
  test.each(cases)('%s', async (_name, one) => {
    const started = await start(['--key', names.ec, '--key', names.p384, '--key', names.rsa], form);
    const { client, session } = started;
    const handle = await keyNamed(started, one.key);
    await client.begin(session, handle, one.mechanism, one.parameters);
    const length = { [names.ec]: 64, [names.p384]: 96, [names.rsa]: 256 }[one.key];
    expect(await client.sign(session, one.input, 0)).toBe(length);
    await expectSigned(one, await client.sign(session, one.input));
    if (one.parts !== true) return;
    await client.begin(session, handle, one.mechanism, one.parameters);
    await expectSigned(one, await client.signParts(session, text.subarray(0, 5), text.subarray(5, 5), text.subarray(5)));
  });
});

test('what would be signed as something else is refused: other salts, masks, hashes and lengths, and keys of another type', async () => {
  const started = await start(['--key', names.ec, '--key', names.rsa]);
  const { client, session } = started;
  const [ec, rsa] = [await keyNamed(started, names.ec), await keyNamed(started, names.rsa)];
  const refusals: readonly (readonly [number, number, Buffer | undefined, Buffer, number])[] = [
    [rsa, 0xd, pss(0x250, 2, 20), digestOf('sha256', text), 0x71],
    [rsa, 0xd, pss(0x250, 3, 32), digestOf('sha256', text), 0x71],
    [rsa, 0xd, pss(0x220, 1, 20), digestOf('sha1', text), 0x71],
    [rsa, 0xd, undefined, digestOf('sha256', text), 0x71],
    [rsa, 0x43, pssOf('sha512'), text, 0x71],
    [rsa, 0xd, pssOf('sha256'), digestOf('sha384', text), 0x21],
    [rsa, 0x1, undefined, digestOf('sha256', text), 0x20],
    [rsa, 0x1, undefined, Buffer.concat([Buffer.from('3021300906052b0e03021a05000414', 'hex'), digestOf('sha1', text)]), 0x20],
    [rsa, 0x1, undefined, Buffer.concat([Buffer.from(info['sha256'] ?? '', 'hex'), digestOf('sha384', text)]), 0x20],
    [rsa, 0x3, undefined, Buffer.alloc(256), 0x70],
    [rsa, 0x1041, undefined, digestOf('sha256', text), 0x63],
    [ec, 0x1, undefined, digestOf('sha256', text), 0x63],
    [ec, 0x1041, undefined, digestOf('sha1', text), 0x21],
    [ec, 0x1041, undefined, text, 0x21],
  ];
  for (const [handle, mechanism, parameters, input, rv] of refusals) {
    const other = await client.openSession();
    const signing = client.begin(other, handle, mechanism, parameters).then(() => client.sign(other, input));
    await expect(signing, `0x${mechanism.toString(16)}`).rejects.toMatchObject({ rv });
  }
  await client.begin(session, ec, 0x1041);
  await expect(client.begin(session, ec, 0x1041)).rejects.toMatchObject({ rv: 0x90 });
  await expect(client.signParts(session, text)).rejects.toMatchObject({ rv: 0x54 });
  await expect(client.sign(session, text)).rejects.toMatchObject({ rv: 0x91 });
});

test('three objects a key: a program finds the private key by flags, and reads what is there beside what is not', async () => {
  const started = await start(['--key', names.rsa]);
  const { client, session } = started;
  const [handle = 0] = await client.find(session, wanted.class(3), wanted.flag(0x108, true), wanted.flag(0x1, true));
  const modulus = await client.attribute(session, handle, 0x120);
  expect(modulus?.toString('base64url')).toBe((await publicKeyOf(names.rsa)).export({ format: 'jwk' }).n);
  const asked = [0x11, 0x3, 0x4000_0600, 0x123].flatMap((type) => [number32(type), number32(0)]);
  const given = await client.ask(call.attributes, ulong(session), ulong(handle), number32(4), ...asked);
  expect(given.number32()).toBe(4);
  expect([given.number32(), given.octet()]).toEqual([0x11, 0]);
  expect([given.number32(), given.octet(), given.number32(), given.octets().toString()]).toEqual([0x3, 1, 4, names.rsa]);
  expect([given.number32(), given.octet(), given.number32(), given.octet(), given.ulong()]).toEqual([0x4000_0600, 0, 0x123, 0, 0x11]);
  // Values whose type decides how they are written, before one that is compared.
  const skipped = [
    Buffer.concat([number32(0x4000_0211), octet(1), number32(48), number32(1), wanted.flag(0x108, true)]),
    Buffer.concat([number32(0x4000_0600), octet(1), number32(16), number32(2), ulong(1), ulong(2)]),
    wanted.octets(0x110, Buffer.from('20260101')),
  ];
  for (const one of skipped) expect(await client.find(session, one, wanted.label(names.rsa))).toEqual([]);
  expect(await client.find(session, wanted.class(0xce53_4353))).toEqual([]);
  for (const number of [call.createObject, call.copyObject, call.decryptInit, 999])
    await expect(client.ask(number, ulong(session))).rejects.toMatchObject({ rv: 0x54 });
  const random = await client.ask(call.random, ulong(session), number32(16));
  expect([random.octet(), random.octets().length]).toEqual([1, 16]);
});

test('keys are shown by name, pattern and label, never all; what p11-kit cannot carry is named on standard error if it was asked for', async () => {
  expect(await labelsOf(await start([]))).toEqual([names.ec]);
  expect(await labelsOf(await start(['--key', 'web*']))).toEqual([names.ec, names.p384]);
  expect(await labelsOf(await start(['--key', '*b-3*4']))).toEqual([names.p384]);
  const some = await start(['--key', names.edwards, '--key', names.aes, '--key', 'nothing', '--key', names.rsa]);
  expect(await labelsOf(some)).toEqual([names.rsa]);
  expect(some.stderr()).toContain('notes is not shown: it is ed25519, and only RSA and ECDSA keys pass PKCS#11 here');
  expect(some.stderr()).toContain('cannot read the key nothing: 404');
  const none = await start(['--selector', 'pkcs11=nowhere']);
  expect(await labelsOf(none)).toEqual([]);
  expect(none.stderr()).toContain('no key has the label pkcs11=nowhere');
});

test('a handle is one version: after a rotation it signs with the version that was shown, a new start shows the new one', async () => {
  await must('POST', collection, { name: 'turning', cipher: 'ecdsa-p256' });
  const before = await start(['--key', 'turning']);
  const handle = await keyNamed(before, 'turning');
  await must('POST', '/v1/state/keystore/transit-keys/turning/rotate', {});
  const digest = digestOf('sha256', text);
  const signWith = async ({ client, session }: Running, key: number): Promise<Buffer> => {
    await client.begin(session, key, 0x1041);
    return (await client.sign(session, digest)) as Buffer;
  };
  const holds = async (signature: Buffer, version: number): Promise<boolean> =>
    verify('sha256', text, { key: await publicKeyOf('turning', version), dsaEncoding: 'ieee-p1363' }, signature);
  expect(await keyNamed(before, 'turning')).toBe(handle);
  expect(await holds(await signWith(before, handle), 1)).toBe(true);
  const after = await start(['--key', 'turning']);
  expect(await holds(await signWith(after, await keyNamed(after, 'turning')), 2)).toBe(true);
  const all = await start(['--key', 'turning', '--all-versions']);
  expect(await labelsOf(all)).toEqual(['turning:1', 'turning']);
  expect(await holds(await signWith(all, await keyNamed(all, 'turning:1')), 1)).toBe(true);
  await must('PATCH', `${collection}/turning`, { 'min-encryption-version': 2 });
  await before.client.begin(before.session, handle, 0x1041);
  await expect(before.client.sign(before.session, digest)).rejects.toMatchObject({ rv: 0x68 });
  expect(before.stderr()).toContain('cannot sign with turning: 409');
});

test('with a certificate, given or kept, the version is that of the certificate, beside those above it; one of another key is named and shown not', async () => {
  await must('POST', collection, { name: 'certified', cipher: 'ecdsa-p256' });
  const openssl = (...words: string[]) => execFileSync('openssl', words, { stdio: ['ignore', 'pipe', 'ignore'] });
  openssl(
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-subj',
    '/CN=above',
    '-keyout',
    path('ca.key'),
    '-out',
    path('ca.crt'),
  );
  writeFileSync(path('certified.pub'), (await publicKeyOf('certified')).export({ format: 'pem', type: 'spki' }));
  const forKey = ['-force_pubkey', path('certified.pub'), '-subj', '/CN=certified', '-CA', path('ca.crt'), '-CAkey', path('ca.key')];
  openssl('x509', '-new', ...forKey, '-set_serial', '4711', '-out', path('certified.crt'));
  writeFileSync(path('chain.pem'), readFileSync(path('certified.crt'), 'utf8') + readFileSync(path('ca.crt'), 'utf8'));
  await must('POST', '/v1/state/keystore/transit-keys/certified/rotate', {});
  const started = await start(['--key', 'certified', '--certificate', `certified=${path('chain.pem')}`]);
  const { client, session } = started;
  const handle = await keyNamed(started, 'certified');
  await client.begin(session, handle, 0x1041);
  const signature = (await client.sign(session, digestOf('sha256', text))) as Buffer;
  expect(verify('sha256', text, { key: await publicKeyOf('certified', 1), dsaEncoding: 'ieee-p1363' }, signature)).toBe(true);
  const [own = 0, ...more] = await client.find(session, wanted.class(1), wanted.label('certified'));
  expect(more).toEqual([]);
  const { raw } = new X509Certificate(readFileSync(path('certified.crt')));
  expect(await client.attribute(session, own, 0x11)).toEqual(raw);
  expect(await client.attribute(session, own, 0x102)).toEqual(await client.attribute(session, handle, 0x102));
  expect((await client.attribute(session, own, 0x82))?.toString('hex')).toBe('02021267');
  const [above = 0] = await client.find(session, wanted.class(1), wanted.label('certified issuer 1'));
  expect(await client.attribute(session, own, 0x81)).toEqual(await client.attribute(session, above, 0x101));

  // Those that the appliance keeps need no option.
  const kept = { 'certificate-chain': readFileSync(path('chain.pem'), 'utf8'), 'key-version': 1 };
  await must('POST', '/v1/state/keystore/transit-keys/certified/set-certificate-chain', kept);
  const without = await start(['--key', 'certified']);
  const [shown = 0] = await without.client.find(without.session, wanted.class(1), wanted.label('certified'));
  expect(await without.client.attribute(without.session, shown, 0x11)).toEqual(raw);
  expect(await without.client.find(without.session, wanted.class(1), wanted.label('certified issuer 1'))).toHaveLength(1);

  const other = await start(['--key', 'certified', '--certificate', `certified=${path('ca.crt')}`]);
  expect(await labelsOf(other)).toEqual(['certified']);
  expect(await other.client.find(other.session, wanted.class(1))).toEqual([]);
  expect(other.stderr()).toContain('the certificate of certified is not shown: it is of no version of the key that is left');
});

describe('certificates that a CA of the appliance has issued', () => {
  const key = 'issued';
  /** Issues a certificate for the newest version of the key, whose proof of possession the appliance signs. */
  async function issue(subject: string): Promise<{ serial: string; certificate: string; chain: string }> {
    const { 'latest-version': version } = (await must('GET', `/v1/state/keystore/transit-keys/${key}`)) as { 'latest-version': number };
    const publicKey = (await publicKeyOf(key, version)).export({ format: 'der', type: 'spki' });
    const request = encodeCertificationRequestInfo(commonName(subject), publicKey);
    const { signature } = (await must('POST', `/v1/state/keystore/transit-keys/${key}/sign`, {
      text: Buffer.from(request).toString('base64'),
    })) as { signature: string };
    const signed = sequence(
      request,
      sequence(objectIdentifier('1.2.840.10045.4.3.2')),
      bitString(Buffer.from(signature.split(':')[2] ?? '', 'base64')),
    );
    const csr = `-----BEGIN CERTIFICATE REQUEST-----\n${Buffer.from(signed).toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
    return (await must('POST', '/v1/state/keystore/tls/ca/shop/sign-csr', { csr })) as never;
  }
  const certificates = async ({ client, session }: Running, label = key): Promise<readonly (Buffer | undefined)[]> =>
    Promise.all((await client.find(session, wanted.class(1), wanted.label(label))).map((one) => client.attribute(session, one, 0x11)));
  const words = ['--key', `${key.slice(0, 4)}*`, '--certificate', `${key.slice(0, 4)}*=ca:shop`];

  beforeAll(async () => {
    await must('POST', collection, { name: key, cipher: 'ecdsa-p256' });
    await must('POST', '/v1/config/keystore/tls/ca', { name: 'shop' });
  });

  test('are shown without a file, with that of the CA, in three requests; none that is revoked, and the newest alone', async () => {
    const none = await start(words);
    expect([await labelsOf(none), await certificates(none)]).toEqual([[key], []]);
    expect(none.stderr()).toContain('no certificate of issued is shown: CA shop has issued none that is valid');
    const first = await issue('one.example.test');
    const trail = path('appliance', 'audit', 'test.000000000001.jsonl');
    const before = readFileSync(trail, 'utf8').length;
    const started = await start(words);
    const raw = ({ certificate }: { certificate: string }): Buffer => new X509Certificate(certificate).raw;
    expect(await certificates(started)).toEqual([raw(first)]);
    expect(await certificates(started, `${key} issuer 1`)).toEqual([raw({ certificate: first.chain })]);
    expect(readFileSync(trail, 'utf8').slice(before).trim().split('\n')).toHaveLength(3);
    expect(started.stderr()).toBe('');
    appliance.clock.advance(60);
    const second = await issue('two.example.test');
    expect(await certificates(await start(words))).toEqual([raw(second)]);
    await must('POST', '/v1/state/keystore/tls/ca/shop/revoke', { serial: second.serial });
    expect(await certificates(await start(words))).toEqual([raw(first)]);
  });

  test('say which version is shown: that of the newest certificate, until a newer version has one', async () => {
    const old = await publicKeyOf(key);
    await must('POST', `/v1/state/keystore/transit-keys/${key}/rotate`, {});
    const before = await start(words);
    const signed = async (one: Running): Promise<Buffer> => {
      await one.client.begin(one.session, await keyNamed(one, key), 0x1041);
      return (await one.client.sign(one.session, digestOf('sha256', text))) as Buffer;
    };
    const holds = async (one: Running, publicKey: KeyObject): Promise<boolean> =>
      verify('sha256', text, { key: publicKey, dsaEncoding: 'ieee-p1363' }, await signed(one));
    expect(await holds(before, old)).toBe(true);
    appliance.clock.advance(60);
    const renewed = await issue('three.example.test');
    expect(await holds(before, old)).toBe(true);
    const after = await start(words);
    expect(await holds(after, new X509Certificate(renewed.certificate).publicKey)).toBe(true);
    expect(await certificates(after)).toHaveLength(1);
  });

  test('are refused to a token that may not read them, which hides no key', async () => {
    const rules = [{ path: `/v1/state/keystore/transit-keys/${key}`, operations: { read: 'allow' } }];
    await must('POST', '/v1/config/policy/policies', { name: 'blind', 'rest-api': { rules } });
    const { token } = await must('POST', '/v1/state/keystore/token/create', { policies: ['blind'] });
    writeFileSync(path('blind'), String(token));
    const ask = async (from: string, ...more: string[]): Promise<Running> => {
      const one = await start(['--key', key, '--certificate', `${key}=${from}`, ...more]);
      expect([await labelsOf(one), await certificates(one)]).toEqual([[key], []]);
      return one;
    };
    const blind = await ask('ca:shop', '--token-file', path('blind'));
    expect(blind.stderr()).toContain('cannot read the certificates of CA shop: 403');
    expect((await ask('ca:nowhere')).stderr()).toContain('cannot read the certificates of CA nowhere: 404');
    expect((await ask('./ca:shop')).stderr()).toContain('the certificate of issued is not shown');
  });
});

test('the audit trail names the command, and the program above it as claimed', async () => {
  const started = await start(['--key', names.ec]);
  const handle = await keyNamed(started, names.ec);
  await started.client.begin(started.session, handle, 0x1041);
  await started.client.sign(started.session, digestOf('sha256', text));
  const comm = readFileSync(`/proc/${process.ppid}/comm`, 'utf8').trim();
  const lines = readFileSync(path('appliance', 'audit', 'test.000000000001.jsonl'), 'utf8')
    .trim()
    .split('\n');
  const agents = lines
    .filter((line) => line.includes('/web/sign'))
    .map((line) => (JSON.parse(line) as { 'user-agent': string })['user-agent']);
  expect(agents.at(-1)).toMatch(/^keystorectl-pkcs11\/\S+ \(claimed: \S+\)$/);
  expect(agents.at(-1)).toContain(`(claimed: ${comm.replaceAll(/[^A-Za-z0-9._+-]/g, '_')})`);
});

test('a token that is ended is refused, and the next call works with the one that the file has then', async () => {
  await must('POST', '/v1/config/policy/policies', {
    name: 'signer',
    'rest-api': {
      rules: [
        { path: '/v1/state/keystore/transit-keys/web/**', operations: { execute: 'allow', read: 'allow' } },
        { path: '/v1/state/keystore/transit-keys/web', operations: { read: 'allow' } },
      ],
    },
  });
  const tokenOf = async (): Promise<string> =>
    (await must('POST', '/v1/state/keystore/token/create', { policies: ['signer'] }))['token'] as string;
  const file = path('signer-token');
  const first = await tokenOf();
  writeFileSync(file, first);
  const started = await start(['--key', names.ec, '--token-file', file]);
  const { client, session } = started;
  const handle = await keyNamed(started, names.ec);
  const sign = async (): Promise<Buffer | number> => {
    await client.begin(session, handle, 0x1041);
    return client.sign(session, digestOf('sha256', text));
  };
  expect(await sign()).toHaveLength(64);
  await must('PATCH', '/v1/config/policy/policies/signer', {
    'rest-api': { rules: [{ path: '/v1/state/keystore/transit-keys/web/sign', operations: { execute: 'reject' } }] },
  });
  await expect(sign()).rejects.toMatchObject({ rv: 0x68 });
  expect(started.stderr()).toMatch(/cannot sign with web: 403[^\n]*\n$/);
  await must('PATCH', '/v1/config/policy/policies/signer', {
    'rest-api': { rules: [{ path: '/v1/state/keystore/transit-keys/web/sign', operations: { execute: 'allow' } }] },
  });
  expect(await sign()).toHaveLength(64);
  await must('POST', '/v1/state/keystore/token/disable', { token: first });
  await expect(sign()).rejects.toMatchObject({ rv: 0x30 });
  expect(started.stderr()).toContain('log in again with "keystorectl login"');
  writeFileSync(file, await tokenOf());
  expect(await sign()).toHaveLength(64);
});

test('wrong words are told before anything is served', async () => {
  const run = async (...words: string[]): Promise<string> => {
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
    const code = await runKeystorectl(['pkcs11', ...words], { environment: { HOME: path('home') }, ...{ stdin, stdout, stderr } });
    return `${code} ${stdout.read() ?? ''}${String(stderr.read())}`;
  };
  expect(await run('--token-file', '-')).toContain('1 keystorectl: standard input is used by this command');
  expect(await run('--certificate', 'web')).toContain('--certificate must be NAME=FILE, or NAME=ca:CA');
  expect(await run('--timeout', 'soon')).toContain('--timeout must be a time');
  expect(await run('--label', 'x'.repeat(33))).toContain('--label must have 1 to 32 octets');
});
