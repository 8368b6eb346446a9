// What works without a running appliance: the tools of an HSM administrator on a real module, and the check of an audit trail.
import { generateKeyPairSync, sign } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { beforeAll, describe, expect, test } from 'vitest';
import { rotateWrappingKey } from '../../../appliance/cli/commands/hsm-rotation.ts';
import type { SignHead } from '../../../core/audit/heads.ts';
import { auditKeyId } from '../../../core/audit/keys.ts';
import { softhsmConf } from '../../../hsm/setup/setup.ts';
import { softhsmModule } from '../../harness/token/softhsm.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { openTrail, record } from '../../core/audit/trail.ts';
import { ctlFor } from './run.ts';

const path = temporaryDirectory();
mkdirSync(path('home'));
const ctl = ctlFor({ url: 'https://127.0.0.1:1', rootToken: '' }, '', path('home'));

describe('hsm', () => {
  const token = [
    '--module',
    softhsmModule,
    '--environment',
    `SOFTHSM2_CONF=${path('softhsm.conf')}`,
    '--label',
    'trial',
    '--pin-file',
    path('pin'),
  ];

  beforeAll(() => {
    mkdirSync(path('tokens'));
    writeFileSync(path('softhsm.conf'), softhsmConf(path('tokens')));
    writeFileSync(path('pin'), 'user-pin');
    writeFileSync(path('so-pin'), 'security-officer-pin');
  });

  test('finds the modules of this machine', async () => {
    expect(await ctl.json('hsm', 'modules')).toContain(softhsmModule);
  });

  test('initialises a token, once', async () => {
    const initialise = ['hsm', 'initialise', ...token, '--so-pin-file', path('so-pin')];
    expect(await ctl(initialise)).toMatchObject({ code: 0, stderr: 'initialised token trial\n' });
    expect(await ctl(initialise)).toMatchObject({ code: 1, stderr: expect.stringContaining('exists') });
  });

  test('describes slots, tokens and mechanisms, and what plugins miss', async () => {
    const { modules, plugins } = await ctl.json('hsm', 'describe', ...token);
    expect(modules[0].slots[0]).toMatchObject({ label: 'trial', initialised: true, 'user-pin-set': true });
    expect(modules[0].slots[0].mechanisms).toContain('CKM_AES_GCM');
    const table = (await ctl(['hsm', 'describe', ...token, '--output', 'table'])).stdout;
    expect(table).toMatch(
      /^LABEL +SERIAL .*\ntrial +[\da-f]{16} .* true +true\n(?:.*\n)+\nPLUGIN +NEEDS +MISSING\n(?:.*\n)*transit +aes-256, secret-256\n/,
    );
    expect(plugins).toContainEqual({ plugin: 'the appliance itself', needs: expect.arrayContaining(['CKM_AES_GCM']), missing: [] });
    expect(plugins).toContainEqual({ plugin: 'transit', needs: expect.arrayContaining(['secret-256']), missing: [] });
  });

  test('changes PINs once they are known, and says what is to be done where the file is not its own', async () => {
    writeFileSync(path('next-pin'), 'another-user-pin');
    const change = ['hsm', 'change-pin', ...token, '--new-pin-file', path('next-pin')];
    expect(await ctl(['hsm', 'change-pin', ...token])).toMatchObject({ code: 1, stderr: expect.stringContaining('--new-pin-file') });
    const changed = await ctl(change);
    expect(changed).toMatchObject({ code: 0, stderr: expect.stringContaining(`Put the new PIN into ${path('pin')} now`) });
    expect(readFileSync(path('pin'), 'utf8')).toBe('user-pin');
    // The PIN in the file is the old one now: it is tried once.
    expect(await ctl(change)).toMatchObject({ code: 1, stderr: expect.stringContaining('refused the PIN') });
    writeFileSync(path('pin'), 'another-user-pin');
    const so = [...change, '--so'];
    expect(await ctl(so)).toMatchObject({ code: 1, stderr: expect.stringContaining('--so-pin-file') });
    expect((await ctl([...so, '--so-pin-file', path('so-pin')])).stderr).toContain('changed the SO PIN of token trial');
    expect((await ctl([...so, '--so-pin-file', path('so-pin')])).code).toBe(1);
  });

  test('prepares the token and tries every operation on it', async () => {
    expect((await ctl(['hsm', 'test', ...token])).code).toBe(1);
    const prepared = await ctl(['hsm', 'prepare', ...token]);
    expect(prepared.stderr).toContain('made keystored-wrapping-key');
    // SoftHSM2 2.6 wraps no Ed25519 keys.
    expect(prepared.stderr).toMatch(/: cannot wrap keys of type ed25519, x25519 and keeps their seed: .* such a key cannot be exported\n/);
    const tried = await ctl(['hsm', 'test', ...token]);
    expect(tried).toMatchObject({ code: 0, stderr: expect.stringMatching(/^random: ok\n[^]*ecdsa-p256: make, use, check: ok\n/) });
    const trials = JSON.parse(tried.stdout) as { operation: string; result: string }[];
    expect(trials.filter(({ result }) => result === 'failed')).toEqual([]);
    expect(trials).toContainEqual(expect.objectContaining({ operation: 'ecdsa-p256: make, use, check', result: 'ok' }));
    expect(trials).toContainEqual(expect.objectContaining({ operation: 'ml-dsa-65', problem: expect.stringContaining('CKM_ML_DSA') }));
  });

  test('a wrong PIN, module or choice is one line that says so', async () => {
    writeFileSync(path('wrong-pin'), 'wrong-pin');
    expect(await ctl(['hsm', 'test', ...token.slice(0, -1), path('wrong-pin')])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('PIN'),
    });
    expect((await ctl(['hsm', 'describe', '--module', path('none.so')])).code).not.toBe(0);
    expect((await ctl(['hsm', 'test'])).stderr).toMatch(/^keystorectl: no token is selected/);
  });
});

describe('audit verify', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const signHead: SignHead = (octets) =>
    Promise.resolve({ keyId: auditKeyId(publicKey), signature: sign('sha256', octets, { key: privateKey, dsaEncoding: 'ieee-p1363' }) });

  beforeAll(async () => {
    const trail = await openTrail(path('audit'), { signHead });
    for (let n = 0; n < 5; n += 1) await trail.write(record(n));
    await trail.close();
    writeFileSync(path('audit-keys.pem'), publicKey.export({ format: 'pem', type: 'spki' }));
  });

  test('finds the keys beside the trail and says how far it is signed', async () => {
    const report = await ctl.json('audit', 'verify', path('audit'));
    expect(report).toMatchObject({ findings: [], 'signed-heads': 1 });
    expect(report.chains[0]['signed-through']).toBeGreaterThanOrEqual(5);
  });

  test('a flipped octet is found, and the exit code is 7', async () => {
    const [name = ''] = readdirSync(path('audit'));
    const text = readFileSync(path('audit', name), 'utf8');
    writeFileSync(path('audit', name), text.replace('"path":"', '"path":"/'));
    const { code, stdout, stderr } = await ctl(['audit', 'verify', path('audit')]);
    expect(code).toBe(7);
    expect(JSON.parse(stdout).findings[0].problem).toContain('changed');
    expect(stderr).toContain('not what was written');
  });

  test('keys and heads that were kept elsewhere decide, and those of the directory do not', async () => {
    const trail = await openTrail(path('kept'), { signHead });
    await trail.write(record(1));
    await trail.signHeads();
    await trail.close();
    const [name = ''] = readdirSync(path('kept'));
    const lines = readFileSync(path('kept', name), 'utf8').split('\n').slice(0, -1);
    const [, , { sequence, hash }] = lines.map((line) => JSON.parse(line)) as [object, object, { sequence: number; hash: string }];
    const keys = [{ 'key-id': auditKeyId(publicKey), 'public-key': publicKey.export({ format: 'pem', type: 'spki' }) }];
    const answer = (heads: readonly object[]): string[] => {
      writeFileSync(path('kept.json'), JSON.stringify({ keys, heads }));
      return ['audit', 'verify', path('kept'), '--keys', path('kept.json'), '--heads', path('kept.json')];
    };
    expect(await ctl.json(...answer([{ chain: 'main', sequence, hash }]))).toMatchObject({ findings: [] });
    for (const wrong of [
      { chain: 'main', sequence: 99, hash },
      { chain: 'main', sequence, hash: '0'.repeat(64) },
      { chain: 'other', sequence: 1, hash },
    ]) {
      expect(await ctl(answer([wrong]))).toMatchObject({ code: 7 });
    }
    // A trail that an attacker made from its first record on, with their key beside it.
    const attacker = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey;
    writeFileSync(path('attacker-keys.pem'), attacker.export({ format: 'pem', type: 'spki' }));
    expect((await ctl(['audit', 'verify', path('kept'), '--keys', path('attacker-keys.pem')])).code).toBe(7);
    expect(await ctl(answer([]))).toMatchObject({ code: 1, stderr: expect.stringContaining('it names no heads') });
    writeFileSync(path('kept.json'), JSON.stringify({ heads: [{ chain: 'main', sequence: '3', hash }] }));
    expect((await ctl(['audit', 'verify', path('kept'), '--heads', path('kept.json')])).code).toBe(1);
  });

  test('a trail without heads, where the keys say that there were some, is not what was written; nor is one without keys', async () => {
    const trail = await openTrail(path('unsigned', 'audit'));
    await trail.write(record(1));
    await trail.close();
    expect(await ctl(['audit', 'verify', path('unsigned', 'audit')])).toMatchObject({
      code: 7,
      stderr: expect.stringContaining('--keys'),
    });
    writeFileSync(path('unsigned', 'audit', 'audit-keys.pem'), publicKey.export({ format: 'pem', type: 'spki' }));
    const { code, stdout, stderr } = await ctl(['audit', 'verify', path('unsigned', 'audit')]);
    expect(code).toBe(7);
    expect(JSON.parse(stdout).findings).toContainEqual({ where: 'the trail', problem: expect.stringContaining('no head') });
    expect(stderr).toContain('can have changed them too');
  });

  test('what is no trail, and keys that are none, are named', async () => {
    expect(await ctl(['audit', 'verify', path('nowhere')])).toMatchObject({ code: 1, stderr: expect.stringContaining('not a directory') });
    expect((await ctl(['audit', 'verify', path('audit'), '--keys', path('nowhere')])).code).toBe(1);
  });
});

test('a rotation of the wrapping key says at once what it waits for, and how far it is', async () => {
  const states = ['rewrapping', 'rewrapping', 'rewrapping', 'rewrapping', 'in-use'].map((state, done) => ({
    number: 2,
    state,
    done: Math.min(done, 2),
    total: 2,
    failed: 0,
  }));
  const io = { stderr: new PassThrough(), stdout: new PassThrough(), stdin: new PassThrough(), environment: {} };
  const answers = [states[0], ...states.slice(1).map((state) => ({ tokens: [{ name: 'default', 'wrapping-key': state }] }))];
  const said: string[] = [];
  io.stderr.setEncoding('utf8').on('data', (text: string) => said.push(text));
  const client = { json: () => Promise.resolve(answers.shift()) };
  const end = await rotateWrappingKey(client, { begin: '/begin', watch: '/watch' }, { wait: true }, io);
  expect(end).toMatchObject({ state: 'in-use', done: 2 });
  expect(said.join('').match(/^keystorectl: .{21}/gm)).toEqual([
    'keystorectl: making a new wrapping',
    'keystorectl: rewrapping every key ',
    'keystorectl: every key is rewrappe',
  ]);
});
