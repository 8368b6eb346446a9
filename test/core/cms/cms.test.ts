// CMS messages: ours are read by OpenSSL and pkijs, theirs by us; what is no DER, or not what a protocol has, is refused.
import { spawnSync } from 'node:child_process';
import { createPrivateKey, createPublicKey, privateDecrypt, constants, randomBytes, sign as signWith, X509Certificate } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import * as pkijs from 'pkijs';
import { beforeAll, describe, expect, test } from 'vitest';
import type { CmsCipher, CmsHash, KeyTransport } from '../../../core/cms/algorithms.ts';
import { decryptContent, findRecipient, readEnvelopedData } from '../../../core/cms/enveloped-data.ts';
import { readSignedData, verifySignedData } from '../../../core/cms/signed-data.ts';
import { writeEnvelopedData } from '../../../core/cms/write-enveloped-data.ts';
import { type MessageSigner, writeSignedData } from '../../../core/cms/write-signed-data.ts';
import { encode } from '../../../core/der/der.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
/** transactionID of RFC 8894, for an attribute of a protocol */
const transactionId = '2.16.840.1.113733.1.9.7';
const known = new Set([transactionId]);
const content = Buffer.from('what is in the message\n'.repeat(40));
let certificate: Uint8Array;
let key: ReturnType<typeof createPrivateKey>;
let signer: MessageSigner;

function openssl(...words: readonly string[]): void {
  const { status, stderr } = spawnSync('openssl', words, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`openssl ${words.join(' ')}: ${stderr}`);
}

beforeAll(() => {
  mkdirSync(path(), { recursive: true });
  for (const [name, algorithm] of [
    ['rsa', ['-newkey', 'rsa:2048']],
    ['ec', ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256']],
  ] as const)
    openssl(
      'req',
      '-x509',
      '-nodes',
      ...algorithm,
      '-keyout',
      path(`${name}.key`),
      '-out',
      path(`${name}.pem`),
      '-subj',
      `/CN=${name}`,
      '-days',
      '2',
    );
  certificate = new X509Certificate(readFileSync(path('rsa.pem'))).raw;
  key = createPrivateKey(readFileSync(path('rsa.key')));
  signer = { certificate, sign: async (hash, octets) => signWith(hash, octets, key) };
  writeFileSync(path('content'), content);
});

function signed(hash: CmsHash = 'sha256', of: Uint8Array | 'absent' = content): Promise<Uint8Array> {
  const attributes = new Map([[transactionId, encode(0x13, Buffer.from('0123'))]]);
  return writeSignedData({
    content: of === 'absent' ? undefined : of,
    signer,
    hash,
    signingTime: Temporal.Instant.from('2026-11-27T00:00:00Z'),
    attributes,
  });
}

const isContent = (octets: Uint8Array | undefined): boolean => octets !== undefined && content.equals(octets);
const keyOf = (name: string) => createPublicKey(readFileSync(path(`${name}.pem`)));

describe('a signed message', () => {
  test.each(['sha256', 'sha384', 'sha512'] as const)(
    'with %s, written here, is verified by OpenSSL and by pkijs, and says what it said',
    async (hash) => {
      const der = await signed(hash);
      writeFileSync(path('signed.der'), der);
      openssl(
        'cms',
        '-verify',
        '-inform',
        'DER',
        '-in',
        path('signed.der'),
        '-CAfile',
        path('rsa.pem'),
        '-purpose',
        'any',
        '-binary',
        '-out',
        path('out'),
      );
      expect(readFileSync(path('out')).equals(content)).toBe(true);
      const info = pkijs.ContentInfo.fromBER(new Uint8Array(der).buffer);
      expect(await new pkijs.SignedData({ schema: info.content }).verify({ signer: 0, checkChain: false })).toBe(true);
      const read = readSignedData(der, known);
      expect(read.content).satisfy(isContent);
      expect(read.certificates.map((one) => Buffer.from(one).toString('hex'))).toEqual([Buffer.from(certificate).toString('hex')]);
      expect(Buffer.from(read.signer.attributes.get(transactionId) ?? []).toString('latin1')).toContain('0123');
      verifySignedData(read, keyOf('rsa'));
    },
  );

  test.each([
    ['rsa', 'sha256'],
    ['rsa', 'sha512'],
    ['ec', 'sha384'],
  ] as const)('with a key %s and %s, of OpenSSL, is verified by us', (name, hash) => {
    const files = [
      '-signer',
      path(`${name}.pem`),
      '-inkey',
      path(`${name}.key`),
      '-md',
      hash,
      '-in',
      path('content'),
      '-out',
      path('theirs.der'),
    ];
    openssl('cms', '-sign', '-binary', '-nodetach', '-nosmimecap', '-outform', 'DER', ...files);
    const read = readSignedData(readFileSync(path('theirs.der')), known);
    expect(read.content).satisfy(isContent);
    verifySignedData(read, keyOf(name));
    expect(() => verifySignedData(read, keyOf(name === 'rsa' ? 'ec' : 'rsa'))).toThrow(expect.objectContaining({ fault: 'not-signed' }));
  });

  test('without content is written and read', async () => {
    const read = readSignedData(await signed('sha256', 'absent'), known);
    expect(read.content === undefined).toBe(true);
    verifySignedData(read, keyOf('rsa'));
  });

  test('whose content, attributes or signature are others does not hold', async () => {
    const read = readSignedData(await signed(), known);
    const others = [
      { ...read, content: randomBytes(content.length) },
      { ...read, content: undefined },
      { ...read, contentType: transactionId },
      { ...read, signer: { ...read.signer, signature: randomBytes(256) } },
      { ...read, signer: { ...read.signer, signedOctets: randomBytes(100) } },
      { ...read, signer: { ...read.signer, attributes: new Map() } },
      { ...read, signer: { ...read.signer, hash: 'sha512' as const } },
    ];
    for (const other of others)
      expect(() => verifySignedData(other, keyOf('rsa'))).toThrow(expect.objectContaining({ fault: 'not-signed' }));
  });

  test.each([
    ['indefinite lengths', ['-stream'], 'malformed'],
    ['SHA-1', ['-md', 'sha1'], 'unsupported'],
    ['RSASSA-PSS', ['-keyopt', 'rsa_padding_mode:pss'], 'unsupported'],
    ['no signed attributes', ['-noattr'], 'unsupported'],
    ['attributes of mail', ['-smimecap'], 'unsupported'],
    ['a key identifier instead of a name', ['-keyid'], 'unsupported'],
  ])('with %s is refused', (title, words, fault) => {
    const more = title === 'attributes of mail' ? [] : ['-nosmimecap', ...words];
    const files = ['-signer', path('rsa.pem'), '-inkey', path('rsa.key'), ...more, '-in', path('content'), '-out', path('odd.der')];
    openssl('cms', '-sign', '-binary', '-nodetach', '-outform', 'DER', ...files);
    expect(() => readSignedData(readFileSync(path('odd.der')), known)).toThrow(expect.objectContaining({ name: 'CmsError', fault }));
  });

  test('with an attribute that the protocol does not have, with several signers or with none is refused', async () => {
    const der = await signed();
    expect(() => readSignedData(der, new Set())).toThrow(expect.objectContaining({ fault: 'unsupported' }));
    const two = ['-signer', path('rsa.pem'), '-inkey', path('rsa.key'), '-signer', path('ec.pem'), '-inkey', path('ec.key')];
    openssl(
      'cms',
      '-sign',
      '-binary',
      '-nodetach',
      '-nosmimecap',
      '-outform',
      'DER',
      ...two,
      '-in',
      path('content'),
      '-out',
      path('two.der'),
    );
    expect(() => readSignedData(readFileSync(path('two.der')), known)).toThrow(/one signer/);
    openssl('crl2pkcs7', '-nocrl', '-certfile', path('rsa.pem'), '-outform', 'DER', '-out', path('none.der'));
    expect(() => readSignedData(readFileSync(path('none.der')), known)).toThrow(expect.objectContaining({ fault: 'unsupported' }));
  });
});

describe('an encrypted message', () => {
  const transports: readonly KeyTransport[] = [
    { padding: 'pkcs1v15' },
    { padding: 'oaep', hash: 'sha256' },
    { padding: 'oaep', hash: 'sha512' },
  ];
  const ciphers: readonly CmsCipher[] = ['aes-128-cbc', 'aes-192-cbc', 'aes-256-cbc'];
  const rows = transports.flatMap((transport) => ciphers.map((cipher) => ({ transport, cipher })));

  /** The content, by the key of the test. */
  function open(der: Uint8Array): Uint8Array {
    const read = readEnvelopedData(der);
    const info = pkijs.Certificate.fromBER(new Uint8Array(certificate).buffer);
    const recipient = findRecipient(read, {
      issuer: new Uint8Array(info.issuer.toSchema().toBER()),
      serial: info.serialNumber.valueBlock.valueHexView,
    });
    if (recipient === undefined) throw new Error('the message names its recipient');
    const { transport, encryptedKey } = recipient;
    const padding = transport.padding === 'oaep' ? constants.RSA_PKCS1_OAEP_PADDING : constants.RSA_PKCS1_PADDING;
    const oaepHash = transport.padding === 'oaep' ? transport.hash : 'sha1';
    return decryptContent(read, privateDecrypt({ key, padding, oaepHash }, encryptedKey));
  }

  test.each(rows)('with $cipher and $transport, written here, is opened by OpenSSL and by us', ({ transport, cipher }) => {
    const der = writeEnvelopedData({ content, recipient: certificate, cipher, transport });
    writeFileSync(path('enveloped.der'), der);
    openssl(
      'cms',
      '-decrypt',
      '-inform',
      'DER',
      '-binary',
      '-in',
      path('enveloped.der'),
      '-inkey',
      path('rsa.key'),
      '-recip',
      path('rsa.pem'),
      '-out',
      path('out'),
    );
    expect(readFileSync(path('out')).equals(content)).toBe(true);
    expect(Buffer.from(open(der)).equals(content)).toBe(true);
  });

  test.each([
    ['-aes128', []],
    ['-aes256', ['-keyopt', 'rsa_padding_mode:oaep', '-keyopt', 'rsa_oaep_md:sha256', '-keyopt', 'rsa_mgf1_md:sha256']],
  ])('of OpenSSL with %s is opened by us', (cipher, options) => {
    const files = ['-in', path('content'), '-out', path('theirs.der'), '-recip', path('rsa.pem'), ...options];
    openssl('cms', '-encrypt', '-binary', '-outform', 'DER', cipher, ...files);
    expect(Buffer.from(open(readFileSync(path('theirs.der')))).equals(content)).toBe(true);
  });

  test.each([
    ['another cipher', ['-des3'], []],
    ['authentication, which is another content type', ['-aes-128-gcm'], []],
    ['OAEP with SHA-1', ['-aes128'], ['-keyopt', 'rsa_padding_mode:oaep']],
    ['indefinite lengths', ['-aes128', '-stream'], []],
    ['a key identifier instead of a name', ['-aes128', '-keyid'], []],
  ])('with %s is refused', (_title, words, options) => {
    const files = ['-in', path('content'), '-out', path('odd.der'), '-recip', path('rsa.pem'), ...options];
    openssl('cms', '-encrypt', '-binary', '-outform', 'DER', ...words, ...files);
    expect(() => readEnvelopedData(readFileSync(path('odd.der')))).toThrow(expect.objectContaining({ name: 'CmsError' }));
  });

  test('that does not open is one fault, whatever is wrong', () => {
    const read = readEnvelopedData(
      writeEnvelopedData({ content, recipient: certificate, cipher: 'aes-128-cbc', transport: { padding: 'pkcs1v15' } }),
    );
    const faults = [
      () => decryptContent(read, new Uint8Array(16)),
      () => decryptContent(read, new Uint8Array(24)),
      () => decryptContent({ ...read, encryptedContent: read.encryptedContent.subarray(0, 15) }, randomBytes(16)),
      () => decryptContent({ ...read, encryptedContent: new Uint8Array(0) }, randomBytes(16)),
    ];
    const messages = faults.map((fault) => {
      try {
        return fault();
      } catch (error) {
        return `${(error as { fault?: string }).fault}: ${(error as Error).message}`;
      }
    });
    expect(new Set(messages).size).toBe(1);
    expect(messages[0]).toMatch(/^undecryptable: /);
    expect(findRecipient(read, { issuer: certificate, serial: certificate })).toBeUndefined();
  });

  test('is for RSA keys alone', () => {
    const recipient = new X509Certificate(readFileSync(path('ec.pem'))).raw;
    const write = () => writeEnvelopedData({ content, recipient, cipher: 'aes-128-cbc', transport: { padding: 'pkcs1v15' } });
    expect(write).toThrow(expect.objectContaining({ fault: 'unsupported' }));
  });
});

test('changed octets never pass, and never end in anything but a CmsError', async () => {
  const [der, enveloped] = [
    await signed(),
    writeEnvelopedData({ content, recipient: certificate, cipher: 'aes-256-cbc', transport: { padding: 'oaep', hash: 'sha256' } }),
  ];
  const publicKey = keyOf('rsa');
  // Outside of the certificate, which nobody has signed here: the signer is compared with the one the protocol expects.
  const inside = Buffer.from(der).indexOf(Buffer.from(certificate));
  const wrong: unknown[] = [];
  for (let at = 0; at < der.length; at++) {
    for (const bit of [1, 0x80]) {
      const changed = Uint8Array.from(der);
      changed[at] = (changed[at] as number) ^ bit;
      try {
        const read = readSignedData(changed, known);
        verifySignedData(read, publicKey);
        const isCertificate = at >= inside && at < inside + certificate.length;
        const isOther = Buffer.compare(read.signer.serial, readSignedData(der, known).signer.serial) !== 0 || isNamed(read, der);
        if (!isCertificate && !isOther) wrong.push(at);
      } catch (error) {
        if ((error as Error).name !== 'CmsError') wrong.push(error);
      }
    }
  }
  for (let at = 0; at < enveloped.length; at++) {
    const changed = Uint8Array.from(enveloped);
    changed[at] = (changed[at] as number) ^ 1;
    try {
      decryptContent(readEnvelopedData(changed), randomBytes(32));
    } catch (error) {
      if ((error as Error).name !== 'CmsError') wrong.push(error);
    }
  }
  expect(wrong).toEqual([]);
});

/** Whether the message names another signer: the name is not signed, and is compared with the certificate by the protocol. */
function isNamed({ signer: { issuer } }: ReturnType<typeof readSignedData>, der: Uint8Array): boolean {
  return Buffer.compare(issuer, readSignedData(der, known).signer.issuer) !== 0;
}

test('long content stays in one piece, and is no BER', async () => {
  const long = randomBytes(200_000);
  const read = readSignedData(await signed('sha256', long), known);
  expect(Buffer.from(read.content ?? []).equals(long)).toBe(true);
  const enveloped = writeEnvelopedData({
    content: long,
    recipient: certificate,
    cipher: 'aes-128-cbc',
    transport: { padding: 'pkcs1v15' },
  });
  expect(readEnvelopedData(enveloped).encryptedContent.length).toBeGreaterThan(long.length);
});
