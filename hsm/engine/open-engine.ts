// Opens and closes the engine of a host's main thread, and protects SoftHSM's files around the login.
import type { TokenConfig } from '../api.ts';
import { Engine } from './engine.ts';
import { provenTypes } from './known-answers.ts';
import { provenVariants } from './known-variants.ts';
import { copyTokenObjects, findTokenDirectory, restoreTokenObjects } from '../files/softhsm.ts';
import { withStartLock } from '../files/start-lock.ts';
import { mechanismName } from '../pkcs11/module.ts';

/** The message that starts a host. */
export type OpenOptions = {
  readonly token: TokenConfig;
  readonly cacheKeys: number;
  readonly jobTimeoutSeconds: number;
  readonly checkAnswers?: boolean | undefined;
};

/** Description of a token, from the token itself. */
export type TokenDescription = ReturnType<typeof describe>;

/**
 * Opens the token and logs in. The start lock serialises starts on one token, so that no process reads the token's file while another one
 * rewrites it.
 */
export function openEngine(options: OpenOptions): { engine: Engine; description: TokenDescription } {
  const { cacheKeys, checkAnswers } = options;
  const { pin, ...token } = options.token;
  return withStartLock(token, () => {
    const directory = findTokenDirectory(token);
    restoreTokenObjects(directory);
    const engine = new Engine({ token, cacheKeys, pin, checkAnswers });
    if (directory !== undefined) copyTokenObjects(directory);
    return { engine, description: describe(engine) };
  });
}

/** Logs out and ends the sessions. */
export function closeEngine(engine: Engine): void {
  engine.close();
}

function describe(engine: Engine) {
  const { module, slot } = engine.sessions;
  const { label, serial, manufacturer, model } = module.tokenInfo(slot);
  const keyTypes = provenTypes(engine);
  const ivSource = engine.gcm.source;
  const signatureVariants = provenVariants(engine, keyTypes);
  engine.signatureVariants = new Set(signatureVariants);
  return {
    label,
    serial,
    manufacturer,
    model,
    keyTypes,
    ivSource,
    signatureVariants,
    mechanisms: [...engine.mechanisms].map(mechanismName),
  };
}
