// Open connections of a removed appliance, as the kernel lists them.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { isConnected } from '../../../../appliance/cluster/membership/ending/connections.ts';

const tables = (): string[] => ['/proc/net/tcp', '/proc/net/tcp6'].map((file) => readFileSync(file, 'utf8'));

test.each(['127.0.0.1', '::1'])(
  'a connection from %s is seen while it is open, and one to another port or from elsewhere is none',
  async (address) => {
    const server = createServer().listen(0, address);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    expect(isConnected(tables(), [address], [port])).toBe(false);
    const socket = connect(port, address);
    await once(server, 'connection');
    expect(isConnected(tables(), ['192.0.2.1', address], [1, port])).toBe(true);
    expect(isConnected(tables(), [address], [1])).toBe(false);
    expect(isConnected(tables(), ['192.0.2.1', '2001:db8::1'], [port])).toBe(false);
    socket.destroy();
    server.close();
  },
);
