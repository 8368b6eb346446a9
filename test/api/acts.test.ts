// Every endpoint says which act it is, for rules of approvals, and every way to one effect has one act. A new endpoint or field is red until it is here.
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { AnyEndpoint } from '../../core/http/endpoint.ts';
import { openpgpFields } from '../../plugins/openpgp/records.ts';
import type { OpenApiDocument } from '../../core/http/description/openapi.ts';
import { machineEndpoints } from '../../appliance/machine/machine-endpoints.ts';
import { operations } from '../../appliance/machine/machine-operations.ts';
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

test('the description has an answer 202 for each operation that a rule may be about, and for no other', async () => {
  const { body } = await appliance.request('GET', '/v1/openapi.json');
  const { paths, components } = body as unknown as OpenApiDocument;
  const answers = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { responses }]) => [`${method.toUpperCase()} ${path}`, responses['202']] as const),
  );
  const found = answers.flatMap(([name, answer]) => (answer === undefined ? [] : [name])).toSorted();
  const hasAct = (endpoint: AnyEndpoint): boolean => {
    const act = actOf(endpoint);
    return endpoint.access === 'token' && act !== 'none' && (act !== undefined || endpoint.method !== 'GET');
  };
  const described = new Set(answers.map(([name]) => name));
  const expected = appliance.app.routes.filter(hasAct).map(({ method, path }) => `${method} ${path}` as const);
  expect(found).toEqual(expected.filter((name) => described.has(name)).toSorted());
  expect(found).toContain(`POST /v1/state/${keys}/export`);
  const document = { $ref: '#/components/responses/Accepted' };
  expect(paths[`/v1/state/${keys}/export`]?.['post']?.responses['202']).toEqual(document);
  // Generators would take the document for what a deletion answers.
  expect(paths[`/v1/config/${keys}`]?.['delete']?.responses['202']).toEqual({ $ref: '#/components/responses/AcceptedAlone' });
  const answered = components.schemas['ApprovalAsked'];
  expect(Object.keys(answered?.properties ?? {}).toSorted()).toEqual(['digest', 'digest-words', 'expires', 'id', 'needed']);
});

const ca = 'keystore/tls/ca/{name}';
const expected: Readonly<Record<string, readonly string[]>> = {
  'take-keys-out': [
    ...['export', 'export-openpgp', 'backup'].map((action) => `POST ${keys}/${action}`),
    ...['backup', 'pull-backup', 'run-backup'].map((action) => `POST system/${action}`),
  ],
  'bring-keys-in': ['POST keystore/import-openpgp'],
  destroy: [
    ...['trim', 'export-openpgp-revocation', 'unbind-subkey'].map((action) => `POST ${keys}/${action}`),
    `POST ${ca}/import-revocations`,
    ...['revoke', 'destroy', 'remove'].map((action) => `POST keystore/kmip-spaces/{space}/objects/{id}/${action}`),
  ],
  'change-trust': [
    'POST keystore/token/create-root',
    'POST open-as/allow',
    'POST tenants/{name}/open-as',
    'POST keystore/release-kmip-certificate',
    ...['change-pin', 'accept-clock', 'end-credentials'].map((action) => `POST system/${action}`),
    ...['init', 'invite', 'join', 'remove-member', 'set-public-url', 'clear-public-url'].map((action) => `POST system/cluster/${action}`),
  ],
  // Beside it `system/operate`, which the image alone has.
  stop: ['POST keystore/system/seal'],
  // By what they find: restore does everything; an import into a public key changes trust; secret-ids of approvers; certificates of CAs.
  function: [
    `POST ${keys}/restore`,
    `POST ${keys}/import`,
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
  'keystore/kmip-clients',
  'keystore/kmip-spaces',
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
  'allow-shared-secret': [true, ['take-keys-out']],
  'deletion-allowed': [true, ['destroy']],
  'delete-after': ['30d', ['destroy']],
  publish: [true, ['change-trust']],
  disabled: [true, []],
  'disabled-versions': [[1], []],
  use: ['sign', []],
  derived: [true, []],
  kdf: ['hkdf-sha256', []],
  'convergent-encryption': [true, []],
  custody: ['token', []],
  'public-key': ['-----BEGIN PUBLIC KEY-----', []],
  'min-encryption-version': [1, ['destroy']],
  'min-decryption-version': [1, ['destroy']],
  'auto-rotate': [{ rotateAfter: '90d', invalidateAfter: '180d' }, ['destroy']],
  'openpgp-user-id': ['Release <release@example.com>', []],
  'openpgp-primary': ['release', []],
  'openpgp-key-usage': [['sign'], []],
  'openpgp-published': [true, ['change-trust']],
  'openpgp-user-ids': [['Release <release@example.org>'], []],
  'openpgp-revoked-user-ids': [['Former <former@example.com>'], ['destroy']],
  'openpgp-expires-after': ['1y', ['destroy']],
  'openpgp-packet-version': [6, []],
  labels: [{ team: 'payments' }, []],
};

const openpgpEndings = Object.entries(openpgpFields).flatMap(([name, { ends }]) => (ends === undefined ? [] : [{ name, ends }]));

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
    expect(actsOfKey(change, { publicFields: ['openpgpPublished'], endings: openpgpEndings }), name).toEqual(acts);
  }
});

test('a factory reset of the machine destroys, as the deletion of each key does; what the image alone has is no way around', () => {
  const operate = machineEndpoints('operate').find(({ method }) => method === 'POST');
  const act = operate === undefined ? undefined : (actOf(operate) as (call: unknown, input: unknown) => readonly string[]);
  expect(operations.map((operation) => [operation, act?.(undefined, { operation })])).toEqual([
    ['reboot', ['stop']],
    ['power-off', ['stop']],
    ['factory-reset', ['stop', 'destroy']],
  ]);
});

test('a restore, which may set anything, has every act that a setting has, and an import into a public key changes trust', () => {
  const actsAt = (path: string, record: object): readonly string[] => {
    const { act } = changing.find((endpoint) => nameOf(endpoint) === path) as { readonly act?: unknown };
    return (act as (call: unknown, input: unknown, target: unknown) => readonly string[])(undefined, undefined, { record });
  };
  const ofSettings = new Set(Object.values(fields).flatMap(([, acts]) => acts));
  expect([...ofSettings].filter((act) => !actsAt(`POST ${keys}/restore`, {}).includes(act))).toEqual([]);
  expect(actsAt(`POST ${keys}/import`, {})).toEqual(['bring-keys-in']);
  for (const record of [{ publish: true }, { openpgpPublished: true }])
    expect(actsAt(`POST ${keys}/import`, record)).toEqual(['bring-keys-in', 'change-trust']);
});

test('a subkey of a public key joins what is public, and a User ID of it speaks: both change trust, as an import does', async () => {
  const path = '/v1/config/keystore/transit-keys';
  const primary = { name: 'public', cipher: 'ed25519', 'openpgp-user-id': 'P <p@example.com>', 'openpgp-published': true };
  expect((await appliance.request('POST', path, primary)).status).toBe(201);
  const subkey = { name: 'joined', cipher: 'ed25519', 'openpgp-primary': 'public', 'openpgp-key-usage': ['sign'] };
  expect((await appliance.request('POST', path, subkey)).status).toBe(201);
  expect((await appliance.request('POST', '/v1/config/keystore/authentication/approles', { name: 'alice' })).status).toBe(201);
  const rule = { name: 'trust', acts: ['change-trust'], needed: 1, approvers: { approles: ['alice'] }, force: true };
  expect(await appliance.request('POST', '/v1/config/approval/rules', rule)).toMatchObject({ status: 201, body: {} });
  expect((await appliance.request('POST', path, { ...subkey, name: 'joining' })).body.code).toBe('approval-needed');
  // So does a User ID that it did not have, and not one that goes, or a change of what nobody reads.
  const change = (fields: object) => appliance.request('PATCH', `${path}/public`, fields);
  for (const more of [{ 'openpgp-user-id': 'Q <q@example.com>' }, { 'openpgp-user-ids': ['Q <q@example.com>'] }])
    expect((await change(more)).body.code).toBe('approval-needed');
  for (const same of [{ 'openpgp-user-ids': [] }, { 'openpgp-expires-after': '2y' }]) expect((await change(same)).status).toBe(204);
  const data = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' });
  const imported = await appliance.request('POST', '/v1/state/keystore/transit-keys/joined/import', { data });
  expect(imported.body.code).toBe('approval-needed');
});

test('a new key from a public key of others brings one in, as an import does', () => {
  const after = { ...present, publicKey: '-----BEGIN PUBLIC KEY-----' };
  expect(actsOfKey({ before: undefined, after })).toEqual(['bring-keys-in']);
});

/** The acts of resources: of all their changes, or by the document; of those that depend on what is there, the words. */
function actsOfResource(endpoint: AnyEndpoint): Readonly<Record<string, readonly string[]>> {
  type Facts = { readonly act?: string; readonly acts?: (change: object) => readonly string[] };
  const { act, acts } = (endpoint.documented?.resource?.facts ?? {}) as unknown as Facts;
  const name = nameOf(endpoint)
    .replace('DELETE ', '')
    .replace(/\/\{[^}]+\}$/, '');
  if (act !== undefined) return { [`every change of \`${name}\``]: [act] };
  if (name === 'keystore/authentication/approles') return { [`every change of a \`${name}\` that a rule names`]: ['change-trust'] };
  const change = { call: { caller: { tenantId: 'none' } }, names: ['any'] };
  const before = name === 'keystore/transit-keys' ? present : { deletionAllowed: false };
  const of = (more: object): readonly string[] => acts?.({ ...change, ...more }) ?? [];
  const creation = of({ before: undefined, after: before });
  return {
    ...(name === 'keystore/tls/ca' ? { [`every change of a \`${name}\` by whose certificates somebody logs in`]: ['change-trust'] } : {}),
    [`a new \`${name}\``]: creation,
    [`a change of \`${name}\``]: of({ before, after: before }),
    [`the removal of a \`${name}\``]: of({ before, after: undefined }),
    [`\`deletion-allowed\` of a \`${name}\` set to true`]: of({ before, after: { ...before, deletionAllowed: true } }).filter(
      (one) => !creation.includes(one),
    ),
  };
}

test('the page of the acts lists every way to each of them (ACTS_PAGE=write writes it)', () => {
  const ways: (readonly [act: string, way: string])[] = changing.flatMap((endpoint) => {
    const act = actOf(endpoint);
    if (typeof act === 'function') return [['by what is there', `\`${nameOf(endpoint)}\``] as const];
    if (act === 'by-document' && endpoint.method === 'DELETE')
      return Object.entries(actsOfResource(endpoint)).flatMap(([way, of]) => of.map((one) => [one, way] as const));
    return act === 'none' || act === 'by-document' ? [] : [[String(act), `\`${nameOf(endpoint)}\``] as const];
  });
  const foreign = { before: undefined, after: { ...present, publicKey: '-----BEGIN PUBLIC KEY-----' } };
  for (const act of actsOfKey(foreign)) ways.push([act, 'a new `keystore/transit-keys` with `public-key`']);
  for (const [name, [value, of]] of Object.entries(fields).filter(([one]) => one !== 'deletion-allowed'))
    for (const act of of) ways.push([act, `\`${name}\` of a \`keystore/transit-keys\` set, for example to \`${JSON.stringify(value)}\``]);
  const sections = [...Map.groupBy(ways, ([act]) => act)].toSorted(([one], [other]) => (one < other ? -1 : 1));
  const head = [
    '# Every way to an act',
    '',
    'Rules of [approvals](approvals.md) name acts, because the same effect has many ways. This page is made from the endpoints and fields of a running appliance by',
    '`test/api/acts.test.ts`, which is red when one is added that is not here. Paths are below `/v1/state` and `/v1/config`; a batch counts as what is in it.',
  ];
  const page = [head, ...sections.map(([act, of]) => ['', `## ${act}`, '', ...new Set(of.map(([, way]) => `- ${way}`).toSorted())])]
    .flat()
    .join('\n');
  const file = join(import.meta.dirname, '../../appliance/docs/use/acts.md');
  if (process.env['ACTS_PAGE'] === 'write') writeFileSync(file, `${page}\n`);
  expect(readFileSync(file, 'utf8')).toBe(`${page}\n`);
});
