// Our own mistake: values that rules limit were judged in the whole document of a change, so that what was refused told the present value of a
// field which the same rules hide. And the other way round: a change that is judged in part reaches by two steps what no rule allows.
import { beforeAll, expect, test } from 'vitest';
import { startVictim, type Victim } from '../victim.ts';

let victim: Victim;
const keys = '/v1/config/keystore/transit-keys';
const approles = '/v1/config/keystore/authentication/approles';

beforeAll(async () => {
  victim = await startVictim();
  await victim.request('POST', keys, { name: 'inside', labels: { team: 'a' } });
  await victim.request('POST', keys, { name: 'outside', exportable: true, 'allow-plaintext-backup': true, labels: { team: 'b' } });
  await victim.request('POST', approles, { name: 'narrow', 'token-policies': ['rewrap-only'], 'token-bound-cidrs': ['10.0.0.0/8'] });
  await victim.request('POST', approles, { name: 'wide', 'token-policies': ['rewrap-only'], 'token-bound-cidrs': ['11.0.0.0/8'] });
});

let made = 0;
async function holderOf(rules: readonly object[], ...others: readonly string[]): Promise<string> {
  const name = `limits-${(made += 1)}`;
  await victim.makePolicy(name, rules);
  return victim.makeToken([name, ...others]);
}

const updates = (list: string, allowed: Record<string, unknown>, more: object = {}) => ({
  path: `${list}/*`,
  operations: { update: 'allow' },
  'allowed-values': allowed,
  ...more,
});
/** Everything but these fields is read, in both trees. */
const reads = (list: string, hidden: readonly string[]) =>
  [list, list.replace('config', 'state')].map((path) => ({ path: `${path}/*`, operations: { read: 'allow' }, 'hide-fields': hidden }));

/** Status, code and detail of the same request to two entries. */
async function answers(method: string, list: string, names: readonly string[], body: object, token: string, query = '') {
  const all = [];
  for (const name of names) {
    const answer = await victim.request(method, `${list}/${name}${query}`, body, { token });
    all.push([answer.status, answer.body.code, answer.body.detail]);
  }
  return all;
}

const changes: readonly [method: string, body: object, status: number][] = [
  ['PATCH', {}, 204],
  ['PATCH', { labels: { seen: 'x' } }, 204],
  ['PATCH', { 'deletion-allowed': true }, 204],
  ['PATCH', { exportable: true }, 403],
  ['PATCH', { 'min-decryption-version': 1 }, 204],
  ['PUT', {}, 204],
  ['PUT', { exportable: true }, 403],
];

test.each([
  ['hidden', reads(keys, ['exportable'])],
  ['not to be read at all', []],
])('a change is answered alike whatever a limited field is that is %s', async (_, more) => {
  const token = await holderOf([updates(keys, { exportable: [false] }), ...more]);
  for (const [method, body, status] of changes.filter(([, one]) => more.length > 0 || !('min-decryption-version' in one)))
    for (const query of ['?validate=true', '']) {
      const [inside, outside] = await answers(method, keys, ['inside', 'outside'], body, token, query);
      expect([method, body, query, outside]).toEqual([method, body, query, inside]);
      // A replacement takes out the OpenPGP identity that others may name, and a dry run tells them only to who may read them.
      const isBlindRun = query !== '' && method === 'PUT' && more.length === 0;
      expect([method, body, inside?.[0]]).toEqual([method, body, isBlindRun ? 403 : status]);
    }
});

test('a change of one limited field asks for another that is hidden, and says which', async () => {
  const token = await holderOf([updates(keys, { exportable: [false], 'deletion-allowed': [true] }), ...reads(keys, ['exportable'])]);
  for (const name of ['first', 'second']) await victim.request('POST', keys, { name, exportable: name === 'second' });
  const all = await answers('PATCH', keys, ['first', 'second'], { 'deletion-allowed': true }, token);
  expect(all[0]).toEqual([403, 'policy-denied', expect.stringContaining('limits "exportable" together with what this changes')]);
  expect(all[1]).toEqual(all[0]);
});

test('what is added to a hidden list is judged, and not what is there', async () => {
  const token = await holderOf(
    [updates(approles, { 'token-bound-cidrs': ['10.0.0.0/8'] }), ...reads(approles, ['token-bound-cidrs'])],
    'rewrap-only',
  );
  const add = (cidr: string) => answers('PATCH', approles, ['narrow', 'wide'], { 'token-bound-cidrs': [cidr] }, token);
  for (const [cidr, status] of [
    ['10.0.0.0/8', 204],
    ['12.0.0.0/8', 403],
  ] as const) {
    const [narrow, wide] = await add(cidr);
    expect([cidr, narrow?.[0]]).toEqual([cidr, status]);
    expect([cidr, wide]).toEqual([cidr, narrow]);
  }
});

test('a container that is removed takes its hidden field with it, and is judged by that', async () => {
  await victim.request('POST', keys, { name: 'labelled', labels: { team: 'a' } });
  await victim.request('POST', keys, { name: 'plain' });
  const token = await holderOf([updates(keys, { 'labels/team': ['a'] }), ...reads(keys, ['labels'])]);
  const [labelled, plain] = await answers('PATCH', keys, ['labelled', 'plain'], { labels: null }, token);
  expect(labelled?.[0]).toBe(403);
  expect(plain).toEqual(labelled);
});

test('an entry that is outside already may be changed in other fields, and in this one to what is allowed alone', async () => {
  await victim.request('POST', approles, { name: 'aged', 'token-policies': ['rewrap-only'], 'token-ttl': '9d' });
  const token = await holderOf([updates(approles, { 'token-ttl': ['1h', '2h'] }), ...reads(approles, [])], 'rewrap-only');
  const patch = (body: object) => victim.verdict('PATCH', `${approles}/aged`, body, { token });
  expect(await patch({ 'secret-id-num-uses': 3 })).toBe('204 done');
  expect(await patch({ 'token-ttl': '9d' })).toBe('403 policy-denied');
  expect(await patch({ 'token-ttl': '8d' })).toBe('403 policy-denied');
  expect(await patch({ 'token-ttl': null })).toBe('403 policy-denied');
  expect(await patch({ 'token-ttl': '1h' })).toBe('204 done');
});

test('no two steps reach what no rule allows in one', async () => {
  const either = [
    updates(approles, { 'token-policies': ['rewrap-only'], 'token-ttl': ['1h'] }),
    updates(approles, { 'token-policies': ['user'], 'token-ttl': ['9d'] }),
    updates(approles, { 'token-policies': ['user'], 'secret-id-num-uses': [0, 1] }),
  ];
  await victim.request('POST', approles, { name: 'stepping', 'token-policies': ['rewrap-only'], 'token-ttl': '1h' });
  for (const more of [reads(approles, []), reads(approles, ['token-policies'])]) {
    const token = await holderOf([...either, ...more], 'rewrap-only', 'user');
    expect(await victim.verdict('PATCH', `${approles}/stepping`, { 'token-ttl': '9d' }, { token })).toBe('403 policy-denied');
  }
});
