// What a request may look like (requirements R20 to R30).
import { execFileSync } from 'node:child_process';
import { createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { bitString, encode, explicit, integer, nullValue, objectIdentifier, readOnly, sequence, tag } from '../../../core/der/der.ts';
import { commonName } from '../../../core/der/name.ts';
import { rsaSpki } from '../../harness/token/odd-keys.ts';
import { basic, type Reply, type Sending } from './client.ts';
import { type EstAppliance, secret, startEstAppliance } from './est-appliance.ts';
import { type KeyName, makeCsr, makeCsrOf, makeDeviceCsr, makeKeys, usages, x509 } from '../ca/pki.ts';

const name = 'device.example.test';
let appliance: EstAppliance;
let ca: string;
let csr: Buffer;

beforeAll(async () => {
  appliance = await startEstAppliance();
  ca = await appliance.makeCa();
  csr = await makeDeviceCsr(await makeKeys('P-256'), name);
});

const post = (body: string | Buffer, more: Sending = {}): Promise<Reply> =>
  appliance.call(ca, 'simpleenroll', {
    method: 'POST',
    body,
    ...more,
    headers: { 'Content-Type': 'application/pkcs10', Authorization: basic(secret), ...more.headers },
  });
const postDer = (der: Uint8Array): Promise<Reply> => post(Buffer.from(der).toString('base64'));

async function expectRefused(reply: Promise<Reply>, says: RegExp, status = 400): Promise<void> {
  const { status: got, text } = await reply;
  expect({ status: got, text }).toEqual({ status, text: expect.stringMatching(says) as string });
}

describe('body', () => {
  test('R20: base64 may be wrapped at any width and carry CR, LF, space and tab anywhere', async () => {
    const base64 = csr.toString('base64');
    for (const body of [
      base64,
      `${base64}\r\n`,
      base64.replace(/.{64}/g, '$&\r\n'),
      base64.replace(/.{7}/g, '$& \t\n'),
      `\n\n ${base64}`,
    ]) {
      expect((await post(body)).status).toBe(200);
    }
  });

  test('R21: Content-Transfer-Encoding is ignored, present or not, whatever it says', async () => {
    for (const value of ['base64', 'binary', '8bit', 'nonsense']) {
      expect((await post(csr.toString('base64'), { headers: { 'Content-Transfer-Encoding': value } })).status, value).toBe(200);
    }
    expect((await post(csr.toString('base64'))).status).toBe(200);
  });

  test('R22: Content-Type application/pkcs10 in any case and with parameters; missing or other is 400', async () => {
    for (const type of ['application/pkcs10', 'Application/PKCS10', 'application/pkcs10; charset=utf-8']) {
      expect((await post(csr.toString('base64'), { headers: { 'Content-Type': type } })).status, type).toBe(200);
    }
    for (const type of ['', 'text/plain', 'application/pkcs7-mime', 'application/json']) {
      await expectRefused(post(csr.toString('base64'), { headers: { 'Content-Type': type } }), /Content-Type must be application\/pkcs10/);
    }
  });

  test('R23: Content-Length and chunked bodies; more than 64 KiB is 413', async () => {
    expect((await post(csr.toString('base64'), { chunked: true })).status).toBe(200);
    const padding = '\n'.repeat(64 * 1024 - csr.toString('base64').length);
    expect((await post(csr.toString('base64') + padding)).status).toBe(200);
    for (const chunked of [false, true]) {
      await expectRefused(post(`${csr.toString('base64') + padding}\n`, { chunked }), /at most 65536 octets/, 413);
    }
  });

  test('R24: what is not base64, has bad padding or the URL alphabet, and an empty body: 400', async () => {
    const base64 = csr.toString('base64');
    for (const body of [
      '',
      ' \n',
      '%%%',
      'häh',
      `${base64}=`,
      base64.slice(0, -1),
      `${base64}!`,
      '-_-_',
      `${base64.slice(0, 40)}-_${base64.slice(42)}`,
    ]) {
      await expectRefused(post(body), /base64/);
    }
  });

  test('R25: raw DER and PEM: 400 with a text that says what to send', async () => {
    await expectRefused(post(csr), /raw DER; encode it as base64/);
    const pem = `-----BEGIN CERTIFICATE REQUEST-----\n${csr.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
    await expectRefused(post(pem), /PEM; leave out the BEGIN and END lines/);
  });

  test('R26: exactly one well-formed request of version v1 that fills the body', async () => {
    const wrong: Record<string, Uint8Array> = {
      'trailing octet': Buffer.concat([csr, Buffer.of(0)]),
      'two requests': Buffer.concat([csr, csr]),
      'cut off': csr.subarray(0, -1),
      'not a sequence': Buffer.from('hello world'),
      'empty sequence': Buffer.from([0x30, 0x00]),
      'a certificate': Buffer.from((await appliance.call(ca, 'cacerts')).text, 'base64'),
      'indefinite length': Buffer.concat([Buffer.from([0x30, 0x80]), csr.subarray(4), Buffer.of(0, 0)]),
      'length past the end': Buffer.from([0x30, 0x84, 0xff, 0xff, 0xff, 0xff, 0x30]),
      'version 2': makeCsrOf(commonName(name), 2),
    };
    for (const [what, der] of Object.entries(wrong)) {
      const { status, text } = await postDer(der);
      expect({ status, text }, what).toEqual({ status: 400, text: expect.stringMatching(/PKCS#10/) as string });
    }
    expect((await postDer(makeCsrOf(commonName(name)))).status).toBe(200);
  });

  test('R27: the self-signature is verified with its own algorithm; a wrong or weak one is 400', async () => {
    const keys = await makeKeys('P-256');
    for (const hash of ['SHA-256', 'SHA-384', 'SHA-512']) {
      expect((await postDer(await makeCsr({ keys, subject: `CN=${name}`, hash }))).status, hash).toBe(200);
    }
    const broken = Buffer.from(csr);
    broken[broken.length - 5] = (broken[broken.length - 5] ?? 0) ^ 1;
    await expectRefused(postDer(broken), /self-signature does not verify|has a self-signature/);
    const other = await makeDeviceCsr(await makeKeys('P-256'), name);
    const mixed = withSignatureOf(csr, other);
    await expectRefused(postDer(mixed), /self-signature/);
    await expectRefused(postDer(opensslRequest(['-newkey', 'rsa:2048', '-sha1'])), /self-signature/);
    await expectRefused(postDer(opensslRequest(['-newkey', 'rsa:2048', '-sha1', '-sigopt', 'rsa_padding_mode:pss'])), /self-signature/);
  });
});

describe('keys', () => {
  test('R28: an ECDSA CA certifies P-256, P-384, P-521, RSA of 2048 bits and more, and Ed25519', async () => {
    for (const key of ['P-256', 'P-384', 'P-521', 'RSA-2048', 'RSA-3072', 'Ed25519'] as const) {
      expect((await postDer(await makeDeviceCsr(await makeKeys(key), name))).status, key).toBe(200);
    }
  });

  test('R28: RSA below 2048 bits, other curves, explicit parameters, RSA-PSS bound to SHA-1, DSA and Ed448 are refused', async () => {
    await expectRefused(postDer(await makeDeviceCsr(await makeKeys('RSA-1024'), name)), /RSA modulus of 1024 bits/);
    const curves = ['prime192v1', 'secp224r1', 'secp256k1', 'brainpoolP256r1', 'brainpoolP384r1'];
    for (const curve of curves) {
      await expectRefused(postDer(opensslRequest(['-newkey', 'ec', '-pkeyopt', `ec_paramgen_curve:${curve}`])), /not certified here/);
    }
    const explicitCurve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-pkeyopt', 'ec_param_enc:explicit'];
    await expectRefused(postDer(opensslRequest(explicitCurve)), /not certified here/);
    const pss = ['-newkey', 'rsa-pss', '-pkeyopt', 'rsa_keygen_bits:2048', '-subj', `/CN=${name}`];
    const sha1 = ['-pkeyopt', 'rsa_pss_keygen_md:sha1', '-pkeyopt', 'rsa_pss_keygen_mgf1_md:sha1', '-sha1'];
    await expectRefused(postDer(opensslRequest([...pss, ...sha1])), /RSASSA-PSS with parameters that are not certified here/);
    expect((await postDer(opensslRequest(pss))).status).toBe(200);
    await expectRefused(postDer(opensslRequest(['-newkey', 'ed448'])), /not certified here/);
    await expectRefused(
      postDer(requestWithKey(generateKeyPairSync('dsa', { modulusLength: 2048, divisorLength: 256 }))),
      /not certified here/,
    );
  });

  test('R28: an RSA key with an even modulus, an exponent of 1, or a number with zeros before it is refused', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const spki = publicKey.export({ format: 'der', type: 'spki' });
    const { n = '' } = publicKey.export({ format: 'jwk' });
    const modulus = BigInt(`0x${Buffer.from(n, 'base64url').toString('hex')}`);
    const padded = Buffer.from(spki.toString('hex').replace('0203010001', '020400010001'), 'hex');
    // One octet more in the last number, the two sequences and the bit string around it.
    for (const at of [2, 21, 26]) padded.writeUInt16BE(padded.readUInt16BE(at) + 1, at);
    expect(createPublicKey({ key: padded, format: 'der', type: 'spki' }).equals(publicKey)).toBe(true);
    const requestOf = (key: Uint8Array): Uint8Array => {
      const info = sequence(integer(0), sequence(), key, explicit(0));
      return sequence(info, sequence(objectIdentifier('1.2.840.113549.1.1.11'), nullValue), bitString(sign('sha256', info, privateKey)));
    };
    expect((await postDer(requestOf(spki))).text).not.toMatch(/key/);
    await expectRefused(postDer(requestOf(rsaSpki(modulus - 1n, 65_537n))), /factor below 752/);
    await expectRefused(postDer(requestOf(rsaSpki(modulus, 1n))), /exponent below 65537/);
    await expectRefused(postDer(requestOf(padded)), /not written in DER/);
  });

  test('R28: a point that is not on its curve is refused', async () => {
    const wrong = Buffer.from(csr);
    const at = wrong.indexOf(Buffer.from([0x03, 0x42, 0x00, 0x04])) + 10;
    wrong[at] = (wrong[at] ?? 0) ^ 0xff;
    await expectRefused(postDer(wrong), /public key that cannot be read|self-signature/);
  });

  test.each<KeyName>(['ML-DSA-44', 'ML-DSA-65', 'ML-DSA-87'])('R29: an ECDSA CA refuses an %s request', async (key) => {
    await expectRefused(postDer(await makeDeviceCsr(await makeKeys(key), name)), /this CA does not certify/);
  });

  test('R30: unknown attributes and extensions are ignored, and never copied', async () => {
    const keys = await makeKeys('P-256');
    const reply = await postDer(
      await makeCsr({
        keys,
        subject: `CN=${name}`,
        names: [{ type: 'dns', value: name }],
        extensions: [
          new x509.BasicConstraintsExtension(true, undefined, true),
          usages('keyCertSign'),
          await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
          new x509.Extension('1.2.3.4.5.6', true, Buffer.from([0x05, 0x00])),
          new x509.Extension('2.25.340282366920938463463374607431768211455', false, Buffer.from([0x05, 0x00])),
        ],
        attributes: [new x509.Attribute('1.3.6.1.4.1.311.13.2.3', [new Uint8Array([0x05, 0x00]).buffer])],
      }),
    );
    expect(reply.status).toBe(200);
    const [certificate] = new x509.X509Certificates(Buffer.from(reply.text, 'base64'));
    const ids = certificate?.extensions.map(({ type }) => type);
    expect(ids).toEqual(['2.5.29.19', '2.5.29.15', '2.5.29.37', '2.5.29.14', '2.5.29.35', '2.5.29.17', '2.5.29.31', '1.3.6.1.5.5.7.1.1']);
  });
});

/** A request made by openssl, DER; the key is thrown away. */
function opensslRequest(options: readonly string[]): Buffer {
  return execFileSync('openssl', ['req', '-new', '-nodes', '-keyout', '/dev/null', '-outform', 'DER', '-subj', `/CN=${name}`, ...options], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}

/** The signed part of one request with the signature of another. */
function withSignatureOf(request: Buffer, other: Buffer): Buffer {
  const [info] = readOnly(request, tag.sequence).rest();
  const [, ...signature] = readOnly(other, tag.sequence).rest();
  return Buffer.from(sequence(info?.whole ?? new Uint8Array(0), ...signature.map(({ whole }) => whole)));
}

function requestWithKey({ publicKey, privateKey }: { publicKey: KeyObject; privateKey: KeyObject }): Buffer {
  const info = sequence(integer(0), commonName(name), publicKey.export({ format: 'der', type: 'spki' }), explicit(0));
  const signature = sign('sha256', info, privateKey);
  return Buffer.from(sequence(info, sequence(objectIdentifier('2.16.840.1.101.3.4.3.2')), encode(0x03, Buffer.of(0), signature)));
}
