// The plugin's invariants: no record refers to a missing one, and records and order of the logins under way agree.
import type { CheckFinding } from '../../core/base/context.ts';
import type { Oidc } from './context.ts';

/** Checks all records of the plugin. */
export function* checkRecords(oidc: Oidc): Iterable<CheckFinding> {
  for (const [key] of oidc.roles.entries([])) {
    if (!oidc.services.has(key.slice(0, 2))) yield { where: `oidc/roles/${key.join('/')}`, problem: 'a role without its service' };
  }
  for (const [name, underWay] of [
    ['pending-logins', oidc.pending],
    ['hand-offs', oidc.cliLogins],
  ] as const) {
    for (const problem of underWay.faults()) yield { where: `oidc/${name}`, problem };
  }
  for (const [key, session] of oidc.sessions.entries([])) {
    if (!oidc.services.has([String(key[0]), session.service]))
      yield { where: `oidc/sessions/${key.join('/')}`, problem: 'a session without its service' };
  }
}
