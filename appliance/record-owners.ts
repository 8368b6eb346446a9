// Whose each record of the store is when several appliances share it. A table that is not named here is not to be used in a cluster: a test
// compares this list with the tables that the sources open.
import { claimingRole } from '../core/access/claiming.ts';
import { systemTenantName } from '../core/access/tenants.ts';
import type { OpenStore } from '../core/store/open.ts';
import { writeInPieces } from '../core/store/records/pieces.ts';
import type { Table, WriteTransaction } from '../core/store/store.ts';

/**
 * `all`: means the same to every appliance, no matter which of them writes it. `each`: a record for each appliance, with its id at the end of the key; one that
 * stands alone has the record without it. `chains`: by names of chains of the audit trail, which begin with the id of their appliance. `cluster`:
 * about the appliances themselves; one that stands alone has none.
 */
type Owner = 'all' | 'each' | 'chains' | 'cluster';

/** By the full name of the table. */
export const recordOwners: Readonly<Record<string, Owner>> = {
  appliances: 'cluster',
  approles: 'all',
  'approle-role-ids': 'all',
  'attestation-keys': 'all',
  // Keys that are being made name the appliance that makes them.
  'attestation-pending': 'all',
  'audit-chains': 'chains',
  // Each key names its appliance and stays when that is gone: it verifies what it has signed.
  'audit-keys': 'all',
  'audit-signed-heads': 'all',
  'backup-history': 'all',
  // One at a time, whichever appliance makes it: the record names it.
  'backup-running': 'all',
  // One credential for all: the record names the appliance that has it.
  bootstrap: 'all',
  'ca/lines': 'all',
  'cluster-credentials': 'cluster',
  'cluster-credentials-applied': 'cluster',
  // About appliances that are about to come in.
  'cluster-guests': 'cluster',
  // Good for an hour, and for the members that there are.
  'cluster-invitations': 'cluster',
  'console/sessions': 'all',
  'core/migrations': 'all',
  'entity-tag-key': 'all',
  'est/cas': 'all',
  'est/certificates': 'all',
  'est/crls': 'all',
  'est/last-crls': 'all',
  'est/listener-identity': 'each',
  'est/removed-cas': 'all',
  'est/revocations': 'all',
  'est/secret-failures': 'all',
  // Keys that are being made name the appliance that makes them.
  'est/unclaimed-keys': 'all',
  'export-history': 'all',
  findings: 'each',
  'job-holder': 'cluster',
  'login-failures': 'all',
  'oidc/failed-logins': 'all',
  'oidc/hand-off-places': 'all',
  'oidc/hand-offs': 'all',
  'oidc/pending-logins': 'all',
  'oidc/pending-order': 'all',
  'oidc/pending-places': 'all',
  'oidc/roles': 'all',
  'oidc/services': 'all',
  'oidc/sessions': 'all',
  'oidc/set-aside': 'all',
  policies: 'all',
  // What all name in place of their configurations; certificates have it, so it stays with a restore.
  'public-url': 'all',
  // That the store went back in time, which concerns everybody who has it.
  restorations: 'all',
  'secret-id-accessors': 'all',
  'secret-ids': 'all',
  'seen-time': 'each',
  'store-key-copies': 'each',
  'tenant-names': 'all',
  tenants: 'all',
  'token-children': 'all',
  'token-hashes': 'all',
  tokens: 'all',
  'token-types': 'each',
  // Each answer names the appliance that gives it; all are gone when the question is answered.
  'transit/distribution-answers': 'all',
  'transit/distribution-questions': 'all',
  // Keys that are being made name the appliance that makes them.
  'transit/graveyard': 'all',
  'transit/import-wrapping-keys': 'all',
  'transit/keys': 'all',
  'transit/material-places': 'all',
  'transit/past-histories': 'all',
  'transit/past-material': 'all',
  'transit/removed-versions': 'all',
  'transit/rotations': 'all',
  'transit/shared-uses': 'all',
  'transit/subkeys': 'all',
  // What is reserved of a count belongs to the process that has reserved it; the record has the sum.
  'transit/usage': 'all',
  'transit/version-materials': 'all',
  'transit/versions': 'all',
  'transit/wrapping': 'all',
  'wrapping-carryings': 'cluster',
  'wrapping-carrying-parts': 'cluster',
  // By the name of a token, which all appliances give to the same keys.
  'wrapping-keys': 'all',
};

/** Tables for all that a start, jobs and logins fill, without more; or the last part of the keys of what these put there. */
const filledByItself: Readonly<Record<string, string | true>> = {
  approles: claimingRole,
  'approle-role-ids': true,
  'attestation-keys': true,
  'attestation-pending': true,
  'audit-keys': true,
  'audit-signed-heads': true,
  'backup-history': true,
  'backup-running': true,
  bootstrap: true,
  'console/sessions': true,
  'core/migrations': true,
  'entity-tag-key': true,
  'est/cas': 'appliance',
  'est/certificates': true,
  'est/crls': true,
  'est/last-crls': true,
  'est/unclaimed-keys': true,
  'export-history': true,
  'login-failures': true,
  'secret-id-accessors': true,
  'secret-ids': true,
  'tenant-names': true,
  tenants: systemTenantName,
  'token-children': true,
  'token-hashes': true,
  tokens: true,
};

/** Full name of a table with something that a person has made; undefined for an appliance that has nothing but ways to log in. */
export function findContent(store: OpenStore): string | undefined {
  return Object.entries(recordOwners).find(([name, owner]) => {
    const own = filledByItself[name];
    return owner === 'all' && own !== true && Array.from(tableOf(store, name).keys([])).some((key) => key.at(-1) !== own);
  })?.[0];
}

/** What an appliance that was restored from a backup of a cluster drops: it stands alone, and others join it as new ones. */
export async function dropOwnRecords(store: OpenStore): Promise<void> {
  await store.write((transaction) => {
    for (const [name, owner] of Object.entries(recordOwners)) {
      if (owner === 'all') continue;
      const table = tableOf(store, name);
      for (const key of Array.from(transaction.keys(table, []))) {
        if (owner !== 'each' || key.length > 1) transaction.delete(table, key);
      }
    }
  });
}

/** What others may have in a newer form than a restored store: it is made again before it is handed out. The fields that go, by table. */
const published: Readonly<Record<string, string>> = { 'est/crls': 'newest' };

export async function forgetPublished(store: OpenStore): Promise<void> {
  for (const [name, field] of Object.entries(published)) {
    const table = tableOf(store, name) as Table<Readonly<Record<string, unknown>>>;
    const keys = Array.from(table.keys([]));
    await writeInPieces(store, keys, (transaction, key) => {
      const { [field]: _gone, ...kept } = transaction.get(table, key) ?? {};
      if (_gone !== undefined) transaction.put(table, key, kept);
    });
  }
}

/** Drops what an appliance that is gone for ever had for itself. */
export function dropRecordsOf(transaction: WriteTransaction, store: OpenStore, appliance: string): void {
  for (const [name, owner] of Object.entries(recordOwners)) {
    if (owner !== 'each') continue;
    const table = tableOf(store, name);
    for (const key of Array.from(transaction.keys(table, []))) if (key.at(-1) === appliance) transaction.delete(table, key);
  }
}

function tableOf(store: OpenStore, name: string): Table<unknown> {
  const [owner = '', own] = name.split('/');
  return own === undefined ? store.table(owner) : store.prefixed(owner).table(own);
}
