// Changes the user PIN of a token whose PIN the appliance chose itself and keeps in a file: the new one is random, and never shown.
import { randomBytes } from 'node:crypto';
import { Secret } from '../../core/base/secret.ts';
import { fail } from '../../core/base/errors.ts';
import type { TokenConfig } from '../../hsm/api.ts';
import { changePin } from '../../hsm/setup/setup.ts';

const pinBytes = 16;

/** `keeps`: tells whether the appliance knows the PIN of a token from a file of its own. */
export type OwnPins = {
  keeps(token: string): boolean;
  /** Resolves when the token and the file have the new PIN. Throws operation-refused for a token whose PIN is kept elsewhere. */
  change(token: string): Promise<void>;
};

/** Of the tokens as they are configured; none where a person gives the PIN at every start. */
export function ownPins(tokens: readonly TokenConfig[]): OwnPins {
  const own = new Map(
    tokens.flatMap((token) => ('file' in token.pin && token.pin.next !== undefined ? [[token.name, token] as const] : [])),
  );
  return {
    keeps: (token) => own.has(token),
    async change(name) {
      const token = own.get(name);
      if (token === undefined) throw fail('operation-refused', { detail: notKept });
      await changePin({ ...token, newPin: { given: new Secret(randomBytes(pinBytes).toString('hex')) }, user: 'user' });
    },
  };
}

const notKept =
  'The appliance does not keep the PIN of this token: change it on the machine that does, with keystorectl hsm change-pin --new-pin-file.';
