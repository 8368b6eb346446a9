// The hierarchy of authorities, the columns of ends, the commands that enrol, and the names of saved files, as the console makes them.
import { describe, expect, test } from 'vitest';
import { changedPaths } from '../../../plugins/console/app/forms/changed-paths.ts';
import { fileNameOf } from '../../../plugins/console/app/marks/file-name.ts';
import { commonNameOf } from '../../../plugins/console/app/views/authorities/common-name.ts';
import { enrolCommands, partsOf } from '../../../core/enrolment/commands.ts';
import { columnsOf, type Ending } from '../../../plugins/console/app/views/authorities/expiry.ts';
import { certificatesIn, fingerprintOf } from '../../../plugins/console/app/views/authorities/pem.ts';
import { treeOf, type Branch, type Issued } from '../../../plugins/console/app/views/authorities/tree.ts';

describe('the hierarchy', () => {
  const shown = (branches: readonly Branch<Issued>[]): unknown =>
    Object.fromEntries(branches.map(({ authority: { name }, below }) => [name, shown(below)]));

  test('has each authority below its issuer', () => {
    const all = [
      { name: 'devices', 'issuing-ca': 'root' },
      { name: 'pumps', 'issuing-ca': 'devices' },
      { name: 'root' },
      { name: 'servers', 'issuing-ca': 'root' },
    ];
    expect(shown(treeOf(all))).toEqual({ root: { devices: { pumps: {} }, servers: {} } });
  });

  test('loses none whose issuer is hidden, gone, or itself', () => {
    const all = [
      { name: 'orphan', 'issuing-ca': 'gone' },
      { name: 'self', 'issuing-ca': 'self' },
      { name: 'a', 'issuing-ca': 'b' },
      { name: 'b', 'issuing-ca': 'a' },
    ];
    expect(JSON.stringify(treeOf(all)).match(/"name"/g)).toHaveLength(4);
  });
});

describe('columns of ends', () => {
  const now = new Date('2026-01-10T12:00:00Z');
  const ending = (at: string, status: Ending['status'] = 'valid'): Ending => ({
    'not-before': '2026-01-10T12:00:00Z',
    'not-after': at,
    status,
  });

  test('are days when everything ends soon, and have empty days between', () => {
    const columns = columnsOf([ending('2026-01-11T00:00:00Z'), ending('2026-01-13T23:59:59Z')], now);
    expect(columns.map(({ value }) => value)).toEqual([0, 1, 0, 1]);
    const day = { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' } as const;
    expect(columns[1]?.label).toBe(new Date('2026-01-11').toLocaleDateString(undefined, day));
  });

  test('are years when something lasts for long', () => {
    const columns = columnsOf([ending('2026-02-01T00:00:00Z'), ending('2035-06-01T00:00:00Z')], now);
    expect(columns.map(({ label }) => label)).toEqual(['2026', '2027', '2028', '2029', '2030', '2031', '2032', '2033', '2034', '2035']);
  });

  test('have the tone of the most pressing certificate by its share of life, not by days', () => {
    const lived = (begin: string, end: string): Ending => ({ 'not-before': begin, 'not-after': end, status: 'valid' });
    const tonesOf = (...all: Ending[]) => columnsOf(all, now).flatMap(({ value, tone }) => (value === 0 ? [] : [tone]));
    // Thirty days from the first minute on, and for an hour.
    expect(tonesOf(ending('2026-02-09T12:00:00Z'))).toEqual([undefined]);
    expect(tonesOf(ending('2026-01-10T13:00:00Z'))).toEqual([undefined]);
    expect(tonesOf(lived('2025-12-20T12:00:00Z', '2026-01-18T12:00:00Z'))).toEqual(['warn']);
    expect(tonesOf(lived('2025-12-13T12:00:00Z', '2026-01-12T12:00:00Z'))).toEqual(['bad']);
    // Forty days are less than the tenth of two years.
    expect(tonesOf(lived('2024-02-19T12:00:00Z', '2026-02-19T12:00:00Z'))).toEqual(['bad']);
    const late = lived('2025-12-13T12:00:00Z', '2026-01-12T13:00:00Z');
    const renewsSoon = lived('2026-01-02T12:00:00Z', '2026-01-12T14:00:00Z');
    expect(tonesOf(late, renewsSoon, ending('2026-01-12T15:00:00Z'))).toEqual(['bad']);
    expect(tonesOf(ending('2026-01-12T15:00:00Z'), renewsSoon, late)).toEqual(['bad']);
  });

  test('leave out what is expired or revoked, and do not grow with a certificate that never ends', () => {
    expect(columnsOf([ending('2026-02-01T00:00:00Z', 'revoked'), ending('2025-01-01T00:00:00Z', 'expired')], now)).toEqual([]);
    const columns = columnsOf([ending('9999-12-31T23:59:59Z')], now);
    expect(columns.length).toBeLessThanOrEqual(120);
    expect(columns.at(-1)?.value).toBe(1);
  });
});

describe('commands that enrol', () => {
  const url = 'https://[2001:db8::1]:4665/.well-known/est/f81d4fae-7dec-41d0-a765-00a0c91e6bf6/plant';

  test('name host, port and label apart for clients that want them so', () => {
    expect(partsOf(url)).toEqual({
      origin: 'https://[2001:db8::1]:4665',
      host: '2001:db8::1',
      port: '4665',
      label: 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6~plant',
    });
  });

  test('have no secret in them', () => {
    const commands = enrolCommands({ url, device: 'pump-7.plant.example', keyType: 'ecdsa' });
    expect(commands.map(({ title }) => title)).toContain('strongSwan');
    for (const { text } of commands) expect(text.replaceAll('$EST_SECRET', '')).not.toMatch(/secret/i);
  });

  test('make a key that the authority certifies', () => {
    const commands = enrolCommands({ url, device: 'pump-7.plant.example', keyType: 'ml-dsa-65' });
    expect(commands[0]?.text).toContain('-newkey ml-dsa-65');
    expect(commands.map(({ title }) => title)).not.toContain('libest');
  });
});

test('a fingerprint is that of the octets, as openssl writes it', async () => {
  const pem = `-----BEGIN CERTIFICATE-----\n${btoa('abc')}\n-----END CERTIFICATE-----\n`;
  const [octets = new Uint8Array()] = certificatesIn(pem + pem);
  expect(certificatesIn(pem + pem)).toHaveLength(2);
  expect(await fingerprintOf(octets)).toBe(
    'BA:78:16:BF:8F:01:CF:EA:41:41:40:DE:5D:AE:22:23:B0:03:61:A3:96:17:7A:9C:B4:10:FF:61:F2:00:15:AD',
  );
});

test.each([
  ['CN=pump-7.plant.example, O=Example', 'pump-7.plant.example'],
  ['O=Example, CN=Plant\\, west', 'Plant, west'],
  ['O=CN=no', undefined],
  [String.raw`O=x\,CN=bank.example.com, CN=evil.example.com`, 'evil.example.com'],
  ['CN=bank.example.com, CN=evil.example.com', undefined],
])('the common name of %j is %j', (subject, expected) => {
  expect(commonNameOf(subject)).toBe(expected);
});

test.each([
  ['../../etc/passwd', 'etc-passwd'],
  ['evil\u202efdp.exe\0', 'evil-fdp.exe'],
  ['  ', 'keystored'],
  ['.bashrc', 'bashrc'],
])('a file of the name %j is saved as %j', (name, expected) => {
  expect(fileNameOf(name)).toBe(expected);
});

test('what changed meanwhile is named to the field, lists as a whole', () => {
  const before = { a: 1, est: { ttl: '30d', domains: ['x'] }, gone: true };
  const now = { a: 1, est: { ttl: '31d', domains: ['x', 'y'] }, made: { in: 1 } };
  expect(changedPaths(before, now)).toEqual(['est/ttl', 'est/domains', 'gone', 'made/in']);
});
