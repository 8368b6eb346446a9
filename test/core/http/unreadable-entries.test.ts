// A record that somebody has put in the place of another, past keystored: it is one entry that cannot be read.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { endOtherCredentials } from '../../../core/access/earlier-credentials.ts';
import { tokenExpiryJob } from '../../../core/access/tokens/expiry.ts';
import { tokenTable } from '../../../core/access/tokens/record.ts';
import { findDeadTenants } from '../../../core/platform/tenants/dead-tenants.ts';
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

const systemId = (): string => openTenants(app.store).findByName(systemTenantName)?.uuid as string;

/** Changes the file of the store past it: `values` by the texts of keys; undefined: the record is gone. */
async function changeFile(change: (raw: Environment) => ReadonlyMap<string, Uint8Array | undefined>): Promise<void> {
  const raw = new Environment(temporary('app', 'store'), () => undefined);
  const values = change(raw);
  await raw.commit(() => {
    for (const [text, value] of values) {
      if (value === undefined) raw.remove(keyBytes(text));
      else raw.put(keyBytes(text), value);
    }
    noteChanges(raw, new Set(values.keys()));
  });
  await raw.close();
  app.store.refresh();
}

/** Puts the record of `from` in the place of that of `to`; their keys begin with a tenant unless `below` says otherwise. */
async function misplace(table: string, from: string, to: string, below: readonly string[] = [systemId()]): Promise<void> {
  const textOf = (name: string): string => encodeKey(table, [...below, name]) as string;
  await changeFile((raw) => new Map([[textOf(to), raw.get(keyBytes(textOf(from))) as Uint8Array]]));
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
});

test('asked for alone, it is named as unreadable; root deletes it, nobody else, and its name is free again', async () => {
  const refused = { status: 409, body: { code: 'record-unreadable' } };
  const read = await app.send('GET', `${approles}/two`);
  expect(read).toMatchObject(refused);
  expect(read.text).toContain('The record of this approle cannot be read: approles');
  expect(await app.send('PATCH', `${approles}/two`, { 'token-policies': ['default'] })).toMatchObject(refused);
  expect(await app.send('POST', approles, { name: 'two', 'token-policies': ['default'] })).toMatchObject({ status: 409 });
  const { token } = (await app.send('POST', '/v1/state/keystore/token/create', { policies: ['user'] })).body as { token: string };
  expect((await app.send('DELETE', `${approles}/two`, undefined, { token })).status).not.toBe(204);
  expect((await app.send('DELETE', `${approles}/two?validate=true`)).status).toBe(204);
  expect(await app.send('GET', `${approles}/two`)).toMatchObject(refused);
  expect((await app.send('DELETE', `${approles}/two`)).status).toBe(204);
  expect((await app.send('GET', `${approles}/two`)).status).toBe(404);
  expect((await app.send('POST', approles, { name: 'two', 'token-policies': ['default'] })).status).toBe(201);
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
  expect(tokenTable(app.store).has([systemId(), third])).toBe(false);
});

test('no tenant counts as deleted while the record of one does not open: it could be that one', async () => {
  for (const name of ['gone', 'plant', 'mill']) {
    expect((await app.send('POST', '/v1/config/tenants', { name, policies: ['root'] })).status).toBe(201);
    await app.send('POST', '/v1/state/keystore/token/create-root', { name });
  }
  app.store.refresh();
  const gone = openTenants(app.store).findByName('gone')?.uuid as string;
  const texts = [encodeKey('tenants', ['gone']) as string, encodeKey('tenant-names', [gone]) as string];
  await changeFile(() => new Map(texts.map((text) => [text, undefined])));
  expect([...findDeadTenants(app.store)]).toEqual(expect.arrayContaining([expect.objectContaining({ where: `tokens ${gone}` })]));
  await misplace('tenants', 'plant', 'mill', []);
  expect([...findDeadTenants(app.store)]).toEqual([]);
});

test('end-credentials ends it with the others, because it may be put back', async () => {
  const make = async (): Promise<string> =>
    ((await app.send('POST', '/v1/state/keystore/token/create', {})).body as { accessor: string }).accessor;
  const [first, second] = [await make(), await make()];
  await misplace('tokens', first, second);
  const tenant = systemId();
  const { accessor } = (await app.send('POST', '/v1/state/keystore/token/create', {})).body as { accessor: string };
  await endOtherCredentials(app.store, { tenantId: tenant, accessor }, app.clock.now());
  app.store.refresh();
  expect(Array.from(tokenTable(app.store).keys([tenant]), ([, one]) => one)).toEqual([accessor]);
});
