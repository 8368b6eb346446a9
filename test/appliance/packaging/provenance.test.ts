// Provenance: the statement says what was built from what, in the same octets for the same build; keystored signs it with an OpenPGP key.
import { createPublicKey, verify } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encodeForSigning, formatEnvelope } from '../../../appliance/packaging/provenance/envelope.ts';
import { billedResources } from '../../../appliance/packaging/provenance/materials.ts';
import { type Keystorectl, signStatement } from '../../../appliance/packaging/provenance/sign.ts';
import { type Build, buildType, formatStatement, isStatement } from '../../../appliance/packaging/provenance/statement.ts';
import { ctlFor } from '../cli/run.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { type OpenpgpHarness, startOpenpgpHarness } from '../../plugins/openpgp/harness.ts';

const path = temporaryDirectory();
const commit = 'c'.repeat(40);
const build: Build = {
  builder: 'https://ci.example.org/keystored',
  source: 'git+https://example.org/keystored',
  commit,
  builds: ['package', 'oci'],
  environment: { SOURCE_DATE_EPOCH: '1700000000' },
  subjects: [
    { name: 'two', digest: { sha256: '2'.repeat(64) } },
    { name: 'one', digest: { sha256: '1'.repeat(64) } },
  ],
  dependencies: [{ uri: 'pkg:npm/zod@4.6.7', digest: { sha512: 'a'.repeat(128) } }, { uri: 'pkg:deb/debian/tar@1.35' }],
};

describe('a statement', () => {
  test('is an in-toto Statement v1 with SLSA provenance v1', () => {
    const text = formatStatement(build);
    expect(isStatement(text)).toBe(true);
    expect(JSON.parse(text)).toEqual({
      _type: 'https://in-toto.io/Statement/v1',
      subject: build.subjects.toReversed(),
      predicateType: 'https://slsa.dev/provenance/v1',
      predicate: {
        buildDefinition: {
          buildType,
          externalParameters: {
            source: { uri: `git+https://example.org/keystored@${commit}`, digest: { gitCommit: commit } },
            builds: ['oci', 'package'],
          },
          internalParameters: { SOURCE_DATE_EPOCH: '1700000000' },
          resolvedDependencies: [
            { name: 'source', uri: `git+https://example.org/keystored@${commit}`, digest: { gitCommit: commit } },
            ...build.dependencies.toReversed(),
          ],
        },
        runDetails: { builder: { id: 'https://ci.example.org/keystored' } },
      },
    });
  });

  test('has the same octets whatever the order in which the build is described', () => {
    const { subjects, dependencies, builds } = build;
    const turned = { subjects: subjects.toReversed(), dependencies: dependencies.toReversed(), builds: builds.toReversed() };
    expect(formatStatement({ ...build, ...turned })).toBe(formatStatement(build));
  });

  test('needs URIs for builder and source, and files with different names', () => {
    expect(() => formatStatement({ ...build, builder: 'my laptop' })).toThrow('my laptop is not a URI');
    expect(() => formatStatement({ ...build, source: 'here' })).toThrow('here is not a URI');
    const [one] = build.subjects;
    expect(() => formatStatement({ ...build, subjects: [one, one].filter((subject) => subject !== undefined) })).toThrow(
      'two files are called two',
    );
  });

  test('names each part of the bills of materials once, with its sums', () => {
    const [zod, tini] = [
      { purl: 'pkg:npm/zod@4.6.7', hashes: [{ alg: 'SHA-512', content: 'ab' }] },
      { purl: 'pkg:deb/debian/tini@1?arch=amd64', hashes: [{ alg: 'SHA-256', content: 'cd' }] },
    ];
    writeFileSync(path('a.cdx.json'), JSON.stringify({ components: [zod] }));
    writeFileSync(path('b.cdx.json'), JSON.stringify({ components: [zod, tini, { purl: 'pkg:generic/openssl@3' }] }));
    expect(billedResources([path('a.cdx.json'), path('artefact'), path('b.cdx.json')])).toEqual([
      { uri: zod?.purl, digest: { sha512: 'ab' } },
      { uri: tini?.purl, digest: { sha256: 'cd' } },
      { uri: 'pkg:generic/openssl@3' },
    ]);
    for (const text of ['not JSON', 'null', '{}']) {
      writeFileSync(path('other.cdx.json'), text);
      expect(() => billedResources([path('other.cdx.json')])).toThrow('is not a bill of materials');
    }
  });
});

test('the encoding that is signed is that of the specification of DSSE', () => {
  const encoded = encodeForSigning(Buffer.from('hello world'), 'http://example.com/HelloWorld');
  expect(Buffer.from(encoded).toString()).toBe('DSSEv1 29 http://example.com/HelloWorld 11 hello world');
  expect(Buffer.from(encodeForSigning(Buffer.from('ü'), 'é')).toString()).toBe('DSSEv1 2 é 2 ü');
});

test('an envelope is one line, and its base64 is that of the octets', () => {
  const line = formatEnvelope(Buffer.from('{"a":\n1}'), [{ keyId: 'AB', signature: Buffer.from([255, 254]) }]);
  expect(line).toBe('{"payloadType":"application/vnd.in-toto+json","payload":"eyJhIjoKMX0=","signatures":[{"keyid":"AB","sig":"//4="}]}\n');
});

describe('keystored', () => {
  let harness: OpenpgpHarness;
  let keystorectl: Keystorectl;
  beforeAll(async () => {
    for (const name of ['appliance', 'home']) mkdirSync(path(name));
    harness = await startOpenpgpHarness(path('appliance'), Temporal.Now.instant().toString());
    const ctl = ctlFor(harness, readFileSync(path('appliance', 'tls-cert.pem'), 'utf8'), path('home'));
    keystorectl = async (...words) => {
      const { code, stdout, stderr } = await ctl(words);
      if (code !== 0) throw new Error(stderr);
      return stdout;
    };
    await harness.create('archive', { cipher: 'ed25519', 'openpgp-user-id': 'Releases <releases@example.org>' });
  });
  afterAll(() => harness.close());

  const write = (name: string): string => {
    writeFileSync(path(name), formatStatement(build));
    return path(name);
  };

  test.each(['ed25519', 'rsa-2048', 'ecdsa-p256'])(
    'signs with an OpenPGP key %s, detached and in an envelope, with the version in use',
    async (cipher) => {
      await harness.create(cipher, { cipher, 'openpgp-user-id': `${cipher} <${cipher}@example.org>` });
      await harness.do(cipher, 'rotate');
      const file = write(`${cipher}.json`);
      const { signature, envelope } = await signStatement(file, cipher, keystorectl);
      expect([signature, envelope]).toEqual([`${file}.asc`, path(`${cipher}.intoto.jsonl`)]);

      const octets = readFileSync(file);
      const verdict = await harness.verify(cipher, readFileSync(signature, 'utf8'), octets);
      expect(verdict).toMatchObject({ valid: true, version: 2 });
      const { payloadType, payload, signatures } = JSON.parse(readFileSync(envelope, 'utf8')) as {
        payloadType: string;
        payload: string;
        signatures: { keyid: string; sig: string }[];
      };
      expect([payloadType, payload]).toEqual(['application/vnd.in-toto+json', octets.toString('base64')]);
      expect(signatures.map(({ keyid }) => keyid)).toEqual([verdict.fingerprint?.toUpperCase()]);
      const publicKey = createPublicKey((await harness.state(cipher)).keys['2']);
      const hashName = cipher === 'ed25519' ? null : 'sha256';
      const isGood = (text: Uint8Array): boolean =>
        verify(hashName, encodeForSigning(text), publicKey, Buffer.from(signatures[0]?.sig ?? '', 'base64'));
      expect(isGood(octets)).toBe(true);
      expect(isGood(Buffer.from(octets.toString().replace('package', 'packagf')))).toBe(false);
    },
  );

  test('signs with a subkey, which the envelope names', async () => {
    await harness.create('ci', { cipher: 'ed25519', 'openpgp-primary': 'archive', 'openpgp-key-usage': ['sign'] });
    const file = write('subkey.json');
    const { signature, envelope } = await signStatement(file, 'ci', keystorectl);
    const verdict = await harness.verify('ci', readFileSync(signature, 'utf8'), readFileSync(file));
    expect(verdict.valid).toBe(true);
    expect(readFileSync(envelope, 'utf8')).toContain(`"keyid":"${verdict.fingerprint?.toUpperCase()}"`);
  });

  test('signs nothing but statements, and with OpenPGP keys alone; nothing is written then', async () => {
    writeFileSync(path('other.json'), '{"_type":"something else"}');
    await expect(signStatement(path('other.json'), 'archive', keystorectl)).rejects.toThrow('is not an in-toto statement');
    await harness.create('plain', { cipher: 'ed25519' });
    const file = write('plain.json');
    await expect(signStatement(file, 'plain', keystorectl)).rejects.toThrow('keystorectl:');
    await expect(signStatement(file, 'absent', keystorectl)).rejects.toThrow('keystorectl:');
    for (const name of ['other.json.asc', 'other.intoto.jsonl', 'plain.json.asc', 'plain.intoto.jsonl'])
      expect(existsSync(path(name))).toBe(false);
  });
});
