// Actions on transit keys (spec "Endpoints" and "Value formats").
import { constants, createHash, generateKeyPairSync, randomBytes, sign as nodeSign, verify as nodeVerify } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { type TransitHarness, base64, ok, startTransitHarness } from '../harness.ts';

const directory = temporaryDirectory();
let harness: TransitHarness;

beforeAll(async () => {
  harness = await startTransitHarness(directory('harness'));
  await harness.create('aes');
  await harness.create('ed', { cipher: 'ed25519' });
  await harness.create('rsa', { cipher: 'rsa-2048' });
  await harness.create('p256', { cipher: 'ecdsa-p256' });
});
afterEach(() => harness.expectSound());
afterAll(() => harness.stop());

const hello = base64('hello world');
const never = 'a version the key never had';

describe('encrypt and decrypt (spec)', () => {
  test.each(['aes128-gcm96', 'aes192-gcm96', 'aes256-gcm96'])(
    '%s: store:v1:<base64>, and back; key-version in both answers',
    async (cipher) => {
      await harness.create(`rt-${cipher}`, { cipher });
      const sealed = await harness.do(`rt-${cipher}`, 'encrypt', { plaintext: hello });
      expect(sealed).toEqual({ ciphertext: expect.stringMatching(/^store:v1:[A-Za-z0-9+/]+=*$/), 'key-version': 1 });
      // nonce(12) ‖ ciphertext(11) ‖ tag(16)
      expect(Buffer.from(sealed.ciphertext.split(':')[2], 'base64')).toHaveLength(39);
      expect(await harness.do(`rt-${cipher}`, 'decrypt', { ciphertext: sealed.ciphertext })).toEqual({
        plaintext: hello,
        'key-version': 1,
      });
    },
  );

  test('two encryptions of one plaintext differ', async () => {
    const one = await harness.do('aes', 'encrypt', { plaintext: hello });
    const other = await harness.do('aes', 'encrypt', { plaintext: hello });
    expect(one.ciphertext).not.toBe(other.ciphertext);
  });

  test('base64-encoded false: raw text in, raw text out, any script', async () => {
    const text = 'naïve ☃ 𝄞 text, not base64!';
    const { ciphertext } = await harness.do('aes', 'encrypt', { plaintext: text, 'base64-encoded': false });
    expect((await harness.do('aes', 'decrypt', { ciphertext, 'base64-encoded': false })).plaintext).toBe(text);
    expect((await harness.do('aes', 'decrypt', { ciphertext })).plaintext).toBe(base64(text));
  });

  test('base64-encoded false on octets that are not UTF-8: 400 plaintext-not-utf8 (api 29)', async () => {
    const { ciphertext } = await harness.do('aes', 'encrypt', { plaintext: base64(Buffer.from([0xff, 0xfe, 0x00])) });
    await harness.refused(400, 'plaintext-not-utf8', 'aes', 'decrypt', { ciphertext, 'base64-encoded': false });
  });

  test('an empty plaintext is allowed (api 28)', async () => {
    const { ciphertext } = await harness.do('aes', 'encrypt', { plaintext: '' });
    expect((await harness.do('aes', 'decrypt', { ciphertext })).plaintext).toBe('');
  });

  test('associated data must be given again, the same (api 35)', async () => {
    const { ciphertext } = await harness.do('aes', 'encrypt', { plaintext: hello, 'associated-data': base64('row 7') });
    expect((await harness.do('aes', 'decrypt', { ciphertext, 'associated-data': base64('row 7') })).plaintext).toBe(hello);
    await harness.refused(400, 'decryption-failed', 'aes', 'decrypt', { ciphertext });
    await harness.refused(400, 'decryption-failed', 'aes', 'decrypt', { ciphertext, 'associated-data': base64('row 8') });
  });

  test('2 MiB of plaintext pass, one octet more is 413 payload-too-large (api 73)', async () => {
    const plaintext = randomBytes(2 * 1024 * 1024).toString('base64');
    const { ciphertext } = await harness.do('aes', 'encrypt', { plaintext });
    expect((await harness.do('aes', 'decrypt', { ciphertext })).plaintext).toBe(plaintext);
    await harness.refused(413, 'payload-too-large', 'aes', 'encrypt', { plaintext: Buffer.alloc(2 * 1024 * 1024 + 1).toString('base64') });
  });

  test('key-version encrypts under that version (api 35)', async () => {
    await harness.create('chosen');
    await harness.do('chosen', 'rotate');
    expect((await harness.do('chosen', 'encrypt', { plaintext: hello })).ciphertext).toMatch(/^store:v2:/);
    const old = await harness.do('chosen', 'encrypt', { plaintext: hello, 'key-version': 1 });
    expect(old).toEqual({ ciphertext: expect.stringMatching(/^store:v1:/), 'key-version': 1 });
    await harness.refused(400, 'version-unknown', 'chosen', 'encrypt', { plaintext: hello, 'key-version': 3 });
  });

  const bodies: readonly [string, object, string][] = [
    ['plaintext missing', {}, 'missing-field'],
    ['plaintext a number', { plaintext: 7 }, 'invalid-value'],
    ['plaintext not base64', { plaintext: 'hello world' }, 'invalid-base64'],
    ['plaintext without padding', { plaintext: 'aGVsbG8' }, 'invalid-base64'],
    ['plaintext in the URL alphabet', { plaintext: '_-__' }, 'invalid-base64'],
    ['a lone surrogate as raw text', { plaintext: '\ud800', 'base64-encoded': false }, 'invalid-value'],
    ['associated-data not base64', { plaintext: hello, 'associated-data': '?' }, 'invalid-base64'],
    ['context on a plain key', { plaintext: hello, context: 'c' }, 'context-not-allowed'],
    ['key-version zero', { plaintext: hello, 'key-version': 0 }, 'invalid-value'],
    ['unknown field', { plaintext: hello, nonce: 'x' }, 'unknown-field'],
  ];
  test.each(bodies)('encrypt: %s is 400', async (_title, body, code) => {
    await harness.refused(400, code, 'aes', 'encrypt', body);
  });

  const ciphertexts: readonly [string, string, string][] = [
    ['no prefix', 'aGVsbG8=', 'invalid-format'],
    ['the prefix of others', 'vault:v1:aGVsbG8=', 'invalid-format'],
    ['version zero', 'store:v0:aGVsbG8=', 'invalid-format'],
    ['leading zero', 'store:v01:aGVsbG8=', 'invalid-format'],
    ['no version', 'store:v:aGVsbG8=', 'invalid-format'],
    ['negative version', 'store:v-1:aGVsbG8=', 'invalid-format'],
    ['huge version', 'store:v99999999999:aGVsbG8=', 'invalid-format'],
    ['upper case', 'STORE:v1:aGVsbG8=', 'invalid-format'],
    ['an hmac', 'store:hashed:v1:aGVsbG8=', 'invalid-format'],
    ['a second colon', 'store:v1:aGVsbG8=:', 'invalid-format'],
    ['leading space', ' store:v1:aGVsbG8=', 'invalid-format'],
    ['bad base64', 'store:v1:aGVsbG8', 'invalid-base64'],
    ['white space in base64', 'store:v1:aGVs bG8=', 'invalid-base64'],
    [never, 'store:v9:aGVsbG8=', 'version-unknown'],
    ['shorter than nonce and tag', 'store:v1:aGVsbG8=', 'decryption-failed'],
    ['empty', 'store:v1:', 'decryption-failed'],
  ];
  test.each(ciphertexts)('decrypt: %s is 400', async (_title, ciphertext, code) => {
    await harness.refused(400, code, 'aes', 'decrypt', { ciphertext });
    await harness.refused(400, code, 'aes', 'rewrap', { ciphertext });
  });

  test('any flipped bit gives the one answer decryption-failed, without a reason', async () => {
    const { ciphertext } = await harness.do('aes', 'encrypt', { plaintext: hello });
    const sealed = Buffer.from(ciphertext.split(':')[2], 'base64');
    const answers = new Set<string>();
    for (let bit = 0; bit < sealed.length * 8; bit += 7) {
      const flipped = Buffer.from(sealed);
      flipped[bit >> 3] = (flipped[bit >> 3] as number) ^ (1 << (bit & 7));
      const body = await harness.refused(400, 'decryption-failed', 'aes', 'decrypt', {
        ciphertext: `store:v1:${flipped.toString('base64')}`,
      });
      delete body['request-id'];
      answers.add(JSON.stringify(body));
    }
    expect(answers.size).toBe(1);
  });

  test('a ciphertext of one key does not open under another', async () => {
    await harness.create('other');
    const { ciphertext } = await harness.do('other', 'encrypt', { plaintext: hello });
    await harness.refused(400, 'decryption-failed', 'aes', 'decrypt', { ciphertext });
  });

  test.each(['encrypt', 'decrypt', 'rewrap', 'generate-data-key'])(
    '%s with a signing key is 400 operation-not-supported',
    async (action) => {
      const body = { encrypt: { plaintext: hello }, 'generate-data-key': {} }[action] ?? { ciphertext: 'store:v1:aGVsbG8=' };
      await harness.refused(400, 'operation-not-supported', 'ed', action, body);
    },
  );

  test('an unknown key is 404 before the body is validated (api 55)', async () => {
    await harness.refused(404, 'not-found', 'nowhere', 'encrypt', { rubbish: true });
  });
});

/** The nonce of a convergent ciphertext, in hexadecimal. */
async function nonceOf(request: object): Promise<string> {
  const { ciphertext } = await harness.do('convergent', 'encrypt', request);
  return Buffer.from(ciphertext.split(':')[2], 'base64').subarray(0, 12).toString('hex');
}

describe('derived keys (spec; api 28, 31)', () => {
  beforeAll(async () => {
    await harness.create('derived', { derived: true });
    await harness.create('convergent', { derived: true, 'convergent-encryption': true });
  });

  test('the context is required and must be the same', async () => {
    await harness.refused(400, 'context-required', 'derived', 'encrypt', { plaintext: hello });
    const { ciphertext } = await harness.do('derived', 'encrypt', { plaintext: hello, context: 'customer 1' });
    expect((await harness.do('derived', 'decrypt', { ciphertext, context: 'customer 1' })).plaintext).toBe(hello);
    await harness.refused(400, 'decryption-failed', 'derived', 'decrypt', { ciphertext, context: 'customer 2' });
    await harness.refused(400, 'context-required', 'derived', 'decrypt', { ciphertext });
    await harness.refused(400, 'context-required', 'derived', 'decrypt', { ciphertext, context: '' });
  });

  test('the context is opaque text, whatever base64-encoded says: 1 to 4,096 octets of UTF-8', async () => {
    const context = 'é'.repeat(2048);
    const { ciphertext } = await harness.do('derived', 'encrypt', { plaintext: 'x', 'base64-encoded': false, context });
    expect((await harness.do('derived', 'decrypt', { ciphertext, context })).plaintext).toBe(base64('x'));
    await harness.refused(400, 'invalid-value', 'derived', 'encrypt', { plaintext: hello, context: `${context}a` });
  });

  test('derived alone: two encryptions differ; convergent: equal inputs give equal ciphertexts', async () => {
    const request = { plaintext: hello, context: 'c' };
    const different = await Promise.all([0, 1].map(() => harness.do('derived', 'encrypt', request)));
    expect(different[0].ciphertext).not.toBe(different[1].ciphertext);
    const equal = await Promise.all([0, 1].map(() => harness.do('convergent', 'encrypt', request)));
    expect(equal[0].ciphertext).toBe(equal[1].ciphertext);
    expect((await harness.do('convergent', 'decrypt', { ciphertext: equal[0].ciphertext, context: 'c' })).plaintext).toBe(hello);
  });

  test('convergent: another context, plaintext or associated data gives another nonce', async () => {
    const requests = [
      { plaintext: base64('ab'), context: 'c' },
      { plaintext: base64('b'), context: 'ca' },
      { plaintext: base64('ab'), context: 'd' },
      { plaintext: base64('ab'), context: 'c', 'associated-data': base64('x') },
      { plaintext: base64('b'), context: 'c', 'associated-data': base64('a') },
    ];
    expect(new Set(await Promise.all(requests.map(nonceOf))).size).toBe(requests.length);
  });

  test('rewrap of a derived key takes the context (api 30)', async () => {
    const { ciphertext } = await harness.do('derived', 'encrypt', { plaintext: hello, context: 'c' });
    await harness.do('derived', 'rotate');
    await harness.refused(400, 'context-required', 'derived', 'rewrap', { ciphertext });
    const moved = await harness.do('derived', 'rewrap', { ciphertext, context: 'c' });
    expect(moved).toEqual({ ciphertext: expect.stringMatching(/^store:v2:/), 'key-version': 2 });
    expect((await harness.do('derived', 'decrypt', { ciphertext: moved.ciphertext, context: 'c' })).plaintext).toBe(hello);
  });
});

describe('rewrap and generate-data-key (spec; api 35, 41)', () => {
  test('rewrap moves a ciphertext to the newest version and never shows the plaintext', async () => {
    await harness.create('moving');
    const { ciphertext } = await harness.do('moving', 'encrypt', { plaintext: hello, 'associated-data': base64('ad') });
    await harness.do('moving', 'rotate');
    const answer = await harness.do('moving', 'rewrap', { ciphertext, 'associated-data': base64('ad') });
    expect(Object.keys(answer).sort()).toEqual(['ciphertext', 'key-version']);
    expect((await harness.do('moving', 'decrypt', { ciphertext: answer.ciphertext, 'associated-data': base64('ad') })).plaintext).toBe(
      hello,
    );
    expect((await harness.do('moving', 'rewrap', { ciphertext, 'associated-data': base64('ad'), 'key-version': 1 }))['key-version']).toBe(
      1,
    );
  });

  test.each([128, 256, 512])('a data key of %i bits: in clear and encrypted', async (bits) => {
    const { ciphertext, plaintext } = await harness.do('aes', 'generate-data-key', { bits, type: 'plaintext' });
    expect(Buffer.from(plaintext, 'base64')).toHaveLength(bits / 8);
    expect((await harness.do('aes', 'decrypt', { ciphertext })).plaintext).toBe(plaintext);
  });

  test('the default is wrapped, 256 bits: no plaintext in the answer', async () => {
    const answer = await harness.do('aes', 'generate-data-key', {});
    expect(Object.keys(answer).sort()).toEqual(['ciphertext', 'key-version']);
    expect(Buffer.from((await harness.do('aes', 'decrypt', { ciphertext: answer.ciphertext })).plaintext, 'base64')).toHaveLength(32);
  });

  test.each([{ bits: 192 }, { bits: '256' }, { type: 'clear' }])('%j is 400 invalid-value', async (body) => {
    await harness.refused(400, 'invalid-value', 'aes', 'generate-data-key', body);
  });

  test('a data key of a derived key needs the context', async () => {
    await harness.refused(400, 'context-required', 'derived', 'generate-data-key', {});
    const { ciphertext, plaintext } = await harness.do('derived', 'generate-data-key', { type: 'plaintext', context: 'c' });
    expect((await harness.do('derived', 'decrypt', { ciphertext, context: 'c' })).plaintext).toBe(plaintext);
  });
});

const publicKeyOf = async (name: string): Promise<string> => Object.values((await harness.state(name)).keys).at(-1) as string;
const signatureOf = (value: string): Buffer => Buffer.from(value.split(':')[2] as string, 'base64');
const message = Buffer.from('hello world');

describe('sign and verify (spec "Signature compatibility"; api 32, 33)', () => {
  test.each(['rsa-2048', 'rsa-3072', 'rsa-4096', 'ecdsa-p256', 'ecdsa-p384', 'ecdsa-p521'])(
    '%s: SHA-256 by default, checked by node:crypto after the prefix is removed; ECDSA in DER',
    async (cipher) => {
      await harness.create(`s-${cipher}`, { cipher });
      const { signature, 'key-version': version } = await harness.do(`s-${cipher}`, 'sign', { text: hello });
      expect(signature).toMatch(/^store:v1:/);
      expect(version).toBe(1);
      expect(nodeVerify('sha256', message, await publicKeyOf(`s-${cipher}`), signatureOf(signature))).toBe(true);
      expect(await harness.do(`s-${cipher}`, 'verify', { text: hello, signature })).toEqual({ valid: true, 'key-version': 1 });
      expect((await harness.do(`s-${cipher}`, 'verify', { text: base64('hello worlD'), signature })).valid).toBe(false);
    },
  );

  test('ed25519 signs the data itself: 64 octets', async () => {
    const { signature } = await harness.do('ed', 'sign', { text: 'hello world', 'base64-encoded': false });
    expect(signatureOf(signature)).toHaveLength(64);
    expect(nodeVerify(null, message, await publicKeyOf('ed'), signatureOf(signature))).toBe(true);
    expect((await harness.do('ed', 'verify', { text: hello, signature })).valid).toBe(true);
  });

  const options: readonly [string, object][] = ['sha256', 'sha384', 'sha512'].flatMap((hash): [string, object][] => [
    ['rsa', { 'hash-algorithm': hash }],
    ['rsa', { 'hash-algorithm': hash, 'signature-algorithm': 'pkcs1v15' }],
    ['rsa', { 'hash-algorithm': hash, 'signature-algorithm': 'pss' }],
    ['p256', { 'hash-algorithm': hash }],
    ['p256', { 'hash-algorithm': hash, marshaling: 'jws' }],
    ['rsa', { 'hash-algorithm': hash, marshaling: 'jws' }],
  ]);
  test.each(options)(
    '%s with %j: data and finished hash give signatures that verify both ways, here and in node:crypto',
    async (name, extra) => {
      const hash = (extra as Record<string, string>)['hash-algorithm'] as string;
      const digest = createHash(hash).update(message).digest();
      const fromData = (await harness.do(name, 'sign', { text: hello, ...extra })).signature;
      const fromHash = (await harness.do(name, 'sign', { text: base64(digest), prehashed: true, ...extra })).signature;
      const raw = (extra as Record<string, string>)['marshaling'] === 'jws';
      const padding =
        (extra as Record<string, string>)['signature-algorithm'] === 'pss' ? { padding: constants.RSA_PKCS1_PSS_PADDING } : {};
      for (const signature of [fromData, fromHash]) {
        const octets = Buffer.from(signature.split(':')[2] as string, raw ? 'base64url' : 'base64');
        const key = { key: await publicKeyOf(name), ...padding, ...(raw ? { dsaEncoding: 'ieee-p1363' as const } : {}) };
        expect(nodeVerify(hash, message, key, octets)).toBe(true);
        expect((await harness.do(name, 'verify', { text: hello, signature, ...extra })).valid).toBe(true);
        expect((await harness.do(name, 'verify', { text: base64(digest), prehashed: true, signature, ...extra })).valid).toBe(true);
        const wrong = createHash(hash).update('else').digest();
        expect((await harness.do(name, 'verify', { text: base64(wrong), prehashed: true, signature, ...extra })).valid).toBe(false);
      }
    },
  );

  test('an option given to sign and forgotten in verify does not verify: no option is ignored', async () => {
    const { signature } = await harness.do('rsa', 'sign', { text: hello, 'signature-algorithm': 'pss', 'hash-algorithm': 'sha512' });
    for (const extra of [{}, { 'signature-algorithm': 'pss' }, { 'hash-algorithm': 'sha512' }]) {
      expect((await harness.do('rsa', 'verify', { text: hello, signature, ...extra })).valid).toBe(false);
    }
  });

  const misfits: readonly [string, object][] = [
    ['ed', { 'hash-algorithm': 'sha256' }],
    ['ed', { prehashed: true }],
    ['ed', { 'signature-algorithm': 'pss' }],
    ['p256', { 'signature-algorithm': 'pss' }],
    ['rsa', { 'hash-algorithm': 'sha1' }],
    ['rsa', { marshaling: 'xml' }],
    ['rsa', { prehashed: true }],
  ];
  test.each(misfits)('%s refuses %j', async (name, extra) => {
    await harness.refused(400, 'invalid-value', name, 'sign', { text: hello, ...extra });
  });

  test('prehashed false is the default said aloud, for every cipher and for an HMAC', async () => {
    for (const name of ['rsa', 'p256', 'ed']) {
      const { signature } = await harness.do(name, 'sign', { text: hello, prehashed: false });
      expect((await harness.do(name, 'verify', { text: hello, signature, prehashed: false })).valid).toBe(true);
    }
    const { hmac } = await harness.do('aes', 'hmac', { plaintext: hello });
    expect((await harness.do('aes', 'verify', { text: hello, hmac, prehashed: false })).valid).toBe(true);
  });

  test('a signature made elsewhere verifies when prefixed with the version of its public key (spec)', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    await harness.create('elsewhere', { cipher: 'rsa-2048' });
    await harness.do('elsewhere', 'import', { data: privateKey.export({ type: 'pkcs8', format: 'pem' }) });
    const signature = nodeSign('sha256', message, privateKey).toString('base64');
    expect((await harness.do('elsewhere', 'verify', { text: hello, signature: `store:v2:${signature}` })).valid).toBe(true);
    expect((await harness.do('elsewhere', 'verify', { text: hello, signature: `store:v1:${signature}` })).valid).toBe(false);
    const longSalt = nodeSign('sha256', message, { key: privateKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 222 });
    const pss = { signature: `store:v2:${longSalt.toString('base64')}`, 'signature-algorithm': 'pss' };
    expect((await harness.do('elsewhere', 'verify', { text: hello, ...pss })).valid).toBe(true);
    const digest = base64(createHash('sha256').update(message).digest());
    expect((await harness.do('elsewhere', 'verify', { text: digest, prehashed: true, ...pss })).valid).toBe(true);
  });

  const signatures: readonly [string, string, number, string][] = [
    ['malformed prefix', 'v1:aGVsbG8=', 400, 'invalid-format'],
    ['bad base64', 'store:v1:***', 400, 'invalid-base64'],
    [never, 'store:v7:aGVsbG8=', 400, 'version-unknown'],
  ];
  test.each(signatures)('verify: %s is refused (api 33)', async (_title, signature, status, code) => {
    for (const name of ['rsa', 'ed', 'p256']) await harness.refused(status, code, name, 'verify', { text: hello, signature });
  });

  test.each(['', 'AA==', base64(Buffer.alloc(64)), base64(Buffer.alloc(256)), base64(Buffer.alloc(256, 0xff)), base64(Buffer.alloc(3000))])(
    'verify: well-formed rubbish %# is 200 valid false',
    async (rubbish) => {
      for (const name of ['rsa', 'ed', 'p256']) {
        expect((await harness.do(name, 'verify', { text: hello, signature: `store:v1:${rubbish}` })).valid).toBe(false);
      }
      const prehashed = { text: base64(Buffer.alloc(32)), prehashed: true, signature: `store:v1:${rubbish}` };
      for (const name of ['rsa', 'p256']) expect((await harness.do(name, 'verify', prehashed)).valid).toBe(false);
      expect((await harness.do('rsa', 'verify', { ...prehashed, 'signature-algorithm': 'pss' })).valid).toBe(false);
    },
  );

  test('a version barred by min-decryption-version is 409 (api 33)', async () => {
    await harness.create('barred', { cipher: 'ed25519' });
    const { signature } = await harness.do('barred', 'sign', { text: hello });
    await harness.do('barred', 'rotate');
    await ok(204, harness.patch('barred', { 'min-decryption-version': 2 }));
    await harness.refused(409, 'version-not-allowed', 'barred', 'verify', { text: hello, signature });
  });

  test('a symmetric key neither signs nor verifies signatures', async () => {
    await harness.refused(400, 'operation-not-supported', 'aes', 'sign', { text: hello });
    await harness.refused(400, 'operation-not-supported', 'aes', 'verify', { text: hello, signature: 'store:v1:aGVsbG8=' });
  });

  test('3 MB of data are signed and verified', async () => {
    const text = randomBytes(3_000_000).toString('base64');
    for (const name of ['rsa', 'ed', 'p256']) {
      const { signature } = await harness.do(name, 'sign', { text });
      expect((await harness.do(name, 'verify', { text, signature })).valid).toBe(true);
    }
  });
});

describe('hmac (spec; api 34)', () => {
  test.each(['aes', 'rsa', 'ed', 'p256', 'derived'])('%s: store:hashed:v<N>:<base64>, the same for the same input', async (name) => {
    const latest = (await harness.state(name))['latest-version'];
    const one = await harness.do(name, 'hmac', { plaintext: hello });
    expect(one).toEqual({ hmac: expect.stringMatching(new RegExp(`^store:hashed:v${latest}:[A-Za-z0-9+/]{43}=$`)), 'key-version': latest });
    expect((await harness.do(name, 'hmac', { plaintext: 'hello world', 'base64-encoded': false })).hmac).toBe(one.hmac);
    expect((await harness.do(name, 'hmac', { plaintext: base64('hello worlD') })).hmac).not.toBe(one.hmac);
  });

  test('verify takes hmac in place of signature, and honours hash-algorithm (openbao 3668)', async () => {
    for (const hash of ['sha256', 'sha384', 'sha512']) {
      const { hmac } = await harness.do('aes', 'hmac', { plaintext: hello, 'hash-algorithm': hash });
      expect((await harness.do('aes', 'verify', { text: hello, hmac, 'hash-algorithm': hash })).valid).toBe(true);
      const other = hash === 'sha256' ? 'sha512' : 'sha256';
      expect((await harness.do('aes', 'verify', { text: hello, hmac, 'hash-algorithm': other })).valid).toBe(false);
      expect((await harness.do('aes', 'verify', { text: base64('no'), hmac, 'hash-algorithm': hash })).valid).toBe(false);
    }
  });

  test('a truncated HMAC is not valid', async () => {
    const { hmac } = await harness.do('aes', 'hmac', { plaintext: hello });
    const short = base64(Buffer.from(hmac.split(':')[3], 'base64').subarray(0, 16));
    expect((await harness.do('aes', 'verify', { text: hello, hmac: `store:hashed:v1:${short}` })).valid).toBe(false);
  });

  test('a ciphertext prefix on an hmac, both, neither, and options of signatures are 400', async () => {
    await harness.refused(400, 'invalid-format', 'aes', 'verify', { text: hello, hmac: 'store:v1:aGVsbG8=' });
    await harness.refused(400, 'missing-field', 'aes', 'verify', { text: hello });
    await harness.refused(400, 'invalid-value', 'rsa', 'verify', { text: hello, hmac: 'store:hashed:v1:AA==', signature: 'store:v1:AA==' });
    await harness.refused(400, 'invalid-value', 'aes', 'verify', { text: hello, hmac: 'store:hashed:v1:AA==', prehashed: true });
  });

  test('every version has its own HMAC key', async () => {
    await harness.create('hashing');
    const { hmac } = await harness.do('hashing', 'hmac', { plaintext: hello });
    await harness.do('hashing', 'rotate');
    const renewed = await harness.do('hashing', 'hmac', { plaintext: hello });
    expect(renewed.hmac.split(':')[3]).not.toBe(hmac.split(':')[3]);
    expect((await harness.do('hashing', 'verify', { text: hello, hmac })).valid).toBe(true);
    expect((await harness.do('hashing', 'hmac', { plaintext: hello, 'key-version': 1 })).hmac).toBe(hmac);
  });
});

/** A batch of one field. */
function items(field: string, values: readonly string[]): object {
  return { 'batch-input': values.map((value) => ({ [field]: value })) };
}

describe('batches (api 45)', () => {
  test('in order, isolated, with reference echoed; some failed is 200', async () => {
    const answer = await harness.do('aes', 'encrypt', {
      'batch-input': [
        { plaintext: hello, reference: 'a' },
        { plaintext: '?', reference: 'b' },
        { reference: 'c' },
        { plaintext: hello, colour: 'red' },
        { plaintext: base64('last') },
      ],
    });
    expect(answer.failed).toBe(3);
    expect(answer['batch-results']).toEqual([
      { ciphertext: expect.stringMatching(/^store:v1:/), 'key-version': 1, reference: 'a' },
      { status: 400, code: 'invalid-base64', 'error-message': expect.any(String), reference: 'b' },
      { status: 400, code: 'missing-field', 'error-message': expect.any(String), reference: 'c' },
      { status: 400, code: 'unknown-field', 'error-message': expect.any(String) },
      { ciphertext: expect.stringMatching(/^store:v1:/), 'key-version': 1 },
    ]);
    const ciphertext = answer['batch-results'][4].ciphertext;
    expect((await harness.do('aes', 'decrypt', { ciphertext })).plaintext).toBe(base64('last'));
  });

  test('what is no text or number as it should be fails alone too, and a reference comes back as it was sent', async () => {
    const { failed, 'batch-results': results } = await harness.do('aes', 'encrypt', {
      'batch-input': [
        { plaintext: '\ud800', 'base64-encoded': false, reference: 'x'.repeat(300) },
        { plaintext: hello, 'key-version': 1e300 },
        { plaintext: { nested: hello } },
        { plaintext: hello, reference: '"\\\u2028ä\ud83d\ude00' },
        { plaintext: hello, reference: 7 },
        { plaintext: hello },
      ],
    });
    expect(failed).toBe(4);
    expect(results.map((one: { code?: string }) => one.code)).toEqual([
      ...['invalid-value', 'invalid-value', 'invalid-value', undefined, 'invalid-value', undefined],
    ]);
    expect(results.map((one: { reference?: string }) => one.reference)).toEqual([
      ...['x'.repeat(300), undefined, undefined, '"\\\u2028ä\ud83d\ude00', undefined, undefined],
    ]);
  });

  test('all failed is 400 with the same body', async () => {
    const { status, body } = await harness.act('aes', 'decrypt', { 'batch-input': [{ ciphertext: 'x' }, { ciphertext: 'store:v1:AAAA' }] });
    expect(status).toBe(400);
    expect(body.failed).toBe(2);
    expect(body['batch-results'].map((one: { code: string }) => one.code)).toEqual(['invalid-format', 'decryption-failed']);
  });

  test('every batch action: encrypt, decrypt, rewrap, sign, verify, hmac', async () => {
    const texts = ['a', 'b', 'c'].map(base64);
    const sealed = await harness.do('aes', 'encrypt', items('plaintext', texts));
    const ciphertexts = sealed['batch-results'].map((one: { ciphertext: string }) => one.ciphertext);
    const moved = await harness.do('aes', 'rewrap', items('ciphertext', ciphertexts));
    const opened = await harness.do(
      'aes',
      'decrypt',
      items(
        'ciphertext',
        moved['batch-results'].map((one: { ciphertext: string }) => one.ciphertext),
      ),
    );
    expect(opened['batch-results'].map((one: { plaintext: string }) => one.plaintext)).toEqual(texts);
    const signed = await harness.do('p256', 'sign', items('text', texts));
    const hashed = await harness.do('p256', 'hmac', items('plaintext', texts));
    const verified = await harness.do('p256', 'verify', {
      'batch-input': texts.flatMap((text, at) => [
        { text, signature: signed['batch-results'][at].signature },
        { text, hmac: hashed['batch-results'][at].hmac },
        { text, signature: signed['batch-results'][(at + 1) % 3].signature },
      ]),
    });
    expect(verified['batch-results'].map((one: { valid: boolean }) => one.valid)).toEqual([
      true,
      true,
      false,
      true,
      true,
      false,
      true,
      true,
      false,
    ]);
  });

  test('items that differ in all they may are answered as each is by itself', async () => {
    await harness.create('contexts', { derived: true, 'convergent-encryption': true });
    const items = ['a', 'b', 'a', undefined, 'b'].map((context) => ({ plaintext: hello, ...(context === undefined ? {} : { context }) }));
    const { 'batch-results': sealed } = await harness.do('contexts', 'encrypt', { 'batch-input': items });
    expect(sealed[3]).toMatchObject({ status: 400, code: 'context-required' });
    expect(sealed[0]).toEqual(sealed[2]);
    const opened = await harness.do('contexts', 'decrypt', {
      'batch-input': sealed.map(({ ciphertext }: { ciphertext?: string }) => ({ ciphertext: ciphertext ?? '', context: 'a' })),
    });
    expect(opened['batch-results'].map((one: { plaintext?: string; code?: string }) => one.plaintext ?? one.code)).toEqual([
      ...[hello, 'decryption-failed', hello, 'invalid-format', 'decryption-failed'],
    ]);
    await harness.create('ec', { cipher: 'ecdsa-p256' });
    const long = base64('x'.repeat(300_000));
    const texts = [
      ...[{ text: hello }, { text: long }, { text: hello, 'hash-algorithm': 'sha512' }],
      ...[{ text: hello, marshaling: 'jws' }, { text: hello, prehashed: true }, { text: hello, 'key-version': 2 }, { text: hello }],
    ];
    const { 'batch-results': signed } = await harness.do('ec', 'sign', { 'batch-input': texts });
    const checks = signed.flatMap(({ signature }: { signature?: string }, at: number) =>
      signature === undefined ? [] : [{ ...texts[at], signature }],
    );
    const verified = await harness.do('ec', 'verify', { 'batch-input': checks });
    expect(verified['batch-results'].map((one: { valid: boolean }) => one.valid)).toEqual([true, true, true, true, true]);
    expect(signed.map((one: { code?: string }) => one.code)).toEqual([
      ...[undefined, undefined, undefined, undefined, 'invalid-value', 'version-unknown', undefined],
    ]);
    const { 'signed-digest': digests } = harness.records().at(-2) as { 'signed-digest': (string | null)[] };
    expect(digests.map((one) => one === null)).toEqual([false, false, false, false, true, true, false]);
  });

  test('1,000 items pass, none and 1,001 do not, and no other field is allowed beside batch-input', async () => {
    const batch = (count: number) => ({ 'batch-input': Array.from({ length: count }, () => ({ plaintext: hello })) });
    expect((await harness.do('aes', 'encrypt', batch(1000)))['batch-results']).toHaveLength(1000);
    await harness.refused(400, 'invalid-value', 'aes', 'encrypt', batch(1001));
    await harness.refused(400, 'invalid-value', 'aes', 'encrypt', batch(0));
    await harness.refused(400, 'invalid-value', 'aes', 'encrypt', { ...batch(1), plaintext: hello });
    await harness.refused(400, 'invalid-value', 'aes', 'encrypt', { ...batch(1), 'base64-encoded': false });
    await harness.refused(400, 'invalid-value', 'aes', 'encrypt', { 'batch-input': ['text'] });
  });
});

describe('rotate and trim (spec; api 27, 40)', () => {
  test('rotate raises latest-version by one and adds to keys; new encryptions use the newest version', async () => {
    await harness.create('turning');
    harness.clock.advance(5);
    await harness.do('turning', 'rotate');
    const state = await harness.state('turning');
    expect(state['latest-version']).toBe(2);
    expect(Object.keys(state.keys)).toEqual(['1', '2']);
    expect(Number(state.keys['2']) - Number(state.keys['1'])).toBeGreaterThanOrEqual(5_000_000);
    expect((await harness.do('turning', 'encrypt', { plaintext: hello }))['key-version']).toBe(2);
  });

  test('min-encryption-version bars old versions from encryption, min-decryption-version from decryption: 409', async () => {
    await harness.create('mins');
    const { ciphertext } = await harness.do('mins', 'encrypt', { plaintext: hello });
    await harness.do('mins', 'rotate');
    await ok(204, harness.patch('mins', { 'min-encryption-version': 2 }));
    await harness.refused(409, 'version-not-allowed', 'mins', 'encrypt', { plaintext: hello, 'key-version': 1 });
    expect((await harness.do('mins', 'decrypt', { ciphertext })).plaintext).toBe(hello);
    await ok(204, harness.patch('mins', { 'min-decryption-version': 2 }));
    await harness.refused(409, 'version-not-allowed', 'mins', 'decrypt', { ciphertext });
    await harness.refused(409, 'version-not-allowed', 'mins', 'rewrap', { ciphertext });
    await ok(204, harness.patch('mins', { 'min-decryption-version': 0 }));
    expect((await harness.do('mins', 'decrypt', { ciphertext })).plaintext).toBe(hello);
  });

  test('trim removes versions older than the given one, for good; at or below the oldest version nothing happens', async () => {
    await harness.create('trimmed');
    const { ciphertext } = await harness.do('trimmed', 'encrypt', { plaintext: hello });
    for (let n = 0; n < 4; n += 1) await harness.do('trimmed', 'rotate');
    await harness.do('trimmed', 'trim', { version: 4 });
    expect(Object.keys((await harness.state('trimmed')).keys)).toEqual(['4', '5']);
    expect((await harness.state('trimmed'))['oldest-version']).toBe(4);
    await harness.refused(400, 'version-unknown', 'trimmed', 'decrypt', { ciphertext });
    await harness.refused(400, 'version-unknown', 'trimmed', 'encrypt', { plaintext: hello, 'key-version': 3 });
    for (const version of [1, 4]) await harness.do('trimmed', 'trim', { version });
    await harness.refused(400, 'version-unknown', 'trimmed', 'trim', { version: 6 });
    await harness.refused(400, 'invalid-value', 'trimmed', 'trim', { version: 0 });
    await harness.refused(400, 'missing-field', 'trimmed', 'trim', {});
    expect((await harness.state('trimmed'))['latest-version']).toBe(5);
  });

  test('trim keeps the version that encrypts while a newer one waits, until a minimum version names the newer one', async () => {
    for (const cipher of ['aes256-gcm96', 'ed25519']) {
      const name = `waiting-${cipher}`;
      await harness.create(name, { cipher, 'auto-rotate': { 'rotate-after': '90d', 'activate-after': '1d' } });
      for (let n = 0; n < 3; n += 1) await harness.do(name, 'rotate');
      for (const version of [2, 4]) await harness.refused(409, 'in-use', name, 'trim', { version });
      expect((await harness.act(name, 'trim', { version: 3 })).body.detail).toMatch(
        /Version 1 encrypts and signs.*min-encryption-version to 3 /,
      );
      expect(Object.keys((await harness.state(name)).keys)).toEqual(['1', '2', '3', '4']);
      await ok(204, harness.patch(name, { 'min-encryption-version': 3 }));
      await harness.refused(409, 'in-use', name, 'trim', { version: 4 });
      await harness.do(name, 'trim', { version: 3 });
      expect(Object.keys((await harness.state(name)).keys)).toEqual(['3', '4']);
      harness.clock.advance(86_400);
      await harness.do(name, 'trim', { version: 4 });
      expect(Object.keys((await harness.state(name)).keys)).toEqual(['4']);
    }
  });

  test('20 rotations at once make 20 versions', async () => {
    await harness.create('busy', { cipher: 'ecdsa-p256' });
    const statuses = await Promise.all(Array.from({ length: 20 }, async () => (await harness.act('busy', 'rotate')).status));
    expect(new Set(statuses)).toEqual(new Set([204]));
    expect((await harness.state('busy'))['latest-version']).toBe(21);
  });

  test('trimming a token-custody key removes its token objects', async () => {
    await harness.create('resident-trim', { custody: 'token' });
    const { ciphertext } = await harness.do('resident-trim', 'encrypt', { plaintext: hello });
    await harness.do('resident-trim', 'rotate');
    await harness.do('resident-trim', 'trim', { version: 2 });
    await harness.refused(400, 'version-unknown', 'resident-trim', 'decrypt', { ciphertext });
    expect([...harness.store.prefixed('transit').table('graveyard').entries([])]).toEqual([]);
  });
});

describe('what is written down', () => {
  const sha256 = (text: Uint8Array | string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`;
  const lastDigest = (): unknown => harness.records().findLast(({ path }) => String(path).endsWith('/sign'))?.['signed-digest'];

  test('the record of a signature names what was signed: the SHA-256 of the text whatever hash signs, or the hash that was given', async () => {
    for (const [name, extra] of [
      ['rsa', {}],
      ['rsa', { 'hash-algorithm': 'sha512', 'signature-algorithm': 'pss' }],
      ['p256', { 'hash-algorithm': 'sha384' }],
      ['ed', {}],
    ] as const) {
      await harness.do(name, 'sign', { text: hello, ...extra });
      expect(lastDigest()).toBe(sha256(message));
    }
    const digest = createHash('sha384').update(message).digest();
    await harness.do('p256', 'sign', { text: base64(digest), prehashed: true, 'hash-algorithm': 'sha384' });
    expect(lastDigest()).toBe(`sha384:${digest.toString('hex')}`);
    await harness.refused(400, 'invalid-base64', 'p256', 'sign', { text: '*' });
    expect(lastDigest()).toBeUndefined();
  });

  test('that of a batch names every item in order, null where there is no signature, also of the largest batch', async () => {
    const items = Array.from({ length: 1_000 }, (_, n) => ({ text: n === 1 ? '*' : base64(`text ${n}`) }));
    await harness.do('ed', 'sign', { 'batch-input': items });
    expect(lastDigest()).toEqual(items.map((_, n) => (n === 1 ? null : sha256(`text ${n}`))));
  });

  test('nothing but signatures is named: a digest of what is encrypted or authenticated could be guessed', async () => {
    await harness.create('unnamed');
    await harness.do('unnamed', 'hmac', { plaintext: hello });
    await harness.do('unnamed', 'encrypt', { plaintext: hello });
    expect(harness.records().filter((record) => String(record['path']).includes('/unnamed/') && 'signed-digest' in record)).toEqual([]);
    expect(harness.records().filter((record) => String(record['path']).endsWith('/verify') && 'signed-digest' in record)).toEqual([]);
  });

  test('the audit trail and the log have no payload, context, signature or key', async () => {
    await harness.create('silent', { derived: true, exportable: true });
    const body = { plaintext: base64('very secret payload'), context: 'very secret context' };
    const { ciphertext } = await harness.do('silent', 'encrypt', body);
    await harness.do('silent', 'decrypt', { ciphertext, context: body.context });
    const { keys } = await harness.do('silent', 'export', {});
    const written = harness.written();
    for (const secret of [body.plaintext, 'very secret', ciphertext, ...Object.values<string>(keys)]) expect(written).not.toContain(secret);
    expect(written).toMatch(/"path":"[^"]*silent\/encrypt".*"status":200.*"key-version":1/);
  });
});
