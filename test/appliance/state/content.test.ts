// What keeps an appliance that stands alone from joining a cluster: everything that a person has made there, and nothing else.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { tableKinds } from '../../../appliance/table-kinds.ts';
import { findContent } from '../../../core/store/records/table-kinds.ts';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const temporary = temporaryDirectory();
let appliance: TestAppliance;
beforeAll(async () => {
  appliance = await startTestAppliance({ directory: temporary('appliance') });
});
afterAll(() => appliance.close());

test('a new appliance has nothing, also when somebody has logged in and looked around', async () => {
  await appliance.request('GET', '/v1/config/keystore/transit-keys');
  expect((await appliance.request('POST', '/v1/approle-login', { 'role-id': 'nobody', 'secret-id': 'nothing' })).status).toBe(401);
  expect(findContent(appliance.store, tableKinds)).toBeUndefined();
});

test('whatever a person makes is something, until it is gone', async () => {
  const [approles, tenants] = ['/v1/config/keystore/authentication/approles', '/v1/config/tenants'];
  const make = async (path: string): Promise<string | undefined> => {
    expect((await appliance.request('POST', path, { name: 'mine' })).status).toBe(201);
    return findContent(appliance.store, tableKinds);
  };
  expect(await make(approles)).toBe('approles');
  expect((await appliance.request('DELETE', `${approles}/mine`)).status).toBe(204);
  expect(findContent(appliance.store, tableKinds)).toBeUndefined();
  expect(await make('/v1/config/keystore/transit-keys')).toMatch(/^transit\//);
  expect(await make(tenants)).toBe('tenants');
  expect(await make('/v1/config/keystore/tls/ca')).toBe('est/cas');
});
