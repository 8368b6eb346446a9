// What a command writes to is opened before anything is asked; what was made and could not be told is named.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { endWithTests } from '../../harness/children.ts';
import type { TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { ctlFor, type Ctl } from './run.ts';
import { startWholeAppliance } from './whole-appliance.ts';

const path = temporaryDirectory();
let appliance: TestAppliance;
let ctl: Ctl;

beforeAll(async () => {
  mkdirSync(path('appliance'));
  mkdirSync(path('home'));
  appliance = await startWholeAppliance(path('appliance'));
  ctl = ctlFor(appliance, readFileSync(path('appliance', 'tls-cert.pem'), 'utf8'), path('home'));
  await ctl.json('create', 'approles', 'shop', '--token-policies', 'default');
});
afterAll(() => appliance.close());

const secretIds = async (): Promise<number> => (await ctl.json('show', 'approles-secret-ids', 'shop')).length;

describe('a secret-id is not made', () => {
  let before = 0;
  beforeEach(async () => {
    before = await secretIds();
  });

  test.each([
    ['a folder that is not there', path('absent', 'x'), 'ENOENT'],
    ['a folder', path('home'), 'EISDIR'],
    ['a file in the place of a folder', path('home', 'ca.pem', 'x'), 'ENOTDIR'],
  ])('for --out in %s', async (_, out, code) => {
    const run = await ctl(['do', 'approles', 'shop', 'generate-secret-id', '--out', out]);
    expect(run).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(`${out} cannot be written (${code})`) });
    expect(run.stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(await secretIds()).toBe(before);
  });

  test('when the request is refused, and the file that was there stays', async () => {
    writeFileSync(path('kept'), 'what was there');
    expect((await ctl(['do', 'approles', 'absent', 'generate-secret-id', '--out', path('kept')])).code).toBe(4);
    expect(readFileSync(path('kept'), 'utf8')).toBe('what was there');
    expect(readdirSync(path()).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });
});

/** keystorectl as a process whose standard output is the file descriptor of a shell redirection. */
async function shell(line: string): Promise<{ readonly code: number | null; readonly stderr: string }> {
  const child = spawn(
    'bash',
    ['-c', `set -o pipefail; keystorectl() { "${process.execPath}" appliance/cli/keystorectl.ts "$@"; }; ${line}`],
    {
      env: {
        ...process.env,
        HOME: path('home'),
        KEYSTORED_URL: appliance.url,
        KEYSTORED_CA: path('home', 'ca.pem'),
        KEYSTORED_TOKEN: appliance.rootToken,
      },
      stdio: ['ignore', 'ignore', 'pipe'],
      detached: true,
    },
  );
  endWithTests(child);
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stderr };
}

describe('when standard output fails', () => {
  test('after a change, one line names what was made, and the exit code says that it was done', async () => {
    const before = await secretIds();
    const { code, stderr } = await shell('keystorectl do approles shop generate-secret-id > /dev/full');
    expect(code).toBe(9);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    const accessor = /accessor ([0-9a-f-]{36})/.exec(stderr)?.[1] ?? '';
    const made: readonly { accessor: string }[] = await ctl.json('show', 'approles-secret-ids', 'shop');
    expect(made).toHaveLength(before + 1);
    expect(made.map((one) => one.accessor)).toContain(accessor);
  });

  test('--out /dev/full says the same', async () => {
    const { code, stderr } = await shell('keystorectl do approles shop generate-secret-id --out /dev/full');
    expect({ code, stderr }).toMatchObject({
      code: 9,
      stderr: expect.stringMatching(/^keystorectl: \/dev\/full cannot be written \(ENOSPC\).*accessor/),
    });
  });

  test('after a read, nothing was done', async () => {
    const { code, stderr } = await shell('keystorectl list policies > /dev/full');
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'keystorectl: standard output cannot be written (ENOSPC)\n' });
  });

  test('a reader that has seen enough of a read is no failure', async () => {
    expect(await shell('keystorectl list policies | head -c 1 > /dev/null')).toEqual({ code: 0, stderr: '' });
  });

  test('apply says what was done before and what was not', async () => {
    const documents = ['one', 'two'].map((name) => `resource: transit-keys\nname: undelivered-${name}\nconfig: {}\n`);
    writeFileSync(path('documents.yaml'), documents.join('---\n'));
    const { code, stderr } = await shell(`keystorectl apply --yes -f ${path('documents.yaml')} > /dev/full`);
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('standard output cannot be written (ENOSPC)') });
    expect((await ctl(['show', 'transit-keys', 'undelivered-one'])).code).toBe(4);
  });

  test('help that nobody can read is a failure without a stack', async () => {
    expect(await shell('keystorectl --help > /dev/full')).toEqual({
      code: 1,
      stderr: 'keystorectl: standard output cannot be written (ENOSPC)\n',
    });
  });
});

test('a login whose token cannot be kept makes none', async () => {
  const { 'role-id': roleId } = await ctl.json('show', 'approles', 'shop');
  await ctl(['do', 'approles', 'shop', 'generate-secret-id', '--out', path('secret-id')]);
  const tokens = async (): Promise<number> => (await ctl.json('list', 'tokens')).length;
  const before = await tokens();
  const words = ['login', 'approle', '--role-id', roleId, '--secret-id', `@${path('secret-id')}`];
  const profile = path('home', 'ca.pem', 'profile.yaml');
  const run = await ctl(words, { environment: { KEYSTORED_PROFILE: profile } });
  expect(run).toMatchObject({ code: 1, stderr: expect.stringContaining(`${profile} cannot be written (EEXIST)`) });
  expect(await tokens()).toBe(before);
  expect(existsSync(path('secret-id'))).toBe(true);
});

test('edit where no file can be made says so before it reads', async () => {
  const run = await shell(`TMPDIR=${path('nowhere')} keystorectl edit approles shop`);
  expect(run).toEqual({ code: 1, stderr: `keystorectl: ${path('nowhere')} cannot be written (ENOENT)\n` });
});
