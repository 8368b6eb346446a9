// Custodians of a real appliance, with age and GnuPG: a ceremony, an unseal by shares, another ceremony that they agree to, break-glass, and the end of the custody.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rule, rulePath } from '../core/approvals/people.ts';
import { ask } from '../harness/client.ts';
import { type Daemon, startDaemon } from '../harness/daemon.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

const path = temporaryDirectory();
const data = (): string => path('data');
const program = process.env['KEYSTORED_TEST_PROGRAM'] ?? resolve('appliance/keystored.ts');
const keystorectl = resolve('appliance/cli/keystorectl.ts');
const unseal = '/v1/state/keystore/system/unseal';
/** of each custodian: the recipient, and what decrypts */
const custodians: { readonly recipient: string; readonly open: (file: string) => string }[] = [];

beforeAll(() => {
  writeFileSync(path('attended.yaml'), 'hsm: { start: attended }\n');
  for (const name of ['anna', 'bert']) {
    execFileSync('age-keygen', ['--output', path(name)], { stdio: 'ignore' });
    const recipient = execFileSync('age-keygen', ['-y', path(name)], { encoding: 'utf8' }).trim();
    custodians.push({
      recipient,
      open: (file) => execFileSync('age', ['--decrypt', '--identity', path(name), file], { encoding: 'utf8' }),
    });
  }
  mkdirSync(path('gnupg'), { mode: 0o700 });
  const gpg = (...words: string[]): string =>
    execFileSync('gpg', ['--homedir', path('gnupg'), '--batch', '--pinentry-mode', 'loopback', '--passphrase', '', ...words], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  gpg('--quick-generate-key', 'cleo@example.com', 'default', 'default', 'never');
  writeFileSync(path('cleo.asc'), gpg('--armor', '--export', 'cleo@example.com'));
  custodians.push({ recipient: path('cleo.asc'), open: (file) => gpg('--decrypt', file) });
});
afterAll(() => void execFileSync('gpgconf', ['--homedir', path('gnupg'), '--kill', 'all']));

/** In a process of its own, which holds the data directory to its end. */
function ctl(...words: string[]): { code: number | null; said: string } {
  const env = { ...process.env, HOME: path('home') };
  const { status, stdout, stderr } = spawnSync(process.execPath, [keystorectl, ...words], { encoding: 'utf8', env });
  return { code: status, said: stdout + stderr };
}

/** The shares that a ceremony has written, decrypted, with a line of words below. */
function sharesIn(directory: string): readonly string[] {
  const files = readdirSync(directory).toSorted();
  return files.map((file) => {
    const number = Number(/-(\d+)\.\w+$/.exec(file)?.[1]);
    return (custodians[number - 1] as (typeof custodians)[number]).open(join(directory, file));
  });
}

function agreeing(shares: readonly string[], words: string): string[] {
  return shares.flatMap((share, at) => {
    const file = path(`agreed-${words.slice(0, 5)}-${at}`);
    writeFileSync(file, `${share.trim()}\n${words}\n`);
    return ['--share', file];
  });
}

const here = (): string[] => ['--config', path('attended.yaml'), '--data-dir', data()];
const wordsOf = (said: string): string => /words: ([a-z ]+)/.exec(said)?.[1] ?? /with "([a-z ]+)"/.exec(said)?.[1] ?? '';
const start = (): Promise<Daemon> => startDaemon({ directory: data(), args: ['--config', path('attended.yaml')] });

test('the PIN of a token among three people of whom two unseal', async () => {
  const first = await start();
  const { rootToken } = first;
  const pin = readFileSync(path('data', 'pin'), 'utf8').trim();
  await first.request('POST', unseal, { pin });
  await first.request('POST', '/v1/config/keystore/authentication/approles', { name: 'gone' });
  await first.request('POST', rulePath, rule('all', { approvers: { approles: ['gone'] }, force: true }));
  await first.stop();
  writeFileSync(path('pin-in-the-safe'), pin);
  const recipients = custodians.flatMap(({ recipient }) => ['--recipient', recipient]);
  const make = (out: string, ...words: string[]) =>
    ctl('custodians', 'make', ...here(), '--shares', '3', '--needed', '2', ...recipients, '--out', path(out), ...words);
  expect(make('refused', '--pin-file', path('pin-in-the-safe')).said).toContain('so-pin');
  for (const name of ['pin', 'so-pin']) rmSync(path('data', name));
  expect(make('one', '--pin-file', path('nowhere')).said).toContain(`keystorectl: PIN file ${path('nowhere')} cannot be read (ENOENT)\n`);
  // What mends a start, a file of the appliance, does not mend a PIN that a person has given.
  writeFileSync(path('another-pin'), '00000000');
  const refused = make('one', '--pin-file', path('another-pin'));
  expect(refused).toMatchObject({ code: 1, said: expect.stringContaining(`Give its present user PIN in ${path('another-pin')}\n`) });
  expect(refused.said).not.toContain('hsm/tokens');
  const made = make('one', '--pin-file', path('pin-in-the-safe'));
  expect(made.code, made.said).toBe(0);
  const shares = sharesIn(path('one'));
  expect(shares.map((text) => text.split('-')[2])).toEqual(['1', '2', '3']);

  // With a file of the SO PIN, custody is worth nothing.
  writeFileSync(path('data', 'so-pin'), 'x');
  await expect(start()).rejects.toThrow(/so-pin/);
  rmSync(path('data', 'so-pin'));
  const daemon = await start();
  const give = async (share: string) => {
    const { status, body } = await daemon.exchange('POST', unseal, { share });
    return [status, body?.have ?? body?.code];
  };
  const health = async () => ((await daemon.exchange('GET', '/v1/state/system/health')).body as { custodians?: object }).custodians;
  expect(await health()).toMatchObject({ have: 0, needed: 2 });
  expect(await give(`${(shares[0] as string).trim().slice(0, -1)}z`)).toEqual([403, 'share-refused']);
  // A share that cannot be recorded is not taken.
  renameSync(path('data', 'audit'), path('away'));
  writeFileSync(path('data', 'audit'), '');
  expect(await give(shares[0] as string)).toEqual([409, 'data-damaged']);
  rmSync(path('data', 'audit'));
  renameSync(path('away'), path('data', 'audit'));
  expect(await health()).toMatchObject({ have: 0 });
  expect(await give(shares[0] as string)).toEqual([200, 1]);
  expect(await give(shares[0] as string)).toEqual([200, 1]);
  expect(await health()).toMatchObject({ have: 1, needed: 2 });
  expect(await ask(daemon.url, '/unseal', { method: 'GET', ca: daemon.caPem })).toMatchObject({
    status: 200,
  });
  writeFileSync(path('share'), shares[2] as string);
  const given = ctl('custodians', 'give', '--in', path('share'), '--url', daemon.url, '--ca', path('data', 'tls', 'ca.pem'));
  expect(given, given.said).toMatchObject({ code: 0, said: expect.stringContaining('2 of 2 shares: unsealed') });
  expect((await daemon.exchange('GET', rulePath, undefined, rootToken)).status).toBe(200);
  const trail = readdirSync(path('data', 'audit')).filter((name) => name.startsWith('supervisor.'));
  const records = trail.flatMap((name) => readFileSync(path('data', 'audit', name), 'utf8').split('\n'));
  const taken = records
    .flatMap((line) => /"status":(\d+).*"share":(\d)|"share":(\d).*"status":(\d+)/.exec(line)?.slice(1) ?? [])
    .filter(Boolean);
  expect(taken.toSorted()).toEqual(['1', '200', '200', '3']);
  // The words of an act are shown beside an appliance that runs; it would try the former PIN again.
  const beside = make('beside');
  expect(wordsOf(beside.said)).not.toBe('');
  expect(make('beside', ...agreeing(shares.slice(1), wordsOf(beside.said)))).toMatchObject({
    code: 1,
    said: expect.stringContaining('is held by another running keystored'),
  });
  await daemon.stop();

  // Another ceremony needs custodians who agree to exactly that, and its shares alone open then.
  const asked = make('two');
  expect([asked.code, existsSync(path('two'))]).toEqual([1, false]);
  const words = wordsOf(asked.said);
  // Nobody has a PIN of the token, which is not asked.
  expect(make('two', '--pin-file', path('pin-in-the-safe')).said).toMatch(/custodians have the PIN.*--share/);
  expect(make('two', ...agreeing(shares.slice(0, 2), 'other words than those'))).toMatchObject({
    code: 1,
    said: expect.stringContaining('agreed to something else'),
  });
  expect(make('two', ...agreeing(shares.slice(0, 1), words)).said).toContain('1 different shares were given');
  const again = make('two', ...agreeing(shares.slice(1), words));
  expect(again.code, again.said).toBe(0);
  const present = sharesIn(path('two'));

  const glass = (...more: string[]): string => {
    const shared = ['--data', data(), '--tenant', 'system', '--reason', 'everybody has left', '--yes'];
    const words = [program, 'break-glass', '--config', path('attended.yaml'), ...shared, ...more];
    const { stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' });
    return stdout + stderr;
  };
  expect(glass('--pin-file', path('pin-in-the-safe'))).toMatch(/^keystored: there are custodians/);
  expect(glass(...agreeing(shares.slice(1), wordsOf(glass())))).toContain('not of the ceremony');
  expect(glass(...agreeing(present.slice(1), wordsOf(glass())))).toContain('The next start');
  const last = await start();
  expect((await last.exchange('POST', unseal, { share: shares[0] })).body.code).toBe('share-refused');
  for (const share of present.slice(0, 2)) expect((await last.exchange('POST', unseal, { share })).status).toBe(200);
  await expect.poll(async () => (await last.exchange('GET', rulePath, undefined, rootToken)).body, { timeout: 30_000 }).toEqual([]);
  writeFileSync(path('passphrase'), 'a passphrase of some length');
  const backup = await ask(last.url, '/v1/state/system/backup', {
    ...{ method: 'POST', ca: last.caPem, token: rootToken, body: { passphrase: 'a passphrase of some length' } },
  });
  writeFileSync(path('backup'), backup.octets);
  await last.stop();

  writeFileSync(path('new-pin'), 'a PIN that a person knows');
  const end = (...more: string[]) => ctl('custodians', 'end', ...here(), '--new-pin-file', path('new-pin'), ...more);
  const ended = end(...agreeing(present.slice(0, 2), wordsOf(end().said)));
  expect(ended.code, ended.said).toBe(0);
  expect(existsSync(path('data', 'custodians.json'))).toBe(false);

  // The backup restores by the shares of its time alone.
  const drill = (...more: string[]): string => {
    const words = [program, 'restore-drill', path('backup'), '--passphrase-file', path('passphrase'), '--work', path(), ...more];
    const { stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' });
    return stdout + stderr;
  };
  expect(drill(...agreeing(present.slice(1), wordsOf(drill())))).toContain('this backup restores');
  const restored = path('restored');
  const restore = ['--restore', path('backup'), '--restore-passphrase-file', path('passphrase')];
  const startRestored = (...more: string[]) =>
    startDaemon({ directory: restored, args: ['--config', path('attended.yaml'), ...more], rootToken });
  await expect(startRestored(...restore)).rejects.toThrow(/keystorectl custodians end/);
  const endRestored = (...more: string[]) =>
    ctl('custodians', 'end', '--config', path('attended.yaml'), '--data-dir', restored, '--new-pin-file', path('new-pin'), ...more);
  const endedRestored = endRestored(...agreeing(present.slice(1), wordsOf(endRestored().said)));
  expect(endedRestored.code, endedRestored.said).toBe(0);
  writeFileSync(join(restored, 'pin'), readFileSync(path('new-pin')));
  const returned = await startRestored();
  expect((await returned.exchange('POST', unseal, { pin: readFileSync(path('new-pin'), 'utf8') })).status).toBe(204);
  await returned.stop();
});

test('shares that two people wrote down from a terminal unseal', async () => {
  const directory = path('of-paper');
  const begin = () => startDaemon({ directory, args: ['--config', path('attended.yaml')] });
  const first = await begin();
  const pin = readFileSync(join(directory, 'pin'), 'utf8').trim();
  await first.request('POST', unseal, { pin });
  await first.stop();
  writeFileSync(path('pin-of-paper'), pin);
  for (const name of ['pin', 'so-pin']) rmSync(join(directory, name));
  const place = ['--config', path('attended.yaml'), '--data-dir', directory, '--pin-file', path('pin-of-paper')];
  const words = [process.execPath, keystorectl, 'custodians', 'make', ...place, '--shares', '2', '--needed', '2', '--paper'];
  expect(ctl(...words.slice(2))).toMatchObject({ code: 1, said: expect.stringContaining('at a terminal') });
  // A terminal by script (util-linux).
  const terminal = spawn('script', ['--quiet', '--return', '--command', words.join(' '), '/dev/null'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let [seen, answered] = ['', 0];
  const shares: string[] = [];
  terminal.stdout.on('data', (chunk: Buffer) => {
    seen += chunk.toString();
    const question = seen.slice(answered);
    if (!/press Enter\.\s*$|written down: $/.test(question)) return;
    answered = seen.length;
    const share = /ks1-[\da-z-]+/.exec(question)?.[0];
    if (share !== undefined) shares.push(share);
    terminal.stdin.write(`${share?.slice(-4) ?? ''}\n`);
  });
  const [code] = (await once(terminal, 'exit')) as [number];
  expect([code, shares.length, seen.includes('has a share on paper')]).toEqual([0, 2, true]);
  const daemon = await begin();
  const given: unknown[] = [];
  for (const share of shares) given.push((await daemon.exchange('POST', unseal, { share: share.toUpperCase() })).body?.have);
  expect(given).toEqual([1, 2]);
  await daemon.stop();
});
