// OpenBao CVE-2026-40264 and CVE-2026-45808: tokens could be renewed and revoked across namespaces by accessor or lease.
import { beforeAll, expect, test } from 'vitest';
import { startVictim, type Victim } from '../victim.ts';

let victim: Victim;
let ours: string;
let theirs: string;
const base = '/v1/state/keystore/token';

beforeAll(async () => {
  victim = await startVictim();
  ours = await victim.makeTenant('ours', ['root']);
  theirs = await victim.makeTenant('theirs', ['root']);
});

const infoOf = async (token: string) => (await victim.request('POST', `${base}/info`, {}, { token })).body;

test('neither accessor nor value of another tenant’s token is known, not even to a root token', async () => {
  const { accessor } = await infoOf(theirs);
  const foreign = [{ accessor }, { token: theirs }, { accessor: (await infoOf(victim.rootToken)).accessor }, { token: victim.rootToken }];
  for (const which of foreign) {
    for (const action of ['info', 'disable']) {
      expect(await victim.verdict('POST', `${base}/${action}`, which, { token: ours })).toBe('404 not-found');
    }
  }
  const nowhere = await victim.request('POST', `${base}/disable`, { accessor: '00000000-0000-4000-8000-000000000000' }, { token: ours });
  const foreignAnswer = await victim.request('POST', `${base}/disable`, { accessor }, { token: ours });
  expect({ ...foreignAnswer.body, 'request-id': '' }).toEqual({ ...nowhere.body, 'request-id': '' });
  expect((await infoOf(theirs)).tenant).toBe('theirs');
});

test('the system tenant reaches other tenants’ tokens no more than they reach its own', async () => {
  const { accessor } = await infoOf(theirs);
  expect(await victim.verdict('POST', `${base}/disable`, { accessor })).toBe('404 not-found');
  const listed = (await victim.request('GET', '/v1/state/keystore/tokens')).body as { accessor: string; tenant: string }[];
  expect(listed.every(({ tenant }) => tenant === 'system')).toBe(true);
});

test('a refresh prolongs the own token and takes no other', async () => {
  const child = await victim.makeToken(['root'], theirs);
  for (const which of [{ accessor: (await infoOf(child)).accessor }, { token: child }]) {
    expect(await victim.verdict('POST', `${base}/refresh`, which, { token: ours })).toBe('400 unknown-field');
  }
});

test('an accessor is no token, a token no accessor', async () => {
  const { accessor } = await infoOf(ours);
  expect(await victim.verdict('POST', `${base}/info`, {}, { token: accessor })).toBe('401 invalid-token');
  expect(await victim.verdict('POST', `${base}/info`, { accessor: ours }, { token: ours })).toBe('404 not-found');
});

test('secret-ids and approles are as far away', async () => {
  const approles = '/v1/state/keystore/authentication/approles';
  await victim.request('POST', '/v1/config/keystore/authentication/approles', { name: 'robot' }, { token: theirs });
  const made = (await victim.request('POST', `${approles}/robot/generate-secret-id`, {}, { token: theirs })).body;
  await victim.request('POST', '/v1/config/keystore/authentication/approles', { name: 'robot' }, { token: ours });
  for (const which of [{ accessor: made.accessor }, { 'secret-id': made['secret-id'] }]) {
    expect(await victim.verdict('POST', `${approles}/robot/disable-secret-id`, which, { token: ours })).toBe('404 not-found');
  }
  expect((await victim.request('GET', `${approles}/robot/secret-ids`, undefined, { token: theirs })).body).toHaveLength(1);
});
