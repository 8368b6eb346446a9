// The token's files go while the appliance runs, which keeps all it needs in memory: health says so, and nothing is acknowledged that a restart
// could not open.
import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startDaemon } from '../../harness/daemon.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const keys = '/v1/config/keystore/transit-keys';
const policies = '/v1/config/policy/policies';
const encrypt = '/v1/state/keystore/transit-keys/loaded/encrypt';
const health = '/v1/state/system/health';
const policy = (name: string) => ({ name, 'rest-api': { rules: [] } });

test(
  'without the token directory nothing is made or changed, loaded keys go on, and with it all is well again',
  { timeout: 300_000 },
  async () => {
    const directory = path('gone');
    const daemon = await startDaemon({ directory, workers: 2 });
    const exchange: typeof daemon.exchange = (...request) => daemon.exchange(...request);
    await daemon.request('POST', keys, { name: 'loaded' });
    // Every process has it in memory.
    for (let count = 0; count < 12; count++) await daemon.request('POST', encrypt, { plaintext: 'aGVsbG8=' });
    const tokens = join(directory, 'softhsm');
    const acknowledged: string[] = [];
    for (const isEmptied of [false, true]) {
      renameSync(tokens, path('away'));
      if (isEmptied) mkdirSync(tokens);
      const refused = [
        ...['aes256-gcm96', 'ecdsa-p256', 'rsa-2048'].map((cipher) => exchange('POST', keys, { name: `lost-${cipher}`, cipher })),
        ...['wrapped', 'token'].map((custody) => exchange('POST', keys, { name: `lost-${custody}`, custody })),
        exchange('POST', '/v1/state/keystore/transit-keys/loaded/rotate'),
        exchange('POST', policies, policy('lost')),
      ];
      for (const answer of await Promise.all(refused)) expect(answer).toMatchObject({ status: 503, body: { code: 'hsm-unavailable' } });
      expect(await exchange('GET', health)).toMatchObject({
        status: 503,
        body: { status: 'down', hsm: { tokens: [{ state: 'damaged', reason: expect.stringContaining('do not restart') }] } },
      });
      expect((await exchange('POST', encrypt, { plaintext: 'aGVsbG8=' })).status).toBe(200);

      if (isEmptied) renameSync(tokens, path('empty'));
      renameSync(path('away'), tokens);
      const name = `back-${isEmptied}`;
      await expect.poll(async () => (await exchange('GET', health)).body, { timeout: 60_000 }).toMatchObject({ status: 'ok' });
      await expect.poll(async () => (await exchange('POST', keys, { name })).status, { timeout: 60_000 }).toBe(201);
      acknowledged.push(name);
      // Each process finds out for itself, within seconds.
      await expect.poll(async () => (await exchange('POST', policies, policy(name))).status, { timeout: 60_000 }).toBe(201);
    }
    await daemon.kill();

    const again = await startDaemon({ directory, workers: 1 });
    for (const name of acknowledged) {
      await again.request('POST', `/v1/state/keystore/transit-keys/${name}/encrypt`, { plaintext: 'aGVsbG8=' });
      await again.request('GET', `${policies}/${name}`);
    }
    expect(((await again.request('GET', keys)) as { name: string }[]).map(({ name }) => name)).toEqual([
      'back-false',
      'back-true',
      'loaded',
    ]);
    expect(await again.stop()).toBe(0);
  },
);
