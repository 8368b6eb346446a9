// How the daemon ends: neither port takes new connections, running requests get their time, and the audit trail gets its last signature.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { freePort, isFree, startDaemon } from '../../harness/daemon.ts';
import { openTls } from '../../harness/client.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { serviceUnderTest } from '../../harness/service-program.ts';

const path = temporaryDirectory();
const entry = await serviceUnderTest();
const portOf = (url: string): number => Number(new URL(url).port);

/** A request of which the body never comes. */
async function slowRequest(url: string, target: string, token: string): Promise<TLSSocket> {
  const socket = await openTls(portOf(url));
  const headers = `host: a\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n`;
  await new Promise((written) => socket.write(`POST ${target} HTTP/1.1\r\n${headers}{`, written));
  return socket;
}

test('while slow requests of both ports run, neither takes new connections; when their time is over the end is still an orderly one', async () => {
  const daemon = await startDaemon({ directory: path('slow') });
  const slow = [
    await slowRequest(daemon.url, '/v1/config/keystore/transit-keys', daemon.rootToken),
    await slowRequest(daemon.estUrl, '/.well-known/est/devices/simpleenroll', daemon.rootToken),
  ];
  // Asked after both, answered after both have been heard.
  await daemon.exchange('GET', '/v1/state/system/health');
  process.kill(daemon.pid, 'SIGTERM');
  await setTimeout(100);
  const stopped = daemon.stop();
  const closed = async (): Promise<boolean[]> => Promise.all([daemon.url, daemon.estUrl].map((url) => isFree(portOf(url))));
  await expect.poll(closed, { timeout: 9_000 }).toEqual([true, true]);
  expect(slow[0]?.readyState).toBe('open');
  expect(await stopped).toBe(0);
  const last = readdirSync(path('slow/audit')).filter((name) => name.startsWith('worker-1.'));
  const records = readFileSync(join(path('slow/audit'), String(last.at(-1))), 'utf8')
    .trim()
    .split('\n');
  expect(JSON.parse(String(records.at(-1)))).toMatchObject({ kind: 'head', signature: expect.any(String) });
  for (const socket of slow) socket.destroy();
});

/** Starts it for the first time, and interrupts it. Returns what it printed until its end, which was an orderly one. */
async function interruptedStart(
  data: string,
  env: Readonly<Record<string, string>>,
  interrupts: (said: string) => boolean,
): Promise<string> {
  const listen = ['--listen', `127.0.0.1:${await freePort()}`, '--est-listen', `127.0.0.1:${await freePort()}`];
  const child = spawn(process.execPath, [entry, '--data', data, ...listen, '--workers', '1'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    env: { ...process.env, ...env },
  });
  let said = '';
  const hear = (chunk: Buffer): void => {
    const before = said;
    said += chunk.toString();
    if (interrupts(before) || !interrupts(said)) return;
    // Ctrl-C: every process of the group, and the daemon once more by who launched it.
    process.kill(-Number(child.pid), 'SIGINT');
    child.kill('SIGINT');
  };
  for (const stream of [child.stdout, child.stderr]) stream.on('data', hear);
  const ended = await once(child, 'close');
  // A difference of long texts is printed in part, and the end of a process has its reason in its last lines.
  if (ended[0] !== 0) throw new Error(`the start ended with ${ended.join(' ')}:\n${said}`);
  return said;
}

test('interrupted in the middle of its first start, it makes what it has begun and ends in order; the next start goes on', async () => {
  const said = await interruptedStart(path('young'), {}, (text) => text.includes('making the embedded token'));
  expect(said).toContain('Its root token is in');
  expect(said).not.toContain('ready https://');
  const daemon = await startDaemon({ directory: path('young') });
  expect((await daemon.exchange('GET', '/v1/config/tenants')).status).toBe(200);
  expect(await daemon.stop()).toBe(0);
});

test.each([
  ['a worker that has its orders', 'worker.', 'await new Promise((resolve) => process.once("message", () => resolve(interrupt())))'],
  ['the host of its token', 'host.', 'interrupt()'],
  // As when the signal comes before it has a group of its own.
  ['the process that makes its token, which it ends,', 'setup-task.', 'interrupt(), process.kill(process.pid, "SIGINT")'],
])('interrupted while %s is still being loaded, as on a busy machine, it makes what it has begun', async (_, program, interrupts) => {
  const [preloaded, marker] = [path(`${program}mjs`), path(`${program}interrupted`)];
  writeFileSync(
    preloaded,
    `import { existsSync, readFileSync, writeFileSync } from 'node:fs';
    import { basename } from 'node:path';
    function interrupt() {
      writeFileSync(${JSON.stringify(marker)}, '');
      const [, , group] = readFileSync('/proc/' + process.ppid + '/stat', 'utf8').split(') ')[1].split(' ');
      process.kill(-group, 'SIGINT');
    }
    if (basename(process.argv[1] ?? '').startsWith('${program}') && !existsSync(${JSON.stringify(marker)})) ${interrupts};`,
  );
  const said = await interruptedStart(path(`${program}young`), { NODE_OPTIONS: `--import=${pathToFileURL(preloaded).href}` }, () => false);
  expect(existsSync(marker)).toBe(true);
  expect(said).toContain('Its root token is in');
  expect(said).not.toContain('ready https://');
});
