// Faults of an alias: whatever function of it throws, at once or later, the client gets an answer, and the trail a record of it.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { fail } from '../../../core/base/errors.ts';
import type { Alias } from '../../../core/http/alias.ts';
import type { Answered } from '../../../core/http/context/request-context.ts';
import { type Answer, ask as send } from '../../harness/client.ts';
import { type CoreApp, startCoreApp } from '../../harness/core-app.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { things } from '../../harness/things.ts';

const at = temporaryDirectory();
const counted: Answered[] = [];
let app: CoreApp;
let faults: Partial<Alias> = {};

const faulty: Alias = {
  ...{ via: 'foreign', method: 'POST', path: '/v1/foreign/{thing}', of: 'POST /v1/state/things/{name}/seal-up' },
  credentials: (headers) => (faults.credentials ?? (({ 'x-foreign-token': token }) => `Bearer ${String(token)}`))(headers),
  admit: (...all) => faults.admit?.(...all),
  needs: (...all) => faults.needs?.(...all),
  target: (asked) => faults.target?.(asked) ?? { params: { name: asked.params['thing'] ?? '' } },
  input: (document, ...all) => faults.input?.(document, ...all) ?? document,
  answer: (...all) => faults.answer?.(...all) ?? { status: 200, mediaType: 'application/json', body: '{"sealed":true}' },
  refusal: (error, id) =>
    faults.refusal?.(error, id) ?? { status: error.status, mediaType: 'application/json', body: JSON.stringify({ errors: [error.code] }) },
  readsDespite: (...all) => faults.readsDespite?.(...all) ?? false,
  reply: (...all) => faults.reply?.(...all),
};

beforeAll(async () => {
  app = await startCoreApp({
    directory: at('faults'),
    plugin: (parts) => ({ ...things(parts), aliases: [faulty] }),
    onAnswered: (answered) => void counted.push(answered),
  });
  await app.send('POST', '/v1/config/things', { name: 'one' });
});
afterEach(() => (faults = {}));
afterAll(() => app.stop());

const ask = (thing = 'one', body: unknown = { payload: 'AP8=' }, chunked = false): Promise<Answer> =>
  send(app.url, `/v1/foreign/${thing}`, { method: 'POST', body, chunked, headers: { 'x-foreign-token': app.rootToken } });
const recordsOf = ({ headers }: Answer): unknown[] =>
  app
    .auditText()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter((record) => record['request-id'] === headers['request-id'])
    .map(({ status, code, via }) => [status, code, via]);
const failed = [500, 'internal-error', 'foreign'];
const done = [200, undefined, 'foreign'];
const unknown = [404, 'not-found', 'foreign'];

const broken = (): never => {
  throw new TypeError('thrown on purpose');
};
const rejects = (): Promise<never> => Promise.reject(new TypeError('rejected on purpose'));

test.each<readonly [string, Partial<Alias>, string, readonly unknown[]]>([
  ['admit', { admit: broken }, 'one', [failed]],
  ['needs', { needs: broken }, 'one', [failed]],
  ['target', { target: broken }, 'one', [failed]],
  ['input', { input: broken }, 'one', [failed]],
  ['answer', { answer: broken }, 'one', [done, failed]],
  ['reply, at once', { reply: broken }, 'one', [done, failed]],
  ['reply, later', { reply: rejects }, 'one', [done, failed]],
  ['reply to a refusal, at once', { reply: broken }, 'none', [unknown, failed]],
  ['reply to a refusal, later', { reply: rejects }, 'none', [unknown, failed]],
])('a fault of %s is answered with 500 in the foreign form, with a record', async (_, given, thing, records) => {
  faults = given;
  const answer = await ask(thing);
  expect([answer.status, answer.body]).toEqual([500, { errors: ['internal-error'] }]);
  expect(recordsOf(answer)).toEqual(records);
  expect(app.log.lines.join('\n')).toContain(String(answer.headers['request-id']));
  faults = {};
  expect((await ask()).body).toEqual({ sealed: true });
});

test('what an alias cannot word is answered in our form', async () => {
  faults = { refusal: broken };
  const refused = await ask('none');
  expect([refused.status, refused.body]).toMatchObject([500, { code: 'internal-error' }]);
  expect(recordsOf(refused)).toEqual([unknown, failed]);
  faults = { refusal: broken, answer: broken };
  expect(await ask()).toMatchObject({ status: 500, body: { code: 'internal-error' } });
  faults = { refusal: broken, reply: rejects };
  expect(await ask()).toMatchObject({ status: 500, body: { code: 'internal-error' } });
});

test('without credentials there is nobody to record', async () => {
  faults = { credentials: broken };
  const answer = await ask();
  expect(answer).toMatchObject({ status: 500, body: { code: 'internal-error' } });
  expect(recordsOf(answer)).toEqual([]);
});

test.each([
  ['known', false],
  ['unknown', true],
])('a fault of readsDespite is answered with 500, for a body of %s length', async (_, chunked) => {
  faults = { readsDespite: broken };
  const answer = await ask('none', `{"payload":"${'A'.repeat(40_000)}"}`, chunked);
  expect([answer.status, answer.body]).toEqual([500, { errors: ['internal-error'] }]);
  expect(recordsOf(answer)).toEqual([failed]);
});

test('a refusal that reply throws, at once or later, is one', async () => {
  const refuse = (): never => {
    throw fail('invalid-value');
  };
  const replies: readonly NonNullable<Alias['reply']>[] = [refuse, async () => refuse(), (outcome) => outcome.body() as undefined];
  for (const reply of replies) {
    faults = { reply };
    const answer = await ask('none', '{');
    expect([answer.status, answer.body]).toEqual([400, { errors: [expect.stringMatching(/^invalid-/)] }]);
    expect(recordsOf(answer)).toEqual([unknown]);
  }
});

test('a fault is counted once, as what was answered', async () => {
  faults = { reply: broken };
  const before = counted.length;
  await ask();
  expect(counted.slice(before).map(({ status }) => status)).toEqual([500]);
});
