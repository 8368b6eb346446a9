// A channel over a Unix socket: messages as msgpack, each behind its length. For processes that have no pipe between them.
import type { Socket } from 'node:net';
import { Packr } from 'msgpackr';
import type { Port } from '../../processes/channel.ts';

const packr = new Packr({ useRecords: false, copyBuffers: true });
const lengthBytes = 4;
/** Above every transaction that etcd takes. */
const longestBytes = 16 << 20;

/** Either end. A message that is longer than any we send ends the connection. */
export function socketPort(socket: Socket): Port {
  const hearers = new Set<(message: unknown) => void>();
  let unread: Buffer = Buffer.alloc(0);
  socket.on('error', () => socket.destroy());
  socket.on('data', (octets: Buffer) => {
    unread = unread.length === 0 ? octets : Buffer.concat([unread, octets]);
    while (unread.length >= lengthBytes) {
      const length = unread.readUInt32BE(0);
      if (length > longestBytes) socket.destroy();
      if (socket.destroyed || unread.length < lengthBytes + length) return;
      const message: unknown = packr.unpack(unread.subarray(lengthBytes, lengthBytes + length));
      unread = unread.subarray(lengthBytes + length);
      for (const hear of hearers) hear(message);
    }
  });
  return {
    isOpen: () => socket.writable,
    send(message) {
      const body = packr.pack(message);
      const length = Buffer.alloc(lengthBytes);
      length.writeUInt32BE(body.length);
      socket.write(Buffer.concat([length, body]));
    },
    onMessage: (hear) => void hearers.add(hear),
    onEnd: (ended) => void socket.once('close', ended),
  };
}
