// Services for plugins that are started without serving: by the first steps of a start, and by the check of a stopped appliance.
import type { Audit } from '../../core/audit/record.ts';
import { defined } from '../../core/base/defined.ts';
import type { Configuration } from '../../core/config/config.ts';
import type { Appliances } from '../../core/plugin/services/appliances.ts';
import type { CustodyStatements } from '../../core/plugin/services/custody-statements.ts';
import type { Listeners } from '../../core/plugin/services/listeners.ts';
import { StartRefused } from '../start-refused.ts';

/** Says where the listeners would be; none is opened. */
export function closedListeners({ estListen, certificateListen, hosts, publicUrl }: Configuration): Listeners {
  return {
    serving: false,
    est: estListen,
    ...defined({ certificate: certificateListen }),
    hosts,
    managementUrl: publicUrl,
    sealed: () => false,
    identity: () => ({ key: '', cert: '' }),
    onIdentityChange: () => () => undefined,
  };
}

/** No other one is asked for anything. */
export const noAppliances: Appliances = { list: () => Promise.resolve([]) };

/** Nobody asks for a statement. */
export const closedStatements: CustodyStatements = {
  recordedSince: () => undefined,
  sign: () => Promise.reject(new StartRefused('no statements are signed while nothing is served')),
};

/** Nothing is done on behalf of a caller, so there is nothing to record. */
export const closedAudit: Audit = {
  writable: false,
  write: () => Promise.reject(new StartRefused('no audit records are written while nothing is served')),
};
