// The tokens that a start opens, with their PINs, and the remedies for errors of that configuration.
import type { Configuration } from '../../core/config/config.ts';
import type { Secret } from '../../core/base/secret.ts';
import { HsmError, type HsmConfig, type HsmErrorKind } from '../../hsm/api.ts';
import { provideEmbeddedToken } from './embedded-token.ts';
import { StartRefused } from './start-refused.ts';

/** The tokens of the configuration, or the embedded one. `step` is called with a line before a long step. */
export async function hsmConfigOf(configuration: Configuration, step: (text: string) => void): Promise<HsmConfig> {
  const { tokens, ...rest } = configuration.hsm;
  if (tokens.length > 0) return { ...rest, tokens };
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

/** How a person corrects errors of a token's configuration. */
const remedies: Partial<Record<HsmErrorKind, string>> = {
  configuration: 'correct hsm/tokens in the configuration (--config)',
  'pin-refused': 'correct the PIN that hsm/tokens names, or DIR/pin of the embedded token',
};

/** Turns an HsmError into StartRefused. */
export async function refusingHsmErrors<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof HsmError)) throw error;
    const remedy = remedies[error.kind];
    throw new StartRefused(remedy === undefined ? error.message : `${error.message}: ${remedy}`, { cause: error });
  }
}
