// The shapes of the API description: what generators of clients turn into types that fit. Every rule walks the built document.
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  successesOf,
  type Content,
  type JsonSchema,
  type OpenApiDocument,
  type Operation,
  type Reference,
  type Response,
} from '../../../core/http/description/document.ts';
import { describeSealed } from '../../../appliance/seal/sealed-description.ts';
import type { TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { startWholeAppliance } from './whole-appliance.ts';

type Part = Readonly<Record<string, unknown>>;
type Found = readonly [where: string, part: Part];

const path = temporaryDirectory();
let appliance: TestAppliance;
let whole: OpenApiDocument;
/** The description of a serving appliance, and that of a sealed one. */
let documents: readonly OpenApiDocument[];

beforeAll(async () => {
  appliance = await startWholeAppliance(path());
  whole = appliance.app.openapi();
  documents = [whole, describeSealed()];
});
afterAll(() => appliance.close());

const isPart = (value: unknown): value is Part => typeof value === 'object' && value !== null;
const named = (document: OpenApiDocument, $ref: unknown): Part =>
  document.components.schemas[String($ref).replace('#/components/schemas/', '')] ?? {};

/** Everything below a value, references followed; examples are values, not schemas. */
function below(document: OpenApiDocument, value: unknown, where = ''): Found[] {
  if (Array.isArray(value)) return value.flatMap((one, index) => below(document, one, `${where}/${index}`));
  if (!isPart(value)) return [];
  const inner = Object.entries(value).filter(([name]) => !['example', 'examples', 'default', 'enum'].includes(name));
  const referred = value['$ref'] === undefined ? [] : below(document, named(document, value['$ref']), `${where}>`);
  return [[where, value], ...referred, ...inner.flatMap(([name, one]) => below(document, one, `${where}/${name}`))];
}

const operationsOf = (document: OpenApiDocument): (readonly [name: string, operation: Operation])[] =>
  Object.entries(document.paths).flatMap(([route, methods]) =>
    Object.entries(methods).map(([method, operation]) => [`${method} ${route}`, operation] as const),
  );
/** The schemas of a document: named ones, and those of bodies. Fields called like a keyword are told apart by their place. */
const schemasOf = (document: OpenApiDocument): (readonly [string, JsonSchema])[] =>
  below(document, document.components.schemas, 'schemas')
    .filter(([where]) => where !== 'schemas' && !where.endsWith('/properties'))
    .map(([where, part]) => [where, part as JsonSchema]);

/** What a response has, references followed. */
function bodyOf(document: OpenApiDocument, response: Response | Reference | undefined): Content {
  if (response === undefined || !('$ref' in response)) return response?.content ?? {};
  return document.components.responses[response.$ref.replace('#/components/responses/', '')]?.content ?? {};
}

const isDescription = (name: string): boolean => name === 'get /v1/openapi.json';

/** Names the parts that break a rule, in either document. */
function breaking(rule: (schema: JsonSchema, where: string) => boolean): string[] {
  return documents.flatMap((document) => schemasOf(document).flatMap(([where, schema]) => (rule(schema, where) ? [where] : [])));
}

test('R6: no body of a PATCH has a default, at any depth: clients would send it for what the caller left out', () => {
  const merges = operationsOf(whole).filter(([name]) => name.startsWith('patch'));
  expect(merges.length).toBeGreaterThan(5);
  const parts = merges.flatMap(([name, { requestBody }]) => below(whole, requestBody, name));
  expect(parts.filter(([where, part]) => 'default' in part && !where.endsWith('/properties')).map(([where]) => where)).toEqual([]);
});

test('R1: every body, every answer and every object in them has a name', () => {
  const unnamed = documents.flatMap((document) =>
    operationsOf(document).flatMap(([name, { requestBody, responses }]) =>
      [requestBody?.content ?? {}, ...Object.values(responses).map((one) => bodyOf(document, one))].flatMap((content) =>
        Object.entries(content).flatMap(([mediaType, { schema }]) =>
          /[/+]json$/.test(mediaType) && !isDescription(name) && (schema.$ref ?? schema.items?.$ref) === undefined ? [name] : [],
        ),
      ),
    ),
  );
  expect(unnamed).toEqual([]);
  expect(breaking(({ properties }, where) => properties !== undefined && !/^schemas\/\w+$|>$/.test(where))).toEqual([]);
});

test('R2 to R4: actions with batches are two operations, each with closed types of its own', () => {
  for (const action of ['encrypt', 'decrypt', 'rewrap', 'sign', 'verify', 'hmac']) {
    const name = `${action[0]?.toUpperCase()}${action.slice(1)}`;
    const { [`${name}Request`]: single, [`${name}BatchItem`]: item, [`${name}BatchRequest`]: batch } = whole.components.schemas;
    expect(single).toMatchObject({ additionalProperties: false, required: [expect.any(String)] });
    expect(single?.properties).not.toHaveProperty('batch-input');
    expect(item?.required).toEqual(single?.required);
    expect(Object.keys(item?.properties ?? {})).toEqual([...Object.keys(single?.properties ?? {}), 'reference']);
    expect(batch).toMatchObject({ additionalProperties: false, required: ['batch-input'] });
    expect(batch?.properties?.['batch-input']).toMatchObject({ maxItems: 1_000, items: { $ref: `#/components/schemas/${name}BatchItem` } });
    expect(whole.components.schemas[`${name}Answer`]?.required).toContain('key-version');
    expect(whole.components.schemas[`${name}BatchAnswer`]?.required).toEqual(['batch-results', 'failed']);
  }
});

test('R5: a list answers an array and says in headers how many entries there are and where the next are', () => {
  const lists = operationsOf(whole).filter(([, { parameters }]) => parameters.some(({ name }) => name === 'after'));
  expect(lists.length).toBeGreaterThan(15);
  for (const [name, { parameters, responses }] of lists) {
    expect([name, parameters.map((one) => one.name).filter((one) => one === 'keys' || one === 'count')]).toEqual([name, []]);
    const [, success] = successesOf({ responses })[0] ?? [];
    expect(Object.keys(success?.headers ?? {})).toEqual(['Total-Count', 'Link']);
    expect(success?.content?.['application/json']?.schema).toMatchObject({ type: 'array', items: { $ref: expect.anything() } });
  }
});

test('R8, R9: a field has one type, or one and null', () => {
  const isNullable = ({ type, anyOf }: JsonSchema): boolean =>
    (typeof type === 'object' && type.length === 2 && type[1] === 'null') || (anyOf?.length === 2 && anyOf[1]?.type === 'null');
  expect(breaking((schema) => (Array.isArray(schema.type) || schema.anyOf !== undefined) && !isNullable(schema))).toEqual([]);
  expect(breaking((schema) => 'nullable' in schema || 'oneOf' in schema || 'allOf' in schema || 'not' in schema)).toEqual([]);
});

test('R10: a closed set is an enum with its type, and a shared one has a name', () => {
  expect(breaking((schema) => (schema.enum ?? schema.const) !== undefined && typeof schema.type !== 'string')).toEqual([]);
  const inline = schemasOf(whole).filter(([where, { enum: values }]) => values !== undefined && /^schemas\/\w+\/[^>]+$/.test(where));
  const sets = inline.map(([, { enum: values }]) => JSON.stringify(values));
  const spread = sets.filter((set, index) => sets.indexOf(set) !== index);
  expect(spread).toEqual([]);
  expect(whole.components.schemas['Cipher']?.enum).toEqual(expect.arrayContaining(['aes256-gcm96', 'rsa-2048', 'ed25519', 'ecdsa-p256']));
});

test('0.6: a whole number says how wide it is, and what may be large is 64 bits', () => {
  expect(breaking(({ type, format }) => [type].flat().includes('integer') && format !== 'int32' && format !== 'int64')).toEqual([]);
  expect(whole.components.schemas['TransitKeyUsage']?.properties?.['uses']?.format).toBe('int64');
  expect(breaking(({ format, maximum = Infinity }) => format === 'int32' && Number.isFinite(maximum) && maximum > 2 ** 31 - 1)).toEqual([]);
});

test('R11: what is base64 or text by another field is plain text', () => {
  expect(breaking((schema) => schema['x-payload'] === true && (schema.contentEncoding ?? schema.format) !== undefined)).toEqual([]);
  for (const [request, field] of [
    ['EncryptRequest', 'plaintext'],
    ['SignRequest', 'text'],
    ['DecryptAnswer', 'plaintext'],
  ] as const)
    // prettier-ignore
    expect(whole.components.schemas[request]?.properties?.[field]).toMatchObject({ type: 'string', 'x-payload': true });
});

test('R13: times are date-time and durations have a pattern', () => {
  expect(breaking((schema, where) => /-time$|\/expires$/.test(where) && schema.format !== 'date-time')).toEqual([]);
  expect(breaking(({ type, pattern }, where) => /\/(?:\w+-)?ttl$/.test(where) && [type].flat().includes('string') && pattern === undefined)).toEqual([]); // prettier-ignore
});

test('R16: every refusal is a Problem, of the usual statuses and of any other', () => {
  const odd = documents.flatMap((document) =>
    operationsOf(document).flatMap(([name, { responses }]) => [
      ...('default' in responses ? [] : [name]),
      ...Object.entries(responses).flatMap(([status, response]) => {
        const content = bodyOf(document, response);
        // 400 of a batch and 503 of health come with the answer as well.
        return (status === 'default' || Number(status) >= 400) &&
          content['application/problem+json']?.schema.$ref !== '#/components/schemas/Problem' &&
          content['application/json'] === undefined
          ? [`${name} ${status}`]
          : [];
      }),
    ]),
  );
  expect(odd).toEqual([]);
  expect(whole.components.schemas['Problem']?.properties?.['code']).not.toHaveProperty('enum');
});

test('R17: operation ids are alike, once each, and say what they do', () => {
  const ids = operationsOf(whole).map(([, { operationId }]) => operationId);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.filter((id) => !/^[a-z][a-zA-Z0-9]*$/.test(id) || /^(?:get|post|put|patch|delete)(?:[A-Z]|$)|V1/.test(id))).toEqual([]);
});

test('R18: every operation has one described tag of plain words, a summary and a description of its own', () => {
  for (const { tags, ...document } of documents) {
    const known = new Map(tags.map(({ name, description }) => [name, description]));
    expect([...known].filter(([name, text]) => !/^[a-z]+(?:-[a-z]+)*$/.test(name) || text.length < 10)).toEqual([]);
    const poor = operationsOf(document as OpenApiDocument).filter(
      ([
        ,
        {
          tags: [tag = '', ...more],
          summary,
          description,
        },
      ]) => !known.has(tag) || more.length > 0 || summary === '' || description === summary || description.length < 20,
    );
    expect(poor.map(([name]) => name)).toEqual([]);
  }
  expect(operationsOf(whole).filter(([, { responses }]) => JSON.stringify(responses).includes('text/html'))).toEqual([]);
});

test('R18: what people read as help begins with what the field or operation is or does', () => {
  const texts = documents.flatMap((document) => [
    ...operationsOf(document).flatMap(([name, { summary, description }]) => [`${name}: ${summary}`, `${name}: ${description}`]),
    ...below(document, document.components.schemas, 'schemas').map(([where, { description }]) => `${where}: ${String(description)}`),
  ]);
  expect(texts.length).toBeGreaterThan(1_000);
  expect(texts.filter((text) => /: (?:Whether|Always \d{3})\b/.test(text))).toEqual([]);
});

test('R19: requests are closed, answers are open', () => {
  const isRequest = (name: string): boolean => /(?:Request|BatchItem\w*|Creation|Replacement|Merge|Input)$/.test(name);
  const closed = Object.entries(whole.components.schemas).filter(([, schema]) => schema.additionalProperties === false);
  expect(closed.map(([name]) => name).filter((name) => !isRequest(name) && !/^Policy(?:Rule|Operations)$/.test(name))).toEqual([]);
  const open = Object.entries(whole.components.schemas).filter(([, { properties, additionalProperties }]) => properties !== undefined && additionalProperties !== false); // prettier-ignore
  expect(open.map(([name]) => name).filter(isRequest)).toEqual([]);
});

test('partial answers: a document requires its name, which nothing hides, and no field that a policy can leave out', () => {
  const names = {
    ...{ TransitKey: 'name', TransitKeyState: 'name', PolicyWithWarnings: 'name', TlsCaState: 'name', OidcRole: 'name' },
    ...{ Token: 'accessor', SecretId: 'accessor', IssuedCertificate: 'serial', Topic: 'name', Shipping: 'name' },
  };
  for (const [name, field] of Object.entries(names)) expect(whole.components.schemas[name]?.required, name).toEqual([field]);
  expect(whole.components.schemas['TlsCaEstState']).not.toHaveProperty('required');
  for (const [name, { parameters, responses }] of operationsOf(whole).filter(([one]) => one.startsWith('get'))) {
    if (!parameters.some((one) => one.name === 'fields')) continue;
    const [, success] = successesOf({ responses })[0] ?? [];
    const { $ref, items } = success?.content?.['application/json']?.schema ?? {};
    expect(named(whole, $ref ?? items?.$ref)['required'], name).toHaveLength(1);
  }
  expect(whole.info['description']).toContain('hide-fields');
});

test('a body is required where it cannot be left out, and where leaving it out by mistake would reset the entry', () => {
  const bodies = operationsOf(whole).flatMap(([name, { requestBody, operationId }]) =>
    requestBody === undefined ? [] : [{ name, operationId, requestBody }],
  );
  for (const { name, requestBody } of bodies) {
    const { $ref } = requestBody.content['application/json']?.schema ?? {};
    const needs = $ref === undefined || ((named(whole, $ref)['required'] as readonly string[] | undefined) ?? []).length > 0;
    expect([name, requestBody.required]).toEqual([name, needs || /^(?:put|patch) /.test(name)]);
  }
  const optional = bodies.flatMap(({ operationId, requestBody }) => (requestBody.required ? [] : [operationId]));
  expect(optional).toEqual(expect.arrayContaining(['transitKeysGenerateDataKey', 'transitKeysExport', 'cryptoFunctionsRandomBytes']));
});

test('refusals are shared: a status is described once, and an operation lists its codes', () => {
  for (const document of documents) {
    for (const [name, { responses, 'x-codes': codes }] of operationsOf(document)) {
      const statuses = new Set(codes.map((code) => String(document['x-errors'][code]?.status)));
      const refused = Object.entries(responses).filter(([status, one]) => '$ref' in one && Number(status) >= 400);
      expect([name, refused.map(([status]) => status)]).toEqual([
        name,
        [...statuses].filter((status) => refused.some(([one]) => one === status)).sort(),
      ]);
      // What is not shared comes with an answer as well.
      const joined = [...statuses].filter((status) => !refused.some(([one]) => one === status));
      for (const status of joined)
        expect(Object.keys(bodyOf(document, responses[status])), `${name} ${status}`).toContain('application/json');
    }
  }
  expect(JSON.stringify(whole).length).toBeLessThan(4_600 * operationsOf(whole).length);
});

test('R20: public operations say so, all others take the token', () => {
  expect(whole.security).toEqual([{ token: [] }]);
  for (const [name, { security, 'x-operation': operation }] of operationsOf(whole))
    expect([name, security]).toEqual([name, operation === undefined ? [] : undefined]);
});

test('R21: nothing that generators of 3.0 lack', () => {
  expect(JSON.stringify(whole).match(/\\\\p\{/)).toBeNull();
  const lacking = ['$defs', 'prefixItems', 'patternProperties', 'if', 'then', 'unevaluatedProperties', '$dynamicRef', 'propertyNames'];
  expect(breaking((schema) => lacking.some((keyword) => keyword in schema))).toEqual([]);
  expect(breaking((schema) => ['exclusiveMinimum', 'exclusiveMaximum'].some((one) => typeof (schema as Part)[one] === 'boolean'))).toEqual([]); // prettier-ignore
});

test('repeating is said to be harmless where it is', () => {
  const ids = (isSaid: boolean): string[] =>
    operationsOf(whole).flatMap(([, operation]) => ((operation['x-idempotent'] === true) === isSaid ? [operation.operationId] : []));
  expect(ids(true)).toEqual(expect.arrayContaining(['transitKeysEncrypt', 'transitKeysSignBatch', 'transitKeysExport', 'policyCheck', 'tokensList', 'transitKeysReplace', 'tenantsDelete'])); // prettier-ignore
  const plain = operationsOf(whole).filter(([name]) => /^(?:get|put|delete) /.test(name));
  expect(plain.filter(([, operation]) => operation['x-idempotent'] !== true).map(([name]) => name)).toEqual([]);
  expect(ids(false)).toEqual(expect.arrayContaining(['transitKeysCreate', 'transitKeysRotate', 'tokenCreate', 'approleLogin', 'approlesGenerateSecretId', 'caSignCsr', 'systemUnseal', 'transitKeysMerge'])); // prettier-ignore
});

test('every operation has an example of request, answer and error, and each fits its own schema', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema({ $id: 'api', components: whole.components });
  const misfits: string[] = [];
  const fits = (schema: JsonSchema, value: unknown, where: string): void => {
    const local = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"api#/')) as JsonSchema;
    if (value !== undefined && ajv.validate(local, value)) return;
    misfits.push(`${where}: ${value === undefined ? 'no example' : ajv.errorsText()}`);
  };
  for (const [name, { requestBody, responses }] of operationsOf(whole)) {
    for (const [type, { schema, example }] of Object.entries(requestBody?.content ?? {}))
      if (/[/+]json$/.test(type)) fits(schema, example, `${name} ${type}`);
    let errors = 0;
    for (const [status, response] of Object.entries(responses))
      for (const [type, { schema, example, examples = {} }] of Object.entries(bodyOf(whole, response))) {
        if (type === 'application/json' && !isDescription(name)) fits(schema, example, `${name} ${status}`);
        for (const { $ref } of Object.values(examples)) {
          fits(schema, whole.components.examples[$ref.replace('#/components/examples/', '')]?.value, `${name} ${status} ${$ref}`);
          errors += 1;
        }
      }
    if (errors === 0) misfits.push(`${name} has no example of an error`);
  }
  expect(misfits).toEqual([]);
});

test('`keys` of a key says that its markers are not key material, and where to look', () => {
  const schema = whole.components.schemas['TransitKeyState'] as { properties: Record<string, { description: string }> };
  expect(schema.properties['keys']?.description).toMatch(/not key material[^]*`versions`/);
  expect(schema.properties['versions']).toBeDefined();
});
