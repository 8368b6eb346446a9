// A record that somebody has put in the place of another, past keystored: it is one entry that cannot be read.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { tokenExpiryJob } from '../../../core/access/tokens/expiry.ts';
import { tokenTable } from '../../../core/access/tokens/record.ts';
import { Environment } from '../../../core/store/environment.ts';
import { encodeKey, keyBytes } from '../../../core/store/keys.ts';
import { noteChanges } from '../../../core/store/revision.ts';
import { openTenants, systemTenantName } from '../../../core/access/tenants.ts';
import { type CoreApp, startCoreApp } from '../../harness/core-app.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const temporary = temporaryDirectory();
const approles = '/v1/config/keystore/authentication/approles';
let app: CoreApp;

beforeAll(async () => {
  app = await startCoreApp({ directory: temporary('app') });
  for (const name of ['one', 'two', 'three'])
    expect(await app.send('POST', approles, { name, 'token-policies': ['default'] })).toMatchObject({ status: 201 });
});
afterAll(() => app.stop());

/** Puts the record of `from` in the place of that of `to`. */
async function misplace(table: string, from: string, to: string): Promise<void> {
  const tenant = openTenants(app.store).findByName(systemTenantName)?.uuid as string;
  const textOf = (name: string): string => encodeKey(table, [tenant, name]) as string;
  const raw = new Environment(temporary('app', 'store'), () => undefined);
  const other = raw.get(keyBytes(textOf(from))) as Uint8Array;
  await raw.commit(() => {
    raw.put(keyBytes(textOf(to)), other);
    noteChanges(raw, new Set([textOf(to)]));
  });
  await raw.close();
  app.store.refresh();
}

test('it is one entry of the list, with its name and the reason; the others are there, and a search goes on without it', async () => {
  await misplace('approles', 'one', 'two');
  const listed = await app.send('GET', approles);
  expect(listed).toMatchObject({ status: 200, headers: { 'total-count': '3' } });
  expect(listed.body).toMatchObject([
    { name: 'one', 'token-policies': ['default'] },
    { name: 'three' },
    { name: 'two', unreadable: expect.stringContaining('does not open') },
  ]);
  expect((await app.send('GET', `${approles}?selector=x=y`)).body).toEqual([]);
  expect((await app.send('GET', `${approles}/two`)).status).toBe(500);
  expect((await app.send('DELETE', `${approles}/two`)).status).toBe(500);
});

test('a token is none that works, and the sweep of those that have expired goes on', async () => {
  const make = async (): Promise<string> =>
    ((await app.send('POST', '/v1/state/keystore/token/create', { ttl: '50s' })).body as { accessor: string }).accessor;
  const [first, second, third] = [await make(), await make(), await make()];
  await misplace('tokens', first, second);
  const listed = async (): Promise<unknown> => (await app.send('GET', '/v1/state/keystore/tokens?keys=true')).body;
  expect(await listed()).toEqual(expect.arrayContaining([first, third]));
  expect(await listed()).not.toContain(second);
  app.clock.advance(60);
  await expect(tokenExpiryJob(app.store, app.clock).run(new AbortController().signal)).resolves.toBeUndefined();
  expect(tokenTable(app.store).has([openTenants(app.store).findByName(systemTenantName)?.uuid as string, third])).toBe(false);
});
