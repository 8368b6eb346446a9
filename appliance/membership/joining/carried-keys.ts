// The token of an appliance that joins a cluster with a token in each: it gets the own keys of the others, wrapped for it alone.
import { setTimeout } from 'node:timers/promises';
import type { Log } from '../../../core/base/context.ts';
import type { TokenConfig } from '../../../hsm/api.ts';
import { closeTransport, openTransport, takeOwnKeys } from '../../../hsm/setup/setup.ts';
import { refusingHsmErrors } from '../../state/hsm-config.ts';
import type { Invitation } from '../invitation.ts';
import { askForKeys, type CarriedKeys, type Joiner } from '../inviter.ts';

const askAgainMs = 1_000;

/**
 * Resolves when the token has the keys, and everything that the cluster has is wrapped under them. Cut off, it begins again: the keys that the
 * token has by then are enough. Throws StartRefused.
 */
export async function takeKeysOf(
  invitation: Invitation,
  self: Pick<Joiner, 'appliance' | 'name'>,
  token: TokenConfig,
  log: Log,
): Promise<void> {
  const transport = await refusingHsmErrors(() => openTransport(token));
  let told: string | undefined;
  for (; ; await setTimeout(askAgainMs)) {
    const { state, done, total, keys } = await askForKeys(invitation, { ...self, transport });
    if (state === 'ready') return refusingHsmErrors(() => take(token, transport.id, keys));
    if (state !== told) log.info('the keys of the cluster are carried to the token', { state, done, total });
    told = state;
  }
}

/** Without keys the token has them: it was cut off after it took them. */
async function take(token: TokenConfig, id: string, keys: CarriedKeys | undefined): Promise<void> {
  if (keys === undefined) return closeTransport(token);
  const { parcel, ...gift } = keys;
  await takeOwnKeys(token, { id }, { ...gift, parcels: [parcel] }, 0);
}
