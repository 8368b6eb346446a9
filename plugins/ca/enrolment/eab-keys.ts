// Keys for accounts of ACME (RFC 8555 section 7.3.4): HMAC keys that the token wraps, shown once, each for the names that an administrator wrote down.
import { equalConstantTime } from '../../../core/base/bytes.ts';
import type { ExternalAccountKey } from '../../../core/plugin/services/certificate-authority.ts';
import type { KeyHolder } from '../../../core/plugin/services/wrapping-keys.ts';
import type { StoreKey, WriteTransaction } from '../../../core/store/store.ts';
import type { KeyReference, StoredKey } from '../../../hsm/api.ts';
import type { FoundCa } from '../authority/lookup.ts';
import type { CaContext } from '../context.ts';
import type { EabKey } from '../records/enrolments.ts';

/** Octets of a key: as many as the hash of its HMAC has. */
const keyOctets = 32;

function bindingOf(tenantId: string, id: string): Pick<KeyReference, 'binding'> {
  return { binding: { tenant: tenantId, keyId: id, version: 1, purpose: 'eab' } };
}

/** Makes a key in the token. Returns it as the store keeps it, and once as clients take it, in base64url. Rejects with HsmError. */
export async function makeEabKey(
  { hsm }: CaContext,
  tenantId: string,
  id: string,
): Promise<{ readonly stored: StoredKey; readonly text: string }> {
  const octets = await hsm.random(keyOctets);
  const text = Buffer.from(octets).toString('base64url');
  const { stored } = await hsm.importKey('secret-256', Uint8Array.from(octets), bindingOf(tenantId, id).binding, { custody: 'wrapped' });
  octets.fill(0);
  return { stored, text };
}

export function eabReference(tenantId: string, { id, stored }: Pick<EabKey, 'id' | 'stored'>): KeyReference {
  return { ...bindingOf(tenantId, id), stored };
}

/** The records with such keys, for the rotation of the wrapping key. */
export function* eabKeyHolders({ tables }: CaContext): Iterable<KeyHolder> {
  for (const [storeKey, seen] of tables.eabKeys.allEntries([])) {
    const reference = eabReference(String(storeKey[0]), seen);
    yield {
      keys: [reference],
      replace(transaction, rewrapped) {
        const current = transaction.get(tables.eabKeys, storeKey);
        const stored = rewrapped.get(reference.stored);
        if (current === undefined || stored === undefined) return 0;
        transaction.put(tables.eabKeys, storeKey, { ...current, stored });
        return 1;
      },
    };
  }
}

/** A key by its id, as a protocol sees it; undefined for an unknown or revoked one. */
export function findEabKey(context: CaContext, ca: FoundCa, id: string): ExternalAccountKey | undefined {
  const place: StoreKey = [ca.tenantId, ca.record.id, id];
  // Keys of the store have a limit.
  const record = /^[0-9a-f-]{36}$/.test(id) ? context.tables.eabKeys.get(place) : undefined;
  if (record === undefined) return undefined;
  return {
    names: record.names,
    problem: problemOf(context, record),
    async verify(octets, mac) {
      return equalConstantTime(await context.hsm.hmac(eabReference(ca.tenantId, record), 'sha256', octets), mac);
    },
    spend: (transaction) => spend(context, transaction, place),
    isPresent: (transaction) => transaction.has(context.tables.eabKeys, place),
  };
}

/** Takes a use, inside the transaction that records the account. Returns the reason for which it cannot; undefined if it is done. */
function spend(context: CaContext, transaction: WriteTransaction, place: StoreKey): string | undefined {
  const { eabKeys } = context.tables;
  const present = transaction.get(eabKeys, place);
  if (present === undefined) return 'the external account key was revoked';
  const problem = problemOf(context, present);
  if (problem === undefined) transaction.put(eabKeys, place, { ...present, usesLeft: present.usesLeft - 1 });
  return problem;
}

function problemOf({ clock }: CaContext, { usesLeft, until }: EabKey): string | undefined {
  if (usesLeft <= 0) return 'the external account key was used already: ask for another one';
  return Temporal.Instant.compare(until, clock.now()) < 0 ? 'the external account key has expired: ask for another one' : undefined;
}
