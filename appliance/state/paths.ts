// The ground every process of the appliance stands on: its tokens opened, its store unlocked. Used by first boot and by workers.
import { join } from 'node:path';
import type { Configuration } from '../../core/config/config.ts';
import type { Log } from '../../core/base/context.ts';
import { fail } from '../../core/base/errors.ts';
import { revealSecret } from '../../core/base/secret.ts';
import { openStore, type OpenStore } from '../../core/store/open.ts';
import { HsmError, type Hsm, type HsmConfig, type HsmErrorKind } from '../../hsm/api.ts';
import { openHsm } from '../../hsm/client/open.ts';
import { provideEmbeddedToken } from './embedded-token.ts';
import { StartRefused } from './start-refused.ts';
import { findStoreToken, provideStoreKey } from './store-key.ts';

/** Where things lie below the data directory. */
export const places = {
  store: (data: string) => join(data, 'store'),
  audit: (data: string) => join(data, 'audit'),
  logs: (data: string) => join(data, 'logs'),
  tls: (data: string) => join(data, 'tls'),
  rootToken: (data: string) => join(data, 'root-token'),
} as const;

export type House = { readonly hsm: Hsm; readonly store: OpenStore; close(): Promise<void> };

/** The tokens of the configuration, or the embedded one. `step` is told what takes long. */
export async function hsmConfigOf(configuration: Configuration, step: (text: string) => void): Promise<HsmConfig> {
  const { tokens, ...rest } = configuration.hsm;
  return { ...rest, tokens: tokens.length > 0 ? tokens : [await provideEmbeddedToken(configuration.data, step)] };
}

/** PINs that a person gave: one for every token, or by name of the token. */
export type GivenPins = { readonly pin?: string | undefined; readonly pins?: Readonly<Record<string, string>> | undefined };

/** The tokens with the PINs of a person in place of the configured sources. Throws StartRefused for a token that got none. */
export function withPins(config: HsmConfig, given: GivenPins): HsmConfig {
  const tokens = config.tokens.map((token) => {
    const pin = given.pins?.[token.name] ?? given.pin;
    if (pin === undefined) throw new StartRefused(`no PIN was given for token ${token.name}`);
    return { ...token, pin: { given: pin } };
  });
  return { ...config, tokens };
}

/** Opens tokens and store. Throws StartRefused with one line that names the cause and the fix; nothing stays open then. */
export async function openHouse(configuration: Configuration, hsmConfig: HsmConfig, log: Log): Promise<House> {
  const hsm = await refusingHsmErrors(() =>
    openHsm(hsmConfig, {
      onEvent: ({ kind, token, message }) => (kind === 'token-up' ? log.info(message, { token }) : log.warn(message, { token })),
    }),
  );
  try {
    const directory = places.store(configuration.data);
    const dataKey = await refusingHsmErrors(() => provideStoreKey(hsm, configuration.data, directory));
    const token = findStoreToken(configuration.data) ?? '';
    const store = await openStore({ directory, dataKey, log, requireKept: () => requireKept(hsm, token) });
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

/** The key of the store is wrapped by a token: without that one's own keys no restart opens what is written. */
function requireKept(hsm: Hsm, token: string): void {
  const damage = hsm.damage(token);
  if (damage !== undefined) throw fail('hsm-unavailable', { retryAfterSeconds: 5, detail: `Nothing is changed: ${damage}.` });
}

/** What a person does about the errors that come from the configuration of a token. */
const remedies: Partial<Record<HsmErrorKind, string>> = {
  configuration: 'correct hsm/tokens in the configuration (--config)',
  'pin-refused': 'correct the PIN that hsm/tokens names, or DIR/pin of the embedded token',
};

/** Turns what the HSM floor says into a refusal of the start. */
export async function refusingHsmErrors<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof HsmError)) throw error;
    const remedy = remedies[error.kind];
    throw new StartRefused(remedy === undefined ? error.message : `${error.message}: ${remedy}`, { cause: error });
  }
}
