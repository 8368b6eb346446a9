// OpenPGP blocks and fingerprints outlive the process, also one that is killed.
import { expect, test } from 'vitest';
import { startDaemon, type Daemon } from '../../harness/daemon.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const keys = '/v1/config/keystore/transit-keys';

async function act(daemon: Daemon, name: string, action: string, body: object = {}): Promise<Record<string, unknown>> {
  return (await daemon.request('POST', `/v1/state/keystore/transit-keys/${name}/${action}`, body)) as Record<string, unknown>;
}

test('after SIGKILL and a new start, the blocks are the same octets and old signatures verify', async () => {
  const names = ['root', 'leaf'];
  const first = await startDaemon({ directory: path('data') });
  await first.request('POST', keys, { name: 'root', cipher: 'ecdsa-p256', 'openpgp-user-id': 'Ada <ada@example.org>' });
  await first.request('POST', keys, { name: 'leaf', cipher: 'ed25519', 'openpgp-primary': 'root', 'openpgp-key-usage': ['sign'] });
  const blocks = await Promise.all(names.map((name) => act(first, name, 'export-openpgp-public')));
  const { signature } = await act(first, 'leaf', 'openpgp-sign', { text: 'YQ==' });
  await first.kill();

  const second = await startDaemon({ directory: path('data') });
  try {
    expect(await Promise.all(names.map((name) => act(second, name, 'export-openpgp-public')))).toEqual(blocks);
    expect(await act(second, 'leaf', 'openpgp-verify', { text: 'YQ==', signature })).toMatchObject({ valid: true, version: 1 });
    const { signature: later } = await act(second, 'leaf', 'openpgp-sign', { text: 'YQ==' });
    expect(await act(second, 'leaf', 'openpgp-verify', { text: 'YQ==', signature: later })).toMatchObject({ valid: true, version: 1 });
  } finally {
    await second.stop();
  }
});
