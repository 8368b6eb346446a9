// Every command block of README.md and the documentation runs against a real appliance, top to bottom, as a reader would run it.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDaemon, type Daemon } from '../../harness/daemon.ts';
import { commandsOf, walkOf } from '../../harness/markdown.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const root = resolve(import.meta.dirname, '../../..');
const path = temporaryDirectory();
const documents = [
  'README.md',
  ...readdirSync(join(root, 'appliance/docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `appliance/docs/${name}`),
];

const onlyPem = /^(?:-----BEGIN [A-Z ]+-----\r?\n[A-Za-z0-9+/=\r\n]+-----END [A-Z ]+-----\r?\n)+$/;

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon({ directory: path('data') });
});
afterAll(async () => {
  await daemon?.stop();
});

/** The blocks as one script in a working directory with `data` and `appliance`, as in a clone. */
async function runAsReader(document: string): Promise<{
  readonly code: number | null;
  readonly output: string;
  /** files that git would show in the clone */
  readonly untracked: readonly string[];
  /** files with the name of PEM and other lines in between, which some programs do not read */
  readonly unclean: readonly string[];
}> {
  const home = mkdtempSync(join(tmpdir(), 'ks-'));
  symlinkSync(path('data'), join(home, 'data'));
  symlinkSync(join(root, 'appliance'), join(home, 'appliance'));
  const environment = {
    PATH: `${join(root, 'appliance')}:${process.env['PATH']}`,
    HOME: home,
    XDG_CACHE_HOME: path('cache'),
    KEYSTORED_URL: daemon.url,
    LC_ALL: 'C.UTF-8',
  };
  const child = spawn('bash', ['-c', walkOf(join(root, document), daemon)], {
    cwd: home,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => output.push(chunk.toString()));
  const code = await new Promise<number | null>((done) => child.once('close', done));
  spawnSync('gpgconf', ['--kill', 'all'], { env: environment });
  // The folder of the user is the clone here: what begins with a dot is of the user.
  const left = readdirSync(home).filter((name) => !['appliance', 'data'].includes(name) && !name.startsWith('.'));
  const texts = globSync('{,tour/}*.pem', { cwd: home }).filter((name) => !onlyPem.test(readFileSync(join(home, name), 'latin1')));
  rmSync(home, { recursive: true, force: true });
  const { stdout } = spawnSync('git', ['check-ignore', '--no-index', '--stdin'], {
    cwd: root,
    input: left.flatMap((name) => [name, `${name}/`]).join('\n'),
  });
  const ignored = new Set(stdout.toString().split('\n'));
  return {
    code,
    output: output.join(''),
    untracked: left.filter((name) => !ignored.has(name) && !ignored.has(`${name}/`)),
    unclean: texts,
  };
}

test.for(documents.filter((document) => commandsOf(join(root, document)).length > 0))(
  '%s does what it says',
  async (document, { skip }) => {
    const missing = ['gpg', 'openssl', 'curl'].filter((tool) => usesTool(document, tool) && spawnSync('which', [tool]).status !== 0);
    if (missing.length > 0) skip(`${missing.join(', ')} not installed`);
    const { code, output, untracked, unclean } = await runAsReader(document);
    expect(code, output).toBe(0);
    // Among what a reader makes there are secrets, and a clone is where people commit all that is new.
    expect(isOfClone(document) ? untracked : []).toEqual([]);
    expect(unclean).toEqual([]);
  },
);

/** The page about the appliance as a machine is read elsewhere. */
function isOfClone(document: string): boolean {
  return !document.endsWith('/os.md');
}

test('every action of the API is documented', async () => {
  const { paths } = (await daemon.request('GET', '/v1/openapi.json')) as {
    paths: Record<string, Record<string, { 'x-command'?: { verb: string; action?: string } }>>;
  };
  const text = documents.map((document) => readFileSync(join(root, document), 'utf8')).join('\n');
  const actions = Object.values(paths).flatMap((methods) =>
    Object.values(methods).flatMap((operation) => operation['x-command']?.action ?? []),
  );
  expect(actions.filter((action) => !new RegExp(`(?:/|, |\`|and \`)${action}\\b`).test(text))).toEqual([]);
});

test('links between the documents lead somewhere', () => {
  const broken = documents.flatMap((document) => {
    const links = [...readFileSync(join(root, document), 'utf8').matchAll(/\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)/g)].map(
      (match) => match[1] ?? '',
    );
    const folder = resolve(root, document, '..');
    return links.filter((link) => !existsSync(resolve(folder, link))).map((link) => `${document}: ${link}`);
  });
  expect(broken).toEqual([]);
});

function usesTool(document: string, tool: string): boolean {
  return commandsOf(join(root, document)).some(({ text }) => new RegExp(`(^|[|(&;]|\\s)${tool} `, 'm').test(text));
}
