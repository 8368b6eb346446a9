// The check of a stopped appliance starts all plugins without serving.
import { expect, test } from 'vitest';
import { startDaemon } from '../../harness/daemon.ts';
import { findUnsound } from '../../harness/kills/whole-check.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();

test('of an appliance that has been used it finds nothing', async () => {
  const daemon = await startDaemon({ directory: path('data'), workers: 1 });
  await daemon.request('POST', '/v1/config/keystore/transit-keys', { name: 'orders' });
  await daemon.stop();
  expect(await findUnsound(path('data'))).toEqual([]);
});
