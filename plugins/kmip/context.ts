// The context that all parts of the plugin share: its tables, its services, and the token.
import { FailureLimit } from '../../core/access/failure-limit.ts';
import type { PluginContext } from '../../core/plugin/plugin.ts';
import { type CertificateAuthorities, certificateAuthorityService } from '../../core/plugin/services/certificate-authority.ts';
import { type Sessions, sessionsService } from '../../core/plugin/services/sessions.ts';
import { type TransitKeys, transitKeysService } from '../../core/plugin/services/transit-keys.ts';
import { type WrappingKeyRotation, wrappingKeysService } from '../../core/plugin/services/wrapping-keys.ts';
import type { Store, Table } from '../../core/store/store.ts';
import type { ClientRecord, FirstTenant } from './records/client-record.ts';
import type { ObjectRecord, SealedMaterial } from './records/object-record.ts';
import type { SpaceRecord } from './records/space-record.ts';

export type KmipTables = {
  /** [tenant uuid, name] */
  readonly spaces: Table<SpaceRecord>;
  /** [tenant uuid, name] */
  readonly clients: Table<ClientRecord>;
  /** [kind, value, tenant uuid, name of the client entry]: which entries a certificate may be of, and since when (clients/places.ts) */
  readonly clientPlaces: Table<string>;
  /** [SHA-256 of a certificate]: the tenant that it works for (clients/first-tenants.ts) */
  readonly firstTenants: Table<FirstTenant>;
  /** [tenant uuid, name of the client entry]: certificates of it in that table, the newest last */
  readonly noted: Table<readonly string[]>;
  /** [tenant uuid, id of the space, id of the object] */
  readonly objects: Table<ObjectRecord>;
  /** [tenant uuid, id of the space, id of the object]: material under the key of the space; absent for a destroyed object and for a tied one */
  readonly materials: Table<SealedMaterial>;
  /** [tenant uuid, id of the space]: number of its objects; absent in one of an earlier version that has got none since */
  readonly counts: Table<number>;
  /** [tenant uuid, id of the space, digest of an attribute, id of the object] (objects/attribute-index.ts) */
  readonly attributes: Table<true>;
};

export type Kmip = Pick<PluginContext<unknown>, 'store' | 'hsm' | 'clock' | 'log' | 'invoke'> & {
  readonly accounts: Sessions;
  readonly authorities: CertificateAuthorities;
  readonly transitKeys: TransitKeys;
  readonly rotation: WrappingKeyRotation;
  readonly tables: KmipTables;
  /** of the password of an entry, by its id and the address */
  readonly wrongPasswords: FailureLimit;
};

export function openKmip(context: PluginContext<unknown>): Kmip {
  const { store, hsm, clock, log, invoke } = context;
  return {
    ...{ store, hsm, clock, log, invoke, tables: openTables(store) },
    accounts: context.service(sessionsService),
    authorities: context.service(certificateAuthorityService),
    transitKeys: context.service(transitKeysService),
    rotation: context.service(wrappingKeysService),
    wrongPasswords: new FailureLimit(store, clock, store.table('wrong-passwords')),
  };
}

function openTables(store: Store): KmipTables {
  return {
    spaces: store.tenantTable('spaces'),
    clients: store.tenantTable('clients'),
    clientPlaces: store.table('client-places'),
    firstTenants: store.table('first-tenants'),
    noted: store.table('noted-certificates'),
    objects: store.tenantTable('objects'),
    materials: store.tenantTable('materials'),
    counts: store.tenantTable('object-counts'),
    attributes: store.tenantTable('attributes'),
  };
}
