// Records of deleted tenants. The store refuses new ones; existing ones are reported by the check and removed by a job.
import { defined } from '../../base/defined.ts';
import { approleTable, dropRoleId } from '../../access/approles/approles.ts';
import { dropSecretIdsInPieces } from '../../access/approles/secret-ids.ts';
import { tokenTable } from '../../access/tokens/record.ts';
import { removeToken } from '../../access/tokens/tokens.ts';
import type { CheckFinding, Job, Log } from '../../base/context.ts';
import type { RunningPlugins } from '../../plugin/lifecycle.ts';
import type { OpenStore } from '../../store/open.ts';
import { writeInPieces } from '../../store/records/pieces.ts';
import { type Store, type Table, Unreadable } from '../../store/store.ts';
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
        await drop(store, plugins, tenantId, signal);
        if (signal.aborted) return;
        log.warn('records of a tenant that does not exist were removed', { tenant: tenantId, tables: tables.map(({ name }) => name) });
      }
    },
  };
}

/** Removes the tokens of a deleted tenant, which no longer authenticate. */
export async function dropTokens(store: Store, tenantId: string, signal?: AbortSignal): Promise<void> {
  store.refresh();
  const accessors = Array.from(tokenTable(store).keys([tenantId]), ([, accessor]) => String(accessor));
  await writeInPieces(store, accessors, (transaction, accessor) => removeToken(transaction, store, tenantId, accessor), signal);
}

/** Removes the records of a tenant, in many transactions, because there may be any number. Records that lead to others are removed after them. */
async function drop(store: OpenStore, plugins: Pick<RunningPlugins, 'dropTenant'>, tenantId: string, signal: AbortSignal): Promise<void> {
  await dropTokens(store, tenantId, signal);
  for (const [key, approle] of Array.from(approleTable(store).entries([tenantId]))) {
    await dropSecretIdsInPieces(store, tenantId, approle.id, signal);
    await store.write((transaction) => dropRoleId(transaction, store, [tenantId, String(key.at(-1))], approle));
  }
  await plugins.dropTenant(tenantId);
  store.refresh();
  for (const table of store.tenantTables()) {
    const keys = Array.from(table.keys([tenantId]));
    await writeInPieces(store, keys, (transaction, key) => transaction.delete(table, key), signal);
  }
}

/** Finds deleted tenants. A tenant counts as deleted if neither its name nor its uuid is stored: one that lost only one of them keeps its keys. */
function deadTenants(store: OpenStore): Map<string, Table<unknown>[]> {
  const names = store.table<string>('tenant-names');
  const tenants = Array.from(openTenants(store).table.entriesFound([]), ([, tenant]) => tenant);
  const uuids = new Set(tenants.flatMap((tenant) => (tenant instanceof Unreadable ? [] : [tenant.uuid])));
  // The tenant of an unreadable record is unknown, so none counts as deleted until it is repaired.
  if (uuids.size < tenants.length) return new Map();
  const dead = new Map<string, Table<unknown>[]>();
  for (const table of store.tenantTables())
    for (const tenantId of tenantsIn(table))
      if (!uuids.has(tenantId) && names.getFound([tenantId]) === undefined) dead.set(tenantId, [...(dead.get(tenantId) ?? []), table]);
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
