// Keys that were OpenPGP keys elsewhere keep their fingerprints: private key blocks with and without passphrase, and PEM with a time.
import { generateKeyPairSync } from 'node:crypto';
import {
  createMessage,
  encryptKey,
  enums,
  generateKey,
  type PartialConfig,
  type PrivateKey,
  readKey,
  readPrivateKey,
  readSignature,
  revokeKey,
  verify,
} from 'openpgp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { base64, codeOf, type OpenpgpHarness, startOpenpgpHarness } from './harness.ts';

const path = temporaryDirectory();
const userId = 'Ada <ada@example.org>';
const data = Buffer.from('Some data');
const date = new Date('2020-02-03T04:05:06Z');
let harness: OpenpgpHarness;
beforeAll(async () => {
  harness = await startOpenpgpHarness(path(), '2026-01-01T00:00:00Z');
});
afterAll(() => harness.close());

type Made = { readonly key: PrivateKey; readonly armored: string };

async function make(type: 'rsa' | 'curve25519Legacy' | 'nistP256' | 'nistP521'): Promise<Made> {
  const kind = type === 'rsa' ? { type: 'rsa' as const, rsaBits: 2048 } : { type: 'ecc' as const, curve: type as never };
  const key = { userIDs: [{ name: 'Ada', email: 'ada@example.org' }], subkeys: [{ sign: true }], date, format: 'object' as const, ...kind };
  const { privateKey } = await generateKey(key as never);
  const made = privateKey as unknown as PrivateKey;
  return { key: made, armored: made.armor() };
}

async function importInto(name: string, cipher: string, body: object, fields: object = { 'openpgp-user-id': userId }) {
  await harness.create(name, { cipher, ...fields });
  return harness.act(name, 'import', { 'as-version': 1, ...body });
}

async function accepts(keyblock: string, signature: string): Promise<boolean> {
  const { signatures } = await verify({
    message: await createMessage({ binary: data }),
    signature: await readSignature({ armoredSignature: signature }),
    verificationKeys: await readKey({ armoredKey: keyblock }),
    format: 'binary',
    date: harness.today(),
  });
  return (await signatures[0]?.verified.catch(() => false)) ?? false;
}

// Reading and opening are the same for all types: each type is tried once, the ways on one of them.
test.each([
  ['rsa', 'rsa-2048'],
  ['curve25519Legacy', 'ed25519'],
  ['nistP256', 'ecdsa-p256'],
  ['nistP521', 'ecdsa-p521'],
] as const)('a protected block of %s keeps its fingerprint, and the published block verifies what the key signs', async (type, cipher) => {
  const { key } = await make(type);
  const name = `own-${cipher}`;
  const locked = await encryptKey({ privateKey: key, passphrase: 'open sesame' });
  expect((await importInto(name, cipher, { data: locked.armor(), passphrase: 'open sesame' })).status).toBe(204);
  expect((await readKey({ armoredKey: await harness.block(name) })).getFingerprint()).toBe(key.getFingerprint());
  expect(await accepts(key.toPublic().armor(), await harness.sign(name, data))).toBe(true);
});

test('a signing subkey keeps its fingerprint under its primary key, and both blocks verify what it signs', async () => {
  const { key, armored } = await make('nistP256');
  expect((await importInto('primary', 'ecdsa-p256', { data: armored })).status).toBe(204);
  const role = { 'openpgp-primary': 'primary', 'openpgp-key-usage': ['sign'] };
  const fingerprint = key.subkeys[0]?.getFingerprint() ?? '';
  expect((await importInto('leaf', 'ecdsa-p256', { data: armored, 'openpgp-fingerprint': fingerprint }, role)).status).toBe(204);
  const block = await harness.block('leaf');
  const ours = await readKey({ armoredKey: block });
  expect([ours.getFingerprint(), ours.subkeys[0]?.getFingerprint()]).toEqual([key.getFingerprint(), fingerprint]);
  const signature = await harness.sign('leaf', data);
  expect([await accepts(key.toPublic().armor(), signature), await accepts(block, signature)]).toEqual([true, true]);
  // Without a fingerprint, the one subkey that signs is meant.
  expect((await importInto('leaf-too', 'ecdsa-p256', { data: armored }, role)).status).toBe(204);
  expect((await readKey({ armoredKey: await harness.block('leaf-too') })).subkeys[0]?.getFingerprint()).toBe(fingerprint);
});

test('what was signed elsewhere verifies here after the import', async () => {
  const { key, armored } = await make('nistP256');
  await importInto('moved', 'ecdsa-p256', { data: armored });
  const { sign } = await import('openpgp');
  const signature = await sign({
    message: await createMessage({ binary: data }),
    signingKeys: key,
    detached: true,
    date: new Date('2025-01-01'),
    signingKeyIDs: [key.getKeyID()],
  } as never);
  expect(await harness.isValid('moved', String(signature), data)).toBe(true);
});

test('User IDs, subkeys and earlier self-signatures of a block stay, below a new statement', async () => {
  const { privateKey } = await generateKey({
    userIDs: [
      { name: 'Ada', email: 'ada@example.org' },
      { name: 'Ada', email: 'ada@example.com' },
    ],
    subkeys: [{ sign: true }, {}],
    keyExpirationTime: 7 * 365 * 86_400,
    ...{ date, format: 'object', type: 'ecc', curve: 'nistP256' },
  } as never);
  const key = privateKey as unknown as PrivateKey;
  await importInto('kept', 'ecdsa-p256', { data: key.armor() });
  const alone = await readKey({ armoredKey: await harness.block('kept') });
  expect([alone.getUserIDs(), alone.subkeys]).toEqual([[userId, 'Ada <ada@example.com>'], []]);
  const dates = alone.users.map(({ selfCertifications }) =>
    selfCertifications.map(({ created }) => (created?.getTime() ?? 0) - date.getTime()),
  );
  expect(dates).toEqual([
    [0, 1000],
    [0, 1000],
  ]);
  // The newest statement has the expiry of the definition: none.
  expect(await alone.getExpirationTime()).toBe(Infinity);
  const whole = async (): Promise<readonly string[]> => {
    const { keys } = await harness.do('kept', 'export-openpgp-public', { subkeys: true });
    return (await readKey({ armoredKey: keys[0].keyblock })).subkeys.map((subkey) => subkey.getFingerprint());
  };
  const both = key.subkeys.map((subkey) => subkey.getFingerprint());
  expect(await whole()).toEqual(both);
  // The one that signs moves in as well: it is in the block once.
  const role = { 'openpgp-primary': 'kept', 'openpgp-key-usage': ['sign'] };
  const fields = { data: key.armor(), 'openpgp-fingerprint': both[0] };
  expect((await importInto('kept-leaf', 'ecdsa-p256', fields, role)).status).toBe(204);
  expect((await whole()).toSorted()).toEqual(both.toSorted());
  const leaf = await readKey({ armoredKey: await harness.block('kept-leaf') });
  expect(leaf.subkeys[0]?.bindingSignatures).toHaveLength(2);
  expect(await leaf.subkeys[0]?.getExpirationTime()).toBe(Infinity);
  // A later change keeps what came, and a User ID that came can be revoked.
  expect(
    (await harness.patch('kept', { 'openpgp-revoked-user-ids': ['Ada <ada@example.com>'], 'openpgp-expires-after': '20y' })).status,
  ).toBe(204);
  const later = await readKey({ armoredKey: await harness.block('kept') });
  expect(
    later.users.map(({ selfCertifications, revocationSignatures }) => [selfCertifications.length, revocationSignatures.length]),
  ).toEqual([
    [2, 0],
    [1, 1],
  ]);
  expect((await later.getExpirationTime())?.valueOf()).toBe(date.getTime() + 20 * 365 * 86_400_000);
  expect(await whole()).toHaveLength(2);
  expect(await harness.findings()).toEqual([]);
});

test('PEM with the time of creation has the same fingerprint as the block', async () => {
  const { privateKey } = generateKeyPairSync('ed25519');
  const pem = privateKey.export({ format: 'pem', type: 'pkcs8' });
  const seconds = date.getTime() / 1000;
  expect((await importInto('of-pem', 'ed25519', { data: pem, 'openpgp-created': seconds })).status).toBe(204);
  expect((await importInto('of-pem-too', 'ed25519', { data: pem, 'openpgp-created': seconds })).status).toBe(204);
  const [one, other] = [
    await readKey({ armoredKey: await harness.block('of-pem') }),
    await readKey({ armoredKey: await harness.block('of-pem-too') }),
  ];
  expect([one.getCreationTime(), one.getFingerprint()]).toEqual([date, other.getFingerprint()]);
  expect(await harness.isValid('of-pem', await harness.sign('of-pem', data), data)).toBe(true);
});

test('an exported key comes back with its fingerprint', async () => {
  await harness.create('leaving', { cipher: 'rsa-2048', exportable: true, 'openpgp-user-id': userId });
  const { keys } = await harness.do('leaving', 'export', { format: 'openpgp' });
  expect((await importInto('returned', 'rsa-2048', { data: keys[0].value })).status).toBe(204);
  const [returned, leaving] = await Promise.all(
    ['returned', 'leaving'].map(async (name) => readKey({ armoredKey: await harness.block(name) })),
  );
  expect([returned?.getFingerprint(), returned?.getUserIDs()]).toEqual([leaving?.getFingerprint(), [userId]]);
  // Its own statement is newer than the one that it came with.
  expect([leaving, returned].map((one) => one?.users[0]?.selfCertifications.length)).toEqual([1, 2]);
});

describe('refusals', () => {
  let made: Made;
  const ciphers = { rsa: 'rsa-2048', nistP256: 'ecdsa-p256', curve25519Legacy: 'ed25519' } as const;
  const contradicting: Partial<Record<keyof typeof ciphers, [string, Made]>> = {};
  beforeAll(async () => {
    made = await make('nistP256');
    await harness.create('target', { cipher: 'ecdsa-p256', 'openpgp-user-id': userId });
    await harness.create('plain', { cipher: 'ecdsa-p256' });
  });
  const refused = (name: string, body: object) => codeOf(harness.act(name, 'import', body));

  test.each([
    ['a public block', () => ({ data: made.key.toPublic().armor() }), 'invalid-key-data'],
    ['two blocks', () => ({ data: made.armored + made.armored }), 'invalid-key-data'],
    ['a torn block', () => ({ data: made.armored.replace(/\n[^\n]+\n=/, '\n=') }), 'invalid-key-data'],
    ['a key that the block does not have', () => ({ data: made.armored, 'openpgp-fingerprint': '0'.repeat(40) }), 'invalid-key-data'],
    ['a passphrase for a block without', () => ({ data: made.armored, passphrase: 'x' }), 'invalid-value'],
    ['a time beside a block', () => ({ data: made.armored, 'openpgp-created': 1 }), 'invalid-value'],
    ['a fingerprint beside something else', () => ({ data: base64('x'), 'openpgp-fingerprint': '0'.repeat(40) }), 'invalid-value'],
  ])('%s', async (_what, body, code) => {
    expect(await refused('target', body())).toEqual({ status: 400, code });
  });

  test.each(['primary key', 'subkey'] as const)('a %s that is revoked in the block, for whatever reason', async (which) => {
    const reasonForRevocation = { flag: enums.reasonForRevocation.keyRetired };
    const block = await readPrivateKey({ binaryKey: made.key.write() });
    const [subkey] = block.subkeys;
    if (subkey === undefined) throw new Error('the key has a subkey');
    if (which === 'subkey') block.subkeys[0] = await subkey.revoke(block.keyPacket as never, reasonForRevocation);
    const { privateKey } =
      which === 'subkey' ? { privateKey: block } : await revokeKey({ key: block, reasonForRevocation, format: 'object' });
    const revoked = (which === 'subkey' ? subkey : block).getFingerprint();
    const body = { data: privateKey.armor(), 'openpgp-fingerprint': revoked };
    const answer = await harness.act('target', 'import', body);
    expect([answer.status, answer.body.code, answer.body.detail]).toEqual([
      400,
      'invalid-key-data',
      expect.stringContaining(`${revoked.toUpperCase()} is revoked`),
    ]);
  });

  test('another passphrase, and none', async () => {
    const locked = (await encryptKey({ privateKey: made.key, passphrase: 'open sesame' })).armor();
    expect(await refused('target', { data: locked })).toEqual({ status: 400, code: 'missing-field' });
    expect(await refused('target', { data: locked, passphrase: 'wrong' })).toEqual({ status: 400, code: 'invalid-key-data' });
  });

  test('more work than a second of Argon2, before it is done; less is taken', async () => {
    const config: PartialConfig = {
      s2kType: enums.s2k.argon2,
      aeadProtect: true,
      s2kArgon2Params: { passes: 2, parallelism: 1, memoryExponent: 10 },
    };
    const locked = await encryptKey({ privateKey: made.key, passphrase: 'open sesame', config });
    const body = { passphrase: 'open sesame', 'as-version': 1 };
    await harness.create('argon2', { cipher: 'ecdsa-p256', 'openpgp-user-id': userId });
    for (const [t, encodedM] of [
      [255, 16],
      [11, 16],
      [1, 21],
    ]) {
      const costly = await readPrivateKey({ binaryKey: locked.write() });
      Object.assign((costly.keyPacket as unknown as { s2k: object }).s2k, { t, encodedM });
      const answer = await harness.act('argon2', 'import', { ...body, data: costly.armor() });
      expect([answer.status, answer.body?.code, answer.body?.detail]).toEqual([400, 'invalid-key-data', expect.stringContaining('Argon2')]);
    }
    expect((await harness.act('argon2', 'import', { ...body, data: locked.armor() })).status).toBe(204);
  });

  test('more blocks at once than may wait: busy, and none of them is begun', async () => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => harness.act('target', 'import', { data: made.armored, passphrase: 'needless' })),
    );
    const statuses = answers.map(({ status }) => status).toSorted((one, other) => one - other);
    expect(statuses).toEqual([...Array<number>(8).fill(400), ...Array<number>(4).fill(503)]);
  });

  test.each([
    ['p = 1', 'rsa', 'privateParams', 'p', Uint8Array.of(1)],
    ['an enormous p', 'rsa', 'privateParams', 'p', new Uint8Array(8191).fill(255)],
    ['d of another key', 'nistP256', 'privateParams', 'd', new Uint8Array(32).fill(3)],
    ['d beyond the order', 'nistP256', 'privateParams', 'd', new Uint8Array(32).fill(255)],
    ['a point off the curve', 'nistP256', 'publicParams', 'Q', new Uint8Array(65).fill(4)],
    ['a seed of another key', 'curve25519Legacy', 'privateParams', 'seed', new Uint8Array(32).fill(9)],
  ] as const)('numbers that contradict each other: %s', async (_what, type, part, name, octets) => {
    const [cipher, key] = (contradicting[type] ??= [ciphers[type], await make(type)]);
    const changed = await readPrivateKey({ binaryKey: key.key.write() });
    const packet = changed.keyPacket as unknown as Record<typeof part, object>;
    packet[part] = { ...packet[part], [name]: octets };
    const answer = await harness.act(`own-${cipher}`, 'import', { data: changed.armor() });
    expect([answer.status, answer.body?.code]).toEqual([400, 'invalid-key-data']);
  });

  test('a time for a key without OpenPGP role, and one of the future', async () => {
    const pem = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'pem', type: 'pkcs8' });
    expect((await refused('plain', { data: pem, 'openpgp-created': 1 })).code).toBe('invalid-value');
    expect((await refused('target', { data: pem, 'openpgp-created': 4_000_000_000 })).code).toBe('invalid-value');
  });

  test('a block of another type than the key', async () => {
    const { armored } = await make('curve25519Legacy');
    expect((await refused('target', { data: armored })).code).toBe('key-type-mismatch');
  });

  test('the audit trail has no key, no passphrase', async () => {
    const text = JSON.stringify(harness.auditRecords());
    expect([text.includes('open sesame'), text.includes('PRIVATE KEY BLOCK')]).toEqual([false, false]);
  });
});

test('the invariants hold', async () => {
  expect(await harness.findings()).toEqual([]);
});
