// The API description against the standard, against its own rules of completeness, and against what the appliance really answers.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { withArticle } from '../../../core/wire/article.ts';
import { connectionOptions } from '../../../appliance/cli/connection-options.ts';
import type { Content, JsonSchema, OpenApiDocument, Operation, Reference, Response } from '../../../core/http/description/document.ts';
import { bodyLimitOf } from '../../../core/http/body-intake.ts';
import { exampleOf } from '../../../core/http/description/schema.ts';
import type { Answer, TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { startWholeAppliance } from './whole-appliance.ts';

const path = temporaryDirectory();
const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
let appliance: TestAppliance;
let document: OpenApiDocument;
let operations: readonly (readonly [name: string, operation: Operation])[];

beforeAll(async () => {
  appliance = await startWholeAppliance(path());
  document = (await appliance.request('GET', '/v1/openapi.json', undefined, { token: undefined })).body as OpenApiDocument;
  operations = Object.entries(document.paths).flatMap(([route, methods]) =>
    Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${route}`, operation] as const),
  );
});
afterAll(() => appliance.close());

describe('the API description', () => {
  test('comes compressed, and only to those who do not have it', async () => {
    const path = '/v1/openapi.json';
    const plain = await appliance.request('GET', path, undefined, { token: undefined });
    const compressed = await appliance.request('HEAD', path, undefined, { token: undefined, headers: { 'accept-encoding': 'gzip, br' } });
    expect(compressed.headers).toMatchObject({ 'content-encoding': 'br', 'cache-control': 'no-cache', vary: 'accept-encoding' });
    expect(Number(compressed.headers['content-length'])).toBeLessThan(Number(plain.headers['content-length']) / 6);
    const etag = String(compressed.headers.etag);
    for (const tag of [etag, `"old", ${etag.replace('W/', '')}`, String(plain.headers.etag), '*']) {
      const again = await appliance.request('GET', path, undefined, { token: undefined, headers: { 'if-none-match': tag } });
      expect(again).toMatchObject({ status: 304, headers: { etag: plain.headers.etag, 'cache-control': 'no-cache' } });
      expect(again.headers).not.toHaveProperty('content-length');
    }
    const other = await appliance.request('GET', path, undefined, { token: undefined, headers: { 'if-none-match': '"old"' } });
    expect(other).toMatchObject({ status: 200, body: { openapi: '3.1.0' } });
  });

  test('has an outline with the operations that a page can do, in less than a fifth of it', async () => {
    const { body } = await appliance.request('GET', '/v1/openapi.json?outline=true', undefined, { token: undefined });
    const { paths } = body as unknown as OpenApiDocument;
    const outlined = Object.entries(paths).flatMap(([route, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${route}`),
    );
    const done = operations.filter(([, operation]) => operation['x-command'] !== undefined).map(([name]) => name);
    expect(outlined.sort()).toEqual(done.sort());
    expect(JSON.stringify(body).length).toBeLessThan(JSON.stringify(document).length / 5);
  });

  test('is valid OpenAPI 3.1', async () => {
    expect((await new Validator().validate(structuredClone(document))).errors).toBeUndefined();
  });

  test('has every route of the appliance but pages, itself included, and nothing else', () => {
    // Pages are for people.
    const served = appliance.app.routes
      .filter((endpoint) => endpoint.produces !== 'text/html' && endpoint.undescribed !== true)
      .map(({ method, path: route }) => `${method} ${route}`)
      .sort();
    expect(operations.map(([name]) => name).sort()).toEqual(served);
  });

  test('every operation, parameter and field says what it is, with an example', () => {
    const silent = operations.flatMap(([name, operation]) => [
      ...(operation.summary === '' ? [name] : []),
      ...operation.parameters.flatMap(({ name: parameter, description, schema }) =>
        description === '' || exampleOf(schema) === undefined ? [`${name} ?${parameter}`] : [],
      ),
      ...schemasOf(operation).flatMap(([where, schema]) => silentFields(schema, `${name} ${where}`)),
    ]);
    const named = Object.entries(document.components.schemas).flatMap(([name, schema]) => silentFields(schema, name));
    expect([...silent, ...named]).toEqual([]);
  });

  test('no field has the name of a method that every class of Java has', () => {
    const taken = new Set(['class', 'clone', 'equals', 'finalize', 'hash-code', 'notify', 'notify-all', 'to-string', 'wait']);
    const clashes = Object.entries(document.components.schemas).flatMap(([name, { properties = {} }]) =>
      Object.keys(properties).flatMap((field) => (taken.has(field) ? [`${name}.${field}`] : [])),
    );
    expect(clashes).toEqual([]);
  });

  test('every text that comes in has a limit', () => {
    const inputs = [
      ...operations.flatMap(([name, { requestBody }]) =>
        Object.values(requestBody?.content ?? {}).map(({ schema }) => [name, schema] as const),
      ),
      ...Object.entries(document.components.schemas).filter(([name]) => /(?:Creation|Replacement|Merge)$/.test(name)),
    ];
    expect(inputs.flatMap(([name, schema]) => endlessTexts(schema, name))).toEqual([]);
  });

  test('secrets are marked, and never part of what a resource answers', () => {
    const { OidcServiceCreation: creation, OidcService: service, OidcServiceState: state } = document.components.schemas;
    expect(creation?.properties?.['client-secret']).toMatchObject({ 'x-secret': true });
    expect(JSON.stringify([service, state])).not.toContain('"client-secret":');
    expect(JSON.stringify(state)).toContain('"client-secret-set":');
  });

  test('every refusal names its codes, and every code is in the table', () => {
    for (const [name, { responses, security, 'x-codes': codes }] of operations) {
      for (const code of codes) expect(Object.keys(responses), `${name} ${code}`).toContain(String(document['x-errors'][code]?.status));
      expect(codes, name).toContain('internal-error');
      expect(codes.includes('invalid-token'), name).toBe(security === undefined);
    }
  });

  test('no two operations are spelled alike on the command line, and no field hides the address', () => {
    const spellings = operations.flatMap(([, { 'x-command': command }]) => {
      if (command === undefined) return [];
      const { verb, resource, action, tree } = command;
      // `show` and `list` of one resource in one tree are told apart by the number of names.
      return [[verb, resource, action, tree].join(' ')];
    });
    expect(spellings.filter((one, index) => spellings.indexOf(one) !== index)).toEqual([]);
    const ours = new Set(connectionOptions().map(({ long }) => long));
    const fields = operations.flatMap(([, operation]) =>
      schemasOf(operation).flatMap(([, schema]) => Object.keys(resolved(schema).properties ?? {})),
    );
    // These two are given before the verb where an action has such a field.
    expect([...new Set(fields)].filter((name) => ours.has(`--${name}`)).sort()).toEqual(['context', 'token']);
  });
});

test('every word has its article, in the description and in the refusals', () => {
  expect(
    ['approle', 'EC key', 'RSA key', 'rsa-2048 key', 'ml-dsa-65 key', 'ed25519 key', 'OIDC service', 'HMAC'].map(withArticle).join(),
  ).not.toMatch(/(^|,)a /);
  expect(
    ['transit key', 'TLS CA', 'user', 'URL', 'CA', 'uuid', 'private key', 'one-way flag', 'policy'].map(withArticle).join(),
  ).not.toMatch(/(^|,)an /);
  const wrong =
    /\b[Aa] (?:(?!one\b)[aeioAEIO]|u[bnp](?!i)|EC\b|RSA|HMAC|HSM|ML-DSA|SO PIN|X\.509)[^\s]*|\b[Aa]n (?:[bcdfgjklmnpqtvwz][a-z]|TLS|CA\b|URL|UUID|uuid|user)[^\s]*/g;
  expect(JSON.stringify(document).match(wrong)).toBeNull();
});

test('the sizes in api.md name every action that takes more than 4 MiB', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../appliance/docs/use/api.md'), 'utf8');
  const [limits = ''] = /^\| a body \| 4 MiB.*$/m.exec(page) ?? [];
  const larger = appliance.app.routes
    .filter((endpoint) => bodyLimitOf(endpoint) > 4 * 1024 * 1024)
    .map(({ path }) => path.split('/').at(-1));
  expect(larger.length).toBeGreaterThan(0);
  expect(larger.filter((action) => !limits.includes(`\`${action}\``))).toEqual([]);
});

describe('what the appliance answers', () => {
  const misfits: string[] = [];
  afterEach(() => void misfits.splice(0));

  /** Sends a request and notes where the answer differs from what its operation says of it. */
  async function hold(method: string, route: string, body?: unknown, names: readonly string[] = ['subject']): Promise<Answer['body']> {
    const words = [...names];
    const target = route.replace(/\{[^}]+\}/g, () => encodeURIComponent(words.shift() ?? ''));
    const answer = await appliance.request(method, target, body);
    misfits.push(...differences(method, route, answer));
    return answer.body;
  }

  const keys = '/v1/config/keystore/transit-keys';
  const states = '/v1/state/keystore/transit-keys';

  test('resources fit their schemas in both trees', async () => {
    const rules = [{ path: '/v1/**', operations: { read: 'allow' } }];
    await hold('POST', keys, { name: 'subject', 'auto-rotate': { 'rotate-after': '90d' } });
    await hold('POST', '/v1/config/policy/policies', { name: 'subject', 'rest-api': { rules } });
    await hold('POST', '/v1/config/tenants', { name: 'subject' });
    await hold('POST', '/v1/config/keystore/authentication/approles', { name: 'subject', 'token-policies': ['user'] });
    await hold('POST', '/v1/config/keystore/tls/ca', {
      name: 'subject',
      est: { enabled: true, 'initial-enroll-secret': 'a secret of devices' },
    });
    for (const tree of ['config', 'state']) {
      for (const resource of [
        'keystore/transit-keys',
        'policy/policies',
        'tenants',
        'keystore/authentication/approles',
        'keystore/tls/ca',
      ]) {
        await hold('GET', `/v1/${tree}/${resource}`);
        await hold('GET', `/v1/${tree}/${resource}?fields=name`);
        await hold('GET', `/v1/${tree}/${resource}/{name}`);
      }
    }
    expect(misfits).toEqual([]);
  });

  test('changes and refusals fit as well', async () => {
    await hold('PATCH', `${keys}/{name}`, { exportable: true });
    await hold('PUT', `${keys}/{name}`, { exportable: true });
    await hold('PUT', `${keys}/{name}`, {}, ['put-makes-it']);
    for (const body of [{ exportable: false }, { colour: 'red' }, { 'latest-version': 3 }, { 'min-encryption-version': 'one' }]) {
      await hold('PATCH', `${keys}/{name}`, body);
    }
    const vain = { 'rest-api': { rules: [{ path: '/v1/nowhere', operations: { read: 'allow' } }] } };
    await hold('POST', '/v1/config/policy/policies', { name: 'vain', ...vain });
    await hold('PUT', '/v1/config/policy/policies/{name}', vain, ['vain']);
    await hold('PATCH', '/v1/config/policy/policies/{name}', { description: 'merged' }, ['vain']);
    await hold('GET', '/v1/state/policy/policies/{name}', undefined, ['vain']);
    await hold('GET', `${keys}/{name}`, undefined, ['absent']);
    await hold('DELETE', `${keys}/{name}`);
    await hold('POST', keys, { name: 'subject' });
    await hold('GET', `${keys}?limit=none`);
    expect(misfits).toEqual([]);
  });

  test('actions fit, alone and in batches', async () => {
    const { ciphertext } = await hold('POST', `${states}/{name}/encrypt`, { plaintext: 'aGVsbG8=' });
    await hold('POST', `${states}/{name}/decrypt`, { ciphertext });
    await hold('POST', `${states}/{name}/rewrap-batch`, {
      'batch-input': [{ ciphertext }, { ciphertext: 'store:v9:AAAA', reference: 'two' }],
    });
    await hold('POST', `${states}/{name}/rewrap-batch`, { 'batch-input': [{ ciphertext: 'wrong' }] });
    await hold('POST', `${states}/{name}/rewrap-batch`, { 'batch-input': [] });
    await hold('POST', `${states}/{name}/hmac`, { plaintext: 'aGVsbG8=' });
    await hold('POST', `${states}/{name}/generate-data-key`, { type: 'plaintext' });
    await hold('POST', `${states}/{name}/export`, {});
    await hold('POST', `${states}/{name}/rotate`);
    await hold('POST', `${states}/{name}/trim`, { version: 9 });
    await hold('POST', keys, { name: 'signer', cipher: 'ed25519', 'openpgp-user-id': 'Signer <signer@example.com>' });
    const { signature } = await hold('POST', `${states}/{name}/sign`, { text: 'aGVsbG8=' }, ['signer']);
    await hold('POST', `${states}/{name}/verify`, { text: 'aGVsbG8=', signature }, ['signer']);
    const pgp = await hold('POST', `${states}/{name}/openpgp-sign`, { text: 'aGVsbG8=' }, ['signer']);
    await hold('POST', `${states}/{name}/openpgp-verify`, { text: 'aGVsbG8=', signature: pgp.signature }, ['signer']);
    await hold('POST', `${states}/{name}/export-openpgp-public`, {}, ['signer']);
    await hold('POST', '/v1/state/keystore/crypto-functions/random-bytes', {});
    await hold('POST', '/v1/state/policy/check', { path: '/v1/config/tenants', operation: 'read' });
    await hold('POST', '/v1/state/keystore/token/info', {});
    for (const query of ['', '?limit=1']) {
      await hold('GET', `/v1/state/keystore/tokens${query}`);
      await hold('GET', `/v1/state/keystore/authentication/approles/{name}/secret-ids${query}`);
      await hold('GET', `/v1/state/topics${query}`);
      await hold('GET', `/v1/state/keystore/tls/ca/{name}/certificates${query}`);
    }
    await hold('GET', '/v1/state/system/hsm');
    await hold('POST', '/v1/state/keystore/authentication/approles/{name}/generate-secret-id', {});
    await hold('POST', '/v1/approle-login', { 'role-id': 'a', 'secret-id': 'b' });
    expect(misfits).toEqual([]);
  });
});

/** The bodies of an operation, in and out. */
function schemasOf({ requestBody, responses }: Operation): [string, JsonSchema][] {
  const contents: [string, Content | undefined][] = [
    ['request', requestBody?.content],
    ...Object.entries(responses).map(([status, response]): [string, Content] => [status, contentOf(response)]),
  ];
  return contents.flatMap(([where, content]) => Object.values(content ?? {}).map(({ schema }): [string, JsonSchema] => [where, schema]));
}

function contentOf(response: Response | Reference): Content {
  if (!('$ref' in response)) return response.content ?? {};
  return document.components.responses[response.$ref.replace('#/components/responses/', '')]?.content ?? {};
}

function silentFields(schema: JsonSchema, where: string): string[] {
  return eachField(schema, where).flatMap(([name, field]) => {
    const isHolder =
      field.$ref !== undefined || field.anyOf !== undefined || ['array', 'object'].some((type) => [field.type].flat().includes(type));
    const speaks = (field.description ?? '') !== '' && (isHolder || exampleOf(field) !== undefined);
    return speaks ? [] : [name];
  });
}

function endlessTexts(schema: JsonSchema, where: string): string[] {
  return eachField(schema, where).flatMap(([name, field]) => {
    const isLimited = [field.maxLength, field.enum, field.const, field.format, field.pattern].some((limit) => limit !== undefined);
    return field.type === 'string' && !isLimited ? [name] : [];
  });
}

/** Every field below a schema, named schemas left to themselves. */
function eachField(schema: JsonSchema, where: string): (readonly [string, JsonSchema])[] {
  const parts = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.items === undefined ? [] : [schema.items])];
  const values = typeof schema.additionalProperties === 'object' ? [schema.additionalProperties] : [];
  return [
    ...Object.entries(schema.properties ?? {}).flatMap(([name, field]) => [
      [`${where}/${name}`, field] as const,
      ...eachField(field, `${where}/${name}`),
    ]),
    ...[...parts, ...values].flatMap((part) => eachField(part, where)),
  ];
}

function resolved(schema: JsonSchema): JsonSchema {
  return schema.$ref === undefined ? schema : (document.components.schemas[schema.$ref.replace('#/components/schemas/', '')] ?? {});
}

function fits(schema: JsonSchema, value: unknown): boolean {
  return ajv.validate({ ...schema, components: document.components }, value);
}

function differences(method: string, route: string, { status, body }: Answer): string[] {
  const where = `${method} ${route} ${status}`;
  const operation = document.paths[route.replace(/\?.*/, '')]?.[method.toLowerCase()];
  const response = operation?.responses[status];
  if (response === undefined) return [`${where} is not described: ${JSON.stringify(body)}`];
  const [content] = Object.values(contentOf(response));
  if (content === undefined) return body === '' ? [] : [`${where} has a body`];
  // Every item of a batch failed: an answer, not a refusal.
  if (status === 400 && body.code === undefined) return differences(method, route, { status: 200, body } as Answer);
  if (!fits(content.schema, body)) return (ajv.errors ?? []).map(({ instancePath, message }) => `${where} ${instancePath} ${message}`);
  return status < 400 || operation?.['x-codes'].includes(body.code) === true ? [] : [`${where} does not name ${body.code}`];
}
