// The daemon as a user runs it: a start that is cut, what a terminal shows, what the token and the files hold (design run).
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { freePort, startDaemon } from '../../harness/daemon.ts';
import { softhsmModule } from '../../harness/token/softhsm.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { serviceUnderTest } from '../../harness/service-program.ts';

const path = temporaryDirectory();
const root = resolve(import.meta.dirname, '../../..');
const program = await serviceUnderTest();
const keys = '/v1/config/keystore/transit-keys';
const actions = '/v1/state/keystore/transit-keys';
/** Another appliance of this machine may have the usual ports. */
const [port, estPort] = [await freePort(), await freePort()];
const freePorts = { KEYSTORED_LISTEN: `127.0.0.1:${port}`, KEYSTORED_EST_LISTEN: `127.0.0.1:${estPort}` };

describe('life of the daemon', () => {
  test('a start that is cut at any moment is finished by the next one', async () => {
    const directory = path('cut');
    for (const afterMs of [80, 160, 240, 320, 480, 640]) {
      const child = startDaemon({ directory, firstStart: true, abandonAfterMs: afterMs });
      await child.then(
        (daemon) => daemon.kill(),
        () => undefined,
      );
    }
    const daemon = await startDaemon({ directory });
    expect(await daemon.request('GET', '/v1/state/keystore/transit-keys')).toEqual([]);
    expect(await daemon.stop()).toBe(0);
  });

  test('a terminal is shown the root token, by the first start alone', async () => {
    const directory = path('terminal');
    const first = await startOnTerminal(directory);
    expect(first).toContain(readFileSync(join(directory, 'root-token'), 'utf8').trim());
    expect(await startOnTerminal(directory)).not.toContain('root token');
  });

  test('pkcs11-tool sees the appliance keys in the token, and none of them can be read', async () => {
    const directory = path('token');
    const daemon = await startDaemon({ directory });
    await daemon.request('POST', keys, { name: 'resident', cipher: 'ecdsa-p256', custody: 'token' });
    await daemon.stop();
    const listed = spawnSync(
      'pkcs11-tool',
      ['--module', softhsmModule, '--login', '--pin', readFileSync(join(directory, 'pin'), 'utf8').trim(), '--list-objects'],
      { env: { ...process.env, SOFTHSM2_CONF: join(directory, 'softhsm.conf') }, encoding: 'utf8' },
    );
    expect(listed.status, listed.stderr).toBe(0);
    expect(listed.stdout).toContain('keystored-wrapping-key');
    const objects = listed.stdout
      .split(/(?=^(?:Private Key|Secret Key|Public Key|Certificate) Object)/m)
      .filter((text) => /^(Private|Secret) Key/.test(text));
    expect(objects.length).toBeGreaterThanOrEqual(3);
    for (const object of objects) expect(object).toContain('sensitive');
    // A transit key may be made exportable later; the keys that protect all others never.
    const own = objects.filter((object) => /keystored-(wrapping|binding)-key/.test(object));
    expect(own).toHaveLength(2);
    for (const object of own) expect(object).toContain('never extractable');
  });

  test('no file under the data directory holds a token, a payload or key material in clear', async () => {
    const directory = path('clear');
    const daemon = await startDaemon({ directory });
    await daemon.request('POST', keys, { name: 'seen', exportable: true });
    await daemon.request('POST', keys, { name: 'sealed', cipher: 'ecdsa-p256', exportable: true });
    const canary = 'a canary in a plaintext';
    await daemon.request('POST', `${actions}/seen/encrypt`, { plaintext: Buffer.from(canary).toString('base64') });
    const symmetric = (await daemon.request('POST', `${actions}/seen/export`, {})) as { keys: Record<string, string> };
    const asymmetric = (await daemon.request('POST', `${actions}/sealed/export`, {})) as { keys: Record<string, string> };
    await daemon.stop();
    const raw = Buffer.from(symmetric.keys['1'] as string, 'base64');
    const pem = (asymmetric.keys['1'] as string).split('\n').slice(1, 3).join('');
    const needles = [
      canary,
      Buffer.from(canary).toString('base64'),
      raw,
      raw.toString('base64'),
      raw.toString('hex'),
      pem.slice(0, 60),
      'PRIVATE KEY',
      daemon.rootToken,
    ];
    for (const file of filesBelow(directory)) {
      if (file.endsWith('/root-token')) continue;
      const contents = readFileSync(file);
      for (const needle of needles) expect(contents.includes(needle), `${file} holds ${String(needle).slice(0, 20)}`).toBe(false);
    }
  });
});

/** Starts the daemon on a pseudo-terminal, waits until it is ready, presses Ctrl-C; what was shown. */
async function startOnTerminal(directory: string): Promise<string> {
  const command = `exec ${process.execPath} ${program} --workers 1 --data ${directory}`;
  const env = { NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/compile'), ...process.env, ...freePorts };
  const child = spawn('script', ['-qec', command, '/dev/null'], { cwd: root, env });
  let shown = '';
  let pressed = false;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
    if (!pressed && shown.includes('ready https://')) pressed = child.stdin.write('\x03');
  });
  const [code] = (await once(child, 'close')) as [number | null];
  expect(code, shown).toBe(0);
  return shown;
}

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
