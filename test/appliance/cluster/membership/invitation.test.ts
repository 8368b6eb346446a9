// Invitations: the line that a person carries, and the one use that is counted.
import { expect, test } from 'vitest';
import { formatInvitation, hashOfSecret, parseInvitation } from '../../../../appliance/cluster/membership/invitation.ts';
import {
  type Asking,
  idOfInvitation,
  listInvitations,
  recordInvitation,
  redeemInvitation,
  withdrawInvitation,
} from '../../../../appliance/cluster/membership/invitations.ts';
import { recordDeparture } from '../../../../appliance/audit/chain-records.ts';
import type { Store } from '../../../../core/store/store.ts';
import { type ModelAppliance, ModelCluster } from '../../../harness/model-cluster.ts';
import { temporaryDirectory } from '../../../harness/temporary.ts';

const temporary = temporaryDirectory();
const invitation = { url: 'https://192.0.2.11:4646', authority: 'ab'.repeat(32), secret: 'x'.repeat(43) };
const lineOf = (content: unknown): string => `keystored-invitation-1.${Buffer.from(JSON.stringify(content)).toString('base64url')}`;

test('an invitation is read as it was written, also when a terminal has broken the line', () => {
  const line = formatInvitation(invitation);
  expect(line).toMatch(/^[\w.-]+$/);
  expect(parseInvitation(line)).toEqual(invitation);
  expect(parseInvitation(`  ${line.slice(0, 40)}\r\n${line.slice(40)}\n`)).toEqual(invitation);
});

test.each<[string, string]>([
  ['nothing', ''],
  ['another text', 'keystored'],
  ['no content', 'keystored-invitation-1.'],
  ['a later form', formatInvitation(invitation).replace('-1.', '-2.')],
  ['no JSON', `keystored-invitation-1.${Buffer.from('{"url":').toString('base64url')}`],
  ['a list', lineOf([invitation])],
  ['no secret', lineOf({ ...invitation, secret: undefined })],
  ['a short secret', lineOf({ ...invitation, secret: 'x'.repeat(42) })],
  ['another field', lineOf({ ...invitation, more: 1 })],
  ['an address without TLS', lineOf({ ...invitation, url: 'http://192.0.2.11:4646' })],
  ['a user in the address', lineOf({ ...invitation, url: 'https://me@192.0.2.11:4646' })],
  ['a path in the address', lineOf({ ...invitation, url: 'https://192.0.2.11:4646/x' })],
  ['a fingerprint in capitals', lineOf({ ...invitation, authority: 'AB'.repeat(32) })],
  ['a number as the fingerprint', lineOf({ ...invitation, authority: 1 })],
  ['more than a line', lineOf({ ...invitation, url: `https://${'x'.repeat(3_000)}` })],
  ['a prototype', `keystored-invitation-1.${Buffer.from('{"__proto__":{}}').toString('base64url')}`],
])('what is not an invitation is refused: %s', (_, text) => {
  expect(parseInvitation(text)).toBeUndefined();
});

const now = Temporal.Instant.from('2026-01-01T00:00:00Z');
const [hash, keys] = [hashOfSecret('secret'), { peer: 'p', client: 'c' }];
type Redeeming = Partial<Asking> & { readonly at?: Temporal.Instant; readonly isIn?: boolean };
const redeem = ({ store }: ModelAppliance, appliance: string, { at = now, isIn = false, ...asking }: Redeeming = {}): Promise<string> =>
  redeemInvitation(store, at, hash, { appliance, name: appliance, keys, ...asking }, isIn).then(
    () => 'admitted',
    (error: { readonly code: string }) => error.code,
  );

test('an invitation is good for one appliance and one hour: two that ask at the same moment do not both get in', async () => {
  const cluster = new ModelCluster();
  const [first, second] = [await cluster.join('first', temporary('first')), await cluster.join('second', temporary('second'))];
  expect(await redeem(first, 'x')).toBe('login-failed');
  expect((await recordInvitation(first.store, now, hash, { by: 'root' })).since(now).total('hours')).toBe(1);
  expect((await Promise.all([redeem(first, 'x'), redeem(second, 'y')])).toSorted()).toEqual(['admitted', 'login-failed']);
  // The answer to the first may have been lost.
  expect((await Promise.all([redeem(first, 'x'), redeem(second, 'x'), redeem(first, 'y'), redeem(first, 'y')])).toSorted()).toEqual([
    ...['admitted', 'admitted', 'login-failed', 'login-failed'],
  ]);
  expect(await redeem(first, 'x', { at: now.add({ hours: 1 }) })).toBe('login-failed');
  await cluster.close();
});

test('the same is who has the keys of the first time, and nobody once it has come in or was removed', async () => {
  const cluster = new ModelCluster();
  const first = await cluster.join('same', temporary('same'));
  await recordInvitation(first.store, now, hash, { by: 'root' });
  // Before it has its own keys, it asks with one of the two.
  expect(await redeem(first, 'x', { keys: { peer: 'p' } })).toBe('admitted');
  for (const other of [{ peer: 'q' }, { peer: 'q', client: 'c' }]) expect(await redeem(first, 'x', { keys: other })).toBe('login-failed');
  expect(await redeem(first, 'x')).toBe('admitted');
  expect(await redeem(first, 'x', { keys: { peer: 'p', client: 'd' } })).toBe('login-failed');
  expect(await redeem(first, 'x', { keys: { peer: 'p' } })).toBe('admitted');
  expect(await redeem(first, 'x', { isIn: true })).toBe('login-failed');
  await removed(first.store, 'x');
  expect(await redeem(first, 'x')).toBe('login-failed');
  expect(listInvitations(first.store, now)).toMatchObject([{ state: 'over', usedBy: { appliance: 'x' } }]);
  await cluster.close();
});

test('an id that was in comes in by no other invitation, and one with a name lets in that name alone; neither uses it up', async () => {
  const cluster = new ModelCluster();
  const first = await cluster.join('named', temporary('named'));
  await removed(first.store, 'x');
  await recordInvitation(first.store, now, hash, { by: 'root', member: 'plant-b' });
  expect(await redeem(first, 'x', { name: 'plant-b' })).toBe('operation-refused');
  expect(await redeem(first, 'y', { isIn: true, name: 'plant-b' })).toBe('operation-refused');
  expect(await redeem(first, 'y', { name: 'plant-c' })).toBe('operation-refused');
  expect(listInvitations(first.store, now)).toEqual([
    { id: idOfInvitation(hash), state: 'open', by: 'root', member: 'plant-b', expires: '2026-01-01T01:00:00.000000Z' },
  ]);
  expect(await redeem(first, 'y', { name: 'plant-b' })).toBe('admitted');
  await cluster.close();
});

test('one that is withdrawn lets nobody in, and names the appliance that has not come in; one whose appliance is in is not withdrawn', async () => {
  const cluster = new ModelCluster();
  const first = await cluster.join('withdrawn', temporary('withdrawn'));
  const withdraw = (id = idOfInvitation(hash)): Promise<unknown> =>
    withdrawInvitation(first.store, id).catch((error: { readonly code: string }) => error.code);
  await recordInvitation(first.store, now, hash, { by: 'root' });
  expect(await withdraw('0'.repeat(16))).toBe('not-found');
  expect([await withdraw(), await redeem(first, 'x'), await withdraw()]).toEqual([undefined, 'login-failed', 'not-found']);
  await recordInvitation(first.store, now, hash, { by: 'root' });
  await redeem(first, 'x');
  expect([await withdraw(), await redeem(first, 'x')]).toEqual(['x', 'login-failed']);
  await recordInvitation(first.store, now, hash, { by: 'root' });
  await redeem(first, 'x');
  await removed(first.store, 'x');
  expect(await withdraw()).toBe('operation-refused');
  await cluster.close();
});

test('an invitation whose hour is over is listed no more, unless an appliance was admitted by it that has not come in', async () => {
  const cluster = new ModelCluster();
  const { store } = await cluster.join('over', temporary('over'));
  const seen = (hours: number): readonly string[] => listInvitations(store, now.add({ hours })).map(({ state }) => state);
  await recordInvitation(store, now, hash, { by: 'root' });
  expect([seen(0), seen(1)]).toEqual([['open'], []]);
  await redeemInvitation(store, now, hash, { appliance: 'x', name: 'x', keys });
  await recordInvitation(store, now.add({ hours: 2 }), hashOfSecret('another'), { by: 'root' });
  expect([seen(2), seen(100)]).toEqual([['used', 'open'], ['used']]);
  await removed(store, 'x');
  expect(seen(2)).toEqual(['open']);
  await cluster.close();
});

const removed = (store: Store, appliance: string): Promise<unknown> =>
  store.write((transaction) => recordDeparture(transaction, store, appliance, { name: appliance, at: '2026-01-01T00:00:00Z', by: 'root' }));
