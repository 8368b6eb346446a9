// A name server on a free UDP port of this machine: answers A, AAAA and TXT from tables that a test fills.
import { createSocket } from 'node:dgram';

export type DnsServer = {
  readonly port: number;
  /** addresses of a name; `*`: of all others */
  readonly addresses: Map<string, readonly string[]>;
  readonly texts: Map<string, readonly string[]>;
  /** CAA records of a name, each as `flags tag value` */
  readonly caa: Map<string, readonly string[]>;
  /** names for which it says that it has failed */
  readonly failing: Set<string>;
  /** names that were asked, with the type of the question */
  readonly asked: string[];
  close(): Promise<void>;
};

const types = { A: 1, TXT: 16, AAAA: 28, CAA: 257 } as const;

export async function startDnsServer(): Promise<DnsServer> {
  const socket = createSocket('udp4');
  const addresses = new Map<string, readonly string[]>();
  const texts = new Map<string, readonly string[]>();
  const caa = new Map<string, readonly string[]>();
  const failing = new Set<string>();
  const asked: string[] = [];
  socket.on('message', (message, { port, address }) => {
    const { name, type, end } = readQuestion(message);
    asked.push(`${name} ${type}`);
    const own = addresses.get(name) ?? addresses.get('*') ?? [];
    const records =
      type === types.A
        ? own.filter((one) => !one.includes(':')).map((one) => Buffer.from(one.split('.').map(Number)))
        : type === types.TXT
          ? (texts.get(name) ?? []).map((text) => Buffer.concat([Buffer.from([text.length]), Buffer.from(text)]))
          : type === types.CAA
            ? (caa.get(name) ?? []).map(encodeCaa)
            : [];
    const known = addresses.has(name) || addresses.has('*') || texts.has(name) || caa.has(name);
    const head = Buffer.alloc(12);
    message.copy(head, 0, 0, 2);
    head.writeUInt16BE(failing.has(name) ? 0x8182 : known ? 0x8180 : 0x8183, 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(records.length, 6);
    const answers = records.map((data) => {
      const record = Buffer.alloc(12);
      record.writeUInt16BE(0xc00c, 0);
      record.writeUInt16BE(type, 2);
      record.writeUInt16BE(1, 4);
      record.writeUInt16BE(data.length, 10);
      return Buffer.concat([record, data]);
    });
    socket.send(Buffer.concat([head, message.subarray(12, end), ...answers]), port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return {
    port: socket.address().port,
    addresses,
    ...{ texts, caa, failing },
    asked,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

function encodeCaa(record: string): Buffer {
  const [, flags = '0', tag = '', value = ''] = /^(\d+) (\S+) (.*)$/.exec(record) ?? [];
  return Buffer.concat([Buffer.from([Number(flags), tag.length]), Buffer.from(tag), Buffer.from(value)]);
}

function readQuestion(message: Buffer): { readonly name: string; readonly type: number; readonly end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join('.').toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 };
}
