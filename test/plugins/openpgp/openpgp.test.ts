// OpenPGP keys over the API: making, signing, verifying, rotating and renaming them; openpgp.js is the other side.
import { createHash, generateKeyPairSync } from 'node:crypto';
import { createMessage, type Key, readKey, readSignature, verify } from 'openpgp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { base64, codeOf, type OpenpgpHouse, startOpenpgpHouse } from './harness.ts';

const path = temporaryDirectory();
let house: OpenpgpHouse;
beforeAll(async () => {
  house = await startOpenpgpHouse(path(), '2026-01-01T00:00:00Z');
});
afterAll(() => house.close());

const userId = 'Ada Lovelace <ada@example.org>';
const data = Buffer.from('Some data.\r\nIn lines, one with a blank at its end \n');
const text = base64(data);
const wrong = Buffer.from('Other data.');

/** Whether openpgp.js accepts the signature over the text with the block, at the time of the house. */
async function accepts(keyblock: string, signature: string, octets: Uint8Array = data): Promise<boolean> {
  const { signatures } = await verify({
    message: await createMessage({ binary: octets }),
    signature: await readSignature({ armoredSignature: signature }),
    verificationKeys: await readKey({ armoredKey: keyblock }),
    format: 'binary',
    date: house.today(),
  });
  expect(signatures).toHaveLength(1);
  return (await signatures[0]?.verified.catch(() => false)) ?? false;
}

const sign = (name: string, fields: object = {}): Promise<string> => house.sign(name, data, fields);
const isValid = (name: string, signature: string, octets: Uint8Array = data): Promise<boolean> => house.isValid(name, signature, octets);
const fingerprintIn = async (keyblock: string, which: (key: Key) => { getFingerprint(): string } = (key) => key): Promise<string> =>
  which(await readKey({ armoredKey: keyblock }))
    .getFingerprint()
    .toUpperCase();
const subkeyOf = (key: Key): { getFingerprint(): string } => key.subkeys[0] ?? { getFingerprint: () => 'none' };

/** How many times the token has signed. */
function signatures(): number {
  return house.hsm.status().reduce((sum, token) => sum + (token.latencies['sign']?.count ?? 0), 0);
}

const ciphers = ['rsa-2048', 'rsa-3072', 'rsa-4096', 'ed25519', 'ecdsa-p256', 'ecdsa-p384', 'ecdsa-p521'];

describe.each(ciphers)('%s', (cipher) => {
  const [primary, subkey] = [`primary-${cipher}`, `subkey-${cipher}`];

  test('as primary key and as subkey: made, exported, signing, verifying', async () => {
    await house.create(primary, { cipher, 'openpgp-user-id': userId });
    await house.create(subkey, { cipher, 'openpgp-primary': primary, 'openpgp-key-usage': ['sign'] });
    for (const [name, which] of [[primary, (key: Key) => key] as const, [subkey, subkeyOf] as const]) {
      const keyblock = await house.block(name);
      expect(await house.block(name)).toBe(keyblock);
      const signature = await sign(name);
      expect(signature).toMatch(/^-----BEGIN PGP SIGNATURE-----\n\n[\s\S]*\n=[\w+/]{4}\n-----END PGP SIGNATURE-----\n$/);
      expect(await accepts(keyblock, signature)).toBe(true);
      expect(await accepts(keyblock, signature, wrong)).toBe(false);
      const fingerprint = await fingerprintIn(keyblock, which);
      expect(await house.do(name, 'openpgp-verify', { text, signature })).toEqual({
        valid: true,
        fingerprint,
        'key-id': fingerprint.slice(-16),
        version: 1,
        'key-version': 1,
        'signed-at': house.clock.now().round('second').toString({ fractionalSecondDigits: 6 }),
      });
      expect(await house.do(name, 'openpgp-verify', { text: base64(wrong), signature })).toEqual({ valid: false, 'key-version': 1 });
    }
  });

  test('a signature of the subkey is not one of the primary, and the other way round', async () => {
    expect(await isValid(primary, await sign(subkey))).toBe(false);
    expect(await isValid(subkey, await sign(primary))).toBe(false);
  });
});

describe('signing', () => {
  beforeAll(() => house.create('signer', { cipher: 'ecdsa-p256', 'openpgp-user-id': userId }));

  test('one C_Sign per signature, whatever the size of the data', async () => {
    const before = signatures();
    await house.sign('signer', new Uint8Array(8 * 1024 * 1024));
    expect(signatures() - before).toBe(1);
  });

  test('raw text is signed as its UTF-8, no newline changed', async () => {
    const raw = 'Zwölf\r\nBoxkämpfer\n\n';
    const { signature } = await house.do('signer', 'openpgp-sign', { text: raw, 'base64-encoded': false });
    expect(await isValid('signer', signature, Buffer.from(raw))).toBe(true);
    expect(await house.do('signer', 'openpgp-verify', { text: raw, 'base64-encoded': false, signature })).toMatchObject({ valid: true });
    expect(await isValid('signer', signature, Buffer.from(raw.replace('\r\n', '\n')))).toBe(false);
    expect(await codeOf(house.act('signer', 'openpgp-sign', { text: '\ud800', 'base64-encoded': false }))).toMatchObject({ status: 400 });
  });

  test('empty data can be signed', async () => {
    const nothing = new Uint8Array();
    expect(await isValid('signer', await house.sign('signer', nothing), nothing)).toBe(true);
  });

  test('format binary answers the packets in base64', async () => {
    const signature = await sign('signer', { format: 'binary' });
    expect(Buffer.from(signature, 'base64')[0]).toBe(0xc2);
    expect(await isValid('signer', signature)).toBe(true);
  });

  test('expires-after ends a signature', async () => {
    const signature = await sign('signer', { 'expires-after': '1h' });
    house.clock.advance(3599);
    expect([await isValid('signer', signature), await accepts(await house.block('signer'), signature)]).toEqual([true, true]);
    house.clock.advance(1);
    expect([await isValid('signer', signature), await accepts(await house.block('signer'), signature)]).toEqual([false, false]);
  });

  test('a clock set back behind the creation of the key does not date signatures before the key', async () => {
    await house.create('late', { cipher: 'ed25519', 'openpgp-user-id': userId });
    house.clock.step(-1000);
    const signature = await sign('late');
    house.clock.step(1000);
    expect(await accepts(await house.block('late'), signature)).toBe(true);
    expect(await isValid('late', signature)).toBe(true);
  });

  test('the audit trail has the version and the digest of the text, and neither text nor signature', async () => {
    const signature = await sign('signer');
    const record = house.auditRecords().findLast((one) => String(one['path']).endsWith('/openpgp-sign'));
    const digest = createHash('sha256').update(Buffer.from(text, 'base64')).digest('hex');
    expect(record).toMatchObject({ status: 200, 'key-version': 1, 'signed-digest': `sha256:${digest}` });
    expect(JSON.stringify(record)).not.toContain(text);
    expect(JSON.stringify(record)).not.toContain(signature.slice(60, 100));
  });

  test('a signature counts as one use, and so does the binding of a subkey (api 74)', async () => {
    await house.create('counted', { cipher: 'ed25519', 'openpgp-user-id': userId });
    await sign('counted');
    await sign('counted');
    expect((await house.state('counted')).usage['1'].uses).toBe(2);
    await house.create('bound', { cipher: 'ed25519', 'openpgp-primary': 'counted', 'openpgp-key-usage': ['sign'] });
    expect((await house.state('counted')).usage['1'].uses).toBe(3);
  });
});

describe('rotation', () => {
  test('of a primary is a new OpenPGP key; subkeys stay bound to the version that made them, new ones go to the newest', async () => {
    await house.create('root', { cipher: 'ed25519', 'openpgp-user-id': userId });
    await house.create('leaf', { cipher: 'ed25519', 'openpgp-primary': 'root', 'openpgp-key-usage': ['sign'] });
    const [oldBlock, oldLeaf, oldSignature] = [await house.block('root'), await house.block('leaf'), await sign('root')];
    house.clock.advance(10);
    await house.do('root', 'rotate');
    expect(await house.block('root', 1)).toBe(oldBlock);
    expect(await fingerprintIn(await house.block('root'))).not.toBe(await fingerprintIn(oldBlock));
    expect(await house.do('root', 'openpgp-verify', { text, signature: oldSignature })).toMatchObject({ valid: true, version: 1 });
    expect(await house.do('root', 'openpgp-verify', { text, signature: await sign('root') })).toMatchObject({ valid: true, version: 2 });
    expect(await isValid('root', await sign('root', { 'key-version': 1 }))).toBe(true);
    expect(await house.block('leaf')).toBe(oldLeaf);
    await house.do('leaf', 'rotate');
    const newLeaf = await house.block('leaf');
    expect(await fingerprintIn(oldLeaf)).toBe(await fingerprintIn(oldBlock));
    expect(await fingerprintIn(newLeaf)).toBe(await fingerprintIn(await house.block('root')));
    expect(await accepts(newLeaf, await sign('leaf'))).toBe(true);
    expect(await accepts(oldLeaf, await sign('leaf', { 'key-version': 1 }))).toBe(true);
  });

  test('with activate-after, the old version signs and binds until the new one is active', async () => {
    await house.create('slow', {
      cipher: 'ed25519',
      'openpgp-user-id': userId,
      'auto-rotate': { 'rotate-after': '30d', 'activate-after': '1d' },
    });
    const old = await fingerprintIn(await house.block('slow'));
    await house.do('slow', 'rotate');
    expect(await house.do('slow', 'openpgp-verify', { text, signature: await sign('slow') })).toMatchObject({ version: 1 });
    await house.create('slow-leaf', { cipher: 'ed25519', 'openpgp-primary': 'slow', 'openpgp-key-usage': ['sign'] });
    expect(await fingerprintIn(await house.block('slow-leaf'))).toBe(old);
    house.clock.advance(86_400);
    expect(await house.do('slow', 'openpgp-verify', { text, signature: await sign('slow') })).toMatchObject({ version: 2 });
  });

  test('a barred version is 409, a trimmed one no longer matches, an unknown one is 400', async () => {
    await house.create('barred', { cipher: 'ed25519', 'openpgp-user-id': userId });
    const signature = await sign('barred');
    await house.do('barred', 'rotate');
    expect((await house.patch('barred', { 'min-encryption-version': 2, 'min-decryption-version': 2 })).status).toBe(204);
    expect(await codeOf(house.act('barred', 'openpgp-verify', { text, signature }))).toEqual({ status: 409, code: 'version-not-allowed' });
    expect(await codeOf(house.act('barred', 'openpgp-sign', { text, 'key-version': 1 }))).toEqual({
      status: 409,
      code: 'version-not-allowed',
    });
    await house.do('barred', 'trim', { version: 2 });
    expect(await isValid('barred', signature)).toBe(false);
    expect(await codeOf(house.act('barred', 'export-openpgp-public', { version: 1 }))).toEqual({ status: 400, code: 'version-unknown' });
    expect(await codeOf(house.act('barred', 'openpgp-sign', { text, 'key-version': 3 }))).toEqual({ status: 400, code: 'version-unknown' });
  });
});

describe('import of a private key as PEM', () => {
  test('adds an OpenPGP key under the same User ID, to a primary and to a subkey', async () => {
    await house.create('given', { cipher: 'ecdsa-p256', 'openpgp-user-id': userId });
    await house.create('given-leaf', { cipher: 'ed25519', 'openpgp-primary': 'given', 'openpgp-key-usage': ['sign'] });
    const pairs = { given: generateKeyPairSync('ec', { namedCurve: 'P-256' }), 'given-leaf': generateKeyPairSync('ed25519') };
    for (const [name, { privateKey }] of Object.entries(pairs)) {
      const before = await house.block(name);
      await house.do(name, 'import', { data: privateKey.export({ format: 'pem', type: 'pkcs8' }) });
      expect(await house.block(name, 1)).toBe(before);
      const signature = await sign(name);
      expect(await house.verify(name, signature, data)).toMatchObject({ valid: true, version: 2 });
      expect(await accepts(await house.block(name), signature)).toBe(true);
      expect((await readKey({ armoredKey: await house.block(name) })).getUserIDs()).toEqual([userId]);
    }
  });
});

describe('another User ID', () => {
  test('keeps fingerprints and old signatures, of the primary and of its subkeys', async () => {
    await house.create('named', { cipher: 'ecdsa-p256', 'openpgp-user-id': userId });
    await house.create('named-leaf', { cipher: 'ecdsa-p256', 'openpgp-primary': 'named', 'openpgp-key-usage': ['sign'] });
    await house.do('named', 'rotate');
    const blocks = [await house.block('named', 1), await house.block('named', 2), await house.block('named-leaf')];
    const signatures = [await sign('named', { 'key-version': 1 }), await sign('named'), await sign('named-leaf')];
    house.clock.advance(86_400);
    expect((await house.patch('named', { 'openpgp-user-id': 'Augusta Ada King <ada@example.com>' })).status).toBe(204);
    const renewed = [await house.block('named', 1), await house.block('named', 2), await house.block('named-leaf')];
    for (const [index, keyblock] of renewed.entries()) {
      expect((await readKey({ armoredKey: keyblock })).getUserIDs()).toEqual(['Augusta Ada King <ada@example.com>']);
      expect(await fingerprintIn(keyblock)).toBe(await fingerprintIn(blocks[index] as string));
      expect(await accepts(keyblock, signatures[index] as string)).toBe(true);
    }
    expect(await fingerprintIn(renewed[2] as string, subkeyOf)).toBe(await fingerprintIn(blocks[2] as string, subkeyOf));
  });

  test('is stored as the block has it: blanks at its ends are taken off, and do not make it another one', async () => {
    expect(await house.create('blank', { cipher: 'ed25519', 'openpgp-user-id': '  Ada \t' })).toMatchObject({ 'openpgp-user-id': 'Ada' });
    const keyblock = await house.block('blank');
    expect((await readKey({ armoredKey: keyblock })).getUserIDs()).toEqual(['Ada']);
    expect((await house.patch('blank', { 'openpgp-user-id': ' Ada ' })).status).toBe(204);
    expect(await house.config('blank')).toMatchObject({ 'openpgp-user-id': 'Ada' });
    expect(await house.block('blank')).toBe(keyblock);
  });

  test('an update that leaves it alone leaves the block alone', async () => {
    const before = await house.block('named');
    expect((await house.patch('named', { exportable: true })).status).toBe(204);
    expect(await house.block('named')).toBe(before);
  });

  test('a signing key without one gets its certificate with its first, under the fingerprint of its creation', async () => {
    await house.create('plain', { cipher: 'ed25519' });
    await house.do('plain', 'rotate');
    expect(await codeOf(house.act('plain', 'openpgp-sign', { text }))).toEqual({ status: 400, code: 'operation-not-supported' });
    expect(await codeOf(house.act('plain', 'export-openpgp-public'))).toEqual({ status: 400, code: 'operation-not-supported' });
    house.clock.advance(5);
    expect((await house.patch('plain', { 'openpgp-user-id': userId })).status).toBe(204);
    expect(await accepts(await house.block('plain'), await sign('plain'))).toBe(true);
    expect(await accepts(await house.block('plain', 1), await sign('plain', { 'key-version': 1 }))).toBe(true);
    const fingerprint = await fingerprintIn(await house.block('plain'));
    expect((await house.put('plain', { cipher: 'ed25519' })).status).toBe(204);
    expect(await codeOf(house.act('plain', 'openpgp-sign', { text }))).toEqual({ status: 400, code: 'operation-not-supported' });
    expect((await house.patch('plain', { 'openpgp-user-id': 'Another' })).status).toBe(204);
    expect(await fingerprintIn(await house.block('plain'))).toBe(fingerprint);
  });
});

describe('refusals', () => {
  const leaf = { cipher: 'ed25519', 'openpgp-primary': 'signer', 'openpgp-key-usage': ['sign'] };

  test.each([
    ['both roles', { ...leaf, 'openpgp-user-id': userId }, 400, 'invalid-value'],
    ['a subkey without usage', { cipher: 'ed25519', 'openpgp-primary': 'signer' }, 400, 'missing-field'],
    ['another usage', { ...leaf, 'openpgp-key-usage': ['encrypt'] }, 400, 'invalid-value'],
    ['usage without role', { cipher: 'ed25519', 'openpgp-key-usage': ['sign'] }, 400, 'invalid-value'],
    ['no such primary', { ...leaf, 'openpgp-primary': 'nobody' }, 400, 'invalid-value'],
    ['itself as primary', { ...leaf, 'openpgp-primary': 'refused' }, 400, 'invalid-value'],
    ['a subkey as primary', { ...leaf, 'openpgp-primary': 'named-leaf' }, 400, 'invalid-value'],
    ['a symmetric primary', { ...leaf, 'openpgp-primary': 'aes' }, 400, 'invalid-value'],
    ['a verification-only primary', { ...leaf, 'openpgp-primary': 'public-only' }, 400, 'invalid-value'],
    ['a symmetric key with User ID', { 'openpgp-user-id': userId }, 400, 'operation-not-supported'],
    ['a symmetric subkey', { ...leaf, cipher: 'aes256-gcm96' }, 400, 'operation-not-supported'],
    ['an empty User ID', { cipher: 'ed25519', 'openpgp-user-id': '' }, 400, 'invalid-value'],
    ['a blank User ID', { cipher: 'ed25519', 'openpgp-user-id': '  ' }, 400, 'invalid-value'],
    ['a User ID of two lines', { cipher: 'ed25519', 'openpgp-user-id': 'a\nb' }, 400, 'invalid-value'],
    ['a User ID that turns the text around it', { cipher: 'ed25519', 'openpgp-user-id': 'a\u202eb' }, 400, 'invalid-value'],
    ['a User ID with a zero-width character', { cipher: 'ed25519', 'openpgp-user-id': 'a\u200bb' }, 400, 'invalid-value'],
    ['a User ID of 1,025 octets', { cipher: 'ed25519', 'openpgp-user-id': 'é'.repeat(512) + 'x' }, 400, 'invalid-value'],
    ['a User ID with a lone surrogate', { cipher: 'ed25519', 'openpgp-user-id': 'a\ud800' }, 400, 'invalid-value'],
  ])('%s', async (_, fields, status, code) => {
    if (!(await house.exists('aes'))) {
      await house.create('aes');
      const { keys } = await house.state('signer');
      await house.create('public-only', { cipher: 'ecdsa-p256', 'public-key': keys['1'] });
    }
    const answer = await house.request('POST', '/v1/config/keystore/transit-keys', { name: 'refused', ...fields });
    expect({ status: answer.status, code: answer.body?.code }).toEqual({ status, code });
    expect(await house.exists('refused')).toBe(false);
  });

  test('a User ID of 1,024 octets is accepted and certified', async () => {
    await house.create('longest', { cipher: 'ed25519', 'openpgp-user-id': 'é'.repeat(512) });
    expect(await accepts(await house.block('longest'), await sign('longest'))).toBe(true);
  });

  test('a verification-only key gets no User ID', async () => {
    expect(await codeOf(house.patch('public-only', { 'openpgp-user-id': userId }))).toEqual({
      status: 400,
      code: 'operation-not-supported',
    });
  });

  test.each([
    ['openpgp-sign', { text }],
    ['openpgp-verify', { text, signature: 'QUJD' }],
    ['export-openpgp-public', {}],
    ['export-openpgp-revocation', {}],
  ])('%s on a symmetric key, and on none', async (action, body) => {
    expect(await codeOf(house.act('aes', action, body))).toEqual({ status: 400, code: 'operation-not-supported' });
    expect(await codeOf(house.act('nobody', action, body))).toEqual({ status: 404, code: 'not-found' });
  });

  test('fields of openpgp-sign and openpgp-verify', async () => {
    const signature = await sign('signer');
    const cases: readonly (readonly [string, object, string])[] = [
      ['openpgp-sign', {}, 'missing-field'],
      ['openpgp-sign', { text: 'no base64' }, 'invalid-base64'],
      ['openpgp-sign', { text, 'expires-after': '0s' }, 'invalid-value'],
      ['openpgp-sign', { text, format: 'clear' }, 'invalid-value'],
      ['openpgp-sign', { text, hash: 'md5' }, 'unknown-field'],
      ['openpgp-verify', { text }, 'missing-field'],
      ['openpgp-verify', { text, signature: `store:v1:${text}` }, 'invalid-base64'],
      ['openpgp-verify', { text, signature: signature.replace('BEGIN PGP SIGNATURE', 'BEGIN PGP MESSAGE') }, 'invalid-format'],
      ['openpgp-verify', { text, signature: 'A'.repeat(65_540) }, 'invalid-value'],
    ];
    for (const [action, body, code] of cases) expect(await codeOf(house.act('signer', action, body))).toEqual({ status: 400, code });
    const over = await house.act('signer', 'openpgp-sign', { text: 'A'.repeat(44_800_000) });
    expect([over.status, over.body.code]).toEqual([413, 'payload-too-large']);
  });

  test('a primary key with live subkeys is not deleted, and does not lose its User ID (409 in-use)', async () => {
    await house.create('kept', { cipher: 'ed25519', 'openpgp-user-id': userId, 'deletion-allowed': true });
    await house.create('kept-leaf', {
      cipher: 'ed25519',
      'openpgp-primary': 'kept',
      'openpgp-key-usage': ['sign'],
      'deletion-allowed': true,
    });
    expect(await codeOf(house.remove('kept'))).toEqual({ status: 409, code: 'in-use' });
    expect(await codeOf(house.put('kept', { cipher: 'ed25519', 'deletion-allowed': true }))).toEqual({ status: 409, code: 'in-use' });
    expect((await house.remove('kept-leaf')).status).toBe(204);
    expect((await house.remove('kept')).status).toBe(204);
  });
});

test('a primary key deleted, rotated and renamed while subkeys are made: either wins, and nothing is half done', async () => {
  const leaf = { cipher: 'ecdsa-p256', 'openpgp-primary': 'contested', 'openpgp-key-usage': ['sign'], 'deletion-allowed': true };
  const primary = { cipher: 'ecdsa-p256', 'openpgp-user-id': userId, 'deletion-allowed': true };
  const keys = '/v1/config/keystore/transit-keys';
  for (let round = 0; round < 10; round += 1) {
    await house.create('contested', primary);
    const answers = await Promise.all([
      house.request('POST', keys, { name: `contested-${round}`, ...leaf }),
      house.patch('contested', { 'openpgp-user-id': `Round ${round}` }),
      house.act('contested', 'rotate'),
      house.remove('contested'),
    ]);
    expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
    expect(await house.findings()).toEqual([]);
    const usable = answers[0]?.status !== 201 || (await accepts(await house.block(`contested-${round}`), await sign(`contested-${round}`)));
    expect(usable).toBe(true);
    for (const name of [`contested-${round}`, 'contested']) if (await house.exists(name)) await house.remove(name);
    expect(await house.exists('contested')).toBe(false);
  }
});

test('the invariants hold after all of this', async () => {
  expect(await house.findings()).toEqual([]);
});
