// The daemon as a user runs it: first start, second start, hard kills, orderly stops, refusals of a start (design run).
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { TokenConfig } from '../../../hsm/api.ts';
import { prepareToken } from '../../../hsm/setup/setup.ts';
import { freePort, isFree, startDaemon, type Daemon } from '../../harness/daemon.ts';
import { makeEmptySoftToken, makeSoftToken, softhsmModule } from '../../harness/token/softhsm.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const root = resolve(import.meta.dirname, '../../..');
const keys = '/v1/config/keystore/transit-keys';
const actions = '/v1/state/keystore/transit-keys';
/** Another appliance of this machine may have the usual ports. */
const [port, estPort] = [await freePort(), await freePort()];
const freePorts = { KEYSTORED_LISTEN: `127.0.0.1:${port}`, KEYSTORED_EST_LISTEN: `127.0.0.1:${estPort}` };

describe('life of the daemon', () => {
  test('what was acknowledged before kill -9 is there after the next start: the same key opens the earlier ciphertext', async () => {
    const directory = path('killed');
    const first = await startDaemon({ directory, workers: 2 });
    await first.request('POST', keys, { name: 'orders' });
    const { ciphertext } = (await first.request('POST', `${actions}/orders/encrypt`, { plaintext: 'aGVsbG8=' })) as { ciphertext: string };
    await first.kill();

    const second = await startDaemon({ directory, workers: 2 });
    expect(second.rootToken).toBe(first.rootToken);
    expect(await second.request('POST', `${actions}/orders/decrypt`, { ciphertext })).toMatchObject({ plaintext: 'aGVsbG8=' });
    expect(await second.stop()).toBe(0);
    expect(second.output()).not.toContain('This appliance is new');
  });

  test('a start that is cut at any moment is finished by the next one', async () => {
    const directory = path('cut');
    for (const afterMs of [80, 160, 240, 320, 480, 640]) {
      const child = startDaemon({ directory, firstStart: true, abandonAfterMs: afterMs });
      await child.then(
        (daemon) => daemon.kill(),
        () => undefined,
      );
    }
    const daemon = await startDaemon({ directory });
    expect(await daemon.request('GET', '/v1/state/keystore/transit-keys')).toEqual([]);
    expect(await daemon.stop()).toBe(0);
  });

  test('the first start names the root token file, and its modes keep others out', async () => {
    const directory = path('modes');
    const daemon = await startDaemon({ directory, firstStart: true });
    expect(daemon.output()).toContain(join(directory, 'root-token'));
    expect(daemon.output()).not.toContain(daemon.rootToken);
    expect(daemon.output()).not.toContain(readFileSync(join(directory, 'pin'), 'utf8'));
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    for (const name of ['pin', 'so-pin', 'root-token', 'store-key.json']) expect(statSync(join(directory, name)).mode & 0o777).toBe(0o600);
    await daemon.stop();
  });

  test('a terminal is shown the root token, by the first start alone', async () => {
    const directory = path('terminal');
    const first = await startOnTerminal(directory);
    expect(first).toContain(readFileSync(join(directory, 'root-token'), 'utf8').trim());
    expect(await startOnTerminal(directory)).not.toContain('root token');
  });

  test('pkcs11-tool sees the appliance keys in the token, and none of them can be read', async () => {
    const directory = path('token');
    const daemon = await startDaemon({ directory });
    await daemon.request('POST', keys, { name: 'resident', cipher: 'ecdsa-p256', custody: 'token' });
    await daemon.stop();
    const listed = spawnSync(
      'pkcs11-tool',
      ['--module', softhsmModule, '--login', '--pin', readFileSync(join(directory, 'pin'), 'utf8').trim(), '--list-objects'],
      { env: { ...process.env, SOFTHSM2_CONF: join(directory, 'softhsm.conf') }, encoding: 'utf8' },
    );
    expect(listed.status, listed.stderr).toBe(0);
    expect(listed.stdout).toContain('keystored-wrapping-key');
    const objects = listed.stdout
      .split(/(?=^(?:Private Key|Secret Key|Public Key|Certificate) Object)/m)
      .filter((text) => /^(Private|Secret) Key/.test(text));
    expect(objects.length).toBeGreaterThanOrEqual(3);
    for (const object of objects) expect(object).toContain('sensitive');
    // A transit key may be made exportable later; the keys that protect all others never.
    const own = objects.filter((object) => /keystored-(wrapping|binding)-key/.test(object));
    expect(own).toHaveLength(2);
    for (const object of own) expect(object).toContain('never extractable');
  });

  test('no file under the data directory holds a token, a payload or key material in clear', async () => {
    const directory = path('clear');
    const daemon = await startDaemon({ directory });
    await daemon.request('POST', keys, { name: 'seen', exportable: true });
    await daemon.request('POST', keys, { name: 'sealed', cipher: 'ecdsa-p256', exportable: true });
    const canary = 'a canary in a plaintext';
    await daemon.request('POST', `${actions}/seen/encrypt`, { plaintext: Buffer.from(canary).toString('base64') });
    const symmetric = (await daemon.request('POST', `${actions}/seen/export`, {})) as { keys: Record<string, string> };
    const asymmetric = (await daemon.request('POST', `${actions}/sealed/export`, {})) as { keys: Record<string, string> };
    await daemon.stop();
    const raw = Buffer.from(symmetric.keys['1'] as string, 'base64');
    const pem = (asymmetric.keys['1'] as string).split('\n').slice(1, 3).join('');
    const needles = [
      canary,
      Buffer.from(canary).toString('base64'),
      raw,
      raw.toString('base64'),
      raw.toString('hex'),
      pem.slice(0, 60),
      'PRIVATE KEY',
      daemon.rootToken,
    ];
    for (const file of filesBelow(directory)) {
      if (file.endsWith('/root-token')) continue;
      const contents = readFileSync(file);
      for (const needle of needles) expect(contents.includes(needle), `${file} holds ${String(needle).slice(0, 20)}`).toBe(false);
    }
  });

  test('SIGTERM lets a running request finish and ends with 0', async () => {
    const daemon = await startDaemon({ directory: path('modes') });
    const headers = { authorization: `Bearer ${daemon.rootToken}`, 'content-type': 'application/json', expect: '100-continue' };
    const slow = request(`${daemon.url}${keys}`, { method: 'POST', ca: daemon.caPem, agent: false, headers });
    const answered = once(slow, 'response');
    slow.flushHeaders();
    // Now the request runs, and waits for its body.
    await once(slow, 'continue');
    const ended = daemon.stop();
    await expect.poll(() => isFree(Number(new URL(daemon.url).port)), { timeout: 60_000 }).toBe(true);
    slow.end(JSON.stringify({ name: 'late' }));
    const [response] = (await answered) as [IncomingMessage];
    response.resume();
    expect(response.statusCode).toBe(201);
    expect(await ended).toBe(0);
  });
});

describe('refusals of a start: one line that names the option and the fix, exit code 1', () => {
  const cases: readonly (readonly [title: string, args: () => readonly string[], message: RegExp, environment?: Record<string, string>])[] =
    [
      ['an unknown option', () => ['--port', '1'], /unknown option --port/],
      ['an address that is none', () => ['--listen', 'nowhere'], /--listen: .*HOST:PORT/],
      ['a wrong number of workers from the environment', () => [], /KEYSTORED_WORKERS: /, { KEYSTORED_WORKERS: 'many' }],
      ['a configuration file that is not there', () => ['--config', path('absent.yaml')], /--config .*absent\.yaml cannot be read/],
      [
        'an unknown key in the file',
        () => ['--config', yaml('unknown', 'listen: 127.0.0.1:4646\nworkerz: 3\n')],
        /unknown\.yaml line 2: "workerz"/,
      ],
      [
        'a module that is not there',
        () => [
          '--config',
          yaml('module', 'hsm:\n  tokens:\n    - { name: a, module: /absent.so, label: x, pin: { file: /etc/hostname } }\n'),
        ],
        /\/absent\.so cannot be loaded: .*: correct hsm\/tokens in the configuration/,
      ],
      [
        'a token label that no slot has',
        () => [
          '--config',
          yaml('label', `hsm:\n  tokens:\n    - { name: a, module: ${softhsmModule}, label: nobody, pin: { file: /etc/hostname } }\n`),
        ],
        /nobody.*: correct hsm\/tokens in the configuration/,
      ],
      ['a data directory that cannot be made', () => ['--data', '/proc/keystored'], /--data \/proc\/keystored cannot be written/],
    ];

  test.for(cases)('%s', ([, args, message, environment]) => {
    const { status, stderr } = startAndEnd(args(), environment);
    expect(stderr.trim().split('\n').at(-1)).toMatch(message);
    expect(stderr).not.toMatch(/\n\s+at /);
    expect(status).toBe(1);
  });

  test('a taken port', async () => {
    const server = createServer();
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port: taken } = server.address() as { port: number };
    const { status, stderr } = startAndEnd(['--data', path('taken'), '--listen', `127.0.0.1:${taken}`]);
    server.close();
    expect(readdirSync(path('taken'))).toEqual([]);
    expect(stderr.trim().split('\n').at(-1)).toMatch(new RegExp(`--listen 127\\.0\\.0\\.1:${taken} is taken`));
    expect(status).toBe(1);
  });

  test('one port for both listeners', async () => {
    const shared = await freePort();
    const addresses = ['--listen', `127.0.0.1:${shared}`, '--est-listen', `0.0.0.0:${shared}`];
    const { status, stderr } = startAndEnd(['--data', path('shared'), ...addresses]);
    expect(readdirSync(path('shared'))).toEqual([]);
    expect(stderr.trim()).toMatch(new RegExp(`^keystored: --est-listen 0\\.0\\.0\\.0:${shared} is taken .*other listener: .*$`));
    expect(status).toBe(1);
  });

  test('a wrong PIN, tried once only', async () => {
    const directory = path('wrong-pin');
    const daemon = await startDaemon({ directory });
    await daemon.stop();
    writeFileSync(join(directory, 'pin'), 'not-the-pin');
    const { status, stderr } = startAndEnd(['--data', directory]);
    expect(stderr.trim().split('\n').at(-1)).toMatch(/refused the PIN.*: correct the PIN/);
    expect(status).toBe(1);
  });

  test('another token than the one the directory was made with: it is named, and nothing is made, in it or beside', async () => {
    const directory = path('own-token');
    const [own, prepared, empty] = [
      await makeSoftToken(path('own')),
      await makeSoftToken(path('other')),
      await makeEmptySoftToken(path('empty')),
    ];
    const configured = (token: TokenConfig): readonly string[] => ['--config', yaml('token', JSON.stringify({ hsm: { tokens: [token] } }))];
    const daemon = await startDaemon({ directory, args: configured(own) });
    expect(await daemon.stop()).toBe(0);
    const before = readdirSync(directory);
    const refusals = [
      [
        undefined,
        /\/own-token was made with a token that is not in .*\/softhsm: name it under hsm\.tokens in the configuration \(--config\)/,
      ],
      [prepared, /does not open: .*; name under hsm\.tokens, as main, the token that .*\/own-token was made with \(--config\)/],
      [{ ...own, name: 'renamed' }, /does not open: .*"main".*; name under hsm\.tokens, as main, the token/],
      [empty, /it was not prepared for this service: correct hsm\/tokens/],
    ] as const;
    for (const [token, message] of refusals) {
      const { status, stderr } = startAndEnd(['--data', directory, ...(token === undefined ? [] : configured(token))]);
      expect(stderr.trim().split('\n').at(-1)).toMatch(message);
      expect([status, readdirSync(directory)]).toEqual([1, before]);
    }
    expect(await prepareToken(empty)).toHaveLength(2);
  });

  test('a directory another appliance holds', async () => {
    const directory = path('held');
    const daemon: Daemon = await startDaemon({ directory });
    const { status, stderr } = startAndEnd(['--data', directory, '--listen', '127.0.0.1:1']);
    expect(stderr).toMatch(/^keystored: --data \S+ is held by another running keystored: .*\n$/);
    expect(status).toBe(1);
    // keystorectl reads the variable as well, so it may be set for another purpose.
    const byVariable = startAndEnd(['--listen', '127.0.0.1:1'], { KEYSTORED_DATA: directory });
    expect(byVariable.stderr).toMatch(/^keystored: KEYSTORED_DATA \S+ is held by another running keystored: .* with --data, which wins\n$/);
    await daemon.stop();
  });
});

/** Starts the daemon on a pseudo-terminal, waits until it is ready, presses Ctrl-C; what was shown. */
async function startOnTerminal(directory: string): Promise<string> {
  const command = `exec ${process.execPath} ${join(root, 'appliance/keystored.ts')} --workers 1 --data ${directory}`;
  const env = { NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/compile'), ...process.env, ...freePorts };
  const child = spawn('script', ['-qec', command, '/dev/null'], { cwd: root, env });
  let shown = '';
  let pressed = false;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
    if (!pressed && shown.includes('ready https://')) pressed = child.stdin.write('\x03');
  });
  const [code] = (await once(child, 'close')) as [number | null];
  expect(code, shown).toBe(0);
  return shown;
}

function startAndEnd(args: readonly string[], environment: Record<string, string> = {}): { status: number | null; stderr: string } {
  const own = args.includes('--data') || environment['KEYSTORED_DATA'] !== undefined ? [] : ['--data', path('refused')];
  return spawnSync(
    process.execPath,
    [join(root, 'appliance/keystored.ts'), '--workers', '1', ...own, ...args].filter(
      (arg, index, all) => !(environment['KEYSTORED_WORKERS'] && (arg === '--workers' || all[index - 1] === '--workers')),
    ),
    {
      cwd: root,
      encoding: 'utf8',
      timeout: 120_000,
      env: { ...process.env, ...freePorts, ...environment },
    },
  );
}

function yaml(name: string, text: string): string {
  writeFileSync(path(`${name}.yaml`), text);
  return path(`${name}.yaml`);
}

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
