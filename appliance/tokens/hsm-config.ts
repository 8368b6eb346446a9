// The tokens that a start opens, with their PINs.
import type { Configuration } from '../../core/config/config.ts';
import type { Secret } from '../../core/base/secret.ts';
import { HsmError, type HsmConfig } from '../../hsm/api.ts';
import { provideEmbeddedToken, requireTokenOfStore } from './embedded-token.ts';
import { StartRefused, tokenRefusal } from '../start-refused.ts';

/** The tokens of the configuration, or the embedded one. `step` is called with a line before a long step. */
export async function hsmConfigOf(configuration: Configuration, step: (text: string) => void): Promise<HsmConfig> {
  const { tokens, ...rest } = configuration.hsm;
  if (tokens.length > 0) return { ...rest, tokens };
  if (configuration.cluster === undefined) requireTokenOfStore(configuration.data);
  const embedded = await provideEmbeddedToken(configuration.data, step);
  // The embedded tokens of the others have the same own keys.
  return { ...rest, tokens: [configuration.cluster === undefined ? embedded : { ...embedded, group: embedded.name }] };
}

/** PINs from a person: one for all tokens, or by name of the token. */
export type GivenPins = {
  readonly pin?: Secret<string> | undefined;
  readonly pins?: Readonly<Record<string, Secret<string>>> | undefined;
};

/** The tokens with PINs from a person in place of the configured sources. Throws StartRefused for a token without one. */
export function withPins(config: HsmConfig, given: GivenPins): HsmConfig {
  const tokens = config.tokens.map((token) => {
    const pin = given.pins?.[token.name] ?? given.pin;
    if (pin === undefined) throw new StartRefused(`no PIN was given for token ${token.name}`);
    return { ...token, pin: { given: pin } };
  });
  return { ...config, tokens };
}

/** The tokens with the serial numbers under which they were open before. */
export function withSerials(config: HsmConfig, serials: Readonly<Record<string, string>>): HsmConfig {
  return { ...config, tokens: config.tokens.map((token) => ({ ...token, knownSerial: serials[token.name] })) };
}

/** Turns an HsmError into StartRefused. `configuration`: the one whose tokens are used; absent if the error does not concern one. */
export async function refusingHsmErrors<T>(run: () => Promise<T>, configuration?: Pick<Configuration, 'data' | 'hsm'>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    const embedded = configuration?.hsm.tokens.length === 0 ? configuration.data : undefined;
    throw error instanceof HsmError ? tokenRefusal(error, embedded) : error;
  }
}
