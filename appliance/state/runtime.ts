// The opened tokens and store of a process, for first boot and for workers.
import type { Configuration } from '../../core/config/config.ts';
import type { Log } from '../../core/base/context.ts';
import { fail } from '../../core/base/errors.ts';
import { revealSecret } from '../../core/base/secret.ts';
import { recordBytesThatFit } from '../../core/config/memory.ts';
import { openStore, type OpenStore } from '../../core/store/open.ts';
import type { Hsm, HsmConfig } from '../../hsm/api.ts';
import { openHsm } from '../../hsm/client/open.ts';
import { refusingHsmErrors } from './hsm-config.ts';
import { paths } from './paths.ts';
import { findStoreToken, provideStoreKey } from './store-key.ts';

export type Runtime = { readonly hsm: Hsm; readonly store: OpenStore; close(): Promise<void> };

/** Opens tokens and store. Throws StartRefused with one line that names the cause and the fix; nothing stays open then. */
export async function openRuntime(configuration: Configuration, hsmConfig: HsmConfig, log: Log): Promise<Runtime> {
  const hsm = await refusingHsmErrors(() =>
    openHsm(hsmConfig, {
      onEvent: ({ kind, token, message }) => (kind === 'token-up' ? log.info(message, { token }) : log.warn(message, { token })),
    }),
  );
  try {
    const directory = paths.store(configuration.data);
    const dataKey = await refusingHsmErrors(() => provideStoreKey(hsm, configuration.data, directory));
    const token = findStoreToken(configuration.data) ?? '';
    const cacheBytes = recordBytesThatFit(configuration.workers);
    const store = await openStore({ directory, dataKey, log, cacheBytes, requireKept: () => requireKept(hsm, token) });
    revealSecret(dataKey).fill(0);
    return {
      hsm,
      store,
      async close() {
        await store.close();
        await hsm.close();
      },
    };
  } catch (error) {
    await hsm.close();
    throw error;
  }
}

/** The store key is wrapped by a token: without that token's own keys no restart could open what is written now. */
function requireKept(hsm: Hsm, token: string): void {
  const damage = hsm.damage(token);
  if (damage !== undefined) throw fail('hsm-unavailable', { retryAfterSeconds: 5, detail: `Nothing is changed: ${damage}.` });
}
