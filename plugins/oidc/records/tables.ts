// The plugin's tables and their keys.
import type { SetAside } from '../../../core/outbound/set-aside.ts';
import type { Store, Table, WriteTransaction } from '../../../core/store/store.ts';
import type { RoleRecord } from './role-record.ts';
import type { ServiceRecord } from './service-record.ts';
import type { CliLogin, FailedLogin, PendingLogin, Session } from './sign-ins.ts';
import { type Bounds, UnderWay } from './under-way.ts';

export type Tables = {
  /** [tenant uuid, service] */
  readonly services: Table<ServiceRecord>;
  /** [tenant uuid, service, role] */
  readonly roles: Table<RoleRecord>;
  /** key: hash of state */
  readonly pending: UnderWay<PendingLogin>;
  /** key: hash of poll token */
  readonly cliLogins: UnderWay<CliLogin>;
  readonly sessions: Table<Session>;
  readonly failures: Table<FailedLogin>;
  readonly setAside: Table<SetAside>;
};

export function openTables(store: Store, bounds: Bounds): Tables {
  return {
    services: store.tenantTable('services'),
    roles: store.tenantTable('roles'),
    pending: new UnderWay(store.table('pending-logins'), store.table('pending-places'), bounds),
    cliLogins: new UnderWay(store.table('hand-offs'), store.table('hand-off-places'), bounds),
    sessions: store.tenantTable('sessions'),
    failures: store.tenantTable('failed-logins'),
    setAside: store.tenantTable('set-aside'),
  };
}

/** Migration 1. Earlier versions ordered sign-ins under way by tenant only, and CLI logins not at all. */
export function orderByAddress(transaction: WriteTransaction, store: Store): void {
  const former = store.table<true>('pending-order');
  for (const key of Array.from(transaction.keys(former, []))) transaction.delete(former, key);
  const { pending, cliLogins } = openTables(store, { perAddress: Infinity, perTenant: Infinity, inAll: Infinity });
  pending.addAllToOrders(transaction);
  cliLogins.addAllToOrders(transaction);
}
