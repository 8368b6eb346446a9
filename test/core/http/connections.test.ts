// A listener's connections have a place for everybody: which of them goes for one that comes, and what is counted.
import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { type Connection, type ConnectionLimits, Connections, type Stage } from '../../../core/http/listener/connections.ts';

const roomy: ConnectionLimits = { open: 1_000, handshakes: 1_000 };
const crowdAddress = '192.0.2.1';
const other = '198.51.100.7';

/** Of these connections only that they close matters. */
const socket = (): Socket => new PassThrough() as unknown as Socket;

function comes(connections: Connections, address: string, stage: Stage = 'silent', owes = false): Connection | undefined {
  const connection = connections.add(socket(), address);
  if (connection === undefined) return undefined;
  if (stage !== 'silent') connections.move(connection, stage);
  connection.owes = () => owes;
  return connection;
}

/** Opens these connections of one address and returns them. */
function crowd(connections: Connections, ...stages: readonly Stage[]): readonly Connection[] {
  return stages.map((stage) => comes(connections, crowdAddress, stage)).filter((connection) => connection !== undefined);
}

const gone = (all: readonly (Connection | undefined)[]): readonly number[] =>
  all.flatMap((connection, index) => (connection?.socket.destroyed === true ? [index] : []));

describe('at the limit', () => {
  test('the oldest idle connection of the address that has most goes, and every comer is let in', () => {
    const connections = new Connections({ ...roomy, open: 6 });
    const kept = comes(connections, other, 'idle');
    const many = crowd(connections, 'idle', 'idle', 'idle', 'idle', 'idle');
    expect(comes(connections, '203.0.113.5', 'idle')).toBeDefined();
    expect(comes(connections, other, 'idle')).toBeDefined();
    expect(comes(connections, crowdAddress, 'idle')).toBeDefined();
    expect(gone(many)).toEqual([0, 1, 2]);
    expect(gone([kept])).toEqual([]);
    expect(connections.closed.crowded).toBe(3);
    expect(connections.counts).toEqual({ handshake: 0, idle: 6, request: 0 });
  });

  test('an IPv6 subscriber is one address, whichever of its addresses is used', () => {
    const connections = new Connections({ ...roomy, open: 4 });
    const kept = comes(connections, other, 'idle');
    for (const host of ['1', '2', '3']) comes(connections, `2001:db8::${host}`, 'idle');
    comes(connections, '2001:db8::4', 'idle');
    expect(gone([kept])).toEqual([]);
  });

  test('a request that a peer keeps waiting goes before one that is worked on', () => {
    const connections = new Connections({ ...roomy, open: 3 });
    const all = [
      comes(connections, crowdAddress, 'request'),
      comes(connections, crowdAddress, 'request', true),
      comes(connections, crowdAddress, 'request'),
    ];
    expect(comes(connections, other)).toBeDefined();
    expect(gone(all)).toEqual([1]);
  });

  test('requests that are worked on go for an address that has fewer, until each has its share; then there is no place', () => {
    const connections = new Connections({ ...roomy, open: 6 });
    const all = crowd(connections, 'request', 'request', 'request', 'request', 'request', 'request');
    for (let count = 0; count < 3; count++) expect(comes(connections, other, 'request')).toBeDefined();
    expect(gone(all)).toEqual([0, 1, 2]);
    expect(comes(connections, other, 'request')).toBeUndefined();
    expect(comes(connections, crowdAddress, 'request')).toBeUndefined();
    expect(comes(connections, '203.0.113.5', 'request')).toBeDefined();
  });

  test('a request that is worked on does not shield the idle connections of others', () => {
    const connections = new Connections({ ...roomy, open: 4 });
    const busy = crowd(connections, 'request', 'request', 'request');
    const idle = comes(connections, other, 'idle');
    expect(comes(connections, '203.0.113.5')).toBeDefined();
    expect(gone(busy)).toEqual([]);
    expect(gone([idle])).toEqual([0]);
  });

  test('a handshake that has just begun stays while there is an idle connection', () => {
    const connections = new Connections({ ...roomy, open: 4 });
    const all = crowd(connections, 'silent', 'answered', 'in-line', 'idle');
    comes(connections, other);
    expect(gone(all)).toEqual([3]);
  });
});

describe('before the end of the handshake', () => {
  test('the address that has most gives one for the next: silent ones first, the oldest of them', () => {
    const connections = new Connections({ ...roomy, handshakes: 5 });
    const honest = comes(connections, other);
    const all = crowd(connections, 'in-line', 'answered', 'silent', 'silent');
    comes(connections, other);
    expect(gone(all)).toEqual([2]);
    expect(gone([honest])).toEqual([]);
  });

  test('no connection past its handshake goes for one that begins it', () => {
    const connections = new Connections({ ...roomy, handshakes: 1 });
    const all = crowd(connections, 'idle', 'idle', 'silent');
    comes(connections, other);
    expect(gone(all)).toEqual([2]);
  });
});

test('a closed connection gives its place back, once', async () => {
  const connections = new Connections(roomy);
  const connection = comes(connections, crowdAddress, 'request');
  if (connection === undefined) throw new Error('there is room');
  connections.close(connection, 'unread');
  connections.close(connection, 'unread');
  connections.move(connection, 'idle');
  await expect.poll(() => connection.socket.closed).toBe(true);
  expect(connections.counts).toEqual({ handshake: 0, idle: 0, request: 0 });
  expect(connections.closed).toEqual({ crowded: 0, 'handshake-timeout': 0, unread: 1 });
});

test('who closes the connection leaves nothing behind', async () => {
  const connections = new Connections(roomy);
  const connection = comes(connections, crowdAddress, 'idle');
  connection?.socket.destroy();
  await expect.poll(() => connections.counts.idle).toBe(0);
});
