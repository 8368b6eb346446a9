// An appliance that its cluster waits for no more answers nothing from its store: neither what it is asked then, nor what it was asked before.
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { defineEndpoint } from '../../../core/http/endpoint.ts';
import { tags } from '../../../core/http/tags.ts';
import { type CoreApp, startCoreApp } from '../../harness/core-app.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const temporary = temporaryDirectory();
let app: CoreApp;
let mayAnswer = true;
/** what answers wait for */
let settled: Promise<void> | undefined;
/** uses of keys go on all the same */
let isIsolated = false;
let runs = 0;

beforeAll(async () => {
  app = await startCoreApp({
    directory: temporary('appliance'),
    replica: { mayAnswer: (goesOn) => mayAnswer || goesOn === 'view' || (goesOn === 'use' && isIsolated), untilSettled: () => settled },
    plugin: () => ({
      endpoints: [
        defineEndpoint({
          method: 'POST',
          path: '/v1/state/keystore/use',
          access: 'token',
          operation: 'execute',
          tag: tags.system,
          summary: 'Uses a key',
          audit: 'required',
          whileIsolated: true,
          output: z.object({ done: z.boolean() }),
          run: () => ({ done: true }),
        }),
        defineEndpoint({
          method: 'GET',
          path: '/v1/state/keystore/view',
          access: 'token',
          operation: 'read',
          tag: tags.system,
          summary: 'Tells why it is cut off',
          audit: 'reads-go-on',
          whileCutOff: true,
          reservedFor: 'system-tenant',
          output: z.object({ alone: z.boolean() }),
          run: () => ({ alone: true }),
        }),
        defineEndpoint({
          method: 'POST',
          path: '/v1/state/keystore/cut-off',
          access: 'token',
          operation: 'execute',
          tag: tags.system,
          summary: 'Is cut off while it runs',
          audit: 'required',
          input: z.object({ refuses: z.boolean().optional() }),
          output: z.object({ done: z.boolean() }),
          async run(_call, { refuses }) {
            runs++;
            mayAnswer = false;
            if (refuses === true) throw new TypeError('a fault');
            return { done: true };
          },
        }),
      ],
    }),
  });
});

afterAll(() => app.stop());
beforeEach(() => {
  [mayAnswer, isIsolated, settled] = [true, false, undefined];
});

test('with the others everything is answered', async () => {
  expect(await app.send('GET', '/v1/config/tenants')).toMatchObject({ status: 200 });
});

test.each([
  ['a read', 'GET', '/v1/config/tenants', undefined],
  ['a change', 'POST', '/v1/config/tenants', { name: 'late' }],
  ['what would be 404', 'GET', '/v1/config/tenants/none', undefined],
  ['what would be 400', 'POST', '/v1/config/tenants', { nonsense: 1 }],
])('%s is refused while it is cut off, and nothing is done', async (_, method, path, body) => {
  mayAnswer = false;
  const answer = await app.send(method, path, body);
  expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '2' }, body: { code: 'cluster-unavailable' } });
  expect(answer.text).toContain('nothing was done');
  mayAnswer = true;
  expect(await app.send('GET', '/v1/config/tenants/late')).toMatchObject({ status: 404 });
});

test('a token that is not valid is not told so while it is cut off: another appliance may have made it', async () => {
  mayAnswer = false;
  expect(await app.send('GET', '/v1/config/tenants', undefined, { token: 'unknown' })).toMatchObject({ status: 503 });
});

test('uses of keys go on where that is allowed, and nothing else does; the trail says that they were made without the others', async () => {
  mayAnswer = false;
  expect(await app.send('POST', '/v1/state/keystore/use', {})).toMatchObject({ status: 503 });
  isIsolated = true;
  expect(await app.send('POST', '/v1/state/keystore/use', {})).toMatchObject({ status: 200, body: { done: true } });
  expect(await app.send('POST', '/v1/state/keystore/use', {}, { token: 'unknown' })).toMatchObject({ status: 401 });
  for (const path of ['/v1/config/tenants', '/v1/config/tenants/system']) expect((await app.send('GET', path)).status).toBe(503);
  expect((await app.send('POST', '/v1/config/tenants', { name: 'late' })).status).toBe(503);
  mayAnswer = true;
  expect((await app.send('POST', '/v1/state/keystore/use', {})).status).toBe(200);
  const records = app
    .auditText()
    .split('\n')
    .filter((line) => line.includes('/keystore/use'))
    .map((line) => JSON.parse(line) as { readonly status: number; readonly isolated?: boolean });
  expect(records.map(({ status, isolated }) => [status, isolated])).toEqual([
    [503, undefined],
    [200, true],
    [401, true],
    [200, undefined],
  ]);
});

test('a view of one that is cut off is answered, and recorded as such; who is refused learns nothing by it', async () => {
  [mayAnswer, settled] = [false, new Promise(() => undefined)];
  expect(await app.send('GET', '/v1/state/keystore/view')).toMatchObject({ status: 200, body: { alone: true } });
  const refused = { status: 503, headers: { 'retry-after': '2' }, body: { code: 'cluster-unavailable' } };
  expect(await app.send('GET', '/v1/state/keystore/view', undefined, { token: 'unknown' })).toMatchObject(refused);
  expect(await app.send('GET', '/v1/state/keystore/view?strange=1')).toMatchObject(refused);
  const records = app
    .auditText()
    .split('\n')
    .filter((line) => line.includes('/keystore/view'))
    .map((line) => JSON.parse(line) as { readonly status: number; readonly isolated?: boolean });
  expect(records.map(({ status, isolated }) => [status, isolated])).toEqual([
    [200, true],
    [503, true],
    [503, true],
  ]);
});

test('health, the description and unknown paths rest on no store', async () => {
  mayAnswer = false;
  expect(await app.send('GET', '/v1/state/system/health')).toMatchObject({ status: 200 });
  expect(await app.send('GET', '/v1/openapi.json')).toMatchObject({ status: 200 });
  expect(await app.send('GET', '/v1/nowhere')).toMatchObject({ status: 404 });
});

test('an answer that was not sent in time is not given: the caller learns that it may have happened, the trail that it did', async () => {
  const before = runs;
  const answer = await app.send('POST', '/v1/state/keystore/cut-off', {});
  expect(runs).toBe(before + 1);
  expect(answer).toMatchObject({ status: 503, body: { code: 'cluster-unavailable' } });
  // Clients take it for "nothing was done", and send the request again.
  expect(answer.headers).not.toHaveProperty('retry-after');
  expect(answer.text).toContain('may have been made');
  expect(answer.text).not.toContain('done');
  const records = app
    .auditText()
    .split('\n')
    .filter((line) => line.includes('cut-off'))
    .map((line) => JSON.parse(line) as { readonly status?: number; readonly code?: string });
  expect(records.map(({ status }) => status)).toEqual([200, 503]);
  expect(records.at(-1)?.code).toBe('cluster-unavailable');
});

test('an answer waits until what it rests on is on every appliance, and is not given when that cannot be known', async () => {
  const held = Promise.withResolvers<void>();
  settled = held.promise;
  let isAnswered = false;
  const answering = app.send('GET', '/v1/config/tenants').finally(() => (isAnswered = true));
  await vi.waitUntil(() => app.auditText().includes('/v1/config/tenants'));
  expect(await app.send('GET', '/v1/openapi.json')).toMatchObject({ status: 200 });
  expect(isAnswered).toBe(false);
  held.resolve();
  expect(await answering).toMatchObject({ status: 200 });
  settled = Promise.reject(new Error('nobody knows'));
  settled.catch(() => undefined);
  expect(await app.send('GET', '/v1/config/tenants')).toMatchObject({ status: 503, body: { code: 'cluster-unavailable' } });
});

test('a use of a key that goes on without the others waits for none of them', async () => {
  [mayAnswer, isIsolated, settled] = [false, true, new Promise(() => undefined)];
  expect(await app.send('POST', '/v1/state/keystore/use', {})).toMatchObject({ status: 200 });
});

test('a fault of the service stays one', async () => {
  expect(await app.send('POST', '/v1/state/keystore/cut-off', { refuses: true })).toMatchObject({
    status: 500,
    body: { code: 'internal-error' },
  });
});
