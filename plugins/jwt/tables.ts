// The plugin's tables and their keys.
import type { SetAside } from '../../core/outbound/set-aside.ts';
import type { Store, Table } from '../../core/store/store.ts';
import type { KeyRecord } from './keys/key-record.ts';
import type { FailedLogin } from './records/failed-login.ts';
import type { IssuerRecord } from './records/issuer-record.ts';
import type { RoleRecord } from './records/role-record.ts';

export type Tables = {
  /** [tenant uuid, issuer] */
  readonly issuers: Table<IssuerRecord>;
  /** [tenant uuid, issuer, role] */
  readonly roles: Table<RoleRecord>;
  /** [tenant uuid, role, issuer]: a login names the role alone */
  readonly rolePlaces: Table<true>;
  /** [tenant uuid, issuer]: its keys as fetched last */
  readonly keys: Table<KeyRecord>;
  /** [tenant uuid, digest of a token]: the instant from which the token is expired anyway */
  readonly used: Table<string>;
  /** [tenant uuid, issuer, reference] */
  readonly failures: Table<FailedLogin>;
  readonly setAside: Table<SetAside>;
};

export function openTables(store: Store): Tables {
  return {
    issuers: store.tenantTable('issuers'),
    roles: store.tenantTable('roles'),
    rolePlaces: store.tenantTable('role-places'),
    keys: store.tenantTable('keys'),
    used: store.tenantTable('used'),
    failures: store.tenantTable('failed-logins'),
    setAside: store.tenantTable('set-aside'),
  };
}
