// Files that tools and keystorectl itself write are read for what they are: octets, base64 with a line end, a whole answer.
import { createDecipheriv, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { ctlFor, type Ctl } from './run.ts';
import { startWholeAppliance } from './whole-appliance.ts';

const path = temporaryDirectory();
let appliance: TestAppliance;
let ctl: Ctl;
let made = 0;

beforeAll(async () => {
  for (const name of ['appliance', 'home']) mkdirSync(path(name));
  appliance = await startWholeAppliance(path('appliance'));
  ctl = ctlFor(appliance, readFileSync(path('appliance', 'tls-cert.pem'), 'utf8'), path('home'));
});
afterAll(() => appliance.close());

function file(content: string | Uint8Array): string {
  const name = path(`file-${(made += 1)}`);
  writeFileSync(name, content);
  return name;
}

async function newKey(...more: readonly string[]): Promise<string> {
  const name = `key-${(made += 1)}`;
  await ctl.json('create', 'transit-keys', name, ...more);
  return name;
}

/** What opens with a key outside is what the imported one has sealed. */
async function expectKey(name: string, key: Uint8Array): Promise<void> {
  const { ciphertext } = await ctl.json('do', 'transit-keys', name, 'encrypt', '--plaintext', 'aGVsbG8=');
  const octets = Buffer.from(ciphertext.split(':')[2], 'base64');
  const opened = createDecipheriv(`aes-${(key.length * 8) as 128 | 256}-gcm`, key, octets.subarray(0, 12));
  opened.setAuthTag(octets.subarray(-16));
  expect(opened.update(octets.subarray(12, -16)).toString()).toBe('hello');
}

describe('a symmetric key is imported from', () => {
  const printable = Buffer.from('0123456789abcdef0123456789abcdef');
  const short = Buffer.from('0123456789abcdef');
  test.each<[string, Buffer, string | Uint8Array, string?]>([
    ['its octets', Buffer.alloc(32, 0xe7), Buffer.alloc(32, 0xe7)],
    ['base64', printable, printable.toString('base64')],
    ['base64 with a line end', printable, `${printable.toString('base64')}\n`],
    ['base64 with a line end of DOS', printable, `${printable.toString('base64')}\r\n`],
    ['printable octets of a key of 128 bits', short, short, 'aes128-gcm96'],
    ['base64 of a key of 128 bits', short, `${short.toString('base64')}\n`, 'aes128-gcm96'],
    ['octets that are text, with a space', Buffer.from('0123456789 bcdef0123456789 bcdef'), '0123456789 bcdef0123456789 bcdef'],
  ])('%s', async (_, key, content, cipher = 'aes256-gcm96') => {
    for (const option of [
      ['--in', file(content)],
      ['--data', `@${file(content)}`],
    ]) {
      const name = await newKey('--cipher', cipher);
      await ctl.json('do', 'transit-keys', name, 'import', ...option);
      await expectKey(name, key);
    }
  });

  test('no file that may be a key of 32 octets or base64 of one of 24', async () => {
    const name = await newKey('--cipher', 'aes192-gcm96');
    const run = await ctl(['do', 'transit-keys', name, 'import', '--in', file(printable)]);
    expect(run).toMatchObject({ code: 1, stderr: expect.stringContaining('may be a key of 32 octets or base64 of one') });
    expect(await ctl.json('show', 'transit-keys', name)).toMatchObject({ 'latest-version': 1 });
    const base64 = Buffer.alloc(24, 7).toString('base64');
    await ctl.json('do', 'transit-keys', name, 'import', '--in', file(`${base64}\n`));
  });
});

describe('a backup is restored from', () => {
  test.each<[string, (name: string) => Promise<string[]>]>([
    [
      'what --value has printed',
      async (name) => ['--in', file((await ctl(['do', 'transit-keys', name, 'backup', '--value', 'key'])).stdout)],
    ],
    ['the same with a line end', async (name) => ['--in', file(`${(await ctl.json('do', 'transit-keys', name, 'backup')).key}\n`)]],
    ['--key @FILE', async (name) => ['--key', `@${file(`${(await ctl.json('do', 'transit-keys', name, 'backup')).key}\n`)}`]],
    [
      'what --out has written',
      async (name) => {
        const out = path(`out-${(made += 1)}`);
        await ctl.json('do', 'transit-keys', name, 'backup', '--out', out);
        return ['--in', out];
      },
    ],
    ['a whole answer', async (name) => ['--file', file((await ctl(['do', 'transit-keys', name, 'backup'])).stdout)]],
    [
      'a whole answer in YAML',
      async (name) => ['--file', file((await ctl(['do', 'transit-keys', name, 'backup', '--output', 'yaml'])).stdout)],
    ],
  ])('%s', async (_, words) => {
    const name = await newKey('--allow-plaintext-backup');
    const { ciphertext } = await ctl.json('do', 'transit-keys', name, 'encrypt', '--plaintext', 'aGVsbG8=');
    const other = await newKey();
    await ctl.json('do', 'transit-keys', other, 'restore', ...(await words(name)));
    expect(await ctl.json('do', 'transit-keys', other, 'decrypt', '--ciphertext', ciphertext)).toMatchObject({ plaintext: 'aGVsbG8=' });
  });
});

test('what an action has answered is the document of the next one', async () => {
  const name = await newKey();
  const answer = await ctl(['do', 'transit-keys', name, 'encrypt', '--plaintext', 'aGVsbG8=']);
  expect(await ctl.json('do', 'transit-keys', name, 'decrypt', '--file', file(answer.stdout))).toMatchObject({ plaintext: 'aGVsbG8=' });
  const misspelt = JSON.stringify({ ...JSON.parse(answer.stdout), contxt: 'a' });
  expect(await ctl(['do', 'transit-keys', name, 'decrypt', '--file', file(misspelt)])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('contxt'),
  });
});

test('a wrapped key is read as octets and as base64 of them: both reach the appliance as the same', async () => {
  const name = await newKey();
  const wrapped = randomBytes(512);
  for (const content of [wrapped, wrapped.toString('base64'), `${wrapped.toString('base64')}\n`]) {
    const run = await ctl(['do', 'transit-keys', name, 'import', '--ciphertext', `@${file(content)}`]);
    expect(run).toMatchObject({ code: 2, stderr: expect.stringContaining('invalid-key-data') });
    expect(run.stderr).not.toContain('base64');
  }
});
