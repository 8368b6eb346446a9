// Which names a device may have (requirements R49 to R56), on the policy itself and through the listener.
import * as fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { defined } from '../../../core/base/defined.ts';
import { findForbiddenName, type IdentityPolicy } from '../../../plugins/ca/issuing/identity-policy.ts';
import { encode, objectIdentifier, sequence, tag } from '../../../core/der/der.ts';
import { readName } from '../../../core/der/name.ts';
import { basic } from '../est/client.ts';
import { type EstAppliance, openEst, secret, startEstAppliance } from '../est/est-appliance.ts';
import { type Keys, makeCsr, makeCsrOf, makeKeys, type Names, readCertsOnly, x509 } from './pki.ts';

const strict: IdentityPolicy = { allowedDomains: ['example.test'], allowSubdomains: false, allowBareDomains: false, allowIpSans: false };
const open: IdentityPolicy = {
  allowedDomains: ['example.test', 'Other.Test.'],
  allowSubdomains: true,
  allowBareDomains: true,
  allowIpSans: true,
};

/** Judges one DNS name as alternative name. */
const allowsDns = (policy: IdentityPolicy, name: string): boolean => {
  const content = Buffer.from(name, 'latin1');
  return findForbiddenName(policy, { subjectAttributes: [], alternativeNames: [{ kind: 'dns', content, whole: content }] }) === undefined;
};

describe('policy', () => {
  test('R50: the domain itself needs allow-bare-domains, names below it allow-subdomains', () => {
    const bare = { ...strict, allowBareDomains: true };
    const sub = { ...strict, allowSubdomains: true };
    expect([strict, bare, sub].map((policy) => allowsDns(policy, 'example.test'))).toEqual([false, true, false]);
    expect([strict, bare, sub].map((policy) => allowsDns(policy, 'a.example.test'))).toEqual([false, false, true]);
    expect([strict, bare, sub].map((policy) => allowsDns(policy, 'a.b.c.example.test'))).toEqual([false, false, true]);
    expect(allowsDns(open, 'test')).toBe(false);
  });

  test('R51: labels compare without case, one trailing dot does not matter, a suffix is not a subdomain', () => {
    for (const name of ['EXAMPLE.test', 'example.TEST.', 'A.Example.Test', 'a.other.test', 'OTHER.TEST'])
      expect(allowsDns(open, name), name).toBe(true);
    for (const name of ['evilexample.test', 'example.test.evil.test', '.example.test', 'a..example.test', 'example.test..', '', '.']) {
      expect(allowsDns(open, name), name).toBe(false);
    }
  });

  test('R51: NUL, spaces and octets outside ASCII are in no host name; IDN comes as A-label', () => {
    for (const name of [
      'a\0.example.test',
      'a .example.test',
      'ä.example.test',
      'a.example.test\0',
      ' a.example.test',
      'a.example.test\n',
      '-a.example.test',
      'a-.example.test',
    ]) {
      expect(allowsDns(open, name), JSON.stringify(name)).toBe(false);
    }
    expect(allowsDns(open, 'xn--4ca.example.test')).toBe(true);
    expect(allowsDns(open, `${'a'.repeat(64)}.example.test`)).toBe(false);
    expect(allowsDns(open, `${'a.'.repeat(130)}example.test`)).toBe(false);
  });

  test('R52: empty allowed-domains allow no name', () => {
    expect(allowsDns({ ...open, allowedDomains: [] }, 'example.test')).toBe(false);
  });

  test('R54: wildcards are refused', () => {
    for (const name of ['*.example.test', 'a.*.example.test', '*']) expect(allowsDns(open, name)).toBe(false);
  });

  test('allow-wildcards allows all hosts directly below a name, where names below the domain are allowed', () => {
    const wild = { ...open, allowWildcards: true };
    for (const name of ['*.example.test', '*.a.example.test']) expect(allowsDns(wild, name)).toBe(true);
    for (const name of ['*', '*.', '*.*.example.test', 'a.*.example.test', 'a*.example.test', '*.test', '*.evilexample.test'])
      expect([name, allowsDns(wild, name)]).toEqual([name, false]);
    for (const more of [{ allowSubdomains: false }, { allowedDomains: [] }])
      expect(allowsDns({ ...wild, ...more }, '*.example.test')).toBe(false);
  });

  test('what is allowed is a domain of the list, or ends with a dot and one', () => {
    const label = fc.constantFrom('a', 'b', 'example', 'test', 'evil', 'evilexample', '*', '');
    fc.assert(
      fc.property(fc.array(label, { maxLength: 5 }), fc.boolean(), fc.boolean(), (labels, allowSubdomains, allowBareDomains) => {
        const name = labels.join('.');
        const allowed = allowsDns({ ...strict, allowSubdomains, allowBareDomains }, name);
        const read = labels.at(-1) === '' ? labels.slice(0, -1) : labels;
        const isBare = read.join('.') === 'example.test';
        const isBelow = read.length > 2 && read.slice(-2).join('.') === 'example.test' && read.every((one) => /^[a-z]+$/.test(one));
        expect(allowed).toBe((isBare && allowBareDomains) || (isBelow && allowSubdomains));
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('through the listener', () => {
  let appliance: EstAppliance;
  let ca: string;
  let keys: Keys;

  beforeAll(async () => {
    appliance = await startEstAppliance();
    ca = await appliance.makeCa();
    keys = await makeKeys('P-256');
  });

  const status = async (subject: string | x509.JsonName, names?: Names, from = ca): Promise<number> => {
    const csr = await makeCsr({ keys, subject, ...defined({ names }) });
    return (await appliance.enrol(from, 'simpleenroll', csr, { headers: { Authorization: basic(secret) } })).status;
  };
  const good: Names = [{ type: 'dns', value: 'device.example.test' }];

  test('R49: every common name counts, also two in one relative name, and every alternative name', async () => {
    expect(await status([{ CN: ['device.example.test'] }, { CN: ['other.example.test'] }])).toBe(200);
    expect(await status([{ CN: ['device.example.test'] }, { CN: ['evil.test'] }])).toBe(403);
    expect(await status([{ CN: ['evil.test', 'device.example.test'] }])).toBe(403);
    expect(await status('CN=device.example.test', [...good, { type: 'dns', value: 'evil.test' }])).toBe(403);
    expect(await status('CN=evil.test', good)).toBe(403);
  });

  test('R53: IP addresses need allow-ip-sans, as alternative name and as common name', async () => {
    const withIp = await appliance.makeCa({ est: { ...openEst, 'allow-ip-sans': true } });
    for (const value of ['192.0.2.7', '2001:db8::7']) {
      expect(await status('CN=device.example.test', [...good, { type: 'ip', value }])).toBe(403);
      expect(await status('CN=device.example.test', [...good, { type: 'ip', value }], withIp)).toBe(200);
      expect(await status(`CN=${value}`)).toBe(403);
      expect(await status(`CN=${value}`, undefined, withIp)).toBe(200);
    }
  });

  test('R54: URI, email, directory name, registered id and other names are 403', async () => {
    const others: Names = [
      { type: 'url', value: 'https://device.example.test/' },
      { type: 'email', value: 'device@example.test' },
      { type: 'dn', value: 'CN=device.example.test' },
      { type: 'id', value: '1.2.3.4' },
      { type: 'upn', value: 'device@example.test' },
    ];
    for (const one of others) expect(await status('CN=device.example.test', [...good, one]), one.type).toBe(403);
  });

  test('R55: neither common name nor alternative name is 403; either alone will do, and nothing is added', async () => {
    expect(await status('')).toBe(403);
    expect(await status('O=Example')).toBe(403);
    expect(await status('', good)).toBe(200);
    const csr = await makeCsr({ keys, subject: 'CN=device.example.test' });
    const reply = await appliance.enrol(ca, 'simpleenroll', csr, { headers: { Authorization: basic(secret) } });
    const [certificate] = readCertsOnly(reply.text);
    expect(certificate?.subjectAltName).toBeUndefined();
  });

  test('R56: other subject attributes pass unchanged, octet for octet; names past all measure are 400', async () => {
    const subject = sequence(
      encode(tag.set, part('2.5.4.6', tag.printableString, Buffer.from('DE'))),
      encode(tag.set, part('2.5.4.10', tag.utf8String, Buffer.from('Größe GmbH'))),
      encode(tag.set, part('2.5.4.11', 0x14, Buffer.from('Werk')), part('2.5.4.11', 0x1e, Buffer.from('Halle', 'utf16le').swap16())),
      encode(tag.set, part('2.5.4.5', tag.printableString, Buffer.from('SN-4711'))),
      encode(tag.set, part('2.5.4.3', tag.utf8String, Buffer.from('device.example.test'))),
    );
    const csr = makeCsrOf(subject);
    const reply = await appliance.enrol(ca, 'simpleenroll', csr, { headers: { Authorization: basic(secret) } });
    const [certificate] = readCertsOnly(reply.text);
    const got = Buffer.from(new x509.X509Certificate(new Uint8Array(certificate?.raw ?? [])).subjectName.toArrayBuffer());
    expect(got.equals(subject)).toBe(true);
    expect(readName(got).map(({ value }) => value)).toEqual(expect.arrayContaining(['Größe GmbH', 'Werk', 'Halle', 'SN-4711']));
    expect(await status(`CN=device.example.test, O=${'x'.repeat(300)}`)).toBe(400);
    expect(await status(Array.from({ length: 40 }, () => ({ CN: ['device.example.test'] })))).toBe(400);
  });
});

/** One attribute of a name with a string type of choice. */
function part(type: string, tagOctet: number, value: Buffer): Uint8Array {
  return sequence(objectIdentifier(type), encode(tagOctet, value));
}
