// npm test -- cluster: keys of X-Wing, of which each version has two private keys, at both members: used, rotated, trimmed and deleted.
import { mkdirSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryDirectory } from '../harness/temporary.ts';
import { makeKryopticToken, obtainKryoptic } from '../harness/token/kryoptic.ts';
import { endMember, type Member, prepareCluster, type Shared, startMember } from './daemons.ts';

const path = temporaryDirectory();
const state = '/v1/state/keystore/transit-keys/later';
let shared: Shared;
let members: readonly Member[] = [];

type Secret = { readonly ciphertext: string; readonly 'shared-secret': string };

beforeAll(async () => {
  const kryoptic = await obtainKryoptic();
  if ('missing' in kryoptic) throw new Error(`kryoptic is missing: ${kryoptic.missing}`);
  mkdirSync(path('token'));
  const prepared = { ...(await prepareCluster(path)), token: await makeKryopticToken(kryoptic, path('token')) };
  const first = await startMember(prepared, 'a');
  members = [first];
  shared = { ...prepared, rootToken: first.rootToken };
  members = [first, await startMember(shared, 'b')];
  const key = { name: 'later', cipher: 'mlkem768-x25519', 'allow-shared-secret': true, 'deletion-allowed': true };
  await first.request('POST', '/v1/config/keystore/transit-keys', key);
});
afterAll(async () => {
  for (const member of members) await endMember(member).catch(() => undefined);
  await shared?.etcd.stop();
});

const encapsulated = async (member: Member) => (await member.request('POST', `${state}/encapsulate`, {})) as Secret;

async function expectOpened({ ciphertext, 'shared-secret': secret }: Secret): Promise<void> {
  for (const member of members)
    expect(await member.request('POST', `${state}/decapsulate`, { ciphertext })).toMatchObject({ 'shared-secret': secret });
}

test('each member opens what any has encapsulated, also to the version that the other has made, and both hold its two keys', async () => {
  const [one, other] = members as [Member, Member];
  await expectOpened(await encapsulated(other));
  await other.request('POST', `${state}/rotate`, {});
  await expectOpened(await encapsulated(one));
  const { complete, appliances } = (await one.request('GET', `${state}/distribution`)) as { complete: boolean; appliances: object[] };
  expect({ complete, states: appliances }).toMatchObject({ complete: true, states: [{ state: 'holds' }, { state: 'holds' }] });
});

test('a member that starts again opens what was made before', async () => {
  const [one, other] = members as [Member, Member];
  const before = await encapsulated(one);
  await endMember(other);
  members = [one, await startMember(shared, 'b')];
  await expectOpened(before);
});

test('versions that one member trims, and the key that it deletes, are gone at the other', async () => {
  const [one, other] = members as [Member, Member];
  const first = await encapsulated(one);
  await one.request('POST', `${state}/rotate`, {});
  await one.request('POST', `${state}/trim`, { version: 3 });
  const { ciphertext } = first;
  expect((await other.exchange('POST', `${state}/decapsulate`, { ciphertext })).body).toMatchObject({ code: 'version-unknown' });
  await other.request('DELETE', '/v1/config/keystore/transit-keys/later');
  expect((await one.exchange('GET', state)).status).toBe(404);
});
