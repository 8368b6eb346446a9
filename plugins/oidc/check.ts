// The plugin's invariants: nothing hangs in the air, and every login under way can be found both ways.
import type { Finding } from '../../core/context.ts';
import type { Oidc } from './oidc.ts';

/** Walks the plugin's records. */
export function* checkRecords(oidc: Oidc): Iterable<Finding> {
  for (const [key] of oidc.roles.entries([])) {
    if (!oidc.services.has(key.slice(0, 2))) yield { where: `oidc/roles/${key.join('/')}`, problem: 'a role without its service' };
  }
  for (const [key, login] of oidc.pending.entries([])) {
    if (!oidc.pendingOrder.has([login.tenantId, login.createdMs, String(key[0])])) {
      yield { where: 'oidc/pending-logins', problem: 'a login under way that is not in the order of time' };
    }
  }
  for (const [key] of oidc.pendingOrder.entries([])) {
    if (!oidc.pending.has([String(key[2])])) yield { where: 'oidc/pending-order', problem: 'an entry without its login' };
  }
  for (const [key, session] of oidc.sessions.entries([])) {
    if (!oidc.services.has([String(key[0]), session.service]))
      yield { where: `oidc/sessions/${key.join('/')}`, problem: 'a session without its service' };
  }
}
