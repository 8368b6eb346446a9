// The pages that people come for, in the groups in which they look for them. Everything else is below "Everything that the API has".

import { hrefOf } from '../address/router.ts';

export type MainPage = {
  readonly label: string;
  readonly path: string;
  /** page of that path which its address asks for */
  readonly does?: string;
  readonly operation: string;
  /** true for what belongs to an owner, whom an unclaimed appliance has not yet */
  readonly needsOwner?: true;
  /** the tenant that has it, where policies do not tell: one topic of those that its path has a name for */
  readonly tenant?: string;
};

/** The address of a page. */
export function hrefOfPage({ path, does }: MainPage): string {
  return hrefOf(path, does === undefined ? {} : { do: does });
}

export type MainGroup = {
  readonly title: string;
  /** path of a picture of 24 by 24 */
  readonly icon: string;
  readonly pages: readonly MainPage[];
};

export const overviewIcon = 'M4 13h7V4H4zm0 7h7v-5H4zm9 0h7v-9h-7zm0-16v5h7V4z';

export const mainGroups: readonly MainGroup[] = [
  {
    title: 'Keys',
    icon: 'M14.5 3a6.5 6.5 0 0 0-6.3 8.1L3 16.3V21h4.7v-2.3H10v-2.3h2.3l.9-.9A6.5 6.5 0 1 0 14.5 3zm2 6.2a1.7 1.7 0 1 1 0-3.4 1.7 1.7 0 0 1 0 3.4z',
    pages: [
      { label: 'Keys', path: '/v1/config/keystore/transit-keys', operation: 'read' },
      { label: 'KMIP clients', path: '/v1/config/keystore/kmip-clients', operation: 'read' },
      { label: 'KMIP spaces', path: '/v1/config/keystore/kmip-spaces', operation: 'read' },
    ],
  },
  {
    title: 'Certificates',
    icon: 'M4 4h16v12h-6v5l-2-1.5L10 21v-5H4zm3 3v2h10V7zm0 4v2h6v-2z',
    pages: [
      { label: 'Authorities', path: '/v1/config/keystore/tls/ca', operation: 'read' },
      { label: 'All certificates', path: '/v1/config/keystore/tls/ca', does: 'certificates', operation: 'read' },
    ],
  },
  {
    title: 'Access',
    icon: 'M12 3a4 4 0 1 1 0 8 4 4 0 0 1 0-8zM4 20c0-4 3.6-7 8-7s8 3 8 7z',
    pages: [
      { label: 'Sign-in services', path: '/v1/config/keystore/authentication/oidc', operation: 'read', needsOwner: true },
      { label: 'Applications', path: '/v1/config/keystore/authentication/approles', operation: 'read' },
      { label: 'Workloads', path: '/v1/config/keystore/authentication/jwt', operation: 'read' },
      { label: 'Certificate logins', path: '/v1/config/keystore/authentication/certificate/roles', operation: 'read' },
      { label: 'Policies', path: '/v1/config/policy/policies', operation: 'read' },
      { label: 'May they do this?', path: '/v1/state/policy/check', operation: 'execute' },
      { label: 'Sessions and tokens', path: '/v1/state/keystore/tokens', operation: 'read' },
      { label: 'Approvals', path: '/v1/state/approvals', operation: 'read' },
      { label: 'Approval rules', path: '/v1/config/approval/rules', operation: 'read' },
      { label: 'Tenants', path: '/v1/config/tenants', operation: 'read' },
    ],
  },
  {
    title: 'Audit',
    icon: 'M5 3h14v18H5zm3 4v2h8V7zm0 4v2h8v-2zm0 4v2h5v-2z',
    pages: [
      { label: 'Audit trail', path: '/v1/state/topics/system:audit-trail-log', operation: 'read' },
      { label: 'Signed heads', path: '/v1/state/system/audit', operation: 'read' },
    ],
  },
  {
    title: 'Machine',
    icon: 'M4 4h16v7H4zm0 9h16v7H4zm3-6v2h2V7zm0 9v2h2v-2z',
    pages: [
      { label: 'HSM', path: '/v1/state/system/hsm', operation: 'read' },
      { label: 'Backups', path: '/v1/state/system/backup-status', operation: 'read' },
      { label: 'Cluster', path: '/v1/state/system/cluster', operation: 'read' },
      { label: 'Updates', path: '/v1/state/system/image', operation: 'read', tenant: 'system' },
      { label: 'Findings', path: '/v1/state/system/findings', operation: 'read' },
      { label: 'Log', path: '/v1/state/topics/system:logs', operation: 'read', tenant: 'system' },
      { label: 'Shipping', path: '/v1/state/system/shipping', operation: 'read' },
      { label: 'Seal', path: '/v1/state/keystore/system/seal', operation: 'execute' },
    ],
  },
];
