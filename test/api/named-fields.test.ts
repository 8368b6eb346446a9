// Every text of a request that could be the name of something says what it names and what using that needs, or is known to name nothing.
import { afterAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { operations } from '../../core/access/policy/patterns.ts';
import type { AnyEndpoint } from '../../core/http/endpoint.ts';
import { namedFieldsOf } from '../../core/http/named-entries.ts';
import { toKebab } from '../../core/wire/schema.ts';
import { startWholeAppliance } from '../appliance/cli/whole-appliance.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

const at = temporaryDirectory();
const appliance = await startWholeAppliance(at());
const { routes } = appliance.app;
afterAll(() => appliance.close());

/** Texts that a name would be taken for, and that name nothing here: what they are instead. */
const namesNothing: Readonly<Record<string, string>> = {
  name: 'the entry of the request itself',
  'batch-input/name': 'the entry of the request itself',
  'batch-input/reference': 'echoed to the caller',
  'batch-input/plaintext': 'payload',
  'batch-input/text': 'payload',
  'batch-input/ciphertext': 'payload',
  'batch-input/signature': 'payload',
  'batch-input/hmac': 'payload',
  'batch-input/context': 'payload',
  'batch-input/associated-data': 'payload',
  'batch-input/context-base64': 'payload',
  'batch-input/info': 'payload',
  info: 'payload',
  'batch-input/label': 'payload',
  label: 'payload',
  plaintext: 'payload',
  text: 'payload',
  ciphertext: 'payload',
  signature: 'payload',
  trailer: 'payload',
  hmac: 'payload',
  cmac: 'payload',
  'batch-input/cmac': 'payload',
  context: 'payload',
  'associated-data': 'payload',
  'context-base64': 'payload',
  key: 'a backup',
  content: 'a backup',
  file: 'a backup on the machine',
  identity: 'secret',
  pin: 'secret',
  source: 'for people',
  data: 'key material',
  'hmac-key': 'key material',
  openpgp: 'a key block',
  cipher: 'one of a list',
  'batch-input/cipher': 'one of a list',
  passphrase: 'secret',
  recipients: 'keys of age',
  invitation: 'secret',
  'wrapping-key': 'a key of the caller',
  'public-key': 'a key of the caller',
  'batch-input/public-key': 'a key of the caller',
  csr: 'a request of the caller',
  crl: 'a list that the CA itself has signed',
  member: 'an appliance that is not in yet',
  certificate: 'a certificate of the caller',
  'ca-cert': 'a certificate of the caller',
  'certificate-chain': 'certificates of the caller',
  'jws-type': 'a media type',
  'batch-input/jws-type': 'a media type',
  'ca-certs': 'certificates of the provider',
  'openpgp-user-id': 'for people',
  'batch-input/openpgp-user-id': 'for people',
  'openpgp-user-ids': 'for people',
  'batch-input/openpgp-user-ids': 'for people',
  'openpgp-revoked-user-ids': 'for people',
  'batch-input/openpgp-revoked-user-ids': 'for people',
  'notations/value': 'for people',
  comment: 'for people',
  description: 'for people',
  purpose: 'for people',
  'descriptive-name': 'for people',
  'display-name': 'for people',
  subject: 'a name in certificates, which parents of it do not follow from',
  'client-ip': 'an address',
  'fixed-role-id': 'the role-id of the entry of the request itself',
  digest: 'of a request for approval',
  reason: 'why a request for approval is rejected',
  'client-id': 'a name at the provider',
  'client-secret': 'secret',
  'discovery-url': 'elsewhere',
  'expected-issuer': 'elsewhere',
  'allowed-redirect-uris': 'elsewhere',
  'provider-hosts': 'elsewhere',
  'google-groups/directory-host': 'elsewhere',
  issuer: 'elsewhere',
  'jwks-url': 'elsewhere',
  'static-keys': 'keys of the issuer',
  audience: 'a name of the appliance in tokens of others',
  'bindings/claim': 'a claim of the issuer',
  'bindings/value': 'a value of that claim',
  'bindings/contains': 'a value of that claim',
  jwt: 'a token of the issuer',
  'role-select/role-claim': 'a claim of the provider',
  'role-select/role-without-groups': 'compared with the roles of the service, whose policies a caller who changes it must hold',
  'required-claims': 'claims of the provider',
  'oidc-scopes': 'scopes of the provider',
  'cmp/ra-certs': 'certificates of registration authorities elsewhere',
  'est/initial-enroll-secret': 'secret',
  'est/allowed-domains': 'names in certificates',
  'acme/caa-identities': 'names of the CA in the name service',
  'permitted-domains': 'names in certificates',
  'dns-names': 'names in certificates',
  'excluded-domains': 'names in certificates',
  'permitted-uri-hosts': 'names in certificates',
  'permitted-emails': 'names in certificates',
  'scep/initial-enroll-secret': 'secret',
  'cmp/initial-enroll-secret': 'secret',
  names: 'names in certificates, and of objects in KMIP',
  'object-groups': 'names of groups in KMIP',
  username: 'a name that the client states, and proves with a password',
  password: 'secret',
  'certificate-name': 'a name in certificates',
  message: 'for people',
  'compromise-time': 'a time',
  path: 'the path in question, which is answered and not used',
  'questions/path': 'the path in question, which is answered and not used',
  'rest-api/rules/hide-fields': 'fields',
};

const written = routes.filter(
  (endpoint) => endpoint.access === 'token' && endpoint.undescribed !== true && schemaOf(endpoint) !== undefined,
);

function schemaOf({ documented, input }: AnyEndpoint): z.ZodType | undefined {
  return documented?.input ?? input;
}

/** Paths of the texts that take an ordinary name, in wire form. Walks what the description walks, and unlike it the real checks. */
function* textsOf(schema: z.ZodType, path: readonly string[] = []): Iterable<string> {
  if (schema instanceof z.ZodObject)
    for (const [name, inner] of Object.entries<z.ZodType>(schema.shape)) yield* textsOf(inner, [...path, name]);
  else if (schema instanceof z.ZodArray) yield* textsOf(schema.element as z.ZodType, path);
  else if (schema instanceof z.ZodUnion) for (const one of schema.options as z.ZodType[]) yield* textsOf(one, path);
  else if (schema instanceof z.ZodIntersection)
    for (const one of [schema.def.left, schema.def.right]) yield* textsOf(one as z.ZodType, path);
  else if (schema instanceof z.ZodPipe) yield* textsOf(schema.in as z.ZodType, path);
  else if ('unwrap' in schema && typeof schema.unwrap === 'function') yield* textsOf(schema.unwrap() as z.ZodType, path);
  else if (schema instanceof z.ZodString && takesName(schema)) yield path.map(toKebab).join('/');
}

/** A name of a resource, an accessor, or any word. */
function takesName(schema: z.ZodType): boolean {
  return ['my-name', 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6'].some((name) => schema.safeParse(name).success);
}

describe.each(written.map((endpoint) => [`${endpoint.method} ${endpoint.path}`, schemaOf(endpoint) as z.ZodType] as const))(
  '%s',
  (_, schema) => {
    test('has no text that names something and does not say so', () => {
      const named = new Set(namedFieldsOf(schema).map(({ wire }) => wire));
      expect([...new Set(textsOf(schema))].filter((path) => !named.has(path) && namesNothing[path] === undefined)).toEqual([]);
    });

    test('needs rights at paths that policies can be asked about, or says why it needs none', () => {
      const entries = namedFieldsOf(schema).map(({ entry }) => entry);
      expect(entries.filter(({ needs, because = '' }) => needs.length === 0 && because === '')).toEqual([]);
      for (const { operation, path } of entries.flatMap(({ needs }) => needs)) {
        expect(operations).toContain(operation);
        expect(path).toMatch(/^\/v1\/(?:config|state)\/[^{}]*\/\{\}(?:\/[a-z-]+)?$/);
      }
    });
  },
);

test('what is said to name nothing is there', () => {
  const all = new Set(written.flatMap((endpoint) => [...textsOf(schemaOf(endpoint) as z.ZodType)]));
  expect(Object.keys(namesNothing).filter((path) => !all.has(path))).toEqual([]);
});

test('a field that names something and does not say so is found', () => {
  const planted = z.object({ outer: z.object({ friend: z.string().max(128).optional() }).prefault({}), kind: z.enum(['a', 'b']) });
  expect([...textsOf(planted)]).toEqual(['outer/friend']);
  expect(namedFieldsOf(planted)).toEqual([]);
});
