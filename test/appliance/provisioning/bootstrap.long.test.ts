// An appliance whose files nobody sees: a credential for one login, in memory, until somebody claims it.
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { BootstrapCredential } from '../../../appliance/provisioning/bootstrap.ts';
import { startDaemon, type Daemon } from '../../harness/daemon.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const credentialFile = path('bootstrap');
const config = path('keystored.yaml');
writeFileSync(config, `bootstrap-file: ${credentialFile}\n`);

const start = (name: string): Promise<Daemon> =>
  startDaemon({ directory: path(name), args: ['--config', config], rootToken: 'there is none' });

function readCredential(): Pick<BootstrapCredential, 'role-id' | 'secret-id'> {
  const { expires: _expires, ...credential } = JSON.parse(readFileSync(credentialFile, 'utf8')) as BootstrapCredential;
  return credential;
}

const tokenOf = ({ body }: { body: unknown }): string => (body as { token: string }).token;
const gone = (): Promise<unknown> => expect.poll(() => existsSync(credentialFile), { timeout: 60_000, interval: 100 }).toBe(false);

test('one login makes the root token, once; then approle, session and file are gone, also after a restart', async () => {
  const first = await start('claimed');
  expect(existsSync(join(path('claimed'), 'root-token'))).toBe(false);
  expect(statSync(credentialFile).mode & 0o777).toBe(0o600);
  const credential = readCredential();
  const login = await first.exchange('POST', '/v1/approle-login', credential);
  expect(login.status).toBe(200);
  expect((await first.exchange('POST', '/v1/approle-login', credential)).status).toBe(401);
  const session = tokenOf(login);
  const made = await first.exchange('POST', '/v1/state/keystore/token/create-root', { name: 'system' }, session);
  expect(made.status).toBe(200);
  const root = tokenOf(made);
  await gone();
  expect(await first.request('GET', '/v1/config/keystore/authentication/approles', undefined, root)).toEqual([]);
  expect((await first.exchange('GET', '/v1/config/tenants', undefined, session)).status).toBe(401);
  expect(await first.stop()).toBe(0);

  const again = await start('claimed');
  expect(existsSync(credentialFile)).toBe(false);
  expect((await again.exchange('GET', '/v1/config/tenants', undefined, root)).status).toBe(200);
  expect(await again.stop()).toBe(0);
});

test('a start of an unclaimed appliance gives a new credential and ends the one before; deleting the approle claims it as well', async () => {
  const first = await start('unclaimed');
  const before = readCredential();
  await first.kill();

  const second = await start('unclaimed');
  const now = readCredential();
  expect(now).not.toEqual(before);
  expect((await second.exchange('POST', '/v1/approle-login', before)).status).toBe(401);
  const login = await second.exchange('POST', '/v1/approle-login', now);
  expect(login.status).toBe(200);
  await gone();
  expect((await second.exchange('DELETE', '/v1/config/keystore/authentication/approles/bootstrap', undefined, tokenOf(login))).status).toBe(
    204,
  );
  expect(await second.stop()).toBe(0);

  const third = await start('unclaimed');
  expect(existsSync(credentialFile)).toBe(false);
  expect(await third.stop()).toBe(0);
});

test('with the root token of system every credential and session of the claim ends at once, in every worker', async () => {
  const two = (): Promise<Daemon> =>
    startDaemon({ directory: path('at-once'), workers: 2, args: ['--config', config], rootToken: 'there is none' });
  const before = await two();
  const session = tokenOf(await before.exchange('POST', '/v1/approle-login', readCredential()));
  expect(await before.stop()).toBe(0);
  // A start makes another credential, which nobody has used when the session of before makes the root token.
  const daemon = await two();
  const unused = readCredential();
  expect((await daemon.exchange('POST', '/v1/state/keystore/token/create-root', { name: 'system' }, session)).status).toBe(200);
  const asked = Array.from({ length: 8 }, async () => [
    (await daemon.exchange('POST', '/v1/approle-login', unused)).status,
    (await daemon.exchange('GET', '/v1/config/tenants', undefined, session)).status,
  ]);
  expect(new Set((await Promise.all(asked)).flat())).toEqual(new Set([401]));
  expect(await daemon.stop()).toBe(0);
});

test('the clear text of the credential is on no disk', async () => {
  const daemon = await start('clean');
  const { 'secret-id': secret } = readCredential();
  expect(await daemon.stop()).toBe(0);
  expect(filesWith(path('clean'), secret)).toEqual([]);
});

test('a file that cannot be written is a refusal of the start that names option and fix', async () => {
  const elsewhere = path('elsewhere.yaml');
  writeFileSync(elsewhere, 'bootstrap-file: /proc/keystored/bootstrap\n');
  const starting = startDaemon({ directory: path('refused'), args: ['--config', elsewhere], rootToken: 'there is none' });
  await expect(starting).rejects.toThrow(
    /ended with 1:[^]*\nkeystored: bootstrap-file \/proc\/keystored\/bootstrap cannot be written \(ENOENT\): name a file/,
  );
});

function filesWith(directory: string, text: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => readFileSync(file).includes(text));
}
