// Our own mistake: refusals of a use told which versions a key has to callers who may not read them.
import { beforeAll, expect, test } from 'vitest';
import { startVictim, type Victim } from '../victim.ts';

let victim: Victim;
const keys = '/v1/config/keystore/transit-keys';
const state = '/v1/state/keystore/transit-keys';
const rotations = 6;
let ciphertext: string;
let user: string;
let reader: string;

beforeAll(async () => {
  victim = await startVictim();
  await victim.request('POST', keys, { name: 'data' });
  ciphertext = (await victim.request('POST', `${state}/data/encrypt`, { plaintext: 'eA==' })).body.ciphertext;
  for (let made = 0; made < rotations; made++) await victim.request('POST', `${state}/data/rotate`);
  await victim.request('POST', `${state}/data/trim`, { version: 3 });
  await victim.request('PATCH', `${keys}/data`, { 'min-decryption-version': 5, 'min-encryption-version': 5 });
  await victim.request('POST', keys, { name: 'primary', cipher: 'ed25519', 'openpgp-user-id': 'Releases <r@example.com>' });
  await victim.request('POST', `${state}/primary/rotate`);
  const acting = { path: `${state}/*/*`, operations: { execute: 'allow', read: 'allow' } };
  const changing = { path: `${keys}/*`, operations: { update: 'allow' } };
  await victim.makePolicy('user-of-keys', [acting, changing]);
  await victim.makePolicy('reader-of-keys', [acting, changing, { path: `${state}/*`, operations: { read: 'allow' } }]);
  [user, reader] = [await victim.makeToken(['user-of-keys']), await victim.makeToken(['reader-of-keys'])];
});

const asVersion = (number: number): string => ciphertext.replace(':v1:', `:v${number}:`);

/** Requests that are refused for a version, none of which names the numbers that are looked for: 3, 5, 7 and 2 of the primary key. */
const refused: readonly (readonly [string, string, string, object | undefined, RegExp])[] = [
  ['decryption with a version that was trimmed', 'POST', 'data/decrypt', { ciphertext: 'V1' }, /versions 3 to 7/],
  ['decryption with a version that is barred', 'POST', 'data/decrypt', { ciphertext: 'V4' }, /below min-decryption-version/],
  [
    'encryption with a version that is barred',
    'POST',
    'data/encrypt',
    { plaintext: 'eA==', 'key-version': 4 },
    /below min-decryption-version/,
  ],
  ['encryption with a version that was never made', 'POST', 'data/encrypt', { plaintext: 'eA==', 'key-version': 9 }, /versions 3 to 7/],
  ['a trim beyond the latest version', 'POST', 'data/trim', { version: 9 }, /latest version is 7/],
  ['a custody statement', 'GET', 'data/custody?version=9', undefined, /versions 3 to 7/],
  ['a public block', 'POST', 'primary/export-openpgp-public', { version: 9 }, /latest is 2/],
];

test.each(refused)('%s', async (_, method, path, body, told) => {
  const text = JSON.stringify(body)?.replace('V1', ciphertext).replace('V4', asVersion(4));
  const send = (token: string, sent = text) => victim.request(method, `${state}/${path}`, sent, { token });
  const answer = await send(user);
  expect(answer.status, JSON.stringify(answer.body)).toBeGreaterThanOrEqual(400);
  expect(JSON.stringify(answer.body)).not.toMatch(told);
  expect([answer.body.detail.match(/\d+/g) ?? []].flat().filter((number: string) => ['2', '3', '5', '7'].includes(number))).toEqual([]);
  expect((await send(reader)).body.detail).toMatch(told);
  const item = JSON.parse(text ?? '{}') as object;
  if (!/(?:en|de)crypt$/.test(path)) return;
  const batch = JSON.stringify({ 'batch-input': [item] });
  const [unseen, seen] = [await send(user, batch), await send(reader, batch)].map(({ body: said }) =>
    JSON.stringify(said['batch-results']),
  );
  expect([told.test(unseen ?? ''), told.test(seen ?? '')]).toEqual([false, true]);
});

test('a minimum that was trimmed', async () => {
  const hiding = { path: `${state}/*`, operations: { read: 'allow' }, 'hide-fields': ['oldest-version'] };
  await victim.makePolicy('knows-latest', [{ path: `${keys}/*`, operations: { update: 'allow' } }, hiding]);
  const ask = async (token: string) =>
    (await victim.request('PATCH', `${keys}/data`, { 'min-decryption-version': 2 }, { token })).body.detail;
  expect(await ask(await victim.makeToken(['knows-latest']))).toBe('"min-decryption-version" 2 was trimmed.');
  expect(await ask(reader)).toMatch(/the oldest version left is 3/);
});
