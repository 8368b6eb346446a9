// An error thrown in an event listener or a timer ends the request it belongs to, with a 500 and an audit record, and nothing else.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { definePublicEndpoint } from '../../../../core/http/endpoint.ts';
import { catchStrayErrors } from '../../../../core/base/async/last-resort.ts';
import { startCoreApp, type CoreApp } from '../../../harness/core-app.ts';
import { temporaryDirectory } from '../../../harness/temporary.ts';

const at = temporaryDirectory();
const told: unknown[] = [];
const given: unknown[] = [];
/** of the test runner, which fails the run at every such error */
const others = process.listeners('uncaughtException');
const rejections = process.listeners('unhandledRejection');
let app: CoreApp;

const strays: Readonly<Record<string, () => void>> = {
  timer: () => void setTimeout(fault, 1),
  immediate: () => void setImmediate(fault),
  tick: () => process.nextTick(fault),
  rejection: () => void Promise.reject(new Error('stray')),
};

beforeAll(async () => {
  process.removeAllListeners('uncaughtException').removeAllListeners('unhandledRejection');
  catchStrayErrors({ tell: (error) => told.push(error), give: (error) => given.push(error) });
  const shared = {
    method: 'GET',
    access: 'public',
    tag: { name: 'test', description: 'Of tests.' },
    audit: 'required',
    produces: 'text/plain',
    summary: 'x',
  } as const;
  const endpoints = Object.entries(strays).map(([name, stray]) =>
    definePublicEndpoint({
      ...shared,
      path: `/stray/${name}`,
      run: () => {
        stray();
        return new Promise<never>(() => undefined);
      },
    }),
  );
  app = await startCoreApp({ directory: at('core'), plugin: () => ({ endpoints }) });
});
afterAll(async () => {
  await app.stop();
  process.removeAllListeners('uncaughtException');
  for (const listener of others) process.on('uncaughtException', listener);
  for (const listener of rejections) process.on('unhandledRejection', listener);
});

function fault(): never {
  throw new Error('stray');
}

test.each(Object.keys(strays))('thrown by a %s within a request', async (name) => {
  const before = told.length;
  const answers = await Promise.all([app.send('GET', `/stray/${name}`, undefined, { token: null }), app.send('GET', '/v1/openapi.json')]);
  expect(answers.map(({ status }) => status)).toEqual([500, 200]);
  expect(answers[0].body).toMatchObject({ code: 'internal-error', 'request-id': answers[0].headers['request-id'] });
  expect(told.length).toBe(before + 1);
  expect(given).toEqual([]);
  expect(app.auditText().match(new RegExp(`"path":"/stray/${name}".*"code":"internal-error"`, 'g'))).toHaveLength(1);
});

test('outside of a request it is not hidden: the process ends', async () => {
  setTimeout(fault, 1);
  await expect.poll(() => given.length).toBe(1);
});
