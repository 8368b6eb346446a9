// Files of age, and of SOPS, whose recipient is a key of the appliance: encrypted without it, opened through it by age-plugin-keystored.
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { toolDirectory } from '../clients/commands.ts';
import { type Daemon, startDaemon } from '../harness/daemon.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

const at = temporaryDirectory();
const sops = join(toolDirectory('vault-programs'), 'sops-v3.13.3');
const noSops = existsSync(sops) ? '' : ' (not built: VAULT_PROGRAMS=build npm test -- interop vault-programs builds it)';
let daemon: Daemon;
let environment: Record<string, string>;
let recipient: string;

beforeAll(async () => {
  daemon = await startDaemon({ directory: at('data') });
  for (const name of ['bin', 'home']) mkdirSync(at(name));
  writeFileSync(at('ca.pem'), daemon.caPem);
  await daemon.request('POST', '/v1/config/keystore/transit-keys', { name: 'archive', cipher: 'x25519' });
  const state = '/v1/state/keystore/transit-keys/archive';
  const rules = [
    { path: state, operations: { read: 'allow' } },
    { path: `${state}/decrypt`, operations: { execute: 'allow' } },
  ];
  await daemon.request('POST', '/v1/config/policy/policies', { name: 'archive', 'rest-api': { rules } });
  const made = await daemon.request('POST', '/v1/state/keystore/token/create', { policies: ['archive'], ttl: '1h' });
  const { token } = made as { readonly token: string };
  const plugin = at('bin', 'age-plugin-keystored');
  writeFileSync(plugin, `#!/bin/sh\nexec ${process.execPath} ${resolve('appliance/cli/keystorectl.ts')} age-plugin "$@"\n`);
  chmodSync(plugin, 0o755);
  const connection = { KEYSTORED_URL: daemon.url, KEYSTORED_CA: at('ca.pem'), KEYSTORED_TOKEN: token };
  environment = { ...connection, HOME: at('home'), PATH: `${at('bin')}:${process.env['PATH']}` };
  const shown = execFileSync(plugin, ['archive'], { env: environment, encoding: 'utf8' });
  writeFileSync(at('identity.txt'), shown);
  recipient = /age1\w+/.exec(shown)?.[0] ?? '';
});
afterAll(() => daemon?.stop());

function run(program: string, ...words: readonly string[]): { code: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(program, words, { env: environment, encoding: 'utf8', timeout: 60_000 });
  return { code: status, stdout, stderr };
}

test('age encrypts to the recipient by itself, and opens through the appliance, beside other recipients', () => {
  execFileSync('age-keygen', ['-o', at('other.txt')], { stdio: 'ignore' });
  const other = execFileSync('age-keygen', ['-y', at('other.txt')], { encoding: 'utf8' }).trim();
  writeFileSync(at('plain'), 'a backup of everything\n');
  expect(run('age', '-r', other, '-r', recipient, '-o', at('sealed'), at('plain')).code).toBe(0);
  expect(run('age', '-d', '-i', at('identity.txt'), at('sealed'))).toMatchObject({ code: 0, stdout: 'a backup of everything\n' });
  expect(run('age', '-r', other, '-o', at('foreign'), at('plain')).code).toBe(0);
  expect(run('age', '-d', '-i', at('identity.txt'), at('foreign'))).toMatchObject({ code: 1, stdout: '' });
});

test('a disabled key opens nothing, and age shows why', async () => {
  await daemon.request('PATCH', '/v1/config/keystore/transit-keys/archive', { disabled: true });
  const { code, stderr } = run('age', '-d', '-i', at('identity.txt'), at('sealed'));
  expect(code).toBe(1);
  expect(stderr).toContain('disabled');
  await daemon.request('PATCH', '/v1/config/keystore/transit-keys/archive', { disabled: false });
  expect(run('age', '-d', '-i', at('identity.txt'), at('sealed')).code).toBe(0);
});

test.skipIf(noSops !== '')(`SOPS encrypts to the recipient, and opens through the appliance${noSops}`, () => {
  const file = at('secret.yaml');
  writeFileSync(file, 'password: swordfish\n');
  expect(run(sops, 'encrypt', '--age', recipient, '--in-place', file)).toMatchObject({ code: 0 });
  expect(readFileSync(file, 'utf8')).not.toContain('swordfish');
  environment = { ...environment, SOPS_AGE_KEY_FILE: at('identity.txt') };
  expect(run(sops, 'decrypt', file)).toMatchObject({ code: 0, stdout: 'password: swordfish\n' });
});
