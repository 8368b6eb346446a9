// A record tells public certificates, requests and keys as they were sent, and of a text that may have a private key only its size and digest.
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { inWhole, shortened } from '../../../core/http/audit-parameters.ts';
import { formatPem } from '../../../core/base/texts/pem.ts';
import { makeDeviceCsr, makeIdentity, makeKeys } from '../../plugins/ca/pki.ts';

const { certificate, keys } = await makeIdentity();
const csr = await makeDeviceCsr(await makeKeys('P-256'), 'device.example');
const certificatePem = formatPem('CERTIFICATE', certificate);
const csrPem = formatPem('CERTIFICATE REQUEST', csr);

const pairs = {
  rsa: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ec: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  ed25519: generateKeyPairSync('ed25519'),
};
const pem = (key: KeyObject, type: string, more: object = {}): string =>
  key.export({ type, format: 'pem', ...more } as { type: 'pkcs8'; format: 'pem' });
const base64 = (key: KeyObject, type: string): string =>
  (key.export({ type, format: 'der' } as never) as unknown as Buffer).toString('base64');
const encrypted = { cipher: 'aes-256-cbc', passphrase: 'a passphrase' };

const publicTexts: Record<string, string> = {
  'a certificate': certificatePem,
  'a chain': `${certificatePem}\n${certificatePem}`,
  'a request': csrPem,
  'a request in one line': csrPem.replaceAll('\n', '\\n'),
  'a request without a line end': csrPem.trim().replaceAll('\n', '\r\n'),
  'a request in base64': csr.toString('base64'),
  ...Object.fromEntries(Object.entries(pairs).map(([type, { publicKey }]) => [`a public key of type ${type}`, pem(publicKey, 'spki')])),
};

const key = pem(pairs.ec.privateKey, 'pkcs8');
const body = (text: string): string => text.replaceAll(/-----.*-----/g, '');
const doubtful: Record<string, string> = {
  ...Object.fromEntries(
    Object.entries(pairs).flatMap(([type, { privateKey }]) => [
      [`a private key of type ${type}`, pem(privateKey, 'pkcs8')],
      [`an encrypted private key of type ${type}`, pem(privateKey, 'pkcs8', encrypted)],
      [`a private key of type ${type} in base64`, base64(privateKey, 'pkcs8')],
      [`a private key of type ${type} in base64 in lines`, body(pem(privateKey, 'pkcs8'))],
      [`a private key of type ${type} in base64 in one line`, body(pem(privateKey, 'pkcs8')).replaceAll('\n', '\\n')],
    ]),
  ),
  'a key of PKCS#1': pem(pairs.rsa.privateKey, 'pkcs1'),
  'a key of SEC 1': pem(pairs.ec.privateKey, 'sec1'),
  'a certificate with its key': certificatePem + key,
  'a key before a certificate': key + certificatePem,
  'a certificate with the base64 of a key behind it': certificatePem + body(key),
  'a certificate with a word before it': `password: hunter2\n${certificatePem}`,
  'a private key with the label of a certificate': key.replaceAll('PRIVATE KEY', 'CERTIFICATE'),
  'a private key without its last line': key.split('-----END')[0] ?? '',
  'a certificate with a private key that has no last line': certificatePem + (key.split('-----END')[0] ?? ''),
  'a certificate inside another block': certificatePem.replace('-----END', `${key}-----END`),
  'a block of OpenPGP': '-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQVYBGNh\n-----END PGP PRIVATE KEY BLOCK-----\n',
  'a sentence with the first line of a block': 'it begins with -----BEGIN EC PRIVATE KEY-----',
};

describe('public', () => {
  test.each(Object.entries(publicTexts))('%s is recorded as it is', (_, text) => {
    expect(shortened({ field: [text] })).toEqual({ field: [text] });
    expect(inWhole({ field: [text] })).toEqual({ field: [text] });
  });

  test('a text over 4,096 characters is recorded by digest, and for callers without a token one over 256', () => {
    const long = certificatePem.repeat(Math.ceil(4_097 / certificatePem.length));
    expect(shortened(long)).toEqual({ bytes: long.length, sha256: expect.any(String) });
    expect(shortened(certificatePem, 256)).toEqual({ bytes: certificatePem.length, sha256: expect.any(String) });
  });
});

describe('doubtful', () => {
  test.each(Object.entries(doubtful))('%s is recorded by size and digest', (_, text) => {
    const digest = { bytes: Buffer.byteLength(text), sha256: expect.any(String) };
    expect(shortened({ field: [text] })).toEqual({ field: [digest] });
    expect(inWhole({ field: [text] })).toEqual({ field: [digest] });
  });
});

test('other texts are recorded as they are', () => {
  for (const text of ['MIIB', 'Maps', 'MA==', 'Payments of the plant', keys.pem.length.toString()]) expect(shortened(text)).toBe(text);
});
