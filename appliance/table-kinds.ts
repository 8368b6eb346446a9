// The kinds of all tables: of core, of the parts of the appliance, and of the plugins. Each kind is declared where the table is opened.
import { coreTableKinds } from '../core/platform/table-kinds.ts';
import { tableKindsOf } from '../core/plugin/plugin-store.ts';
import type { TableKinds } from '../core/store/records/table-kinds.ts';
import { attestationTableKinds } from './attestation/attestation-keys.ts';
import { historyTableKinds } from './attestation/export-history.ts';
import { signingTableKinds } from './audit/audit-signing.ts';
import { chainTableKinds } from './audit/chain-records.ts';
import { restorationTableKinds } from './backup/restoration.ts';
import { backupTableKinds } from './backup/run/record.ts';
import { breakGlassTableKinds } from './break-glass/applying.ts';
import { typeTableKinds } from './cluster/keys/agreed-types.ts';
import { copyTableKinds } from './cluster/keys/shared-store-key.ts';
import { transferTableKinds } from './cluster/keys/transfer-records.ts';
import { credentialTableKinds } from './cluster/membership/ending/ended-credentials.ts';
import { invitationTableKinds } from './cluster/membership/invitations.ts';
import { urlTableKinds } from './cluster/public-url/public-url.ts';
import { findingTableKinds } from './findings/findings.ts';
import { clockTableKinds } from './machine/clock-watch.ts';
import { noticeTableKinds } from './notices/records.ts';
import { drillTableKinds } from './backup/drills/record.ts';
import { plugins } from './plugins.ts';
import { wrappingTableKinds } from './wrapping-keys/record.ts';

export const tableKinds: TableKinds = {
  ...coreTableKinds,
  ...attestationTableKinds,
  ...historyTableKinds,
  ...signingTableKinds,
  ...chainTableKinds,
  ...restorationTableKinds,
  ...backupTableKinds,
  ...drillTableKinds,
  ...breakGlassTableKinds,
  ...transferTableKinds,
  ...typeTableKinds,
  ...copyTableKinds,
  ...credentialTableKinds,
  ...invitationTableKinds,
  ...urlTableKinds,
  ...findingTableKinds,
  ...clockTableKinds,
  ...noticeTableKinds,
  ...wrappingTableKinds,
  ...tableKindsOf(plugins),
};
