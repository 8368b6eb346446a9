// What those who run the appliance rely on, with the real daemon: metrics over several workers, sealed starts, backup and restore.
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { formatMark, restoredMark } from '../../../appliance/backup/restoration.ts';
import { ask } from '../../harness/client.ts';
import { startDaemon, type Daemon } from '../../harness/daemon.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

// Each of these starts several daemons.
const path = temporaryDirectory();
const upgrade = join(import.meta.dirname, '../../upgrade');
const keys = '/v1/config/keystore/transit-keys';
const actions = '/v1/state/keystore/transit-keys';
const unseal = '/v1/state/keystore/system/unseal';
const seal = '/v1/state/keystore/system/seal';
const health = '/v1/state/system/health';
const passphrase = 'a passphrase that is long enough';

/** The value of a series in the text format. */
function valueOf(text: string, series: string): number | undefined {
  const line = text.split('\n').find((one) => one.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

function withConfiguration(name: string, text: string): readonly string[] {
  writeFileSync(path(`${name}.yaml`), text);
  return ['--config', path(`${name}.yaml`)];
}

/** The backup as octets; the helper of the daemon reads answers as text. */
function takeBackup(daemon: Daemon): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${daemon.rootToken}`, 'content-type': 'application/json' };
    const request = httpsRequest(
      `${daemon.url}/v1/state/system/backup`,
      { method: 'POST', headers, ca: daemon.caPem, agent: false },
      (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('error', reject);
        response.on('end', () =>
          response.statusCode === 200 ? resolve(Buffer.concat(parts)) : reject(new Error(String(response.statusCode))),
        );
      },
    );
    request.on('error', reject);
    request.end(JSON.stringify({ passphrase }));
  });
}

/** Starts from a backup alone: the root token is the old one, and its file is not part of a backup. */
async function startFromBackup(directory: string, backup: string | Uint8Array, secret = passphrase): Promise<Daemon> {
  const [file, passphraseFile] = [typeof backup === 'string' ? backup : `${directory}.backup`, `${directory}.passphrase`];
  if (typeof backup !== 'string') writeFileSync(file, backup);
  writeFileSync(passphraseFile, `${secret}\n`);
  return startDaemon({ directory, args: ['--restore', file, '--restore-passphrase-file', passphraseFile], rootToken: 'elsewhere' });
}

test('metrics are sums over all workers, whichever answers', async () => {
  const daemon = await startDaemon({ directory: path('metrics'), workers: 2 });
  await daemon.request('POST', keys, { name: 'one' });
  for (let count = 0; count < 20; count++) await daemon.request('GET', `${actions}/one`);
  const texts = await Promise.all([1, 2, 3, 4].map(async () => String(await daemon.request('GET', '/v1/state/system/metrics'))));
  for (const text of texts) {
    expect(valueOf(text, 'keystored_workers')).toBe(2);
    expect(valueOf(text, `keystored_http_requests_total{method="GET",route="${actions}/{name}",status="200"}`)).toBe(20);
    expect(valueOf(text, 'keystored_transit_keys{tenant="system",cipher="aes256-gcm96"}')).toBe(1);
    expect(valueOf(text, 'keystored_hsm_token_up{token="default"}')).toBe(1);
    expect(valueOf(text, 'keystored_hsm_canary_seconds_count')).toBeGreaterThanOrEqual(2);
  }
  expect(await daemon.stop()).toBe(0);
});

test('counts outlive the worker that counted, and nothing falls while one is silent, killed, or replaced by sealing', async () => {
  const daemon = await startDaemon({ directory: path('counts'), workers: 2 });
  await daemon.request('POST', keys, { name: 'one' });
  const read = async (): Promise<Map<string, number>> => {
    const text = String(await daemon.request('GET', '/v1/state/system/metrics'));
    const lines = text.split('\n').filter((line) => /^\w+_(?:total|count|sum|bucket)[ {]/.test(line));
    return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]));
  };
  const served = `keystored_http_requests_total{method="GET",route="${actions}/{name}",status="200"}`;
  for (let count = 0; count < 20; count++) await daemon.request('GET', `${actions}/one`);
  let before = await read();
  expect(before.get(served)).toBe(20);
  const hold = async (): Promise<void> => {
    const now = await read();
    for (const [series, value] of before) expect(now.get(series), series).toBeGreaterThanOrEqual(value);
    before = now;
  };
  const workers = spawnSync('pgrep', ['--parent', String(daemon.pid), '--full', '/worker[.]'], { encoding: 'utf8' });
  const [victim] = workers.stdout.trim().split('\n').map(Number) as [number];
  process.kill(victim, 'SIGSTOP');
  // A connection that the silent one has got is not answered.
  await expect.poll(() => Promise.race([hold().then(() => true), setTimeout(4_000, false)]), { timeout: 60_000 }).toBe(true);
  process.kill(victim, 'SIGKILL');
  await hold();
  const answering = async () => valueOf(String(await daemon.request('GET', '/v1/state/system/metrics')), 'keystored_workers');
  await expect.poll(answering, { timeout: 60_000 }).toBe(2);
  await hold();
  await daemon.request('POST', seal);
  await daemon.request('POST', unseal, { pin: readFileSync(path('counts/pin'), 'utf8') });
  await hold();
  expect(before.get(served)).toBe(20);
  expect(await daemon.stop()).toBe(0);
});

describe('sealed', () => {
  test('an attended appliance starts sealed, takes the right PIN after a wrong one, and can be sealed again', async () => {
    const directory = path('attended');
    const args = withConfiguration('attended', 'hsm: { start: attended }\n');
    const first = await startDaemon({ directory, args });
    expect(first.output()).toContain(`The PIN is in ${join(directory, 'pin')}`);
    expect(await first.stop()).toBe(0);
    const pin = readFileSync(join(directory, 'pin'), 'utf8');
    rmSync(join(directory, 'pin'));

    const daemon = await startDaemon({ directory, args, workers: 2 });
    expect(await daemon.exchange('GET', health)).toMatchObject({ status: 503, body: { status: 'sealed' } });
    expect(await daemon.exchange('GET', keys)).toMatchObject({ status: 503, body: { code: 'sealed' } });
    for (const page of ['/', '/ui', '/login/acme/corp', '/nothing', '/v1/docs']) {
      const asPerson = await daemon.exchange('GET', page, undefined, '', { accept: 'text/html,*/*;q=0.8' });
      expect(asPerson).toMatchObject({ status: 503, headers: { 'content-type': 'text/html; charset=utf-8', 'retry-after': '5' } });
      expect(asPerson.body).toContain('This system is locked');
      expect(await daemon.exchange('GET', page)).toMatchObject({ status: 503, body: { code: 'sealed' } });
    }
    expect(await daemon.exchange('GET', keys, undefined, '', { accept: 'text/html' })).toMatchObject({ body: { code: 'sealed' } });
    expect(await daemon.exchange('GET', '/v1/ca/system/appliance/ca.pem')).toMatchObject({ status: 200, body: daemon.caPem });
    const est = await ask(daemon.estUrl, '/.well-known/est/cacerts', { ca: daemon.caPem });
    expect(est).toMatchObject({ status: 503, body: expect.stringMatching(/sealed/), headers: { 'retry-after': '30' } });
    expect(await daemon.exchange('POST', unseal, {})).toMatchObject({ status: 400, body: { code: 'missing-field' } });
    expect(await daemon.exchange('POST', unseal, { pin: 'wrong-pin' })).toMatchObject({ status: 403, body: { code: 'pin-refused' } });
    expect(await daemon.exchange('POST', unseal, { pin })).toMatchObject({ status: 429, body: { code: 'rate-limited' } });
    await setTimeout(3_100);
    expect(await daemon.exchange('POST', unseal, { pin })).toMatchObject({ status: 204 });
    for (let count = 0; count < 6; count++) expect((await daemon.exchange('GET', health)).status).toBe(200);
    await daemon.request('POST', keys, { name: 'kept' });
    expect(await daemon.exchange('POST', unseal, { pin })).toMatchObject({ status: 409, body: { code: 'not-sealed' } });

    expect(await daemon.exchange('POST', seal)).toMatchObject({ status: 204 });
    for (let count = 0; count < 6; count++) expect((await daemon.exchange('GET', `${actions}/kept`)).status).toBe(503);
    expect(await daemon.exchange('POST', unseal, { pins: { default: pin } })).toMatchObject({ status: 204 });
    expect(await daemon.request('GET', `${actions}/kept`)).toMatchObject({ name: 'kept' });
    const trail = readFileSync(join(directory, 'audit', 'supervisor.000000000001.jsonl'), 'utf8');
    expect(trail).toContain('pin-refused');
    expect(trail).not.toContain(pin);
    expect(await daemon.stop()).toBe(0);
  });
});

describe('backup', () => {
  test('restores on another appliance: keys, tokens and the CA are the same, and nothing in it can be read', async () => {
    const daemon = await startDaemon({ directory: path('origin'), workers: 2 });
    await daemon.request('POST', keys, { name: 'orders', labels: { team: 'a' } });
    await daemon.request('POST', keys, { name: 'held', cipher: 'ecdsa-p256', custody: 'token' });
    const { ciphertext } = (await daemon.request('POST', `${actions}/orders/encrypt`, { plaintext: 'aGVsbG8=' })) as { ciphertext: string };
    const backup = await takeBackup(daemon);
    expect(await daemon.stop()).toBe(0);
    for (const needle of ['orders', 'data.mdb', 'softhsm', readFileSync(path('origin/pin'), 'utf8')])
      expect(backup.includes(needle)).toBe(false);

    const restored = await startFromBackup(path('target'), backup);
    expect(restored.caPem).toBe(daemon.caPem);
    expect(await restored.exchange('POST', `${actions}/orders/decrypt`, { ciphertext }, daemon.rootToken)).toMatchObject({
      body: { plaintext: 'aGVsbG8=' },
    });
    expect((await restored.exchange('POST', `${actions}/held/sign`, { text: 'aGVsbG8=' }, daemon.rootToken)).status).toBe(200);
    expect(await restored.exchange('GET', `${keys}?selector=team=a&fields=name`, undefined, daemon.rootToken)).toMatchObject({
      body: [{ name: 'orders' }],
    });
    expect(await restored.stop()).toBe(0);
    expect(existsSync(path('target/restored'))).toBe(false);

    await expect(startFromBackup(path('target'), backup)).rejects.toThrow(
      /needs an empty data directory, and .* exists: nothing was restored/,
    );
    await expect(startFromBackup(path('wrong'), backup, 'another passphrase')).rejects.toThrow(/the passphrase is wrong/);
    await expect(startFromBackup(path('short'), backup.subarray(0, backup.length - 5))).rejects.toThrow(
      /damaged or cut off|wrong, or the backup is damaged/,
    );
    const costly = Buffer.from(backup.toString('latin1').replace(/^(-> scrypt \S+) 17$/m, '$1 30'), 'latin1');
    await expect(startFromBackup(path('costly'), costly)).rejects.toThrow(/asks for a scrypt work factor of 30; at most 20/);
    expect(existsSync(path('wrong/store'))).toBe(false);
  });

  test('of a client that goes away before the first piece leaves no copy of the store behind', async () => {
    const daemon = await startDaemon({ directory: path('gone') });
    const headers = { authorization: `Bearer ${daemon.rootToken}`, 'content-type': 'application/json' };
    const copies = (): string[] => readdirSync(path('gone')).filter((name) => name.startsWith('backup-'));
    // Before the answer, and while the key is made of the passphrase, which takes half a second.
    for (const leave of [() => true, () => copies().length > 0]) {
      const options = { method: 'POST', headers, ca: daemon.caPem, agent: false };
      const request = httpsRequest(`${daemon.url}/v1/state/system/backup`, options).on('error', () => undefined);
      await new Promise<void>((sent) => request.end(JSON.stringify({ passphrase }), () => sent()));
      while (!leave()) await setTimeout(1);
      request.destroy();
      await setTimeout(1_500);
      await expect.poll(copies, { timeout: 60_000 }).toEqual([]);
    }
    expect(await daemon.stop()).toBe(0);
  });

  test('of an appliance that keeps no PIN restores as soon as a person has given it', async () => {
    const origin = await startDaemon({ directory: path('no-pin') });
    const pin = readFileSync(path('no-pin/pin'), 'utf8');
    rmSync(path('no-pin/pin'));
    const backup = await takeBackup(origin);
    expect(await origin.stop()).toBe(0);
    await expect(startFromBackup(path('no-pin-target'), backup)).rejects.toThrow(
      /the PIN of the embedded token is not in .*no-pin-target\/pin: write it there \(mode 0600\), .* and start again, without --restore/,
    );
    writeFileSync(path('no-pin-target/pin'), pin, { mode: 0o600 });
    const restored = await startDaemon({ directory: path('no-pin-target'), rootToken: origin.rootToken });
    expect((await restored.exchange('GET', '/v1/config/keystore/transit-keys')).status).toBe(200);
    expect(await restored.stop()).toBe(0);
  });

  test('the golden backup of format 1 still restores: its root token, its keys in store and token, its CAs', async () => {
    const golden = JSON.parse(readFileSync(join(upgrade, 'appliance-backup-1.json'), 'utf8')) as Record<string, string>;
    const restored = await startFromBackup(path('golden'), join(upgrade, 'appliance-backup-1.bin'), golden['passphrase']);
    const ask = (method: string, at: string, body?: unknown): Promise<unknown> => restored.request(method, at, body, golden['root-token']);
    const { ciphertext, plaintext, text, signature } = golden;
    expect(await ask('POST', `${actions}/orders/decrypt`, { ciphertext })).toMatchObject({ plaintext });
    expect(await ask('POST', `${actions}/held/verify`, { text, signature })).toMatchObject({ valid: true });
    const fresh = (await ask('POST', `${actions}/held/sign`, { text })) as { signature: string };
    expect(await ask('POST', `${actions}/held/verify`, { text, signature: fresh.signature })).toMatchObject({ valid: true });
    expect(await ask('GET', '/v1/config/keystore/tls/ca/devices')).toMatchObject({ name: 'devices' });
    // Of keys of then a custody statement claims nothing that was not recorded.
    for (const [name, kept] of [
      ['orders', 'wrapped'],
      ['held', 'token'],
    ]) {
      const { statement } = (await ask('GET', `${actions}/${name}/custody`)) as { statement: string };
      const claims: unknown = JSON.parse(Buffer.from(statement.split('.')[1] ?? '', 'base64url').toString());
      expect(claims).toMatchObject({ key: { name, origin: 'unknown' }, custody: { kept }, history: { complete: false, exports: [] } });
    }
    await ask('PATCH', `${keys}/orders`, { labels: { team: 'a' } });
    expect(await ask('GET', `${keys}?selector=team=a&fields=name,labels`)).toEqual([{ name: 'orders', labels: { team: 'a' } }]);
    expect(await restored.stop()).toBe(0);
  });

  test('a restore that was cut while it moved files in is finished by the next start', async () => {
    const daemon = await startDaemon({ directory: path('cut') });
    await daemon.request('POST', keys, { name: 'orders' });
    await daemon.stop();
    cpSync(path('cut'), path('cut-copy'), { recursive: true });
    const copy = path('cut-copy');
    cpSync(join(copy, 'store'), join(copy, 'restored/store'), { recursive: true });
    rmSync(join(copy, 'store'), { recursive: true });
    renameSync(join(copy, 'pin'), join(copy, 'restored/pin'));
    // What a restore brings has its mark, which is moved with the folder of the trail.
    writeFileSync(restoredMark(copy), formatMark({ at: '2026-01-01T00:00:00.000000Z', from: 'backup' }));
    // The restore is requested again.
    const again = await startDaemon({ directory: copy, args: ['--restore', path('absent'), '--restore-passphrase-file', path('absent')] });
    expect(await again.request('GET', `${actions}/orders`)).toMatchObject({ name: 'orders' });
    expect(await again.stop()).toBe(0);
  });
});
