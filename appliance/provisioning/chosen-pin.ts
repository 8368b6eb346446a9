// A PIN of the embedded token that a person has chosen (hsm/embedded-pin): it takes the place of the random one, and with an attended start
// it stands in no file of ours, nor does the SO PIN, which could set another.
import { revealSecret } from '../../core/base/secret.ts';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { PinSource, TokenConfig } from '../../hsm/api.ts';
import { changePin, readPin } from '../../hsm/setup/setup.ts';
import { syncDirectory, writeDurably } from '../../core/base/durable-files.ts';

/** Says that the file `pin` holds what a person knows and may go. Without it, a start that was cut would leave the file for ever. */
const marker = 'pin.chosen';

/**
 * Gives the token the chosen PIN, before anything is done with it. An attended appliance that holds no PIN keeps the one it has. Rejects
 * with HsmError: `pin-refused` when the present PIN is another one, `refused` when the token does not take the new one, `configuration`.
 */
export async function takeChosenPin(directory: string, token: TokenConfig, chosen: PinSource, attended: boolean): Promise<void> {
  const file = join(directory, 'pin');
  if (existsSync(file)) {
    await changePin({ ...token, newPin: chosen, user: 'user' });
    if (attended) writeDurably(join(directory, marker), '');
  } else if (!attended) {
    // Changed to itself, because what is not right must not lie in the file that every start goes by.
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
