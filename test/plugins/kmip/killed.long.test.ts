// The daemon is killed while clients make and destroy objects: everything that was acknowledged is there, and no object is half of one. Then its
// wrapping key is rotated with them.
import { hash, X509Certificate } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { afterAll, expect, test, vi } from 'vitest';
import { enumeration } from '../../../plugins/kmip/ttlv/item.ts';
import { type Daemon, freePort, startDaemon } from '../../harness/daemon.ts';
import { connectKmip, keyAttributes, type KmipClient, uid } from '../../harness/kmip/client.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { selfSignedIdentity } from '../../harness/tls.ts';

vi.setConfig({ testTimeout: 120_000 });
const at = temporaryDirectory();
const aKey = enumeration('ObjectType', 'SymmetricKey');
let daemon: Daemon;
afterAll(() => daemon?.stop());

/** Material of a key as Get answers it, hexadecimal. */
async function materialOf(client: KmipClient, id: string): Promise<string | undefined> {
  const [answer] = await client.ask([['Get', uid(id)]]);
  if (answer?.status !== 'Success') return undefined;
  const value = answer.payload.structure('SymmetricKey')?.structure('KeyBlock')?.structure('KeyValue')?.value('KeyMaterial', 'octets');
  return value === undefined ? undefined : Buffer.from(value).toString('hex');
}

test('what was acknowledged outlives a kill, a rotation goes along with it, and no object is half of one', async () => {
  const port = await freePort();
  writeFileSync(at('keystored.yaml'), `kmip:\n  listen: 127.0.0.1:${port}\n`);
  const options = { directory: at('data'), workers: 1, args: ['--config', at('keystored.yaml')] };
  daemon = await startDaemon(options);
  mkdirSync(at('client'));
  const identity = selfSignedIdentity(at('client'));
  const fingerprints = [hash('sha256', new X509Certificate(identity.cert).raw, 'hex')];
  await daemon.request('POST', '/v1/config/keystore/kmip-spaces', { name: 'arrays' });
  await daemon.request('POST', '/v1/config/keystore/kmip-clients', {
    name: 'array',
    space: 'arrays',
    fingerprints,
    'token-policies': ['root'],
  });
  const connect = () => connectKmip({ port, ca: daemon.caPem, ...identity });

  const kept = new Map<string, string>();
  const gone = new Set<string>();
  /** Makes keys and destroys every second one until the daemon is gone. */
  const work = async (): Promise<void> => {
    const client = await connect();
    try {
      for (;;) {
        const [id, other] = [await create(client), await create(client)];
        const material = await materialOf(client, id);
        if (material !== undefined) kept.set(id, material);
        await client.done('Destroy', uid(other));
        gone.add(other);
      }
    } catch {
      client.close();
    }
  };
  const create = async (client: KmipClient): Promise<string> =>
    (await client.done('Create', aKey, keyAttributes())).value('UniqueIdentifier', 'text') ?? '';
  const working = Promise.all([work(), work(), work()]);
  await expect.poll(() => Math.min(kept.size, gone.size), { timeout: 60_000 }).toBeGreaterThan(5);
  await daemon.kill();
  await working;

  daemon = await startDaemon({ ...options, rootToken: daemon.rootToken });
  await daemon.request('POST', '/v1/state/system/rotate-wrapping-key', {});
  const client = await connect();
  for (const [id, material] of kept) expect([id, await materialOf(client, id)]).toEqual([id, material]);
  for (const id of gone) expect([id, await materialOf(client, id)]).toEqual([id, undefined]);
  const list = (await daemon.request('GET', '/v1/state/keystore/kmip-spaces/arrays/objects?limit=1000')) as { id: string; state: string }[];
  expect(list.length).toBeGreaterThanOrEqual(kept.size + gone.size);
  for (const { id, state } of list) expect([id, (await materialOf(client, id)) !== undefined]).toEqual([id, state === 'pre-active']);
  client.close();
});
