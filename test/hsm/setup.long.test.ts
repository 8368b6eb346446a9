// Preparing tokens and starting on them: every fault of the configuration is one clear error, and crashes leave no damage.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { defined } from '../../core/base/defined.ts';
import type { HsmConfig, TokenConfig } from '../../hsm/api.ts';
import { openHsm } from '../../hsm/client/open.ts';
import { describeModule, initialiseSoftToken, prepareToken, softhsmConf } from '../../hsm/setup/setup.ts';
import { makeKey } from '../harness/keys.ts';
import { makeEmptySoftToken, makeSoftToken, softhsmModule, testHsmConfig } from '../harness/token/softhsm.ts';

const message = Buffer.from('message');
const directory = mkdtempSync(join(tmpdir(), 'keystored-setup-'));
let token: TokenConfig;

beforeAll(async () => {
  token = await makeSoftToken(directory);
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe('openHsm says in one error what is wrong', () => {
  const cases: [string, () => TokenConfig, RegExp][] = [
    ['a missing module', () => ({ ...token, module: '/nowhere/libnone.so' }), /\/nowhere\/libnone\.so cannot be loaded/],
    ['a file that is no module', () => ({ ...token, module: import.meta.filename }), /cannot be loaded/],
    ['a label that is not there', () => ({ ...token, label: 'nobody' }), /no token with label "nobody".*labels seen: "test-main"/],
    ['a PIN file that is not there', () => ({ ...token, pin: { file: '/nowhere/pin' } }), /PIN file \/nowhere\/pin cannot be read/],
    ['an environment variable that is not set', () => ({ ...token, pin: { environment: 'NO_SUCH_PIN' } }), /NO_SUCH_PIN/],
    ['a credential without a credentials directory', () => ({ ...token, pin: { credential: 'pin' } }), /CREDENTIALS_DIRECTORY/],
  ];

  test.each(cases)('%s', async (_name, config, reason) => {
    await expect(openHsm(testHsmConfig(config()))).rejects.toMatchObject({ kind: 'configuration', message: expect.stringMatching(reason) });
  });

  test('a token that was not prepared', async () => {
    const empty = await makeEmptySoftToken(mkdtempSync(join(directory, 'empty-')), 'empty');
    await expect(openHsm(testHsmConfig(empty))).rejects.toMatchObject({
      kind: 'configuration',
      message: expect.stringContaining('was not prepared'),
    });
  });

  test('a token that is listed twice, however it is selected: a rotation under one name would destroy keys of the other', async () => {
    const { label: _, ...rest } = token;
    const [slot] = (await describeModule(softhsmModule, { environment: { ...token.environment } })).slots;
    for (const twin of [token, { ...rest, serial: slot?.serial ?? '' }]) {
      await expect(openHsm(testHsmConfig(token, { ...twin, name: 'second' }))).rejects.toMatchObject({
        kind: 'configuration',
        message: expect.stringContaining('main and second are the same token (label "test-main"'),
      });
    }
  });

  test('one bad token among good ones, and nothing stays open', async () => {
    await expect(openHsm(testHsmConfig(token, { ...token, name: 'second', label: 'nobody' }))).rejects.toMatchObject({
      kind: 'configuration',
    });
  });
});

describe('preparing a token', () => {
  test('makes both keys once under concurrent calls', async () => {
    const empty = await makeEmptySoftToken(mkdtempSync(join(directory, 'together-')), 'together');
    const made = await Promise.all(Array.from({ length: 4 }, () => prepareToken(empty)));
    expect(made.flat().sort()).toEqual(['keystored-binding-key', 'keystored-wrapping-key']);
    expect(await prepareToken(empty)).toEqual([]);
    const hsm = await openHsm(testHsmConfig(empty));
    await hsm.close();
  });

  test('initialising a label that exists is refused', async () => {
    const soPin = { file: join(directory, 'main-so-pin') };
    await expect(initialiseSoftToken({ ...token, label: 'test-main', soPin })).rejects.toMatchObject({ kind: 'configuration' });
  });

  test('a module shows its slots, tokens, mechanisms and key types without a PIN', async () => {
    const { slots, library } = await describeModule(softhsmModule, defined({ environment: token.environment }));
    expect(library).toContain('SoftHSM');
    expect(slots.map(({ label, initialised, userPinSet }) => ({ label, initialised, userPinSet }))).toEqual([
      { label: 'test-main', initialised: true, userPinSet: true },
      { label: '', initialised: false, userPinSet: false },
    ]);
    expect(slots[0]?.mechanisms).toContain('CKM_AES_GCM');
    expect(slots[0]?.keyTypes).toContain('ed25519');
  });
});

describe('SoftHSM’s files', () => {
  test('the derived configuration changes the token directory only', () => {
    const root = readFileSync(new URL('../../softhsm.conf', import.meta.url), 'utf8').split('\n');
    const derived = softhsmConf('/var/lib/somewhere').split('\n');
    const changed = derived.filter((line, index) => line !== root[index]);
    expect(changed).toEqual(['directories.tokendir = /var/lib/somewhere']);
  });

  test('a token file left empty by a crash in a login is restored from its copy', async () => {
    const here = mkdtempSync(join(directory, 'crash-'));
    const crashed = await makeSoftToken(here);
    const { stored, sealed } = await useOnce(crashed);
    const file = tokenObject(join(here, 'main-tokens'));
    truncateSync(file);
    // The first task of a start.
    expect(await prepareToken(crashed)).toEqual([]);
    truncateSync(file);
    const hsm = await openHsm(testHsmConfig(crashed));
    expect(Buffer.from(await hsm.decrypt(stored, sealed))).toEqual(message);
    await hsm.close();
  });

  test('concurrent starts do not disturb each other', async () => {
    for (let round = 0; round < 5; round++) {
      const opened = await Promise.all(Array.from({ length: 6 }, () => openHsm(testHsmConfig(token))));
      await Promise.all(opened.map((hsm) => hsm.selfTest()));
      expect(opened.flatMap((hsm) => hsm.status().map(({ state }) => state))).toEqual(Array.from({ length: 6 }, () => 'up'));
      await Promise.all(opened.map((hsm) => hsm.close()));
    }
  });

  test('a process killed while it starts leaves no lock behind', async () => {
    const program = `
      import { withStartLock } from ${JSON.stringify(new URL('../../hsm/files/start-lock.ts', import.meta.url).href)};
      withStartLock(${JSON.stringify(token)}, () => { process.stdout.write('held'); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); });`;
    const holder = spawn(process.execPath, ['--input-type=module', '--eval', program], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(holder.stdout, 'data');
    const opening = openHsm(testHsmConfig(token));
    await sleep(500);
    expect(await Promise.race([opening.then(() => 'open'), sleep(1, 'waiting')])).toBe('waiting');
    holder.kill('SIGKILL');
    const hsm = await opening;
    expect(hsm.status()[0]?.state).toBe('up');
    await hsm.close();
  });

  test('a token directory that vanishes: loaded keys still work, and so does everything when it is back', async () => {
    const here = mkdtempSync(join(directory, 'vanish-'));
    const vanishing = await makeSoftToken(here);
    const tokens = join(here, 'main-tokens');
    const hsm = await openHsm(testHsmConfig(vanishing));
    const { key } = await makeKey(hsm, 'aes-256', 'loaded');
    const { key: inToken } = await makeKey(hsm, 'aes-256', 'in-token', { custody: 'token' });
    const sealed = await hsm.encrypt(inToken, message);
    renameSync(tokens, `${tokens}-away`);
    expect(Buffer.from(await hsm.decrypt(key, await hsm.encrypt(key, message)))).toEqual(message);
    const refused = hsm.generate('aes-256', { tenant: 't', keyId: 'new', version: 1, purpose: 'p' }, { custody: 'token' });
    await expect(refused).rejects.toMatchObject({ kind: 'unavailable' });
    expect(Buffer.from(await hsm.decrypt(key, await hsm.encrypt(key, message)))).toEqual(message);
    renameSync(`${tokens}-away`, tokens);
    await vi.waitFor(async () => expect(Buffer.from(await hsm.decrypt(inToken, sealed))).toEqual(message), {
      timeout: 60_000,
      interval: 200,
    });
    await hsm.close();
  });

  test('the token as a copied directory opens its keys elsewhere', async () => {
    const { stored, sealed } = await useOnce(token);
    const there = mkdtempSync(join(directory, 'copy-'));
    cpSync(join(directory, 'main-tokens'), join(there, 'tokens'), { recursive: true });
    writeFileSync(join(there, 'softhsm.conf'), softhsmConf(join(there, 'tokens')));
    const hsm = await openHsm(testHsmConfig({ ...token, environment: { SOFTHSM2_CONF: join(there, 'softhsm.conf') } }));
    expect(Buffer.from(await hsm.decrypt(stored, sealed))).toEqual(message);
    await hsm.close();
  });

  test('only the owner can read the files of a token', () => {
    const modes = execFileSync('find', [join(directory, 'main-tokens'), '-perm', '/077', '-type', 'f', '-not', '-name', 'start.lock'], {
      encoding: 'utf8',
    });
    expect(modes).toBe('');
  });
});

async function useOnce(config: TokenConfig) {
  const hsm = await openHsm(testHsmConfig(config) satisfies HsmConfig);
  const { key } = await makeKey(hsm, 'aes-256', 'once');
  const sealed = await hsm.encrypt(key, message);
  await hsm.close();
  return { stored: key, sealed };
}

function tokenObject(tokens: string): string {
  const file = readdirSync(tokens)
    .map((name) => join(tokens, name, 'token.object'))
    .find((path) => existsSync(path));
  if (file === undefined) throw new Error('no token.object');
  return file;
}
