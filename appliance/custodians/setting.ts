// A PIN set at the token by a ceremony, or by the end of the custody. The present PIN is proven first, and after a cut at any line somebody has the one that
// the token has: custodians, or the person who gave the other.
import { randomBytes } from 'node:crypto';
import { reasonOf } from '../../core/base/errors.ts';
import { revealSecret, Secret } from '../../core/base/secret.ts';
import { formatTimestamp, systemClock } from '../../core/base/time.ts';
import { HsmError, type TokenConfig } from '../../hsm/api.ts';
import { openHsm } from '../../hsm/client/open.ts';
import { changePin } from '../../hsm/setup/setup.ts';
import { StartRefused } from '../start-refused.ts';
import { refusingHsmErrors } from '../tokens/hsm-config.ts';
import {
  type Ceremony,
  dropCeremonies,
  dropNext,
  keepNext,
  makeCeremony,
  openPins,
  readShares,
  shareBeside,
  takeEffect,
  withdraw,
} from './ceremony.ts';
import type { Share } from './share.ts';

/** The present PIN, and the ceremony whose shares have opened it; undefined for the PIN of a person. */
export type PresentPin = { readonly pin: Secret<string>; readonly opened: Ceremony | undefined };

type Change = PresentPin & { readonly data: string; readonly token: TokenConfig };

export type Ceremonial<Delivered> = Change & {
  readonly needed: number;
  /** of each custodian, as it is kept beside the ceremony */
  readonly recipients: readonly string[];
  /** Gives the shares to them, in the same order. */
  readonly deliver: (ceremony: string, shares: readonly Secret<string>[]) => Promise<Delivered>;
};

/** Gives each custodian a share of a new PIN, delivered and proven before the token gets it. The caller holds the data directory. */
export async function sharePin<Delivered>({ needed, recipients, deliver, ...change }: Ceremonial<Delivered>): Promise<Delivered> {
  const { data, token } = change;
  const key = await settled(change);
  const next = new Secret(randomBytes(16).toString('hex'));
  const madeAt = formatTimestamp(systemClock.now());
  const { ceremony, shares } = await makeCeremony({ key, needed, recipients, pins: { [token.name]: next }, madeAt });
  const proven = await openPins(ceremony, readShares(ceremony, shares.slice(-needed)));
  if (revealSecret(proven[token.name] as Secret<string>) !== revealSecret(next)) throw new Error('the shares do not open the PIN');
  const delivered = await deliver(ceremony.ceremony, shares);
  keepNext(data, ceremony);
  await setPin(change, next, () => dropNext(data));
  takeEffect(data, ceremony);
  return delivered;
}

/**
 * Gives the token of a further appliance a new PIN, which the shares of the ceremony of another one open. The present PIN is that of a person. The caller
 * holds the data directory.
 */
export async function joinCeremony(
  change: Omit<Change, 'opened'>,
  { ceremony, shares }: { readonly ceremony: Ceremony; readonly shares: readonly Share[] },
): Promise<void> {
  const { data, token } = change;
  await settled({ ...change, opened: undefined });
  const next = new Secret(randomBytes(16).toString('hex'));
  const own = await shareBeside(ceremony, shares, { [token.name]: next });
  const proven = await openPins(own, shares);
  if (revealSecret(proven[token.name] as Secret<string>) !== revealSecret(next)) throw new Error('the shares do not open the PIN');
  keepNext(data, own);
  await setPin({ ...change, opened: undefined }, next, () => dropNext(data));
  takeEffect(data, own);
}

/** Ends the custody with a PIN that a person knows. The caller holds the data directory. */
export async function endCustody(change: Change, newPin: Secret<string>): Promise<void> {
  const { data, opened } = change;
  await settled(change);
  if (opened !== undefined) withdraw(data, opened);
  await setPin(change, newPin, () => opened && takeEffect(data, opened));
  dropCeremonies(data);
}

/** Proves the present PIN at the token, which tells the ceremony in force from those that open nothing. Returns octets of the token. */
async function settled({ data, opened, ...change }: Change): Promise<Secret<Uint8Array>> {
  const octets = await refusingHsmErrors(() => provenBy(change));
  if (opened === undefined) dropCeremonies(data);
  else {
    takeEffect(data, opened);
    dropNext(data);
  }
  return octets;
}

async function provenBy({ token, pin }: Pick<Change, 'token' | 'pin'>): Promise<Secret<Uint8Array>> {
  const opened = { ...token, pin: { given: pin } };
  const hsm = await openHsm({ tokens: [opened], defaultCustody: 'wrapped', cacheKeys: 64, jobTimeoutSeconds: 60 });
  try {
    return new Secret(await hsm.random(32));
  } finally {
    await hsm.close();
  }
}

/** `undo`: once the token has refused the new PIN, and is proven to have the present one. After any other error it may have either. */
async function setPin({ token, pin }: Change, newPin: Secret<string>, undo: () => void): Promise<void> {
  try {
    await changePin({ ...token, pin: { given: pin }, newPin: { given: newPin }, user: 'user' });
  } catch (error) {
    const isRefused = error instanceof HsmError && error.kind === 'refused';
    const keepsPresent =
      isRefused &&
      (await provenBy({ token, pin }).then(
        () => true,
        () => false,
      ));
    if (keepsPresent) {
      undo();
      throw new StartRefused(error.message, { cause: error });
    }
    throw new StartRefused(
      `${reasonOf(error)}. The token may have the new PIN or the former one, and both are kept: unseal the appliance with the new shares or the new PIN, then with the former ones`,
      { cause: error },
    );
  }
}
