// The pages that people come for, before the navigation by the groups of the description.

export type MainPage = {
  readonly label: string;
  readonly path: string;
  readonly operation: string;
  /** the tenant that has it, where policies do not tell: one topic of those that its path has a name for */
  readonly tenant?: string;
};

export const mainPages: readonly MainPage[] = [
  { label: 'Keys', path: '/v1/config/keystore/transit-keys', operation: 'read' },
  { label: 'Policies', path: '/v1/config/policy/policies', operation: 'read' },
  { label: 'May they do this?', path: '/v1/state/policy/check', operation: 'execute' },
  { label: 'Tokens and sessions', path: '/v1/state/keystore/tokens', operation: 'read' },
  { label: 'Tenants', path: '/v1/config/tenants', operation: 'read' },
  { label: 'Approles', path: '/v1/config/keystore/authentication/approles', operation: 'read' },
  { label: 'Certificate authorities', path: '/v1/config/keystore/tls/ca', operation: 'read' },
  { label: 'HSM', path: '/v1/state/system/hsm', operation: 'read' },
  { label: 'Backups', path: '/v1/state/system/backup-status', operation: 'read' },
  { label: 'Updates', path: '/v1/state/system/image', operation: 'read', tenant: 'system' },
  { label: 'Seal', path: '/v1/state/keystore/system/seal', operation: 'execute' },
  { label: 'Log', path: '/v1/state/topics/system:logs', operation: 'read', tenant: 'system' },
  { label: 'Audit trail', path: '/v1/state/topics/system:audit-trail-log', operation: 'read' },
];
