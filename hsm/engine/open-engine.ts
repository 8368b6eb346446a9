// Opening and closing the engine of a host's main thread, with the care SoftHSM's files need around a login.
import type { TokenConfig } from '../api.ts';
import { Engine } from './engine.ts';
import { copyTokenObjects, findTokenDirectory, restoreTokenObjects } from '../files/softhsm.ts';
import { withStartLock } from '../files/start-lock.ts';

/** What a host is told when it starts. */
export type OpenOptions = { readonly token: TokenConfig; readonly cacheKeys: number; readonly jobTimeoutSeconds: number };

/** What an engine says of its token. */
export type TokenDescription = ReturnType<Engine['describe']>;

/**
 * Opens the token and logs in. Starts at the same token wait for each other, and all that reads the token's file happens before the next
 * one may rewrite it.
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
