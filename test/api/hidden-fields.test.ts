// What policies hide of an entry is in no answer of any other path, refusals included: every operation of the API is asked, with an entry of every
// resource whose fields have values that can be recognised.
import { generateKeyPairSync } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import type { AnyEndpoint } from '../../core/http/endpoint.ts';
import { exampleOf, wireSchema } from '../../core/http/description/schema.ts';
import { startWholeAppliance } from '../appliance/cli/whole-appliance.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

const at = temporaryDirectory();
const appliance = await startWholeAppliance(at());
afterAll(() => appliance.close());

type Marked = {
  /** below /v1/config and /v1/state, with parameters */
  readonly list: string;
  readonly names: readonly string[];
  readonly document: Readonly<Record<string, unknown>>;
  /** field to the text by which it is recognised */
  readonly marks: Readonly<Record<string, string>>;
};

const marked: readonly Marked[] = [
  {
    list: 'policy/policies',
    names: ['walked-policy'],
    document: { description: 'mark-described', 'rest-api': { rules: [{ path: '/v1/mark-of-a-rule', operations: { all: 'allow' } }] } },
    marks: { description: 'mark-described', 'rest-api': 'mark-of-a-rule' },
  },
  {
    list: 'tenants',
    names: ['walked-tenant'],
    document: { 'descriptive-name': 'mark-of-a-tenant', policies: ['given-to-tenant'], 'requests-per-minute': 71_234_567 },
    marks: { 'descriptive-name': 'mark-of-a-tenant', policies: 'given-to-tenant', 'requests-per-minute': '71234567' },
  },
  {
    list: 'keystore/authentication/approles',
    names: ['walked-approle'],
    document: {
      'token-policies': ['given-to-approle'],
      'token-max-ttl': '4112h',
      'fixed-role-id': 'mark-of-a-role-id',
      'token-bound-cidrs': ['203.0.113.7/32'],
    },
    marks: {
      'token-policies': 'given-to-approle',
      'token-max-ttl': '4112h',
      'fixed-role-id': 'mark-of-a-role-id',
      'role-id': 'mark-of-a-role-id',
      'token-bound-cidrs': '203.0.113.7',
    },
  },
  {
    list: 'keystore/authentication/oidc',
    names: ['walked-service'],
    document: {
      'display-name': 'mark-displayed',
      'discovery-url': 'https://mark-of-a-provider.invalid/.well-known/openid-configuration',
      'client-id': 'mark-of-a-client',
      'client-secret': 'mark-of-a-client-secret',
      'role-select': { 'role-claim': 'mark-of-a-claim' },
      'allowed-redirect-uris': ['https://mark-of-a-redirect.example/oidc-callback'],
    },
    marks: {
      'display-name': 'mark-displayed',
      'discovery-url': 'mark-of-a-provider',
      'client-id': 'mark-of-a-client',
      'role-select': 'mark-of-a-claim',
      'allowed-redirect-uris': 'mark-of-a-redirect',
    },
  },
  {
    list: 'keystore/authentication/oidc/{service}/roles',
    names: ['walked-service', 'walked-role'],
    document: {
      'token-policies': ['given-to-role'],
      'required-claims': ['mark-of-a-required-claim'],
      'claim-mappings': { 'mark-of-a-mapped-claim': 'username' },
      'oidc-scopes': ['mark-of-a-scope'],
    },
    marks: {
      'token-policies': 'given-to-role',
      'required-claims': 'mark-of-a-required-claim',
      'claim-mappings': 'mark-of-a-mapped-claim',
      'oidc-scopes': 'mark-of-a-scope',
    },
  },
  {
    list: 'keystore/authentication/jwt',
    names: ['walked-issuer'],
    document: { issuer: 'https://mark-of-an-issuer.invalid', 'jwks-url': 'https://mark-of-a-key-set.invalid/jwks' },
    marks: { issuer: 'mark-of-an-issuer', 'jwks-url': 'mark-of-a-key-set' },
  },
  {
    list: 'keystore/authentication/jwt/{issuer}/roles',
    names: ['walked-issuer', 'walked-jwt-role'],
    document: {
      audience: 'mark-of-an-audience',
      bindings: [{ claim: 'sub', value: 'mark-of-a-workload' }],
      'max-age': '4213h',
      'token-max-ttl': '4214h',
    },
    marks: {
      audience: 'mark-of-an-audience',
      bindings: 'mark-of-a-workload',
      'max-age': '4213h',
      'longest-life': '15166800s',
      'token-max-ttl': '4214h',
    },
  },
  {
    list: 'keystore/transit-keys',
    names: ['walked-key'],
    document: {
      cipher: 'ecdsa-p521',
      exportable: true,
      'openpgp-user-id': 'mark-of-a-user-id',
      labels: { team: 'mark-of-a-team' },
      'auto-rotate': { 'rotate-after': '4111h' },
    },
    marks: { cipher: 'ecdsa-p521', 'openpgp-user-id': 'mark-of-a-user-id', labels: 'mark-of-a-team', 'auto-rotate': '4111h' },
  },
  {
    list: 'keystore/tls/ca',
    names: ['walked-ca'],
    document: {
      subject: 'CN=mark-of-a-subject',
      ttl: '4113h',
      'cert-key-type': 'ecdsa',
      est: { 'allowed-domains': ['mark-of-a-domain.example'], 'initial-enroll-secret': 'mark-of-an-enrolment-secret' },
    },
    marks: { subject: 'mark-of-a-subject', ttl: '4113h', 'est/allowed-domains': 'mark-of-a-domain' },
  },
];

/** What has the text for another reason: the list of policies has all of their names, the tokens and their numbers of keys every cipher. */
const elsewhere = [
  /^GET \/v1\/(?:config|state)\/policy\/policies 200: (?:token-)?policies$/,
  /^GET \/v1\/state\/system\/(?:hsm|metrics) 200: cipher$/,
];

for (const name of ['given-to-tenant', 'given-to-approle', 'given-to-role'])
  await appliance.request('POST', '/v1/config/policy/policies', { name });
for (const { list, names, document } of marked) {
  const path = `/v1/config/${filled(list, names)}`;
  const { status, body } = await appliance.request('POST', path, { name: names.at(-1), ...document });
  if (status !== 201) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
}

/** A path with the names of the walked entries in place of its parameters. */
function filled(path: string, names: readonly string[]): string {
  const left = [...names];
  return path.replaceAll(/\{[^}]+\}/g, () => left.shift() ?? 'none');
}

const ended = new Set(['/v1/logout', '/v1/state/keystore/token/disable', '/v1/state/topics/{topic}']);
const asked = appliance.app.routes.filter(
  ({ access, method, path, undescribed }) =>
    access === 'token' && undescribed !== true && method !== 'DELETE' && method !== 'PUT' && !ended.has(path),
);

/** The names of the entries that a path is about, as far as there are such. */
function namesIn(path: string): readonly string[] {
  const below = path.replace(/^\/v1\/(?:config|state)\//, '');
  const entry = marked
    .filter(({ list }) => below === list || below.startsWith(`${list}/{`))
    .toSorted((left, right) => right.list.length - left.list.length)[0];
  return entry?.names ?? (below.startsWith('keystore/authentication/oidc/') ? ['walked-service'] : []);
}

const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey.export({ format: 'pem', type: 'pkcs8' });

/** Bodies that are accepted where that is possible without more, and such as are refused for what the entry is. */
function bodiesFor({ method, path, documented, input }: AnyEndpoint, fields: readonly string[]): readonly unknown[] {
  if (method === 'GET') return [undefined];
  if (method === 'PATCH') {
    const without = fields.map((field) => field.split('/').reduceRight<unknown>((inner, part) => ({ [part]: inner }), null));
    return [{ labels: { walked: 'yes' } }, ...without];
  }
  const schema = documented?.input ?? input;
  const example = documented?.exampleInput ?? (schema === undefined ? undefined : exampleOf(wireSchema(schema, 'input')));
  return [example, {}, ...(path.endsWith('/import') ? [{ data: rsa }] : [])];
}

describe.each(marked)('$list', ({ list, names, marks }) => {
  test('is told by no answer of another path', async () => {
    const policy = `hides-${list.replaceAll(/[^a-z]+/g, '-')}`;
    const own = ['config', 'state'].flatMap((tree) => [filled(`/v1/${tree}/${list}`, names), filled(`/v1/${tree}/${list}/{name}`, names)]);
    const rules = [
      { path: '/v1/**', operations: { all: 'allow' } },
      ...own.map((path) => ({ path, operations: { all: 'allow' }, 'hide-fields': Object.keys(marks) })),
    ];
    await appliance.request('POST', '/v1/config/policy/policies', { name: policy, 'rest-api': { rules } });
    const made = await appliance.request('POST', '/v1/state/keystore/token/create', { policies: [policy] });
    const token = String(made.body.token);
    const told: string[] = [];
    let answered = 0;
    for (const endpoint of asked) {
      const path = filled(endpoint.path, namesIn(endpoint.path));
      for (const sent of bodiesFor(endpoint, Object.keys(marks))) {
        const query = endpoint.query !== undefined && 'validate' in endpoint.query ? '?validate=true' : '';
        const { status, headers, body } = await appliance.request(endpoint.method, `${path}${query}`, sent, { token });
        if (status < 300) answered += 1;
        const text = JSON.stringify([headers, body]);
        const found = Object.entries(marks).flatMap(([field, mark]) => (text.includes(mark) ? [field] : []));
        told.push(...found.map((field) => `${endpoint.method} ${endpoint.path} ${status}: ${field}`));
      }
    }
    expect(answered).toBeGreaterThan(50);
    expect(told.filter((one) => !elsewhere.some((known) => known.test(one)))).toEqual([]);
  });
});
