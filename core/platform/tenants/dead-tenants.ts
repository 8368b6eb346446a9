// Records of deleted tenants. The store refuses new ones; existing ones are reported by the check and removed by a job.
import { defined } from '../../base/defined.ts';
import { approleTable, dropRoleId } from '../../access/approles/approles.ts';
import { dropSecretIds } from '../../access/approles/secret-ids.ts';
import { tokenTable } from '../../access/tokens/record.ts';
import { disableToken } from '../../access/tokens/tokens.ts';
import type { CheckFinding, Job, Log } from '../../base/context.ts';
import type { RunningPlugins } from '../../plugin/lifecycle.ts';
import type { OpenStore } from '../../store/open.ts';
import type { Store, Table, WriteTransaction } from '../../store/store.ts';
import type { TenantExists } from '../../store/tables.ts';
import { openTenants } from '../../access/tenants.ts';

/** Called by the store before it accepts a record of a tenant. */
export function tenantExists(store: Store): TenantExists {
  const names = store.table<string>('tenant-names');
  return (transaction, tenantId) => transaction.get(names, [tenantId]) !== undefined;
}

/** One finding for each table that has records of a deleted tenant. */
export function* findDeadTenants(store: OpenStore): Generator<CheckFinding> {
  for (const [tenantId, tables] of deadTenants(store))
    for (const { name } of tables) yield { where: `${name} ${tenantId}`, problem: 'belongs to a tenant that does not exist' };
}

/** The job that removes them, with their keys in the tokens. Safe to repeat and to interrupt. */
export function deadTenantJob(store: OpenStore, plugins: Pick<RunningPlugins, 'dropTenant'>, log: Log): Job {
  return {
    name: 'dead-tenants',
    everySeconds: 3_600,
    async run(signal) {
      store.refresh();
      for (const [tenantId, tables] of deadTenants(store)) {
        if (signal.aborted) return;
        await store.write((transaction) => drop(transaction, store, plugins, tenantId));
        log.warn('records of a tenant that does not exist were removed', { tenant: tenantId, tables: tables.map(({ name }) => name) });
      }
    },
  };
}

function drop(transaction: WriteTransaction, store: OpenStore, plugins: Pick<RunningPlugins, 'dropTenant'>, tenantId: string): void {
  for (const [[, accessor]] of Array.from(transaction.entries(tokenTable(store), [tenantId])))
    disableToken(transaction, store, tenantId, String(accessor));
  for (const [[, name], approle] of Array.from(transaction.entries(approleTable(store), [tenantId]))) {
    dropRoleId(transaction, store, [tenantId, String(name)], approle);
    dropSecretIds(transaction, store, tenantId, approle.id);
  }
  plugins.dropTenant(transaction, tenantId);
  for (const table of store.tenantTables())
    for (const [key] of Array.from(transaction.entries(table, [tenantId]))) transaction.delete(table, key);
}

/** A tenant counts as deleted when neither its name nor its uuid is stored: one of which half was lost keeps its keys. */
function deadTenants(store: OpenStore): Map<string, Table<unknown>[]> {
  const names = store.table<string>('tenant-names');
  const uuids = new Set(Array.from(openTenants(store).table.entries([]), ([, { uuid }]) => uuid));
  const dead = new Map<string, Table<unknown>[]>();
  for (const table of store.tenantTables())
    for (const tenantId of tenantsIn(table))
      if (!uuids.has(tenantId) && !names.has([tenantId])) dead.set(tenantId, [...(dead.get(tenantId) ?? []), table]);
  return dead;
}

/** The distinct first parts of a table's keys; the keys below each are skipped. */
function* tenantsIn(table: Table<unknown>): Generator<string> {
  for (let after: string | undefined; ;) {
    const [key] = table.keys([], { limit: 1, ...defined({ after }) });
    if (key === undefined) return;
    yield (after = String(key[0]));
  }
}
