// Keys that agree: what others seal to them by HPKE, JWE and age opens here, and one answer for all that does not.
import { createCipheriv, createPrivateKey, createPublicKey, publicEncrypt, randomBytes } from 'node:crypto';
import { Decrypter, Encrypter, type Identity, type Stanza } from 'age-encryption';
import { CompactEncrypt } from 'jose';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { encodeBech32 } from '../../../../appliance/cli/age/bech32.ts';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { type TransitHarness, base64, codeOf, startTransitHarness } from '../harness.ts';

const directory = temporaryDirectory();
const config = '/v1/config/keystore/transit-keys';
const plaintext = base64('Beauty is truth, truth beauty');
let harness: TransitHarness;

beforeAll(async () => {
  harness = await startTransitHarness(directory('harness'));
});
afterEach(() => harness.expectSound());
afterAll(() => harness.stop());

const hex = (text: string): Buffer => Buffer.from(text, 'hex');
const publicKeyOf = async (name: string, version = '1') => createPublicKey((await harness.state(name)).keys[version]);

/** Imports the private number of a curve into a new key, as PKCS#8. */
async function importNumber(name: string, cipher: string, number: string): Promise<void> {
  const pkcs8 =
    cipher === 'x25519'
      ? createPrivateKey({ key: hex(number), format: 'raw-private', asymmetricKeyType: 'x25519' })
      : createPrivateKey({ key: hex(number), format: 'raw-private', asymmetricKeyType: 'ec', namedCurve: 'prime256v1' });
  await harness.create(name, { cipher, use: 'agree' });
  await harness.do(name, 'import', { data: pkcs8.export({ format: 'pem', type: 'pkcs8' }) });
}

describe('HPKE', () => {
  const info = base64(hex('4f6465206f6e2061204772656369616e2055726e'));
  const aad = base64(hex('436f756e742d30'));
  /** RFC 9180, appendices A.1.1 and A.3.1: suite with AES-128-GCM, the first encryption of each. */
  const vectors = [
    {
      cipher: 'x25519',
      secret: '4612c550263fc8ad58375df3f557aac531d26850903e55a9f23f21d8534e8ac8',
      enc: '37fda3567bdbd628e88668c3c8d7e97d1d1253b6d4ea6d44c150f741f1bf4431',
      sealed: 'f938558b5d72f1a23810b4be2ab4f84331acc02fc97babc53a52ae8218a355a96d8770ac83d07bea87e13c512a',
    },
    {
      cipher: 'ecdsa-p256',
      secret: 'f3ce7fdae57e1a310d87f1ebbde6f328be0a99cdbcadf4d6589cf29de4b8ffd2',
      enc: '04a92719c6195d5085104f469a8b9814d5838ff72b60501e2c4466e5e67b325ac98536d7b61a1af4b78e5b7f951c0900be863c403ce65c9bfcb9382657222d18c4',
      sealed: '5ad590bb8baa577f8619db35a36311226a896e7342a6d836d8b7bcd2f20b6c7f9076ac232e3ab2523f39513434',
    },
  ] as const;

  test.each(vectors)(
    'opens the vector of RFC 9180 to $cipher, and nothing that differs from it',
    async ({ cipher, secret, enc, sealed }) => {
      const name = `rfc9180-${cipher}`;
      await importNumber(name, cipher, secret);
      const ciphertext = base64(hex(enc + sealed));
      const request = { ciphertext, format: 'hpke', aead: 'aes-128-gcm', info, 'associated-data': aad };
      expect(await harness.do(name, 'decrypt', request)).toEqual({ plaintext, 'key-version': 2 });
      const octets = hex(enc + sealed);
      const flipped = (at: number): string => base64(octets.map((octet, index) => (index === at ? octet ^ 1 : octet)));
      const wrong: object[] = [
        ...[1, 20, enc.length / 2 - 1, enc.length / 2, octets.length - 1].map((at) => ({ ...request, ciphertext: flipped(at) })),
        { ...request, ciphertext: base64(Buffer.concat([Buffer.alloc(enc.length / 2), hex(sealed)])) },
        { ...request, aead: 'aes-256-gcm' },
        { ...request, aead: 'chacha20-poly1305' },
        { ...request, kdf: 'hkdf-sha512' },
        { ...request, info: base64('another') },
        { ...request, 'associated-data': base64('another') },
        // Version 1 is another key, which is not tried unless it is named.
        { ...request, 'key-version': 1 },
      ];
      const answers = await Promise.all(wrong.map((one) => harness.refused(400, 'decryption-failed', name, 'decrypt', one)));
      expect(new Set(answers.map(({ detail }) => detail)).size).toBe(1);
      await harness.refused(400, 'invalid-format', name, 'decrypt', {
        ...request,
        ciphertext: base64(octets.subarray(0, enc.length / 2 + 15)),
      });
      await harness.refused(400, 'invalid-base64', name, 'decrypt', { ...request, ciphertext: '!' });
    },
  );

  /** Sealed by crypto/hpke of Go 1.26 to keys of nobody, with `info` and `aad`. */
  const byGo = [
    {
      ...{ cipher: 'ecdsa-p256', kdf: 'hkdf-sha256', aead: 'aes-256-gcm' },
      key: 'MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgTE3mYfuxZnWZsgh+w4UCMFlBunytFzD4/0z70mQH/2KhRANCAAQ76nLXpGmTqJi6Qe7hFWsquVdyr6aHkaiH2EXl1uF1vmVRty9OqRmSjrqHuWE7B55xbwhYdVQbpScSe5CGPRZU',
      ciphertext:
        'BHjgISAX5j6oDravAvWwP3nY12GnUTLxcFwVGOb2Gg5I6UkiCsbca1bP21xVO3HRbRnfUnrzylwJfVfiyAmxIRORxeRAri7wT4avaFA7/cD4FfBPNbeq76VKuY3G',
    },
    {
      ...{ cipher: 'ecdsa-p384', kdf: 'hkdf-sha384', aead: 'aes-256-gcm' },
      key: 'MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDCArh+20+GU/nWtyHHZzEKaItSlS4vtJFP8udLEedyH2vVCs0S6H5tV7HHZDbwunFOhZANiAASco/t3TieN9Y+98FwtGvjQmx8PMA/nDCjs7SxDT00PxLZ6OShMU+2WQUvcl9erNDHJhsQK4qSohcEO8bkpEyiTkI4Sh/jH+8Nfp7A5FUmbfdBRwuLVOp4sxZAJuYwHNDk=',
      ciphertext:
        'BMiVtC8SbGb/OWvg6F6177INZ28aYmTpdySF+MzE0F9sLcptXQMf/xG49kIEuKyWVRdxizo+sW/uF98JKsQjx5+ig6NvvVaZjl+15RUyUX7Ap4VVjAjV1Th8TqmnvxTe+KjLW0vQNhVYC+hlZ9OeWjcR/1yRnSg1+ujgP7o=',
    },
    {
      ...{ cipher: 'ecdsa-p521', kdf: 'hkdf-sha512', aead: 'aes-256-gcm' },
      key: 'MIHuAgEAMBAGByqGSM49AgEGBSuBBAAjBIHWMIHTAgEBBEIAs9zrraGPc8o3FmMJ6hf97zbRVnl56JyUYsw/k5moHLimXnn0jtBvTTki+1wIUZR1D1AcZ9KR3YkWabIvlGq+UTWhgYkDgYYABABcnDYnbbPTwsMILW5AvdMhB+w1WtK/kaO85wSI7AJ7+16fO1/TKSRKBX7vhuGkgxVgxTMLYA5HUuW0k/S1nzVqdQFMddLJsHv8nYsBjxtKMiJumzJjW2iqhhpdfgXAP6F9x/iT62JDWiEK3y4DONz9ZsymX3oygEkvpgSDPHk+ls2g0Q==',
      ciphertext:
        'BAFLVGRBXSKtwiVLbATncr9VEJ4Q8QVOs88Oi7IGgN9qyVSBvCPk+bY71CJ7lcIBUCSnsGTyy6muF947g3Df9cQ37gHU+DDhYx6/5mf01vGunh0VTtjinJDLKhUzFOryaR2al01euqgCZcR4Et8srE4sVrG0rtIPI5eieNctxhlXAFJLLXfazZK4L6QHuPFSbqyClyP46eH1TRPInLhgNpA=',
    },
    {
      ...{ cipher: 'x25519', kdf: 'hkdf-sha512', aead: 'chacha20-poly1305' },
      key: 'MC4CAQAwBQYDK2VuBCIEINhi1ou8yWxKsRIZjW9rmh911SsicniJRrsRWzgeVNBT',
      ciphertext: 'qk+FfVF+2t3Es9aKD1L6hDzRIUe0XO3+O1NH5WAxzioENPtvjmTcE0EVC0klKd936fdApUe6KQ1LbpGF',
    },
  ] as const;

  test.each(byGo)('opens what Go has sealed to $cipher by $kdf and $aead', async ({ cipher, kdf, aead, key, ciphertext }) => {
    const name = `go-${cipher}`;
    await harness.create(name, { cipher, use: 'agree' });
    await harness.do(name, 'import', { data: `-----BEGIN PRIVATE KEY-----\n${key}\n-----END PRIVATE KEY-----\n` });
    const request = { ciphertext, format: 'hpke', kdf, aead, info: base64('info'), 'associated-data': base64('aad') };
    expect((await harness.do(name, 'decrypt', request)).plaintext).toBe(base64('sealed by Go'));
  });
});

describe('JWE', () => {
  test('derives the key of RFC 7518, appendix C', async () => {
    const bob = {
      kty: 'EC',
      crv: 'P-256',
      x: 'weNJy2HscCSM6AEDTDg04biOvhFhyyWvOHQfeF_PxMQ',
      y: 'e8lnCO-AlStT-NJVX-crhB7QRYhiix03illJOVAOyck',
      d: 'VEmDZpDXXK8p8N0Cndsxs924q6nS1RXFASRl6BfUqdw',
    };
    await harness.create('bob', { cipher: 'ecdsa-p256', use: 'agree' });
    await harness.do('bob', 'import', { data: JSON.stringify(bob) });
    const epk = {
      kty: 'EC',
      crv: 'P-256',
      x: 'gI0GAILBdu7T53akrFmMyGcsF3n5dO7MmwNBHKW5SV0',
      y: 'SLW_xSffzlPWrHEVI30DHM_4egVwt3NQqeUD7nMFpps',
    };
    const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const header = encode({ alg: 'ECDH-ES', enc: 'A128GCM', apu: 'QWxpY2U', apv: 'Qm9i', epk });
    const iv = randomBytes(12);
    const cipher = createCipheriv('aes-128-gcm', Buffer.from('VqqN6vgjbSBcIijNcacQGg', 'base64url'), iv).setAAD(Buffer.from(header));
    const sealed = Buffer.concat([cipher.update(Buffer.from(plaintext, 'base64')), cipher.final()]);
    const parts = [iv, sealed, cipher.getAuthTag()].map((part) => part.toString('base64url'));
    const ciphertext = `${header}..${parts.join('.')}`;
    expect((await harness.do('bob', 'decrypt', { ciphertext, format: 'jwe' })).plaintext).toBe(plaintext);
  });

  const algorithms = ['ECDH-ES', 'ECDH-ES+A128KW', 'ECDH-ES+A192KW', 'ECDH-ES+A256KW'];
  const contents = ['A128GCM', 'A192GCM', 'A256GCM', 'A128CBC-HS256', 'A192CBC-HS384', 'A256CBC-HS512'];
  const seal = async (name: string, alg: string, enc: string, more: object = {}): Promise<string> =>
    new CompactEncrypt(Buffer.from(plaintext, 'base64')).setProtectedHeader({ alg, enc, ...more }).encrypt(await publicKeyOf(name));

  test.each(['ecdsa-p256', 'ecdsa-p384', 'ecdsa-p521', 'x25519'])('opens what jose seals to %s by every algorithm', async (cipher) => {
    const name = `jose-${cipher}`;
    await harness.create(name, { cipher, use: 'agree' });
    const sealed = await Promise.all(algorithms.flatMap((alg) => contents.map((enc) => seal(name, alg, enc))));
    const items = sealed.map((ciphertext) => ({ ciphertext, format: 'jwe' }));
    const { 'batch-results': results } = await harness.do(name, 'decrypt', { 'batch-input': items });
    expect(results.map((one: { plaintext: string }) => one.plaintext)).toEqual(items.map(() => plaintext));
  });

  test('opens what jose seals to an RSA key', async () => {
    await harness.create('jose-rsa', { cipher: 'rsa-2048', use: 'encrypt' });
    for (const alg of ['RSA-OAEP', 'RSA-OAEP-256', 'RSA-OAEP-384', 'RSA-OAEP-512'])
      for (const enc of ['A256GCM', 'A128CBC-HS256']) {
        const ciphertext = await seal('jose-rsa', alg, enc);
        expect((await harness.do('jose-rsa', 'decrypt', { ciphertext, format: 'jwe' })).plaintext, `${alg} ${enc}`).toBe(plaintext);
      }
    const agreed = await seal('jose-x25519', 'ECDH-ES', 'A256GCM');
    await harness.refused(400, 'invalid-format', 'jose-rsa', 'decrypt', { ciphertext: agreed, format: 'jwe' });
  });

  test('kid names the version, which may wait or be an older one; without it the latest is meant', async () => {
    await harness.create('rotated', { cipher: 'ecdsa-p256', use: 'agree', publish: true });
    const { kid } = (await harness.state('rotated')).versions['1'];
    const [named, unnamed] = [await seal('rotated', 'ECDH-ES+A256KW', 'A256GCM', { kid }), await seal('rotated', 'ECDH-ES', 'A256GCM')];
    await harness.do('rotated', 'rotate');
    expect(await harness.do('rotated', 'decrypt', { ciphertext: named, format: 'jwe' })).toEqual({ plaintext, 'key-version': 1 });
    await harness.refused(400, 'decryption-failed', 'rotated', 'decrypt', { ciphertext: unnamed, format: 'jwe' });
    const older = { ciphertext: unnamed, format: 'jwe', 'key-version': 1 };
    expect(await harness.do('rotated', 'decrypt', older)).toEqual({ plaintext, 'key-version': 1 });
    await harness.patch('rotated', { 'min-decryption-version': 2 });
    await harness.refused(409, 'version-not-allowed', 'rotated', 'decrypt', { ciphertext: named, format: 'jwe' });
    const jwks = await harness.request('GET', (await harness.state('rotated'))['jwks-path']);
    expect(jwks.body.keys).toEqual([expect.objectContaining({ kty: 'EC', crv: 'P-256', use: 'enc' })]);
  });

  test('without kid and key-version the newest active version is meant, which senders use while a newer one waits', async () => {
    const waiting = { 'auto-rotate': { 'rotate-after': '30d', 'activate-after': '1h' } };
    await harness.create('waits', { cipher: 'ecdsa-p256', use: 'agree', ...waiting });
    await harness.create('waits-rsa', { cipher: 'rsa-2048', use: 'encrypt', ...waiting });
    for (const name of ['waits', 'waits-rsa']) await harness.do(name, 'rotate');
    const text = Buffer.from(plaintext, 'base64');
    const alg = { waits: 'ECDH-ES', 'waits-rsa': 'RSA-OAEP' };
    for (const name of ['waits', 'waits-rsa'] as const) {
      const jwe = new CompactEncrypt(text).setProtectedHeader({ alg: alg[name], enc: 'A256GCM' });
      const ciphertext = await jwe.encrypt(await publicKeyOf(name));
      expect(await harness.do(name, 'decrypt', { ciphertext, format: 'jwe' })).toEqual({ plaintext, 'key-version': 1 });
    }
    const ciphertext = base64(publicEncrypt({ key: await publicKeyOf('waits-rsa'), oaepHash: 'sha256' }, text));
    expect(await harness.do('waits-rsa', 'decrypt', { ciphertext })).toEqual({ plaintext, 'key-version': 1 });
  });

  test('says of a text that is no such JWE what is wrong with it, and of one that does not open nothing', async () => {
    const sealed = await seal('jose-ecdsa-p256', 'ECDH-ES+A256KW', 'A256GCM');
    const [header, ...others] = sealed.split('.') as [string, ...string[]];
    const members = JSON.parse(Buffer.from(header, 'base64url').toString()) as { epk: { x: string; y: string } };
    const withHeader = (changed: object): string =>
      [Buffer.from(JSON.stringify({ ...members, ...changed })).toString('base64url'), ...others].join('.');
    const malformed = [
      '',
      'a.b.c',
      `${sealed}.`,
      sealed.replace('.', '=.'),
      withHeader({ alg: 'dir' }),
      withHeader({ alg: 'RSA1_5' }),
      withHeader({ alg: undefined }),
      withHeader({ enc: 'A256CBC' }),
      withHeader({ crit: ['b64'] }),
      withHeader({ zip: 'DEF' }),
      withHeader({ epk: undefined }),
      withHeader({ epk: { ...members.epk, crv: 'P-384' } }),
      withHeader({ epk: { ...members.epk, y: members.epk.y.slice(2) } }),
      withHeader({ apu: 7 }),
      withHeader({ padding: 'x'.repeat(20_000) }),
      withHeader({ alg: 'ECDH-ES' }),
      [header, others[0]?.slice(4), ...others.slice(1)].join('.'),
      `${Buffer.from('[]').toString('base64url')}.${others.join('.')}`,
      `${Buffer.from([0xff, 0xfe]).toString('base64url')}.${others.join('.')}`,
    ];
    for (const ciphertext of malformed)
      expect(await codeOf(harness.act('jose-ecdsa-p256', 'decrypt', { ciphertext, format: 'jwe' })), ciphertext.slice(0, 60)).toEqual({
        status: 400,
        code: 'invalid-format',
      });
    const changed = (at: number): string =>
      sealed
        .split('.')
        .map((part, index) => (index === at ? flip(part) : part))
        .join('.');
    const unopened = [1, 2, 3, 4].map(changed);
    unopened.push(withHeader({ epk: { ...members.epk, y: members.epk.x } }), withHeader({ enc: 'A256GCM', note: 'changed' }));
    unopened.push(withHeader({ epk: { ...members.epk, x: 'A'.repeat(43), y: 'A'.repeat(43) } }));
    const details = await Promise.all(
      unopened.map(
        async (ciphertext) =>
          (await harness.refused(400, 'decryption-failed', 'jose-ecdsa-p256', 'decrypt', { ciphertext, format: 'jwe' })).detail,
      ),
    );
    expect(new Set(details).size).toBe(1);
  });
});

/** Changes a bit in the middle of base64url. */
function flip(text: string): string {
  const octets = Buffer.from(text, 'base64url');
  octets[octets.length >> 1] = (octets[octets.length >> 1] as number) ^ 1;
  return octets.toString('base64url');
}

describe('age', () => {
  const stanzaText = ({ args, body }: Stanza): string => `-> ${args.join(' ')}\n${body.toBase64({ omitPadding: true })}\n`;

  test('opens files that age-encryption seals to the public key, one recipient of several', async () => {
    await harness.create('archive', { cipher: 'x25519' });
    const raw = (await publicKeyOf('archive')).export({ format: 'raw-public' });
    const encrypter = new Encrypter();
    encrypter.addRecipient(encodeBech32('age', randomBytes(32)));
    encrypter.addRecipient(encodeBech32('age', raw));
    const file = await encrypter.encrypt('a backup');
    const seen: string[] = [];
    const identity: Identity = {
      unwrapFileKey: async (stanzas) => {
        for (const stanza of stanzas) {
          const { status, body } = await harness.act('archive', 'decrypt', { ciphertext: stanzaText(stanza), format: 'age' });
          seen.push(body.code ?? 'opened');
          if (status === 200) return Uint8Array.fromBase64(body.plaintext);
        }
        return null;
      },
    };
    const decrypter = new Decrypter();
    decrypter.addIdentity(identity);
    expect(await decrypter.decrypt(file, 'text')).toBe('a backup');
    expect(seen).toEqual(['decryption-failed', 'opened']);
    for (const ciphertext of [
      '',
      '-> X25519 AAAA\nAAAA\n',
      `-> scrypt ${'A'.repeat(43)}\n${'A'.repeat(43)}\n`,
      `-> X25519 ${'A'.repeat(42)}B\n${'A'.repeat(43)}\n`,
    ])
      await harness.refused(400, 'invalid-format', 'archive', 'decrypt', { ciphertext, format: 'age' });
    await harness.refused(400, 'decryption-failed', 'archive', 'decrypt', {
      ciphertext: `-> X25519 ${'A'.repeat(43)}\n${'A'.repeat(43)}\n`,
      format: 'age',
    });
  });
});

describe('a key that agrees', () => {
  test('does nothing else, whatever its cipher', async () => {
    for (const cipher of ['ecdsa-p384', 'x25519']) {
      const name = `only-${cipher}`;
      await harness.create(name, { cipher, use: 'agree' });
      const state = await harness.state(name);
      expect(state).toMatchObject({ use: 'agree', 'supports-encryption': false, 'supports-decryption': true, 'supports-signing': false });
      expect(state.actions).toContain('decrypt');
      for (const action of ['encrypt', 'rewrap', 'generate-data-key', 'sign', 'generate-csr', 'cmac'])
        expect(state.actions).not.toContain(action);
      await harness.refused(400, 'operation-not-supported', name, 'encrypt', { plaintext });
      await harness.refused(400, 'operation-not-supported', name, 'rewrap', { ciphertext: 'store:v1:AAAA' });
      await harness.refused(400, 'operation-not-supported', name, 'generate-data-key', {});
      await harness.refused(400, 'operation-not-supported', name, 'sign', { text: plaintext });
      await harness.refused(400, 'operation-not-supported', name, 'generate-csr', { subject: 'CN=a' });
      await harness.refused(400, 'invalid-value', name, 'decrypt', { ciphertext: 'store:v1:AAAA' });
    }
    await harness.refused(400, 'invalid-value', 'only-ecdsa-p384', 'decrypt', { ciphertext: '->', format: 'age' });
    await harness.create('signs', { cipher: 'ecdsa-p384' });
    await harness.refused(400, 'operation-not-supported', 'signs', 'decrypt', { ciphertext: 'AAAA', format: 'hpke' });
    await harness.create('gcm');
    await harness.refused(400, 'invalid-value', 'gcm', 'decrypt', { ciphertext: 'store:v1:AAAA', format: 'hpke' });
    await harness.refused(400, 'invalid-value', 'gcm', 'decrypt', { ciphertext: 'store:v1:AAAA', info: 'AAAA' });
  });

  test('has its use from creation, on the ciphers that have it', async () => {
    for (const [cipher, use] of [
      ['x25519', 'sign'],
      ['x25519', 'encrypt'],
      ['rsa-2048', 'agree'],
      ['rsa-2048', 'mac'],
      ['ed25519', 'agree'],
      ['aes256-gcm96', 'agree'],
      ['ecdsa-secp256k1', 'agree'],
    ])
      expect(await codeOf(harness.request('POST', config, { name: 'unfit', cipher, use })), `${cipher} ${use}`).toEqual({
        status: 400,
        code: 'invalid-value',
      });
    const pem = (await harness.state('only-x25519')).keys['1'];
    const given = { name: 'unfit', cipher: 'x25519', 'public-key': pem };
    expect(await codeOf(harness.request('POST', config, given))).toEqual({ status: 400, code: 'invalid-value' });
    expect(await codeOf(harness.patch('signs', { use: 'agree' }))).toEqual({ status: 409, code: 'immutable-field' });
  });

  /** Seals to the first version of a key, and opens it by a version of one with the same material. */
  async function roundTrip(name: string, by = name, version = 1): Promise<unknown> {
    const sealing = new CompactEncrypt(Buffer.from(plaintext, 'base64')).setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM' });
    const ciphertext = await sealing.encrypt(await publicKeyOf(name));
    return (await harness.do(by, 'decrypt', { ciphertext, format: 'jwe', 'key-version': version })).plaintext;
  }

  test.each(['x25519', 'ecdsa-p256', 'ecdsa-p521'])('%s: a backup and an export bring it back', async (cipher) => {
    const name = `kept-${cipher}`;
    const flags = { exportable: true, 'allow-plaintext-backup': true, 'deletion-allowed': true };
    await harness.create(name, { cipher, use: 'agree', ...flags });
    expect(await roundTrip(name)).toBe(plaintext);
    const { key: backup } = await harness.do(name, 'backup');
    await harness.do(name, 'restore', { key: backup });
    expect(await roundTrip(name)).toBe(plaintext);
    const jwk = (await harness.do(name, 'export', { format: 'jwk' })).keys['1'];
    await harness.create(`${name}-2`, { cipher, use: 'agree' });
    await harness.do(`${name}-2`, 'import', { data: jwk });
    expect(await roundTrip(name, `${name}-2`, 2)).toBe(plaintext);
    const other = createPrivateKey({ key: randomBytes(32), format: 'raw-private', asymmetricKeyType: 'ed25519' });
    await harness.refused(400, 'key-type-mismatch', name, 'import', { data: other.export({ format: 'pem', type: 'pkcs8' }) });
  });

  test.each(['x25519', 'ecdsa-p384'])('%s works as an object in the token', async (cipher) => {
    await harness.create(`object-${cipher}`, { cipher, use: 'agree', custody: 'token' });
    expect(await roundTrip(`object-${cipher}`)).toBe(plaintext);
  });

  test('leaves nothing that it opened in the audit trail or the log', async () => {
    expect(harness.written()).not.toContain(plaintext);
    expect(harness.records().some((record) => JSON.stringify(record).includes('"format":"age"'))).toBe(true);
  });
});
