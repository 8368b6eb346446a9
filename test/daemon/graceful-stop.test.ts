// How the daemon ends: neither port takes new connections, running requests get their time, and the audit trail gets its last signature.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { expect, test } from 'vitest';
import { isFree, startDaemon } from '../setup/daemon.ts';
import { temporaryDirectory } from '../setup/temporary.ts';

const path = temporaryDirectory();
const portOf = (url: string): number => Number(new URL(url).port);

/** A request of which the body never comes. */
function slowRequest(url: string, target: string, token: string): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port: portOf(url), rejectUnauthorized: false }, () => {
      const headers = `host: a\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n`;
      socket.write(`POST ${target} HTTP/1.1\r\n${headers}{`, () => resolve(socket));
    });
    socket.on('error', reject);
  });
}

test('while slow requests of both ports run, neither takes new connections; when their time is over the end is still an orderly one', async () => {
  const daemon = await startDaemon({ directory: path('slow') });
  const slow = [
    await slowRequest(daemon.url, '/v1/config/keystore/transit-keys', daemon.rootToken),
    await slowRequest(daemon.estUrl, '/.well-known/est/devices/simpleenroll', daemon.rootToken),
  ];
  // Asked after both, answered after both have been heard.
  await daemon.exchange('GET', '/v1/state/system/health');
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
