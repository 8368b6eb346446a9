// OpenBao itself beside this service: its keys and values move here, its command line works with us, and it is sealed by one of our keys.
import { type ChildProcess, spawn } from 'node:child_process';
import { createPublicKey, randomBytes, verify } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ctlFor, type Ctl } from '../appliance/cli/run.ts';
import { requireToolchain } from '../clients/commands.ts';
import { startTestAppliance, type TestAppliance } from '../harness/appliance.ts';
import { endWithTests } from '../harness/children.ts';
import { freePort } from '../harness/daemon.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { commandLine, obtainOpenBao, type OpenBao, startOpenBao } from './vault/openbao.ts';

const at = temporaryDirectory();
const state = '/v1/state/keystore/transit-keys';
const noPython = await requireToolchain('python3').then(
  () => '',
  (error: Error) => ` (${error.message})`,
);
let bao: string;
let there: OpenBao;
let appliance: TestAppliance;
let ctl: Ctl;
let environment: Record<string, string>;

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const ask = async (method: string, path: string, body?: unknown) => (await appliance.request(method, path, body)).body;
const here = (action: string, key: string, body: object) => ask('POST', `${state}/${key}/${action}`, body);
const ofHere = (value: string): string => value.replace(/^vault:/, 'store:');

describe.skipIf(noPython !== '')(`OpenBao${noPython}`, () => {
  beforeAll(async () => {
    bao = await obtainOpenBao();
    there = await startOpenBao(bao, at('openbao'));
    for (const name of ['appliance', 'home', 'line']) mkdirSync(at(name));
    appliance = await startTestAppliance({ directory: at('appliance'), configuration: { vault: { tenants: { system: {} } } } });
    ctl = ctlFor(appliance, readFileSync(at('appliance', 'tls-cert.pem'), 'utf8'), at('home'));
    environment = { VAULT_ADDR: there.url, VAULT_CACERT: there.caFile, VAULT_TOKEN: there.token };
  }, 300_000);
  afterAll(async () => {
    there?.stop();
    await appliance?.close();
  });

  type Row = {
    readonly key: string;
    readonly outcome: string;
    readonly versions: string;
    readonly proven: number;
    readonly reason: string;
  };
  const move = async (
    ...words: readonly string[]
  ): Promise<{ readonly code: number; readonly rows: readonly Row[]; readonly said: string }> => {
    const { code, stdout, stderr } = await ctl(['import', 'vault', ...words], { environment });
    return { code, rows: stdout === '' ? [] : (JSON.parse(stdout) as Row[]), said: stderr };
  };
  const told = ({ rows }: { readonly rows: readonly Row[] }): readonly string[] =>
    rows.map(({ key, outcome, versions, proven }) => `${key} ${outcome} ${versions} ${proven}`);

  const encryptThere = async (key: string, text: string, more: object = {}): Promise<string> =>
    (await there.data('PUT', `transit/encrypt/${key}`, { plaintext: base64(text), ...more })).ciphertext;
  const open = async (key: string, value: string, more: object = {}): Promise<string> => {
    const answer = await here('decrypt', key, { ciphertext: ofHere(value), ...more });
    return answer.plaintext === undefined ? JSON.stringify(answer) : Buffer.from(answer.plaintext, 'base64').toString();
  };

  test.each([
    ['wrapped', []],
    ['clear', ['--in-clear']],
    ['backup', ['--backup']],
  ] as const)('keys of every type leave it %s, and what was made there opens and verifies here', async (way, words) => {
    const types = ['aes128-gcm96', 'aes256-gcm96', 'ed25519', 'ecdsa-p256', 'ecdsa-p384', 'ecdsa-p521', 'rsa-2048', 'rsa-3072'];
    const name = (type: string): string => `${way}-${type}`;
    for (const type of types) {
      await there.data('POST', `transit/keys/${name(type)}`, { type, exportable: true, allow_plaintext_backup: true });
      await there.data('POST', `transit/keys/${name(type)}/rotate`);
    }
    const derived = { derived: true, exportable: true, allow_plaintext_backup: true };
    for (const type of types.slice(0, 2)) {
      await there.data('POST', `transit/keys/${name(`derived-${type}`)}`, { type, ...derived });
      await there.data('POST', `transit/keys/${name(`converges-${type}`)}`, { type, ...derived, convergent_encryption: true });
    }
    const secret = types.slice(0, 2);
    const all = [...types, ...secret.flatMap((type) => [`derived-${type}`, `converges-${type}`])].map(name);
    const report = await move(...words, ...all);
    expect(report.code, JSON.stringify(report)).toBe(0);
    expect(told(report)).toEqual(all.map((key) => (/derived|converges/.test(key) ? `${key} moved 1 1` : `${key} moved 1-2 2`)));

    for (const type of secret) {
      const first = await encryptThere(name(type), 'first', { key_version: 1, associated_data: base64('bound') });
      expect(await open(name(type), first, { 'associated-data': base64('bound') })).toBe('first');
      expect(await open(name(type), await encryptThere(name(type), 'second'))).toBe('second');
      for (const kind of ['derived', 'converges']) {
        const [key, context] = [name(`${kind}-${type}`), 'customer 4711'];
        const value = await encryptThere(key, 'in context', { context: base64(context) });
        expect(await open(key, value, { context })).toBe('in context');
        expect(await open(key, value, { context: 'another' })).toContain('decryption-failed');
        // What is made here opens under our own version of the key, and never with a nonce of Vault's way.
        const made = await here('encrypt', key, { plaintext: base64('in context'), context });
        expect(made.ciphertext).not.toBe(ofHere(value));
        expect(await open(key, made.ciphertext, { context })).toBe('in context');
        const back = await there.data('PUT', `transit/decrypt/${key}`, {
          ciphertext: made.ciphertext.replace('store:', 'vault:'),
          context: base64(context),
        });
        expect(back.plaintext).toBe(base64('in context'));
      }
    }
    for (const type of types.slice(2)) {
      const { signature } = await there.data('PUT', `transit/sign/${name(type)}`, {
        input: base64('text'),
        key_version: 1,
        salt_length: 'hash',
      });
      const options = type.startsWith('rsa') ? { 'signature-algorithm': 'pss' } : {};
      const answer = await here('verify', name(type), { text: base64('text'), signature: ofHere(signature), ...options });
      expect([type, answer.valid]).toEqual([type, true]);
    }
    for (const key of all) {
      const { hmac } = await there.data('PUT', `transit/hmac/${key}/sha2-512`, { input: base64('text'), key_version: 1 });
      const body = { text: base64('text'), hmac: hmac.replace('vault:', 'store:hashed:'), 'hash-algorithm': 'sha512' };
      // The keys of HMACs do not leave wrapped.
      expect([key, (await here('verify', key, body)).valid]).toEqual([key, way !== 'wrapped']);
    }
    const lent = (await there.data('GET', 'transit/keys?list=true')).keys.filter((key: string) => key.startsWith('keystored-import'));
    expect(lent).toEqual([]);
  });

  test('a backup in a file needs no server', async () => {
    const flags = { exportable: true, allow_plaintext_backup: true };
    await there.data('POST', 'transit/keys/filed', { type: 'ecdsa-p384', ...flags });
    await there.data('POST', 'transit/keys/filed-aes', flags);
    await there.data('POST', 'transit/keys/filed-aes/rotate');
    for (const key of ['filed', 'filed-aes']) writeFileSync(at(`${key}.backup`), (await there.data('GET', `transit/backup/${key}`)).backup);
    const away = { VAULT_ADDR: '', VAULT_TOKEN: '' };
    const run = (...words: readonly string[]) => ctl(['import', 'vault', ...words], { environment: away });
    const moved = await run('--backup-file', at('filed.backup'), 'filed=from-file');
    expect([moved.code, JSON.parse(moved.stdout)[0]]).toEqual([
      0,
      { key: 'filed=from-file', outcome: 'moved', versions: '1', proven: 1, reason: '' },
    ]);
    const aes = await run('--backup-file', at('filed-aes.backup'));
    expect(JSON.parse(aes.stdout)[0]).toMatchObject({ key: 'filed-aes', outcome: 'moved', versions: '1-2', proven: 0 });
    expect(await open('filed-aes', await encryptThere('filed-aes', 'x', { key_version: 1 }))).toBe('x');
    writeFileSync(at('broken.backup'), base64('{"policy": {}}'));
    const broken = await run('--backup-file', at('broken.backup'));
    expect([broken.code, broken.stderr]).toEqual([1, expect.stringContaining('this is not the backup of a transit key')]);
  });

  test('what cannot come is left with its reason, and its values move by decryption there and encryption here', async () => {
    await there.data('POST', 'transit/keys/left-hmac', { type: 'hmac', key_size: 64, exportable: true });
    await there.data('POST', 'transit/keys/left-chacha', { type: 'chacha20-poly1305', exportable: true });
    await there.data('POST', 'transit/keys/left-stays', { derived: true });
    await there.data('POST', 'transit/keys/left-ed25519', { type: 'ed25519', derived: true, exportable: true });
    const { code, rows } = await move('left-hmac', 'left-chacha', 'left-stays', 'left-ed25519');
    expect([code, Object.fromEntries(rows.map(({ key, reason }) => [key, reason]))]).toEqual([
      7,
      {
        'left-hmac': expect.stringContaining('it makes HMACs alone'),
        'left-chacha': expect.stringContaining('unsupported-cipher'),
        'left-stays': expect.stringContaining('it is not exportable there'),
        'left-ed25519': expect.stringContaining('it is derived and not an AES key'),
      },
    ]);
    const values: string[] = [];
    for (let number = 0; number < 260; number += 1)
      values.push(await encryptThere('left-stays', `value ${number}`, { context: base64('c') }));
    writeFileSync(at('values'), `${values.join('\n')}\n`);
    await ask('POST', '/v1/config/keystore/transit-keys', { name: 'taken-over', derived: true });
    const words = ['--to', 'taken-over', '--derivation-context', base64('c'), '--in', at('values'), '--out', at('moved')];
    const moved = await ctl(['import', 'vault-values', 'left-stays', ...words], { environment });
    expect(moved).toEqual({ code: 0, stdout: '', stderr: '260 values were moved\n' });
    const lines = readFileSync(at('moved'), 'utf8').trim().split('\n');
    expect(lines).toHaveLength(260);
    for (const number of [0, 199, 200, 259])
      expect(await open('taken-over', lines[number] as string, { context: 'c' })).toBe(`value ${number}`);
  });

  test('its command line works with this service', async () => {
    const line = commandLine(bao, {
      BAO_ADDR: appliance.url,
      BAO_CACERT: at('home', 'ca.pem'),
      BAO_TOKEN: appliance.rootToken,
      BAO_FORMAT: 'json',
      HOME: at('line'),
    });
    const shown = async (...words: readonly string[]) => {
      const { code, stdout, output } = await line(words[0] as string, ...words.slice(1));
      expect(code, output).toBe(0);
      return stdout;
    };
    const json = async (...words: readonly string[]) => JSON.parse(await shown(...words));
    expect(await json('status')).toMatchObject({ initialized: true, sealed: false });
    expect(Object.keys(await json('secrets', 'list'))).toContain('transit/');
    expect((await json('write', 'transit/keys/line', 'exportable=true')).data).toMatchObject({ name: 'line', exportable: true });
    expect((await json('write', 'transit/keys/line/config', 'deletion_allowed=true')).data.deletion_allowed).toBe(true);
    const { data: sealed } = await json('write', 'transit/encrypt/line', `plaintext=${base64('by the command line')}`);
    await shown('write', '-f', 'transit/keys/line/rotate');
    const { data: opened } = await json('write', 'transit/decrypt/line', `ciphertext=${sealed.ciphertext}`);
    expect(Buffer.from(opened.plaintext, 'base64').toString()).toBe('by the command line');
    expect((await json('read', 'transit/keys/line')).data.latest_version).toBe(2);
    expect(await json('list', 'transit/keys')).toContain('line');
    expect((await json('token', 'lookup')).data.id).toBe(appliance.rootToken);
    // Capabilities are what the policies decide here, for root as well.
    expect(await json('token', 'capabilities', 'transit/encrypt/line')).toEqual(['update']);
    const wrapped = await json('write', '-wrap-ttl=60s', 'transit/encrypt/line', `plaintext=${base64('w')}`);
    expect((await json('unwrap', wrapped.wrap_info.token)).data.ciphertext).toMatch(/^vault:v2:/);
    const material = randomBytes(32);
    await shown('transit', 'import', 'transit/keys/line-imported', material.toString('base64'), 'type=aes256-gcm96', 'allow_rotation=true');
    await shown('delete', 'transit/keys/line');
    const gone = await line('read', 'transit/keys/line');
    expect(gone.code, gone.output).toBe(2);
    const refused = await line('write', 'transit/decrypt/line-imported', 'ciphertext=vault:v1:AAAA');
    expect([refused.code, refused.output]).toEqual([2, expect.stringContaining('Code: 400')]);
  });

  describe('as a server with seal "transit"', () => {
    let process_: ChildProcess | undefined;
    let said: string[] = [];
    let [port, clusterPort] = [0, 0];
    let token = '';
    let line: ReturnType<typeof commandLine>;

    const start = (): void => {
      const seal = `seal "transit" {\n  address = "${appliance.url}"\n  token = "${token}"\n  key_name = "seal"\n  mount_path = "transit"\n  tls_ca_cert = "${at('home', 'ca.pem')}"\n}\n`;
      const listener = `listener "tcp" {\n  address = "127.0.0.1:${port}"\n  tls_disable = true\n}\n`;
      const storage = `storage "raft" {\n  path = "${at('sealed', 'data')}"\n  node_id = "one"\n}\n`;
      writeFileSync(
        at('sealed', 'bao.hcl'),
        `${storage}${listener}${seal}api_addr = "http://127.0.0.1:${port}"\ncluster_addr = "https://127.0.0.1:${clusterPort}"\n`,
      );
      said = [];
      const started = spawn(bao, ['server', `-config=${at('sealed', 'bao.hcl')}`], {
        ...{ stdio: ['ignore', 'pipe', 'pipe'], detached: true, env: { PATH: process.env['PATH'], HOME: at('sealed') } },
      });
      endWithTests(started);
      for (const stream of [started.stdout, started.stderr]) stream.on('data', (chunk: Buffer) => said.push(chunk.toString()));
      process_ = started;
    };
    const stop = async (): Promise<void> => {
      const one = process_;
      if (one === undefined || one.exitCode !== null) return;
      const ended = new Promise((done) => one.once('exit', done));
      one.kill('SIGTERM');
      await ended;
    };
    const statusOf = async (): Promise<Record<string, unknown>> => {
      const { stdout } = await line('status', '-format=json');
      return stdout === '' ? {} : (JSON.parse(stdout) as Record<string, unknown>);
    };
    const unsealed = (): Promise<void> =>
      expect.poll(statusOf, { timeout: 60_000, interval: 500 }).toMatchObject({ initialized: true, sealed: false });

    beforeAll(async () => {
      mkdirSync(at('sealed', 'data'), { recursive: true });
      await ask('POST', '/v1/config/keystore/transit-keys', { name: 'seal' });
      const rules = ['encrypt', 'decrypt'].map((act) => ({ path: `${state}/seal/${act}`, operations: { execute: 'allow' } }));
      await ask('POST', '/v1/config/policy/policies', { name: 'seal', 'rest-api': { rules } });
      ({ token } = await ask('POST', '/v1/state/keystore/token/create', { policies: ['seal'], ttl: '1h' }));
      [port, clusterPort] = [await freePort(), await freePort()];
      line = commandLine(bao, { BAO_ADDR: `http://127.0.0.1:${port}`, HOME: at('line') });
    });
    afterAll(stop);

    test('it is initialised, opens by itself after a restart, and after a rotation of our key', async () => {
      start();
      await expect.poll(statusOf, { timeout: 60_000, interval: 500 }).toMatchObject({ initialized: false });
      const made = await line('operator', 'init', '-format=json', '-recovery-shares=1', '-recovery-threshold=1');
      expect(made.code, made.output + said.join('')).toBe(0);
      await unsealed();
      const rootOfIt = (JSON.parse(made.stdout) as { readonly root_token: string }).root_token;
      const asRoot = commandLine(bao, { BAO_ADDR: `http://127.0.0.1:${port}`, BAO_TOKEN: rootOfIt, HOME: at('line') });
      expect((await asRoot('secrets', 'enable', '-version=1', 'kv')).code).toBe(0);
      expect((await asRoot('write', 'kv/a', 'b=c')).code).toBe(0);
      await stop();
      await here('rotate', 'seal', {});
      start();
      await unsealed();
      expect((await asRoot('read', '-field=b', 'kv/a')).stdout.trim()).toBe('c');
      await stop();
      start();
      await unsealed();
      await stop();
    });

    test('with its token ended it does not open, and says why', async () => {
      expect((await appliance.request('POST', '/v1/logout', {}, { token })).status).toBe(204);
      start();
      await expect.poll(() => said.join(''), { timeout: 60_000 }).toMatch(/403|permission denied/);
      expect((await statusOf())['sealed']).not.toBe(false);
    });
  });

  test('a public key of it is that of the key here', async () => {
    await there.data('POST', 'transit/keys/compared', { type: 'ed25519', exportable: true });
    await move('compared');
    const { signature } = await here('sign', 'compared', { text: base64('text') });
    const { keys } = await there.data('GET', 'transit/keys/compared');
    const key = createPublicKey({
      format: 'jwk',
      key: { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(keys['1'].public_key, 'base64').toString('base64url') },
    });
    expect(verify(null, Buffer.from('text'), key, Buffer.from(signature.split(':')[2], 'base64'))).toBe(true);
  });
});
