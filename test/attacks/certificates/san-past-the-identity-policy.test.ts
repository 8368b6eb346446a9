// OpenBao GHSA-g892-p242-8g86: an IP address in the request passed the rule about IP addresses. Names of every kind, where rules forbid them.
import { beforeAll, describe, expect, test } from 'vitest';
import { basic } from '../../plugins/est/client.ts';
import { type EstAppliance, openEst, secret, startEstAppliance } from '../../plugins/est/est-appliance.ts';
import { type Keys, makeCsr, makeKeys, type Names, readCertsOnly, x509 } from '../../plugins/ca/pki.ts';

let appliance: EstAppliance;
let ca: string;
let keys: Keys;
beforeAll(async () => {
  appliance = await startEstAppliance();
  ca = await appliance.makeCa();
  keys = await makeKeys('P-256');
});

async function enrol(names: Names, subject = 'CN=device.example.test', extensions: x509.Extension[] = []) {
  const csr = await makeCsr({ keys, subject, names, extensions });
  return appliance.enrol(ca, 'simpleenroll', csr, { headers: { Authorization: basic(secret) } });
}

const allowed = { type: 'dns', value: 'device.example.test' } as const;

describe('besides an allowed name', () => {
  const others: Names = [
    { type: 'ip', value: '10.0.0.1' },
    { type: 'ip', value: '127.0.0.1' },
    { type: 'ip', value: '2001:db8::1' },
    { type: 'dns', value: '10.0.0.1' },
    { type: 'dns', value: 'device.example.test.evil.example' },
    { type: 'dns', value: 'evilexample.test' },
    { type: 'dns', value: '*.example.test' },
    { type: 'dns', value: 'a.example.test\u0000.evil.example' },
    { type: 'url', value: 'https://device.example.test/' },
    { type: 'url', value: 'spiffe://example.test/admin' },
    { type: 'email', value: 'admin@example.test' },
    { type: 'dn', value: 'CN=admin' },
    { type: 'upn', value: 'admin@example.test' },
    { type: 'id', value: '1.2.3.4' },
  ];
  test.each(others)('$type $value is refused', async (name) => {
    for (const names of [[allowed, name], [name, allowed], [name]]) {
      expect([name.type, (await enrol(names)).status]).toEqual([name.type, 403]);
    }
  });
});

describe('where the policy has mail addresses and principal names of one domain', () => {
  const own = { 'allowed-emails': ['*@example.test'], 'allowed-other-names': ['1.3.6.1.4.1.311.20.2.3;UTF8:*@example.test'] };
  test('those of another, or that read as another to somebody, are refused', async () => {
    const mailCa = await appliance.makeCa({ est: { ...openEst, ...own } });
    const status = async (name: Names[number]): Promise<number> => {
      const csr = await makeCsr({ keys, subject: 'CN=device.example.test', names: [allowed, name] });
      return (await appliance.enrol(mailCa, 'simpleenroll', csr, { headers: { Authorization: basic(secret) } })).status;
    };
    for (const value of [
      'admin@evil.example',
      'admin@example.test@evil.example',
      'admin@evil.example@example.test',
      'a\u0000@example.test',
      '*@example.test',
    ])
      for (const type of ['email', 'upn'] as const) expect([type, value, await status({ type, value })]).toEqual([type, value, 403]);
    for (const type of ['email', 'upn'] as const) expect(await status({ type, value: 'admin@example.test' })).toBe(200);
  });
});

test('a common name that is not allowed, and one with the allowed name behind a NUL or in a second place', async () => {
  for (const subject of [
    'CN=evil.example',
    'CN=10.0.0.1',
    'CN=device.example.test\u0000.evil.example',
    'CN=evil.example, CN=device.example.test',
  ]) {
    expect([subject, (await enrol([allowed], subject)).status]).toEqual([subject, 403]);
  }
});

test('extensions that would make it more than a device certificate are not taken over', async () => {
  const asked = [
    new x509.BasicConstraintsExtension(true, 3, true),
    new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
    new x509.ExtendedKeyUsageExtension(['1.3.6.1.5.5.7.3.9', '1.3.6.1.5.5.7.3.3']),
    new x509.Extension('1.2.3.4.5', true, new Uint8Array([5, 0])),
  ];
  for (const extension of asked) {
    const { status, text } = await enrol([allowed], 'CN=device.example.test', [extension]);
    expect([200, 400, 403]).toContain(status);
    const issued = status === 200 ? readCertsOnly(text) : [];
    for (const certificate of issued) {
      const parsed = new x509.X509Certificate(certificate.raw);
      expect(parsed.getExtension(x509.BasicConstraintsExtension)?.ca ?? false).toBe(false);
      expect((parsed.getExtension(x509.KeyUsagesExtension)?.usages ?? 0) & x509.KeyUsageFlags.keyCertSign).toBe(0);
      expect(parsed.extensions.map(({ type }) => type)).not.toContain('1.2.3.4.5');
    }
  }
});

test('with IP addresses allowed, all other kinds are as closed as before', async () => {
  const open = await appliance.makeCa({ est: { ...openEst, 'allow-ip-sans': true } });
  const csr = async (name: Names[number]) => makeCsr({ keys, subject: 'CN=device.example.test', names: [allowed, name] });
  const status = async (name: Names[number]) =>
    (await appliance.enrol(open, 'simpleenroll', await csr(name), { headers: { Authorization: basic(secret) } })).status;
  expect(await status({ type: 'ip', value: '10.0.0.1' })).toBe(200);
  expect(await status({ type: 'email', value: 'a@example.test' })).toBe(403);
  expect(await status({ type: 'dns', value: 'evil.example' })).toBe(403);
});
