// The daemon as a user runs it: first start, next start, hard kill, orderly stop (design run).
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isFree, startDaemon } from '../../harness/daemon.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const keys = '/v1/config/keystore/transit-keys';
const actions = '/v1/state/keystore/transit-keys';

describe('life of the daemon', () => {
  test('what was acknowledged before kill -9 is there after the next start: the same key opens the earlier ciphertext', async () => {
    const directory = path('killed');
    const first = await startDaemon({ directory, workers: 2 });
    await first.request('POST', keys, { name: 'orders' });
    const { ciphertext } = (await first.request('POST', `${actions}/orders/encrypt`, { plaintext: 'aGVsbG8=' })) as { ciphertext: string };
    await first.kill();

    const second = await startDaemon({ directory, workers: 2 });
    expect(second.rootToken).toBe(first.rootToken);
    expect(await second.request('POST', `${actions}/orders/decrypt`, { ciphertext })).toMatchObject({ plaintext: 'aGVsbG8=' });
    expect(await second.stop()).toBe(0);
    expect(second.output()).not.toContain('This appliance is new');
  });

  test('the first start names the root token file, and its modes keep others out', async () => {
    const directory = path('modes');
    const daemon = await startDaemon({ directory, firstStart: true });
    expect(daemon.output()).toContain(join(directory, 'root-token'));
    expect(daemon.output()).not.toContain(daemon.rootToken);
    expect(daemon.output()).not.toContain(readFileSync(join(directory, 'pin'), 'utf8'));
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    for (const name of ['pin', 'so-pin', 'root-token', 'store-key.json']) expect(statSync(join(directory, name)).mode & 0o777).toBe(0o600);
    await daemon.stop();
  });

  test('SIGTERM lets a running request finish and ends with 0', async () => {
    const daemon = await startDaemon({ directory: path('modes') });
    const headers = { authorization: `Bearer ${daemon.rootToken}`, 'content-type': 'application/json', expect: '100-continue' };
    const slow = request(`${daemon.url}${keys}`, { method: 'POST', ca: daemon.caPem, agent: false, headers });
    const answered = once(slow, 'response');
    slow.flushHeaders();
    // Now the request runs, and waits for its body.
    await once(slow, 'continue');
    const ended = daemon.stop();
    await expect.poll(() => isFree(Number(new URL(daemon.url).port)), { timeout: 60_000 }).toBe(true);
    slow.end(JSON.stringify({ name: 'late' }));
    const [response] = (await answered) as [IncomingMessage];
    response.resume();
    expect(response.statusCode).toBe(201);
    expect(await ended).toBe(0);
  });
});
