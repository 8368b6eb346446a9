// State of an unclaimed appliance: shown on its sign-in page and in its console, to be compared with the screen of the machine.
import { X509Certificate } from 'node:crypto';
import type { Listeners } from '../../../core/plugin/services/listeners.ts';
import type { BrowserSignIn } from '../../../core/plugin/services/sessions.ts';

/** SHA-256 of the appliance's CA, as its screen shows it; undefined for an appliance that has an owner, or shows no certificate. */
export type UnclaimedFingerprint = () => string | undefined;

export function unclaimedFingerprint(browsers: BrowserSignIn, { ca }: Listeners): UnclaimedFingerprint {
  return () => (ca !== undefined && browsers.isUnclaimed() ? new X509Certificate(ca()).fingerprint256 : undefined);
}
