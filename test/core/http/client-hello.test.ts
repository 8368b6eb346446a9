// What a listener reads of a TLS peer before it begins with the handshake.
import { expect, test } from 'vitest';
import { type Hello, judgeHello } from '../../../core/http/listener/client-hello.ts';
import { firstMessage } from '../../harness/tls.ts';

const record = (content: Buffer): Buffer => {
  const header = Buffer.from([22, 3, 1, 0, 0]);
  header.writeUInt16BE(content.length, 3);
  return Buffer.concat([header, content]);
};

test('a first message is whole with its last octet, in one record or in many', async () => {
  const hello = await firstMessage();
  const inMany = Buffer.concat([...hello.subarray(5)].map((octet) => record(Buffer.of(octet))));
  for (const octets of [hello, inMany]) {
    const judged = Array.from({ length: octets.length }, (_, index) => judgeHello(octets.subarray(0, index + 1)));
    expect(judged.indexOf('whole')).toBe(octets.length - 1);
    expect(new Set(judged.slice(0, -1))).toEqual(new Set(['part']));
  }
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
  expect(judgeHello(octets)).toBe(judged);
});

test.each<[groups: string, judged: Hello]>([
  ['P-521', 'refused'],
  ['X448:P-521', 'refused'],
  ['P-521:P-384', 'whole'],
  ['X25519MLKEM768', 'whole'],
])('%s as groups', async (ecdhCurve, judged) => {
  expect(judgeHello(await firstMessage({ ecdhCurve }))).toBe(judged);
});
