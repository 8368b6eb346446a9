// OpenBao CVE-2026-3605 (dot segments passed a deny), GHSA-mwr2-wmgp-crj6 (a namespace named like its parent): one path has one meaning.
import { beforeAll, describe, expect, test } from 'vitest';
import { startVictim, verdictOf, type Victim } from '../victim.ts';

let victim: Victim;
let fenced: string;
let tenant: string;
const secret = '/v1/config/keystore/transit-keys/secret';

beforeAll(async () => {
  victim = await startVictim();
  await victim.request('POST', '/v1/config/keystore/transit-keys', { name: 'secret' });
  await victim.makePolicy('fenced', [
    { path: '/v1/**', operations: { all: 'allow' } },
    { path: '/v1/config/keystore/transit-keys/secret', operations: { all: 'reject' } },
    { path: '/v1/config/keystore/transit-keys/secret/**', operations: { all: 'reject' } },
  ]);
  fenced = await victim.makeToken(['fenced']);
  tenant = await victim.makeTenant('neighbour');
});

/** Spellings of the refused path, and ways around it. */
const spellings = [
  secret,
  `${secret}/`,
  '/v1/config/keystore/transit-keys/%73ecret',
  '/v1/config/keystore/transit-keys/%73%65%63%72%65%74',
  '/v1/config/keystore/transit-keys/%2573ecret',
  '/v1/config/keystore/transit-keys/./secret',
  '/v1/config/keystore/transit-keys/x/../secret',
  '/v1/config/keystore/transit-keys/%2e/secret',
  '/v1/config/keystore/transit-keys/x/%2e%2e/secret',
  '/v1/config/keystore/transit-keys/x%2f..%2fsecret',
  '/v1/config/keystore/transit-keys//secret',
  '//v1/config/keystore/transit-keys/secret',
  '/v1/config/keystore/transit-keys/secret%00',
  '/v1/config/keystore/transit-keys/secret%20',
  '/v1/config/keystore/transit-keys/secret;x=1',
  '/v1/config/keystore/transit-keys/SECRET',
  '/v1/config/keystore/transit-keys/%EF%BD%93ecret',
  '/v1/config/keystore/transit-keys/secret%2f',
  '/v1/config/keystore/transit-keys/secret?x=/../y',
  '/v1/config/keystore/transit-keys/secret#fragment',
  '\\v1\\config\\keystore\\transit-keys\\secret',
  '/v1/config/keystore/transit-keys\\secret',
  '/v1/state/../config/keystore/transit-keys/secret',
  'https://elsewhere/v1/config/keystore/transit-keys/secret',
  'http://[::1]/v1/config/keystore/transit-keys/secret',
];

describe('a path that the policy refuses', () => {
  test.each(spellings)('%j', async (target) => {
    for (const method of ['GET', 'DELETE']) {
      const answer = await victim.raw(method, target, { token: fenced });
      expect(verdictOf(answer)).toMatch(/^(403 policy-denied|404 not-found|400 )/);
      expect(JSON.stringify(answer.body)).not.toContain('creation-time');
    }
    expect((await victim.raw('GET', secret)).status).toBe(200);
  });

  test('is refused at every spelling of the very same path, not only at one', async () => {
    for (const target of [
      secret,
      `${secret}/`,
      '/v1/config/keystore/transit-keys/%73ecret',
      'https://elsewhere/v1/config/keystore/transit-keys/secret',
    ]) {
      expect(verdictOf(await victim.raw('GET', target))).toBe('200 done');
      expect(verdictOf(await victim.raw('GET', target, { token: fenced }))).toBe('403 policy-denied');
    }
  });
});

describe('names', () => {
  const strange = ['..', '.', 'a/b', 'a%2fb', '../system', '/', '', ' ', 'a b', 'a\u0000b', 'a\nb', 'Root', 'ROOT', '*', '**', '__proto__', 'a\u202eb', 'ѕystem', 'system\u200b', 'x'.repeat(129)]; // prettier-ignore
  const lists = ['/v1/config/tenants', '/v1/config/policy/policies', '/v1/config/keystore/transit-keys', '/v1/config/keystore/authentication/approles', '/v1/config/keystore/tls/ca']; // prettier-ignore

  test.each(lists)('%s takes no name that could be read as another', async (list) => {
    for (const name of strange) expect([name, await victim.verdict('POST', list, { name })]).toEqual([name, '400 invalid-value']);
    // Dot segments would be gone before they are sent; they are tried above, octet by octet.
    for (const name of strange.filter((one) => !['', '.', '..'].includes(one))) {
      expect(await victim.verdict('PUT', `${list}/${encodeURIComponent(name)}`, {})).toMatch(/^(400 |404 )/);
    }
  });

  test('a tenant cannot be named system, and no tenant reaches another by any name', async () => {
    expect(await victim.verdict('POST', '/v1/config/tenants', { name: 'system' })).toBe('409 already-exists');
    const { uuid } = (await victim.request('GET', '/v1/state/tenants/system')).body;
    for (const name of ['system/secret', `${uuid}/secret`, '..%2fsystem%2fsecret', 'secret']) {
      const path = `/v1/config/keystore/transit-keys/${name.includes('%') ? name : encodeURIComponent(name)}`;
      expect(verdictOf(await victim.raw('GET', path, { token: tenant }))).toBe('404 not-found');
    }
  });
});
