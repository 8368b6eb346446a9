// What the tests of every view look at: the addresses of the views, and a tenant that has something to show in each.
import type { Daemon } from '../harness/daemon.ts';
import { makeCsr, makeKeys } from '../plugins/ca/pki.ts';

export const keys = '/v1/config/keystore/transit-keys';
export const keyStates = '/v1/state/keystore/transit-keys';
export const authorities = '/v1/config/keystore/tls/ca';
export const authorityStates = '/v1/state/keystore/tls/ca';
export const policies = '/v1/config/policy/policies';
const approles = '/v1/config/keystore/authentication/approles';
const oidc = '/v1/config/keystore/authentication/oidc';
const topics = '/v1/state/topics';

/** Addresses of the views that the design names, and some that are made from the description alone. */
export const views: Readonly<Record<string, (serial: string) => string>> = {
  overview: () => '',
  keys: () => keys,
  'no-keys': () => `${keys}?contains=nothing-like-it`,
  key: () => `${keys}/orders`,
  'key-that-signs': () => `${keys}/releases`,
  'key-made': () => `${keys}?do=create`,
  'key-changed': () => `${keys}/orders?do=edit`,
  'key-deleted': () => `${keys}/orders?do=delete`,
  'key-action': () => `${keyStates}/orders/encrypt`,
  authorities: () => authorities,
  devices: () => `${authorities}?do=certificates`,
  authority: () => `${authorities}/devices`,
  'authority-made': () => `${authorities}?do=create`,
  enrol: () => `${authorities}/devices?do=enrol`,
  certificates: () => `${authorityStates}/devices/certificates`,
  certificate: (serial) => `${authorityStates}/devices/certificates/${serial}`,
  revoke: (serial) => `${authorityStates}/devices/certificates/${serial}?do=revoke`,
  tenants: () => '/v1/config/tenants',
  tenant: () => '/v1/config/tenants/shop',
  policies: () => policies,
  policy: () => `${policies}/reader`,
  'policy-changed': () => `${policies}/reader?do=edit`,
  'policy-made': () => `${policies}?do=create`,
  approles: () => approles,
  approle: () => `${approles}/robot`,
  tokens: () => '/v1/state/keystore/tokens',
  check: () => '/v1/state/policy/check',
  'oidc-services': () => oidc,
  'oidc-service': () => `${oidc}/corp`,
  'oidc-test': () => '/v1/state/keystore/authentication/oidc/corp/test',
  explain: () => '/v1/state/keystore/authentication/oidc/corp/explain',
  topics: () => topics,
  audit: () => `${topics}/system:audit-trail-log`,
  heads: () => '/v1/state/system/audit',
  hsm: () => '/v1/state/system/hsm',
  backup: () => '/v1/state/system/backup',
  backups: () => '/v1/state/system/backup-status',
  log: () => `${topics}/system:logs`,
  image: () => '/v1/state/system/image',
  seal: () => '/v1/state/keystore/system/seal',
  health: () => '/v1/state/system/health',
  random: () => '/v1/state/keystore/crypto-functions/random-bytes',
};

/** The same entries in a tenant, so that every address is one. Answers the serial number of a certificate. */
export async function furnish(daemon: Daemon, token: string): Promise<string> {
  const make = (to: string, body: object): Promise<unknown> => daemon.request('POST', to, body, token);
  await make(keys, { name: 'orders', 'auto-rotate': { 'rotate-after': '90d', 'deprecate-after': '30d' } });
  await daemon.request('POST', `${keyStates}/orders/rotate`, undefined, token);
  await make(keys, { name: 'releases', cipher: 'ed25519' });
  const est = { enabled: true, 'initial-enroll-secret': 'born with it', 'allowed-domains': ['plant.example'], 'allow-subdomains': true };
  await make(authorities, { name: 'plant-root', subject: 'CN=Plant Root, O=Example' });
  await make(authorities, { name: 'devices', 'issuing-ca': 'plant-root', est });
  await make(policies, { name: 'reader', 'rest-api': { rules: [{ path: '/v1/config/**', operations: { read: 'allow' } }] } });
  await make(approles, { name: 'robot', 'token-policies': ['reader'] });
  await daemon.request('POST', `${approles.replace('config', 'state')}/robot/generate-secret-id`, {}, token);
  const service = {
    'discovery-url': 'https://127.0.0.1:1/.well-known/openid-configuration',
    'client-id': 'keystored',
    'client-secret': 'not a secret',
    'role-select': { 'role-claim': 'groups' },
    'allowed-redirect-uris': ['https://keys.test/oidc-callback'],
  };
  await daemon.request('PUT', `${oidc}/corp`, service, token);
  const der = await makeCsr({
    keys: await makeKeys('P-256'),
    subject: 'CN=pump-1.plant.example',
    names: [{ type: 'dns', value: 'pump-1.plant.example' }],
  });
  const csr = `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
  const signed = (await daemon.request('POST', `${authorityStates}/devices/sign-csr`, { csr, ttl: '20d' }, token)) as {
    readonly serial: string;
  };
  return signed.serial;
}
