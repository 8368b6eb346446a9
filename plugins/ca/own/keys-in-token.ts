// CA keys that are objects in one token, where several tokens are to open what one has made: a group, or a cluster of a token in each appliance.
// They cannot be carried: the CA gets another key, and the former one continues to sign revocation lists for its certificates, where its
// object is.
import type { Job } from '../../../core/base/context.ts';
import type { CaKeyInToken } from '../../../core/plugin/services/member-certificates.ts';
import { isKeyLost } from '../../../hsm/api.ts';
import { ledgerReference } from '../authority/generation.ts';
import type { FoundCa } from '../authority/lookup.ts';
import type { CaContext } from '../context.ts';
import { type CaGeneration, newestGeneration } from '../records/records.ts';
import { currentCrl } from '../status/crl.ts';
import { findOutstanding } from '../status/last-crl.ts';

type Found = { readonly ca: FoundCa; readonly generation: CaGeneration };

/** Tells whether several tokens are to open this key, and it is in only one of them. */
export function isStranded({ hsm }: CaContext, { key }: CaGeneration): boolean {
  return key.stored.custody === 'token' && hsm.ownCustody(key.type) === 'wrapped';
}

/** Lists the keys for `keysInToken` of the service. */
export function caKeysInToken(context: CaContext): readonly CaKeyInToken[] {
  return Array.from(keysInToken(context), ({ ca, generation }) => ({
    tenantId: ca.tenantId,
    ca: ca.record.name,
    isNewest: newestGeneration(ca.record) === generation,
    // The appliance has renewed what it had under the former key of its own CA.
    neededUntil: ca.record.ownedByAppliance === true ? undefined : findOutstanding(context, ca).ends[generation.generation],
  }));
}

function* keysInToken({ tables }: CaContext): Iterable<Found> {
  for (const [[tenantId], record] of tables.cas.entries([]))
    for (const generation of record.generations)
      if (generation.key.stored.custody === 'token') yield { ca: { tenantId: String(tenantId), record }, generation };
}

const lookEverySeconds = 60;

/** Job of the appliance that has the objects, whichever one leads the jobs: the revocation lists of these keys. */
export function strandedListsJob(context: CaContext): Job {
  /** objects that this appliance does not have */
  const elsewhere = new Set<string>();
  return {
    name: 'ca-keys-in-token',
    everySeconds: lookEverySeconds,
    isOfEach: true,
    async run(signal) {
      context.store.refresh();
      for (const { ca, generation } of keysInToken(context)) {
        const reference = ledgerReference({ tenantId: ca.tenantId, caId: ca.record.id }, generation);
        const name = `${ca.record.id}/${generation.generation}`;
        if (signal.aborted) return;
        if (!isStranded(context, generation) || elsewhere.has(name)) continue;
        try {
          // The key is asked for evidence first: a list that cannot be signed would take a number.
          await context.hsm.evidence(reference);
          await currentCrl(context, ca, generation);
        } catch (error) {
          if (!isKeyLost(error)) throw error;
          elsewhere.add(name);
        }
      }
    },
  };
}
