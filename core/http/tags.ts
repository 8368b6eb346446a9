// Groups of operations shared by the platform and several plugins; a plugin's own group is in its folder.
import type { Tag } from './endpoint.ts';

export const tags = {
  approvals: { name: 'approvals', description: 'Acts that need the approval of other people: rules, requests, and decisions about them.' },
  approles: { name: 'approles', description: 'Identities of programs: a role-id and secret-ids, exchanged for a token.' },
  description: { name: 'description', description: 'This description.' },
  handOvers: { name: 'hand-overs', description: 'Secrets on their way to somebody: a token opens each, once, and tells if somebody did.' },
  logins: { name: 'logins', description: 'Getting a token as a program or as a person, and ending it.' },
  policies: { name: 'policies', description: 'Who may do what: rules on paths and operations, and what they say about a request.' },
  system: { name: 'system', description: 'The appliance: health, metrics, tokens of the HSM, backup, seal and unseal.' },
  tenants: { name: 'tenants', description: 'Owners of keys, policies and identities; the tenant `system` runs the appliance.' },
  tokens: { name: 'tokens', description: 'The Bearer secrets of callers: making, renewing, listing and ending them.' },
  topics: { name: 'topics', description: 'The audit trail and the log, as JSON lines.' },
} as const satisfies Readonly<Record<string, Tag>>;
