// What a listener reads of a TLS peer before it begins with the handshake.
import { expect, test, vi } from 'vitest';
import { type Hello, HelloReader } from '../../../core/http/listener/client-hello.ts';
import { firstMessage } from '../../harness/tls.ts';

const record = (content: Buffer): Buffer => {
  const header = Buffer.from([22, 3, 1, 0, 0]);
  header.writeUInt16BE(content.length, 3);
  return Buffer.concat([header, content]);
};

const judge = (octets: Buffer): Hello => new HelloReader().read(octets);

test('a first message is whole with its last octet, in one record or in many', async () => {
  const hello = await firstMessage();
  const content = hello.subarray(5);
  const size = Math.ceil(content.length / 32);
  const inMany = Buffer.concat(Array.from({ length: 32 }, (_, index) => record(content.subarray(size * index, size * (index + 1)))));
  for (const octets of [hello, inMany]) {
    const reader = new HelloReader();
    const judged = Array.from(octets, (octet) => reader.read(Buffer.of(octet)));
    expect(reader.heard).toEqual(octets);
    expect(judged.indexOf('whole')).toBe(octets.length - 1);
    expect(new Set(judged.slice(0, -1))).toEqual(new Set(['part']));
  }
});

test('one in a record for each octet is refused after a few of them', async () => {
  const reader = new HelloReader();
  const judged = [...(await firstMessage()).subarray(5, 60)].map((octet) => reader.read(record(Buffer.of(octet))));
  expect(judged.indexOf('refused')).toBe(32);
});

test('an octet costs as much after 30,000 others as after none', () => {
  const reader = new HelloReader();
  reader.read(Buffer.from([22, 3, 1, 0x40, 0, 1, 0, 0x7d, 0]));
  const whole = record(Buffer.alloc(0x4000 - 4)).subarray(5);
  reader.read(whole);
  reader.read(Buffer.from([22, 3, 1, 0x3f, 0]));
  const copied = vi.spyOn(Buffer, 'concat');
  for (let octets = 0; octets < 15_000; octets++) expect(reader.read(Buffer.of(0))).toBe('part');
  const most = Math.max(...copied.mock.results.map(({ value }) => (value as Buffer).length));
  copied.mockRestore();
  expect(most).toBeLessThanOrEqual(16);
});

test.each<[what: string, octets: Buffer, judged: Hello]>([
  ['nothing', Buffer.alloc(0), 'part'],
  ['a request without TLS', Buffer.from('GET / HTTP/1.1'), 'whole'],
  ['an empty record', Buffer.from([22, 3, 1, 0, 0]), 'whole'],
  ['another message of a handshake', record(Buffer.from([2, 0, 0, 1])), 'whole'],
  ['a message that names nothing', record(Buffer.from([1, 0, 0, 0])), 'whole'],
  ['a length that no message has', Buffer.concat([record(Buffer.concat([Buffer.from([1, 255, 255, 255]), Buffer.alloc(16_000)]))]), 'part'],
  [
    'more octets than a message has',
    Buffer.concat([
      record(Buffer.concat([Buffer.from([1, 255, 255, 255]), Buffer.alloc(16_000)])),
      record(Buffer.alloc(16_384)),
      record(Buffer.alloc(500)),
    ]),
    'refused',
  ],
])('%s', (_, octets, judged) => {
  expect(judge(octets)).toBe(judged);
});

test.each<[groups: string, judged: Hello]>([
  ['P-521', 'refused'],
  ['X448:P-521', 'refused'],
  ['P-521:P-384', 'whole'],
  ['X25519MLKEM768', 'whole'],
])('%s as groups', async (ecdhCurve, judged) => {
  expect(judge(await firstMessage({ ecdhCurve }))).toBe(judged);
});
