// The plugin's invariants: no record refers to a missing one.
import type { CheckFinding } from '../../core/base/context.ts';
import type { Jwt } from './context.ts';

/** Checks all records of the plugin. */
export function* checkRecords(jwt: Jwt): Iterable<CheckFinding> {
  for (const [key] of jwt.roles.entries([])) {
    const [tenantId = '', issuer = '', role = ''] = key;
    if (!jwt.issuers.has([tenantId, issuer])) yield { where: `jwt/roles/${key.join('/')}`, problem: 'a role without its issuer' };
    if (!jwt.rolePlaces.has([tenantId, role, issuer])) yield { where: `jwt/roles/${key.join('/')}`, problem: 'a role that no login finds' };
  }
  for (const key of jwt.rolePlaces.keys([])) {
    const [tenantId = '', role = '', issuer = ''] = key;
    if (!jwt.roles.has([tenantId, issuer, role])) yield { where: `jwt/role-places/${key.join('/')}`, problem: 'a place without its role' };
  }
}
