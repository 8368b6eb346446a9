// Whose socket is at the other end of a connection, and how often the tables of the kernel are read for that.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type Endpoint, SocketOwners } from '../../../appliance/seal/socket-owners.ts';
import { parseAddress, type Address } from '../../../core/base/addresses.ts';

const at = (address: string, port: number): Endpoint => [parseAddress(address) as Address, port];

test.each(['127.0.0.1', '::1'])('the owner of a socket connected from %s is found, and that of a closed one is not', async (address) => {
  const server = createServer().listen(0, address);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = connect(port, address);
  const [[accepted]] = await Promise.all([once(server, 'connection'), once(client, 'connect')]);
  const owners = new SocketOwners();
  const [own, other] = [at(address, Number(client.localPort)), at(address, port)];
  expect(await owners.ownerOf(own, other)).toBe(process.getuid?.());
  expect(await owners.ownerOf(own, at(address, port ^ 1))).toBeUndefined();
  client.destroy();
  await once(accepted.resume(), 'end');
  expect(await owners.ownerOf(own, other)).toBeUndefined();
  accepted.destroy();
  server.close();
});

test('who asks at the same time shares a reading that begins afterwards, and readings take a tenth of the time at most', async () => {
  const [begun, ended]: number[][] = [[], []];
  const line = '  0: 0100007F:0001 0100007F:0002 01 00000000:00000000 00:00000000 00000000  1234        0 99 1 0\n';
  let isThere = false;
  const owners = new SocketOwners(async (table) => {
    if (table === 'tcp6') return '';
    begun?.push(performance.now());
    const text = isThere ? line : '';
    await setTimeout(30);
    ended?.push(performance.now());
    return text;
  });
  const ask = (): Promise<number | undefined> => owners.ownerOf(at('127.0.0.1', 1), at('127.0.0.1', 2));
  const first = ask();
  await expect.poll(() => begun).toHaveLength(1);
  isThere = true;
  // The reading that runs cannot have their sockets.
  const later = Array.from({ length: 500 }, ask);
  expect(await first).toBeUndefined();
  expect(new Set(await Promise.all(later))).toEqual(new Set([1_234]));
  expect(begun).toHaveLength(2);
  const [, second = 0] = begun ?? [];
  const [[beganFirst = 0] = [], [endedFirst = 0] = []] = [begun, ended];
  expect(second - endedFirst).toBeGreaterThan(8.5 * (endedFirst - beganFirst));
});
