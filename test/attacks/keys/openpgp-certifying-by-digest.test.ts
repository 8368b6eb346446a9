// A hash signed with a primary key may be a certification of another subkey: openpgp-sign-digest alone does not make anybody its owner.
import { createHash } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { startVictim, type Victim } from '../victim.ts';

const keyState = '/v1/state/keystore/transit-keys';
let victim: Victim;
const tokens: Record<string, string> = {};

beforeAll(async () => {
  victim = await startVictim();
  const list = '/v1/config/keystore/transit-keys';
  await victim.request('POST', list, { name: 'release', cipher: 'ed25519', 'openpgp-user-id': 'Releases <r@example.com>' });
  await victim.request('POST', list, { name: 'builds', cipher: 'ed25519', 'openpgp-primary': 'release', 'openpgp-key-usage': ['sign'] });
  const allowed = (...actions: string[]) =>
    actions.map((action) => ({ path: `${keyState}/*/${action}`, operations: { execute: 'allow' } }));
  for (const [name, actions] of Object.entries({
    signs: ['openpgp-sign', 'openpgp-trailer'],
    digests: ['openpgp-sign-digest', 'openpgp-trailer'],
    owns: ['openpgp-sign-digest', 'openpgp-trailer', 'certify-subkey'],
  })) {
    await victim.makePolicy(name, allowed(...actions));
    tokens[name] = await victim.makeToken([name]);
  }
});

async function statusOf(token: string, key: string): Promise<number> {
  const options = { token: tokens[token] as string };
  const { body } = await victim.request('POST', `${keyState}/${key}/openpgp-trailer`, {}, options);
  const digest = createHash('sha512').update('data').update(Buffer.from(body.trailer, 'base64')).digest('base64');
  return (await victim.request('POST', `${keyState}/${key}/openpgp-sign-digest`, { trailer: body.trailer, digest }, options)).status;
}

test.each([
  ['signs', 'release', 403],
  ['signs', 'builds', 403],
  ['digests', 'release', 403],
  ['digests', 'builds', 200],
  ['owns', 'release', 200],
])('with the policy "%s" a digest for the key %s is answered with %i', async (token, key, status) => {
  expect(await statusOf(token, key)).toBe(status);
});

test.each([
  [['openpgp-sign'], 403],
  [['openpgp-sign', 'openpgp-date'], 200],
])('who may %s gets %i for a date of its own, which could be before a revocation', async (actions, status) => {
  const policy = `dates-${actions.length}`;
  await victim.makePolicy(
    policy,
    actions.map((action) => ({ path: `${keyState}/release/${action}`, operations: { execute: 'allow' } })),
  );
  const token = await victim.makeToken([policy]);
  const trailer = (await victim.request('POST', `${keyState}/release/openpgp-trailer`, {})).body;
  const body = { text: '', 'signed-at': Math.floor(Temporal.Instant.from(trailer['signed-at']).epochMilliseconds / 1000) };
  expect((await victim.request('POST', `${keyState}/release/openpgp-sign`, body, { token })).status).toBe(status);
});
