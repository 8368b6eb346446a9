// The kinds of the tables of core, from where they are opened.
import { failureTableKinds } from '../access/approles/attempt-limit.ts';
import { secretIdTableKinds } from '../access/approles/secret-ids.ts';
import { claimTableKinds } from '../access/claiming.ts';
import { handOverTableKinds } from '../access/hand-overs.ts';
import { tenantTableKinds } from '../access/tenants.ts';
import { grantTableKinds } from '../access/logins/grants.ts';
import { failedLoginTableKinds } from './sessions/failed-logins.ts';
import { recentTableKinds } from '../access/logins/recent-logins.ts';
import { tokenTableKinds } from '../access/tokens/tokens.ts';
import { jobTableKinds } from '../plugin/job-holder.ts';
import type { TableKinds } from '../store/records/table-kinds.ts';

export const coreTableKinds: TableKinds = {
  policies: { of: 'all' },
  'approval-rules': { of: 'all' },
  approvals: { of: 'all' },
  'approval-books': { of: 'all' },
  'open-as': { of: 'all' },
  // Of the store itself.
  'entity-tag-key': { of: 'all', fills: true },
  'core/migrations': { of: 'all', fills: true },
  ...tenantTableKinds,
  ...claimTableKinds,
  ...secretIdTableKinds,
  ...failureTableKinds,
  ...tokenTableKinds,
  ...grantTableKinds,
  ...recentTableKinds,
  ...failedLoginTableKinds,
  ...handOverTableKinds,
  ...jobTableKinds,
};
