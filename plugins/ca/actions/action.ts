// Parts shared by the actions of a TLS CA: their path, the CA that a path names, and changing its record.
import { fail } from '../../../core/base/errors.ts';
import type { EndpointCall } from '../../../core/http/endpoint.ts';
import type { WriteTransaction } from '../../../core/store/store.ts';
import { needsSystemRoot, reservedRefusal } from '../../../core/access/reserved.ts';
import { findCa, type FoundCa, ofTheAppliance } from '../authority/lookup.ts';
import type { CaContext } from '../context.ts';
import { failCa } from '../errors.ts';
import type { CaRecord } from '../records/records.ts';

export const caPath = '/v1/state/keystore/tls/ca/{name}';

/** Settings without which nothing uses one-time secrets, and no device waits. */
export const withRegistration: readonly string[] = ['scep/enabled', 'cmp/enabled'];

/** The setting without which nothing uses keys for accounts. */
export const withAccounts: readonly string[] = ['acme/enabled'];

/** Use of the CA by an action. People may only read the CAs of the appliance, and root of the tenant `system` renews them. */
type CaUse = 'read' | 'act' | 'renew';

/** Finds the CA of the path in the caller's tenant; throws `not-found`, and `built-in` or `policy-denied` for one of the appliance. */
export function findCaOf(context: CaContext, use: CaUse): (call: EndpointCall) => FoundCa {
  return (call) => {
    const found = findCa(context, call.caller.tenantId, call.params['name'] ?? '');
    if (found === undefined) throw fail('not-found', { detail: 'There is no TLS CA of this name.' });
    if (use !== 'read' && found.record.ownedByAppliance === true) requireOwner(call, use);
    return found;
  };
}

function requireOwner({ caller }: EndpointCall, use: CaUse): void {
  if (use !== 'renew') throw fail('built-in', { detail: ofTheAppliance });
  if (reservedRefusal('system-root', caller) !== undefined) throw fail('policy-denied', { detail: needsSystemRoot });
}

/** Commits a change to the present record of the CA; throws `not-found` when it was deleted meanwhile. */
export async function changeCa(
  context: CaContext,
  ca: FoundCa,
  build: (present: CaRecord, transaction: WriteTransaction) => CaRecord,
): Promise<void> {
  const key = [ca.tenantId, ca.record.name];
  await context.store.write((transaction) => {
    const present = transaction.get(context.tables.cas, key);
    if (present?.id !== ca.record.id) throw deletedMeanwhile();
    transaction.put(context.tables.cas, key, build(present, transaction));
  });
}

export const deletedMeanwhile = () => fail('not-found', { detail: 'The CA was deleted meanwhile.' });

/** The refusal of what needs the private key of a CA that is only trusted. */
export function noKey(ca: FoundCa) {
  return failCa('ca-has-no-key', { detail: `CA "${ca.record.name}" is trust-only: it has a certificate but no key.` });
}
