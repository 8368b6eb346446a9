// Derived from the endpoint definitions: what every endpoint refuses. A new endpoint is covered before it has tests of its own.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compilePolicy, decide } from '../../core/access/policy/engine.ts';
import { builtInPolicies } from '../../core/access/policy/built-in.ts';
import type { AnyEndpoint } from '../../core/http/endpoint.ts';
import { codesOf } from '../../core/http/description/refusals.ts';
import { mediaTypesOf } from '../../core/http/request/input.ts';
import { bodyLimitOf } from '../../core/http/body-intake.ts';
import { judgedSegments } from '../../core/http/judged-path.ts';
import { readRequestPath } from '../../core/http/request/path.ts';
import { toKebab } from '../../core/wire/schema.ts';
import { startWholeAppliance } from '../appliance/cli/whole-appliance.ts';
import type { Answer } from '../harness/appliance.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { type Example, examples as unprotected, protection } from './matrix-examples.ts';

const examples = [...unprotected, protection];

// Started while the tests are collected: their titles come from the running table.
const at = temporaryDirectory();
const appliance = await startWholeAppliance(at());
const { routes } = appliance.app;
/** A token that may do everything in a tenant that owns nothing, and one of a tenant that may do next to nothing. */
let foreign: string;
let powerless: string;

beforeAll(async () => {
  foreign = await rootOf('foreign', 'root');
  powerless = await rootOf('powerless', 'rewrap-only');
  for (const example of examples) await create(example);
});
afterAll(() => appliance.close());

async function rootOf(name: string, policy: string): Promise<string> {
  await appliance.request('POST', '/v1/config/tenants', { name, policies: [policy] });
  return String((await appliance.request('POST', '/v1/state/keystore/token/create-root', { name })).body.token);
}

async function create({ list, name, document }: Example): Promise<void> {
  const answer = await appliance.request('POST', list, { name, ...document });
  if (answer.status !== 201) throw new Error(`the example ${list}/${name} was answered ${answer.status} ${JSON.stringify(answer.body)}`);
}

const titled = (filter: (endpoint: AnyEndpoint) => boolean): [string, AnyEndpoint][] =>
  routes.filter(filter).map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint]);

const needsToken = (endpoint: AnyEndpoint): boolean => endpoint.access === 'token';
const takesBody = ({ method }: AnyEndpoint): boolean => method === 'POST' || method === 'PUT' || method === 'PATCH';
const takesJson = (endpoint: AnyEndpoint): boolean => takesBody(endpoint) && endpoint.consumes === undefined;
const parametersOf = (path: string): string[] => [...path.matchAll(/\{([^}]+)\}/g)].map((match) => match[1] ?? '');

/** The path with names of things that exist, as far as there are examples. */
function existing({ path }: AnyEndpoint): string {
  const template = path.replace('/v1/state/', '/v1/config/');
  const example = examples.find(({ list }) => template.startsWith(`${list}/{`));
  return path.replace(/\{[^}]+\}/, example?.name ?? 'matrix-none').replaceAll(/\{[^}]+\}/g, 'matrix-none');
}
const absent = ({ path }: AnyEndpoint): string => path.replaceAll(/\{[^}]+\}/g, 'matrix-absent');
const hasExample = (endpoint: AnyEndpoint): boolean => !existing(endpoint).includes('matrix-none');

/** Answers with a code that the API description does not announce for the operation. */
const unannounced: string[] = [];
/** Refusals that do not say what was wrong. */
const speechless: string[] = [];

async function send(
  endpoint: AnyEndpoint,
  path: string,
  options: { body?: unknown; token?: string | undefined; type?: string } = {},
): Promise<Answer> {
  const { body = takesBody(endpoint) ? (takesJson(endpoint) ? {} : '') : undefined, type = mediaTypesOf(endpoint)[0] ?? '' } = options;
  const headers: Record<string, string> = body === undefined ? {} : { 'content-type': type };
  const answer = await appliance.request(endpoint.method, path, body, {
    headers,
    token: 'token' in options ? options.token : appliance.rootToken,
  });
  listen(answer);
  if (answer.status >= 400 && answer.body?.code !== undefined && !codesOf(endpoint).includes(String(answer.body.code))) {
    unannounced.push(`${endpoint.method} ${endpoint.path}: ${verdict(answer)}`);
  }
  return answer;
}

function listen(answer: Answer): void {
  if (answer.status < 400 || answer.body?.code === undefined) return;
  const isSaid = typeof answer.body.detail === 'string' || answer.status >= 500;
  if (!isSaid || answer.body.errors?.[0]?.['error-message'] === undefined) speechless.push(verdict(answer));
}

const verdict = ({ status, body }: Answer) => `${status} ${String(body?.code)}`;

const allowedForAll = (endpoint: AnyEndpoint): boolean => {
  const always = [compilePolicy(builtInPolicies.get('default') as never), compilePolicy(builtInPolicies.get('rewrap-only') as never)];
  const segments = judgedSegments(endpoint, readRequestPath(existing(endpoint))?.segments ?? []);
  return endpoint.access === 'token' && decide(always, segments, endpoint.operation).allowed;
};
const named = (endpoint: AnyEndpoint): boolean => needsToken(endpoint) && parametersOf(endpoint.path).length > 0;
const creates = ({ method, path }: AnyEndpoint): boolean => method === 'PUT' && parametersOf(path).length === 1;
/** Nothing is missing on the way to the body. */
const isReachable = (endpoint: AnyEndpoint): boolean => parametersOf(endpoint.path).length === 0 || hasExample(endpoint);

describe('without a token that works: 401', () => {
  test.each(titled(needsToken))('%s', async (_, endpoint) => {
    for (const token of [undefined, 'not-a-token', '00000000-0000-4000-8000-000000000000']) {
      expect(verdict(await send(endpoint, existing(endpoint), { token }))).toBe('401 invalid-token');
    }
  });
});

describe('with policies that do not allow it: 403, whether the thing exists or not', () => {
  test.each(titled((endpoint) => needsToken(endpoint) && !allowedForAll(endpoint)))('%s', async (_, endpoint) => {
    expect(verdict(await send(endpoint, existing(endpoint), { token: powerless }))).toBe('403 policy-denied');
    expect(verdict(await send(endpoint, absent(endpoint), { token: powerless }))).toBe('403 policy-denied');
  });
});

describe('names that do not exist, and names of another tenant: 404', () => {
  test.each(titled((endpoint) => named(endpoint) && !creates(endpoint)))('%s', async (_, endpoint) => {
    expect(verdict(await send(endpoint, absent(endpoint)))).toBe('404 not-found');
  });

  test.each(titled((endpoint) => named(endpoint) && !creates(endpoint) && hasExample(endpoint)))(
    '%s: of another tenant',
    async (_, endpoint) => {
      expect(verdict(await send(endpoint, existing(endpoint), { token: foreign }))).toBe('404 not-found');
    },
  );

  test('every resource has an example here', () => {
    const lists = routes
      .filter(
        ({ method, path }) =>
          method === 'POST' && path.startsWith('/v1/config/') && parametersOf(path).length === 0 && !path.endsWith('-batch'),
      )
      .map(({ path }) => path);
    expect(lists.filter((list) => !examples.some((example) => example.list === list))).toEqual([]);
  });
});

describe('bodies: 400, 413, 415', () => {
  test.each(titled((endpoint) => takesJson(endpoint) && isReachable(endpoint)))('%s', async (_, endpoint) => {
    const path = existing(endpoint);
    for (const body of ['{', '[]', 'null', '"x"', '', '{"a":1,"a":2}'].filter((text) => text !== '')) {
      expect(verdict(await send(endpoint, path, { body }))).toBe('400 invalid-json');
    }
    const unknown = await send(endpoint, path, { body: { 'matrix-unknown': 1 } });
    expect(verdict(unknown)).toBe('400 unknown-field');
    expect(unknown.body.errors?.[0]?.['error-info'] ?? 'matrix-unknown').toBe('matrix-unknown');
    expect(verdict(await send(endpoint, path, { body: '{}', type: 'text/plain' }))).toBe('415 unsupported-media-type');
  });

  test.each(titled(takesBody))('%s: too large', async (_, endpoint) => {
    const body = Buffer.alloc(bodyLimitOf(endpoint) + 1, 0x20);
    const answer = await send(endpoint, existing(endpoint), { body });
    expect(answer.status).toBe(413);
  });
});

describe('methods and queries that are not offered: 405 with Allow, 400', () => {
  const paths = [...new Set(routes.map(({ path }) => path))];
  test.each(paths)('%s', async (path) => {
    const entries = routes.filter((endpoint) => endpoint.path === path);
    const offered = entries.flatMap(({ method, noHead }) => (method === 'GET' && noHead !== true ? ['GET', 'HEAD'] : [method]));
    const target = existing(entries[0] as AnyEndpoint);
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'].filter((one) => !offered.includes(one))) {
      const answer = await appliance.request(method, target);
      listen(answer);
      expect(verdict(answer)).toBe('405 method-not-allowed');
      expect(String(answer.headers['allow']).split(', ').sort()).toEqual([...offered].sort());
    }
  });

  test.each(titled((endpoint) => needsToken(endpoint) && isReachable(endpoint)))('%s', async (_, endpoint) => {
    expect(verdict(await send(endpoint, `${existing(endpoint)}?matrix-unknown=1`))).toBe('400 unknown-parameter');
  });
});

describe('secrets', () => {
  test('no secret field is named among those shown in the audit trail', () => {
    for (const { method, path, auditFields = [], secretInput = [] } of routes) {
      expect([method, path, auditFields.filter((field) => new Set<string>(secretInput).has(field))]).toEqual([method, path, []]);
    }
  });

  const keepers = titled((endpoint) => takesJson(endpoint) && (endpoint.secretInput ?? []).length > 0);
  test.each(keepers)('%s leaves no payload in the trail, the log or the refusal', async (_, endpoint) => {
    const marker = Buffer.from(`matrix-secret-${endpoint.path}`).toString('base64');
    for (const field of endpoint.secretInput ?? []) {
      const answer = await send(endpoint, existing(endpoint), { body: { [toKebab(field)]: marker } });
      expect(answer.status >= 400 ? JSON.stringify(answer.body) : 'done').not.toContain(marker);
    }
    expect(writtenSoFar()).not.toContain(marker);
  });

  test('no token and no secret of an example is in the trail or the log', () => {
    const written = writtenSoFar();
    for (const secret of [appliance.rootToken, foreign, powerless, ...examples.flatMap((example) => example.secrets ?? [])]) {
      expect(written).not.toContain(secret);
    }
  });

  test('nothing above was our fault, and every invariant holds', async () => {
    expect(appliance.logged.filter(({ level }) => level === 'error')).toEqual([]);
    appliance.store.refresh();
    expect(await appliance.check()).toEqual([]);
  });
});

/** The audit trail and the log, as one text. */
function writtenSoFar(): string {
  const directory = join(appliance.directory, 'audit');
  const files = readdirSync(directory).map((file) => readFileSync(join(directory, file), 'utf8'));
  return [...files, JSON.stringify(appliance.logged)].join('\n');
}

test('every refusal above is announced in the API description', () => {
  expect([...new Set(unannounced)]).toEqual([]);
});

test('every refusal above says what was wrong and how to mend it (api 75)', () => {
  expect([...new Set(speechless)]).toEqual([]);
});
