// Every endpoint says which act it is, for rules of approvals, and every way to one effect has one act. A new endpoint or field is red until it is here.
import { afterAll, expect, test } from 'vitest';
import type { AnyEndpoint } from '../../core/http/endpoint.ts';
import { actsOfKey } from '../../plugins/transit/keys/acts.ts';
import { startWholeAppliance } from '../appliance/cli/whole-appliance.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

// Started while the tests are collected: their titles come from the running table.
const at = temporaryDirectory();
const appliance = await startWholeAppliance(at());
afterAll(() => appliance.close());

const changing = appliance.app.routes.filter((endpoint) => endpoint.access === 'token' && endpoint.method !== 'GET');
const actOf = (endpoint: AnyEndpoint): unknown => (endpoint.access === 'token' ? endpoint.act : undefined);
const nameOf = ({ method, path }: AnyEndpoint): string => `${method} ${path.replace('/v1/state/', '').replace('/v1/config/', '')}`;

test.each(changing.map((endpoint) => [nameOf(endpoint), endpoint] as const))('%s says which act it is', (_, endpoint) => {
  expect(actOf(endpoint)).toBeDefined();
});

const keys = 'keystore/transit-keys/{name}';
const ca = 'keystore/tls/ca/{name}';
const expected: Readonly<Record<string, readonly string[]>> = {
  'take-keys-out': [
    ...['export', 'export-openpgp', 'backup'].map((action) => `POST ${keys}/${action}`),
    ...['backup', 'pull-backup', 'run-backup'].map((action) => `POST system/${action}`),
  ],
  'bring-keys-in': [`POST ${keys}/import`, 'POST keystore/import-openpgp'],
  destroy: [
    ...['trim', 'export-openpgp-revocation', 'unbind-subkey'].map((action) => `POST ${keys}/${action}`),
    `POST ${ca}/import-revocations`,
  ],
  'change-trust': [
    'POST keystore/token/create-root',
    ...['change-pin', 'accept-clock', 'end-credentials'].map((action) => `POST system/${action}`),
    ...['init', 'invite', 'join', 'remove-member', 'set-public-url', 'clear-public-url'].map((action) => `POST system/cluster/${action}`),
  ],
  // Beside it `system/operate`, which the image alone has.
  stop: ['POST keystore/system/seal'],
  // By what they find: restore both takes out and brings in; secret-ids of approvers; certificates of CAs.
  function: [
    `POST ${keys}/restore`,
    ...['generate-secret-id', 'hand-over-secret-id'].map((action) => `POST keystore/authentication/approles/{name}/${action}`),
    `POST ${ca}/revoke`,
  ],
};

test.each(Object.entries(expected))('%s is the act of these endpoints and of no others', (act, names) => {
  const found = changing.filter((endpoint) => (typeof actOf(endpoint) === 'function' ? 'function' : actOf(endpoint)) === act);
  expect(found.map(nameOf).toSorted()).toEqual([...names].toSorted());
});

const byDocument = [
  'approval/rules',
  'keystore/authentication/approles',
  'keystore/authentication/certificate/roles',
  'keystore/authentication/jwt',
  'keystore/authentication/jwt/{issuer}/roles',
  'keystore/authentication/oidc',
  'keystore/authentication/oidc/{service}/roles',
  'keystore/tls/ca',
  'keystore/transit-keys',
  'policy/policies',
  'tenants',
];

test('every resource is one whose acts were thought of', () => {
  const found = changing.filter((endpoint) => actOf(endpoint) === 'by-document' && endpoint.method === 'DELETE');
  expect(found.map(({ path }) => path.replace('/v1/config/', '').replace(/\/\{[^}]+\}$/, '')).toSorted()).toEqual(byDocument);
});

/** Another value of every field of a key, with the act of the change from the default; a new field has no row here. */
const fields: Readonly<Record<string, readonly [value: unknown, acts: readonly string[]]>> = {
  cipher: ['rsa-2048', []],
  distribute: [{ to: 'all' }, ['destroy']],
  exportable: [true, ['take-keys-out']],
  'allow-plaintext-backup': [true, ['take-keys-out']],
  'deletion-allowed': [true, ['destroy']],
  'delete-after': ['30d', ['destroy']],
  disabled: [true, []],
  'disabled-versions': [[1], []],
  use: ['sign', []],
  derived: [true, []],
  'convergent-encryption': [true, []],
  custody: ['token', []],
  'public-key': ['-----BEGIN PUBLIC KEY-----', []],
  'min-encryption-version': [1, ['destroy']],
  'min-decryption-version': [1, ['destroy']],
  'auto-rotate': [{ rotateAfter: '90d', invalidateAfter: '180d' }, ['destroy']],
  'openpgp-user-id': ['Release <release@example.com>', []],
  'openpgp-primary': ['release', []],
  'openpgp-key-usage': [['sign'], []],
  labels: [{ team: 'payments' }, []],
};

type Change = Parameters<typeof actsOfKey>[0];
const present = {
  ...{ distribute: { to: 'inherit' }, exportable: false, allowPlaintextBackup: false, deletionAllowed: false },
  ...{ minEncryptionVersion: 0, minDecryptionVersion: 0 },
} as unknown as NonNullable<Change['before']>;
const camel = (name: string): string => name.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());

test('every field of a key has an act or none, and one that lets key material out is an act', async () => {
  const { body } = await appliance.request('GET', '/v1/openapi.json');
  const creation = (body as { components: { schemas: Record<string, { properties: object }> } }).components.schemas['TransitKeyCreation'];
  const writable = Object.keys(creation?.properties ?? {}).filter((name) => name !== 'name');
  expect(writable.toSorted()).toEqual(Object.keys(fields).toSorted());
  for (const [name, [value, acts]] of Object.entries(fields)) {
    const change = { before: present, after: { ...present, [camel(name)]: value } } as unknown as Change;
    expect(actsOfKey(change), name).toEqual(acts);
  }
});

test('a new key from a public key of others brings one in, as an import does', () => {
  const after = { ...present, publicKey: '-----BEGIN PUBLIC KEY-----' };
  expect(actsOfKey({ before: undefined, after } as unknown as Change)).toEqual(['bring-keys-in']);
});
