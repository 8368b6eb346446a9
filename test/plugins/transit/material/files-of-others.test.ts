// Keys in the files that other programs write: several blocks, DER, line ends of every kind, and statements about the key beside it.
import { execFileSync } from 'node:child_process';
import { constants, createCipheriv, createPublicKey, generateKeyPairSync, type KeyObject, publicEncrypt, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formatPem } from '../../../../core/base/texts/pem.ts';
import { encode, implicit, integer, octetString, readOnly, sequence, tag } from '../../../../core/der/der.ts';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { base64, startTransitHarness, type TransitHarness } from '../harness.ts';

const directory = temporaryDirectory();
let harness: TransitHarness;
let made = 0;

beforeAll(async () => {
  harness = await startTransitHarness(directory());
});
afterAll(() => harness.stop());

type Pair = { readonly privateKey: KeyObject; readonly publicKey: KeyObject };
const pairs: Readonly<Record<string, () => Pair>> = {
  'rsa-2048': () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ed25519: () => generateKeyPairSync('ed25519'),
  'ecdsa-p256': () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
};
const der = (key: KeyObject): Uint8Array => new Uint8Array(key.export({ type: 'pkcs8', format: 'der' }));

async function importing(cipher: string, data: string) {
  const name = `key-${(made += 1)}`;
  await harness.create(name, { cipher });
  return { name, answer: await harness.act(name, 'import', { data }) };
}

/** Signs with what was imported, and verifies under the public half that the state shows. */
async function expectImported(cipher: string, data: string, publicKey: KeyObject): Promise<void> {
  const { name, answer } = await importing(cipher, data);
  expect({ status: answer.status, body: answer.body }).toMatchObject({ status: 204 });
  const { keys } = await harness.state(name);
  expect(createPublicKey(keys['2']).equals(publicKey)).toBe(true);
}

/** A OneAsymmetricKey of version 2 that states a public key (RFC 5958 section 2). */
function stating(privateKey: KeyObject, publicKey: KeyObject): Uint8Array {
  const fields = readOnly(der(privateKey), tag.sequence);
  fields.next(tag.integer);
  const algorithm = fields.next(tag.sequence).whole;
  const key = fields.next(tag.octetString).content;
  const spki = readOnly(new Uint8Array(publicKey.export({ type: 'spki', format: 'der' })), tag.sequence);
  spki.next(tag.sequence);
  return sequence(integer(1), algorithm, octetString(withoutPoint(key)), implicit(1, spki.next(tag.bitString).content));
}

/** An ECPrivateKey states its public key too; there it is left out. */
function withoutPoint(key: Uint8Array): Uint8Array {
  const fields = (() => {
    try {
      return readOnly(key, tag.sequence);
    } catch {
      return undefined;
    }
  })();
  if (fields === undefined) return key;
  const version = fields.next(tag.integer).whole;
  const secret = fields.optional(tag.octetString)?.whole;
  return secret === undefined ? key : encode(tag.sequence, version, secret);
}

describe.each(Object.keys(pairs))('%s', (cipher) => {
  const { privateKey, publicKey } = (pairs[cipher] as () => Pair)();
  const other = (pairs[cipher] as () => Pair)();

  test('beside its certificate, its public half and parameters is the one key of the file', async () => {
    const pem = formatPem('PRIVATE KEY', der(privateKey));
    const beside = `${formatPem('CERTIFICATE', Uint8Array.of(0x30, 0))}${formatPem('EC PARAMETERS', Uint8Array.of(6, 0))}`;
    await expectImported(cipher, `Bag Attributes\n${beside}${pem}${publicKey.export({ type: 'spki', format: 'pem' })}`, publicKey);
  });

  test('is taken as base64 of DER', async () => {
    await expectImported(cipher, base64(der(privateKey)), publicKey);
  });

  test('with spaces for newlines and a byte order mark is taken', async () => {
    await expectImported(cipher, `\u{feff}${formatPem('PRIVATE KEY', der(privateKey)).replaceAll('\n', ' ')}`, publicKey);
  });

  test('states its public half, in PKCS#8 of version 2', async () => {
    await expectImported(cipher, formatPem('PRIVATE KEY', stating(privateKey, publicKey)), publicKey);
  });

  test('that states the public half of another key is refused', async () => {
    for (const data of [formatPem('PRIVATE KEY', stating(privateKey, other.publicKey)), base64(stating(privateKey, other.publicKey))]) {
      const { name, answer } = await importing(cipher, data);
      expect(answer).toMatchObject({
        status: 400,
        body: { code: 'invalid-key-data', detail: expect.stringContaining('states a public key') },
      });
      expect((await harness.state(name))['latest-version']).toBe(1);
    }
  });

  test('twice in a file is refused, and the blocks are named', async () => {
    const pem = formatPem('PRIVATE KEY', der(privateKey));
    const { answer } = await importing(cipher, pem + formatPem('PRIVATE KEY', der(other.privateKey)));
    expect(answer).toMatchObject({ status: 400, body: { detail: expect.stringContaining('this is 2 PEM blocks, PRIVATE KEY') } });
  });
});

test('what is no private key is named by its blocks', async () => {
  const { publicKey } = (pairs['ed25519'] as () => Pair)();
  for (const [data, seen] of [
    [publicKey.export({ type: 'spki', format: 'pem' }), 'a PEM block PUBLIC KEY'],
    ['hello', 'neither PEM nor base64 of DER'],
    ['-----BEGIN PRIVATE KEY-----\nAAAA', 'a PEM block without its last line'],
  ] as const)
    expect((await importing('ed25519', data)).answer).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining(`this is ${seen}`) },
    });
});

test('the public half of a key under the OID of RSASSA-PSS makes a key that verifies, as its private half does', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa-pss', {
    modulusLength: 2048,
    hashAlgorithm: 'sha256',
    mgf1HashAlgorithm: 'sha256',
  });
  const pem = publicKey.export({ type: 'spki', format: 'pem' });
  await harness.create('pss-public', { cipher: 'rsa-2048', 'public-key': pem });
  const signed = await harness.act('pss-public', 'import', { data: privateKey.export({ type: 'pkcs8', format: 'pem' }) });
  expect(signed.status).toBe(204);
});

test('a curve that is written out and has no name is refused before OpenSSL computes on it', async () => {
  const curve = ['-name', 'brainpoolP256r1', '-param_enc', 'explicit', '-conv_form', 'compressed'];
  const key = execFileSync('openssl', ['ecparam', ...curve, '-genkey', '-noout'], { encoding: 'utf8' });
  expect((await importing('ecdsa-p256', key)).answer).toMatchObject({
    status: 400,
    body: { detail: expect.stringContaining('a curve that is not known') },
  });
  const publicKey = execFileSync('openssl', ['ec', '-pubout', '-param_enc', 'explicit'], { input: key, encoding: 'utf8', stdio: 'pipe' });
  const { status, body } = await harness.request('POST', '/v1/config/keystore/transit-keys', {
    ...{ name: 'made-up', cipher: 'ecdsa-p256', 'public-key': publicKey },
  });
  expect({ status, detail: body.detail }).toEqual({ status: 400, detail: expect.stringContaining('a curve that is not known') });
});

test('a public key is read as base64 of DER, and beside other blocks', async () => {
  const { publicKey } = (pairs['ecdsa-p256'] as () => Pair)();
  const spki = new Uint8Array(publicKey.export({ type: 'spki', format: 'der' }));
  for (const given of [base64(spki), `${formatPem('EC PARAMETERS', Uint8Array.of(6, 0))}${formatPem('PUBLIC KEY', spki)}`]) {
    const name = `key-${(made += 1)}`;
    await harness.create(name, { cipher: 'ecdsa-p256', 'public-key': given });
    expect(createPublicKey((await harness.state(name)).keys['1']).equals(publicKey)).toBe(true);
  }
});

test('a secret of nothing but zeros or ones is refused with what it is, in clear, wrapped and as the seed of a private key', async () => {
  const seeded = (octet: number): string => {
    const { privateKey } = (pairs['ed25519'] as () => Pair)();
    return formatPem('PRIVATE KEY', Buffer.concat([der(privateKey).subarray(0, -32), Buffer.alloc(32, octet)]));
  };
  for (const octet of [0x00, 0xff]) {
    const named = { status: 400, body: { code: 'invalid-key-data', detail: expect.stringMatching(octet === 0 ? /are 00,/ : /are ff,/) } };
    for (const [cipher, octets] of [
      ['aes128-gcm96', 16],
      ['aes256-gcm96', 32],
    ] as const)
      expect((await importing(cipher, base64(Buffer.alloc(octets, octet)))).answer).toMatchObject(named);
    expect((await importing('ed25519', seeded(octet))).answer).toMatchObject(named);
    await harness.create(`wrapped-${octet}`);
    const { body } = await harness.request('GET', '/v1/state/keystore/wrapping-key');
    const wrapped = wrap(createPublicKey(body['wrapping-key']), Buffer.alloc(32, octet));
    expect(await harness.act(`wrapped-${octet}`, 'import', { ciphertext: wrapped })).toMatchObject(named);
    expect(await harness.state(`wrapped-${octet}`)).toMatchObject({ 'latest-version': 1 });
  }
  expect((await importing('aes256-gcm96', base64(Buffer.concat([Buffer.alloc(31), Buffer.of(1)])))).answer.status).toBe(204);
  expect((await importing('ed25519', seeded(7))).answer.status).toBe(204);
});

/** As callers wrap: RSA-OAEP of a fresh AES key, then AES key wrap with padding. */
function wrap(key: KeyObject, material: Buffer): string {
  const transportKey = randomBytes(32);
  const transport = publicEncrypt({ key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' }, transportKey);
  const cipher = createCipheriv('id-aes256-wrap-pad', transportKey, Buffer.from('a65959a6', 'hex'));
  return Buffer.concat([transport, cipher.update(material), cipher.final()]).toString('base64');
}
