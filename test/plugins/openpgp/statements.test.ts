// What an OpenPGP key says of itself, and how that changes: expiry, several User IDs, their revocation; hash and notations of a signature.
import { createMessage, type Key, readKey, readSignature, type SignaturePacket, verify } from 'openpgp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryDirectory } from '../../harness/temporary.ts';
import type { Answer } from '../../harness/appliance.ts';
import { codeOf, type OpenpgpHarness, startOpenpgpHarness } from './harness.ts';

const path = temporaryDirectory();
const data = Buffer.from('Some data');
const day = 86_400;
let harness: OpenpgpHarness;
beforeAll(async () => {
  harness = await startOpenpgpHarness(path(), '2026-01-01T00:00:00Z');
});
afterAll(() => harness.close());

const made = Math.floor(Date.parse('2026-01-01T00:00:00Z') / 1000);

async function certificateOf(name: string): Promise<Key> {
  return readKey({ armoredKey: await harness.block(name) });
}

/** Whether the block of today verifies a signature; at its own date, or as verifiers do that know nothing of later days. */
async function verifies(name: string, armoredSignature: string): Promise<boolean> {
  const { signatures } = await verify({
    message: await createMessage({ binary: data }),
    signature: await readSignature({ armoredSignature }),
    verificationKeys: await certificateOf(name),
    format: 'binary',
    date: harness.today(),
  });
  return (await signatures[0]?.verified?.catch(() => false)) === true;
}

const secondsOf = (date: Date | typeof Infinity | null): number | undefined =>
  date instanceof Date ? Math.floor(date.getTime() / 1000) : undefined;

test('a primary key expires, lives longer, and does not expire: what it signed before stays good', async () => {
  await harness.create('life', { cipher: 'ed25519', 'openpgp-user-id': 'Ada <ada@example.org>', 'openpgp-expires-after': '10d' });
  const first = await harness.sign('life', data);
  expect(secondsOf(await (await certificateOf('life')).getExpirationTime())).toBe(made + 10 * day);
  harness.clock.advance(5 * day);
  expect((await harness.patch('life', { 'openpgp-expires-after': '30d' })).status).toBe(204);
  expect((await harness.config('life'))['openpgp-expires-after']).toBe('30d');
  expect(secondsOf(await (await certificateOf('life')).getExpirationTime())).toBe(made + 30 * day);
  expect([await verifies('life', first), await harness.isValid('life', first, data)]).toEqual([true, true]);
  harness.clock.advance(20 * day);
  const second = await harness.sign('life', data);
  expect((await harness.patch('life', { 'openpgp-expires-after': null })).status).toBe(204);
  const block = await certificateOf('life');
  expect(await block.getExpirationTime()).toBe(Infinity);
  for (const signature of [first, second])
    expect([await verifies('life', signature), await harness.isValid('life', signature, data)]).toEqual([true, true]);
  // The first statement, dated as the key, and the one in force.
  expect(block.users[0]?.selfCertifications.map(({ created }) => secondsOf(created))).toEqual([made, made + 2]);
  expect(await harness.findings()).toEqual([]);
});

test('a key that has expired signs nothing, until it is extended', async () => {
  await harness.create('short', { cipher: 'ed25519', 'openpgp-user-id': 'Short', 'openpgp-expires-after': '1d' });
  const before = await harness.sign('short', data);
  harness.clock.advance(day);
  for (const action of ['openpgp-sign', 'openpgp-trailer'])
    expect(await codeOf(harness.act('short', action, action === 'openpgp-sign' ? { text: '' } : {}))).toEqual({
      status: 409,
      code: 'version-not-allowed',
    });
  expect(await harness.isValid('short', before, data)).toBe(true);
  expect((await harness.patch('short', { 'openpgp-expires-after': '2d' })).status).toBe(204);
  expect(await verifies('short', await harness.sign('short', data))).toBe(true);
});

test('a subkey expires by itself, and with its primary key', async () => {
  await harness.create('root', { cipher: 'ed25519', 'openpgp-user-id': 'Root' });
  await harness.create('leaf', {
    cipher: 'ed25519',
    'openpgp-primary': 'root',
    'openpgp-key-usage': ['sign'],
    'openpgp-expires-after': '2d',
  });
  const born = secondsOf(harness.today()) ?? 0;
  const signed = await harness.sign('leaf', data);
  const subkey = (await certificateOf('leaf')).subkeys[0];
  expect(secondsOf((await subkey?.getExpirationTime()) ?? null)).toBe(born + 2 * day);
  harness.clock.advance(day);
  expect((await harness.patch('leaf', { 'openpgp-expires-after': '20d' })).status).toBe(204);
  const extended = (await certificateOf('leaf')).subkeys[0];
  expect(extended?.bindingSignatures.map(({ created }) => secondsOf(created))).toEqual([born, born + 1]);
  expect(secondsOf((await extended?.getExpirationTime()) ?? null)).toBe(born + 20 * day);
  expect([await verifies('leaf', signed), await harness.isValid('leaf', signed, data)]).toEqual([true, true]);
  expect((await harness.patch('root', { 'openpgp-expires-after': '5d' })).status).toBe(204);
  harness.clock.advance(4 * day);
  expect(await codeOf(harness.act('leaf', 'openpgp-sign', { text: '' }))).toEqual({ status: 409, code: 'version-not-allowed' });
  expect(await verifies('leaf', signed)).toBe(true);
  expect((await harness.patch('root', { 'openpgp-expires-after': '50d' })).status).toBe(204);
  expect(await verifies('leaf', await harness.sign('leaf', data))).toBe(true);
  expect(await harness.findings()).toEqual([]);
});

test('changes in the second in which a key was made have dates one after the other; a clock behind them is refused', async () => {
  await harness.create('quick', { cipher: 'ed25519', 'openpgp-user-id': 'Quick' });
  const born = secondsOf(harness.today()) ?? 0;
  for (const life of ['2d', '3d']) expect((await harness.patch('quick', { 'openpgp-expires-after': life })).status).toBe(204);
  const dates = (key: Key) => key.users[0]?.selfCertifications.map(({ created }) => secondsOf(created));
  expect(dates(await certificateOf('quick'))).toEqual([born, born + 2]);
  const before = await harness.block('quick');
  harness.clock.advance(-10);
  const refused = await harness.patch('quick', { 'openpgp-expires-after': '4d' });
  harness.clock.advance(10);
  expect([refused.status, refused.body.code, refused.body.detail]).toEqual([
    409,
    'conflict',
    `The key has a self-signature dated ${new Date((born + 2) * 1000).toISOString().replace('.000', '')}, which the clock here has not reached. Correct the clock, or try again then.`,
  ]);
  expect(await harness.block('quick')).toBe(before);
});

test('several User IDs: the first field has the primary one, one goes, another is revoked for good', async () => {
  await harness.create('names', {
    cipher: 'ecdsa-p256',
    'openpgp-user-id': 'Ada <ada@example.org>',
    'openpgp-user-ids': ['Ada <ada@example.com>', 'Ada <ada@example.net>'],
  });
  const signed = await harness.sign('names', data);
  const block = await certificateOf('names');
  expect(block.getUserIDs()).toEqual(['Ada <ada@example.org>', 'Ada <ada@example.com>', 'Ada <ada@example.net>']);
  expect((await block.getPrimaryUser(harness.today())).user.userID?.userID).toBe('Ada <ada@example.org>');
  harness.clock.advance(3600);
  const change = {
    'openpgp-user-id': 'Ada <ada@example.com>',
    'openpgp-user-ids': ['Ada King <ada@example.edu>'],
    'openpgp-revoked-user-ids': ['Ada <ada@example.org>'],
  };
  expect((await harness.put('names', { ...(await harness.config('names')), ...change })).status).toBe(204);
  const later = await certificateOf('names');
  expect(later.getUserIDs()).toEqual(['Ada <ada@example.com>', 'Ada King <ada@example.edu>', 'Ada <ada@example.org>']);
  expect((await later.getPrimaryUser(harness.today())).user.userID?.userID).toBe('Ada <ada@example.com>');
  const former = later.users[2];
  const [revocation] = former?.revocationSignatures ?? [];
  expect([revocation?.signatureType, revocation?.reasonForRevocationFlag]).toEqual([0x30, 32]);
  expect(await former?.isRevoked(former.selfCertifications[0] as SignaturePacket, undefined, harness.today())).toBe(true);
  expect([await verifies('names', signed), await harness.isValid('names', signed, data)]).toEqual([true, true]);
  // The same octets after a change that concerns other things, and the revocation stays when the field forgets it.
  const before = await harness.block('names');
  expect((await harness.patch('names', { 'openpgp-published': true })).status).toBe(204);
  expect(await harness.block('names')).toBe(before);
  const without = { 'openpgp-revoked-user-ids': [], 'openpgp-user-ids': [] };
  expect((await harness.put('names', { ...(await harness.config('names')), ...without })).status).toBe(204);
  expect((await certificateOf('names')).getUserIDs()).toEqual(['Ada <ada@example.com>', 'Ada <ada@example.org>']);
  // A new key has never had it.
  await harness.do('names', 'rotate');
  expect((await certificateOf('names')).getUserIDs()).toEqual(['Ada <ada@example.com>']);
});

test('a User ID is moved to the revoked ones in one change, and a refusal says how', async () => {
  await harness.create('moved', { cipher: 'ed25519', 'openpgp-user-id': 'A', 'openpgp-user-ids': ['B'] });
  harness.clock.advance(3600);
  const refused = await harness.patch('moved', { 'openpgp-revoked-user-ids': ['B'] });
  expect([refused.status, refused.body.detail]).toEqual([400, expect.stringContaining('PATCH with lists=replace')]);
  const path = '/v1/config/keystore/transit-keys/moved?lists=replace';
  expect((await harness.request('PATCH', path, { 'openpgp-user-ids': [], 'openpgp-revoked-user-ids': ['B'] })).status).toBe(204);
  const former = (await certificateOf('moved')).users.find(({ userID }) => userID?.userID === 'B');
  expect(former?.revocationSignatures).toHaveLength(1);
});

test('a block keeps a bounded number of revoked User IDs, whatever the field forgets', async () => {
  await harness.create('crowd', { cipher: 'ed25519', 'openpgp-user-id': 'Crowd' });
  const revoke = async (round: string, count: number): Promise<Answer> => {
    harness.clock.advance(60);
    const revoked = Array.from({ length: count }, (_, at) => `${round} ${at}`);
    return harness.put('crowd', { ...(await harness.config('crowd')), 'openpgp-revoked-user-ids': revoked });
  };
  for (const round of ['a', 'b']) expect((await revoke(round, 32)).status).toBe(204);
  const before = await harness.block('crowd');
  const refused = await revoke('c', 1);
  expect([refused.status, refused.body.code, refused.body.detail]).toEqual([
    409,
    'conflict',
    expect.stringContaining('keeps 64 revoked User IDs at most'),
  ]);
  expect(await harness.block('crowd')).toBe(before);
  // What adds none goes on.
  for (const round of ['a', 'b']) expect((await revoke(round, 32)).status).toBe(204);
  expect((await harness.patch('crowd', { 'openpgp-expires-after': '2d' })).status).toBe(204);
  expect((await certificateOf('crowd')).users).toHaveLength(65);
});

test('fields that contradict each other are refused', async () => {
  const primary = { cipher: 'ed25519', 'openpgp-user-id': 'A' };
  for (const fields of [
    { ...primary, 'openpgp-user-ids': ['A'] },
    { ...primary, 'openpgp-user-ids': ['B', 'B'] },
    { ...primary, 'openpgp-user-ids': ['B'], 'openpgp-revoked-user-ids': ['B'] },
    { ...primary, 'openpgp-revoked-user-ids': ['A'] },
    { ...primary, 'openpgp-expires-after': '59m' },
    { cipher: 'ed25519', 'openpgp-user-ids': ['B'] },
    { cipher: 'ed25519', 'openpgp-expires-after': '1y' },
    { cipher: 'ed25519', 'openpgp-primary': 'root', 'openpgp-key-usage': ['sign'], 'openpgp-packet-version': 6 },
  ])
    expect([fields, await codeOf(harness.request('POST', '/v1/config/keystore/transit-keys', { name: 'wrong', ...fields }))]).toEqual([
      fields,
      { status: 400, code: 'invalid-value' },
    ]);
});

const hashes = { sha256: 8, sha384: 9, sha512: 10 };

test.each([
  ['rsa-2048', ['sha256', 'sha384', 'sha512']],
  ['ed25519', ['sha256', 'sha384', 'sha512']],
  ['ecdsa-p256', ['sha256', 'sha384', 'sha512']],
  ['ecdsa-p384', ['sha384', 'sha512']],
] as const)('%s signs with %j, and with no shorter hash', async (cipher, offered) => {
  await harness.create(`hash-${cipher}`, { cipher, 'openpgp-user-id': cipher });
  for (const hash of offered) {
    const wish = { text: data.toString('base64'), 'hash-algorithm': hash };
    const { signature } = await harness.do(`hash-${cipher}`, 'openpgp-sign', wish);
    expect((await readSignature({ armoredSignature: signature })).packets[0]?.hashAlgorithm).toBe(hashes[hash]);
    expect([await verifies(`hash-${cipher}`, signature), await harness.isValid(`hash-${cipher}`, signature, data)]).toEqual([true, true]);
    expect((await harness.do(`hash-${cipher}`, 'openpgp-trailer', { 'hash-algorithm': hash }))['hash-algorithm']).toBe(hash);
  }
  const shorter = Object.keys(hashes).filter((hash) => !offered.some((one) => one === hash));
  for (const hash of shorter)
    expect(await codeOf(harness.act(`hash-${cipher}`, 'openpgp-sign', { text: '', 'hash-algorithm': hash }))).toEqual({
      status: 400,
      code: 'invalid-value',
    });
});

test('notations are in the signature, readable and not critical', async () => {
  const notations = [
    { name: 'build@example.org', value: 'job 4711' },
    { name: 'source@example.org', value: 'Zwölf' },
  ];
  const { signature } = await harness.do('root', 'openpgp-sign', { text: data.toString('base64'), notations });
  const [packet] = (await readSignature({ armoredSignature: signature })).packets;
  expect(
    packet?.rawNotations.map(({ name, value, humanReadable, critical }) => [name, Buffer.from(value).toString(), humanReadable, critical]),
  ).toEqual(notations.map(({ name, value }) => [name, value, true, false]));
  expect(await verifies('root', signature)).toBe(true);
  expect(await codeOf(harness.act('root', 'openpgp-sign', { text: '', notations: [{ name: 'nobody', value: '' }] }))).toEqual({
    status: 400,
    code: 'invalid-value',
  });
});
