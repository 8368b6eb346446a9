// `tls-key: token`, with the real daemon, OpenSSL's engine and a real token: handshakes on both ports, and a token that is away.
import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { afterEach, describe, expect, test } from 'vitest';
import { findTlsKeyModules } from '../../../appliance/tls/engine.ts';
import { StartRefused } from '../../../appliance/start-refused.ts';
import { ask } from '../../harness/client.ts';
import { type Daemon, startDaemon } from '../../harness/daemon.ts';
import { processesBelow } from '../../harness/processes.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
/** Another client of p11-kit than the one that is installed: from 0.25.6 on they write calls in another way. */
const client = process.env['KEYSTORED_TEST_P11_KIT_CLIENT'];
const missing = whatIsMissing();
if (missing !== undefined) console.warn(`SKIPPED: the listeners' key in the token, because ${missing}`);

function whatIsMissing(): string | undefined {
  try {
    findTlsKeyModules({ data: '/tmp', workers: 1 });
    return undefined;
  } catch (error) {
    if (error instanceof StartRefused) return error.message;
    throw error;
  }
}

let daemon: Daemon | undefined;
afterEach(async () => {
  await daemon?.kill();
  daemon = undefined;
});

/** A copy of an appliance that has had its key in the store. */
async function start(name: string, place: 'token' | 'store' = 'token', workers = 1): Promise<Daemon> {
  const file = path(`${name}.yaml`);
  const modules =
    client === undefined ? '' : `tls-key-modules: ${JSON.stringify({ ...findTlsKeyModules({ data: '/tmp', workers: 1 }), client })}\n`;
  writeFileSync(file, `tls-key: ${place}\n${modules}hsm:\n  job-timeout: 3s\n`);
  daemon = await startDaemon({ directory: path(name), workers, firstStart: false, args: ['--config', file] });
  return daemon;
}

/** Connects as a client that trusts the appliance's CA. Rejects with the error of the handshake. */
function shakeHands({ caPem }: Daemon, url: string, session?: Buffer): Promise<TLSSocket> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), ca: caPem, ...(session === undefined ? {} : { session }) });
    socket.once('secureConnect', () => resolve(socket)).on('error', reject);
  });
}

async function sessionOf(served: Daemon): Promise<Buffer> {
  const socket = await shakeHands(served, served.url);
  const session = new Promise<Buffer>((resolve) => socket.once('session', resolve));
  socket.write('GET /v1/state/system/health HTTP/1.1\r\nhost: localhost\r\n\r\n');
  return session.finally(() => socket.destroy());
}

async function certificateOf(served: Daemon, url: string): Promise<X509Certificate> {
  const socket = await shakeHands(served, url);
  const certificate = socket.getPeerX509Certificate();
  socket.destroy();
  if (certificate === undefined) throw new Error('the server showed no certificate');
  return certificate;
}

const publicKeyOf = (certificate: X509Certificate): string => certificate.publicKey.export({ format: 'der', type: 'spki' }).toString('hex');

/** The process that holds the token for the thread that signs: the one that was started last, from the sources or from the bundle. */
const signingHost = ({ pid }: Daemon): number => Math.max(...processesBelow(pid, '/host.'));

const run = (command: string, args: readonly string[]): Promise<string> =>
  new Promise((resolve) => {
    const child = execFile(command, args, { timeout: 60_000 }, (_error, out, err) => resolve(out + err));
    child.stdin?.end();
  });

describe.skipIf(missing !== undefined)('tls-key: token', () => {
  test('openssl and curl shake hands on both ports, in TLS 1.3 and 1.2, with a key that cannot leave the token; every worker resumes sessions', async () => {
    const served = await start('handshakes', 'token', 2);
    const ca = join(path('handshakes'), 'tls/ca.pem');
    for (const url of [served.url, served.estUrl]) {
      for (const version of ['-tls1_3', '-tls1_2']) {
        const said = await run('openssl', ['s_client', '-connect', new URL(url).host, '-CAfile', ca, '-verify_return_error', version]);
        expect(said).toContain('Verify return code: 0 (ok)');
      }
      expect(await run('curl', ['-sS', '--cacert', ca, '-o', '/dev/null', '-w', '%{http_code}', `${url}/`])).toMatch(/^[2-5]\d\d$/);
    }
    const { tokens } = (await served.request('POST', '/v1/state/system/test-hsm', {})) as {
      tokens: { objects: { label: string; sensitive: boolean; extractable: boolean }[] }[];
    };
    const key = tokens.flatMap(({ objects }) => objects).filter(({ label }) => / v1 tls/.test(label));
    expect(key).toMatchObject([{ sensitive: true, extractable: false }]);

    // Whichever worker takes it.
    const session = await sessionOf(served);
    const resumed = Array.from({ length: 12 }, async () => {
      const socket = await shakeHands(served, served.url, session);
      const isReused = socket.isSessionReused();
      socket.destroy();
      return isReused;
    });
    expect(new Set(await Promise.all(resumed))).toEqual(new Set([true]));
  });

  test('a sealed appliance shows another key from the moment it has no token, and never fails to shake hands', async () => {
    const served = await start('sealed');
    const serving = await certificateOf(served, served.url);
    const [worker] = processesBelow(served.pid, '/worker.');
    const isRunning = (): boolean => processesBelow(served.pid, '/worker.').includes(worker ?? 0);
    expect(isRunning()).toBe(true);
    await served.request('POST', '/v1/state/keystore/system/seal', {});
    // Before the processes that start sealed serve, beside them, and when the one from before has ended.
    for (let afterwards = 0; afterwards < 5; afterwards += isRunning() ? 0 : 1)
      for (const url of [served.url, served.estUrl]) expect(publicKeyOf(await certificateOf(served, url))).not.toBe(publicKeyOf(serving));
    const kept = JSON.parse(readFileSync(join(path('sealed'), 'tls/sealed-identity.json'), 'utf8')) as { key: string; cert: string };
    expect(new X509Certificate(kept.cert).publicKey.equals(serving.publicKey)).toBe(false);
    expect((await ask(served.url, '/v1/state/system/health', { ca: served.caPem })).status).toBe(503);
  });

  test('back to the store: the certificate from before, and the key is no longer in the token', async () => {
    const before = await start('moved', 'store');
    const first = await certificateOf(before, before.url);
    await before.stop();
    const moved = await start('moved');
    expect(publicKeyOf(await certificateOf(moved, moved.url))).not.toBe(publicKeyOf(first));
    await moved.stop();
    const after = await start('moved', 'store');
    expect((await certificateOf(after, after.url)).serialNumber).toBe(first.serialNumber);
    const objects = JSON.stringify(await after.request('POST', '/v1/state/system/test-hsm', {}));
    expect(objects).not.toContain(' v1 tls');
  });

  test('a token that hangs ends new handshakes with an alert, while open connections and sessions go on; when its process is replaced it works again', async () => {
    const served = await start('hangs');
    const session = await sessionOf(served);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const health = () => ask(served.url, '/v1/state/system/health', { ca: served.caPem, agent });
    expect((await health()).status).toBe(200);
    process.kill(signingHost(served), 'SIGSTOP');
    for (const url of [served.url, served.estUrl, served.url])
      await expect(shakeHands(served, url)).rejects.toThrow('alert internal error');
    const resumed = await shakeHands(served, served.url, session);
    expect(resumed.isSessionReused()).toBe(true);
    resumed.destroy();
    const said = await health();
    expect(said.status).toBe(503);
    expect(said.body['listener-key']).toMatchObject({ state: 'down' });
    await expect.poll(() => shakeHands(served, served.estUrl).then((socket) => socket.destroy().destroyed), { timeout: 60_000 }).toBe(true);
    await expect.poll(async () => (await health()).status).toBe(200);
    agent.destroy();
    process.kill(signingHost(served), 'SIGKILL');
    await expect.poll(() => shakeHands(served, served.url).then((socket) => socket.destroy().destroyed), { timeout: 60_000 }).toBe(true);
    expect(served.output()).not.toContain('worker 1 ended');
  });
});

test('a start without the engine names the file, the package and the way back', async () => {
  const file = path('refused.yaml');
  writeFileSync(file, 'tls-key: token\ntls-key-modules:\n  engine: /nowhere/pkcs11.so\n  client: /nowhere/p11-kit-client.so\n');
  const started = startDaemon({ directory: path('refused'), firstStart: true, args: ['--config', file] });
  await expect(started).rejects.toThrow(/tls-key: token needs engines-3\/pkcs11\.so, .*libengine-pkcs11-openssl.*tls-key: store/);
  expect(existsSync(join(path('refused'), 'store'))).toBe(false);
});
