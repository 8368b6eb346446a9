// The packages of the clients as people install them: what is in them, and programs that use them, with the checks of their language.
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clientsDirectory } from '../../appliance/clients/provide.ts';
import { packers } from '../../appliance/packaging/clients/pack.ts';
import { type Daemon, startDaemon } from '../harness/daemon.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { ciphertextAndPlaintext, followReadme, identityForAnApplication, readerIn } from './readme.ts';

const directory = temporaryDirectory();
const root = resolve(import.meta.dirname, '../..');
let daemon: Daemon;
let environment: Record<string, string>;
let identity: Record<string, string>;

beforeAll(async () => {
  daemon = await startDaemon({ directory: directory('data') });
  identity = await identityForAnApplication(daemon);
  environment = { KEYSTORED_URL: daemon.url, KEYSTORED_CA: daemon.caPem, KEYSTORED_TOKEN: daemon.rootToken };
});

afterAll(async () => {
  await daemon.stop();
});

describe('npm', () => {
  const project = directory('npm-project');
  const tsc = join(root, 'node_modules/typescript/bin/tsc');

  beforeAll(async () => {
    mkdirSync(project);
    packers.typescript(join(clientsDirectory, 'typescript'), project);
    writeFileSync(join(project, 'package.json'), '{"type":"module","private":true}');
    const [archive = ''] = readdirSync(project).filter((file) => file.endsWith('.tgz'));
    await run('npm', ['install', '--offline', '--no-audit', '--no-fund', `./${archive}`], project);
  });

  test('holds JavaScript, types, licence and README, and nothing else', () => {
    const files = readdirSync(join(project, 'node_modules/keystored-client'), { recursive: true, encoding: 'utf8' });
    expect(files).toEqual(expect.arrayContaining(['dist/index.js', 'dist/index.d.ts', 'LICENSE', 'README.md', 'package.json']));
    expect(files.filter((file) => !/^(?:dist(?:\/.*)?|LICENSE|README\.md|package\.json)$/.test(file))).toEqual([]);
    const manifest = JSON.parse(readFileSync(join(project, 'node_modules/keystored-client/package.json'), 'utf8')) as object;
    expect(manifest).not.toHaveProperty('dependencies');
  });

  test('the project of its README leads to a ciphertext', async () => {
    const at = directory('npm-reader');
    const reader = readerIn(at, daemon.caPem, identity);
    for (const archive of readdirSync(project).filter((file) => file.endsWith('.tgz'))) cpSync(join(project, archive), join(at, archive));
    expect(await followReadme(join(clientsDirectory, 'typescript/README.md'), reader)).toMatch(ciphertextAndPlaintext);
  });

  test('works by fetch where the platform trusts the CA', async () => {
    writeFileSync(join(project, 'ca.pem'), daemon.caPem);
    writeFileSync(
      join(project, 'fetching.js'),
      `import { Client } from 'keystored-client';
       const { KEYSTORED_URL: address, KEYSTORED_TOKEN: token } = process.env;
       console.log((await new Client({ address, credentials: { token } }).random(8)).length);`,
    );
    const trusting = { ...environment, NODE_EXTRA_CA_CERTS: join(project, 'ca.pem') };
    expect((await run(process.execPath, ['fetching.js'], project, trusting)).stdout).toBe('8\n');
  });

  const options = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--target', 'es2022'];
  const modes = [
    ['--module', 'nodenext'],
    ['--module', 'preserve', '--moduleResolution', 'bundler'],
  ];

  test.each(modes)('is typed: %s %s', async (...mode) => {
    writeFileSync(
      join(project, 'right.ts'),
      `import { Client, Problem, type EncryptRequest } from 'keystored-client';
       const client = new Client({ address: 'https://localhost', credentials: { roleId: 'r', secretId: 's' } });
       export async function work(): Promise<string> {
         const request: EncryptRequest = { plaintext: 'aGVsbG8=' };
         try {
           for await (const { name = '' } of client.transitKeys.listEach({ limit: 10 })) await client.transitKeys.rotate(name);
           for await (const result of client.key('orders').signStream([{ data: 'x' }])) if (result.ok) return result.value;
           return (await client.transitKeys.encrypt('orders', request)).ciphertext;
         } catch (error) {
           return error instanceof Problem ? error.code : 'unknown';
         }
       }`,
    );
    expect((await run(process.execPath, [tsc, ...options, ...mode, 'right.ts'], project)).stdout).toBe('');
  });

  test.each([
    ['a name that is misspelt', `client.transitKeys.encrypt('orders', { plaintxt: 'x' });`],
    ['a value of another type', `client.transitKeys.encrypt('orders', { plaintext: 5 });`],
    ['a field that is missing', `client.transitKeys.encrypt('orders', {});`],
    ['a value that is none of the choices', `client.transitKeys.create({ name: 'x', cipher: 'des' });`],
    ['a replacement without what replaces', `client.transitKeys.replace('orders');`],
    ['credentials that are half', `new Client({ address: '', credentials: { roleId: 'r' } });`],
    ['a result that may have failed', `client.key('k').encryptBatch([]).then((all) => all[0]!.value);`],
  ])('refuses to compile %s', async (_, line) => {
    writeFileSync(
      join(project, 'wrong.ts'),
      `import { Client } from 'keystored-client';\ndeclare const client: Client;\n${line}\nexport {};\n`,
    );
    const failed = run(process.execPath, [tsc, ...options, '--module', 'nodenext', 'wrong.ts'], project);
    await expect(failed).rejects.toMatchObject({ stdout: expect.stringMatching(/^wrong\.ts\(3,\d+\): error TS\d+/) as unknown });
  });
});

describe('PyPI', () => {
  const project = directory('python-project');
  const python = join(project, 'venv/bin/python');

  beforeAll(async () => {
    cpSync(join(clientsDirectory, 'python'), directory('python-tree'), { recursive: true });
    mkdirSync(join(project, 'dist'), { recursive: true });
    packers.python(directory('python-tree'), join(project, 'dist'));
    await run('python3', ['-m', 'venv', 'venv', 'tools'], project);
    await run('tools/bin/pip', ['install', '--quiet', 'mypy', 'pyright', 'ruff', 'cryptography'], project);
    const [wheel = ''] = readdirSync(join(project, 'dist')).filter((file) => file.endsWith('.whl'));
    await run(python, ['-m', 'pip', 'install', '--quiet', '--no-index', `dist/${wheel}`], project);
  });

  test('the project of its README leads to a ciphertext', async () => {
    const at = directory('python-reader');
    const reader = readerIn(at, daemon.caPem, identity);
    const [wheel = ''] = readdirSync(join(project, 'dist')).filter((file) => file.endsWith('.whl'));
    cpSync(join(project, 'dist', wheel), join(at, wheel));
    expect(await followReadme(join(clientsDirectory, 'python/README.md'), reader)).toMatch(ciphertextAndPlaintext);
    await reader.run('venv/bin/python -W error first.py');
  });

  const checkers = [
    ['mypy', ['tools/bin/mypy', '--strict', '--python-executable', python]],
    ['pyright', ['tools/bin/pyright', '--pythonpath', python]],
  ] as const;

  test.each(checkers)('is typed for %s', async (_, [command, ...parameters]) => {
    writeFileSync(
      join(project, 'right.py'),
      `from keystored_client import Client, EncryptItem, Problem, Token, models

client = Client("https://localhost", credentials=Token("t"))


def work() -> str:
    try:
        for one in client.transit_keys.list_each(limit=10):
            client.transit_keys.rotate(one.name or "")
        for result in client.key("orders").encrypt_stream([EncryptItem("x")]):
            return result.get()
        return client.transit_keys.encrypt("orders", models.EncryptRequest(plaintext="aGVsbG8=")).ciphertext
    except Problem as problem:
        return problem.code
`,
    );
    await run(command, [...parameters, 'right.py'], project);
    const wrong = [
      'models.EncryptRequest(plaintxt="x")',
      'models.EncryptRequest(plaintext=5)',
      'models.EncryptRequest()',
      'models.TransitKeyCreation(name="x", cipher="des")',
      'client.transit_keys.replace("orders")',
    ];
    for (const line of wrong) {
      writeFileSync(
        join(project, 'wrong.py'),
        `from keystored_client import Client, models\n\nclient = Client("https://localhost")\n${line}\n`,
      );
      const failed = run(command, [...parameters, 'wrong.py'], project);
      await expect(failed, line).rejects.toMatchObject({ stdout: expect.stringMatching(/wrong\.py:4\b.*error/) as unknown });
    }
  });

  test('the sources pass mypy --strict, pyright and ruff', async () => {
    const at = directory('python-tree');
    expect((await run(join(project, 'tools/bin/mypy'), [], at)).stdout).toContain('no issues found');
    expect((await run(join(project, 'tools/bin/pyright'), ['src'], at)).stdout).toContain('0 errors');
    expect((await run(join(project, 'tools/bin/ruff'), ['check', '.'], at)).stdout).toContain('All checks passed');
  });
});

/** Rejects with `stdout` and `stderr` when the program ends with another code than 0. */
function run(
  command: string,
  parameters: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string | undefined>> = {},
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  return promisify(execFile)(command, parameters, { cwd, env: { ...process.env, ...env }, maxBuffer: 16 << 20 });
}
