// Public URLs of OpenPGP keys: everything that verifies what a published key and its subkeys signed, and nothing of any other key.
import { readKeys } from 'openpgp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EndpointCall } from '../../../core/http/endpoint.ts';
import { requireSignAsWell } from '../../../plugins/openpgp/actions/request.ts';
import { directoryHash } from '../../../plugins/openpgp/published/lookups.ts';
import type { OpenpgpKey, OpenpgpVersion } from '../../../plugins/openpgp/records.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { codeOf, type OpenpgpHarness, startOpenpgpHarness } from './harness.ts';

const path = temporaryDirectory();
let harness: OpenpgpHarness;
let tenant: string;
beforeAll(async () => {
  harness = await startOpenpgpHarness(path(), '2026-01-01T00:00:00Z');
  await harness.create('archive', { cipher: 'ed25519', 'openpgp-user-id': 'Archive <archive@example.org>' });
  await harness.create('builds', { cipher: 'ed25519', 'openpgp-primary': 'archive', 'openpgp-key-usage': ['sign'] });
  for (const name of ['builds', 'archive', 'builds']) await harness.do(name, 'rotate');
  await harness.patch('archive', { 'openpgp-published': true });
  tenant = String((await harness.do('archive', 'export-openpgp-public'))['public-path']).split('/')[3] ?? '';
  await harness.patch('archive', { 'openpgp-published': false });
});
afterAll(() => harness.close());

const url = (key: string, file: string, of = tenant): string => `/v1/openpgp/${of}/${key}/${file}`;
const fetchPublic = (key: string, file = 'key.asc', of?: string) => harness.send('GET', url(key, file, of), undefined, { token: '' });

test('a key is not public until openpgp-published is set, and not when it is taken back', async () => {
  const unknown = await codeOf(fetchPublic('nothing'));
  expect(unknown).toEqual({ status: 404, code: 'not-found' });
  expect(await codeOf(fetchPublic('archive'))).toEqual(unknown);
  expect((await harness.patch('archive', { 'openpgp-published': true })).status).toBe(204);
  expect((await fetchPublic('archive')).status).toBe(200);
  expect((await harness.config('archive'))['openpgp-published']).toBe(true);
  expect((await harness.patch('archive', { 'openpgp-published': false })).status).toBe(204);
  expect(await codeOf(fetchPublic('archive'))).toEqual(unknown);
});

test('the files have what export-openpgp-public answers of all versions with subkeys', async () => {
  await harness.patch('archive', { 'openpgp-published': true });
  const { keys } = await harness.do('archive', 'export-openpgp-public', { version: 'all', subkeys: true });
  const armored = await fetchPublic('archive');
  expect(await harness.do('archive', 'export-openpgp-public')).toMatchObject({ 'public-path': url('archive', 'key.asc') });
  expect([armored.headers['content-type'], armored.text]).toEqual(['application/pgp-keys', keys[0].keyblock]);
  const certificates = await readKeys({ armoredKeys: armored.text });
  expect(certificates.map(({ subkeys }) => subkeys.length)).toEqual([1, 2]);
  expect((await fetchPublic('archive', 'key.pgp')).headers['content-type']).toBe('application/octet-stream');
});

test('clients of a Web Key Directory ask with the local part of the address', async () => {
  expect((await fetchPublic('archive', 'key.pgp?l=archive')).status).toBe(200);
  expect((await fetchPublic('archive', 'key.pgp?x=1')).status).toBe(400);
});

const ask = (query: string, of = tenant) => harness.send('GET', `/v1/openpgp/${of}/pks/lookup?${query}`, undefined, { token: '' });
const directory = (domain: string, hash: string) =>
  harness.send('GET', `/v1/openpgp/${tenant}/wkd/${domain}/hu/${hash}?l=archive`, undefined, { token: '' });

describe('found by fingerprint, key ID and address', () => {
  beforeAll(async () => {
    await harness.create('hidden', { cipher: 'ed25519', 'openpgp-user-id': 'Hidden <hidden@example.org>' });
    const users = { 'openpgp-user-id': 'Release <release@example.org>', 'openpgp-user-ids': ['security@example.com', 'No address'] };
    await harness.create('release', { cipher: 'ecdsa-p256', 'openpgp-published': true, ...users });
    await harness.patch('archive', { 'openpgp-published': true });
    harness.clock.advance(10);
  });

  test('a letter that lower-cases to another one is not that one', async () => {
    await harness.create('kelvin', { cipher: 'ed25519', 'openpgp-published': true, 'openpgp-user-id': '<\u212Aelvin@example.org>' });
    harness.clock.advance(10);
    expect((await ask('search=kelvin@example.org')).status).toBe(404);
    expect((await directory('example.org', directoryHash('kelvin'))).status).toBe(404);
    expect((await ask(`search=${encodeURIComponent('\u212AELVIN@example.ORG')}`)).status).toBe(200);
    expect((await harness.patch('kelvin', { 'openpgp-published': false })).status).toBe(204);
    harness.clock.advance(10);
  });

  test('the certificate of a version of the primary key, also by the fingerprint or key ID of a subkey', async () => {
    for (const version of [1, 2]) {
      const [certificate] = await readKeys({ armoredKeys: await harness.block('archive', version) });
      const fingerprint = certificate?.getFingerprint() ?? '';
      const found = await ask(`op=get&options=mr&search=0x${fingerprint}&exact=on`);
      expect([found.status, found.headers['content-type']]).toEqual([200, 'application/pgp-keys']);
      const [only, ...others] = await readKeys({ armoredKeys: found.text });
      expect([only?.getFingerprint(), only?.subkeys.length, others]).toEqual([fingerprint, version === 1 ? 2 : 1, []]);
      for (const key of only?.getKeys() ?? []) {
        for (const search of [key.getFingerprint().toUpperCase(), key.getKeyID().toHex()])
          expect((await ask(`search=0x${search}`)).text).toBe(found.text);
      }
    }
  });

  test('an address finds every version, in a key server and in a directory', async () => {
    const found = await ask('op=get&search=archive%40example.org');
    expect((await readKeys({ armoredKeys: found.text })).map(({ subkeys }) => subkeys.length)).toEqual([1, 2]);
    expect((await ask('op=get&search=Archive+%3CARCHIVE%40example.ORG%3E')).text).toBe(found.text);
    const listed = await directory('example.org', directoryHash('archive'));
    expect([listed.status, listed.headers['content-type']]).toEqual([200, 'application/octet-stream']);
    for (const { headers } of [listed, found]) expect(headers['access-control-allow-origin']).toBe('*');
    expect((await ask('search=security%40example.com')).status).toBe(200);
    expect((await directory('example.com', directoryHash('archive'))).status).toBe(404);
    const policy = await harness.send('GET', `/v1/openpgp/${tenant}/wkd/example.org/policy`, undefined, { token: '' });
    expect([policy.status, policy.text]).toEqual([200, '']);
  });

  test('an index for machines has a line for each certificate and User ID', async () => {
    const { text, headers } = await ask('op=index&options=mr&search=release%40example.org');
    const fingerprint = (await readKeys({ armoredKeys: await harness.block('release') }))[0]?.getFingerprint().toUpperCase();
    expect(headers['content-type']).toMatch(/^text\/plain/);
    expect(text.split('\n')).toEqual([
      'info:1:1',
      expect.stringMatching(new RegExp(`^pub:${fingerprint}:19::\\d+::$`)),
      expect.stringMatching(/^uid:Release%20%3Crelease%40example.org%3E:\d+::$/),
      expect.stringMatching(/^uid:security%40example.com:/),
      expect.stringMatching(/^uid:No%20address:/),
      '',
    ]);
  });

  test('keys that are not public are not found, as ones that are not there', async () => {
    const hidden = (await readKeys({ armoredKeys: await harness.block('hidden') }))[0]?.getFingerprint();
    for (const search of [`0x${hidden}`, 'hidden%40example.org', `0x${'0'.repeat(40)}`, 'nobody%40example.org'])
      expect(await codeOf(ask(`op=get&search=${search}`))).toEqual({ status: 404, code: 'not-found' });
    expect((await ask('search=release%40example.org', '00000000-0000-4000-8000-000000000000')).status).toBe(404);
    await harness.patch('release', { 'openpgp-published': false });
    expect((await ask('search=release%40example.org')).status).toBe(404);
    await harness.patch('release', { 'openpgp-published': true });
    expect(await harness.findings()).toEqual([]);
  });

  test('short key IDs, other operations and other words are refused', async () => {
    for (const query of ['search=0x12345678', 'op=stats&search=archive%40example.org', 'op=get', 'search=archive'])
      expect([query, await codeOf(ask(query))]).toEqual([query, { status: 400, code: 'invalid-value' }]);
  });

  test('the hash of a local part is that of the draft', () => {
    expect(directoryHash('joe.doe')).toBe('iy9q119eutrkn8s1mk4r39qejnbu3n5q');
  });
});

test('another tenant has other keys', async () => {
  expect((await fetchPublic('archive', 'key.asc', '00000000-0000-4000-8000-000000000000')).status).toBe(404);
});

test('a subkey, and a key without OpenPGP role, cannot be published', async () => {
  expect(await codeOf(harness.patch('builds', { 'openpgp-published': true }))).toEqual({ status: 400, code: 'invalid-value' });
  expect(await codeOf(harness.request('POST', '/v1/config/keystore/transit-keys', { name: 'plain', 'openpgp-published': true }))).toEqual({
    status: 400,
    code: 'invalid-value',
  });
  expect((await fetchPublic('builds')).status).toBe(404);
});

test('openpgp-sign with a key whose signatures may be tokens, CMS or certificates needs the right to sign as well', () => {
  const judge = (isPublished: boolean, isCertified: boolean, allowed: readonly string[]) => () => {
    const access = { allowsAt: (at: readonly string[]) => allowed.includes(at.at(-1) ?? '') };
    requireSignAsWell({ access } as unknown as EndpointCall, { name: 'k', isPublished } as OpenpgpKey, { isCertified } as OpenpgpVersion);
  };
  expect(judge(false, false, [])).not.toThrow();
  for (const [isPublished, isCertified] of [
    [true, false],
    [false, true],
  ] as const) {
    expect(judge(isPublished, isCertified, ['openpgp-sign'])).toThrow(/path of sign/);
    expect(judge(isPublished, isCertified, ['sign'])).not.toThrow();
  }
});
