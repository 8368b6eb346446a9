// A PIN of the embedded token that a person has chosen (hsm/embedded-pin). It replaces the random one. With an attended start no file holds
// it, nor the SO PIN, with which another user PIN could be set.
import { revealSecret } from '../../core/base/secret.ts';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { PinSource, TokenConfig } from '../../hsm/api.ts';
import { changePin, readPin } from '../../hsm/setup/setup.ts';
import { syncDirectory, writeDurably } from '../../core/base/durable-files.ts';

/** Marks that the file `pin` holds a PIN that a person knows, and may be removed. Without it an interrupted start would leave the file. */
const marker = 'pin.chosen';

/**
 * Sets the chosen PIN before the token is used. An attended appliance without a PIN file keeps its PIN. Rejects
 * with HsmError: `pin-refused` when the present PIN is another one, `refused` when the token does not take the new one, `configuration`.
 */
export async function takeChosenPin(directory: string, token: TokenConfig, chosen: PinSource, attended: boolean): Promise<void> {
  const file = join(directory, 'pin');
  if (existsSync(file)) {
    await changePin({ ...token, newPin: chosen, user: 'user' });
    if (attended) writeDurably(join(directory, marker), '');
  } else if (!attended) {
    // Changed to itself, because a wrong PIN must not be written to the file that every start uses.
    await changePin({ ...token, pin: chosen, newPin: chosen, user: 'user' });
    writeDurably(file, revealSecret(readPin(chosen)));
  }
}

/** Removes the files of an attended appliance whose PIN a person has chosen, once it can wait for that person. */
export function forgetChosenPin(directory: string, attended: boolean): void {
  if (!existsSync(join(directory, marker))) return;
  for (const name of attended ? ['pin', 'so-pin', marker] : [marker]) {
    rmSync(join(directory, name), { force: true });
    syncDirectory(directory);
  }
}
