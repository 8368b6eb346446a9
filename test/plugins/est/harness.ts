// A CA context for tests: a real SoftHSM2 token (or any other), a real store, and a clock that the test moves.
import { WrappingRotation } from '../../../appliance/wrapping-keys/rotation.ts';
import { randomBytes } from 'node:crypto';
import { afterAll } from 'vitest';
import { Secret } from '../../../core/base/secret.ts';
import { openStore, type OpenStore } from '../../../core/store/open.ts';
import { TestClock } from '../../harness/clock.ts';
import type { Hsm, TokenConfig } from '../../../hsm/api.ts';
import { openHsm } from '../../../hsm/client/open.ts';
import { type CaContext, openCaContext } from '../../../plugins/ca/context.ts';
import { makeSoftToken, testHsmConfig } from '../../harness/token/softhsm.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { silentLog } from '../../harness/log.ts';

export type TestContext = CaContext & {
  readonly clock: TestClock;
  readonly store: OpenStore;
  readonly hsm: Hsm;
  readonly directory: string;
};

/** Opens a context for one test file and closes it afterwards. */
export async function openTestContext(
  moreTokens: (directory: string) => Promise<readonly TokenConfig[]> = async () => [],
): Promise<TestContext> {
  const path = temporaryDirectory();
  const hsm = await openHsm(testHsmConfig(await makeSoftToken(path('hsm')), ...(await moreTokens(path('more')))));
  const store = await openStore({ directory: path('store'), dataKey: new Secret(new Uint8Array(randomBytes(32))) });
  afterAll(async () => {
    await store.close();
    await hsm.close();
  });
  const clock = new TestClock('2026-11-01T12:00:00Z');
  return {
    ...openCaContext({
      hsm,
      store,
      clock,
      log: silentLog,
      rotation: new WrappingRotation({ store, hsm, clock }),
      statusUrl: () => 'https://keystore.example:4646',
    }),
    clock,
    store,
    hsm,
    directory: path(),
  };
}
