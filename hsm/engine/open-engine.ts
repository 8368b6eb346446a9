// Opens and closes the engine of a host's main thread, and protects SoftHSM's files around the login.
import type { TokenConfig } from '../api.ts';
import { Engine } from './engine.ts';
import { copyTokenObjects, findTokenDirectory, restoreTokenObjects } from '../files/softhsm.ts';
import { withStartLock } from '../files/start-lock.ts';

/** The message that starts a host. */
export type OpenOptions = { readonly token: TokenConfig; readonly cacheKeys: number; readonly jobTimeoutSeconds: number };

/** An engine's description of its token. */
export type TokenDescription = ReturnType<Engine['describe']>;

/**
 * Opens the token and logs in. The start lock serialises starts on one token, so that no process reads the token's file while another one
 * rewrites it.
 */
export function openEngine({ token: { pin, ...token }, cacheKeys }: OpenOptions): { engine: Engine; description: TokenDescription } {
  return withStartLock(token, () => {
    const directory = findTokenDirectory(token);
    restoreTokenObjects(directory);
    const engine = new Engine({ token, cacheKeys, pin });
    if (directory !== undefined) copyTokenObjects(directory);
    return { engine, description: engine.describe() };
  });
}

/** Logs out and ends the sessions. */
export function closeEngine(engine: Engine): void {
  engine.close();
}
