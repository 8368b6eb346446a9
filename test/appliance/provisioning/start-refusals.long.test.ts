// Refusals of a start: what each says, and that it changes nothing (design run).
import { spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { TokenConfig } from '../../../hsm/api.ts';
import { prepareToken } from '../../../hsm/setup/setup.ts';
import { freePort, startDaemon, type Daemon } from '../../harness/daemon.ts';
import { makeEmptySoftToken, makeSoftToken, softhsmModule } from '../../harness/token/softhsm.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { serviceUnderTest } from '../../harness/service-program.ts';

const path = temporaryDirectory();
const root = resolve(import.meta.dirname, '../../..');
const program = await serviceUnderTest();
/** Another appliance of this machine may have the usual ports. */
const [port, estPort] = [await freePort(), await freePort()];
const freePorts = { KEYSTORED_LISTEN: `127.0.0.1:${port}`, KEYSTORED_EST_LISTEN: `127.0.0.1:${estPort}` };

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
    expect(readdirSync(path('taken'))).toEqual(['lock']);
    expect(stderr.trim().split('\n').at(-1)).toMatch(new RegExp(`--listen 127\\.0\\.0\\.1:${taken} is taken`));
    expect(status).toBe(1);
  });

  test('one port for both listeners', async () => {
    const shared = await freePort();
    const addresses = ['--listen', `127.0.0.1:${shared}`, '--est-listen', `0.0.0.0:${shared}`];
    const { status, stderr } = startAndEnd(['--data', path('shared'), ...addresses]);
    expect(readdirSync(path('shared'))).toEqual(['lock']);
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
      await makeEmptySoftToken(path('other')),
      await makeEmptySoftToken(path('empty')),
    ];
    await prepareToken(prepared);
    const configured = (token: TokenConfig): readonly string[] => ['--config', yaml('token', JSON.stringify({ hsm: { tokens: [token] } }))];
    const daemon = await startDaemon({ directory, args: configured(own) });
    expect(await daemon.stop()).toBe(0);
    const before = readdirSync(directory);
    const refusals = [
      [
        undefined,
        /\/own-token\/softhsm is missing \(a token of your own is named under hsm\.tokens of the configuration, --config\), and /,
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

function startAndEnd(args: readonly string[], environment: Record<string, string> = {}): { status: number | null; stderr: string } {
  const own = args.includes('--data') || environment['KEYSTORED_DATA'] !== undefined ? [] : ['--data', path('refused')];
  return spawnSync(
    process.execPath,
    [program, '--workers', '1', ...own, ...args].filter(
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
