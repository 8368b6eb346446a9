// Subjects that are not DER, or that hide something: refused before the token signs, over EST, by sign-csr, and as names of CAs.
import { beforeAll, describe, expect, test } from 'vitest';
import { formatPem } from '../../../core/base/texts/pem.ts';
import {
  bitString,
  encode,
  explicit,
  integer,
  objectIdentifier,
  octetString,
  sequence,
  setOf,
  tag,
  utf8String,
} from '../../../core/der/der.ts';
import { generateKeyPairSync, sign } from 'node:crypto';
import { commonName } from '../../../core/der/name.ts';
import { makeCsrOf } from '../ca/pki.ts';
import { basic } from './client.ts';
import { type EstAppliance, secret, startEstAppliance } from './est-appliance.ts';

const device = 'device.example.test';
let appliance: EstAppliance;
let ca: string;

beforeAll(async () => {
  appliance = await startEstAppliance();
  ca = await appliance.makeCa();
});

const attribute = (oid: string, value: Uint8Array): Uint8Array => sequence(objectIdentifier(oid), value);
const cn = attribute('2.5.4.3', utf8String(device));
const organization = (value: Uint8Array): Uint8Array => attribute('2.5.4.10', value);
const named = (...relatives: readonly Uint8Array[]): Uint8Array => sequence(setOf(cn), ...relatives);
const text = (tagOctet: number, value: string | Uint8Array): Uint8Array => encode(tagOctet, Buffer.from(value));

const odd: Readonly<Record<string, Uint8Array>> = {
  'a set that is not sorted': sequence(encode(tag.set, cn, organization(utf8String('Example')))),
  'an object identifier that begins with zeros': sequence(
    encode(tag.set, sequence(encode(tag.oid, Uint8Array.of(0x55, 0x04, 0x80, 0x03)), utf8String(device))),
  ),
  'a string in pieces': named(setOf(organization(encode(0x2c, utf8String('Exam'), utf8String('ple'))))),
  'a value that is no string': named(setOf(organization(integer(7)))),
  'a value of an unlisted type that is no string': named(setOf(attribute('2.5.4.15', octetString(Uint8Array.of(1))))),
  'a BMPString of odd length': named(setOf(organization(text(0x1e, Uint8Array.of(0, 65, 0))))),
  'a UniversalString of no character': named(setOf(organization(text(0x1c, Uint8Array.of(0x7f, 0, 0, 0))))),
  'a UTF8String that is not UTF-8': named(setOf(organization(text(tag.utf8String, Uint8Array.of(0xff))))),
  'a relative name without an attribute': named(encode(tag.set)),
  'a control character in O': named(setOf(organization(utf8String('Exam\u0007ple')))),
  'a line end in O': named(setOf(organization(text(tag.printableString, 'Exam\nple')))),
  'a character that reorders the others': named(setOf(organization(utf8String('Exam\u202eple')))),
  'a null in a TeletexString': named(setOf(organization(text(0x14, 'Exam\u0000ple')))),
  'dnQualifier as UTF8String': named(setOf(attribute('2.5.4.46', utf8String('1')))),
  'a serialNumber as UTF8String': named(setOf(attribute('2.5.4.5', utf8String('1')))),
};

describe.each(Object.entries(odd))('%s', (_, subject) => {
  test('is 400 over EST', async () => {
    const { status, text: said } = await appliance.enrol(ca, 'simpleenroll', makeCsrOf(subject), {
      headers: { Authorization: basic(secret) },
    });
    expect({ status, said }).toEqual({ status: 400, said: expect.stringMatching(/^The certification request /) });
  });

  test('is 400 by sign-csr', async () => {
    const answer = await appliance.act(ca, 'sign-csr', { csr: formatPem('CERTIFICATE REQUEST', makeCsrOf(subject)) });
    expect({ status: answer.status, code: answer.body.code }).toEqual({ status: 400, code: 'invalid-csr' });
  });
});

test('strings of every type that is one are certified', async () => {
  for (const value of [
    utf8String('Ex'),
    text(tag.printableString, 'Ex'),
    text(0x14, 'Ex'),
    text(0x1e, Buffer.from('Ex', 'utf16le').swap16()),
    text(0x1c, Uint8Array.of(0, 0, 0, 69)),
  ]) {
    const { status, text: said } = await appliance.enrol(ca, 'simpleenroll', makeCsrOf(named(setOf(organization(value)))), {
      headers: { Authorization: basic(secret) },
    });
    expect({ status, said: status === 200 ? '' : said }).toEqual({ status: 200, said: '' });
  }
});

test('an address of an interface is no address, also where addresses are allowed', async () => {
  const open = await appliance.makeCa({ est: { enabled: true, 'initial-enroll-secret': secret, 'allow-ip-sans': true } });
  const { status } = await appliance.enrol(open, 'simpleenroll', makeCsrOf(commonName('::1%anything')), {
    headers: { Authorization: basic(secret) },
  });
  expect(status).toBe(403);
});

test('a common name that is no string is said to be none, and not to be no host name', async () => {
  const { status, text: said } = await appliance.enrol(
    ca,
    'simpleenroll',
    makeCsrOf(sequence(setOf(attribute('2.5.4.3', encode(tag.boolean, Uint8Array.of(0xff)))))),
    { headers: { Authorization: basic(secret) } },
  );
  expect({ status, said }).toMatchObject({ status: expect.any(Number), said: expect.stringContaining('is not a string') });
});

test('a shared secret without the padding of base64 is the secret', async () => {
  const header = `Basic ${Buffer.from(`device:${secret}`).toString('base64').replace(/=+$/, '')}`;
  const { status } = await appliance.enrol(ca, 'simpleenroll', makeCsrOf(commonName(device)), { headers: { Authorization: header } });
  expect(status).toBe(200);
});

/** A request with attributes of its own. */
function requestWith(...attributes: readonly Uint8Array[]): Buffer {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const info = sequence(integer(0), commonName(device), publicKey.export({ format: 'der', type: 'spki' }), explicit(0, ...attributes));
  return Buffer.from(sequence(info, sequence(objectIdentifier('1.2.840.10045.4.3.2')), bitString(sign('sha256', info, privateKey))));
}

describe('extensions that are asked for', () => {
  const names = (name: string): Uint8Array =>
    sequence(sequence(objectIdentifier('2.5.29.17'), octetString(sequence(encode(0x82, Buffer.from(name))))));
  const [usual, microsoft] = ['1.2.840.113549.1.9.14', '1.3.6.1.4.1.311.2.1.14'];
  const enrol = (csr: Buffer) => appliance.enrol(ca, 'simpleenroll', csr, { headers: { Authorization: basic(secret) } });

  test("under Microsoft's name count as the others", async () => {
    expect((await enrol(requestWith(sequence(objectIdentifier(microsoft), setOf(names('other.example.test')))))).status).toBe(200);
    expect((await enrol(requestWith(sequence(objectIdentifier(microsoft), setOf(names('other.elsewhere.test')))))).status).toBe(403);
  });

  test('twice are refused, in one attribute or in two', async () => {
    const values = [names('a.example.test'), names('b.example.test')];
    const asked = (...types: readonly string[]) => types.map((type) => sequence(objectIdentifier(type), setOf(names('a.example.test'))));
    const inTwoValues = sequence(objectIdentifier(usual), setOf(...values));
    for (const attributes of [[inTwoValues], asked(usual, microsoft)])
      expect(await enrol(requestWith(...attributes))).toMatchObject({
        status: 400,
        text: expect.stringMatching(/asks for extensions more than once: put all/),
      });
    expect(await enrol(requestWith(...asked(usual, usual)))).toMatchObject({
      status: 400,
      text: expect.stringMatching(/attributes that are not well-formed, or one of them twice/),
    });
  });
});

test.each([
  'O=b+CN=a',
  'CN=a, emailAddress=a@example.test',
  'CN=a, serialNumber=12',
  'CN=a, UID=x',
  'cn=a, SERIALNUMBER=1 + uid=y',
  'CN=a, gn=b, 2.5.4.17=9',
])('a CA is named %s', async (subject) => {
  const made = await appliance.makeCa({ subject });
  const [type = ''] = subject.split('=');
  expect((await appliance.state(made))['subject']).toContain(type);
});

test('a subject that is not understood is refused with the attribute, and with those there are', async () => {
  for (const [subject, said] of [
    ['CN=a, pseudonym=b', /has the attribute pseudonym, which is not known: there are CN, .*, UID, .*numbers such as 2\.5\.4\.17/],
    ['FOO=1+CN=a', /has the attribute FOO/],
    ['/C=DE/CN=a', /with commas between its attributes/],
  ] as const)
    expect((await appliance.request('POST', '/v1/config/keystore/tls/ca', { name: 'odd', subject })).body.detail, subject).toMatch(said);
});
