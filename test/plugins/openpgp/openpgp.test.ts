// OpenPGP keys over the API: making, signing, verifying, rotating and renaming them; checked with openpgp.js.
import { createHash, generateKeyPairSync } from 'node:crypto';
import { createMessage, type Key, readKey, readSignature, verify } from 'openpgp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { base64, codeOf, type OpenpgpHarness, startOpenpgpHarness } from './harness.ts';

const path = temporaryDirectory();
let harness: OpenpgpHarness;
beforeAll(async () => {
  harness = await startOpenpgpHarness(path(), '2026-01-01T00:00:00Z');
});
afterAll(() => harness.close());

const userId = 'Ada Lovelace <ada@example.org>';
const data = Buffer.from('Some data.\r\nIn lines, one with a blank at its end \n');
const text = base64(data);
const wrong = Buffer.from('Other data.');

/** Whether openpgp.js accepts the signature over the text with the block, at the time of the harness. */
async function accepts(keyblock: string, signature: string, octets: Uint8Array = data): Promise<boolean> {
  const { signatures } = await verify({
    message: await createMessage({ binary: octets }),
    signature: await readSignature({ armoredSignature: signature }),
    verificationKeys: await readKey({ armoredKey: keyblock }),
    format: 'binary',
    date: harness.today(),
  });
  expect(signatures).toHaveLength(1);
  return (await signatures[0]?.verified.catch(() => false)) ?? false;
}

const sign = (name: string, fields: object = {}): Promise<string> => harness.sign(name, data, fields);
const isValid = (name: string, signature: string, octets: Uint8Array = data): Promise<boolean> => harness.isValid(name, signature, octets);
const fingerprintIn = async (keyblock: string, which: (key: Key) => { getFingerprint(): string } = (key) => key): Promise<string> =>
  which(await readKey({ armoredKey: keyblock }))
    .getFingerprint()
    .toUpperCase();
const subkeyOf = (key: Key): { getFingerprint(): string } => key.subkeys[0] ?? { getFingerprint: () => 'none' };

/** How many times the token has signed. */
function signatures(): number {
  return harness.hsm.status().reduce((sum, token) => sum + (token.latencies['sign']?.count ?? 0), 0);
}

const ciphers = ['rsa-2048', 'rsa-3072', 'rsa-4096', 'ed25519', 'ecdsa-p256', 'ecdsa-p384', 'ecdsa-p521'];

describe.each(ciphers)('%s', (cipher) => {
  const [primary, subkey] = [`primary-${cipher}`, `subkey-${cipher}`];

  test('as primary key and as subkey: made, exported, signing, verifying', async () => {
    await harness.create(primary, { cipher, 'openpgp-user-id': userId });
    await harness.create(subkey, { cipher, 'openpgp-primary': primary, 'openpgp-key-usage': ['sign'] });
    for (const [name, which] of [[primary, (key: Key) => key] as const, [subkey, subkeyOf] as const]) {
      const keyblock = await harness.block(name);
      expect(await harness.block(name)).toBe(keyblock);
      const signature = await sign(name);
      expect(signature).toMatch(/^-----BEGIN PGP SIGNATURE-----\n\n[\s\S]*\n=[\w+/]{4}\n-----END PGP SIGNATURE-----\n$/);
      expect(await accepts(keyblock, signature)).toBe(true);
      expect(await accepts(keyblock, signature, wrong)).toBe(false);
      const fingerprint = await fingerprintIn(keyblock, which);
      expect(await harness.do(name, 'openpgp-verify', { text, signature })).toEqual({
        valid: true,
        fingerprint,
        'key-id': fingerprint.slice(-16),
        version: 1,
        'key-version': 1,
        'signed-at': harness.clock.now().round('second').toString({ fractionalSecondDigits: 6 }),
      });
      expect(await harness.do(name, 'openpgp-verify', { text: base64(wrong), signature })).toEqual({ valid: false, 'key-version': 1 });
    }
  });

  test('a signature of the subkey is not one of the primary, and the other way round', async () => {
    expect(await isValid(primary, await sign(subkey))).toBe(false);
    expect(await isValid(subkey, await sign(primary))).toBe(false);
  });
});

describe('signing', () => {
  beforeAll(() => harness.create('signer', { cipher: 'ecdsa-p256', 'openpgp-user-id': userId }));

  test('one C_Sign per signature, whatever the size of the data', async () => {
    const before = signatures();
    await harness.sign('signer', new Uint8Array(8 * 1024 * 1024));
    expect(signatures() - before).toBe(1);
  });

  test('raw text is signed as its UTF-8, no newline changed', async () => {
    const raw = 'Zwölf\r\nBoxkämpfer\n\n';
    const { signature } = await harness.do('signer', 'openpgp-sign', { text: raw, 'base64-encoded': false });
    expect(await isValid('signer', signature, Buffer.from(raw))).toBe(true);
    expect(await harness.do('signer', 'openpgp-verify', { text: raw, 'base64-encoded': false, signature })).toMatchObject({ valid: true });
    expect(await isValid('signer', signature, Buffer.from(raw.replace('\r\n', '\n')))).toBe(false);
    expect(await codeOf(harness.act('signer', 'openpgp-sign', { text: '\ud800', 'base64-encoded': false }))).toMatchObject({ status: 400 });
  });

  test('empty data can be signed', async () => {
    const nothing = new Uint8Array();
    expect(await isValid('signer', await harness.sign('signer', nothing), nothing)).toBe(true);
  });

  test('format binary answers the packets in base64', async () => {
    const signature = await sign('signer', { format: 'binary' });
    expect(Buffer.from(signature, 'base64')[0]).toBe(0xc2);
    expect(await isValid('signer', signature)).toBe(true);
  });

  test('expires-after ends a signature', async () => {
    const signature = await sign('signer', { 'expires-after': '1h' });
    harness.clock.advance(3599);
    expect([await isValid('signer', signature), await accepts(await harness.block('signer'), signature)]).toEqual([true, true]);
    harness.clock.advance(1);
    expect([await isValid('signer', signature), await accepts(await harness.block('signer'), signature)]).toEqual([false, false]);
  });

  test('a clock set back behind the creation of the key does not date signatures before the key', async () => {
    await harness.create('late', { cipher: 'ed25519', 'openpgp-user-id': userId });
    harness.clock.step(-1000);
    const signature = await sign('late');
    harness.clock.step(1000);
    expect(await accepts(await harness.block('late'), signature)).toBe(true);
    expect(await isValid('late', signature)).toBe(true);
  });

  test('the audit trail has the version and the digest of the text, and neither text nor signature', async () => {
    const signature = await sign('signer');
    const record = harness.auditRecords().findLast((one) => String(one['path']).endsWith('/openpgp-sign'));
    const digest = createHash('sha256').update(Buffer.from(text, 'base64')).digest('hex');
    expect(record).toMatchObject({ status: 200, 'key-version': 1, 'signed-digest': `sha256:${digest}` });
    expect(JSON.stringify(record)).not.toContain(text);
    expect(JSON.stringify(record)).not.toContain(signature.slice(60, 100));
  });

  test('a signature counts as one use, and so does the binding of a subkey (api 74)', async () => {
    await harness.create('counted', { cipher: 'ed25519', 'openpgp-user-id': userId });
    await sign('counted');
    await sign('counted');
    expect((await harness.state('counted')).usage['1'].uses).toBe(2);
    await harness.create('bound', { cipher: 'ed25519', 'openpgp-primary': 'counted', 'openpgp-key-usage': ['sign'] });
    expect((await harness.state('counted')).usage['1'].uses).toBe(3);
  });
});

describe('rotation', () => {
  test('of a primary is a new OpenPGP key; subkeys stay bound to the version that made them, new ones go to the newest', async () => {
    await harness.create('root', { cipher: 'ed25519', 'openpgp-user-id': userId });
    await harness.create('leaf', { cipher: 'ed25519', 'openpgp-primary': 'root', 'openpgp-key-usage': ['sign'] });
    const [oldBlock, oldLeaf, oldSignature] = [await harness.block('root'), await harness.block('leaf'), await sign('root')];
    harness.clock.advance(10);
    await harness.do('root', 'rotate');
    expect(await harness.block('root', 1)).toBe(oldBlock);
    expect(await fingerprintIn(await harness.block('root'))).not.toBe(await fingerprintIn(oldBlock));
    expect(await harness.do('root', 'openpgp-verify', { text, signature: oldSignature })).toMatchObject({ valid: true, version: 1 });
    expect(await harness.do('root', 'openpgp-verify', { text, signature: await sign('root') })).toMatchObject({ valid: true, version: 2 });
    expect(await isValid('root', await sign('root', { 'key-version': 1 }))).toBe(true);
    expect(await harness.block('leaf')).toBe(oldLeaf);
    await harness.do('leaf', 'rotate');
    const newLeaf = await harness.block('leaf');
    expect(await fingerprintIn(oldLeaf)).toBe(await fingerprintIn(oldBlock));
    expect(await fingerprintIn(newLeaf)).toBe(await fingerprintIn(await harness.block('root')));
    expect(await accepts(newLeaf, await sign('leaf'))).toBe(true);
    expect(await accepts(oldLeaf, await sign('leaf', { 'key-version': 1 }))).toBe(true);
  });

  test('with activate-after, the old version signs and binds until the new one is active', async () => {
    await harness.create('slow', {
      cipher: 'ed25519',
      'openpgp-user-id': userId,
      'auto-rotate': { 'rotate-after': '30d', 'activate-after': '1d' },
    });
    const old = await fingerprintIn(await harness.block('slow'));
    await harness.do('slow', 'rotate');
    expect(await harness.do('slow', 'openpgp-verify', { text, signature: await sign('slow') })).toMatchObject({ version: 1 });
    await harness.create('slow-leaf', { cipher: 'ed25519', 'openpgp-primary': 'slow', 'openpgp-key-usage': ['sign'] });
    expect(await fingerprintIn(await harness.block('slow-leaf'))).toBe(old);
    harness.clock.advance(86_400);
    expect(await harness.do('slow', 'openpgp-verify', { text, signature: await sign('slow') })).toMatchObject({ version: 2 });
  });

  test('a barred version is 409, a trimmed one no longer matches, an unknown one is 400', async () => {
    await harness.create('barred', { cipher: 'ed25519', 'openpgp-user-id': userId });
    const signature = await sign('barred');
    await harness.do('barred', 'rotate');
    expect((await harness.patch('barred', { 'min-encryption-version': 2, 'min-decryption-version': 2 })).status).toBe(204);
    expect(await codeOf(harness.act('barred', 'openpgp-verify', { text, signature }))).toEqual({
      status: 409,
      code: 'version-not-allowed',
    });
    expect(await codeOf(harness.act('barred', 'openpgp-sign', { text, 'key-version': 1 }))).toEqual({
      status: 409,
      code: 'version-not-allowed',
    });
    await harness.do('barred', 'trim', { version: 2 });
    expect(await isValid('barred', signature)).toBe(false);
    expect(await codeOf(harness.act('barred', 'export-openpgp-public', { version: 1 }))).toEqual({ status: 400, code: 'version-unknown' });
    expect(await codeOf(harness.act('barred', 'openpgp-sign', { text, 'key-version': 3 }))).toEqual({
      status: 400,
      code: 'version-unknown',
    });
  });
});

describe('import of a private key as PEM', () => {
  test('adds an OpenPGP key under the same User ID, to a primary and to a subkey', async () => {
    await harness.create('given', { cipher: 'ecdsa-p256', 'openpgp-user-id': userId });
    await harness.create('given-leaf', { cipher: 'ed25519', 'openpgp-primary': 'given', 'openpgp-key-usage': ['sign'] });
    const pairs = { given: generateKeyPairSync('ec', { namedCurve: 'P-256' }), 'given-leaf': generateKeyPairSync('ed25519') };
    for (const [name, { privateKey }] of Object.entries(pairs)) {
      const before = await harness.block(name);
      await harness.do(name, 'import', { data: privateKey.export({ format: 'pem', type: 'pkcs8' }) });
      expect(await harness.block(name, 1)).toBe(before);
      const signature = await sign(name);
      expect(await harness.verify(name, signature, data)).toMatchObject({ valid: true, version: 2 });
      expect(await accepts(await harness.block(name), signature)).toBe(true);
      expect((await readKey({ armoredKey: await harness.block(name) })).getUserIDs()).toEqual([userId]);
    }
  });
});

describe('another User ID', () => {
  test('keeps fingerprints and old signatures, of the primary and of its subkeys', async () => {
    await harness.create('named', { cipher: 'ecdsa-p256', 'openpgp-user-id': userId });
    await harness.create('named-leaf', { cipher: 'ecdsa-p256', 'openpgp-primary': 'named', 'openpgp-key-usage': ['sign'] });
    await harness.do('named', 'rotate');
    const blocks = [await harness.block('named', 1), await harness.block('named', 2), await harness.block('named-leaf')];
    const signatures = [await sign('named', { 'key-version': 1 }), await sign('named'), await sign('named-leaf')];
    harness.clock.advance(86_400);
    expect((await harness.patch('named', { 'openpgp-user-id': 'Augusta Ada King <ada@example.com>' })).status).toBe(204);
    const renewed = [await harness.block('named', 1), await harness.block('named', 2), await harness.block('named-leaf')];
    for (const [index, keyblock] of renewed.entries()) {
      expect((await readKey({ armoredKey: keyblock })).getUserIDs()).toEqual(['Augusta Ada King <ada@example.com>']);
      expect(await fingerprintIn(keyblock)).toBe(await fingerprintIn(blocks[index] as string));
      expect(await accepts(keyblock, signatures[index] as string)).toBe(true);
    }
    expect(await fingerprintIn(renewed[2] as string, subkeyOf)).toBe(await fingerprintIn(blocks[2] as string, subkeyOf));
  });

  test('is stored as the block has it: blanks at its ends are taken off, and do not make it another one', async () => {
    expect(await harness.create('blank', { cipher: 'ed25519', 'openpgp-user-id': '  Ada \t' })).toMatchObject({ 'openpgp-user-id': 'Ada' });
    const keyblock = await harness.block('blank');
    expect((await readKey({ armoredKey: keyblock })).getUserIDs()).toEqual(['Ada']);
    expect((await harness.patch('blank', { 'openpgp-user-id': ' Ada ' })).status).toBe(204);
    expect(await harness.config('blank')).toMatchObject({ 'openpgp-user-id': 'Ada' });
    expect(await harness.block('blank')).toBe(keyblock);
  });

  test('an update that leaves it alone leaves the block alone', async () => {
    const before = await harness.block('named');
    expect((await harness.patch('named', { exportable: true })).status).toBe(204);
    expect(await harness.block('named')).toBe(before);
  });

  test('a signing key without one gets its certificate with its first, under the fingerprint of its creation', async () => {
    await harness.create('plain', { cipher: 'ed25519' });
    await harness.do('plain', 'rotate');
    expect(await codeOf(harness.act('plain', 'openpgp-sign', { text }))).toEqual({ status: 400, code: 'operation-not-supported' });
    expect(await codeOf(harness.act('plain', 'export-openpgp-public'))).toEqual({ status: 400, code: 'operation-not-supported' });
    harness.clock.advance(5);
    expect((await harness.patch('plain', { 'openpgp-user-id': userId })).status).toBe(204);
    expect(await accepts(await harness.block('plain'), await sign('plain'))).toBe(true);
    expect(await accepts(await harness.block('plain', 1), await sign('plain', { 'key-version': 1 }))).toBe(true);
    const fingerprint = await fingerprintIn(await harness.block('plain'));
    expect((await harness.put('plain', { cipher: 'ed25519' })).status).toBe(204);
    expect(await codeOf(harness.act('plain', 'openpgp-sign', { text }))).toEqual({ status: 400, code: 'operation-not-supported' });
    expect((await harness.patch('plain', { 'openpgp-user-id': 'Another' })).status).toBe(204);
    expect(await fingerprintIn(await harness.block('plain'))).toBe(fingerprint);
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
    if (!(await harness.exists('aes'))) {
      await harness.create('aes');
      const { keys } = await harness.state('signer');
      await harness.create('public-only', { cipher: 'ecdsa-p256', 'public-key': keys['1'] });
    }
    const answer = await harness.request('POST', '/v1/config/keystore/transit-keys', { name: 'refused', ...fields });
    expect({ status: answer.status, code: answer.body?.code }).toEqual({ status, code });
    expect(await harness.exists('refused')).toBe(false);
  });

  test('a User ID of 1,024 octets is accepted and certified', async () => {
    await harness.create('longest', { cipher: 'ed25519', 'openpgp-user-id': 'é'.repeat(512) });
    expect(await accepts(await harness.block('longest'), await sign('longest'))).toBe(true);
  });

  test('a verification-only key gets no User ID', async () => {
    expect(await codeOf(harness.patch('public-only', { 'openpgp-user-id': userId }))).toEqual({
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
    expect(await codeOf(harness.act('aes', action, body))).toEqual({ status: 400, code: 'operation-not-supported' });
    expect(await codeOf(harness.act('nobody', action, body))).toEqual({ status: 404, code: 'not-found' });
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
    for (const [action, body, code] of cases) expect(await codeOf(harness.act('signer', action, body))).toEqual({ status: 400, code });
    const over = await harness.act('signer', 'openpgp-sign', { text: 'A'.repeat(44_800_000) });
    expect([over.status, over.body.code]).toEqual([413, 'payload-too-large']);
  });

  test('a primary key with live subkeys is not deleted, and does not lose its User ID (409 in-use)', async () => {
    await harness.create('kept', { cipher: 'ed25519', 'openpgp-user-id': userId, 'deletion-allowed': true });
    await harness.create('kept-leaf', {
      cipher: 'ed25519',
      'openpgp-primary': 'kept',
      'openpgp-key-usage': ['sign'],
      'deletion-allowed': true,
    });
    const refused = await harness.remove('kept');
    expect({ status: refused.status, code: refused.body.code }).toEqual({ status: 409, code: 'in-use' });
    expect(refused.body.detail).toContain('are its subkeys: kept-leaf. Delete them first, or unbind them.');
    expect(await codeOf(harness.put('kept', { cipher: 'ed25519', 'deletion-allowed': true }))).toEqual({ status: 409, code: 'in-use' });
    expect((await harness.remove('kept-leaf')).status).toBe(204);
    expect((await harness.remove('kept')).status).toBe(204);
  });
});

test('a primary key deleted, rotated and renamed while subkeys are made: either wins, and nothing is half done', async () => {
  const leaf = { cipher: 'ecdsa-p256', 'openpgp-primary': 'contested', 'openpgp-key-usage': ['sign'], 'deletion-allowed': true };
  const primary = { cipher: 'ecdsa-p256', 'openpgp-user-id': userId, 'deletion-allowed': true };
  const keys = '/v1/config/keystore/transit-keys';
  for (let round = 0; round < 10; round += 1) {
    await harness.create('contested', primary);
    const answers = await Promise.all([
      harness.request('POST', keys, { name: `contested-${round}`, ...leaf }),
      harness.patch('contested', { 'openpgp-user-id': `Round ${round}` }),
      harness.act('contested', 'rotate'),
      harness.remove('contested'),
    ]);
    expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
    expect(await harness.findings()).toEqual([]);
    const usable =
      answers[0]?.status !== 201 || (await accepts(await harness.block(`contested-${round}`), await sign(`contested-${round}`)));
    expect(usable).toBe(true);
    for (const name of [`contested-${round}`, 'contested']) if (await harness.exists(name)) await harness.remove(name);
    expect(await harness.exists('contested')).toBe(false);
  }
});

test('the invariants hold after all of this', async () => {
  expect(await harness.findings()).toEqual([]);
});
