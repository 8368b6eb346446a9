// The DER writer and reader, names, addresses and serial numbers, held to properties and to other implementations.
import { X509Certificate } from 'node:crypto';
import * as fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { ServiceError } from '../../../core/base/errors.ts';
import { encodeEcdsaSignature } from '../../../core/der/ecdsa-signature.ts';
import { readCertificate } from '../../../plugins/ca/der/certificate.ts';
import { encodeCertsOnly } from '../../../core/cms/certs-only.ts';
import { findPath } from '../../../plugins/ca/issuing/chain.ts';
import { familiesUnder, verifyCsr } from '../../../plugins/ca/issuing/csr.ts';
import * as der from '../../../core/der/der.ts';
import { formatIpAddress, parseIpAddress } from '../../../core/der/ip.ts';
import { formatName, parseName, readName } from '../../../core/der/name.ts';
import { parseSerial } from '../../../plugins/ca/records/serial.ts';
import { type Identity, makeCsr, makeIdentity, makeKeys, readCertsOnly, x509 } from '../ca/pki.ts';

const arcs = fc
  .tuple(fc.constantFrom(0, 1, 2), fc.nat(39), fc.array(fc.bigInt({ min: 0n, max: 2n ** 128n }), { maxLength: 8 }))
  .map(([top, second, rest]) => [top, second, ...rest].join('.'));

describe('DER', () => {
  test('lengths of every size come back', () => {
    for (const size of [0, 1, 127, 128, 255, 256, 65_535, 65_536]) {
      const encoded = der.octetString(Buffer.alloc(size, 1));
      expect(der.readOnly(encoded, der.tag.octetString).remaining).toHaveLength(size);
    }
  });

  test('object identifiers come back, arcs of 128 bits included', () => {
    fc.assert(fc.property(arcs, (dotted) => der.readObjectIdentifier(contentOfIdentifier(dotted)) === dotted));
    expect(Buffer.from(der.objectIdentifier('1.2.840.113549.1.9.14')).toString('hex')).toBe('06092a864886f70d01090e');
  });

  test('an arc that no identifier in use has is refused: its decimals would take time with the square of its length', () => {
    const arc = (octets: number): Uint8Array => Uint8Array.of(...new Uint8Array(octets - 1).fill(0xff), 0x7f);
    expect(der.readObjectIdentifier(arc(19))).toBe(`2.${2n ** 133n - 81n}`);
    for (const octets of [20, 20_000]) expect(() => der.readObjectIdentifier(arc(octets))).toThrow(der.DerError);
    expect(() => der.readObjectIdentifier(new Uint8Array(16 << 20).fill(0xff).fill(0x7f, -1))).toThrow(der.DerError);
  });

  test('integers are positive and in shortest form', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 20 }), (magnitude) => {
        const [first = 0, second = 0, ...rest] = der.readOnly(der.integer(magnitude), der.tag.integer).remaining;
        expect(first & 0x80).toBe(0);
        expect(first === 0 && second < 0x80 && rest.length > 0).toBe(false);
      }),
    );
  });

  test('the reader refuses what is not DER, and never reads past the end', () => {
    const wrong = ['', '30', '3080', '3081', '308100', '30810130', '3082000130', '30850000000001', '3000ff', '1f8101', '3005020100'];
    for (const hex of wrong) {
      expect(() => der.readOnly(Buffer.from(hex, 'hex'), der.tag.sequence).enter(der.tag.integer), hex).toThrow(der.DerError);
    }
    fc.assert(fc.property(fc.uint8Array({ maxLength: 64 }), staysWithin));
  });

  test("PKCS#11's r‖s becomes what OpenSSL verifies, also with leading zeros and high bits", () => {
    for (const raw of ['00'.repeat(31) + '01' + 'ff'.repeat(32), '80' + '00'.repeat(31) + '7f'.repeat(32)]) {
      const [r, s] = der.readOnly(encodeEcdsaSignature(Buffer.from(raw, 'hex')), der.tag.sequence).rest();
      expect(BigInt(`0x${Buffer.from(r?.content ?? []).toString('hex')}`)).toBe(BigInt(`0x${raw.slice(0, 64)}`));
      expect(BigInt(`0x${Buffer.from(s?.content ?? []).toString('hex')}`)).toBe(BigInt(`0x${raw.slice(64)}`));
    }
  });
});

describe('certificates and requests', () => {
  let identity: Identity;
  let csr: Buffer;

  beforeAll(async () => {
    identity = await makeIdentity({ subject: 'CN=leaf, O=Example', extensions: [new x509.Extension('1.2.3', false, Buffer.from([5, 0]))] });
    csr = await makeCsr({ keys: await makeKeys('P-256'), subject: 'CN=a', names: [{ type: 'dns', value: 'a.test' }] });
  });

  test('a certificate reads as node:crypto reads it', () => {
    const [ours, theirs] = [readCertificate(identity.certificate), new X509Certificate(identity.certificate)];
    expect(ours.serial.replace(/^00/, '').toUpperCase()).toBe(theirs.serialNumber);
    expect(ours.notBefore.epochMilliseconds).toBe(theirs.validFromDate.getTime());
    expect(ours.notAfter.epochMilliseconds).toBe(theirs.validToDate.getTime());
    expect(formatName(readName(ours.subject))).toBe('CN=leaf, O=Example');
    expect(Buffer.from(ours.publicKey)).toEqual(theirs.publicKey.export({ format: 'der', type: 'spki' }));
  });

  test('certs-only of several certificates comes back in DER order', async () => {
    const all = [identity, await makeIdentity(), await makeIdentity()].map(({ certificate }) => certificate);
    const read = readCertsOnly(Buffer.from(encodeCertsOnly(all))).map(({ raw }) => raw);
    expect(read).toEqual(all.toSorted((left, right) => Buffer.compare(left, right)));
  });

  test('any mutation of a request is refused as an invalid request, and nothing else is thrown', () => {
    const whole = [...csr];
    fc.assert(
      fc.property(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const mutated = Buffer.from(whole);
        mutated[at] = (mutated[at] ?? 0) ^ change;
        expect(codeOf(() => verifyCsr(mutated, familiesUnder('ecdsa-p256')))).toBe('invalid-csr');
      }),
      { numRuns: 500 },
    );
  });

  test('any octets are refused as an invalid request', () => {
    const outcome = fc.check(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => codeOf(() => verifyCsr(bytes, ['ec'])) === 'invalid-csr'),
    );
    expect(outcome.counterexample).toBeNull();
  });

  test('any mutation of a certificate makes no path', async () => {
    const root = await makeIdentity({ subject: 'CN=root', ca: true });
    const leaf = await makeIdentity({ subject: 'CN=leaf', issuer: root });
    const now = Temporal.Now.instant();
    expect(findPath(leaf.certificate, [], [root.certificate], now)).toHaveLength(2);
    fc.assert(
      fc.property(fc.nat(leaf.certificate.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const mutated = Buffer.from(leaf.certificate);
        mutated[at] = (mutated[at] ?? 0) ^ change;
        expect(findPath(mutated, [root.certificate], [root.certificate], now)).toBeUndefined();
      }),
      { numRuns: 300 },
    );
  });

  test('many intermediates of one name cost a bounded number of signature checks', async () => {
    const root = await makeIdentity({ subject: 'CN=Same', ca: true });
    const twins = await Promise.all(Array.from({ length: 6 }, () => makeIdentity({ subject: 'CN=Same', ca: true })));
    const leaf = await makeIdentity({ subject: 'CN=leaf', issuer: await makeIdentity({ subject: 'CN=Same', ca: true }) });
    const before = process.threadCpuUsage();
    expect(
      findPath(
        leaf.certificate,
        twins.map(({ certificate }) => certificate),
        [root.certificate],
        Temporal.Now.instant(),
      ),
    ).toBeUndefined();
    const { user, system } = process.threadCpuUsage(before);
    expect((user + system) / 1_000).toBeLessThan(1_000);
  });
});

describe('texts', () => {
  test('subjects are taken as written, or not at all', () => {
    for (const text of ['CN=a', 'CN=Example Root, O=Example\\, Inc, C=DE', 'CN=ü', 'CN=a+O=b', '2.5.4.5=12'])
      expect(parseName(text), text).toBeDefined();
    for (const text of ['', 'a', 'CN=', 'FOO=x', 'CN=a, b', ',', 'CN=a,', 'CN=a\0b', 'CN=a\n'])
      expect(parseName(text), text).toBeUndefined();
  });

  test('addresses come back in their canonical form', () => {
    fc.assert(fc.property(fc.ipV4(), (address) => formatIpAddress(parseIpAddress(address)) === address));
    fc.assert(
      fc.property(fc.ipV6(), (address) => {
        const octets = parseIpAddress(address);
        expect(octets).toHaveLength(16);
        expect(Buffer.from(parseIpAddress(formatIpAddress(octets) ?? ''))).toEqual(Buffer.from(octets));
      }),
    );
    expect(formatIpAddress(parseIpAddress('2001:DB8:0:0::1'))).toBe('2001:db8::1');
    for (const wrong of ['', '1.2.3', '1.2.3.256', 'fe80::1%eth0', '::1::', 'x'])
      expect(() => parseIpAddress(wrong), wrong).toThrow(TypeError);
  });

  test('serial numbers are read in the spellings of openssl and of people', () => {
    for (const text of ['5aff', '5A:FF', '0x5aFF', '5aff']) expect(parseSerial(text)).toBe('5aff');
    expect(parseSerial('f')).toBe('0f');
    for (const text of ['', 'xyz', '5a ff', 'a'.repeat(41)]) expect(parseSerial(text), text).toBeUndefined();
  });
});

function codeOf(run: () => unknown): string | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    return error instanceof ServiceError ? error.code : String(error);
  }
}

/** Content octets of an OBJECT IDENTIFIER with arcs of any size. */
function contentOfIdentifier(dotted: string): Uint8Array {
  const [top = 0n, second = 0n, ...rest] = dotted.split('.').map(BigInt);
  return Uint8Array.from(
    [top * 40n + second, ...rest].flatMap((arc) => {
      const octets = [Number(arc & 127n)];
      for (let left = arc >> 7n; left > 0n; left >>= 7n) octets.unshift(0x80 | Number(left & 127n));
      return octets;
    }),
  );
}

/** Whether reading elements ends with DerError or stays within the octets. */
function staysWithin(bytes: Uint8Array): boolean {
  try {
    return [...new der.Reader(bytes).rest()].every(({ whole }) => whole.length <= bytes.length);
  } catch (error) {
    return error instanceof der.DerError;
  }
}
