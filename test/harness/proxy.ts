// A proxy that passes TLS on and says where a connection comes from: the PROXY protocol, version 2.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, isIP } from 'node:net';

type Unusual = { readonly version?: number; readonly command?: number; readonly family?: number; readonly more?: Buffer };

/** The header for this client; `more` follows the addresses and ports. */
export function proxyHeader(client: string, { version = 2, command = 1, family, more = Buffer.alloc(0) }: Unusual = {}): Buffer {
  const address = octetsOf(client);
  const behind = Buffer.concat([address, Buffer.alloc(address.length), Buffer.of(0x10, 0x00, 0x12, 0x26), more]);
  const head = Buffer.of(version * 16 + command, family ?? (address.length === 4 ? 0x11 : 0x21), behind.length >> 8, behind.length & 0xff);
  return Buffer.concat([Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1'), head, behind]);
}

function octetsOf(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number));
  const [, four] = /^::ffff:([\d.]+)$/.exec(address) ?? [];
  if (four !== undefined) return Buffer.concat([Buffer.alloc(10), Buffer.of(255, 255), octetsOf(four)]);
  const [first = '', last = ''] = address.split('::');
  const groups = (text: string): number[] => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)));
  const [before, after] = [groups(first), groups(last)];
  const all = [...before, ...Array.from({ length: 8 - before.length - after.length }, () => 0), ...after];
  return Buffer.from(all.flatMap((group) => [group >> 8, group & 0xff]));
}

/** Passes every connection on to a port of 127.0.0.1, from `from`, as one of the client. Answers its own port. */
export async function startProxy(options: {
  readonly port: number | string;
  readonly from: string;
  readonly client: string;
}): Promise<{ readonly port: number; close(): void }> {
  const server = createServer((near) => {
    const far = connect({ host: '127.0.0.1', port: Number(options.port), localAddress: options.from });
    far.write(proxyHeader(options.client));
    near.pipe(far).on('error', () => near.destroy());
    far.pipe(near).on('error', () => far.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, close: () => void server.close() };
}
