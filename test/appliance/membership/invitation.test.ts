// Invitations: the line that a person carries, and the one use that is counted.
import { expect, test } from 'vitest';
import { formatInvitation, hashOfSecret, parseInvitation } from '../../../appliance/membership/invitation.ts';
import { recordInvitation, redeemInvitation } from '../../../appliance/membership/invitations.ts';
import { ModelCluster } from '../../harness/model-cluster.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

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
])('what is no invitation is refused: %s', (_, text) => {
  expect(parseInvitation(text)).toBeUndefined();
});

test('an invitation is good for one appliance and one hour: two that ask at the same moment do not both get in', async () => {
  const cluster = new ModelCluster();
  const [first, second] = [await cluster.join('first', temporary('first')), await cluster.join('second', temporary('second'))];
  const now = Temporal.Instant.from('2026-01-01T00:00:00Z');
  const redeem = (where: typeof first, appliance: string, at = now): Promise<string> =>
    redeemInvitation(where.store, at, hashOfSecret('secret'), { appliance, name: appliance }).then(
      () => 'admitted',
      (error: { readonly code: string }) => error.code,
    );
  expect(await redeem(first, 'x')).toBe('login-failed');
  expect((await recordInvitation(first.store, now, hashOfSecret('secret'), 'root')).since(now).total('hours')).toBe(1);
  expect((await Promise.all([redeem(first, 'x'), redeem(second, 'y')])).toSorted()).toEqual(['admitted', 'login-failed']);
  // The answer to the first may have been lost.
  expect((await Promise.all([redeem(first, 'x'), redeem(second, 'x'), redeem(first, 'y'), redeem(first, 'y')])).toSorted()).toEqual([
    ...['admitted', 'admitted', 'login-failed', 'login-failed'],
  ]);
  expect(await redeem(first, 'x', now.add({ hours: 1 }))).toBe('login-failed');
  await cluster.close();
});
