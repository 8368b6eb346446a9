// Approvals in a session of the console: it is the person who signed in, with the time of that login, and no way around either.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestClock } from '../../harness/clock.ts';
import type { Answer } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { type People, rule, rulePath, startPeople } from '../../core/approvals/people.ts';
import { consoleHeaders, openBrowser, signIn } from './console.ts';

const at = temporaryDirectory();
const clock = new TestClock(Temporal.Now.instant().toString());
const exporting = '/v1/state/keystore/transit-keys/payments/export';
const codeOf = ({ status, body }: Answer): string => (status < 300 ? String(status) : `${status} ${String(body?.code)}`);
let people: People;

beforeAll(async () => {
  people = await startPeople(at(), { clock });
  await people.as('root', 'POST', '/v1/config/keystore/transit-keys', { name: 'payments', exportable: true });
  expect((await people.as('root', 'POST', rulePath, rule('keys', { needed: 1 }))).status).toBe(201);
}, 60_000);
afterAll(async () => {
  expect(await people.appliance.check()).toEqual([]);
  await people.appliance.close();
});

type Send = (path: string, body: object, headers?: Record<string, string>, site?: string) => Promise<Answer>;

/** A session of the console with the token of a person. */
async function sessionOf(name: string): Promise<Send> {
  const browser = openBrowser(people.appliance);
  const secret = await signIn(browser, { way: 'token', token: people.tokens[name] ?? '' });
  return (path, body, headers = {}, site) =>
    browser.send('POST', path, { ...consoleHeaders(secret, site), 'content-type': 'application/json', ...headers }, JSON.stringify(body));
}

const approving = async (id: string): Promise<readonly [path: string, body: { digest: unknown }]> => {
  const { body } = await people.as('anna', 'GET', `/v1/state/approvals/${id}`);
  return [`/v1/state/approvals/${id}/approve`, { digest: body.digest }];
};
const reason = { 'approval-reason': 'for%20the%20partner' };

test('an act in a session asks for approval and runs once, as with the token', async () => {
  const [asker, anna] = [await sessionOf('asker'), await sessionOf('anna')];
  expect(codeOf(await asker(exporting, {}))).toBe('403 approval-needed');
  const asked = await asker(exporting, {}, reason);
  expect(codeOf(asked)).toBe('202');
  const approval = String(asked.body.id);
  expect(codeOf(await asker(exporting, {}, { approval }))).toBe('409 approval-missing');
  expect(codeOf(await anna(...(await approving(approval))))).toBe('200');
  expect(codeOf(await asker(exporting, {}, { approval }))).toBe('200');
  expect(codeOf(await asker(exporting, {}, { approval }))).toBe('409 approval-void');
});

test('nobody approves the own request in a session, nor from another site', async () => {
  const asked = await people.ask('anna', 'POST', exporting, {});
  const decision = await approving(String(asked.body.id));
  expect(codeOf(await (await sessionOf('anna'))(...decision))).toBe('403 approval-refused');
  await people.logIn('anna');
  expect(codeOf(await (await sessionOf('anna'))(...decision))).toBe('403 approval-refused');
  const bert = await sessionOf('bert');
  for (const site of ['cross-site', 'same-site']) expect(codeOf(await bert(...decision, {}, site))).toBe('401 invalid-token');
  expect(codeOf(await bert(...decision))).toBe('200');
});

test('a session that is new does not make an old login new', async () => {
  clock.step(16 * 60);
  await people.logIn('asker');
  const asked = await people.ask('asker', 'POST', exporting, { version: 1 });
  const decision = await approving(String(asked.body.id));
  expect(codeOf(await (await sessionOf('cleo'))(...decision))).toBe('403 approval-refused');
  await people.logIn('cleo');
  expect(codeOf(await (await sessionOf('cleo'))(...decision))).toBe('200');
});
