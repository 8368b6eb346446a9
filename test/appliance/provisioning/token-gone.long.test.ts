// The token's files go while the appliance runs, which keeps all it needs in memory: health says so, and nothing is acknowledged that a restart
// could not open.
import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
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

// A daemon for each case: a host that is being replaced when the files go a second time has nothing in memory.
test.each([
  { how: 'removed', leave: () => undefined, says: { state: 'damaged', reason: expect.stringContaining('do not restart') } },
  { how: 'emptied', leave: mkdirSync, says: { state: 'damaged', reason: expect.stringContaining('do not restart') } },
  // A link to itself: the system says neither that it is there nor that it is not.
  {
    how: 'out of reach',
    leave: (tokens: string) => symlinkSync(tokens, tokens),
    says: { state: 'down', reason: expect.stringContaining('cannot be reached') },
  },
])(
  'while the token directory is $how, nothing is made or changed and loaded keys work; when it is back, all works again',
  { timeout: 300_000 },
  async ({ how, leave, says }) => {
    const directory = path(how);
    const daemon = await startDaemon({ directory, workers: 2 });
    const exchange: typeof daemon.exchange = (...request) => daemon.exchange(...request);
    await daemon.request('POST', keys, { name: 'loaded' });
    // Every process has it in memory.
    for (let count = 0; count < 12; count++) await daemon.request('POST', encrypt, { plaintext: 'aGVsbG8=' });
    const [tokens, away] = [join(directory, 'softhsm'), path(`${how}-away`)];
    renameSync(tokens, away);
    leave(tokens);
    const refused = [
      ...['aes256-gcm96', 'ecdsa-p256', 'rsa-2048'].map((cipher) => exchange('POST', keys, { name: `lost-${cipher}`, cipher })),
      ...['wrapped', 'token'].map((custody) => exchange('POST', keys, { name: `lost-${custody}`, custody })),
      exchange('POST', '/v1/state/keystore/transit-keys/loaded/rotate'),
      exchange('POST', policies, policy('lost')),
    ];
    for (const answer of await Promise.all(refused)) expect(answer).toMatchObject({ status: 503, body: { code: 'hsm-unavailable' } });
    // What the workers said less than half a second ago is said again.
    await expect
      .poll(() => exchange('GET', health), { timeout: 60_000 })
      .toMatchObject({
        status: 503,
        body: { status: 'down', hsm: { tokens: [says] } },
      });
    expect((await exchange('POST', encrypt, { plaintext: 'aGVsbG8=' })).status).toBe(200);

    rmSync(tokens, { recursive: true, force: true });
    renameSync(away, tokens);
    await expect.poll(async () => (await exchange('GET', health)).body, { timeout: 60_000 }).toMatchObject({ status: 'ok' });
    // Each process notices by itself, within seconds.
    await expect.poll(async () => (await exchange('POST', keys, { name: 'back' })).status, { timeout: 60_000 }).toBe(201);
    await expect.poll(async () => (await exchange('POST', policies, policy('back'))).status, { timeout: 60_000 }).toBe(201);
    await daemon.kill();

    const again = await startDaemon({ directory, workers: 1 });
    await again.request('POST', '/v1/state/keystore/transit-keys/back/encrypt', { plaintext: 'aGVsbG8=' });
    await again.request('GET', `${policies}/back`);
    expect(((await again.request('GET', keys)) as { name: string }[]).map(({ name }) => name)).toEqual(['back', 'loaded']);
    expect(await again.stop()).toBe(0);
  },
);
