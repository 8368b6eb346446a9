// The forms of the console over the real description: every body has fields of known kinds, and a draft makes exactly the body that was meant.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonSchema, OpenApiDocument } from '../../../core/http/description/document.ts';
import { Catalog, groupName, nameOf, titleOf } from '../../../plugins/console/app/description/catalog.ts';
import { inputOf } from '../../../plugins/console/app/description/schema.ts';
import { withoutTree } from '../../../plugins/console/app/address/path.ts';
import { readDraft, typedOf, valueAt, type Draft, type Typed } from '../../../plugins/console/app/forms/draft.ts';
import { fieldsIn, type Field } from '../../../plugins/console/app/forms/fields.ts';
import type { May } from '../../../plugins/console/app/api/may.ts';
import type { FormPlace } from '../../../plugins/console/app/forms/controls/control.ts';
import { listOf, offered } from '../../../plugins/console/app/forms/controls/lists.ts';
import { isUseful } from '../../../plugins/console/app/views/useful.ts';
import { titlesOfRefusals } from '../../../plugins/console/words/de/api/appliance-texts.ts';
import { fieldNames } from '../../../plugins/console/words/de/api/field-names.ts';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
let appliance: TestAppliance;
let catalog: Catalog;

beforeAll(async () => {
  appliance = await startTestAppliance({ directory: path() });
  catalog = new Catalog(JSON.parse(JSON.stringify(appliance.app.openapi())) as OpenApiDocument);
});
afterAll(() => appliance.close());

const placeOf = (template: string): FormPlace => ({ document: catalog.document, template, names: ['x', 'y'], isAbove: false });

/** Names of all properties in it. */
function namesIn(value: unknown): ReadonlySet<string> {
  if (typeof value !== 'object' || value === null) return new Set();
  const { properties } = value as { readonly properties?: object };
  return new Set([...Object.keys(properties ?? {}), ...Object.values(value).flatMap((inner) => [...namesIn(inner)])]);
}

test('every field of the description has its German name, or the same in both languages', () => {
  const lacking = [...namesIn(catalog.document)].filter((name) => fieldNames[name] === undefined && !sameInGerman.test(name));
  expect(lacking.toSorted()).toEqual([]);
});

test('every list, page, action and group of the description has its German name, or the same in both languages', () => {
  const spelled = catalog.entries.map((entry) => {
    const { command, path: template } = entry;
    const last = template.split('/').findLast((segment) => !segment.startsWith('{')) ?? '';
    return { name: command.action ?? last, shown: nameOf(entry) };
  });
  const groups = catalog.groups().map(({ tag }) => ({ name: tag, shown: groupName(tag) }));
  // Names in full are texts of the sources (german.test.ts).
  const named = new Set([...spelled, ...groups].filter(({ name, shown }) => shown === titleOf(name)).map(({ name }) => name));
  expect([...named].filter((name) => fieldNames[name] === undefined && !sameInGerman.test(name)).toSorted()).toEqual([]);
});

test('names are written right: abbreviations in capitals or in full, never as words', () => {
  const named = new Set(namesIn(catalog.document));
  for (const { path: template, command } of catalog.entries)
    for (const one of [...template.split('/').slice(3), command.action ?? '']) if (!one.startsWith('{')) named.add(one);
  const words = [...named].flatMap((name) => titleOf(name).split(/[ ()/]/));
  // What is spoken by letters has no vowel, or is not a word of the language.
  const strange = words.filter((word) => /^[A-Za-z]?[a-z]+$/.test(word) && (!/[aeiouy]/i.test(word) || abbreviation.test(word)));
  expect([...new Set(strange)].toSorted()).toEqual([]);
  expect(['pkce', 'kty', 'uri', 'iss', 'redirect-uris', 'kid'].map(titleOf)).toEqual([
    'PKCE',
    'Key type',
    'URI',
    'Issuer',
    'Redirect URIs',
    'Key ID',
  ]);
});

/** Abbreviations of standards with a vowel in them, as nobody writes them. */
const abbreviation =
  /^(?:acme|aead|aes|alg|api|aud|azp|ca|caa|cidrs?|cn|dns|eab|est|hkdf|ids?|ip|iss|iv|jwe|kid|kty|mac|mgf1?|nbf|ocsp|oid|oidc|pem|pin|pkce|qr|ra|rsa|san|sans|scep|siem|sub|uid|uris?|urls?|uuid)$/i;

test('every refusal of what the console does has its German title', () => {
  const codes = new Set(catalog.entries.flatMap(({ operation }) => operation['x-codes']));
  expect([...codes].filter((code) => titlesOfRefusals[code] === undefined).toSorted()).toEqual([]);
  expect(Object.keys(titlesOfRefusals).filter((code) => catalog.document['x-errors'][code] === undefined)).toEqual([]);
});

/** Abbreviations, and words that German has taken over. */
const sameInGerman = /^(?:acme|cluster|cmac|cmp|csr|est|etcd|hmac|hsm|jwt|kdf|kmip|openpgp|pin|pkce|rest-api|scep|sha256|uris?|url|x|y)$/;

test('fields that name an entry are offered those that the person may use so', () => {
  const all = catalog.entries.flatMap(({ path: template, operation }) =>
    fieldsIn(inputOf(operation, catalog.document) ?? {}, catalog.document).map((field) => ({ ...field, template })),
  );
  const chosen = all.flatMap((field) => {
    const { schema, kind, template } = field;
    const list = kind === 'text' ? listOf(placeOf(template), schema) : listOf(placeOf(template), schema.items ?? {});
    return list === undefined ? [] : [{ ...field, list: list.path }];
  });
  expect(chosen.map((field) => `${field.path} ${field.list}`)).toEqual(
    expect.arrayContaining([
      'accessor /v1/state/keystore/authentication/approles/x/secret-ids',
      'accessor /v1/state/keystore/hand-overs',
      'accessor /v1/state/keystore/tokens',
      'approvers/approles /v1/config/keystore/authentication/approles',
      'est/initial-enroll-trust-ca /v1/config/keystore/tls/ca',
      'id /v1/state/keystore/tls/ca/x/eab-keys',
      'issuing-ca /v1/config/keystore/tls/ca',
      'name /v1/config/tenants',
      'openpgp-primary /v1/config/keystore/transit-keys',
      'policies /v1/config/policy/policies',
      'serial /v1/state/keystore/tls/ca/x/certificates',
      'serials /v1/state/keystore/tls/ca/x/certificates',
      'space /v1/config/keystore/kmip-spaces',
      'subkey /v1/config/keystore/transit-keys',
      'token-policies /v1/config/policy/policies',
      'transit-key /v1/config/keystore/transit-keys',
      'trust-ca /v1/config/keystore/tls/ca',
    ]),
  );
  const names = chosen.find((field) => field.path === 'issuing-ca')?.schema['x-names'];
  const refuses = new Set(['execute /v1/state/keystore/tls/ca/refused/certify-ca']);
  const ask = (operation: string, path: string): May => (refuses.has(`${operation} ${path}`) ? { no: 'refused', status: 403 } : 'unknown');
  expect(names === undefined ? [] : offered(['root', 'refused', 'other'], names, ask)).toEqual(['root', 'other']);
});

test('what there is no use for as a CA is set is told by its settings, each of them a field of its form', () => {
  const template = '/v1/config/keystore/tls/ca/{name}';
  const merge = catalog.entries.find((entry) => entry.path === template && entry.command.verb === 'merge');
  const place = catalog.at(template.replace('{name}', 'a'));
  if (merge === undefined || place === undefined) throw new Error('the description has no certificate authorities');
  const labels = fieldsIn(inputOf(merge.operation, catalog.document) ?? {}, catalog.document).map((field) => field.path);
  const told = catalog.entries.flatMap(({ operation }) => operation['x-useful-with'] ?? []);
  expect(labels).toEqual(expect.arrayContaining([...new Set(told)]));
  const below = catalog.below(place);
  const without = (...settings: readonly unknown[]): readonly string[] =>
    below.filter((entry) => !isUseful(entry, settings)).map(({ path: one }) => one.slice(one.lastIndexOf('/') + 1));
  const eab = ['make-eab-key', 'eab-keys', 'revoke-eab-key'];
  const off = { scep: { enabled: false }, cmp: { enabled: false }, acme: { enabled: false } };
  expect(without(off)).toHaveLength(11);
  expect(without({ ...off, cmp: { enabled: true } })).toEqual(eab);
  expect(without(undefined, { ...off, scep: { enabled: true } })).toEqual(eab);
  expect(without({ ...off, acme: { enabled: true } })).toEqual(expect.not.arrayContaining(eab));
  // What is not known is taken for switched on.
  expect(without({})).toEqual([]);
  expect(without(undefined)).toEqual([]);
});

test('times, ranges of addresses and labels say so, so that forms ask for them as what they are', () => {
  const all = catalog.entries.flatMap(({ operation }) => fieldsIn(inputOf(operation, catalog.document) ?? {}, catalog.document));
  const formed = (form: string): string[] => [...new Set(all.filter(({ schema }) => schema['x-form'] === form).map((field) => field.path))];
  expect(formed('duration')).toEqual(expect.arrayContaining(['ttl', 'token-ttl', 'auto-rotate/rotate-after', 'est/ttl', 'open-within']));
  expect(formed('ranges')).toEqual(expect.arrayContaining(['bound-cidrs', 'token-bound-cidrs', 'secret-id-bound-cidrs']));
  expect(formed('labels')).toEqual(['labels']);
});

const nowhere = { components: { schemas: {} } } as unknown as OpenApiDocument;
const fieldOf = (schema: JsonSchema): Field => {
  const [field] = fieldsIn({ properties: { x: schema } }, nowhere);
  if (field === undefined) throw new Error('the schema has no field');
  return field;
};
const valueOf = (schema: JsonSchema, typed: Typed): unknown => {
  const { body, problems } = readDraft([fieldOf(schema)], new Map([['x', typed]]), false);
  return problems[0]?.message ?? body['x'];
};

describe('every operation of the appliance', () => {
  test('has fields for its body, and few of them are written as JSON', () => {
    const fields = catalog.entries.flatMap(({ operation }) => fieldsIn(inputOf(operation, catalog.document) ?? {}, catalog.document));
    expect(fields.length).toBeGreaterThan(200);
    expect([...new Set(fields.filter(({ kind }) => kind === 'json').map((field) => field.path))].sort()).toMatchInlineSnapshot(`
      [
        "batch-input",
        "bindings",
        "claims",
        "distinct-groups",
        "notations",
        "openpgp-packet-version",
        "questions",
        "rest-api/rules",
        "transport/present",
        "values",
      ]
    `);
  });

  test('takes back, unchanged, what its example shows in the fields', () => {
    for (const { operation, path: template, method } of catalog.entries) {
      const media = operation.requestBody?.content['application/json'];
      if (media?.example === undefined) continue;
      const fields = fieldsIn(inputOf(operation, catalog.document) ?? {}, catalog.document);
      const shown = fields.map((field) => [field.path, typedOf(field, valueAt(media.example, field.path))] as const);
      const secrets = fields
        .filter(({ kind }) => kind === 'secret')
        .map((field) => [field.path, valueAt(media.example, field.path)] as const);
      const typed = [...shown, ...secrets].filter((one): one is readonly [string, Exclude<Typed, null>] => one[1] !== undefined);
      const draft: Draft = new Map(typed);
      const { body, problems } = readDraft(fields, draft, false);
      expect({ method, template, problems, body: JSON.parse(JSON.stringify(body)) as unknown }).toEqual({
        method,
        template,
        problems: [],
        body: media.example,
      });
    }
  });

  test('that is a GET below the trees is "read" for policies, which pages ask before they read', () => {
    const reads = catalog.entries.filter(({ method, path: template }) => method === 'GET' && /^\/v1\/(?:config|state)\//.test(template));
    expect(reads.length).toBeGreaterThan(30);
    expect(reads.filter(({ operation }) => ![undefined, 'read'].includes(operation['x-operation'])).map(({ path: one }) => one)).toEqual(
      [],
    );
  });

  test('can be reached from the pages above it: by a group of the navigation, from the page of what it is about, or from a list', () => {
    const shapeOf = (template: string): string => withoutTree(template).replaceAll(/\{[^}]+\}/g, '{}');
    const reached = new Set(catalog.groups().flatMap(({ entries }) => entries.map(({ path: one }) => shapeOf(one))));
    for (const { path: template } of catalog.entries) {
      const place = catalog.at(template.replaceAll(/\{[^}]+\}/g, 'a'));
      for (const { path: one } of place === undefined ? [] : catalog.below(place)) reached.add(shapeOf(one));
    }
    const isInList = (shape: string): boolean => shape.endsWith('/{}') && reached.has(shape.slice(0, -'/{}'.length));
    expect(catalog.entries.map(({ path: one }) => shapeOf(one)).filter((shape) => !reached.has(shape) && !isInList(shape))).toEqual([]);
  });

  test('is found at its own address', () => {
    for (const { path: template, command } of catalog.entries) {
      const place = catalog.at(template.replaceAll(/\{[^}]+\}/g, 'a'));
      expect(
        place?.entries.some((entry) => entry.command === command),
        template,
      ).toBe(true);
    }
  });
});

describe('a draft', () => {
  test('has nothing that was not touched', () => {
    expect(Object.keys(readDraft([fieldOf({ type: 'string' })], new Map(), false).body)).toEqual([]);
  });

  test('asks for what is required, in a creation alone', () => {
    const fields = fieldsIn({ required: ['x'], properties: { x: { type: 'string' } } }, nowhere);
    expect(readDraft(fields, new Map(), true).problems).toEqual([{ path: 'x', message: 'is required' }]);
    expect(readDraft(fields, new Map(), false).problems).toEqual([]);
  });

  test('sends null for what is removed', () => {
    expect(valueOf({ type: ['string', 'null'] }, null)).toBeNull();
  });

  test.each<readonly [string, JsonSchema, Typed, unknown]>([
    ['a whole number', { type: 'integer' }, '4 294 967 296', 4_294_967_296],
    ['a number with too many digits', { type: 'integer' }, '9007199254740993', 'has more digits than can be sent exactly'],
    ['a fraction where none may be', { type: 'integer' }, '1.5', 'must be a whole number'],
    ['lines', { type: 'array', items: { type: 'string' } }, ' a \n\nb', ['a', 'b']],
    ['a choice', { enum: ['a', 'b'], type: 'string' }, 'b', 'b'],
    ['a flag', { type: 'boolean' }, 'false', false],
    ['text as base64', { type: 'string', contentEncoding: 'base64' }, { text: 'ü', as: 'text' }, 'w7w='],
    ['base64 as it is', { type: 'string', contentEncoding: 'base64' }, { text: 'w7\nw=', as: 'base64' }, 'w7w='],
    ['broken JSON', { type: 'object' }, '{', 'must be JSON'],
  ])('makes %s', (_, schema, typed, expected) => {
    expect(valueOf(schema, typed)).toEqual(expected);
  });

  test('loses no value of a map to a name that stands twice, and takes names of properties that all objects have', () => {
    const map = { type: 'object', additionalProperties: { type: 'string' } } as const;
    expect(
      valueOf(map, [
        { key: 'a', value: '1' },
        { key: 'a', value: '2' },
      ]),
    ).toBe('has "a" twice');
    const value = valueOf(map, [
      { key: '__proto__', value: '1' },
      { key: 'constructor', value: '2' },
    ]) as object;
    expect(JSON.stringify(value)).toBe('{"__proto__":"1","constructor":"2"}');
    expect(({} as Record<string, unknown>)['1']).toBeUndefined();
  });

  test('never shows a secret', () => {
    expect(typedOf(fieldOf({ type: 'string', 'x-secret': true }), 'hunter2')).toBeUndefined();
  });
});
