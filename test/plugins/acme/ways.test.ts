// Addresses at which names are proved: without rules only public ones, with them the allowed ranges alone.
import { expect, test } from 'vitest';
import { openWays } from '../../../plugins/acme/validation/ways.ts';

const own = { ports: [4666], publicUrl: 'https://keystore.example:4646' };
const waysWith = (allow: readonly string[], deny: readonly string[] = []) =>
  openWays({ validationHosts: { allow: [...allow], deny: [...deny] }, resolvers: [], httpPort: 80, tlsPort: 443 }, own).destinations;

/** The addresses of a list that are asked. */
const asked = (destinations: ReturnType<typeof waysWith>, addresses: readonly string[]): readonly string[] =>
  addresses.filter((address) => {
    try {
      destinations.wayTo(new URL(`http://${address.includes(':') ? `[${address}]` : address}/`));
      return true;
    } catch {
      return false;
    }
  });

const inside = [
  ...['127.0.0.1', '127.1.2.3', '::1', '10.0.0.1', '172.16.0.1', '172.31.255.1', '192.168.1.1', 'fd12:3456::1', '100.64.0.1', '0.0.0.0'],
  ...['169.254.169.254', 'fe80::1', '224.0.0.1', '::ffff:10.0.0.1', '64:ff9b::a00:1', '2002:a00:1::', '198.18.0.1', '192.0.2.1', '::'],
  ...['64:ff9b:1::7f00:1', '::ffff:0:7f00:1', 'fec0::1', '100::1', '2001:0:7f00:1::', '5f00::1'],
];
const outside = ['93.184.216.34', '172.32.0.1', '2600::1'];

test('without rules public addresses alone are asked', () => {
  expect(asked(waysWith([]), [...inside, ...outside])).toEqual(outside);
});

test('an allowed range is asked, and nothing else; what is denied is not', () => {
  expect(asked(waysWith(['10.0.0.0/8'], ['10.9.0.0/16']), [...inside, ...outside, '10.9.0.1'])).toEqual([
    ...['10.0.0.1', '::ffff:10.0.0.1'],
    // The same address behind NAT64 and 6to4.
    ...['64:ff9b::a00:1', '2002:a00:1::'],
  ]);
});

test('of this machine the listeners are not asked, whatever is allowed', () => {
  const destinations = waysWith(['127.0.0.0/8']);
  expect(() => destinations.wayTo(new URL('http://127.0.0.1:4666/'))).toThrow('not called');
  expect(() => destinations.wayTo(new URL('http://127.0.0.1/'))).not.toThrow();
});

test('a name that leads inside is not asked', async () => {
  const { lookup } = waysWith([]).wayTo(new URL('http://localhost/'));
  const error = await new Promise((resolve) => lookup('localhost', {}, resolve));
  expect(error).toMatchObject({ kind: 'forbidden-address' });
});
