// The built-in policies, which every tenant has: they can be copied, not edited.
import type { Policy, PolicyRule } from './policy.ts';

const allow = (path: string): PolicyRule => ({ path, operations: { all: 'allow' }, allowedValues: {}, hideFields: [] });
const reject = (path: string): PolicyRule => ({ path, operations: { all: 'reject' }, allowedValues: {}, hideFields: [] });
const onlyRead = (path: string): PolicyRule => ({ path, operations: { read: 'allow', all: 'reject' }, allowedValues: {}, hideFields: [] });
const policy = (name: string, description: string, ...rules: PolicyRule[]): Policy => ({ name, description, restApi: { rules } });

const tokenActions = '/v1/state/keystore/token';

/** Policy of every token and tenant, named or not. */
export const defaultPolicy = policy(
  'default',
  'What every token may do with itself; part of every token.',
  allow(`${tokenActions}/info`),
  allow(`${tokenActions}/refresh`),
  allow(`${tokenActions}/disable`),
  allow('/v1/logout'),
  allow('/v1/state/policy/check'),
  // Each sees and decides there what concerns the own login.
  allow('/v1/state/approvals/**'),
  // Each is told there what the own login may read.
  allow('/v1/state/notices'),
);

const policies = [
  defaultPolicy,
  policy('root', 'Everything within the tenant.', allow('/**')),
  policy(
    'user',
    'Everything but policies, other tokens, and what gives tokens.',
    allow('/**'),
    reject('/v1/config/policy/policies/**'),
    reject('/v1/state/policy/policies/**'),
    onlyRead('/v1/config/approval/rules/**'),
    reject('/v1/state/keystore/tokens/**'),
    reject(`${tokenActions}/create`),
    reject(`${tokenActions}/create-root`),
    reject('/v1/state/open-as/allow'),
    reject('/v1/state/tenants/*/open-as'),
    // Providers, roles and approles give tokens, and a secret-id is enough to get one.
    onlyRead('/v1/config/keystore/authentication/**'),
    reject('/v1/state/keystore/authentication/approles/*/generate-secret-id'),
    reject('/v1/state/keystore/authentication/approles/*/disable-secret-id'),
  ),
  policy(
    'app-owner-tenant',
    'What a tenant that owns applications may do: everything but the appliance and other tenants.',
    allow('/**'),
    reject('/v1/config/tenants/**'),
    reject('/v1/state/tenants/**'),
    reject(`${tokenActions}/create-root`),
    reject('/v1/state/keystore/system/**'),
    reject('/v1/state/system/**'),
  ),
  policy(
    'system-visitor',
    'Read the configuration and the state, and change and use nothing.',
    onlyRead('/v1/config/**'),
    onlyRead('/v1/state/**'),
  ),
  policy('rewrap-only', 'Rewrap ciphertexts without being able to read them.', allow('/v1/state/keystore/transit-keys/*/rewrap')),
];

/** Built-in policies by name. */
export const builtInPolicies: ReadonlyMap<string, Policy> = new Map(policies.map((one) => [one.name, one]));
