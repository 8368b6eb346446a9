// A new data directory over a token that another one has used: its wrapping key was rotated, and the first one is gone.
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { openHsm } from '../../../hsm/client/open.ts';
import { startDaemon } from '../../harness/daemon.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { makeSoftToken, testHsmConfig } from '../../harness/token/softhsm.ts';

const path = temporaryDirectory();
const run = promisify(execFile);

test('begins with the wrapping key that is there, misses none, and is well after a start', async () => {
  const token = await makeSoftToken(path());
  const hsm = await openHsm(testHsmConfig(token));
  expect(await hsm.wrappingKeys.makeNext(token.name, 1)).toBe(2);
  await hsm.wrappingKeys.destroy(token.name, 1);
  await hsm.close();
  writeFileSync(path('keystored.yaml'), JSON.stringify({ hsm: { tokens: [token] } }));
  const args = ['--config', path('keystored.yaml')];
  for (const name of ['one', 'two']) {
    const daemon = await startDaemon({ directory: path('data'), args });
    expect(await daemon.request('GET', '/v1/state/system/health')).toMatchObject({ status: 'ok' });
    const { tokens } = (await daemon.request('GET', '/v1/state/system/hsm')) as { readonly tokens: readonly object[] };
    expect(tokens).toMatchObject([{ 'wrapping-key': { number: 2, state: 'in-use', failed: 0 } }]);
    await daemon.request('POST', '/v1/config/keystore/transit-keys', { name });
    expect(await daemon.stop()).toBe(0);
  }
  const check = [resolve(import.meta.dirname, '../../../appliance/check.ts'), ...args, '--data', path('data')];
  expect((await run(process.execPath, check)).stdout).toBe('every invariant holds\n');
});
