// npm test -- cluster: a service with a transit seal while the cluster that has its key loses members.
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../harness/daemon.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { buildClients, startSealedService } from '../interop/vault/service.ts';
import { endMember, type Member, prepareCluster, type Shared, startMember } from './daemons.ts';

const path = temporaryDirectory();
const program = path('clients');
const sections = { vault: { tenants: { system: {} } } };
let shared: Shared;
let [first, second]: Member[] = [];

beforeAll(async () => {
  await buildClients(program);
  const prepared = await prepareCluster(path);
  first = await startMember(prepared, 'a', { sections });
  shared = { ...prepared, rootToken: first.rootToken };
  second = await startMember(shared, 'b', { sections, port: await freePort() });
});
afterAll(async () => {
  for (const member of [first, second]) if (member !== undefined) await endMember(member).catch(() => undefined);
  await shared?.etcd.stop();
});

test('the other member opens what the lost one encrypted, and renews the token; the lost one goes on when it is back', async () => {
  const [one, other] = [first, second] as [Member, Member];
  await one.request('POST', '/v1/config/keystore/transit-keys', { name: 'seal' });
  const rules = ['encrypt', 'decrypt'].map((act) => ({
    path: `/v1/state/keystore/transit-keys/seal/${act}`,
    operations: { execute: 'allow' },
  }));
  await one.request('POST', '/v1/config/policy/policies', { name: 'seal', 'rest-api': { rules } });
  const made = await one.request('POST', '/v1/state/keystore/token/create', { policies: ['seal'], ttl: '1h' });
  const { token } = made as { readonly token: string };
  writeFileSync(path('ca.pem'), `${one.caPem}${other.caPem}`);
  // As a balancer does: the name of the service is asked at whichever member is there.
  const environment = { VAULT_CACERT: path('ca.pem'), VAULT_TOKEN: token, SEAL_KEY: 'seal' };
  const service = startSealedService(program, { ...environment, VAULT_ADDR: one.url });
  expect(await service.obey('start')).toBe('unsealed v1');
  expect(await service.obey('load')).toBe('loaded');
  await expect.poll(() => service.obey('progress').then(Number)).toBeGreaterThan(20);
  await one.kill();
  expect(await service.obey('start')).toMatch(/^sealed: .*(connection (refused|reset)|EOF)/);
  expect(await service.obey(`at ${other.url}`)).toBe('moved');
  expect(await service.obey('start')).toBe('unsealed v1');
  expect(await service.obey('renew')).toBe('renewed');
  await other.request('POST', '/v1/state/keystore/transit-keys/seal/rotate', {});
  expect(await service.obey('check')).toBe('healthy v2');

  one.network.close();
  first = await startMember(shared, 'a', { sections, port: Number(new URL(one.url).port) });
  expect(await service.obey('unload')).toBe('true true 0');
  expect(await service.obey(`at ${one.url}`)).toBe('moved');
  await expect.poll(() => service.obey('start')).toBe('unsealed v2');
});
